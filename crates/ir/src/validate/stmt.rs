// SPDX-License-Identifier: MIT OR Apache-2.0
//! Functions and statements.

use super::check::{Check, Scope};
use crate::methods::Gives;
use crate::{Arg, Block, Function, LocalId, Over, Stmt, StmtKind, Ty};

impl<'p> Check<'p> {
    pub(super) fn function(&mut self, index: usize, function: &'p Function) {
        self.place = format!("function {}", function.name);
        let params = function.params as usize;
        self.must(params <= function.locals.len(), "more parameters than locals");
        function.locals.iter().for_each(|l| self.ty(&l.ty));
        for (at, local) in function.locals.iter().enumerate() {
            let reference = local.ty.is_by_ref() && !matches!(local.ty, Ty::Event(_) | Ty::Context(_));
            self.must(at < params || !reference, "a local that must be a parameter");
            self.must(!matches!(local.ty, Ty::Void | Ty::Wnd { .. }), "a local without values");
        }
        self.ty(&function.ret);
        self.must(!function.ret.is_by_ref(), "a reference is returned");
        self.scope = Scope::Function(function, index);
        self.live = (0..function.locals.len()).map(|at| at < params).collect();
        self.block(&function.body, false);
        self.scope = Scope::Constant;
        self.live.clear();
    }

    /// `in_loop`: whether `break` and `continue` have a loop. What begins to live in a block ends with it.
    fn block(&mut self, block: &Block, in_loop: bool) {
        let outer = self.live.clone();
        for stmt in &block.stmts {
            self.stmt(stmt, in_loop);
        }
        self.live = outer;
    }

    fn stmt(&mut self, stmt: &Stmt, in_loop: bool) {
        let Scope::Function(function, index) = self.scope else { return };
        self.place = format!("function {}, line {}", function.name, stmt.loc.line);
        self.loc(stmt.loc);
        match &stmt.kind {
            StmtKind::Let { local, init } => {
                let ty = function.locals.get(local.index()).map(|l| &l.ty);
                if let (Some(init), Some(ty)) = (init, ty) {
                    self.expr_of(init, ty, "an initial value");
                }
                self.begins(*local);
            }
            StmtKind::Assign { place, value } => {
                self.written(place);
                self.expr_of(value, &place.ty, "what is assigned");
            }
            StmtKind::Call { dest, func, args } => {
                self.must(func.index() < index, "a callee that does not come before its caller");
                if let Some(callee) = self.program.functions.get(func.index()) {
                    self.arguments(callee, args);
                    self.result(*dest, &callee.ret);
                }
            }
            StmtKind::If { cond, then, otherwise } => {
                self.expr_of(cond, &Ty::Bool, "a condition");
                self.block(then, in_loop);
                self.block(otherwise, in_loop);
            }
            StmtKind::Block(body) => self.block(body, in_loop),
            StmtKind::For { var, over, body } => self.for_loop(*var, over, body),
            StmtKind::Break | StmtKind::Continue => self.must(in_loop, "no loop to leave"),
            StmtKind::Return(None) => self.must(function.ret == Ty::Void, "a value is to be returned"),
            StmtKind::Return(Some(value)) => self.expr_of(value, &function.ret, "what is returned"),
            StmtKind::Stop => {}
            StmtKind::Assert { claim, cond } => {
                self.must((*claim as usize) < self.program.claims.len(), "there is no such claim");
                self.expr_of(cond, &Ty::Bool, "a claim");
            }
            StmtKind::Instr(instr) => self.instr(instr),
            StmtKind::SetFlowId { .. }
            | StmtKind::Extract { .. }
            | StmtKind::SetPayload { .. }
            | StmtKind::SetPayloadOf { .. }
            | StmtKind::SetPayloadAt { .. }
            | StmtKind::FrameAdd { .. }
            | StmtKind::OptAdd { .. } => self.packet_stmt(&stmt.kind),
            StmtKind::Random { dest } => self.result(Some(*dest), &Ty::U32),
            StmtKind::Change { what, dest, on, args } => {
                let method = what.declaration();
                self.method(method, on, args);
                self.written(on);
                self.must(
                    dest.is_none() || method.gives != Gives::Nothing,
                    "the result of a method without one",
                );
                self.result(*dest, &method.gives.ty(&on.ty));
            }
        }
    }

    fn begins(&mut self, local: LocalId) {
        let Scope::Function(function, _) = self.scope else { return };
        self.must(local.index() >= function.params as usize, "a parameter begins to live again");
        match self.live.get_mut(local.index()) {
            Some(live) => {
                let twice = std::mem::replace(live, true);
                self.must(!twice, "a local begins to live twice");
            }
            None => self.fail(format!("there is no local {}", local.0)),
        }
    }

    /// A local that begins to live with a statement's result.
    fn result(&mut self, dest: Option<LocalId>, ty: &Ty) {
        let Some(dest) = dest else { return };
        self.begins(dest);
        if let Some(found) = self.local(dest) {
            self.same(found, ty, "the result");
        }
    }

    fn arguments(&mut self, callee: &Function, args: &[Arg]) {
        let params = callee.locals.iter().take(callee.params as usize);
        self.must(args.len() == params.len(), "another number of arguments");
        for (arg, param) in args.iter().zip(params) {
            self.must(matches!(arg, Arg::Ref(_)) == param.ty.is_by_ref(), "passed in another way");
            match arg {
                Arg::Value(value) => self.expr_of(value, &param.ty, "an argument"),
                Arg::Ref(local) => {
                    if let Some(found) = self.local(*local) {
                        self.same(found, &param.ty, "an argument");
                    }
                }
            }
        }
    }

    fn for_loop(&mut self, var: LocalId, over: &Over, body: &Block) {
        let Scope::Function(function, _) = self.scope else { return };
        let outer = self.live.clone();
        let ty = function.locals.get(var.index()).map_or(Ty::Void, |l| l.ty.clone());
        match over {
            Over::Range { from, to, .. } => {
                self.must(matches!(ty, Ty::Int { .. }), "a loop over something else than integers");
                self.expr_of(from, &ty, "the first number");
                self.expr_of(to, &ty, "the end");
            }
            Over::EachOf(list) => {
                self.place(list);
                match &list.ty {
                    Ty::List(element, _, _) | Ty::Array(element, _) => self.same(&ty, element, "an element"),
                    _ => self.fail("a loop over something else than a list"),
                }
            }
        }
        self.begins(var);
        self.block(body, true);
        self.live = outer;
    }
}
