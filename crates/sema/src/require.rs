// SPDX-License-Identifier: MIT OR Apache-2.0
//! `require cond;`: what the values of parameters must meet together.

use carrick_ir::{self as ir, ExprKind};
use carrick_syntax::ast::{Expr, ItemKind};
use carrick_syntax::diag::Diagnostic;

use crate::body::Body;
use crate::{Checker, codes};

impl Checker<'_> {
    pub(crate) fn check_requirements(&mut self) {
        let file = self.file;
        for item in &file.items {
            if let ItemKind::Require { cond } = &item.kind {
                self.require(cond);
            }
        }
    }

    fn require(&mut self, written: &Expr) {
        let Some(cond) = Body::for_declaration(self).condition(written) else { return };
        let default = |id: ir::ParamId| self.program.params.get(id.index()).map(|p| p.default);
        match ir::fold::fold(&self.program, &cond, &default) {
            None => self.report(
                Diagnostic::error(
                    codes::REQUIRE_SCOPE,
                    "a requirement is made of parameters and constants",
                    written.span,
                    "known only when the program runs",
                )
                .note("requirements are checked before the stack starts, when the parameters are set")
                .mend("compare parameters and constants; `min` and `max` may be used"),
            ),
            Some(0) if !self.has_errors() => self.report_defaults(written, &cond),
            Some(_) => {}
        }
        let (text, loc) = (self.written(written.span).into(), self.loc(written.span));
        self.program.requirements.push(ir::Requirement { cond, text, loc });
    }

    /// The defaults do not meet the requirement: points at the condition and at each parameter in it.
    fn report_defaults(&mut self, written: &Expr, cond: &ir::Expr) {
        let mut params: Vec<ir::ParamId> = Vec::new();
        ir::walk::expressions(cond, &mut |e| {
            if let ExprKind::Param(id) = e.kind
                && !params.contains(&id)
            {
                params.push(id);
            }
        });
        let (message, label, mend) = if params.is_empty() {
            ("a requirement is never met", "false", "change the constants or the requirement")
        } else {
            (
                "the default values do not meet a requirement",
                "false for the defaults",
                "change a default or the requirement",
            )
        };
        let mut diagnostic = Diagnostic::error(codes::REQUIRE_DEFAULTS, message, written.span, label);
        for id in params {
            let param = &self.program.params[id.index()];
            if let Some(span) = self.env.span(&param.name) {
                let value = ir::print::literal(&self.program, &param.ty, param.default);
                diagnostic = diagnostic.cause(span, format!("`{}` is {value}", param.name));
            }
        }
        self.report(diagnostic.mend(mend));
    }
}
