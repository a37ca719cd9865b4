// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fields that are not in every packet, or not always at the same place.

use carrick_ir::{self as ir, BpFieldKind, Expr, ExprKind, Ty};
use carrick_syntax::Span;
use carrick_syntax::ast::{self, Field};
use carrick_syntax::diag::Diagnostic;

use crate::body::{Body, Scope};
use crate::{Checker, codes};

/// Where the next field of a blueprint goes.
#[derive(Debug, Default)]
pub(crate) struct Placing {
    /// in bits, from the header's or the part's beginning
    pub offset: u32,
    /// the groups that the part is in
    groups: Vec<Span>,
}

impl Checker<'_> {
    /// Begins a part with this field, or goes on with one, unless the field is a fixed one.
    pub(crate) fn enter_part(
        &mut self,
        bp: &mut ir::BlueprintDef,
        field: &Field,
        varint: bool,
        place: &mut Placing,
    ) {
        let groups: Vec<Span> = field.presence.iter().map(|p| p.span).collect();
        if bp.parts.is_empty() && groups.is_empty() && !varint {
            return;
        }
        let goes_on = bp.parts.last().is_some_and(|p| !p.varint) && !varint && place.groups == groups;
        if !goes_on {
            self.end_part(bp, field.span, place);
            bp.parts.push(ir::BpPart { first: bp.fields.len() as u32, count: 0, when: None, varint });
            *place = Placing { offset: 0, groups };
        }
        if let Some(part) = bp.parts.last_mut() {
            part.count += 1;
        }
    }

    /// What ends here has taken whole bytes.
    pub(crate) fn end_part(&mut self, bp: &mut ir::BlueprintDef, span: Span, place: &Placing) {
        if !place.offset.is_multiple_of(8) {
            self.bits_unaligned(span, place.offset);
        }
        if bp.parts.is_empty() {
            bp.fixed_len = place.offset.div_ceil(8);
        }
    }

    /// Checksums are found without reading what comes before them.
    pub(crate) fn checksum_is_fixed(&mut self, bp: &ir::BlueprintDef, field: &Field) {
        if bp.parts.is_empty() && field.presence.is_empty() {
            return;
        }
        self.report(
            Diagnostic::error(
                codes::CHECKSUM_PLACE,
                format!("`{}` is not at the same offset in every packet", field.name.name),
                field.span,
                "after or among optional or variable-length fields",
            )
            .note("the checksum of a packet is verified before its other fields are used")
            .mend("move it in front of the first `if`, `union` or `varint_t`, or a `crc32_t` behind the payload"),
        );
    }

    /// Options and payload are in every packet.
    pub(crate) fn always_there(&mut self, field: &Field) {
        let Some(presence) = field.presence.last() else { return };
        self.report(
            Diagnostic::error(
                codes::PRESENCE,
                format!("`{}` cannot be optional", field.name.name),
                field.span,
                "options or payload",
            )
            .cause(presence.cond.span, "there only if this holds")
            .note("options and payload are in every packet; they may be empty")
            .mend("move it out of the group"),
        );
    }

    /// The conditions of the parts, now that every name is known.
    pub(crate) fn presences(&mut self, bp: ir::BpId, fields: &[Field]) {
        for at in 0..self.program.blueprints[bp.index()].parts.len() {
            let def = &self.program.blueprints[bp.index()];
            let first = def.parts[at].first;
            let Some(name) = def.fields.get(first as usize).map(|f| f.declared().to_owned()) else {
                continue;
            };
            let Some(field) = fields.iter().find(|f| f.name.name == name) else { continue };
            let mut when: Option<Expr> = None;
            for presence in &field.presence {
                let Some(cond) = self.presence(bp, first, presence) else { continue };
                when = Some(match when {
                    None => cond,
                    Some(outer) => {
                        let loc = cond.loc;
                        let both = ExprKind::Binary(ir::BinOp::LogicalAnd, Box::new(outer), Box::new(cond));
                        Expr { kind: both, ty: Ty::Bool, loc }
                    }
                });
            }
            self.program.blueprints[bp.index()].parts[at].when = when;
        }
        self.union_arms(fields);
    }

    fn presence(&mut self, bp: ir::BpId, first: u32, presence: &ast::Presence) -> Option<Expr> {
        let condition = presence.condition();
        let cond = Body::new(self, Scope::Header(bp)).value_of_type(&condition, &Ty::Bool)?;
        let fields = &self.program.blueprints[bp.index()].fields;
        let mut wrong = None;
        ir::walk::expressions(&cond, &mut |e| {
            let why = match e.kind {
                ExprKind::HeaderLen => "the length of the header depends on it".to_owned(),
                ExprKind::PayloadLen => "the payload may be cut to what fits behind the header".to_owned(),
                ExprKind::BpField(at) if at >= first => {
                    format!("`{}` comes later", fields[at as usize].written())
                }
                ExprKind::BpField(at) if !matches!(fields[at as usize].kind, BpFieldKind::Plain { .. }) => {
                    format!("`{}` is computed when the header's length is known", fields[at as usize].name)
                }
                _ => return,
            };
            wrong = wrong.take().or(Some(why));
        });
        let Some(why) = wrong else { return Some(cond) };
        self.report(
            Diagnostic::error(
                codes::PRESENCE,
                "a receiver cannot compute from this whether these fields are present",
                presence.cond.span,
                why,
            )
            .note("sender and receiver decide it from the fields in front of the group")
            .mend("use assigned fields that precede the group"),
        );
        None
    }

    /// No two arms of a union have the same value.
    fn union_arms(&mut self, fields: &[Field]) {
        let mut arms: Vec<(Span, Span, Span, u64)> = Vec::new();
        for presence in fields.iter().flat_map(|f| &f.presence) {
            let Some(arm) = &presence.arm else { continue };
            if arms.iter().any(|(_, _, group, _)| *group == presence.span) {
                continue;
            }
            let Some(value) = self.arm_value(arm) else { continue };
            let selector = presence.cond.span;
            let twin = arms.iter().find(|(of, _, _, v)| *of == selector && *v == value);
            if let Some((_, first, ..)) = twin {
                self.report(
                    Diagnostic::error(
                        codes::UNION_ARM,
                        "two arms of a union have the same value",
                        arm.span,
                        "again here",
                    )
                    .cause(*first, "first here")
                    .mend("put the fields of both into one arm, or give them different values"),
                );
                continue;
            }
            arms.push((selector, arm.span, presence.span, value));
        }
    }

    /// What the arm's value is, if it is a constant.
    fn arm_value(&mut self, arm: &ast::Expr) -> Option<u64> {
        let value = Body::for_declaration(self).typed(arm)?;
        self.fold(&value)
    }

    /// Computed fields and rules see what the program assigned: what is computed has no value yet.
    pub(crate) fn nothing_computed_before(&mut self, bp: ir::BpId, value: &Expr, span: Span, varint: bool) {
        let fields = &self.program.blueprints[bp.index()].fields;
        let mut wrong = None;
        ir::walk::expressions(value, &mut |e| match e.kind {
            ExprKind::BpField(at) | ExprKind::PrevField(at) => {
                let field = &fields[at as usize];
                if !matches!(field.kind, BpFieldKind::Plain { .. }) {
                    wrong = Some(format!("`{}` is computed itself", field.name));
                }
            }
            ExprKind::HeaderLen if varint => {
                wrong = Some("the header's length depends on this field's own".to_owned());
            }
            _ => {}
        });
        let Some(why) = wrong else { return };
        self.report(
            Diagnostic::error(codes::COMPUTED_FROM, "this is computed from what is computed", span, why)
                .note("computed fields and segmentation rules see the fields as the program assigned them")
                .mend("write what the other field is computed from"),
        );
    }

    /// A rule may not change whether fields are there: all packets of a blueprint have the same ones.
    pub(crate) fn rule_leaves_presence(&mut self, bp: ir::BpId, at: u32, span: Span) {
        let def = &self.program.blueprints[bp.index()];
        let mut used = false;
        for when in def.parts.iter().filter_map(|p| p.when.as_ref()) {
            ir::walk::expressions(when, &mut |e| used |= e.kind == ExprKind::BpField(at));
        }
        if used {
            let name = def.fields[at as usize].name.clone();
            self.report(
                Diagnostic::error(
                    codes::RULED_PRESENCE,
                    format!("`{name}` decides which fields are present"),
                    span,
                    "changed from packet to packet",
                )
                .note("all packets of one blueprint have the same fields, so that each has the same space for payload")
                .mend("issue a separate blueprint for packets with other fields"),
            );
        }
    }
}
