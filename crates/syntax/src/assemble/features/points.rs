// SPDX-License-Identifier: MIT OR Apache-2.0
//! `point p(x);` and `extend f.p { }`: the body of each extension, in the place of the point.
//!
//! An extension sees the variables that the point passes, and no other: what else the function has there is hidden from it,
//! and what it declares itself hides nothing.

use std::collections::HashMap;

use crate::assemble::codes;
use crate::ast::*;
use crate::diag::Diagnostic;
use crate::span::Span;
use crate::walk::{exprs_mut, names_mut};

/// The bodies of the extensions, by function and point, each in the order of the file.
type Extensions = HashMap<(String, String), Vec<Block>>;

pub(super) fn expand(tree: &mut File, diagnostics: &mut Vec<Diagnostic>) {
    let mut extensions = Extensions::new();
    tree.items.retain_mut(|item| {
        let ItemKind::Extension { function, point, body } = &mut item.kind else { return true };
        let body = Block { stmts: std::mem::take(&mut body.stmts), span: body.span };
        let at = (std::mem::take(&mut function.name), std::mem::take(&mut point.name));
        extensions.entry(at).or_default().push(body);
        false
    });
    let mut left_out = Vec::new();
    for item in &mut tree.items {
        let ItemKind::Function { name, params, body, .. } = &mut item.kind else { continue };
        let scopes = vec![params.iter().map(|p| p.name.name.clone()).collect()];
        let function = &name.name;
        let (extensions, left_out) = (&mut extensions, &mut left_out);
        Expander { function, extensions, scopes, left_out, diagnostics }.block(body);
    }
    tree.left_out.append(&mut left_out);
}

/// Fills the points of one function.
struct Expander<'a> {
    function: &'a str,
    extensions: &'a mut Extensions,
    /// the variables of the function, the innermost scope last
    scopes: Vec<Vec<String>>,
    /// the points: what a point passes is of use, whether or not it is extended
    left_out: &'a mut Vec<Span>,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl Expander<'_> {
    fn block(&mut self, block: &mut Block) {
        self.scopes.push(Vec::new());
        block.stmts.retain_mut(|stmt| self.stmt(stmt));
        self.scopes.pop();
    }

    fn bind(&mut self, name: &Ident) {
        self.scopes.last_mut().into_iter().for_each(|scope| scope.push(name.name.clone()));
    }

    /// Whether the statement stays.
    fn stmt(&mut self, stmt: &mut Stmt) -> bool {
        match &mut stmt.kind {
            StmtKind::Let { name, .. } => self.bind(name),
            StmtKind::Block(block) | StmtKind::While { body: block, .. } => self.block(block),
            StmtKind::If { then, otherwise, .. } => {
                self.block(then);
                // A point without extensions is an empty block here.
                otherwise.iter_mut().for_each(|s| _ = self.stmt(s));
            }
            StmtKind::Choose { branches, .. } => branches.iter_mut().for_each(|b| self.block(&mut b.body)),
            StmtKind::For { var, body, .. } => {
                self.scopes.push(vec![var.name.clone()]);
                self.block(body);
                self.scopes.pop();
            }
            StmtKind::Point { .. } => return self.point(stmt),
            _ => {}
        }
        true
    }

    /// Puts the extensions there, if there are any.
    fn point(&mut self, stmt: &mut Stmt) -> bool {
        let StmtKind::Point { name, passed } = &stmt.kind else { return true };
        self.check_passed(passed);
        self.left_out.push(stmt.span);
        let at = (self.function.to_owned(), name.name.clone());
        let bodies = self.extensions.remove(&at).unwrap_or_default();
        let hidden: Vec<String> =
            self.scopes.concat().into_iter().filter(|v| !passed.iter().any(|p| p.name == *v)).collect();
        let place = (stmt.span, name.name.as_str());
        let mut blocks: Vec<Block> = Vec::new();
        for mut body in bodies {
            let diagnostics = &mut *self.diagnostics;
            Hider { hidden: &hidden, place, own: Vec::new(), diagnostics }.block(&mut body);
            blocks.push(body);
        }
        let there = !blocks.is_empty();
        let block = if blocks.len() == 1 { blocks.pop() } else { None };
        let whole = |b: Block| Stmt { span: b.span, kind: StmtKind::Block(b) };
        let stmts = blocks.into_iter().map(whole).collect();
        stmt.kind = StmtKind::Block(block.unwrap_or(Block { stmts, span: stmt.span }));
        there
    }

    fn check_passed(&mut self, passed: &[Ident]) {
        for (at, name) in passed.iter().enumerate() {
            let (message, label) = if passed[..at].iter().any(|p| p.name == name.name) {
                (format!("`{}` is passed twice", name.name), "again here")
            } else if !self.scopes.iter().flatten().any(|v| *v == name.name) {
                (format!("there is no variable `{}` here", name.name), "not a variable of the function")
            } else {
                continue;
            };
            self.diagnostics.push(
                Diagnostic::error(codes::POINT_PASSES, message, name.span, label)
                    .mend("pass variables and parameters of the function, each once"),
            );
        }
    }
}

/// Keeps the variables of an extension and those of its function apart.
struct Hider<'a> {
    /// variables of the function that the point does not pass
    hidden: &'a [String],
    place: (Span, &'a str),
    /// the extension's own, by their names and what they are called in the function
    own: Vec<(String, String)>,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl Hider<'_> {
    fn block(&mut self, block: &mut Block) {
        let known = self.own.len();
        block.stmts.iter_mut().for_each(|s| self.stmt(s));
        self.own.truncate(known);
    }

    fn stmt(&mut self, stmt: &mut Stmt) {
        if let StmtKind::Retain { list, var, keep, .. } = &mut stmt.kind {
            self.names(list);
            let known = self.own.len();
            self.bind(var);
            self.names(keep);
            self.own.truncate(known);
            return;
        }
        exprs_mut(stmt).into_iter().for_each(|expr| self.names(expr));
        match &mut stmt.kind {
            StmtKind::Let { name, .. } => self.bind(name),
            StmtKind::Block(block) | StmtKind::While { body: block, .. } => self.block(block),
            StmtKind::If { then, otherwise, .. } => {
                self.block(then);
                otherwise.iter_mut().for_each(|s| self.stmt(s));
            }
            StmtKind::Choose { branches, .. } => branches.iter_mut().for_each(|b| self.block(&mut b.body)),
            StmtKind::For { var, body, .. } => {
                let known = self.own.len();
                self.bind(var);
                self.block(body);
                self.own.truncate(known);
            }
            _ => {}
        }
    }

    fn names(&mut self, expr: &mut Expr) {
        names_mut(expr, &mut |name, span| self.name(name, span));
    }

    /// A variable that has the name of one that it cannot see is called otherwise in the function.
    fn bind(&mut self, name: &mut Ident) {
        let mut called = name.name.clone();
        while self.hidden.contains(&called) {
            called.push('_');
        }
        self.own.push((std::mem::replace(&mut name.name, called.clone()), called));
    }

    fn name(&mut self, name: &mut String, span: Span) {
        if let Some((_, called)) = self.own.iter().rev().find(|(own, _)| own == name) {
            name.clone_from(called);
        } else if self.hidden.contains(name) {
            let (point, point_name) = self.place;
            self.diagnostics.push(
                Diagnostic::error(
                    codes::EXTENSION_SEES,
                    format!("the point `{point_name}` does not pass `{name}`"),
                    span,
                    "a variable of the function",
                )
                .cause(point, "the point")
                .mend(format!("let the point pass it: `point {point_name}(..., {name});`")),
            );
        }
    }
}
