// SPDX-License-Identifier: MIT OR Apache-2.0
//! `choose (value) { 1, 4..7 -> ...; else -> ... }`: an `if` for each branch, over a value that is evaluated once.

use carrick_ir::{self as ir, ExprKind, Proj, StmtKind, Ty};
use carrick_syntax::Span;
use carrick_syntax::ast::{self, BinOp, Branch, Case};
use carrick_syntax::diag::Diagnostic;

use super::{Body, Present, Val};
use crate::codes;
use crate::types::is_int;

/// What is chosen over.
struct Chosen {
    /// reads the value; of no effect
    value: ir::Expr,
    span: Span,
    /// the least and the greatest number that it can have
    least: i128,
    most: i128,
    /// the names of all its values, with their numbers, if each has a name
    names: Vec<(String, i128)>,
}

/// The numbers of a case, both ends included, and where it is written.
#[derive(Clone, Copy)]
struct Numbers {
    from: i128,
    to: i128,
    span: Span,
}

/// The largest number of gaps that a message lists.
const LISTED: usize = 4;

impl Body<'_, '_> {
    pub(super) fn choice(&mut self, value: &ast::Expr, branches: &[Branch]) -> Option<()> {
        let at = self.at;
        let chosen = self.choice_of(value);
        let mut taken = Vec::new();
        let mut tests = Vec::new();
        for branch in branches {
            let right = taken.len();
            let test = chosen.as_ref().and_then(|chosen| self.branch_test(chosen, branch, &mut taken));
            tests.push(test.filter(|_| taken.len() - right == branch.cases.len()));
        }
        let block = |branch: &Branch| self.where_present(Present::new(), |body| body.block(&branch.body));
        let bodies: Vec<ir::Block> = branches.iter().map(block).collect();
        self.at = at;
        let chosen = chosen?;
        let tests: Option<Vec<ir::Expr>> =
            branches.iter().zip(tests).filter(|(b, _)| !b.cases.is_empty()).map(|(_, test)| test).collect();
        let tests = tests?;
        let whole = self.exhaustive(&chosen, taken, branches)?;
        self.emit_tests(branches, tests, bodies, whole);
        Some(())
    }

    /// The value, and which numbers it can have.
    fn choice_of(&mut self, value: &ast::Expr) -> Option<Chosen> {
        let span = value.span;
        let value = self.typed(value)?;
        let names = match &value.ty {
            Ty::Enum(id) => {
                let variants = &self.cx.program.enums.get(id.index())?.variants;
                variants.iter().map(|(name, number)| (name.clone(), i128::from(*number))).collect()
            }
            Ty::Status => {
                (0..).zip(ir::STATUS_NAMES).map(|(number, name)| (name.to_owned(), number)).collect()
            }
            Ty::Int { .. } | Ty::Seq32 => Vec::new(),
            other => {
                let name = self.name(other);
                let message = format!("there are no choices over a `{name}`");
                return self.report(
                    Diagnostic::error(codes::CHOICE_TYPE, message, span, "not an integer or an enum")
                        .note("a choice is over an integer, a `seq32`, an enum or a `status_t`")
                        .mend("use `if` and `else if`"),
                );
            }
        };
        let (least, most) = self.numbers_of(&value);
        let stays = matches!(&value.kind, ExprKind::Load(place)
            if place.path.iter().all(|step| matches!(step, Proj::Field(_))));
        let value = if stays { value } else { self.kept(value, span) };
        Some(Chosen { value, span, least, most, names })
    }

    /// The least and the greatest number that a value can have: a field of a blueprint has only its bits.
    fn numbers_of(&self, value: &ir::Expr) -> (i128, i128) {
        if let ExprKind::Load(place) = &value.kind
            && let (Ty::Blueprint(bp), [Proj::Field(at)]) =
                (&self.locals[place.root.index()].ty, &place.path[..])
            && let Some(mask) = self.cx.field_mask(*bp, *at)
        {
            return (0, i128::from(mask));
        }
        let (bits, signed) = ir::arith::shape(self.cx.repr(&value.ty));
        if signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
    }

    /// Whether the value is one of the branch's; its numbers are `taken` then.
    fn branch_test(
        &mut self,
        chosen: &Chosen,
        branch: &Branch,
        taken: &mut Vec<Numbers>,
    ) -> Option<ir::Expr> {
        let mut test: Option<ir::Expr> = None;
        for case in &branch.cases {
            let Some((is, numbers)) = self.case_of(chosen, case) else { continue };
            if let Some(first) = taken.iter().find(|t| t.from <= numbers.to && numbers.from <= t.to) {
                self.taken_twice(chosen, *first, numbers);
                continue;
            }
            taken.push(numbers);
            test = Some(match test {
                None => is,
                Some(before) => self.either(before, is, branch.head),
            });
        }
        test
    }

