// SPDX-License-Identifier: MIT OR Apache-2.0
//! Walking over what runs: statements and the expressions in them.

use crate::ast::{Block, Branch, Entry, Expr, ExprKind, File, Ident, ItemKind, LetInit, Stmt, StmtKind};
use crate::span::Span;

/// What a visitor sees.
#[derive(Debug, Clone, Copy)]
pub enum Node<'a> {
    /// before the statements and expressions in it
    Stmt(&'a Stmt),
    /// before those in it
    Expr(&'a Expr),
}

/// Calls `visit` for all statements and expressions of functions and machines, in the order of the file.
pub fn bodies<'a>(file: &'a File, visit: &mut dyn FnMut(Node<'a>)) {
    for item in &file.items {
        match &item.kind {
            ItemKind::Function { body, .. } | ItemKind::Extension { body, .. } => block(body, visit),
            ItemKind::Machine { states, anywhere, .. } => {
                for reaction in states.iter().flat_map(|s| &s.reactions).chain(anywhere) {
                    reaction.cond.iter().for_each(|e| expr(e, visit));
                    block(&reaction.body, visit);
                }
            }
            _ => {}
        }
    }
}

fn block<'a>(body: &'a Block, visit: &mut dyn FnMut(Node<'a>)) {
    body.stmts.iter().for_each(|s| stmt(s, visit));
}

fn stmt<'a>(stmt_: &'a Stmt, visit: &mut dyn FnMut(Node<'a>)) {
    visit(Node::Stmt(stmt_));
    match &stmt_.kind {
        StmtKind::Let { array, init, .. } => {
            array.iter().for_each(|e| expr(e, visit));
            match init {
                LetInit::Value(value) => expr(value, visit),
                LetInit::Args(args) => args.iter().for_each(|e| expr(e, visit)),
                LetInit::None => {}
            }
        }
        StmtKind::Assign { place, value, .. } => [place, value].into_iter().for_each(|e| expr(e, visit)),
        StmtKind::Expr(e) | StmtKind::Return(Some(e)) => expr(e, visit),
        StmtKind::Raise { event, at, record } => {
            [event].into_iter().chain(at).chain(record).for_each(|e| expr(e, visit));
        }
        StmtKind::If { cond, then, otherwise } => {
            expr(cond, visit);
            block(then, visit);
            otherwise.iter().for_each(|s| stmt(s, visit));
        }
        StmtKind::Block(body) => block(body, visit),
        StmtKind::For { over, body, .. } => {
            over.exprs().for_each(|e| expr(e, visit));
            block(body, visit);
        }
        StmtKind::While { cond, max, body } => {
            [cond, max].into_iter().for_each(|e| expr(e, visit));
            block(body, visit);
        }
        StmtKind::Retain { list, keep, .. } => [list, keep].into_iter().for_each(|e| expr(e, visit)),
        StmtKind::Choose { value, branches } => {
            expr(value, visit);
            for branch in branches {
                branch.exprs().for_each(|e| expr(e, visit));
                block(&branch.body, visit);
            }
        }
        StmtKind::Goto(_)
        | StmtKind::Point { .. }
        | StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Return(None)
        | StmtKind::Stop
        | StmtKind::Error => {}
    }
}

/// Calls `visit` for the expression and all in it.
pub fn expr<'a>(of: &'a Expr, visit: &mut dyn FnMut(Node<'a>)) {
    visit(Node::Expr(of));
    match &of.kind {
        ExprKind::Field(e, _) | ExprKind::Unary(_, e) | ExprKind::Paren(e) => expr(e, visit),
        ExprKind::Index(a, b) | ExprKind::Binary(_, a, b) => {
            [a, b].into_iter().for_each(|e| expr(e, visit));
        }
        ExprKind::Cond(a, b, c) => [a, b, c].into_iter().for_each(|e| expr(e, visit)),
        ExprKind::Call(callee, args) => {
            expr(callee, visit);
            args.iter().for_each(|e| expr(e, visit));
        }
        ExprKind::Record(entries) => entries.iter().for_each(|entry| match entry {
            Entry::Field { value, .. } | Entry::Spread(value) => expr(value, visit),
        }),
        ExprKind::Int { .. }
        | ExprKind::Unit { .. }
        | ExprKind::Bool(_)
        | ExprKind::None
        | ExprKind::Inf
        | ExprKind::Name(_)
        | ExprKind::Error => {}
    }
}

/// The expressions of a statement, but for those of the statements in it.
pub fn exprs_mut(stmt: &mut Stmt) -> Vec<&mut Expr> {
    match &mut stmt.kind {
        StmtKind::Let { array, init, .. } => {
            let init = match init {
                LetInit::Value(value) => std::slice::from_mut(value),
                LetInit::Args(args) => args,
                LetInit::None => &mut [],
            };
            array.iter_mut().chain(init).collect()
        }
        StmtKind::Assign { place, value, .. } => vec![place, value],
        StmtKind::Expr(e) | StmtKind::Return(Some(e)) | StmtKind::If { cond: e, .. } => vec![e],
        StmtKind::Raise { event, at, record } => [event].into_iter().chain(at).chain(record).collect(),
        StmtKind::For { over, .. } => over.exprs_mut().collect(),
        StmtKind::While { cond, max, .. } => vec![cond, max],
        StmtKind::Retain { list, keep, .. } => vec![list, keep],
        StmtKind::Choose { value, branches } => {
            [value].into_iter().chain(branches.iter_mut().flat_map(Branch::exprs_mut)).collect()
        }
        _ => Vec::new(),
    }
}

/// Calls `visit` for all names in an expression that may be those of variables.
pub fn names_mut(of: &mut Expr, visit: &mut dyn FnMut(&mut String, Span)) {
    let span = of.span;
    match &mut of.kind {
        ExprKind::Name(name) => visit(name, span),
        ExprKind::Field(e, _) | ExprKind::Unary(_, e) | ExprKind::Paren(e) => names_mut(e, visit),
        ExprKind::Index(a, b) | ExprKind::Binary(_, a, b) => {
            [a, b].into_iter().for_each(|e| names_mut(e, visit));
        }
        ExprKind::Cond(a, b, c) => [a, b, c].into_iter().for_each(|e| names_mut(e, visit)),
        ExprKind::Call(callee, args) => {
            names_mut(callee, visit);
            args.iter_mut().for_each(|e| names_mut(e, visit));
        }
        ExprKind::Record(entries) => entries.iter_mut().for_each(|entry| match entry {
            Entry::Field { value, .. } | Entry::Spread(value) => names_mut(value, visit),
        }),
        _ => {}
    }
}

/// The name and the arguments of a call of something that has a name.
pub fn named_call(of: &Expr) -> Option<(Ident, &[Expr])> {
    let ExprKind::Call(callee, args) = &of.kind else { return None };
    let ExprKind::Name(name) = &callee.kind else { return None };
    Some((Ident { name: name.clone(), span: callee.span }, args))
}
