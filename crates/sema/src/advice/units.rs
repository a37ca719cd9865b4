// SPDX-License-Identifier: MIT OR Apache-2.0
//! Data units that a chain creates a second time, on every path that leads there.

use std::collections::{BTreeMap, BTreeSet};

use carrick_ir::{Block, CtxId, FuncId, Function, Instr, Loc, LocalId, Program, Stmt, StmtKind, Ty, walk};
use carrick_syntax::diag::Diagnostic;

use crate::{Checker, codes};

/// The units that exist: of which context, and whether for received data.
type Units = BTreeSet<(CtxId, bool)>;

impl Checker<'_> {
    pub(super) fn check_units(&mut self) {
        let mut found = BTreeSet::new();
        for chain in self.program.chains.iter().flatten() {
            for processors in [Some(&chain.present), chain.absent.as_ref()].into_iter().flatten() {
                let mut walk =
                    Walk { program: &self.program, again: BTreeSet::new(), known: BTreeMap::new() };
                let all = |units, func: &FuncId| walk.function(*func, units);
                processors.iter().try_fold(Units::new(), all);
                found.extend(walk.again);
            }
        }
        for span in std::mem::take(&mut self.units_made) {
            if found.contains(&self.loc(span)) {
                let error = Diagnostic::error(
                    codes::UNIT_TWICE,
                    "this unit exists already",
                    span,
                    "created a second time in its chain",
                );
                let note = "a context has one unit of each direction, from its creation until the context is deleted";
                self.report(error.note(note).mend("remove this, or the instruction before it"));
            }
        }
    }
}

/// Follows a chain with the units that surely exist; `None` where it does not go on.
struct Walk<'p> {
    program: &'p Program,
    /// where a unit is created that exists
    again: BTreeSet<Loc>,
    /// what exists after a function, by its number and what existed before
    known: BTreeMap<(usize, Units), Option<Units>>,
}

/// How paths leave a block: at its end, or by a `return`.
struct Left {
    end: Option<Units>,
    returned: Option<Units>,
}

/// What exists on both paths, of which each may not be there.
fn both(a: Option<Units>, b: Option<Units>) -> Option<Units> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.intersection(&b).copied().collect()),
        (a, b) => a.or(b),
    }
}

impl Walk<'_> {
    fn function(&mut self, func: FuncId, units: Units) -> Option<Units> {
        let call = (func.index(), units);
        if let Some(known) = self.known.get(&call) {
            return known.clone();
        }
        let program = self.program;
        let function = &program.functions[func.index()];
        let left = self.block(function, &function.body, call.1.clone());
        let after = both(left.end, left.returned);
        self.known.insert(call, after.clone());
        after
    }

    fn block(&mut self, function: &Function, block: &Block, units: Units) -> Left {
        let mut left = Left { end: Some(units), returned: None };
        for stmt in &block.stmts {
            let Some(units) = left.end.take() else { break };
            let next = self.statement(function, stmt, units);
            left.end = next.end;
            left.returned = both(left.returned, next.returned);
        }
        left
    }

    fn statement(&mut self, function: &Function, stmt: &Stmt, mut units: Units) -> Left {
        let goes_on = |end| Left { end, returned: None };
        match &stmt.kind {
            StmtKind::Instr(Instr::NewTxOrderedData { ctx, .. }) => {
                self.made(function, (*ctx, false), stmt.loc, &mut units);
                goes_on(Some(units))
            }
            StmtKind::Instr(Instr::NewRxOrderedData { ctx, .. }) => {
                self.made(function, (*ctx, true), stmt.loc, &mut units);
                goes_on(Some(units))
            }
            StmtKind::Call { func, .. } => goes_on(self.function(*func, units)),
            StmtKind::Block(inner) => self.block(function, inner, units),
            StmtKind::If { then, otherwise, .. } => {
                let a = self.block(function, then, units.clone());
                let b = self.block(function, otherwise, units);
                Left { end: both(a.end, b.end), returned: both(a.returned, b.returned) }
            }
            StmtKind::Return(_) => Left { end: None, returned: Some(units) },
            StmtKind::Stop | StmtKind::Break | StmtKind::Continue => goes_on(None),
            _ => {
                // A loop may run its block no time.
                let returned = walk::children(stmt).fold(None, |returned, block| {
                    both(returned, self.block(function, block, units.clone()).returned)
                });
                Left { end: Some(units), returned }
            }
        }
    }

    fn made(&mut self, function: &Function, (ctx, receives): (LocalId, bool), at: Loc, units: &mut Units) {
        if let Ty::Context(ctx) = function.locals[ctx.index()].ty
            && !units.insert((ctx, receives))
        {
            self.again.insert(at);
        }
    }
}
