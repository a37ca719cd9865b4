// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is wrong with points and extensions whatever is chosen.

use crate::assemble::codes;
use crate::ast::*;
use crate::diag::Diagnostic;
use crate::span::Span;
use crate::suggest::nearest;
use crate::walk::{Node, bodies};

/// A function with its points, and the feature that it is of.
struct Pointed<'a> {
    name: &'a str,
    feature: Option<&'a Feature>,
    points: Vec<&'a Ident>,
}

pub(super) fn check(tree: &File, to: &mut Vec<Diagnostic>) {
    let mut functions = Vec::new();
    for (item, feature) in all(tree) {
        match &item.kind {
            ItemKind::Function { name, body, .. } => {
                let mut points = Points { found: Vec::new(), diagnostics: &mut *to };
                points.block(body);
                functions.push(Pointed { name: &name.name, feature, points: points.found });
            }
            ItemKind::Machine { .. } => misplaced(item, to),
            ItemKind::Extension { body, .. } => {
                misplaced(item, to);
                leaving(body, false, to);
            }
            _ => {}
        }
    }
    for (item, feature) in all(tree) {
        if let ItemKind::Extension { function, point, .. } = &item.kind {
            reached(&functions, (function, point), feature, to);
        }
    }
}

/// All declarations, with the feature that each is of.
fn all(tree: &File) -> impl Iterator<Item = (&Item, Option<&Feature>)> {
    let outside = tree.items.iter().map(|item| (item, None));
    outside.chain(super::declared::blocks(tree).flat_map(|f| f.items.iter().map(move |item| (item, Some(f)))))
}

/// The points of one function.
struct Points<'a, 'd> {
    found: Vec<&'a Ident>,
    diagnostics: &'d mut Vec<Diagnostic>,
}

impl<'a> Points<'a, '_> {
    fn block(&mut self, block: &'a Block) {
        let mut left: Option<Span> = None;
        for stmt in &block.stmts {
            self.stmt(stmt, left);
            if left.is_none() && leaves(stmt) {
                left = Some(stmt.span);
            }
        }
    }

    /// `left` is the statement before this one that leaves the function.
    fn stmt(&mut self, stmt: &'a Stmt, left: Option<Span>) {
        match &stmt.kind {
            StmtKind::Point { name, .. } => self.point(name, left),
            StmtKind::Block(body) | StmtKind::For { body, .. } | StmtKind::While { body, .. } => {
                self.block(body);
            }
            StmtKind::If { then, otherwise, .. } => {
                self.block(then);
                otherwise.iter().for_each(|s| self.stmt(s, left));
            }
            StmtKind::Choose { branches, .. } => branches.iter().for_each(|b| self.block(&b.body)),
            _ => {}
        }
    }

    fn point(&mut self, name: &'a Ident, left: Option<Span>) {
        if let Some(first) = self.found.iter().find(|p| p.name == name.name) {
            let message = format!("the function has two points `{}`", name.name);
            self.diagnostics.push(
                Diagnostic::error(codes::POINT_TWICE, message, name.span, "again here")
                    .cause(first.span, "the first one")
                    .mend("give one of them another name"),
            );
        } else {
            self.found.push(name);
        }
        if let Some(left) = left {
            let message = format!("the point `{}` is never reached", name.name);
            self.diagnostics.push(
                Diagnostic::error(codes::POINT_UNREACHED, message, name.span, "nothing runs here")
                    .cause(left, "this leaves the block")
                    .mend("put it before that, or remove it"),
            );
        }
    }
}

fn leaves(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Return(_) | StmtKind::Stop | StmtKind::Break | StmtKind::Continue => true,
        StmtKind::Block(block) => block.stmts.iter().any(leaves),
        StmtKind::If { then, otherwise: Some(otherwise), .. } => {
            then.stmts.iter().any(leaves) && leaves(otherwise)
        }
        StmtKind::Choose { branches, .. } => {
            let of = |branch: &Branch| branch.body.stmts.iter().any(leaves);
            branches.last().is_some_and(|b| b.cases.is_empty()) && branches.iter().all(of)
        }
        _ => false,
    }
}

