// SPDX-License-Identifier: MIT OR Apache-2.0
//! The collected spelling: `list<instr_t> out; instr_t i = pkt_gen(bp); out.add(i); return out;`

use carrick_ir::{Instr, StmtKind};
use carrick_syntax::Span;
use carrick_syntax::ast::{self, Ident, LetInit, TypeKind};
use carrick_syntax::diag::Diagnostic;

use super::stmt::is_list_of;
use super::{Binding, Body};
use crate::codes;

impl Body<'_, '_> {
    /// A declaration of a list of instructions or events, or of an instruction. `None` if it is none of these.
    pub(super) fn let_collected(
        &mut self,
        ty: &ast::Type,
        name: &Ident,
        init: &LetInit,
    ) -> Option<Option<()>> {
        if is_list_of(ty, "instr_t") || is_list_of(ty, "event_t") {
            let binding = if is_list_of(ty, "instr_t") { Binding::InstrList } else { Binding::EventList };
            self.bind(name, binding);
            if !matches!(init, LetInit::None) {
                return Some(self.misused("such a list starts empty", name.span, "initialised"));
            }
            return Some(Some(()));
        }
        if !matches!(&ty.kind, TypeKind::Name(n) if n == "instr_t") {
            return None;
        }
        let LetInit::Value(e) = init else {
            self.bind(name, Binding::Wrong);
            return Some(self.misused(
                "an instruction is given where its variable is declared",
                name.span,
                "no instruction",
            ));
        };
        let instr = self.made(e);
        let binding = instr.as_ref().map_or(Binding::Wrong, |i| Binding::Instr(Box::new(i.clone())));
        self.bind(name, binding);
        Some(instr.map(|_| ()))
    }

    pub(super) fn misused<T>(&mut self, message: &str, span: Span, label: &str) -> Option<T> {
        self.report(
            Diagnostic::error(codes::COLLECTED, message, span, label.to_owned())
                .note("`instr_t i = pkt_gen(bp); out.add(i); ... return out;` means the statement `pkt_gen(bp);` in place of `out.add(i);`")
                .mend("write the instruction as a statement"),
        )
    }

    /// An instruction whose arguments are evaluated now and that takes effect later.
    fn made(&mut self, e: &ast::Expr) -> Option<Instr> {
        if let ast::ExprKind::Call(callee, args) = &e.kind
            && let ast::ExprKind::Name(name) = &callee.kind
            && super::instr::is_instruction(name)
        {
            let name = Ident { name: name.clone(), span: callee.span };
            let mut instr = self.instruction(&name, args, e.span)?;
            if let Instr::TimerStart { ctx, timer, .. } | Instr::TimerRestart { ctx, timer, .. } = &instr
                && self.timer_def(*ctx, *timer).is_some_and(|timer| !timer.says.is_empty())
            {
                let message = "a timer whose event has fields is started by a statement";
                return self.misused(message, e.span, "not collected");
            }
            for argument in instr.exprs_mut() {
                *argument = self.kept(argument.clone(), e.span);
            }
            return Some(instr);
        }
        self.misused("this is not an instruction", e.span, "expected an instruction")
    }

    /// `out.add(i)` or `out.add(pkt_gen(bp))`.
    pub(super) fn add_instruction(&mut self, method: &Ident, args: &[ast::Expr], span: Span) -> Option<()> {
        if method.name != "add" {
            return self.misused("a list of instructions is only added to", method.span, "another method");
        }
        self.count(args, 1, span)?;
        let instr = match &args[0].kind {
            ast::ExprKind::Name(name) => match self.find(name) {
                Some(Binding::Instr(instr)) => *instr,
                Some(Binding::Wrong) => return None,
                _ => return self.misused("this is not an instruction", args[0].span, "added"),
            },
            _ => self.made(&args[0])?,
        };
        self.emit(StmtKind::Instr(instr));
        Some(())
    }

    /// Whether a `return` returns the list; a bare `return;` does, too.
    pub(super) fn returns_collection(&mut self, value: Option<&ast::Expr>, span: Span) -> Option<bool> {
        let Some(value) = value else { return Some(true) };
        if let ast::ExprKind::Name(name) = &value.kind
            && matches!(self.find(name), Some(Binding::InstrList | Binding::EventList))
        {
            return Some(true);
        }
        self.misused("this function returns its list", span, "something else is returned")
    }
}
