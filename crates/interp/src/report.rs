// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors that the network reports about a packet of this core: ICMP (RFC 792, RFC 4443), with a part of the packet.

use carrick_ir::{NetHeaderDef, NetLayer};

use crate::counters::*;
use crate::ip;
use crate::ipv4::{self, HEADER, Header, be16, be32};
use crate::ipv6;
use crate::routing::Route;

/// The protocol numbers.
const ICMP: u8 = 1;
const ICMPV6: u8 = 58;
/// Bytes before the quoted packet, and those that are quoted behind its network header at least.
const BEFORE: usize = 8;
const QUOTED: usize = 8;
/// The least MTU that a link has (RFC 791 §3.2): what is below says nothing.
const MTU_LEAST: u16 = 68;
/// The least MTU of IPv6 (RFC 8200 §5): a report of less is no report (RFC 8201 §4).
const IPV6_MTU_LEAST: u32 = 1280;
const OFFSET_MASK: u16 = 0x1fff;

/// What is reported, and of which packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Report<'p> {
    /// number of a variant of `report_t`
    pub kind: u64,
    /// bytes behind the network header that the next hop carries; 0: it is not said
    pub mtu: u64,
    /// who says it
    pub from: u128,
    /// the network header of the quoted packet, as bytes too
    pub header: Header,
    pub net: &'p [u8],
    /// bytes that followed it, and those that are quoted
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

/// As [`kind`], of ICMPv6 (RFC 4443 §3).
fn kind_of_icmpv6(kind: u8, code: u8) -> Option<u64> {
    Some(match (kind, code) {
        (1, 0) => 0,
        (1, 2 | 3) => 1,
        (4, 1) => 2,
        (1, 4) => 3,
        (2, 0) => 4,
        (1, 1 | 5 | 6) => 6,
        (3, 0 | 1) => 7 + u64::from(code),
        (4, 0 | 2) => 9,
        _ => return None,
    })
}

/// Checks a packet that is no packet of the protocol; the counter says what is wrong.
pub(crate) fn parse<'p>(def: &NetHeaderDef, packet: &'p [u8], own: u128) -> Result<Report<'p>, usize> {
    let layer = def.layer;
    let icmp = if layer == NetLayer::Ipv6 { ICMPV6 } else { ICMP };
    let (outer, _, message) = ip::parse(def, packet, icmp, Some(own))?;
    if message.len() < BEFORE {
        return Err(SHORT);
    }
    // Only ICMPv6 has a pseudo-header (RFC 4443 §2.3).
    let pseudo = match layer {
        NetLayer::Ipv6 => ipv4::pseudo_sum(outer.src, outer.dst, icmp, message.len()),
        NetLayer::Ipv4 | NetLayer::Link => 0,
    };
    if ipv4::fold(pseudo + ipv4::sum(message)) != 0xffff {
        return Err(BAD_CHECKSUM);
    }
    let (kind, mtu) = match layer {
        NetLayer::Ipv6 => said_by_icmpv6(def, message)?,
        NetLayer::Ipv4 | NetLayer::Link => said_by_icmp(message)?,
    };
    let quoted = match layer {
        NetLayer::Ipv6 => quoted_of_ipv6(def, &message[BEFORE..])?,
        NetLayer::Ipv4 | NetLayer::Link => quoted_of_ipv4(&message[BEFORE..])?,
    };
    if quoted.header.protocol != def.protocol {
        return Err(IP_PROTOCOL);
    }
    if quoted.header.src != own {
        return Err(IP_ADDRESS);
    }
    Ok(Report { kind, mtu, from: outer.src, ..quoted })
}

/// What is reported, and how many bytes the next hop carries after the network header.
fn said_by_icmp(message: &[u8]) -> Result<(u64, u64), usize> {
    let kind = kind(message[0], message[1]).ok_or(IP_PROTOCOL)?;
    let next_hop = if message[0] == 3 && message[1] == 4 { be16(message, 6) } else { 0 };
    let mtu = if next_hop < MTU_LEAST { 0 } else { u64::from(next_hop) - HEADER as u64 };
    Ok((kind, mtu))
}

fn said_by_icmpv6(def: &NetHeaderDef, message: &[u8]) -> Result<(u64, u64), usize> {
    let kind = kind_of_icmpv6(message[0], message[1]).ok_or(IP_PROTOCOL)?;
    if message[0] != 2 {
        return Ok((kind, 0));
    }
    let next_hop = be32(message, 4);
    if next_hop < IPV6_MTU_LEAST {
        return Err(IP_LENGTH);
    }
    Ok((kind, u64::from(next_hop - def.longest())))
}

/// The packet that is quoted; what is reported is filled in later.
fn quoted_of_ipv4(packet: &[u8]) -> Result<Report<'_>, usize> {
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
    let (src, dst) = (be32(packet, 12).into(), be32(packet, 16).into());
    let end = packet.len().min(usize::from(total));
    Ok(Report {
        kind: 0,
        mtu: 0,
        from: 0,
        header: Header {
            tos: packet[1],
            ttl: packet[8],
            protocol: packet[9],
            src,
            dst,
            route: Route::default(),
        },
        net: &packet[..header_len],
        payload_len: total - header_len as u16,
        quoted: &packet[header_len..end],
    })
}

fn quoted_of_ipv6<'p>(def: &NetHeaderDef, packet: &'p [u8]) -> Result<Report<'p>, usize> {
    if packet.len() < ipv6::HEADER {
        return Err(SHORT);
    }
    if packet[0] >> 4 != 6 {
        return Err(IP_VERSION);
    }
    let total = ipv6::total(packet);
    let (header, at) = ipv6::header(&packet[..total.min(packet.len())], def.segments().unwrap_or(0))?;
    if total < at + QUOTED {
        return Err(IP_LENGTH);
    }
    if packet.len() < at + QUOTED {
        return Err(SHORT);
    }
    let end = packet.len().min(total);
    let payload_len = (total - at) as u16;
    Ok(Report { kind: 0, mtu: 0, from: 0, header, net: &packet[..at], payload_len, quoted: &packet[at..end] })
}
