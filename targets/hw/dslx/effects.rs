// SPDX-License-Identifier: MIT OR Apache-2.0
//! What statements and functions change: in DSLX a change is a new value, which whoever follows must be given.

use std::collections::BTreeSet;

use carrick_ir::{Arg, Block, Function, LocalId, Program, Stmt, StmtKind, Ty};

/// Something that a statement gives a new value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Var {
    /// what has been issued
    Io,
    Local(LocalId),
    /// the function's result
    Ret,
    /// the function has ended
    Left,
    /// the loop has ended
    Brk,
    /// this iteration has ended
    Cont,
}

/// What a function changes.
#[derive(Debug, Clone, Default)]
pub struct Effects {
    pub io: bool,
    /// parameters by reference that it changes
    pub params: BTreeSet<LocalId>,
}

impl Effects {
    /// Those of all functions. Callees are listed before callers.
    pub fn of(program: &Program) -> Vec<Effects> {
        let mut all: Vec<Effects> = Vec::new();
        for function in &program.functions {
            let mut vars = BTreeSet::new();
            changed(&all, program, &function.body, &mut vars);
            let params = (0..function.params).map(LocalId).filter(|p| vars.contains(&Var::Local(*p)));
            let params = params.filter(|p| function.locals[p.index()].ty.is_by_ref()).collect();
            all.push(Effects { io: vars.contains(&Var::Io), params });
        }
        all
    }
}

/// Whether calls of it give something new.
pub fn does_something(effects: &Effects, function: &Function) -> bool {
    effects.io || !effects.params.is_empty() || function.ret != Ty::Void
}

/// Adds what a block changes outside itself.
pub fn changed(effects: &[Effects], program: &Program, block: &Block, out: &mut BTreeSet<Var>) {
    of_statements(effects, program, &block.stmts, out);
}

/// As [`changed`], of statements in a row.
pub fn of_statements(effects: &[Effects], program: &Program, stmts: &[Stmt], out: &mut BTreeSet<Var>) {
    let mut inside = BTreeSet::new();
    let mut own = BTreeSet::new();
    for stmt in stmts {
        of_statement(effects, program, stmt, &mut inside);
        own.extend(stmt.begins().map(Var::Local));
    }
    out.extend(inside.difference(&own));
}

/// What one statement changes.
pub fn of_statement(effects: &[Effects], program: &Program, stmt: &Stmt, out: &mut BTreeSet<Var>) {
    let mut root = |local: LocalId| _ = out.insert(Var::Local(local));
    match &stmt.kind {
        StmtKind::Let { local: l, .. }
        | StmtKind::SetFlowId { event: l, .. }
        | StmtKind::Extract { bp: l }
        | StmtKind::SetPayload { bp: l, .. }
        | StmtKind::SetPayloadOf { bp: l, .. }
        | StmtKind::SetPayloadAt { bp: l, .. }
        | StmtKind::FrameAdd { bp: l, .. }
        | StmtKind::OptAdd { bp: l, .. } => root(*l),
        StmtKind::Assign { place, .. } => root(place.root),
        StmtKind::Change { dest, on, .. } => {
            root(on.root);
            dest.iter().for_each(|d| root(*d));
        }
        StmtKind::Random { dest } => {
            root(*dest);
            out.insert(Var::Io);
        }
        StmtKind::Call { dest, func, args } => {
            dest.iter().for_each(|d| root(*d));
            let (does, callee) = (&effects[func.index()], &program.functions[func.index()]);
            for param in &does.params {
                if let Some(Arg::Ref(local)) = args.get(param.index()) {
                    root(*local);
                }
            }
            if does.io {
                out.insert(Var::Io);
            }
            if callee.may_stop {
                out.insert(Var::Left);
            }
        }
        _ => of_control(effects, program, stmt, out),
    }
}

fn of_control(effects: &[Effects], program: &Program, stmt: &Stmt, out: &mut BTreeSet<Var>) {
    match &stmt.kind {
        StmtKind::If { then, otherwise, .. } => {
            changed(effects, program, then, out);
            changed(effects, program, otherwise, out);
        }
        StmtKind::Block(body) => changed(effects, program, body, out),
        StmtKind::For { var, body, .. } => {
            let mut inside = BTreeSet::new();
            changed(effects, program, body, &mut inside);
            let inner = [Var::Brk, Var::Cont, Var::Local(*var)];
            out.extend(inside.into_iter().filter(|v| !inner.contains(v)));
        }
        StmtKind::Break => _ = out.insert(Var::Brk),
        StmtKind::Continue => _ = out.insert(Var::Cont),
        StmtKind::Return(value) => {
            out.insert(Var::Left);
            if value.is_some() {
                out.insert(Var::Ret);
            }
        }
        StmtKind::Stop => out.extend([Var::Io, Var::Left]),
        StmtKind::Instr(_) => _ = out.insert(Var::Io),
        _ => {}
    }
}
