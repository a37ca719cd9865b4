// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors that the network reports about a packet of this core: ICMP (RFC 792), with a part of the packet.

use crate::counters::*;
use crate::ipv4::{self, HEADER, Header, be16, be32};

/// The protocol number.
const ICMP: u8 = 1;
/// Octets before the quoted packet, and those that are quoted behind its network header at least.
const BEFORE: usize = 8;
const QUOTED: usize = 8;
/// The least MTU that a link has (RFC 791 §3.2): what is below says nothing.
const MTU_LEAST: u16 = 68;
const OFFSET_MASK: u16 = 0x1fff;

/// What is reported, and of which packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Report<'p> {
    /// number of a variant of `report_t`
    pub kind: u64,
    /// octets behind the network header that the next hop carries; 0: it is not said
    pub mtu: u64,
    /// who says it
    pub from: u32,
    /// the network header of the quoted packet, as octets too
    pub header: Header,
    pub net: &'p [u8],
    /// octets that followed it, and those that are quoted
    pub payload_len: u16,
    pub quoted: &'p [u8],
}

/// The variant of `report_t` of a type and a code; `None` of messages that report no error, or an unknown one.
fn kind(kind: u8, code: u8) -> Option<u64> {
    Some(match (kind, code) {
        (3, 0 | 6 | 11) => 0,
        (3, 1 | 7 | 8 | 12) => 1,
        (3, 2..=5) => u64::from(code),
        (3, 9 | 10 | 13..=15) => 6,
        (11, 0 | 1) => 7 + u64::from(code),
        (12, 0..=2) => 9,
        _ => return None,
    })
}

/// Checks a packet that is no packet of the protocol; the counter says what is wrong.
pub(crate) fn parse(packet: &[u8], protocol: u8, address: u32) -> Result<Report<'_>, usize> {
    let (outer, message) = ipv4::parse(packet, ICMP, address)?;
    if message.len() < BEFORE {
        return Err(SHORT);
    }
    if ipv4::fold(ipv4::sum(message)) != 0xffff {
        return Err(BAD_CHECKSUM);
    }
    let kind = kind(message[0], message[1]).ok_or(IP_PROTOCOL)?;
    let packet = &message[BEFORE..];
    if packet.len() < HEADER {
        return Err(SHORT);
    }
    if packet[0] >> 4 != 4 {
        return Err(IP_VERSION);
    }
    let (header_len, total) = (usize::from(packet[0] & 15) * 4, be16(packet, 2));
    if header_len < HEADER || usize::from(total) < header_len + QUOTED {
        return Err(IP_LENGTH);
    }
    if packet.len() < header_len + QUOTED {
        return Err(SHORT);
    }
    if be16(packet, 6) & OFFSET_MASK != 0 {
        return Err(IP_FRAGMENT);
    }
    if packet[9] != protocol {
        return Err(IP_PROTOCOL);
    }
    let (src, dst) = (be32(packet, 12), be32(packet, 16));
    if src != address {
        return Err(IP_ADDRESS);
    }
    let next_hop = if message[0] == 3 && message[1] == 4 { be16(message, 6) } else { 0 };
    let mtu = if next_hop < MTU_LEAST { 0 } else { u64::from(next_hop) - HEADER as u64 };
    let end = packet.len().min(usize::from(total));
    Ok(Report {
        kind,
        mtu,
        from: outer.src,
        header: Header { tos: packet[1], ttl: packet[8], protocol, src, dst },
        net: &packet[..header_len],
        payload_len: total - header_len as u16,
        quoted: &packet[header_len..end],
    })
}