/// Points stand in functions alone.
fn misplaced(item: &Item, to: &mut Vec<Diagnostic>) {
    let one = File { items: vec![item.clone()], ..File::default() };
    bodies(&one, &mut |node| {
        let Node::Stmt(Stmt { kind: StmtKind::Point { name, .. }, .. }) = node else { return };
        let outside = match &item.kind {
            ItemKind::Extension { .. } => "in an extension",
            _ => "in a machine",
        };
        to.push(
            Diagnostic::error(codes::POINT_MISPLACED, "a point belongs in a function", name.span, outside)
                .mend("call a function here that has the point"),
        );
    });
}

/// Whatever an extension does, the function goes on behind its point, and so do other extensions.
fn leaving(block: &Block, in_loop: bool, to: &mut Vec<Diagnostic>) {
    for stmt in &block.stmts {
        match &stmt.kind {
            StmtKind::Return(_) | StmtKind::Stop => leaves_function(stmt.span, to),
            StmtKind::Break | StmtKind::Continue if !in_loop => leaves_function(stmt.span, to),
            StmtKind::Block(body) => leaving(body, in_loop, to),
            StmtKind::For { body, .. } | StmtKind::While { body, .. } => leaving(body, true, to),
            StmtKind::If { then, otherwise, .. } => {
                leaving(then, in_loop, to);
                if let Some(otherwise) = otherwise {
                    let rest = Block { stmts: vec![(**otherwise).clone()], span: otherwise.span };
                    leaving(&rest, in_loop, to);
                }
            }
            StmtKind::Choose { branches, .. } => branches.iter().for_each(|b| leaving(&b.body, in_loop, to)),
            _ => {}
        }
    }
}

fn leaves_function(span: Span, to: &mut Vec<Diagnostic>) {
    to.push(
        Diagnostic::error(
            codes::EXTENSION_LEAVES,
            "an extension does not leave its function",
            span,
            "the function goes on behind the point",
        )
        .note("other features may extend the same point")
        .mend("let the point pass a `bool`, set it here, and let the function decide"),
    );
}

/// Whether there is such a point, in a build that has the extension.
fn reached(
    functions: &[Pointed<'_>],
    (function, point): (&Ident, &Ident),
    feature: Option<&Feature>,
    to: &mut Vec<Diagnostic>,
) {
    let named: Vec<&Pointed<'_>> = functions.iter().filter(|f| f.name == function.name).collect();
    if named.is_empty() {
        let known = functions.iter().filter(|f| !f.points.is_empty()).map(|f| f.name);
        return to.push(unknown(format!("there is no function `{}`", function.name), function, known));
    }
    let with_point = |f: &&&Pointed<'_>| f.points.iter().any(|p| p.name == point.name);
    let mut there = named.iter().filter(with_point).peekable();
    if there.peek().is_none() {
        let known = named.iter().flat_map(|f| &f.points).map(|p| p.name.as_str());
        let message = format!("the function `{}` has no point `{}`", function.name, point.name);
        return to.push(unknown(message, point, known));
    }
    if let Some(own) = feature
        && there.all(|f| f.feature.is_some_and(|other| apart(own, other)))
    {
        let message = format!("no build has both this extension and `{}`", function.name);
        to.push(
            Diagnostic::error(
                codes::POINT_UNREACHED,
                message,
                function.span,
                "of a feature without this one",
            )
            .mend("extend a function that this feature can be built with, or remove it"),
        );
    }
}

/// Whether no build has both.
fn apart(a: &Feature, b: &Feature) -> bool {
    let differ = a.name.name == b.name.name
        && matches!((&a.of_option, &b.of_option), (Some(x), Some(y)) if x.name != y.name);
    let excludes = |a: &Feature, b: &Feature| {
        a.excludes.iter().any(|used| {
            let option = |o: &Ident| b.of_option.as_ref().is_some_and(|of| of.name == o.name);
            used.feature.name == b.name.name && used.option.as_ref().is_none_or(option)
        })
    };
    differ || excludes(a, b) || excludes(b, a)
}

fn unknown<'a>(message: String, name: &Ident, known: impl Iterator<Item = &'a str>) -> Diagnostic {
    let known: Vec<&str> = known.collect();
    let found = Diagnostic::error(codes::POINT_UNKNOWN, message, name.span, "not declared");
    match nearest(&name.name, known.iter().copied()) {
        Some(near) => found.fix(format!("did you mean `{near}`?"), name.span, near),
        None if known.is_empty() => found.mend("write `point name(variable, ...);` where this is to run"),
        None => found.mend(format!("use one of {}", known.join(", "))),
    }
}
