// SPDX-License-Identifier: MIT OR Apache-2.0
//! Numbers, each within the range that the language gives it. They are checked before everything else, so that whatever reads a
//! program afterwards can add, shift and allocate without care. A record of the IR that gets a new field does not compile here.

use super::check::Check;
use crate::{
    BlueprintDef, BpField, BpFieldKind, BpPart, Crc, CrcPart, FieldDef, FieldElement, Frames, Group,
    MOST_BLOCKS, MOST_ELEMENTS, MOST_INPUTS, OptDef, OptElements, OptField, OptId, OptListDef, Program,
    Schedule, Ty, arith,
};

/// Elements of an array or a list, and numbers in a window of bits.
pub const LENGTH_MAX: u64 = 65_536;
/// Numbers in a window of runs, and how many runs.
pub const WND_MAX: u64 = 1 << 31;
pub const RUNS_MAX: u32 = 256;
/// Bytes of a packet: no header is longer.
const PACKET_MAX: u32 = 65_535;
/// Frames of a packet.
pub const FRAMES_MAX: u32 = 64;
/// Bytes of ones before what a CRC covers.
pub const ONES_MAX: u32 = 64;

impl Check<'_> {
    /// Everything that later checks calculate with.
    pub(super) fn numbers(&mut self) {
        let p = self.program;
        self.place = "types".into();
        for ty in types(p) {
            self.length(ty);
        }
        for def in &p.enums {
            self.place = format!("enum {}", def.name);
            self.must(
                matches!(def.repr, Ty::Int { bits: 8 | 16 | 32 | 64, signed: false }),
                "not over an unsigned integer",
            );
        }
        // What follows calculates with the widths of types.
        if !self.errors.is_empty() {
            return;
        }
        for def in &p.opts {
            self.place = format!("opt {}", def.name);
            self.option_numbers(def);
        }
        for def in &p.opt_lists {
            self.place = format!("opt_list {}", def.name);
            self.option_list(def);
        }
        for def in &p.blueprints {
            self.place = format!("blueprint {}", def.name);
            self.header(def);
        }
        self.place = "places".into();
        let machines = p.machines.iter().flat_map(|machine| machine.transitions.iter().map(|t| t.loc));
        let texts = p.claims.iter().map(|claim| claim.loc).chain(p.requirements.iter().map(|r| r.loc));
        let functions = p.functions.iter().map(|function| function.loc);
        machines.chain(texts).chain(functions).for_each(|loc| self.loc(loc));
        self.place = "deploy".into();
        let events = p.event_schedule.as_ref().map(|events| &events.schedule);
        [Some(&p.schedule), events].into_iter().flatten().for_each(|schedule| self.counts(schedule));
        self.depths();
    }

    /// The numbers in a type; ids in it are looked up later.
    fn length(&mut self, ty: &Ty) {
        let fits = match ty {
            Ty::Int { bits, .. } => matches!(bits, 8 | 16 | 32 | 64),
            Ty::Array(element, n) | Ty::List(element, n, _) => {
                self.length(element);
                (1..=LENGTH_MAX).contains(&u64::from(*n))
            }
            Ty::Wnd { size, runs: None } => (1..=LENGTH_MAX).contains(size),
            Ty::Wnd { size, runs: Some(runs) } => {
                (1..=WND_MAX).contains(size) && (1..=RUNS_MAX).contains(runs)
            }
            _ => true,
        };
        self.must(fits, &format!("there is no type {ty:?}"));
    }

    fn option_numbers(&mut self, def: &OptDef) {
        let OptDef { name: _, doc: _, kind: _, len, wide, fields, list } = def;
        self.must((*len > 0) == wide.is_none(), "an impossible length");
        for OptField { name: _, ty, varint: _, fixed } in fields {
            self.must(fixed.is_none_or(|value| fits_in(ty, value)), "a fixed value that does not fit");
        }
        if let Some(OptElements { name: _, element: _, least, most }) = list {
            self.must(
                least <= most && *most > 0 && u64::from(*most) <= LENGTH_MAX,
                "an impossible number of elements",
            );
        }
    }

    /// Each kind is in the list once: what is received is told apart by it.
    fn option_list(&mut self, def: &OptListDef) {
        let OptListDef { name: _, doc: _, members, len: _, align, pad: _ } = def;
        self.must(matches!(align, 1 | 2 | 4 | 8), "an impossible alignment");
        let option = |id: &OptId| self.program.opts.get(id.index());
        let mut kinds: Vec<_> = members.iter().filter_map(option).map(|opt| (opt.wide, opt.kind)).collect();
        let one_sort = kinds.windows(2).all(|pair| pair[0].0.is_some() == pair[1].0.is_some());
        kinds.sort_unstable();
        let apart = kinds.windows(2).all(|pair| pair[0] != pair[1]);
        self.must(one_sort && apart, "two options of one kind");
    }

    fn header(&mut self, def: &BlueprintDef) {
        let BlueprintDef { name: _, doc: _, frame: _, payload_len: _, frames, fields, groups, parts, .. } =
            def;
        let BlueprintDef { payload_align, trailer, fixed_len, options: _, max_header_len, .. } = def;
        self.must((1..=8).contains(payload_align), "the alignment of the payload");
        self.must(fixed_len.max(max_header_len) <= &PACKET_MAX, "a header longer than any packet");
        self.must(!trailer || !fields.is_empty(), "a field behind the payload that is not there");
        for BpField { name: _, doc: _, ty, bits, bit_offset, base, range, kind, element } in fields {
            let there = |e: &FieldElement| e.at < e.of && e.of <= MOST_ELEMENTS;
            self.must(element.as_ref().is_none_or(there), "an impossible number of elements");
            if let BpFieldKind::Crc(Crc { over, masked: _ }) = kind {
                let few = |part: &CrcPart| !matches!(part, CrcPart::Ones(n) if !(1..=ONES_MAX).contains(n));
                self.must(over.iter().all(few), "an impossible number of ones");
            }
            self.must(*bits <= arith::shape(ty).0.max(1) && *bits <= 64, "an impossible width");
            self.must(*bit_offset <= 8 * PACKET_MAX, "a gap between the fields");
            let most = if *bits == 0 { 0 } else { u64::MAX >> (64 - (*bits).min(64)) };
            let fits = |(lo, hi): (u64, u64)| *base <= lo && lo <= hi && hi - base <= most;
            self.must(range.is_none_or(fits), "an impossible range");
        }
        let there = |first: u32, count: u32| u64::from(first) + u64::from(count) <= fields.len() as u64;
        for Group { name: _, doc: _, packed: _, shape: _, first, count } in groups {
            self.must(there(*first, *count), "a group of fields that are not there");
        }
        for BpPart { first, count, when: _, varint: _ } in parts {
            self.must(there(*first, *count), "a part out of place");
        }
        if let Some(Frames { members: _, most }) = frames {
            self.must((1..=FRAMES_MAX).contains(most), "an impossible number of frames");
        }
    }

    fn counts(&mut self, schedule: &Schedule) {
        let Schedule { queues, owners, blocks, held } = schedule;
        self.must(*queues as usize <= MOST_BLOCKS * MOST_INPUTS, "too many queues");
        // Whoever starts a program says how many users there are.
        self.must(*owners == 0 && held.is_empty() && blocks.len() <= MOST_BLOCKS, "rates of users");
    }
}

