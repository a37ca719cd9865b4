// SPDX-License-Identifier: MIT OR Apache-2.0
//! Engines of segmentation, in devices and in kernels: each takes the header of a packet and more payload than one holds, and makes
//! packets of it. A blueprint whose payload becomes several packets can leave by one if its segmentation rules say what the engine
//! does.

use std::collections::BTreeSet;

use crate::arith::shape;
use crate::expr::{BinOp, Expr, ExprKind};
use crate::program::{BlueprintDef, BpField, BpFieldKind, NetLayer, Program, SegRule};
use crate::walk;

/// What an engine does to the header behind that of IP. It makes the lengths and the checksum of the IP header itself; over IPv4 the
/// identification counts the packets. Places are in bits from the beginning of the header.
#[derive(Debug, PartialEq, Eq)]
pub struct Engine {
    /// that it knows by this number of IP
    pub protocol: u8,
    /// 32 bits that count the bytes of the payload
    pub number: u32,
    /// 4 bits that count the header's words of 4 bytes
    pub words: u32,
    /// flags that only the first of the packets has
    pub first: &'static [u32],
    /// flags that only the last one has
    pub last: &'static [u32],
    /// the Internet checksum over addresses, header and payload
    pub sum: u32,
    /// the fewest bytes of payload in each packet
    pub least: u32,
}

/// Those that virtio describes (1.2, 5.1.6.1) and the kernel has, over IPv4 and IPv6: of RFC 9293 §3.1, where CWR (RFC 3168) is of the
/// first packet, PSH and FIN are of the last. The one for UDP changes nothing but lengths: no blueprint becomes several packets that
/// are otherwise the same.
pub const ENGINES: [Engine; 1] =
    [Engine { protocol: 6, number: 32, words: 96, first: &[104], last: &[108, 111], sum: 128, least: 8 }];

/// How a blueprint's packets are made by an engine. What a blueprint says when it is issued decides, too: these conditions are looked
/// at then.
#[derive(Debug)]
pub struct Joined<'p> {
    pub engine: &'static Engine,
    /// the number of the rule that counts the payload, which the blueprint must be issued with
    pub counts: usize,
    /// flags of the first or the last packet, and their rule: without that, the flag must be clear
    pub flags: Vec<(u32, Option<usize>)>,
    /// other rules: they must leave their fields as they are
    pub others: Vec<(usize, &'p SegRule)>,
}

impl Program {
    /// Whether an engine can make the packets of a blueprint.
    pub fn has_joined(&self) -> bool {
        self.blueprints.iter().any(|bp| self.joined(bp).is_ok())
    }

