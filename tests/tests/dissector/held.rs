// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is shown of packets, held against what the interpreter made of them.

use carrick_ir::{BlueprintDef, BpField, BpFieldKind, Program, Ty, arith};

use crate::pdml::{Packet, below, number};
use crate::traffic::Arrival;

/// Numbers of protocols for which Wireshark has a dissector, among those of the programs here.
const KNOWN: [u8; 2] = [6, 17];

/// What the program's packets are called in Wireshark.
pub fn protocol(program: &Program) -> String {
    format!("mtp_{}", program.name.to_lowercase())
}

/// Holds what is shown against what the interpreter made of the packets; how many events these were.
pub fn hold(program: &Program, arrivals: &[Arrival], shown: &[Packet]) -> usize {
    let mut events = 0;
    for (at, (packet, arrival)) in shown.iter().zip(arrivals).enumerate() {
        // Wireshark asks nobody about packets with nothing behind the network header.
        if arrival.not_ours || arrival.packet.len() == header_len(&arrival.packet) {
            continue;
        }
        let what = format!("{}, packet {at}: {:02x?}\n{packet:#?}", program.name, arrival.packet);
        // What the parser does not claim is Wireshark's, if it knows the protocol.
        if packet.is_empty() {
            assert!(arrival.events.is_empty() && KNOWN.contains(&program.net_header.protocol), "{what}");
            continue;
        }
        assert_eq!(refusal(program, packet), arrival.refused, "{what}");
        let expected: Vec<_> = arrival.events.iter().map(|(e, words)| event(program, *e, words)).collect();
        assert_eq!(events_shown(program, packet), expected, "{what}");
        fixed_fields_hold(program, packet, &arrival.packet);
        let odd = format!("{}.expert-computed", protocol(program));
        assert!(!arrival.as_sent || packet.iter().all(|s| s.name != odd), "{what}");
        events += expected.len();
    }
    events
}

/// Bytes of the network header.
fn header_len(packet: &[u8]) -> usize {
    match packet.first() {
        Some(first) if first >> 4 == 6 => 40,
        first => first.map_or(0, |first| usize::from(first & 15) * 4),
    }
}

/// Why the packet is refused, as far as it is shown.
fn refusal(program: &Program, packet: &Packet) -> Option<&'static str> {
    let name = protocol(program);
    let value = |field: String| packet.iter().find(|s| s.name == field).map(|s| s.value.as_str());
    let reason = value(format!("{name}.refused-for"));
    let known = ["short", "bad_checksum", "bad_options"].into_iter().find(|known| reason == Some(known));
    assert_eq!(known, reason, "a reason that the interpreter has");
    known.or_else(|| value(format!("{name}.expert-unparsed")).map(|_| "unparsed"))
}

pub type Fields = Vec<(String, i128)>;

/// The events that are shown, with their fields.
pub fn events_shown(program: &Program, packet: &Packet) -> Vec<Fields> {
    let top = packet.first().map_or(0, |s| s.depth);
    let names: Vec<String> =
        program.events.iter().map(|e| format!("{}.{}", protocol(program), e.name)).collect();
    let events = (0..packet.len()).filter(|at| packet[*at].depth == top && names.contains(&packet[*at].name));
    events
        .map(|at| {
            let fields = below(packet, at).iter();
            fields.map(|s| (s.name.clone(), number(&s.value).unwrap_or(i128::MIN))).collect()
        })
        .collect()
}

/// An event of the trace as it should be shown.
pub fn event(program: &Program, at: usize, words: &[u64]) -> Fields {
    let def = &program.events[at];
    let (mut fields, mut words) = (Vec::new(), words.iter().copied());
    for field in &def.fields {
        let path = format!("{}.{}.{}", protocol(program), def.name, field.name);
        flatten(program, &path, &field.ty, &mut words, &mut fields);
    }
    fields
}

fn flatten(program: &Program, path: &str, ty: &Ty, words: &mut dyn Iterator<Item = u64>, out: &mut Fields) {
    let inner = match ty {
        Ty::Struct(id) => &program.structs[id.index()].fields,
        Ty::Id(id) => &program.ids[id.index()].parts,
        Ty::Array(of, n) => return (0..*n).for_each(|_| flatten(program, path, of, words, out)),
        Ty::List(of, ..) => {
            let len = words.next().expect("a length");
            return (0..len).for_each(|_| flatten(program, path, of, words, out));
        }
        _ => {
            let word = words.next().expect("a word");
            let value = if arith::shape(ty).1 { i128::from(word as i64) } else { i128::from(word) };
            // An address that is none is not shown.
            if *ty != Ty::Addr || word != u64::MAX {
                out.push((path.to_owned(), value));
            }
            return;
        }
    };
    for field in inner {
        flatten(program, &format!("{path}.{}", field.name), &field.ty, words, out);
    }
}

/// Fields at fixed places of a packet's header are shown as they stand there.
fn fixed_fields_hold(program: &Program, packet: &Packet, octets: &[u8]) {
    let word = |at: usize| usize::from(u16::from_be_bytes([octets[at], octets[at + 1]]));
    let begin = header_len(octets);
    let header = &octets[begin..if octets[0] >> 4 == 6 { begin + word(4) } else { word(2) }];
    let top = packet.first().map_or(0, |s| s.depth);
    for bp in program.blueprints.iter().filter(|bp| !bp.frame) {
        let name = format!("{}.{}", protocol(program), bp.name);
        let Some(at) = packet.iter().position(|s| s.depth == top && s.name == name) else { continue };
        let inner = below(packet, at);
        for field in bp.fixed_fields() {
            let path = format!("{name}.{}", field.name);
            let Some(found) = inner.iter().find(|s| s.name == path) else { continue };
            assert_eq!(number(&found.value), Some(stands(bp, field, header)), "{path} of {header:02x?}");
        }
    }
}

/// The number that stands in a header.
fn stands(bp: &BlueprintDef, field: &BpField, header: &[u8]) -> i128 {
    let bits = field.bit_offset..field.bit_offset + field.bits;
    let bit = |at: u32| u64::from(header[at as usize / 8] >> (7 - at % 8) & 1);
    let value = bits.fold(0, |value, at| value << 1 | bit(at));
    match (&field.kind, &field.ty) {
        (BpFieldKind::Crc(_), _) => i128::from((value as u32).swap_bytes()),
        (_, Ty::Int { bits, signed: true }) if u32::from(*bits) == field.bits => {
            i128::from(arith::canonical(&field.ty, value) as i64)
        }
        _ => {
            assert!(bp.fixed_len * 8 >= field.bit_offset + field.bits);
            // The lowest value of a range is not in the packet.
            i128::from(value) + i128::from(field.base)
        }
    }
}
