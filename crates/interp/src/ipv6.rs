// SPDX-License-Identifier: MIT OR Apache-2.0
//! IPv6 headers (RFC 8200), and the extension headers that a receiver steps over.

use std::ops::Range;

use crate::counters::*;
use crate::ipv4::{Header, be16};
use crate::routing::Route;

/// Bytes of a header without extension headers, as it is sent.
pub(crate) const HEADER: usize = 40;
/// Extension headers that a received packet may have.
const EXTENSIONS: usize = 8;
const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const DESTINATION: u8 = 60;
/// Bytes of a fragment header. Other extension headers have a length in units of 8 bytes.
const UNIT: usize = 8;
/// Offset and "more fragments"; both are 0 in a packet that is whole (RFC 6946).
const FRAGMENT_MASK: u16 = 0xfff9;

/// A 128-bit address.
fn address(packet: &[u8], at: usize) -> u128 {
    packet[at..at + 16].iter().fold(0, |all, byte| all << 8 | u128::from(*byte))
}

/// Bytes of a packet, as its header says.
pub(crate) fn total(packet: &[u8]) -> usize {
    HEADER + usize::from(be16(packet, 4))
}

/// Checks a packet and returns its header and where its payload is, or the counter that says what is wrong. `segments`: of how
/// many entries the program reads the list in a segment routing header.
pub(crate) fn parse(
    packet: &[u8],
    protocol: u8,
    own: Option<u128>,
    segments: u32,
) -> Result<(Header, Range<usize>), usize> {
    if packet.len() < HEADER {
        return Err(IP_SHORT);
    }
    if packet[0] >> 4 != 6 {
        return Err(IP_VERSION);
    }
    let total = total(packet);
    if total > packet.len() {
        return Err(IP_LENGTH);
    }
    let (header, at) = header(&packet[..total], segments)?;
    if header.protocol != protocol {
        return Err(IP_PROTOCOL);
    }
    if own.is_some_and(|own| own != header.dst) {
        return Err(IP_ADDRESS);
    }
    if own.is_some() && header.route.left > 0 {
        return Err(IP_PROTOCOL);
    }
    Ok((header, at..total))
}

/// The header, with the protocol behind the extension headers, and where that begins.
pub(crate) fn header(packet: &[u8], segments: u32) -> Result<(Header, usize), usize> {
    let mut route = Route::default();
    let (protocol, at) = upper_layer(packet, segments, &mut route)?;
    let tos = (be16(packet, 0) >> 4) as u8;
    let (src, dst) = (address(packet, 8), address(packet, 24));
    Ok((Header { tos, ttl: packet[7], protocol, src, dst, route }, at))
}

/// The protocol behind the extension headers, and where it begins (RFC 8200 §4). The first segment routing header that the
/// program can read is its route.
fn upper_layer(packet: &[u8], segments: u32, route: &mut Route) -> Result<(u8, usize), usize> {
    let (mut next, mut at) = (packet[6], HEADER);
    for _ in 0..=EXTENSIONS {
        if !is_extension(next, at) {
            return Ok((next, at));
        }
        let head = packet.get(at..at + UNIT).ok_or(IP_LENGTH)?;
        let len = extension_len(next, head);
        let all = packet.get(at..at + len).ok_or(IP_LENGTH)?;
        let read = (next == ROUTING && route.list.is_empty()).then(|| Route::read(all, segments)).flatten();
        match next {
            FRAGMENT if be16(head, 2) & FRAGMENT_MASK != 0 => return Err(IP_FRAGMENT),
            // The packet's destination is not its last one.
            ROUTING if read.is_none() && head[3] != 0 => return Err(IP_PROTOCOL),
            HOP_BY_HOP | DESTINATION if !known_options(&all[2..]) => return Err(IP_PROTOCOL),
            _ => {}
        }
        if let Some(read) = read {
            *route = read;
        }
        (next, at) = (head[0], at + len);
    }
    Err(IP_PROTOCOL)
}

/// Whether this number, of what begins there in a packet, is one of an extension header that a receiver steps over.
fn is_extension(number: u8, at: usize) -> bool {
    matches!(number, FRAGMENT | ROUTING | DESTINATION) || number == HOP_BY_HOP && at == HEADER
}

/// Bytes of an extension header that begins so.
fn extension_len(number: u8, head: &[u8]) -> usize {
    if number == FRAGMENT { UNIT } else { (usize::from(head[1]) + 1) * UNIT }
}

/// The protocol number behind the extension headers, also of a packet that no program takes. `None`: the packet is too short to have
/// one.
pub fn ipv6_protocol(packet: &[u8]) -> Option<u8> {
    let (mut next, mut at) = (*packet.get(6)?, HEADER);
    while is_extension(next, at) {
        let head = packet.get(at..at + UNIT)?;
        (next, at) = (head[0], at + extension_len(next, head));
    }
    Some(next)
}

/// Whether a packet with these options is taken by a node that knows none of them (RFC 8200 §4.2).
fn known_options(mut options: &[u8]) -> bool {
    while let [kind, rest @ ..] = options {
        if *kind == 0 {
            options = rest;
            continue;
        }
        let Some((len, rest)) = rest.split_first() else { return false };
        // Its two highest bits: skip it, if they are 0.
        if kind >> 6 != 0 || rest.len() < usize::from(*len) {
            return false;
        }
        options = &rest[usize::from(*len)..];
    }
    true
}

