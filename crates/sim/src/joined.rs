// SPDX-License-Identifier: MIT OR Apache-2.0
//! What an engine of segmentation makes of a packet with the payload of several (`carrick_ir::Engine`).

use carrick_ir::{ENGINES, Engine, NetLayer};

use crate::ip::{self, header_len, is_ipv6, mend_length, protocol};

/// The packets of an IP packet, each with so many bytes of its payload, the last one with what is left.
///
/// # Errors
/// If no engine takes such a packet.
pub fn cut(whole: &[u8], segment: u16) -> Result<Vec<Vec<u8>>, String> {
    let layer = if is_ipv6(whole) { NetLayer::Ipv6 } else { NetLayer::Ipv4 };
    let number = protocol(whole).ok_or("the packet has no header")?;
    let engine = ENGINES.iter().find(|engine| engine.protocol == number);
    let engine = engine.ok_or_else(|| format!("no engine takes packets of IP protocol {number}"))?;
    let net = header_len(layer);
    let words = whole.get(net + engine.words as usize / 8).ok_or("the header is cut")? >> 4;
    let headers = net + usize::from(words) * 4;
    let payload = whole.get(headers..).ok_or("the header is cut")?;
    let count = payload.len().div_ceil(usize::from(segment.max(1)));
    let packet = |(n, part): (usize, &[u8])| {
        let mut packet = [&whole[..headers], part].concat();
        let before = n * usize::from(segment);
        finish(engine, layer, &mut packet, (before, n == 0, n + 1 == count));
        if layer == NetLayer::Ipv4 {
            let id = u16::from_be_bytes([packet[4], packet[5]]).wrapping_add(n as u16);
            packet[4..6].copy_from_slice(&id.to_be_bytes());
        }
        mend_length(layer, &mut packet);
        sum(engine, net, &mut packet, whole.len() - net);
        packet
    };
    Ok(payload.chunks(usize::from(segment.max(1))).enumerate().map(packet).collect())
}

/// All but lengths and checksums; `place`: the bytes of payload before it, whether it is the first and the last packet.
fn finish(engine: &Engine, layer: NetLayer, packet: &mut [u8], place: (usize, bool, bool)) {
    let (before, first, last) = place;
    let header = &mut packet[header_len(layer)..];
    let at = engine.number as usize / 8;
    let number = u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    header[at..at + 4].copy_from_slice(&number.wrapping_add(before as u32).to_be_bytes());
    for (bits, keeps) in [(engine.first, first), (engine.last, last)] {
        for bit in bits.iter().filter(|_| !keeps) {
            header[*bit as usize / 8] &= !(0x80 >> (bit % 8));
        }
    }
}

/// The checksum begins with the sum of the pseudo-header of the whole, of which the length alone changes.
fn sum(engine: &Engine, net: usize, packet: &mut [u8], whole_len: usize) {
    let at = net + engine.sum as usize / 8;
    let other_len = !(whole_len as u16);
    let len = (packet.len() - net) as u16;
    let made = ip::checksum(&[&other_len.to_be_bytes(), &len.to_be_bytes(), &packet[net..]]);
    packet[at..at + 2].copy_from_slice(&made.to_be_bytes());
}
