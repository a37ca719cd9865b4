// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a program claims of itself: `assert` and invariants.

use carrick_ir::{self as ir, FuncId, Ty, effects, walk};
use carrick_syntax::Span;
use carrick_syntax::ast::{self, Ident, TypeKind};
use carrick_syntax::diag::Diagnostic;
use carrick_syntax::lexer::lex;

use crate::{Checker, codes};

/// Whether a function of this "type" is an invariant.
pub fn is_invariant(ret: &ast::Type) -> bool {
    matches!(&ret.kind, TypeKind::Name(name) if name == "invariant")
}

impl Checker<'_> {
    /// Notes the condition of an `assert`; returns its number.
    pub(crate) fn claim(&mut self, cond: Span) -> u32 {
        let text = self.written(cond).into();
        let loc = self.loc(cond);
        self.program.claims.push(ir::Claim { text, loc });
        self.program.claims.len() as u32 - 1
    }

    /// The text at a place, on one line and without its comments.
    pub(crate) fn written(&self, span: Span) -> String {
        let text = self.text.get(span.start as usize..span.end as usize).unwrap_or_default();
        let (mut code, mut at) = (String::with_capacity(text.len()), 0);
        for token in lex(text).0.iter().filter(|token| token.kind.is_aside()) {
            code.push_str(&text[at..token.span.start as usize]);
            code.push(' ');
            at = token.span.end as usize;
        }
        code.push_str(&text[at..]);
        code.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    pub(crate) fn declare_invariant(&mut self, func: FuncId, params: &[ir::Local], name: &Ident) {
        if matches!(params, [ir::Local { ty: Ty::Context(_), .. }]) {
            return self.program.invariants.push(func);
        }
        self.report(
            Diagnostic::error(
                codes::INVARIANT_PARAMS,
                format!("the invariant `{}` is not of one context", name.name),
                name.span,
                "other parameters",
            )
            .note("an invariant holds after every chain on an instance of its context")
            .mend("write `invariant name(a_context c) { assert(...); }`"),
        );
    }

    /// Invariants must leave everything as it is: targets leave them out.
    pub(crate) fn check_invariants(&mut self) {
        if self.diagnostics.has(codes::RECURSION) {
            return;
        }
        let file = self.file;
        let functions = file.items.iter().filter_map(|item| match &item.kind {
            ast::ItemKind::Function { ret, name, .. } => Some((ret, name)),
            _ => None,
        });
        for (index, (ret, name)) in functions.enumerate() {
            if is_invariant(ret) && !self.is_pure(FuncId(index as u32)) {
                self.report(
                    Diagnostic::error(
                        codes::INVARIANT_EFFECT,
                        format!("the invariant `{}` changes something", name.name),
                        name.span,
                        "an assignment, an instruction, `stop` or `random()`",
                    )
                    .note("invariants are checked in the simulator and in debug builds; elsewhere they are left out")
                    .mend("use local variables for intermediate results"),
                );
            }
        }
    }

    fn is_pure(&self, func: FuncId) -> bool {
        let function = &self.program.functions[func.index()];
        let mut pure = true;
        walk::statements(&function.body, &mut |stmt| {
            pure = pure && effects::is_pure(stmt, function, &mut |callee| self.is_pure(callee));
        });
        pure
    }
}
