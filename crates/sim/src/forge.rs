// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packets as another end could have made them: with a value at an edge in some field, or without payload, and with the
//! checksums that belong to that. What a program drops for its checksum says nothing of the rest of the program.

use carrick_ir::{BlueprintDef, BpField, BpFieldKind, NetLayer, Program};

use crate::edges::Edges;
use crate::ip::{checksum, header_len, mend_length, pseudo_header};
use crate::random_source::RandomSource;

/// Bits of a field that holds offsets, lengths or numbers of packets.
const WIDE: u32 = 16;
/// The longest options that are looked for behind a header, in words of four bytes.
const OPTION_WORDS: u64 = 10;

/// The longest payload of a packet that no end has made, plus one: with its header it is shorter than an MTU.
const PAYLOAD: u64 = 400;

/// Changes a packet; it stays as it is if no blueprint of the program fits it.
pub fn forge(program: &Program, edges: &Edges, random: &mut RandomSource, packet: &mut Vec<u8>) {
    let layer = program.net_header.layer;
    let net = header_len(layer);
    if layer == NetLayer::Link || packet.len() < net {
        return;
    }
    let fits: Vec<&BlueprintDef> = program
        .blueprints
        .iter()
        .filter(|bp| !bp.frame && net + bp.fixed_len as usize <= packet.len() && is_right(layer, bp, packet))
        .collect();
    if fits.is_empty() {
        return;
    }
    let bp = fits[random.roll(fits.len() as u64) as usize];
    if random.one_in(2) {
        packet.truncate(net + shortened(bp, random));
    }
    let free: Vec<&BpField> =
        bp.fixed_fields().iter().filter(|f| f.bits > 0 && sum_at(f).is_none() && !f.is_padding()).collect();
    // Flags lead to few edges: mostly one of the wide fields, if there are some.
    let wide: Vec<&BpField> = free.iter().copied().filter(|f| f.bits >= WIDE).collect();
    let fields = if wide.is_empty() || random.one_in(4) { free } else { wide };
    if !fields.is_empty() && !random.one_in(4) {
        let field = fields[random.roll(fields.len() as u64) as usize];
        put(&mut packet[net..], field, edges.number(random));
    }
    mend_length(layer, packet);
    mend_sums(layer, bp, packet);
}

/// Sets the checksums that can be computed.
fn mend_sums(layer: NetLayer, bp: &BlueprintDef, packet: &mut [u8]) {
    let net = header_len(layer);
    for field in bp.fixed_fields() {
        if let (Some(at), Some(sum)) = (sum_at(field), sum_over(layer, bp, field, packet)) {
            packet[net + at..net + at + 2].copy_from_slice(&sum.to_be_bytes());
        }
    }
}

/// A packet of one of the program's blueprints that no end has made. Its numbers are small, edges, or the length of its
/// payload, and in half of the packets nothing but zeros and this length: so some are whole messages. `None`: the program
/// has no packet with a network header.
pub fn make(program: &Program, edges: &Edges, random: &mut RandomSource) -> Option<Vec<u8>> {
    let layer = program.net_header.layer;
    let all: Vec<&BlueprintDef> = program.blueprints.iter().filter(|bp| !bp.frame).collect();
    if all.is_empty() || layer == NetLayer::Link {
        return None;
    }
    let (bp, net) = (all[random.roll(all.len() as u64) as usize], header_len(layer));
    let payload = if bp.payload_name.is_some() { random.roll(PAYLOAD) } else { 0 };
    let len = net + bp.fixed_len as usize + payload as usize;
    let mut packet = vec![random.roll(256) as u8; len];
    packet[..net].fill(0);
    match layer {
        NetLayer::Ipv6 => {
            packet[..8].copy_from_slice(&[0x60, 0, 0, 0, 0, 0, program.net_header.protocol, 64])
        }
        NetLayer::Ipv4 | NetLayer::Link => {
            (packet[0], packet[8], packet[9]) = (0x45, 64, program.net_header.protocol)
        }
    }
    let addresses = match layer {
        NetLayer::Ipv6 => [23, 39],
        NetLayer::Ipv4 | NetLayer::Link => [15, 19],
    };
    addresses.into_iter().for_each(|at| packet[at] = 1 + random.roll(2) as u8);
    let plain = random.one_in(2);
    for field in bp.fixed_fields().iter().filter(|f| f.bits > 0) {
        let value = match &field.kind {
            BpFieldKind::Computed(_) if plain || !random.one_in(8) => (len - net) as u64,
            _ if plain => {
                if field.bits > WIDE && random.one_in(2) {
                    payload
                } else {
                    0
                }
            }
            _ => drawn(field, payload, edges, random),
        };
        put(&mut packet[net..], field, value);
    }
    mend_length(layer, &mut packet);
    mend_sums(layer, bp, &mut packet);
    Some(packet)
}

/// For a field of a packet with a payload of this length.
fn drawn(field: &BpField, payload: u64, edges: &Edges, random: &mut RandomSource) -> u64 {
    match random.roll(8) {
        0..=2 => 0,
        3..=4 if field.bits >= WIDE => payload,
        7 => edges.number(random),
        _ => random.roll(3),
    }
}

/// Where a header without payload probably ends: behind the fixed fields or some words of options.
fn shortened(bp: &BlueprintDef, random: &mut RandomSource) -> usize {
    let options = if random.one_in(2) { 0 } else { 4 * random.roll(OPTION_WORDS + 1) as usize };
    bp.fixed_len as usize + options
}

/// Where a checksum lies in the header.
fn sum_at(field: &BpField) -> Option<usize> {
    matches!(field.kind, BpFieldKind::Checksum { .. }).then_some(field.bit_offset as usize / 8)
}

/// What a checksum of the whole packet, or of a header of fixed length, must be; `None` of others.
fn sum_over(layer: NetLayer, bp: &BlueprintDef, field: &BpField, packet: &[u8]) -> Option<u16> {
    let BpFieldKind::Checksum { pseudo, header: true, payload, fields: None } = field.kind else {
        return None;
    };
    if !payload && (bp.options.is_some() || !bp.parts.is_empty()) {
        return None;
    }
    let net = header_len(layer);
    let end = if payload { packet.len() } else { net + bp.fixed_len as usize };
    let at = field.bit_offset as usize / 8;
    let mut covered = packet[net..end].to_vec();
    covered[at..at + 2].fill(0);
    let before = if pseudo { pseudo_header(layer, packet) } else { Vec::new() };
    Some(checksum(&[&before, &covered]))
}

/// Whether each checksum that can be computed is that of the packet.
fn is_right(layer: NetLayer, bp: &BlueprintDef, packet: &[u8]) -> bool {
    let net = header_len(layer);
    bp.fixed_fields().iter().all(|field| match (sum_at(field), sum_over(layer, bp, field, packet)) {
        (Some(at), Some(sum)) => packet[net + at..net + at + 2] == sum.to_be_bytes(),
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
