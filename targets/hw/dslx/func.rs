// SPDX-License-Identifier: MIT OR Apache-2.0
//! Functions: what they are given, and what they give back.

use std::collections::BTreeSet;

use carrick_ir::{Arg, ExprKind, FuncId, Function, LocalId, Stmt, StmtKind, Ty, walk};

use super::body::{Body, Places, tuple};
use super::effects::{Effects, Var, does_something};
use super::emitter::{Emitted, Emitter};
use super::names::variable;

impl Emitter<'_> {
    /// The text of a function of the program; none if calls of it do nothing.
    pub fn function(&mut self, id: FuncId) -> Emitted<String> {
        let program = self.program;
        let function = &program.functions[id.index()];
        let effects = self.effects[id.index()].clone();
        let (text, issues, places) = self.written(function, &effects)?;
        if issues {
            self.issues.insert(id);
        }
        self.places.insert(id, places);
        if self.reads_space_itself(function) {
            self.reads_space.insert(id);
        }
        Ok(text)
    }

    /// The text of a function with these effects, whether it goes on after an instruction, and the places of what it issues.
    pub fn written(&mut self, function: &Function, effects: &Effects) -> Emitted<(String, bool, Places)> {
        if !does_something(effects, function) {
            return Ok((String::new(), false, Places::default()));
        }
        let mut body = Body::new(self.program, function);
        let mut given = vec!["env: Env".to_owned()];
        let mut result = BTreeSet::new();
        if effects.io {
            given.extend(["at: Place".into(), "io: Issued".into()]);
            result.insert(Var::Io);
        }
        for param in (0..function.params).map(LocalId) {
            given.push(format!("{}: {}", body.name(param), self.ty(&function.locals[param.index()].ty)));
        }
        result.extend(effects.params.iter().map(|param| Var::Local(*param)));
        if function.ret != Ty::Void {
            result.insert(Var::Ret);
        }
        self.statements(&function.body.stmts, &result, &mut body)?;
        let types: Vec<String> = result.iter().map(|var| self.type_of(*var, &body)).collect();
        let mut text = body.hoisted.clone();
        text.push_str(&format!(
            "fn {}({}) -> {} {{\n",
            variable(&function.name),
            given.join(", "),
            tuple(&types)
        ));
        // A function that ends early begins as one that has not.
        if body.mentions("left") {
            text.push_str("    let left = u1:0;\n");
        }
        if function.ret != Ty::Void && (!body.hoisted.is_empty() || body.text.matches("let ret").count() != 1)
        {
            text.push_str(&format!("    let ret = {};\n", self.zero(&function.ret)));
        }
        let result = body.tuple(&result);
        body.line(&result);
        text.push_str(&body.text);
        text.push_str("}\n\n");
        Ok((text, body.issued, body.places))
    }

    fn reads_space_itself(&self, function: &Function) -> bool {
        let mut reads = false;
        walk::all(&function.body, &mut |e| {
            reads |= matches!(e.kind, ExprKind::TxRoom(_) | ExprKind::RxSize(_));
        });
        walk::statements(&function.body, &mut |stmt| {
            if let StmtKind::Call { func, .. } = &stmt.kind {
                reads |= self.reads_space.contains(func);
            }
        });
        reads
    }
}

/// A call of a processor, whose parameters are among the locals of its chain.
pub fn call(processor: FuncId, of: &Function, chain: &[carrick_ir::Local], stmts: &mut Vec<Stmt>) {
    let args = of.locals[..of.params as usize].iter().map(|param| {
        let at = chain.iter().position(|local| local.ty == param.ty).unwrap_or(0);
        Arg::Ref(LocalId(at as u32))
    });
    let kind = StmtKind::Call { dest: None, func: processor, args: args.collect() };
    stmts.push(Stmt { kind, loc: carrick_ir::Loc::default() });
}
