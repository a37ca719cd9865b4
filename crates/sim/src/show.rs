// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values as people read them: units, names of enums, addresses.

use std::fmt::Write;

use carrick_ir::{BlueprintDef, FieldDef, IdDef, Program, STATUS_NAMES, Ty};

use crate::ip;

const DURATIONS: [(&str, u64); 4] = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000), ("ns", 1)];
const RATES: [(&str, u64); 4] = [("Gbps", 1_000_000_000), ("Mbps", 1_000_000), ("Kbps", 1_000), ("bps", 1)];

type Words<'w> = &'w mut dyn Iterator<Item = u64>;

/// A value that begins the words.
pub fn value(program: &Program, ty: &Ty, words: Words<'_>) -> String {
    let list = |of: &Ty, n: u64, words: Words<'_>| {
        let all: Vec<String> = (0..n).map(|_| value(program, of, &mut *words)).collect();
        format!("[{}]", all.join(", "))
    };
    match ty {
        Ty::Struct(id) => record(program, &program.structs[id.index()].fields, words),
        Ty::Scratch(id) => record(program, &program.scratchpads[id.index()].fields, words),
        Ty::Event(id) => record(program, &program.events[id.index()].fields, words),
        Ty::Context(id) => context(program, id.index(), words),
        ty @ Ty::Id(_) if *ty == program.address_ty() => {
            ip::shown(words.next().unwrap_or(0), words.next().unwrap_or(0))
        }
        Ty::Id(id) => self::id(program, &program.ids[id.index()], words),
        Ty::Array(of, n) => list(of, u64::from(*n), words),
        Ty::List(of, n, _) => {
            let len = words.next().unwrap_or(0).min(u64::from(*n));
            list(of, len, words)
        }
        Ty::Wnd { .. } => {
            let (head, runs) = (words.next().unwrap_or(0), words.next().unwrap_or(0).min(65_536));
            let mut text = format!("from {head}");
            for _ in 0..runs {
                let (first, end) = (words.next().unwrap_or(0), words.next().unwrap_or(0));
                let _ = write!(text, ", {first}..{end}");
            }
            format!("{{{text}}}")
        }
        Ty::NetHeader => {
            let net = program.net_header.fields.iter().map(|f| (f.name.as_str(), &f.ty));
            named(program, net, words)
        }
        Ty::Blueprint(id) => blueprint(program, &program.blueprints[id.index()], words),
        Ty::Packet => "the packet".into(),
        scalar => one(program, scalar, words.next().unwrap_or(0)),
    }
}

/// A value of one word.
fn one(program: &Program, ty: &Ty, word: u64) -> String {
    match ty {
        Ty::Void => "nothing".into(),
        Ty::Bool => (word != 0).to_string(),
        Ty::Int { signed: true, .. } => (word as i64).to_string(),
        Ty::Fixed => format!("{}", word as i64 as f64 / 4_294_967_296.0),
        Ty::Duration if (word as i64) < 0 => format!("-{}", scaled((word as i64).unsigned_abs(), &DURATIONS)),
        Ty::Duration | Ty::Time => scaled(word, &DURATIONS),
        Ty::Rate => scaled(word, &RATES),
        Ty::Bytes if word == u64::MAX => "INF".into(),
        Ty::Addr if word == u64::MAX => "none".into(),
        Ty::Addr => format!("{word} bytes"),
        Ty::Token | Ty::Handle if word == 0 => "none".into(),
        Ty::Handle => handle(program, word),
        Ty::Status => STATUS_NAMES.get(word as usize).map_or_else(|| word.to_string(), |s| (*s).to_owned()),
        Ty::Enum(id) => {
            let variants = &program.enums[id.index()].variants;
            variants
                .iter()
                .find(|(_, v)| *v == word)
                .map_or_else(|| word.to_string(), |(name, _)| name.clone())
        }
        _ => word.to_string(),
    }
}

/// `1.5ms`: in the largest unit of which there is one, exactly.
fn scaled(value: u64, units: &[(&str, u64)]) -> String {
    let (unit, factor) = units.iter().find(|(_, f)| value >= *f).or(units.last()).copied().unwrap_or(("", 1));
    let (whole, rest) = (value / factor, value % factor);
    if rest == 0 {
        return format!("{whole}{unit}");
    }
    let digits = factor.ilog10() as usize;
    format!("{whole}.{}{unit}", format!("{rest:0digits$}").trim_end_matches('0'))
}