    /// How an engine makes the packets of one of the program's blueprints; if none can, why.
    ///
    /// # Errors
    /// What prevents it, as the end of a sentence.
    pub fn joined(&self, bp: &BlueprintDef) -> Result<Joined<'_>, String> {
        let engine = self.engine()?;
        self.has_form(engine, bp)?;
        let of_it =
            |rule: &SegRule| self.blueprints.get(rule.blueprint.index()).is_some_and(|of| of.name == bp.name);
        let rules: Vec<_> = self.seg_rules.iter().enumerate().filter(|(_, rule)| of_it(rule)).collect();
        if let Some((_, twice)) =
            rules.iter().find(|(n, rule)| rules.iter().any(|(m, other)| m < n && other.field == rule.field))
        {
            let field = name(bp, twice.field);
            return Err(format!("two segmentation rules set `{field}`"));
        }
        let rule_at = |bit: u32| {
            rules.iter().copied().find(|(_, rule)| field(bp, rule.field).is_some_and(|f| f.bit_offset == bit))
        };
        let (counts, rule) = rule_at(engine.number).ok_or("no segmentation rule counts the payload")?;
        if !counts_payload(rule) {
            return Err(format!("`{}` does not count the payload of the packet before", rule.name));
        }
        let mut flags = Vec::new();
        for (bits, holds) in [(engine.first, first_alone as fn(&SegRule) -> bool), (engine.last, last_alone)]
        {
            for bit in bits {
                let number = bp.fields.iter().position(|f| f.bit_offset == *bit && f.bits == 1);
                let number = number.ok_or_else(|| format!("bit {bit} of its header is no flag"))? as u32;
                let rule = rule_at(*bit);
                if let Some((_, rule)) = rule.filter(|(_, rule)| !holds(rule)) {
                    return Err(format!("`{}` says another thing than the engine does", rule.name));
                }
                flags.push((number, rule.map(|(n, _)| n)));
            }
        }
        let changed: BTreeSet<u32> = flags.iter().map(|(field, _)| *field).chain([rule.field]).collect();
        let others: Vec<_> = rules.into_iter().filter(|(_, other)| !changed.contains(&other.field)).collect();
        if let Some((_, other)) = others.iter().find(|(_, other)| !keeps(other, &changed)) {
            return Err(format!("`{}` can give each packet another `{}`", other.name, name(bp, other.field)));
        }
        Ok(Joined { engine, counts, flags, others })
    }

    /// The engine that the program's packets can leave by.
    fn engine(&self) -> Result<&'static Engine, String> {
        let net = &self.net_header;
        if net.layer == NetLayer::Link {
            return Err("it does not run over IP".into());
        }
        if self.in_network.is_some() {
            return Err("the program is one in the network".into());
        }
        if net.segments().is_some() {
            return Err("its packets have segment routing headers".into());
        }
        if !self.schedule.blocks.is_empty() {
            return Err("scheduling blocks decide of each packet".into());
        }
        let protocol = net.protocol;
        let engine = ENGINES.iter().find(|engine| engine.protocol == protocol);
        engine.ok_or_else(|| format!("no engine takes packets of IP protocol {protocol}"))
    }

    /// Whether header and payload lie as the engine expects.
    fn has_form(&self, engine: &Engine, bp: &BlueprintDef) -> Result<(), String> {
        let plain = !bp.frame && bp.frames.is_none() && bp.parts.is_empty() && !bp.trailer;
        if !plain || bp.payload_align > 1 || bp.payload_name.is_none() {
            return Err("its payload is not all that follows a header".into());
        }
        let at = |bit: u32, bits: u32| bp.fields.iter().find(|f| f.bit_offset == bit && f.bits == bits);
        let free =
            |f: &BpField| matches!(f.kind, BpFieldKind::Plain { .. }) && f.range.is_none() && f.base == 0;
        if !at(engine.number, 32).is_some_and(free) {
            return Err(format!(
                "bits {} to {} are no number without a range",
                engine.number,
                engine.number + 31
            ));
        }
        if !at(engine.words, 4).is_some_and(counts_words) {
            return Err(format!("bits {} to {} do not count its words", engine.words, engine.words + 3));
        }
        let sums: Vec<_> = bp
            .fields
            .iter()
            .filter(|f| matches!(f.kind, BpFieldKind::Checksum { .. } | BpFieldKind::Crc(_)))
            .collect();
        let whole = |f: &&BpField| {
            let covers = BpFieldKind::Checksum { pseudo: true, header: true, payload: true, fields: None };
            f.bit_offset == engine.sum && f.kind == covers
        };
        if sums.len() != 1 || !sums.iter().all(whole) {
            return Err("its checksum is another one".into());
        }
        let long = bp.fields.iter().find(
            |f| matches!(&f.kind, BpFieldKind::Computed(e) if mentions(e, |kind| *kind == ExprKind::PayloadLen)),
        );
        match long {
            Some(field) => Err(format!("`{}` depends on the payload of each packet", field.written())),
            None => Ok(()),
        }
    }
}

fn field(bp: &BlueprintDef, number: u32) -> Option<&BpField> {
    bp.fields.get(number as usize)
}

fn name(bp: &BlueprintDef, number: u32) -> String {
    field(bp, number).map_or_else(String::new, |f| f.written().into_owned())
}

/// An expression without the conversions around it that keep a number of so many bits.
fn bare(mut e: &Expr, bits: u32) -> &ExprKind {
    while let ExprKind::Cast(inner) = &e.kind {
        let (width, signed) = shape(&e.ty);
        if signed || width < bits {
            break;
        }
        e = inner;
    }
    &e.kind
}