/// Whether a value has the width of its type.
fn fits_in(ty: &Ty, value: u64) -> bool {
    arith::canonical(ty, value) == value
}

/// All types of a program's declarations and variables.
fn types(p: &Program) -> impl Iterator<Item = &Ty> {
    fn of(fields: &[FieldDef]) -> impl Iterator<Item = &Ty> {
        fields.iter().map(|f| &f.ty)
    }
    let values = p.consts.iter().map(|d| &d.ty).chain(p.arrays.iter().map(|d| &d.ty));
    let values = values.chain(p.params.iter().map(|d| &d.ty)).chain(p.enums.iter().map(|d| &d.repr));
    let records = p.structs.iter().chain(&p.scratchpads).map(|d| &d.fields);
    let records = records.chain(p.ids.iter().map(|d| &d.parts)).chain(p.events.iter().map(|d| &d.fields));
    let records = records.chain(p.contexts.iter().map(|d| &d.fields)).flat_map(|fields| of(fields));
    let options = p
        .opts
        .iter()
        .flat_map(|d| d.fields.iter().map(|f| &f.ty).chain(d.list.iter().map(|list| &list.element)));
    let headers = p.net_header.fields.iter().map(|f| &f.ty);
    let headers = headers.chain(p.blueprints.iter().flat_map(|d| d.fields.iter().map(|f| &f.ty)));
    let functions = p.functions.iter().flat_map(|d| d.locals.iter().map(|l| &l.ty).chain([&d.ret]));
    values.chain(records).chain(options).chain(headers).chain(functions)
}