    fn either(&self, a: ir::Expr, b: ir::Expr, span: Span) -> ir::Expr {
        let kind = ExprKind::Binary(ir::BinOp::LogicalOr, Box::new(a), Box::new(b));
        self.make(kind, Ty::Bool, span)
    }

    fn case_of(&mut self, chosen: &Chosen, case: &Case) -> Option<(ir::Expr, Numbers)> {
        let first = self.case_value(chosen, &case.first);
        let Some(last) = &case.last else {
            let (value, from) = first?;
            let span = case.first.span;
            return Some((self.case_test(chosen, BinOp::Eq, value, span)?, Numbers { from, to: from, span }));
        };
        let span = case.first.span.to(last.span);
        let last_span = last.span;
        let last = self.case_value(chosen, last);
        let ((low, from), (high, to)) = (first?, last?);
        if !is_int(&chosen.value.ty) {
            let message = "only integers have ranges of values";
            return self.report(
                Diagnostic::error(codes::CHOICE_RANGE, message, span, "a range")
                    .mend("list the values: `A, B, C -> ...`"),
            );
        }
        if from >= to {
            let message = format!("the range from {from} to {to} has no two values");
            return self.report(
                Diagnostic::error(codes::CHOICE_RANGE, message, span, "both ends belong to a range")
                    .mend("write the lesser number first, or one number alone"),
            );
        }
        let numbers = Numbers { from, to, span };
        // What the type decides is not tested.
        let above = match from == chosen.least {
            true => None,
            false => Some(self.case_test(chosen, BinOp::Ge, low, case.first.span)?),
        };
        let below = match to == chosen.most {
            true => None,
            false => Some(self.case_test(chosen, BinOp::Le, high, last_span)?),
        };
        let test = match (above, below) {
            (Some(a), Some(b)) => {
                let kind = ExprKind::Binary(ir::BinOp::LogicalAnd, Box::new(a), Box::new(b));
                self.make(kind, Ty::Bool, span)
            }
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => self.make(ExprKind::Lit(1), Ty::Bool, span),
        };
        Some((test, numbers))
    }

    /// A value of a branch, and its number.
    fn case_value(&mut self, chosen: &Chosen, e: &ast::Expr) -> Option<(ir::Expr, i128)> {
        let ty = &chosen.value.ty;
        let mark = self.out.len();
        let value = match self.val(e, Some(ty))? {
            Val::Typed(value) if is_int(&value.ty) && is_int(ty) => value,
            other => {
                if matches!(other, Val::Int(_)) {
                    self.advise_sequence_literal(BinOp::Eq, ty, e.span);
                }
                self.coerce(other, ty, e.span)?
            }
        };
        let Some(number) = self.cx.fold(&value).filter(|_| self.out.len() == mark) else {
            self.cx.not_constant(e.span);
            return None;
        };
        let signed = ir::arith::shape(&value.ty).1;
        let number = if signed { i128::from(number as i64) } else { i128::from(number) };
        if (chosen.least..=chosen.most).contains(&number) {
            return Some((value, number));
        }
        let message = format!("the value is never {number}");
        self.report(
            Diagnostic::error(codes::LITERAL_RANGE, message, e.span, "too large or too small")
                .cause(chosen.span, format!("from {} to {}", chosen.least, chosen.most))
                .mend("remove it, or write another number"),
        )
    }

    fn case_test(&mut self, chosen: &Chosen, op: BinOp, with: ir::Expr, span: Span) -> Option<ir::Expr> {
        let (left, right) = (Val::Typed(chosen.value.clone()), Val::Typed(with));
        match self.combine(op, (left, chosen.span), (right, span), span)? {
            Val::Typed(test) => Some(test),
            Val::Int(_) | Val::None => None,
        }
    }

    fn taken_twice(&mut self, chosen: &Chosen, first: Numbers, again: Numbers) {
        let number = first.from.max(again.from);
        let name = named(chosen, number).map_or_else(|| number.to_string(), |name| format!("`{name}`"));
        let message = format!("{name} has a branch already");
        self.cx.report(
            Diagnostic::error(codes::CHOICE_TWICE, message, again.span, "again here")
                .cause(first.span, "first here")
                .mend("leave it out of one of the two"),
        );
    }

