// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is done to packets from outside of any core, over both versions of the Internet Protocol.

use std::net::Ipv6Addr;

use carrick_interp::ipv6_protocol;
use carrick_ir::NetLayer;

/// What all IPv6 addresses of a simulation begin with, for documentation (RFC 3849); the host's IPv4 address follows.
const PREFIX: u128 = 0x2001_0db8 << 96;

/// The address of a host, which has this IPv4 address in simulations over IPv4; 0 is no host's.
pub fn address(layer: NetLayer, host: u32) -> u128 {
    match layer {
        NetLayer::Ipv6 if host != 0 => PREFIX | u128::from(host),
        _ => host.into(),
    }
}

/// The IPv4 address that belongs to an address.
pub fn host(address: u128) -> u32 {
    address as u32
}

/// An IPv6 address in two words, as text (RFC 5952).
pub fn shown(high: u64, low: u64) -> String {
    Ipv6Addr::from(u128::from(high) << 64 | u128::from(low)).to_string()
}

/// The destination of a packet; `None` if it is too short to have one.
pub fn destination(layer: NetLayer, packet: &[u8]) -> Option<u128> {
    let octets = match layer {
        NetLayer::Ipv6 => packet.get(24..40),
        NetLayer::Ipv4 | NetLayer::Link => packet.get(16..20),
    };
    octets.map(|octets| octets.iter().fold(0, |all, octet| all << 8 | u128::from(*octet)))
}

/// The version of a packet over the Internet Protocol.
pub fn is_ipv6(packet: &[u8]) -> bool {
    packet.first().is_some_and(|first| first >> 4 == 6)
}

/// The protocol number of what a packet carries; `None` if the packet is too short to have one.
pub fn protocol(packet: &[u8]) -> Option<u8> {
    if is_ipv6(packet) { ipv6_protocol(packet) } else { packet.get(9).copied() }
}

/// Whether a bit of a packet, counted from its first, is in an IPv4 header.
pub fn in_ipv4_header(packet: &[u8], bit: u64) -> bool {
    let header = packet.first().filter(|first| *first >> 4 == 4).map(|first| u64::from(first & 15) * 32);
    header.is_some_and(|bits| bit < bits)
}

/// The Internet checksum (RFC 1071); every part but the last has an even length.
pub fn checksum(parts: &[&[u8]]) -> u16 {
    let mut sum = 0_u32;
    for pair in parts.iter().flat_map(|part| part.chunks(2)) {
        sum += u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0));
    }
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !sum as u16
}

/// Makes the header's checksum right after a change to the header.
pub fn mend_checksum(packet: &mut [u8]) {
    packet[10..12].fill(0);
    let header = usize::from(packet[0] & 15) * 4;
    let sum = checksum(&[&packet[..header]]);
    packet[10..12].copy_from_slice(&sum.to_be_bytes());
}

/// Where what follows the network header begins, in a packet without options or extension headers. Of a packet without a
/// network header, where it would.
pub fn header_len(layer: NetLayer) -> usize {
    match layer {
        NetLayer::Ipv6 => 40,
        NetLayer::Ipv4 | NetLayer::Link => 20,
    }
}

/// Makes length and checksum of the header right after the packet became shorter or longer.
pub fn mend_length(layer: NetLayer, packet: &mut [u8]) {
    if layer == NetLayer::Ipv6 {
        let payload = (packet.len() - header_len(layer)) as u16;
        packet[4..6].copy_from_slice(&payload.to_be_bytes());
        return;
    }
    let total = packet.len() as u16;
    packet[2..4].copy_from_slice(&total.to_be_bytes());
    mend_checksum(packet);
}

/// The pseudo-header that belongs to a packet without extension headers (RFC 9293 §3.1, RFC 8200 §8.1).
pub fn pseudo_header(layer: NetLayer, packet: &[u8]) -> Vec<u8> {
    let len = (packet.len() - header_len(layer)) as u32;
    match layer {
        NetLayer::Ipv6 => [&packet[8..40], &len.to_be_bytes(), &[0, 0, 0, packet[6]]].concat(),
        NetLayer::Ipv4 | NetLayer::Link => {
            [&packet[12..20], &[0, packet[9]], &(len as u16).to_be_bytes()].concat()
        }
    }
}
