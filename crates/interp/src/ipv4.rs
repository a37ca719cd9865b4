// SPDX-License-Identifier: MIT OR Apache-2.0
//! IPv4 headers and the Internet checksum (RFC 791, RFC 1071).

use std::ops::Range;

use crate::counters::*;
use crate::routing::Route;

/// Bytes of the header that is sent.
pub(crate) const HEADER: usize = 20;
/// `ttl` of a packet for which the program sets none.
pub(crate) const DEFAULT_TTL: u8 = 64;
const DONT_FRAGMENT: u16 = 0x4000;
const FRAGMENT_MASK: u16 = 0x3fff;

/// What of a received header a program can ask for; an IPv4 address is in the lowest bits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Header {
    pub tos: u8,
    pub ttl: u8,
    pub protocol: u8,
    pub src: u128,
    pub dst: u128,
    /// of packets over IPv6, if the program reads it
    pub route: Route,
}

impl Header {
    /// Where the packet ends.
    pub fn last(&self) -> u128 {
        self.route.last(self.dst)
    }
}

pub(crate) fn be16(octets: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([octets[at], octets[at + 1]])
}

pub(crate) fn be32(octets: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([octets[at], octets[at + 1], octets[at + 2], octets[at + 3]])
}

/// Checks a packet and returns its header and where its payload is, or the counter that says what is wrong.
pub(crate) fn parse(packet: &[u8], protocol: u8, own: Option<u128>) -> Result<(Header, Range<usize>), usize> {
    if packet.len() < HEADER {
        return Err(IP_SHORT);
    }
    if packet[0] >> 4 != 4 {
        return Err(IP_VERSION);
    }
    let header_len = usize::from(packet[0] & 15) * 4;
    let total = usize::from(be16(packet, 2));
    if header_len < HEADER || total < header_len || total > packet.len() {
        return Err(IP_LENGTH);
    }
    if fold(sum(&packet[..header_len])) != 0xffff {
        return Err(IP_CHECKSUM);
    }
    if be16(packet, 6) & FRAGMENT_MASK != 0 {
        return Err(IP_FRAGMENT);
    }
    let (src, dst) = (be32(packet, 12).into(), be32(packet, 16).into());
    let header =
        Header { tos: packet[1], ttl: packet[8], protocol: packet[9], src, dst, route: Route::default() };
    if header.protocol != protocol {
        return Err(IP_PROTOCOL);
    }
    if own.is_some_and(|own| own != header.dst) {
        return Err(IP_ADDRESS);
    }
    Ok((header, header_len..total))
}

/// Fills in the header at the beginning of a packet that is complete but for it.
pub(crate) fn build(packet: &mut [u8], header: &Header, identification: u16) {
    let total = packet.len() as u16;
    packet[0] = 0x45;
    packet[1] = header.tos;
    packet[2..4].copy_from_slice(&total.to_be_bytes());
    packet[4..6].copy_from_slice(&identification.to_be_bytes());
    packet[6..8].copy_from_slice(&DONT_FRAGMENT.to_be_bytes());
    packet[8] = header.ttl;
    packet[9] = header.protocol;
    packet[10..12].fill(0);
    packet[12..16].copy_from_slice(&(header.src as u32).to_be_bytes());
    packet[16..20].copy_from_slice(&(header.dst as u32).to_be_bytes());
    let checksum = !fold(sum(&packet[..HEADER]));
    packet[10..12].copy_from_slice(&checksum.to_be_bytes());
}

/// The sum of the 16-bit words of some bytes, an odd one at the end padded with zero.
pub(crate) fn sum(octets: &[u8]) -> u64 {
    let mut sum = 0_u64;
    let mut words = octets.chunks_exact(4);
    for word in &mut words {
        sum += u64::from(u32::from_be_bytes([word[0], word[1], word[2], word[3]]));
    }
    match *words.remainder() {
        [a] => sum + (u64::from(a) << 24),
        [a, b] => sum + (u64::from(a) << 24 | u64::from(b) << 16),
        [a, b, c] => sum + (u64::from(a) << 24 | u64::from(b) << 16 | u64::from(c) << 8),
        _ => sum,
    }
}

/// The sum over a pseudo-header (RFC 9293 §3.1, RFC 8200 §8.1) for `len` bytes after the network header.
pub(crate) fn pseudo_sum(src: u128, dst: u128, protocol: u8, len: usize) -> u64 {
    let words = |address: u128| (0..4).map(move |word| u64::from((address >> (32 * word)) as u32));
    words(src).chain(words(dst)).sum::<u64>() + u64::from(protocol) + len as u64
}

/// A sum in ones' complement arithmetic.
pub(crate) fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum >> 16) + (sum & 0xffff);
    }
    sum as u16
}
