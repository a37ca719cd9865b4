// SPDX-License-Identifier: MIT OR Apache-2.0
//! `layout`: in which order the fields of a blueprint stand, and in how few bits.

use carrick_ir::{self as ir, Ty};
use carrick_syntax::Span;
use carrick_syntax::ast::{Expr, Field, Ident, ItemKind, LayoutEntry, TypeKind};
use carrick_syntax::diag::Diagnostic;

use crate::types::is_int;
use crate::{Checker, codes};

/// Headers that a group can be, and the widths of their fields in bits.
const SHAPES: [(&str, &str, &[u32]); 3] = [
    (
        "ethernet",
        "IEEE 802.3 §3.1: addresses of 48 bits, that of the receiver first, and 16 bits of type",
        &[48, 48, 16],
    ),
    (
        "ipv4",
        "RFC 791 §3.1: 20 bytes, from the version to the destination",
        &[4, 4, 8, 16, 16, 16, 8, 8, 16, 32, 32],
    ),
    ("udp", "RFC 768: ports, length and checksum, of 16 bits each", &[16, 16, 16, 16]),
];
/// More fields in one `pack` than the search for the best order is for.
const PACK_MAX: usize = 16;
/// An alignment beyond this helps nobody.
const ALIGN_MAX: u64 = 64;

/// A field in the order of the packet, or bits that nothing uses.
pub(crate) struct Slot<'a> {
    pub field: Option<&'a Field>,
    /// how many bits, if not those of its declaration
    pub bits: Option<u32>,
    /// what is taken off its value in the packet
    pub base: u64,
    pub range: Option<(u64, u64)>,
}

/// A group of the layout, before its fields have numbers.
struct Wanted<'a> {
    name: &'a Ident,
    doc: &'a str,
    packed: bool,
    shape: Option<&'a Ident>,
    fields: Vec<&'a Field>,
}

impl<'a> Checker<'a> {
    /// The fields of a blueprint in the order of the packet; the groups of its layout, counted in these.
    pub(crate) fn arranged(
        &mut self,
        blueprint: &Ident,
        fields: &'a [Field],
    ) -> (Vec<Slot<'a>>, Vec<ir::Group>) {
        let file = self.file;
        let mut layouts = file.items.iter().filter_map(|item| match &item.kind {
            ItemKind::Layout { blueprint: of, entries } if of.name == blueprint.name => Some((of, entries)),
            _ => None,
        });
        let entries: &[LayoutEntry] = layouts.next().map_or(&[], |(_, entries)| entries);
        if let Some((second, _)) = layouts.next() {
            self.layout_error(
                second.span,
                format!("`{}` has a layout already", second.name),
                "a second one",
                "write one `layout`",
            );
        }
        let ranges = self.ranges(fields, entries);
        let aligns = self.alignments(fields, entries);
        let mut slots = Vec::new();
        let mut groups = Vec::new();
        for group in self.wanted(fields, entries) {
            let first = slots.len();
            if group.packed {
                self.pack(&group, &ranges, &aligns, &mut slots);
            } else {
                slots.extend(group.fields.iter().map(|f| slot(f, &ranges)));
                self.group_shape(&group);
            }
            groups.push(ir::Group {
                name: group.name.name.clone(),
                doc: group.doc.into(),
                packed: group.packed,
                shape: group.shape.map(|s| s.name.clone()),
                first: first as u32,
                count: (slots.len() - first) as u32,
            });
        }
        let placed =
            |field: &Field| slots.iter().any(|s| s.field.is_some_and(|f| f.name.span == field.name.span));
        let rest: Vec<Slot<'a>> = fields.iter().filter(|f| !placed(f)).map(|f| slot(f, &ranges)).collect();
        slots.extend(rest);
        (slots, groups)
    }

    /// Layouts of blueprints that are not there.
    pub(crate) fn check_layouts(&mut self) {
        let file = self.file;
        for item in &file.items {
            if let ItemKind::Layout { blueprint, .. } = &item.kind {
                self.lookup("blueprint", blueprint, |d| {
                    matches!(d, crate::env::Def::Blueprint(_)).then_some(())
                });
            }
        }
    }

    fn layout_error(&mut self, span: Span, message: String, label: &str, mend: &str) {
        self.report(Diagnostic::error(codes::LAYOUT, message, span, label.to_owned()).mend(mend.to_owned()));
    }

