// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reports of errors (ICMP and ICMPv6) by the names that scripts give them.

use carrick_ir::NetLayer;

/// What is reported, and about which segment.
#[derive(Debug)]
pub struct Report {
    name: String,
    /// of the next link; 0: not said
    pub mtu: u32,
    /// the sequence number of the segment and its bytes of data
    pub seq: u32,
    pub len: u32,
}

/// Names with type and code (RFC 792, RFC 1812 §5.2.7.1).
const ICMP: [(&str, u8, u8); 23] = [
    ("net_unreachable", 3, 0),
    ("host_unreachable", 3, 1),
    ("protocol_unreachable", 3, 2),
    ("port_unreachable", 3, 3),
    ("frag_needed", 3, 4),
    ("source_route_failed", 3, 5),
    ("net_unknown", 3, 6),
    ("host_unknown", 3, 7),
    ("source_host_isolated", 3, 8),
    ("net_prohibited", 3, 9),
    ("host_prohibited", 3, 10),
    ("net_unreachable_for_tos", 3, 11),
    ("host_unreachable_for_tos", 3, 12),
    ("packet_filtered", 3, 13),
    ("precedence_violation", 3, 14),
    ("precedence_cutoff", 3, 15),
    ("source_quench", 4, 0),
    ("redirect", 5, 0),
    ("ttl_exceeded_in_transit", 11, 0),
    ("frag_reass_exceeded", 11, 1),
    ("code_0", 12, 0),
    ("code_1", 12, 1),
    ("code_2", 12, 2),
];

/// The same of ICMPv6 (RFC 4443 §3).
const ICMPV6: [(&str, u8, u8); 11] = [
    ("no_route", 1, 0),
    ("admin_prohibited", 1, 1),
    ("not_neighbour", 1, 2),
    ("address_unreachable", 1, 3),
    ("port_unreachable", 1, 4),
    ("packet_too_big", 2, 0),
    ("exceeded_hop_limit", 3, 0),
    ("exceeded_frag_time", 3, 1),
    ("header_field", 4, 0),
    ("unknown_next_header", 4, 1),
    ("unknown_option", 4, 2),
];

impl Report {
    /// Reads `unreachable port_unreachable [0:0(0)]`, perhaps with `mtu 1300`.
    pub fn read(text: &str) -> Option<Report> {
        let (head, about) = text.split_once('[')?;
        let (seq, len) = about.trim_end().strip_suffix(")]")?.split_once('(')?;
        let (head, mtu) = head.split_once("mtu").unwrap_or((head, "0"));
        Some(Report {
            name: head.split_whitespace().last()?.to_owned(),
            mtu: mtu.trim().parse().ok()?,
            seq: seq.split_once(':')?.0.parse().ok()?,
            len: len.parse().ok()?,
        })
    }

    /// Type and code.
    pub fn kind(&self, layer: NetLayer) -> Option<(u8, u8)> {
        let names: &[(&str, u8, u8)] = if layer == NetLayer::Ipv6 { &ICMPV6 } else { &ICMP };
        names.iter().find(|(name, ..)| *name == self.name).map(|(_, kind, code)| (*kind, *code))
    }
}
