// SPDX-License-Identifier: MIT OR Apache-2.0
//! Counts what a capture shows: `recount FILE.pcapng ADDRESS` prints, of the TCP segments with data from that
//! IPv4 address, how many there are and how many carry bytes that were captured before.

use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::process::ExitCode;

const ENHANCED_PACKET: u32 = 6;
const INTERFACE: u32 = 1;
const LINK_ETHERNET: u16 = 1;
const PROTOCOL_TCP: u8 = 6;

/// One segment with data.
struct Segment {
    flow: (Ipv4Addr, Ipv4Addr, u32),
    first: u32,
    len: u32,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, address] = &arguments[..] else { return complain("usage: recount FILE.pcapng ADDRESS") };
    let Ok(address) = address.parse() else { return complain("that is no IPv4 address") };
    match std::fs::read(file) {
        Ok(capture) => {
            let (segments, again) = count(&capture, address);
            println!("{segments} {again}");
            ExitCode::SUCCESS
        }
        Err(error) => complain(&format!("{file}: {error}")),
    }
}

fn complain(what: &str) -> ExitCode {
    eprintln!("recount: {what}");
    ExitCode::from(2)
}

fn count(capture: &[u8], from: Ipv4Addr) -> (u64, u64) {
    let mut highest: HashMap<(Ipv4Addr, Ipv4Addr, u32), u32> = HashMap::new();
    let (mut segments, mut again) = (0, 0);
    for segment in packets(capture).into_iter().filter_map(segment).filter(|s| s.flow.0 == from) {
        segments += 1;
        let end = segment.first.wrapping_add(segment.len);
        let high = highest.entry(segment.flow).or_insert(segment.first);
        if (segment.first.wrapping_sub(*high) as i32) < 0 {
            again += 1;
        }
        if (end.wrapping_sub(*high) as i32) > 0 {
            *high = end;
        }
    }
    (segments, again)
}

/// The IPv4 packets of a little-endian pcapng file, up to the first thing that is not one.
fn packets(capture: &[u8]) -> Vec<&[u8]> {
    let mut found = Vec::new();
    let mut link_header = 0;
    let mut rest = capture;
    while let (Some(kind), Some(len)) = (word(rest, 0), word(rest, 4)) {
        let Some(block) = rest.get(..len as usize).filter(|b| b.len() >= 12) else { break };
        if kind == INTERFACE {
            let ethernet = block.get(8..10) == Some(&LINK_ETHERNET.to_le_bytes());
            link_header = if ethernet { 14 } else { 0 };
        } else if kind == ENHANCED_PACKET {
            let captured = word(block, 20).unwrap_or(0) as usize;
            found.extend(block.get(28 + link_header..28 + captured));
        }
        rest = &rest[block.len()..];
    }
    found
}

fn word(from: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(from.get(at..at + 4)?.try_into().ok()?))
}

fn segment(packet: &[u8]) -> Option<Segment> {
    let big = |at: usize| Some(u32::from_be_bytes(packet.get(at..at + 4)?.try_into().ok()?));
    let header = usize::from(packet.first()? & 15) * 4;
    if packet.first()? >> 4 != 4 || *packet.get(9)? != PROTOCOL_TCP {
        return None;
    }
    let total = (big(0)? & 0xffff) as usize;
    let data_at = header + usize::from(packet.get(header + 12)? >> 4) * 4;
    let len = total.checked_sub(data_at).filter(|&n| n > 0)?;
    let flow = (big(12)?.into(), big(16)?.into(), big(header)?);
    Some(Segment { flow, first: big(header + 4)?, len: len as u32 })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An enhanced packet block around `octets` of data at `seq`, from 10.0.0.1.
    fn block(seq: u32, octets: usize) -> Vec<u8> {
        let mut packet = vec![0; 40 + octets];
        packet[0] = 0x45;
        packet[2..4].copy_from_slice(&(40 + octets as u16).to_be_bytes());
        packet[9] = PROTOCOL_TCP;
        packet[12..16].copy_from_slice(&[10, 0, 0, 1]);
        packet[24..28].copy_from_slice(&seq.to_be_bytes());
        packet[32] = 5 << 4;
        let mut block = Vec::new();
        let len = 32 + packet.len() as u32;
        for word in [ENHANCED_PACKET, len, 0, 0, 0, packet.len() as u32, packet.len() as u32] {
            block.extend(word.to_le_bytes());
        }
        block.extend(packet);
        block.extend(len.to_le_bytes());
        block
    }

    #[test]
    fn what_comes_again_is_counted_across_the_wrap() {
        let capture = [block(u32::MAX - 3, 8), block(4, 8), block(u32::MAX - 3, 8), block(12, 4)].concat();
        assert_eq!(count(&capture, Ipv4Addr::new(10, 0, 0, 1)), (4, 1));
        assert_eq!(count(&capture, Ipv4Addr::new(10, 0, 0, 2)), (0, 0));
    }

    #[test]
    fn a_cut_file_is_read_as_far_as_it_goes() {
        let capture = [block(0, 8), block(8, 8)].concat();
        for cut in 0..capture.len() {
            assert!(count(&capture[..cut], Ipv4Addr::new(10, 0, 0, 1)).0 <= 1);
        }
    }
}