    /// A fixed field that a layout names.
    fn laid_out(&mut self, fields: &'a [Field], name: &Ident) -> Option<&'a Field> {
        let Some(field) = fields.iter().find(|f| f.name.name == name.name) else {
            let names: Vec<&str> = fields.iter().map(|f| f.name.name.as_str()).collect();
            self.unknown(codes::UNKNOWN_FIELD, "field", name, &names);
            return None;
        };
        let varies = matches!(&field.ty.kind, TypeKind::Name(n) if n == "varint_t" || n == "data_t" || self.is_option_list(n));
        let at = fields.iter().position(|f| f.name.span == field.name.span).unwrap_or(0);
        let behind = fields[..at].iter().any(|f| !f.presence.is_empty());
        let fixed = !varies && !behind && field.presence.is_empty();
        if !fixed || field.array.is_some() || matches!(field.ty.kind, TypeKind::List(..)) {
            let label =
                if fixed && field.array.is_some() { "an array" } else { "optional, or of variable length" };
            self.report(
                Diagnostic::error(
                    codes::LAYOUT,
                    format!("`{}` cannot be in a layout", name.name),
                    name.span,
                    label,
                )
                .note("a layout orders the fixed fields of a blueprint, which precede all others")
                .mend("leave it out of the layout"),
            );
            return None;
        }
        Some(field)
    }

    fn is_option_list(&self, name: &str) -> bool {
        matches!(self.env.get(name), Some(crate::env::Def::OptList(_)))
    }

    /// The groups with their fields, each field once.
    fn wanted(&mut self, fields: &'a [Field], entries: &'a [LayoutEntry]) -> Vec<Wanted<'a>> {
        let mut groups: Vec<Wanted<'a>> = Vec::new();
        self.check_twins(entries.iter().filter_map(|entry| match entry {
            LayoutEntry::Group { name, .. } => Some(name),
            _ => None,
        }));
        for entry in entries {
            let LayoutEntry::Group { doc, name, packed, shape, fields: names } = entry else { continue };
            let mut group = Wanted { name, doc, packed: *packed, shape: shape.as_ref(), fields: Vec::new() };
            for name in names {
                let Some(field) = self.laid_out(fields, name) else { continue };
                let taken = groups.iter().chain([&group]).flat_map(|g| &g.fields);
                if taken.into_iter().any(|f| f.name.name == name.name) {
                    let message = format!("`{}` is in a group already", name.name);
                    self.layout_error(name.span, message, "a second time", "name each field once");
                    continue;
                }
                group.fields.push(field);
            }
            if group.packed && group.fields.len() > PACK_MAX {
                let message = format!("`{}` packs more than {PACK_MAX} fields", group.name.name);
                self.layout_error(group.name.span, message, "too many", "make two of it");
                group.packed = false;
            }
            groups.push(group);
        }
        groups
    }

    /// What values each field can have in a packet: what its layout says, or else its declaration.
    fn ranges(&mut self, fields: &'a [Field], entries: &'a [LayoutEntry]) -> Vec<(&'a str, (u64, u64))> {
        let mut ranges = Vec::new();
        for entry in entries {
            let LayoutEntry::Range { field, lo, hi } = entry else { continue };
            if let Some(found) = self.laid_out(fields, field)
                && let Some(range) = self.range(found, lo, hi)
            {
                ranges.push((found.name.name.as_str(), range));
            }
        }
        for field in fields {
            let Some((lo, hi)) = &field.range else { continue };
            if !ranges.iter().any(|(name, _)| *name == field.name.name)
                && let Some(range) = self.range(field, lo, hi)
            {
                ranges.push((field.name.name.as_str(), range));
            }
        }
        ranges
    }

