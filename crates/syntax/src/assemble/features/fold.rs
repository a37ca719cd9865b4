// SPDX-License-Identifier: MIT OR Apache-2.0
//! `feature(f)` and `over(ipv6)`: tests that are decided here, and constants that are made of them alone. What they exclude is left
//! out, unseen by all that follows.

use std::collections::HashMap;

use super::{Chosen, choose};
use crate::assemble::codes;
use crate::ast::*;
use crate::diag::Diagnostic;
use crate::span::Span;
use crate::walk::{self, Node};

pub(super) fn fold(tree: &mut File, declared: &[&Feature], chosen: &[Chosen], to: &mut Vec<Diagnostic>) {
    let over = version(tree);
    // A function of the program hides the test.
    let hidden = |item: &Item| matches!(&item.kind, ItemKind::Function { name, .. } if name.name == OVER);
    let tests_over = !tree.items.iter().any(hidden);
    let functions = tree.items.iter().filter_map(|item| match &item.kind {
        ItemKind::Function { name, .. } => Some(name.name.clone()),
        _ => None,
    });
    let functions = functions.collect();
    let (constants, left_out) = (HashMap::new(), Vec::new());
    let mut folder =
        Folder { declared, chosen, over, tests_over, functions, constants, diagnostics: to, left_out };
    folder.constants(&mut tree.items);
    tree.items.retain_mut(|item| match &mut item.kind {
        ItemKind::Require { cond } => folder.expr(cond) != Some(true),
        kind => {
            folder.item(kind);
            true
        }
    });
    tree.left_out.append(&mut folder.left_out);
}

const OVER: &str = "over";

/// The version of the Internet Protocol of the program's packets; `None` if they have no network header.
fn version(tree: &File) -> Option<Over> {
    let header = tree.items.iter().find_map(|item| match &item.kind {
        ItemKind::NetHeader { name, .. } => Some(name.name.as_str()),
        _ => None,
    });
    match header {
        Some("link") => None,
        name => name.and_then(version_named).or(Some(tree.over)),
    }
}

fn version_named(name: &str) -> Option<Over> {
    match name {
        "ipv4" => Some(Over::Ipv4),
        "ipv6" => Some(Over::Ipv6),
        _ => None,
    }
}

struct Folder<'a> {
    declared: &'a [&'a Feature],
    chosen: &'a [Chosen],
    over: Option<Over>,
    /// whether `over(...)` is the test of the version
    tests_over: bool,
    /// of the program, which may change something when they are called
    functions: Vec<String>,
    /// the values of those that tests alone decide
    constants: HashMap<String, bool>,
    diagnostics: &'a mut Vec<Diagnostic>,
    left_out: Vec<Span>,
}