    /// Whether the branches have all numbers of the value; reports values without a branch.
    fn exhaustive(&mut self, chosen: &Chosen, mut taken: Vec<Numbers>, branches: &[Branch]) -> Option<bool> {
        taken.sort_by_key(|numbers| numbers.from);
        let gaps = gaps(chosen, &taken);
        if let Some(otherwise) = branches.last().filter(|branch| branch.cases.is_empty()) {
            // A number of an enum may have no name.
            if gaps.is_empty() {
                self.advise(
                    codes::UNREACHABLE,
                    "this is never reached",
                    otherwise.head,
                    "all values have a branch",
                    "remove it",
                );
            }
            return Some(gaps.is_empty());
        }
        let has = |number: i128| taken.iter().any(|t| t.from <= number && number <= t.to);
        let missing: Vec<String> = match chosen.names.is_empty() {
            true => gaps.iter().map(|gap| written(*gap)).collect(),
            false => {
                let without = chosen.names.iter().filter(|(_, number)| !has(*number));
                without.map(|(name, _)| format!("`{name}`")).collect()
            }
        };
        if missing.is_empty() {
            return Some(gaps.is_empty());
        }
        self.without_branch(chosen, &missing, branches)
    }

    fn without_branch<T>(&mut self, chosen: &Chosen, missing: &[String], branches: &[Branch]) -> Option<T> {
        let all = match chosen.names.is_empty() && missing.len() > LISTED {
            true => format!("{} and other values", missing[..LISTED].join(", ")),
            false => listed(missing),
        };
        let verb = if missing.len() == 1 && !missing[0].contains("..") { "has" } else { "have" };
        let message = format!("{all} {verb} no branch");
        let label = "not all of its values have a branch";
        let error = Diagnostic::error(codes::CHOICE_MISSING, message, chosen.span, label);
        let end = branches.last().map(|last| Span::new(last.body.span.end, last.body.span.end));
        self.report(match end.filter(|_| !chosen.names.is_empty()) {
            Some(end) => error.fix(
                "add branches for them, or `else -> { }` for all other values",
                end,
                format!(" {} -> {{ }}", missing.join(", ").replace('`', "")),
            ),
            None => error.mend("add branches for them, or `else -> { }` for all other values"),
        })
    }

    /// An `if` for each test, each in the `else` of the one before it. `whole`: if no other test holds, the last one does.
    fn emit_tests(
        &mut self,
        branches: &[Branch],
        mut tests: Vec<ir::Expr>,
        mut bodies: Vec<ir::Block>,
        whole: bool,
    ) {
        let mut rest = ir::Block::default();
        if whole || bodies.len() > tests.len() {
            tests.truncate(bodies.len() - 1);
            rest = bodies.pop().unwrap_or_default();
        }
        for (n, (cond, then)) in tests.into_iter().zip(bodies).enumerate().rev() {
            let loc = if n == 0 { self.at } else { self.cx.loc(branches[n].head) };
            let test = StmtKind::If { cond, then, otherwise: rest };
            rest = ir::Block { stmts: vec![ir::Stmt { kind: test, loc }] };
        }
        match <[ir::Stmt; 1]>::try_from(rest.stmts) {
            Ok([test]) if matches!(test.kind, StmtKind::If { .. }) => self.out.push(test),
            Ok([alone]) => self.emit(StmtKind::Block(ir::Block { stmts: vec![alone] })),
            Err(stmts) => self.emit(StmtKind::Block(ir::Block { stmts })),
        }
    }
}

/// The numbers that have no branch, as ranges with both ends.
fn gaps(chosen: &Chosen, taken: &[Numbers]) -> Vec<(i128, i128)> {
    let mut found = Vec::new();
    let mut next = chosen.least;
    for numbers in taken {
        if next < numbers.from {
            found.push((next, numbers.from - 1));
        }
        next = numbers.to + 1;
    }
    if next <= chosen.most {
        found.push((next, chosen.most));
    }
    found
}

fn written((from, to): (i128, i128)) -> String {
    if from == to { from.to_string() } else { format!("{from}..{to}") }
}

fn named(chosen: &Chosen, number: i128) -> Option<&str> {
    chosen.names.iter().find(|(_, n)| *n == number).map(|(name, _)| name.as_str())
}

/// `a`, `a and b`, `a, b and c`.
fn listed(names: &[String]) -> String {
    match names {
        [before @ .., last] if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        _ => names.concat(),
    }
}