    fn range(&mut self, field: &Field, lo: &Expr, hi: &Expr) -> Option<(u64, u64)> {
        let ty = self.resolve(&field.ty)?;
        if !is_int(&ty) || ir::arith::shape(&ty).1 {
            let name = self.name(&ty);
            self.report(
                Diagnostic::error(
                    codes::FIELD_RANGE,
                    format!("a {name} has no range"),
                    lo.span.to(hi.span),
                    "of an unsigned integer only",
                )
                .mend("remove it, or make the field an unsigned integer"),
            );
            return None;
        }
        let (least, greatest) = (self.constant(lo, &ty)?, self.constant(hi, &ty)?);
        let declared = self.field_bits(field, &ty);
        if least > greatest || greatest > u64::MAX >> (64 - declared) {
            self.report(
                Diagnostic::error(
                    codes::FIELD_RANGE,
                    format!("`{}` cannot have this range", field.name.name),
                    lo.span.to(hi.span),
                    if least > greatest {
                        "an empty range".to_owned()
                    } else {
                        format!("more than {declared} bits hold")
                    },
                )
                .mend("give the smallest and the greatest value that the field can have"),
            );
            return None;
        }
        Some((least, greatest))
    }

    /// Reports a value that is known and not in the range of its field.
    pub(crate) fn constant_in_range(&mut self, bp: ir::BpId, at: usize, value: &ir::Expr, span: Span) {
        let field = &self.program.blueprints[bp.index()].fields[at];
        let Some((lo, hi)) = field.range else { return };
        let name = field.declared().to_owned();
        if let Some(value) = self.fold(value).filter(|v| !(lo..=hi).contains(v)) {
            self.report(
                Diagnostic::error(
                    codes::OUT_OF_RANGE,
                    format!("{value} is outside the range of `{name}`"),
                    span,
                    format!("it is {lo}..{hi}"),
                )
                .note("a packet with such a field is not made, only counted (`tx_bad_field`)")
                .mend("widen the range, or use another value"),
            );
        }
    }

    fn alignments(&mut self, fields: &'a [Field], entries: &'a [LayoutEntry]) -> Vec<(&'a str, u32)> {
        let mut aligns = Vec::new();
        for entry in entries {
            let LayoutEntry::Align { field, bits } = entry else { continue };
            let Some(found) = self.laid_out(fields, field) else { continue };
            let Some(value) = self.constant(bits, &Ty::U64) else { continue };
            let packed = entries.iter().any(|e| match e {
                LayoutEntry::Group { packed: true, fields, .. } => {
                    fields.iter().any(|f| f.name == field.name)
                }
                _ => false,
            });
            if !packed || value > ALIGN_MAX || !value.is_power_of_two() {
                self.report(
                    Diagnostic::error(
                        codes::LAYOUT_ALIGN,
                        format!("invalid alignment for `{}`", field.name),
                        bits.span,
                        if packed { "not 1, 2, 4, ... up to 64 bits" } else { "no `pack` has the field" },
                    )
                    .note("a packed field begins at a multiple of its alignment; other fields keep their declared positions")
                    .mend("use a power of two up to 64 for a field of a `pack`"),
                );
                continue;
            }
            aligns.push((found.name.name.as_str(), value as u32));
        }
        aligns
    }

    /// The fields in the order that takes the fewest bits, and what fills the last byte.
    fn pack(
        &mut self,
        group: &Wanted<'a>,
        ranges: &[(&str, (u64, u64))],
        aligns: &[(&str, u32)],
        slots: &mut Vec<Slot<'a>>,
    ) {
        let widths: Vec<(u32, u32)> = group
            .fields
            .iter()
            .map(|field| {
                let name = field.name.name.as_str();
                let range = ranges.iter().find(|(n, _)| *n == name).map(|(_, range)| *range);
                let width = range
                    .map_or_else(|| self.declared_bits(field), |(lo, hi)| 64 - (hi - lo).leading_zeros());
                (width, aligns.iter().find(|(n, _)| *n == name).map_or(1, |(_, align)| *align))
            })
            .collect();
        let mut at: u32 = 0;
        let pad = |to: u32, at: &mut u32, slots: &mut Vec<Slot<'a>>| {
            if to > *at {
                slots.push(Slot { field: None, bits: Some(to - *at), base: 0, range: None });
                *at = to;
            }
        };
        for index in best_order(&widths) {
            let (width, align) = widths[index];
            pad(at.next_multiple_of(align), &mut at, slots);
            let plain = slot(group.fields[index], ranges);
            let base = plain.range.map_or(0, |(lo, _)| lo);
            slots.push(Slot { bits: Some(width), base, ..plain });
            at += width;
        }
        pad(at.next_multiple_of(8), &mut at, slots);
    }

    fn declared_bits(&mut self, field: &Field) -> u32 {
        let ty = self.header_type(field);
        self.field_bits(field, &ty)
    }

    /// Whether the fields are those of the header that the group says it is.
    fn group_shape(&mut self, group: &Wanted<'a>) {
        let Some(shape) = group.shape else { return };
        let Some((_, what, widths)) = SHAPES.iter().find(|(name, ..)| *name == shape.name) else {
            self.unknown(codes::LAYOUT_SHAPE, "header", shape, &SHAPES.map(|(name, ..)| name));
            return;
        };
        let ends = |widths: &[u32]| {
            widths
                .iter()
                .scan(0, |at, width| {
                    *at += width;
                    Some(*at)
                })
                .collect::<Vec<u32>>()
        };
        let own: Vec<u32> = group.fields.iter().map(|f| self.declared_bits(f)).collect();
        let (own, wanted) = (ends(&own), ends(widths));
        // A field of the header may be given as several.
        if wanted.iter().all(|end| own.contains(end)) && own.last() == wanted.last() {
            return;
        }
        self.report(
            Diagnostic::error(
                codes::LAYOUT_SHAPE,
                format!("`{}` is not the header of {}", group.name.name, shape.name),
                shape.span,
                format!("its fields end at bits {own:?}, not at {wanted:?}"),
            )
            .note(*what)
            .mend("give the fields of that header, in its order; a field may be several"),
        );
    }
}

