// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packets as another end could have made them: with a value at an edge in some field, or without payload, and with the
//! checksums that belong to that. What a program drops for its checksum says nothing of the rest of the program.

use carrick_ir::{BlueprintDef, BpField, BpFieldKind, NetLayer, Program};

use crate::edges::Edges;
use crate::ip::{checksum, mend_checksum};
use crate::random_source::RandomSource;

/// Bytes of the network header.
const NET: usize = 20;
/// Bits of a field that holds offsets, lengths or numbers of packets.
const WIDE: u32 = 16;
/// The longest options that are looked for behind a header, in words of four bytes.
const OPTION_WORDS: u64 = 10;

/// Changes a packet; it stays as it is if no blueprint of the program fits it.
pub fn forge(program: &Program, edges: &Edges, random: &mut RandomSource, packet: &mut Vec<u8>) {
    if program.net_header.layer != NetLayer::Ipv4 || packet.len() < NET {
        return;
    }
    let fits: Vec<&BlueprintDef> = program
        .blueprints
        .iter()
        .filter(|bp| !bp.frame && NET + bp.fixed_len as usize <= packet.len() && is_right(bp, packet))
        .collect();
    if fits.is_empty() {
        return;
    }
    let bp = fits[random.roll(fits.len() as u64) as usize];
    if random.one_in(2) {
        shorten(bp, random, packet);
    }
    let free: Vec<&BpField> =
        bp.fixed_fields().iter().filter(|f| f.bits > 0 && sum_at(f).is_none() && !f.is_padding()).collect();
    // Flags lead to few edges: mostly one of the wide fields, if there are some.
    let wide: Vec<&BpField> = free.iter().copied().filter(|f| f.bits >= WIDE).collect();
    let fields = if wide.is_empty() || random.one_in(4) { free } else { wide };
    if !fields.is_empty() && !random.one_in(4) {
        let field = fields[random.roll(fields.len() as u64) as usize];
        put(&mut packet[NET..], field, edges.number(random));
    }
    let total = packet.len() as u16;
    packet[2..4].copy_from_slice(&total.to_be_bytes());
    mend_checksum(packet);
    for field in bp.fixed_fields() {
        if let (Some(at), Some(sum)) = (sum_at(field), sum_over(bp, field, packet)) {
            packet[NET + at..NET + at + 2].copy_from_slice(&sum.to_be_bytes());
        }
    }
}

/// Cuts the payload off, where its header probably ends: behind the fixed fields or some words of options.
fn shorten(bp: &BlueprintDef, random: &mut RandomSource, packet: &mut Vec<u8>) {
    let options = if random.one_in(2) { 0 } else { 4 * random.roll(OPTION_WORDS + 1) as usize };
    packet.truncate(NET + bp.fixed_len as usize + options);
}

/// Where a checksum lies in the header.
fn sum_at(field: &BpField) -> Option<usize> {
    matches!(field.kind, BpFieldKind::Checksum { .. }).then_some(field.bit_offset as usize / 8)
}

/// What a checksum of the whole packet, or of a header of fixed length, must be; `None` of others.
fn sum_over(bp: &BlueprintDef, field: &BpField, packet: &[u8]) -> Option<u16> {
    let BpFieldKind::Checksum { pseudo, header: true, payload, fields: None } = field.kind else {
        return None;
    };
    if !payload && (bp.options.is_some() || !bp.parts.is_empty()) {
        return None;
    }
    let end = if payload { packet.len() } else { NET + bp.fixed_len as usize };
    let at = field.bit_offset as usize / 8;
    let mut covered = packet[NET..end].to_vec();
    covered[at..at + 2].fill(0);
    let len = ((packet.len() - NET) as u16).to_be_bytes();
    let extra = [0, packet[9], len[0], len[1]];
    let net: &[u8] = if pseudo { &packet[12..20] } else { &[] };
    Some(checksum(&[net, if pseudo { &extra } else { &[] }, &covered]))
}

/// Whether each checksum that can be computed is that of the packet.
fn is_right(bp: &BlueprintDef, packet: &[u8]) -> bool {
    bp.fixed_fields().iter().all(|field| match (sum_at(field), sum_over(bp, field, packet)) {
        (Some(at), Some(sum)) => packet[NET + at..NET + at + 2] == sum.to_be_bytes(),
        _ => true,
    })
}

/// Sets a field, most significant bit first.
fn put(header: &mut [u8], field: &BpField, value: u64) {
    for bit in 0..field.bits {
        let at = (field.bit_offset + bit) as usize;
        let mask = 0x80 >> (at % 8);
        if value >> (field.bits - 1 - bit) & 1 == 1 {
            header[at / 8] |= mask;
        } else {
            header[at / 8] &= !mask;
        }
    }
}
