// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names and values as they are written in a program.

use crate::{Order, Program, STATUS_NAMES, Ty};

/// The name of a type as it is written in a program of the language.
pub fn type_name(program: &Program, ty: &Ty) -> String {
    let name = match ty {
        Ty::Void => "void",
        Ty::Bool => "bool",
        Ty::Int { bits, signed } => return format!("{}int{bits}", if *signed { "" } else { "u" }),
        Ty::Seq32 => "seq32",
        Ty::Fixed => "fixed",
        Ty::Duration => "duration",
        Ty::Time => "time",
        Ty::Rate => "rate",
        Ty::Bytes => "bytes",
        Ty::Addr => "addr_t",
        Ty::Token => "token_t",
        Ty::Handle => "handle_t",
        Ty::Status => "status_t",
        Ty::Packet => "pkt_t",
        Ty::NetHeader => &program.net_header.name,
        Ty::Enum(id) => name(&program.enums, id.index(), |d| &d.name),
        Ty::Struct(id) => name(&program.structs, id.index(), |d| &d.name),
        Ty::Id(id) => name(&program.ids, id.index(), |d| &d.name),
        Ty::Event(id) => name(&program.events, id.index(), |d| &d.name),
        Ty::Context(id) => name(&program.contexts, id.index(), |d| &d.name),
        Ty::Scratch(id) => name(&program.scratchpads, id.index(), |d| &d.name),
        Ty::Blueprint(id) => name(&program.blueprints, id.index(), |d| &d.name),
        Ty::Array(element, n) => return format!("{}[{n}]", type_name(program, element)),
        Ty::List(element, n, order) => {
            let element = type_name(program, element);
            return match order {
                Order::Given => format!("list<{element}, {n}>"),
                Order::Sorted => format!("sorted_list<{element}, {n}>"),
                Order::SortedBy(field) => format!("sorted_list<{element}, {n}, #{field}>"),
            };
        }
        Ty::Wnd { size, runs: None } => return format!("sliding_wnd({size})"),
        Ty::Wnd { size, runs: Some(runs) } => return format!("sliding_wnd({size}, {runs})"),
    };
    name.to_owned()
}

/// The name of a declaration, or `?` if there is none with this number.
pub(super) fn name<T>(defs: &[T], index: usize, of: impl Fn(&T) -> &String) -> &str {
    defs.get(index).map_or("?", |d| of(d).as_str())
}

const TIMES: [(&str, u64); 6] = [
    ("h", 3_600_000_000_000),
    ("min", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1000),
    ("ns", 1),
];
const RATES: [(&str, u64); 4] = [("Gbps", 1_000_000_000), ("Mbps", 1_000_000), ("Kbps", 1000), ("bps", 1)];
const SIZES: [(&str, u64); 4] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)];

/// In the largest unit of which it is a multiple; the last unit is 1.
fn scaled(value: u64, units: &[(&str, u64)]) -> String {
    let fits = |(_, size): &&(&str, u64)| *size == 1 || (value != 0 && value.is_multiple_of(*size));
    let (unit, size) = units.iter().find(fits).unwrap_or(&("", 1));
    format!("{}{unit}", value / size)
}

/// A scalar's value as it is written in a program.
pub fn literal(program: &Program, ty: &Ty, value: u64) -> String {
    match ty {
        Ty::Bool => (value != 0).to_string(),
        Ty::Int { signed: true, .. } => (value as i64).to_string(),
        Ty::Duration if (value as i64) < 0 => format!("-{}", scaled(value.wrapping_neg(), &TIMES)),
        Ty::Duration | Ty::Time => scaled(value, &TIMES),
        Ty::Rate => scaled(value, &RATES),
        Ty::Bytes if value == u64::MAX => "INF".to_owned(),
        Ty::Bytes => scaled(value, &SIZES),
        Ty::Addr | Ty::Token | Ty::Handle if value == 0 => "none".to_owned(),
        Ty::Status => STATUS_NAMES.get(value as usize).map_or_else(|| value.to_string(), |s| (*s).to_owned()),
        Ty::Enum(id) => {
            let variants = program.enums.get(id.index()).map_or(&[][..], |e| &e.variants);
            let known = variants.iter().find(|(_, v)| *v == value);
            known.map_or_else(|| value.to_string(), |(name, _)| name.clone())
        }
        _ => value.to_string(),
    }
}
