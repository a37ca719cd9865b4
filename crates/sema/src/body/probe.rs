// SPDX-License-Identifier: MIT OR Apache-2.0
//! Functions that are made of what a debugger is asked.

use carrick_ir::{self as ir, StmtKind, Ty};
use carrick_syntax::Span;

use super::{Binding, Body};
use crate::probe::{Ask, Named};

impl Body<'_, '_> {
    /// The function that answers; `None` if something was reported.
    pub(crate) fn probe(mut self, scope: &[Named], ask: Ask<'_>) -> Option<ir::Function> {
        for named in scope {
            self.name_for_probe(named);
        }
        self.parameters = scope.len();
        self.asked = true;
        match ask {
            Ask::Condition(e) => {
                let value = self.condition(e)?;
                self.answer(value);
            }
            Ask::Value(e) => {
                let value = self.typed(e)?;
                self.answer(value);
            }
            Ask::Change(stmt) => self.stmt(stmt)?,
        }
        self.keep_temporaries_apart();
        Some(ir::Function {
            name: "probe".to_owned(),
            doc: ir::Text::default(),
            loc: self.at,
            params: scope.len() as u32,
            locals: self.locals,
            ret: self.ret,
            body: ir::Block { stmts: self.out },
            pure: false,
            may_stop: false,
            max_raised: 0,
        })
    }

    fn answer(&mut self, value: ir::Expr) {
        self.ret = value.ty.clone();
        self.emit(StmtKind::Return(Some(value)));
    }

    fn name_for_probe(&mut self, named: &Named) {
        let local = self.new_local(named.name.clone(), named.ty.clone());
        let parts = if named.open { self.parts_of(&named.ty) } else { Vec::new() };
        let Some(names) = self.names.last_mut() else { return };
        // The names of the program may be used again: here nothing is declared.
        names.insert(named.name.clone(), (Binding::Local(local), Span::default()));
        for part in parts {
            names.entry(part).or_insert((Binding::Part(local), Span::default()));
        }
    }

    fn parts_of(&self, ty: &Ty) -> Vec<String> {
        let program = &self.cx.program;
        match ty {
            Ty::Context(ctx) => {
                let def = &program.contexts[ctx.index()];
                let fields = def.declared_fields().map(|f| f.name.clone());
                let timers = def.timers.iter().map(|t| t.base().to_owned());
                let id = (!def.global).then(|| "id".to_owned());
                fields.chain(timers).chain(id).collect()
            }
            Ty::Event(event) => program.events[event.index()].fields.iter().map(|f| f.name.clone()).collect(),
            _ => Vec::new(),
        }
    }
}