impl Folder<'_> {
    /// Decides constants, whatever their order.
    fn constants(&mut self, items: &mut [Item]) {
        loop {
            let known = self.constants.len();
            for item in &mut *items {
                let ItemKind::Const { name, value, .. } = &mut item.kind else { continue };
                if !self.constants.contains_key(&name.name)
                    && let Some(value) = self.expr(value)
                {
                    self.constants.insert(name.name.clone(), value);
                }
            }
            if self.constants.len() == known {
                break;
            }
        }
    }

    fn item(&mut self, item: &mut ItemKind) {
        use ItemKind as K;
        match item {
            K::Const { value, .. } => self.value(value),
            K::ConstArray { len, values, .. } => self.values([len].into_iter().chain(values)),
            K::Param { value, lo, hi, .. } => [value, lo, hi].into_iter().for_each(|e| self.value(e)),
            K::Require { cond } => self.value(cond),
            K::Enum { variants, .. } => self.values(variants.iter_mut().filter_map(|v| v.value.as_mut())),
            K::Struct { fields, .. }
            | K::Event { fields, .. }
            | K::Context { fields, .. }
            | K::Scratchpad { fields, .. }
            | K::NetHeader { fields, .. }
            | K::Opt { fields, .. }
            | K::OptList { fields, .. }
            | K::Blueprint { fields, .. } => self.fields(fields),
            K::SegRule { first, mid, last, .. } => self.values([first, mid].into_iter().chain(last)),
            K::CoalescingRule { when, .. } => self.value(when),
            K::Function { body, .. } | K::Extension { body, .. } => self.block(body),
            K::Machine { states, anywhere, .. } => {
                for reactions in states.iter_mut().map(|s| &mut s.reactions).chain([anywhere]) {
                    reactions.retain_mut(|reaction| self.reaction(reaction));
                }
            }
            K::Deploy { calls } => self.values(calls.iter_mut()),
            K::Layout { entries, .. } => {
                for entry in entries {
                    match entry {
                        LayoutEntry::Range { lo, hi, .. } => self.values([lo, hi]),
                        LayoutEntry::Align { bits, .. } => self.value(bits),
                        LayoutEntry::Group { .. } => {}
                    }
                }
            }
            K::Interface { calls, .. } => {
                for call in calls {
                    if let CallTarget::At { args, .. } = &mut call.target {
                        self.values(args.iter_mut());
                    }
                }
            }
            K::Dispatch { arms, .. } => {
                self.values(
                    arms.iter_mut().filter_map(|arm| arm.fallback.as_mut()).flat_map(|f| &mut f.args),
                );
            }
            K::Id { .. } | K::OptUnion { .. } | K::FrameUnion { .. } | K::Feature(_) => {}
        }
    }

    /// Whether a reaction of a machine stays.
    fn reaction(&mut self, reaction: &mut Reaction) -> bool {
        let decided = reaction.cond.as_mut().and_then(|cond| self.expr(cond));
        if decided == Some(false) {
            self.left_out.push(reaction.head.to(reaction.body.span));
            return false;
        }
        if decided.is_some() {
            reaction.cond = None;
        }
        self.block(&mut reaction.body);
        true
    }

    fn fields(&mut self, fields: &mut Vec<Field>) {
        fields.retain_mut(|field| {
            let mut there = true;
            field.presence.retain_mut(|group| {
                let decided = self.expr(&mut group.cond).filter(|_| group.arm.is_none());
                there &= decided != Some(false);
                decided.is_none()
            });
            if !there {
                self.left_out.push(field.span);
                return false;
            }
            let range = field.range.as_mut().map(|(lo, hi)| [lo, hi]);
            let others = [&mut field.array, &mut field.bits, &mut field.align, &mut field.init];
            self.values(others.into_iter().flatten().chain(range.into_iter().flatten()));
            true
        });
    }

    fn block(&mut self, block: &mut Block) {
        block.stmts.retain_mut(|stmt| {
            let decided = matches!(stmt.kind, StmtKind::If { .. } | StmtKind::While { .. });
            self.stmt(stmt);
            !(decided && matches!(&stmt.kind, StmtKind::Block(block) if block.stmts.is_empty()))
        });
    }

    fn stmt(&mut self, stmt: &mut Stmt) {
        match &mut stmt.kind {
            StmtKind::Let { array, init, .. } => {
                self.values(array.as_mut());
                match init {
                    LetInit::Value(value) => self.value(value),
                    LetInit::Args(args) => self.values(args.iter_mut()),
                    LetInit::None => {}
                }
            }
            StmtKind::Assign { place, value, .. } => self.values([place, value]),
            StmtKind::Expr(e) | StmtKind::Return(Some(e)) => self.value(e),
            StmtKind::Raise { event, at, record } => self.values([event].into_iter().chain(at).chain(record)),
            StmtKind::If { .. } => self.conditional(stmt),
            StmtKind::Block(block) => self.block(block),
            StmtKind::For { over, body, .. } => {
                self.values(over.exprs_mut());
                self.block(body);
            }
            StmtKind::While { cond, max, body } => {
                self.value(max);
                if self.expr(cond) == Some(false) {
                    self.left_out.push(stmt.span);
                    stmt.kind = StmtKind::Block(Block { stmts: Vec::new(), span: stmt.span });
                } else {
                    self.block(body);
                }
            }
            StmtKind::Retain { list, keep, .. } => self.values([list, keep]),
            StmtKind::Choose { value, branches } => {
                self.value(value);
                for branch in branches {
                    self.values(branch.exprs_mut());
                    self.block(&mut branch.body);
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

    fn conditional(&mut self, stmt: &mut Stmt) {
        let StmtKind::If { cond, then, otherwise } = &mut stmt.kind else { return };
        match self.expr(cond) {
            None => {
                self.block(then);
                otherwise.iter_mut().for_each(|s| self.stmt(s));
            }
            Some(true) => {
                self.left_out.extend(otherwise.as_ref().map(|s| s.span));
                self.block(then);
                let then = std::mem::replace(then, Block { stmts: Vec::new(), span: stmt.span });
                stmt.kind = StmtKind::Block(then);
            }
            Some(false) => {
                self.left_out.push(then.span);
                match otherwise.take() {
                    Some(mut otherwise) => {
                        self.stmt(&mut otherwise);
                        *stmt = *otherwise;
                    }
                    None => stmt.kind = StmtKind::Block(Block { stmts: Vec::new(), span: stmt.span }),
                }
            }
        }
    }

    fn values<'e>(&mut self, exprs: impl IntoIterator<Item = &'e mut Expr>) {
        exprs.into_iter().for_each(|e| self.value(e));
    }

    fn value(&mut self, expr: &mut Expr) {
        self.expr(expr);
    }

    /// Replaces tests in the expression; what it is then, if they alone decide that.
    fn expr(&mut self, expr: &mut Expr) -> Option<bool> {
        let decided = self.test(expr).or_else(|| self.version_test(expr)).or_else(|| self.constant(expr));
        if let Some(value) = decided {
            expr.kind = ExprKind::Bool(value);
            return Some(value);
        }
        let decided = match &mut expr.kind {
            ExprKind::Paren(inner) => self.expr(inner),
            ExprKind::Unary(UnOp::Not, inner) => self.expr(inner).map(|value| !value),
            ExprKind::Binary(op @ (BinOp::And | BinOp::Or), ..) => {
                let op = *op;
                return self.connective(expr, op);
            }
            ExprKind::Binary(op @ (BinOp::Eq | BinOp::Ne), a, b) => {
                let wanted = *op == BinOp::Eq;
                match [a, b].map(|side| self.expr(side).or(literal(side))) {
                    [Some(a), Some(b)] => Some((a == b) == wanted),
                    _ => None,
                }
            }
            ExprKind::Cond(cond, ..) => {
                let decided = self.expr(cond);
                return self.choice(expr, decided);
            }
            ExprKind::Unary(_, inner) | ExprKind::Field(inner, _) => {
                self.value(inner);
                None
            }
            ExprKind::Binary(_, a, b) | ExprKind::Index(a, b) => {
                self.values([&mut **a, &mut **b]);
                None
            }
            ExprKind::Call(callee, args) => {
                self.value(callee);
                self.values(args.iter_mut());
                None
            }
            ExprKind::Record(entries) => {
                self.values(entries.iter_mut().map(|entry| match entry {
                    Entry::Field { value, .. } | Entry::Spread(value) => value,
                }));
                None
            }
            _ => None,
        };
        if let Some(value) = decided {
            expr.kind = ExprKind::Bool(value);
        }
        decided
    }

    /// `a && b`, `a || b`: a side that is decided goes, or decides.
    fn connective(&mut self, expr: &mut Expr, op: BinOp) -> Option<bool> {
        let ExprKind::Binary(_, a, b) = &mut expr.kind else { return None };
        let absorbing = op == BinOp::Or;
        let (span, sides) = (expr.span, [self.expr(a), self.expr(b)]);
        if sides.contains(&Some(absorbing)) {
            // What is called before the test is called all the same.
            if sides[0].is_none() && self.may_change(a) {
                return None;
            }
            self.left_out.push(span);
            *expr = Expr { kind: ExprKind::Bool(absorbing), span };
            return Some(absorbing);
        }
        let rest = match sides {
            [Some(_), rest] => (std::mem::replace(&mut **b, nothing(span)), rest),
            [rest, Some(_)] => (std::mem::replace(&mut **a, nothing(span)), rest),
            _ => return None,
        };
        *expr = rest.0;
        rest.1
    }

    /// Whether the expression calls a function of the program, or a method.
    fn may_change(&self, of: &Expr) -> bool {
        let mut found = false;
        walk::expr(of, &mut |node| {
            let Node::Expr(Expr { kind: ExprKind::Call(callee, _), .. }) = node else { return };
            found |= match &callee.kind {
                ExprKind::Name(name) => self.functions.contains(name),
                _ => true,
            };
        });
        found
    }

    /// The value of a constant that tests have decided.
    fn constant(&mut self, expr: &Expr) -> Option<bool> {
        let ExprKind::Name(name) = &expr.kind else { return None };
        let value = self.constants.get(name).copied()?;
        // This is a use of it.
        self.left_out.push(expr.span);
        Some(value)
    }

    /// `cond ? a : b`
    fn choice(&mut self, expr: &mut Expr, decided: Option<bool>) -> Option<bool> {
        let span = expr.span;
        let ExprKind::Cond(_, a, b) = &mut expr.kind else { return None };
        let Some(decided) = decided else {
            self.values([&mut **a, &mut **b]);
            return None;
        };
        let (taken, left) = if decided { (a, b) } else { (b, a) };
        self.left_out.push(left.span);
        let result = self.expr(taken);
        *expr = std::mem::replace(&mut **taken, nothing(span));
        result
    }

    /// The value of `over(ipv4)` or `over(ipv6)`.
    fn version_test(&mut self, expr: &Expr) -> Option<bool> {
        let ExprKind::Call(callee, args) = &expr.kind else { return None };
        if !self.tests_over || !matches!(&callee.kind, ExprKind::Name(n) if n == OVER) {
            return None;
        }
        let named = match args.as_slice() {
            [Expr { kind: ExprKind::Name(name), .. }] => version_named(name),
            _ => None,
        };
        if named.is_none() {
            let message = "`over(...)` names no version of the Internet Protocol";
            self.diagnostics.push(
                Diagnostic::error(codes::FEATURE_TEST, message, expr.span, "neither `ipv4` nor `ipv6`")
                    .mend("write `over(ipv4)` or `over(ipv6)`"),
            );
        }
        Some(named.is_some() && named == self.over)
    }

    /// The value of `feature(f)` or `feature(f, option)`.
    fn test(&mut self, expr: &Expr) -> Option<bool> {
        let ExprKind::Call(callee, args) = &expr.kind else { return None };
        if !matches!(&callee.kind, ExprKind::Name(n) if n == "feature") {
            return None;
        }
        let names: Vec<Ident> = args
            .iter()
            .filter_map(|a| match &a.kind {
                ExprKind::Name(name) => Some(Ident { name: name.clone(), span: a.span }),
                _ => None,
            })
            .collect();
        let mut names = names.into_iter();
        let (Some(feature), 1..=2) = (names.next(), args.len()) else {
            self.diagnostics.push(
                Diagnostic::error(
                    codes::FEATURE_TEST,
                    "`feature(...)` names no feature",
                    expr.span,
                    "not a name",
                )
                .mend("write `feature(name)`, or `feature(name, option)`"),
            );
            return Some(false);
        };
        let used = FeatureUse { feature, option: names.next() };
        // An unknown one is reported and counts as not chosen.
        let known = choose::find(self.declared, &used, self.diagnostics).is_some();
        Some(known && self.chosen.iter().any(|c| c.is(&used)))
    }
}

fn literal(expr: &Expr) -> Option<bool> {
    if let ExprKind::Bool(value) = expr.kind { Some(value) } else { None }
}

fn nothing(span: Span) -> Expr {
    Expr { kind: ExprKind::Error, span }
}
