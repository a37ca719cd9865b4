// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors that a router or a host reports about an IPv4 packet (RFC 792), as no core makes them.

use crate::ip::{checksum, mend_checksum};

/// The address of the router of a path.
pub const ROUTER: u32 = 0x0a00_00fe;
/// Type and code of a packet that is too long for the next link, and may not be fragmented.
pub const TOO_BIG: (u8, u8) = (3, 4);
/// Octets of a packet that are quoted behind its network header.
const QUOTED: usize = 8;
const HEADER: usize = 20;

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
    let mut packet = vec![0x45, 0, 0, 0, 0, 0, 0, 0, 64, 1, 0, 0];
    packet[2..4].copy_from_slice(&total.to_be_bytes());
    packet.extend(from.to_be_bytes());
    packet.extend(sender);
    mend_checksum(&mut packet);
    packet.extend(message);
    Some(packet)
}