/// Bits of what counts the bytes of a packet.
const LENGTH: u32 = 16;
/// Of a header's words of 4 bytes no more are sent than 4 bits count.
const WORDS: u32 = 8;
/// Of a number that an engine counts on.
const NUMBER: u32 = 32;

fn mentions(e: &Expr, is: impl Fn(&ExprKind) -> bool) -> bool {
    let mut found = false;
    walk::expressions(e, &mut |e| found |= is(&e.kind));
    found
}

/// The bytes of the header by 4.
fn counts_words(field: &BpField) -> bool {
    let BpFieldKind::Computed(e) = &field.kind else { return false };
    let ExprKind::Binary(BinOp::Div, len, by) = bare(e, WORDS) else { return false };
    *bare(len, LENGTH) == ExprKind::HeaderLen && *bare(by, WORDS) == ExprKind::Lit(4)
}

/// `[field, bp.field, prev.field + prev.payload.len]`.
fn counts_payload(rule: &SegRule) -> bool {
    let goes_on = |e: &Expr| {
        let ExprKind::Binary(BinOp::Add, before, len) = bare(e, NUMBER) else { return false };
        *bare(before, NUMBER) == ExprKind::PrevField(rule.field) && is_payload_before(len)
    };
    is_own(rule, &rule.first, NUMBER) && goes_on(&rule.mid) && goes_on(&rule.last)
}

/// `prev.payload.len`, also as a number of bytes.
fn is_payload_before(e: &Expr) -> bool {
    match bare(e, LENGTH) {
        ExprKind::PrevPayloadLen => true,
        ExprKind::Binary(BinOp::Div, len, by) => is_payload_before(len) && *bare(by, 1) == ExprKind::Lit(1),
        _ => false,
    }
}

/// `[flag, bp.flag, false]`.
fn first_alone(rule: &SegRule) -> bool {
    is_own(rule, &rule.first, 1) && is_false(&rule.mid) && is_false(&rule.last)
}

/// `[flag, false, false, bp.flag]`.
fn last_alone(rule: &SegRule) -> bool {
    is_false(&rule.first) && is_false(&rule.mid) && is_own(rule, &rule.last, 1)
}

/// The field's own value, of so many bits.
fn is_own(rule: &SegRule, e: &Expr, bits: u32) -> bool {
    *bare(e, bits) == ExprKind::BpField(rule.field)
}

fn is_false(e: &Expr) -> bool {
    *bare(e, 1) == ExprKind::Lit(0)
}

/// Whether a rule that leaves its field as it is in the second packet does so in all: it depends on nothing that changes. (The
/// payload before is one of the same length.)
fn keeps(rule: &SegRule, changed: &BTreeSet<u32>) -> bool {
    let steady = |e: &Expr| {
        !mentions(e, |kind| match kind {
            ExprKind::BpField(at) | ExprKind::PrevField(at) => changed.contains(at),
            _ => false,
        })
    };
    is_own(rule, &rule.first, u64::BITS) && rule.mid == rule.last && steady(&rule.mid)
}

impl SegRule {
    /// The value in a second packet that is as long as the first one, over `BpField` and `PayloadLen`.
    pub fn second(&self) -> Expr {
        fn of(e: &Expr) -> Expr {
            let kind = match &e.kind {
                ExprKind::PrevField(at) => ExprKind::BpField(*at),
                ExprKind::PrevPayloadLen => ExprKind::PayloadLen,
                ExprKind::Unary(op, a) => ExprKind::Unary(*op, Box::new(of(a))),
                ExprKind::Binary(op, a, b) => ExprKind::Binary(*op, Box::new(of(a)), Box::new(of(b))),
                ExprKind::Cast(a) => ExprKind::Cast(Box::new(of(a))),
                ExprKind::Cond(c, a, b) => ExprKind::Cond(Box::new(of(c)), Box::new(of(a)), Box::new(of(b))),
                ExprKind::Builtin(f, all) => ExprKind::Builtin(*f, all.iter().map(of).collect()),
                other => other.clone(),
            };
            Expr { kind, ty: e.ty.clone(), loc: e.loc }
        }
        of(&self.mid)
    }
}