/// Fills in the header at the beginning of a packet that is complete but for it. The flow label is 0 (RFC 6437 §2).
pub(crate) fn build(packet: &mut [u8], header: &Header) {
    let payload = (packet.len() - HEADER) as u16;
    packet[0..2].copy_from_slice(&(0x6000 | u16::from(header.tos) << 4).to_be_bytes());
    packet[2..4].fill(0);
    packet[4..6].copy_from_slice(&payload.to_be_bytes());
    packet[6] = header.protocol;
    packet[7] = header.ttl;
    packet[8..24].copy_from_slice(&header.src.to_be_bytes());
    packet[24..40].copy_from_slice(&header.dst.to_be_bytes());
    if !header.route.list.is_empty() {
        packet[6] = ROUTING;
        header.route.write(&mut packet[HEADER..], header.protocol);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: u128 = 0x2001_0db8 << 96 | 2;

    /// A packet for [`OWN`] of these extension headers, each as its number and bytes, before `protocol`.
    fn packet(extensions: &[(u8, &[u8])], protocol: u8, payload: &[u8]) -> Vec<u8> {
        let mut numbers = extensions.iter().map(|(number, _)| *number).chain([protocol]);
        let first = numbers.next().unwrap_or(protocol);
        let mut packet = vec![0; HEADER];
        for ((_, bytes), next) in extensions.iter().zip(numbers) {
            packet.push(next);
            packet.extend_from_slice(bytes);
        }
        packet.extend_from_slice(payload);
        let route = Route::default();
        build(&mut packet, &Header { tos: 0xb9, ttl: 3, protocol: first, src: 1, dst: OWN, route });
        packet
    }

    fn parsed(packet: &[u8]) -> Result<Range<usize>, usize> {
        parse(packet, 253, Some(OWN), 0).map(|(_, range)| range)
    }

    #[test]
    fn what_is_built_is_read_back() {
        let packet = packet(&[], 253, b"abc");
        let header = Header { tos: 0xb9, ttl: 3, protocol: 253, src: 1, dst: OWN, route: Route::default() };
        assert_eq!(parse(&packet, 253, Some(OWN), 4), Ok((header, 40..43)));
        assert_eq!(packet[..4], [0x6b, 0x90, 0, 0]);
    }

    #[test]
    fn extension_headers_are_stepped_over() {
        let options = [0, 1, 4, 0, 0, 0, 0];
        let two = packet(&[(0, &options), (60, &options)], 253, b"abc");
        assert_eq!(parsed(&two), Ok(56..59));
        let whole = packet(&[(44, &[0, 0, 0, 0, 0, 0, 9])], 253, b"abc");
        assert_eq!(parsed(&whole), Ok(48..51));
        let last = packet(&[(43, &[0, 0, 0, 0, 0, 0, 0])], 253, b"");
        assert_eq!(parsed(&last), Ok(48..48));
        let pads: [u8; 7] = [0; 7];
        let eight = [(60, &pads[..]); EXTENSIONS];
        assert_eq!(parsed(&packet(&eight, 253, b"")), Ok(104..104));
        assert_eq!(parsed(&packet(&[(60, &pads[..]); EXTENSIONS + 1], 253, b"")), Err(IP_PROTOCOL));
    }

    #[test]
    fn a_program_reads_the_route_of_a_packet() {
        let list = vec![OWN, 7];
        let mut srh = vec![0; 40];
        Route { left: 1, list: list.clone(), ..Route::default() }.write(&mut srh, 253);
        let passing = packet(&[(60, &[0, 1, 4, 0, 0, 0, 0]), (43, &srh[1..])], 253, b"abc");
        assert_eq!(
            parse(&passing, 253, None, 2).map(|(header, at)| (header.route.list, at)),
            Ok((list, 88..91))
        );
        // It is not at its end here, or has more entries than the program reads.
        assert_eq!(parse(&passing, 253, Some(OWN), 2).map(|_| ()), Err(IP_PROTOCOL));
        assert_eq!(parse(&passing, 253, None, 1).map(|_| ()), Err(IP_PROTOCOL));
        srh[3] = 0;
        let ended = packet(&[(43, &srh[1..])], 253, b"abc");
        assert_eq!(parse(&ended, 253, Some(OWN), 2).map(|(header, _)| header.route.list.len()), Ok(2));
        assert_eq!(parse(&ended, 253, Some(OWN), 1).map(|(header, _)| header.route.list.len()), Ok(0));
    }

    #[test]
    fn what_is_not_for_the_program_is_counted() {
        let fragment = packet(&[(44, &[0, 0, 8, 0, 0, 0, 9])], 253, b"abc");
        assert_eq!(parsed(&fragment), Err(IP_FRAGMENT));
        let on_its_way = packet(&[(43, &[0, 0, 1, 0, 0, 0, 0])], 253, b"");
        assert_eq!(parsed(&on_its_way), Err(IP_PROTOCOL));
        let strange = packet(&[(60, &[0, 0x41, 4, 0, 0, 0, 0])], 253, b"");
        assert_eq!(parsed(&strange), Err(IP_PROTOCOL));
        let cut = packet(&[(60, &[1, 1, 4, 0, 0, 0, 0])], 253, b"");
        assert_eq!(parsed(&cut), Err(IP_LENGTH));
        let mut long = packet(&[], 253, b"abc");
        assert_eq!(parse(&long, 6, Some(OWN), 0).map(|_| ()), Err(IP_PROTOCOL));
        assert_eq!(parse(&long, 253, Some(1), 0).map(|_| ()), Err(IP_ADDRESS));
        assert!(parse(&long, 253, None, 0).is_ok());
        long[5] = 4;
        assert_eq!(parsed(&long), Err(IP_LENGTH));
        long[0] = 0x45;
        assert_eq!(parsed(&long), Err(IP_VERSION));
        assert_eq!(parsed(&long[..39]), Err(IP_SHORT));
    }
}