/// A blueprint: its network header, its fields, the options that it has, and how much payload.
fn blueprint(program: &Program, def: &BlueprintDef, words: Words<'_>) -> String {
    let net = value(program, &Ty::NetHeader, &mut *words);
    let fields = named(program, def.fields.iter().map(|f| (f.name.as_str(), &f.ty)), &mut *words);
    let mut text = format!("{{net={net}, header={fields}");
    for opt in def.options.iter().flat_map(|list| &program.opt_lists[list.index()].members) {
        let opt = &program.opts[opt.index()];
        let there = words.next() == Some(1);
        let types: Vec<_> = opt.all_fields().collect();
        let fields = named(program, types.iter().map(|(name, ty)| (*name, ty)), &mut *words);
        if there {
            let _ = write!(text, ", {}={fields}", opt.name);
        }
    }
    let _ = write!(text, ", payload={} bytes}}", words.next().unwrap_or(0));
    text
}

fn named<'p>(program: &Program, all: impl Iterator<Item = (&'p str, &'p Ty)>, words: Words<'_>) -> String {
    format!("{{{}}}", parts(program, all, words))
}

/// `a=1, b=2`; what is an IPv4 address by its name looks like one.
fn parts<'p>(program: &Program, all: impl Iterator<Item = (&'p str, &'p Ty)>, words: Words<'_>) -> String {
    let part = |(name, ty): (&str, &Ty)| {
        let shown = match (ty, name.ends_with("_ip")) {
            (Ty::Int { bits: 32, signed: false }, true) => {
                std::net::Ipv4Addr::from(words.next().unwrap_or(0) as u32).to_string()
            }
            _ => value(program, ty, &mut *words),
        };
        format!("{name}={shown}")
    };
    all.map(part).collect::<Vec<_>>().join(", ")
}

/// Fields that begin the words, by name.
pub fn record(program: &Program, defs: &[FieldDef], words: Words<'_>) -> String {
    named(program, defs.iter().map(|f| (f.name.as_str(), &f.ty)), words)
}

/// A context's handle, fields and deadlines.
fn context(program: &Program, ctx: usize, words: Words<'_>) -> String {
    let def = &program.contexts[ctx];
    let handle = handle(program, words.next().unwrap_or(0));
    let fields = record(program, &def.fields, words);
    let timers: Vec<String> =
        def.timers.iter().map(|t| format!("{}={}", t.name, deadline(words.next().unwrap_or(0)))).collect();
    format!("{handle} {fields} {{{}}}", timers.join(", "))
}

/// The parts of an id.
pub fn id(program: &Program, def: &IdDef, words: Words<'_>) -> String {
    format!("({})", parts(program, def.parts.iter().map(|p| (p.name.as_str(), &p.ty)), words))
}

/// When a timer is due.
pub fn deadline(word: u64) -> String {
    if word == 0 { "stopped".into() } else { format!("at {}", scaled(word, &DURATIONS)) }
}

/// `conn#3`: the type and the slot of an instance; `conn#3.2` if it is not the first one in that slot.
pub fn handle(program: &Program, word: u64) -> String {
    let def = (word >> 56).checked_sub(1).and_then(|ctx| program.contexts.get(ctx as usize));
    let (slot, generation) = (word as u32, word >> 32 & 0xff_ffff);
    let name = def.map_or("none", |d| &d.name);
    if def.is_none_or(|d| d.global) {
        return name.to_owned();
    }
    if generation == 1 { format!("{name}#{slot}") } else { format!("{name}#{slot}.{generation}") }
}

/// Virtual time, in seconds.
pub fn clock(ns: u64) -> String {
    format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
}

/// How many of the words a value takes that begins them.
pub fn words_of(program: &Program, ty: &Ty, words: &[u64]) -> usize {
    let of_fields = |fields: &[FieldDef]| {
        fields.iter().fold(0, |at, f| at + words_of(program, &f.ty, words.get(at..).unwrap_or_default()))
    };
    let elements = |of: &Ty, first: usize, n: u64| {
        (0..n).fold(first, |at, _| at + words_of(program, of, words.get(at..).unwrap_or_default()))
    };
    match ty {
        Ty::Void => 0,
        Ty::Struct(id) => of_fields(&program.structs[id.index()].fields),
        Ty::Id(id) => program.words_of_id(*id),
        Ty::Array(of, n) => elements(of, 0, u64::from(*n)),
        Ty::List(of, n, _) => {
            let len = words.first().copied().unwrap_or(0);
            elements(of, 1, len.min(u64::from(*n)))
        }
        Ty::Wnd { .. } => 2 + 2 * words.get(1).copied().unwrap_or(0).min(65_536) as usize,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shown_whole_in_their_largest_unit() {
        let shown = |n| scaled(n, &DURATIONS);
        assert_eq!(shown(0), "0ns");
        assert_eq!(shown(200_000_000), "200ms");
        assert_eq!(shown(1_500_000_000), "1.5s");
        assert_eq!(shown(20_121_600), "20.1216ms");
        assert_eq!(shown(1_000_001), "1.000001ms");
        assert_eq!(scaled(100_000_000, &RATES), "100Mbps");
        assert_eq!(clock(1_000_000_005), "1.000000005");
    }
}
