// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors that a router or a host reports about a packet (RFC 792, RFC 4443), as no core makes them.

use carrick_ir::NetLayer;

use crate::ip::{self, checksum, is_ipv6, mend_checksum};

/// The address of the router of a path.
pub const ROUTER: u32 = 0x0a00_00fe;
/// Type and code of a packet that is too long for the next link, and may not be fragmented; in ICMPv6 too.
pub const TOO_BIG: (u8, u8) = (3, 4);
pub const TOO_BIG_V6: (u8, u8) = (2, 0);
const ICMP: u8 = 1;
const ICMPV6: u8 = 58;
/// A report is no longer than what every link carries.
const IPV6_LONGEST: usize = 1280;
const IPV6_HEADER: usize = 40;
/// Bytes of a packet that are quoted behind its network header.
const QUOTED: usize = 8;
const HEADER: usize = 20;

/// Whether packets of this protocol report errors to all programs.
pub fn is_report(protocol: u8) -> bool {
    [ICMP, ICMPV6].contains(&protocol)
}

/// The report that a packet was too long for a link with this MTU; `None` if it is no packet of the Internet Protocol.
pub fn too_big(mtu: u32, about: &[u8]) -> Option<Vec<u8>> {
    if is_ipv6(about) { report_v6(TOO_BIG_V6, mtu, about) } else { report(TOO_BIG, mtu, ROUTER, about) }
}

/// As [`report`], of ICMPv6: the router of the path tells the sender.
pub fn report_v6((kind, code): (u8, u8), more: u32, about: &[u8]) -> Option<Vec<u8>> {
    let sender = about.get(8..24)?;
    let mut message = [&[kind, code, 0, 0], &more.to_be_bytes()[..]].concat();
    message.extend(&about[..about.len().min(IPV6_LONGEST - IPV6_HEADER - message.len())]);
    let mut packet = vec![0x60, 0, 0, 0];
    packet.extend((message.len() as u16).to_be_bytes());
    packet.extend([ICMPV6, 64]);
    packet.extend(ip::address(NetLayer::Ipv6, ROUTER).to_be_bytes());
    packet.extend(sender);
    let len = (message.len() as u32).to_be_bytes();
    let sum = checksum(&[&packet[8..], &len, &[0, 0, 0, ICMPV6], &message]);
    message[2..4].copy_from_slice(&sum.to_be_bytes());
    packet.extend(message);
    Some(packet)
}

/// A report to the sender of a packet; `None` if that is no IPv4 packet. `more` is the rest of the ICMP header.
pub fn report((kind, code): (u8, u8), more: u32, from: u32, about: &[u8]) -> Option<Vec<u8>> {
    let header = usize::from(about.first().filter(|first| *first >> 4 == 4)? & 15) * 4;
    let sender = about.get(12..16)?;
    let mut message = vec![kind, code, 0, 0];
    message.extend(more.to_be_bytes());
    message.extend(&about[..about.len().min(header + QUOTED)]);
    let sum = checksum(&[&message]);
    message[2..4].copy_from_slice(&sum.to_be_bytes());
    let total = (HEADER + message.len()) as u16;
    let mut packet = vec![0x45, 0, 0, 0, 0, 0, 0, 0, 64, ICMP, 0, 0];
    packet[2..4].copy_from_slice(&total.to_be_bytes());
    packet.extend(from.to_be_bytes());
    packet.extend(sender);
    mend_checksum(&mut packet);
    packet.extend(message);
    Some(packet)
}
