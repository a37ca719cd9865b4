// SPDX-License-Identifier: MIT OR Apache-2.0
//! The network header of a program's packets, of either version of the Internet Protocol.

use carrick_ir::{NetHeaderDef, NetLayer};

use crate::ipv4::{self, Header, be16};
use crate::ipv6;

/// A packet that was checked: its header, the bytes of that, and what follows.
pub(crate) type Parsed<'p> = (Header, &'p [u8], &'p [u8]);

/// Checks a packet; the error is the counter that says what is wrong. `own`: only packets to this address are taken.
pub(crate) fn parse<'p>(
    def: &NetHeaderDef,
    packet: &'p [u8],
    protocol: u8,
    own: Option<u128>,
) -> Result<Parsed<'p>, usize> {
    let (header, range) = match def.layer {
        NetLayer::Ipv6 => ipv6::parse(packet, protocol, own, def.segments().unwrap_or(0))?,
        NetLayer::Ipv4 | NetLayer::Link => ipv4::parse(packet, protocol, own)?,
    };
    Ok((header, &packet[..range.start], &packet[range]))
}

/// Bytes of a packet whose header was checked.
pub(crate) fn total(layer: NetLayer, packet: &[u8]) -> usize {
    match layer {
        NetLayer::Ipv6 => ipv6::total(packet),
        NetLayer::Ipv4 | NetLayer::Link => usize::from(be16(packet, 2)),
    }
}

/// Fills in the header at the beginning of a packet that is complete but for it.
pub(crate) fn build(layer: NetLayer, packet: &mut [u8], header: &Header, identification: u16) {
    match layer {
        NetLayer::Ipv4 => ipv4::build(packet, header, identification),
        NetLayer::Ipv6 => ipv6::build(packet, header),
        NetLayer::Link => {}
    }
}
