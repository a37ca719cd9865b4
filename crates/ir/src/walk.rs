// SPDX-License-Identifier: MIT OR Apache-2.0
//! Walking over statements and expressions.

use crate::{Arg, Block, Expr, ExprKind, Over, Place, Proj, Stmt, StmtKind};

/// The blocks that a statement holds.
pub fn children(stmt: &Stmt) -> impl Iterator<Item = &Block> {
    let (first, second) = match &stmt.kind {
        StmtKind::If { then, otherwise, .. } => (Some(then), Some(otherwise)),
        StmtKind::Block(body) | StmtKind::For { body, .. } => (Some(body), None),
        _ => (None, None),
    };
    first.into_iter().chain(second)
}

/// Calls `visit` for every statement of the block, those inside others included, in order.
pub fn statements<'a>(block: &'a Block, visit: &mut dyn FnMut(&'a Stmt)) {
    for stmt in &block.stmts {
        visit(stmt);
        for child in children(stmt) {
            statements(child, visit);
        }
    }
}

/// Calls `visit` for every expression that stands in a statement itself, but for those of an instruction.
pub fn of_statement<'a>(stmt: &'a Stmt, visit: &mut dyn FnMut(&'a Expr)) {
    let mut all: Vec<&Expr> = Vec::new();
    match &stmt.kind {
        StmtKind::Let { init: value, .. } | StmtKind::Return(value) => all.extend(value),
        StmtKind::If { cond, .. } | StmtKind::Assert { cond, .. } => all.push(cond),
        StmtKind::SetFlowId { id, .. } => all.push(id),
        StmtKind::OptAdd { args, .. } => all.extend(args),
        StmtKind::For { over: Over::Range { from, to, .. }, .. } => all.extend([from, to]),
        StmtKind::SetPayloadAt { addr, len, mss, .. } => all.extend([addr, len].into_iter().chain(mss)),
        StmtKind::SetPayload { offset, len, mss, .. } => all.extend([offset, len].into_iter().chain(mss)),
        StmtKind::SetPayloadOf { id, offset, len, mss, .. } => {
            all.extend([id, offset, len].into_iter().chain(mss));
        }
        StmtKind::Call { args, .. } => all.extend(args.iter().filter_map(|arg| match arg {
            Arg::Value(value) => Some(value),
            Arg::Ref(_) => None,
        })),
        StmtKind::Assign { place, value } => {
            in_place(place, visit);
            all.push(value);
        }
        StmtKind::Change { on: place, args, .. } => {
            in_place(place, visit);
            all.extend(args);
        }
        StmtKind::For { over: Over::EachOf(place), .. } => in_place(place, visit),
        _ => {}
    }
    all.into_iter().for_each(|e| expressions(e, visit));
}

/// Calls `visit` for every expression that is evaluated in the block.
pub fn all<'a>(block: &'a Block, visit: &mut dyn FnMut(&'a Expr)) {
    statements(block, &mut |stmt| {
        if let StmtKind::Instr(instr) = &stmt.kind {
            instr.exprs().for_each(|e| expressions(e, visit));
        }
        of_statement(stmt, visit);
    });
}

/// Calls `visit` for an expression and all that are in it.
pub fn expressions<'a>(e: &'a Expr, visit: &mut dyn FnMut(&'a Expr)) {
    visit(e);
    match &e.kind {
        ExprKind::Unary(_, a) | ExprKind::Cast(a) | ExprKind::Element(_, a) => expressions(a, visit),
        ExprKind::Binary(_, a, b) => {
            expressions(a, visit);
            expressions(b, visit);
        }
        ExprKind::Cond(a, b, c) => [a, b, c].into_iter().for_each(|e| expressions(e, visit)),
        ExprKind::MakeId(_, args) | ExprKind::Builtin(_, args) => {
            args.iter().for_each(|e| expressions(e, visit));
        }
        ExprKind::Query(_, place, args) => {
            in_place(place, visit);
            args.iter().for_each(|e| expressions(e, visit));
        }
        ExprKind::Load(place) => in_place(place, visit),
        ExprKind::TimerArmed(.., Some(which)) => expressions(which, visit),
        _ => {}
    }
}

fn in_place<'a>(place: &'a Place, visit: &mut dyn FnMut(&'a Expr)) {
    for proj in &place.path {
        if let Proj::Index(at) | Proj::Elem(at) = proj {
            expressions(at, visit);
        }
    }
}
