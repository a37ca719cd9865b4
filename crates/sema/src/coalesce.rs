// SPDX-License-Identifier: MIT OR Apache-2.0
//! Coalescing rules: when a blueprint takes the place of one that waits, or is taken up by it.

use carrick_ir::{self as ir, Ty};
use carrick_syntax::ast::{Expr, Ident, ItemKind};
use carrick_syntax::diag::Diagnostic;

use crate::body::{Body, Scope};
use crate::env::Def;
use crate::{Checker, codes};

impl Checker<'_> {
    pub(crate) fn coalescing_rules(&mut self) {
        let file = self.file;
        for item in &file.items {
            let ItemKind::CoalescingRule { name, blueprint, when, takes } = &item.kind else { continue };
            if let Some(rule) = self.coalescing_rule(name, blueprint, when, takes) {
                self.program.coalescing.push(rule);
            }
        }
    }

    fn coalescing_rule(
        &mut self,
        name: &Ident,
        blueprint: &Ident,
        when: &Expr,
        takes: &[Ident],
    ) -> Option<ir::CoalescingRule> {
        let pick = |d| if let Def::Blueprint(b) = d { Some(b) } else { None };
        let bp = self.lookup("blueprint", blueprint, pick)?;
        let def = &self.program.blueprints[bp.index()];
        if def.frame || def.frames.is_some() {
            let what = if def.frame { "a frame" } else { "made of frames" };
            self.report(
                Diagnostic::error(
                    codes::COALESCING,
                    format!("`{}` is {what}", blueprint.name),
                    blueprint.span,
                    "not coalesced",
                )
                .note("packets are coalesced while they are queued, by the fields of their headers")
                .mend("write rules for packets with a header and at most data"),
            );
            return None;
        }
        let cond = Body::new(self, Scope::Coalescing(bp)).value_of_type(when, &Ty::Bool)?;
        self.nothing_computed_before(bp, &cond, when.span, false);
        let takes: Option<Vec<u32>> = takes.iter().map(|field| self.taken_field(bp, field)).collect();
        Some(ir::CoalescingRule { name: name.name.clone(), blueprint: bp, when: cond, takes: takes? })
    }

    fn taken_field(&mut self, bp: ir::BpId, field: &Ident) -> Option<u32> {
        let at = self.single_field(bp, field)?;
        let def = &self.program.blueprints[bp.index()].fields[at as usize];
        if !matches!(def.kind, ir::BpFieldKind::Plain { .. }) {
            self.report(
                Diagnostic::error(
                    codes::COMPUTED_RULE,
                    "a coalescing rule cannot copy a computed field",
                    field.span,
                    "computed for each packet",
                )
                .mend("remove it"),
            );
            return None;
        }
        Some(at)
    }
}