fn slot<'a>(field: &'a Field, ranges: &[(&str, (u64, u64))]) -> Slot<'a> {
    let range = ranges.iter().find(|(name, _)| *name == field.name.name).map(|(_, range)| *range);
    Slot { field: Some(field), bits: None, base: 0, range }
}

/// The order of fields, each with its width and its alignment, that ends first; of several such orders, the
/// one in which the field that is given last stands last, and so on.
///
/// The end of the best order of a set of fields depends on nothing but the set: each set's is made from those of the sets
/// with one field less.
fn best_order(widths: &[(u32, u32)]) -> Vec<usize> {
    let sets = 1_usize << widths.len();
    let mut ends: Vec<u32> = vec![0; sets];
    let mut lasts: Vec<usize> = vec![0; sets];
    for set in 1..sets {
        let best = (0..widths.len()).filter(|i| set >> i & 1 == 1).map(|i| {
            let (width, align) = widths[i];
            // Of equals, the field that was named last stands last.
            (ends[set & !(1 << i)].next_multiple_of(align) + width, widths.len() - i)
        });
        if let Some((end, from_last)) = best.min() {
            (ends[set], lasts[set]) = (end, widths.len() - from_last);
        }
    }
    let mut order = Vec::new();
    let mut set = sets - 1;
    while set != 0 {
        order.push(lasts[set]);
        set &= !(1 << lasts[set]);
    }
    order.reverse();
    order
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::best_order;

    fn end(widths: &[(u32, u32)], order: &[usize]) -> u32 {
        order.iter().fold(0, |at: u32, i| at.next_multiple_of(widths[*i].1) + widths[*i].0)
    }

    fn permutations(n: usize) -> Vec<Vec<usize>> {
        if n == 0 {
            return vec![Vec::new()];
        }
        let shorter = permutations(n - 1);
        shorter
            .iter()
            .flat_map(|p| {
                (0..n).map(|at| {
                    let mut p = p.clone();
                    p.insert(at, n - 1);
                    p
                })
            })
            .collect()
    }

    proptest! {
        #[test]
        fn no_order_ends_before_the_best(widths in prop::collection::vec((1_u32..40, 0_u32..6), 1..7)) {
            let widths: Vec<(u32, u32)> = widths.into_iter().map(|(w, a)| (w, 1 << a)).collect();
            let best = end(&widths, &best_order(&widths));
            let least = permutations(widths.len()).iter().map(|p| end(&widths, p)).min();
            prop_assert_eq!(Some(best), least);
        }
    }

    #[test]
    fn what_makes_no_difference_stays_as_it_is() {
        assert_eq!(best_order(&[(4, 1), (16, 1), (4, 1)]), [0, 1, 2]);
        assert_eq!(best_order(&[(4, 1), (8, 8), (4, 1)]), [1, 0, 2]);
    }
}
