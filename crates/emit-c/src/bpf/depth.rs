//! Which functions are put into their callers, so that no chain of calls has more frames than the kernel allows.

use std::collections::BTreeSet;

use carrick_ir::{BinOp, ExprKind, FuncId, Function, Instr, Program, StmtKind, Ty, UnOp, walk};

/// Frames of nested calls that a program has (`MAX_CALL_FRAMES`).
const FRAMES: u32 = 8;
/// Those above a processor: the program, and the run of its chain.
const ABOVE: u32 = 2;

/// The most arguments that a function has which is verified apart.
const ARGUMENTS: usize = 5;

/// Whether the verifier can look at a function by itself: arguments and result are then numbers and references alone.
fn can_be_apart(function: &Function) -> bool {
    let params = &function.locals[..function.params as usize];
    let plain = params.iter().all(|l| l.ty.is_scalar() || l.ty.is_by_ref());
    plain && params.len() < ARGUMENTS && (function.ret == Ty::Void || function.ret.is_scalar())
}

/// What calls make of a program.
struct Calls<'p> {
    program: &'p Program,
    /// of each function: which it calls, once for each place
    callees: Vec<Vec<FuncId>>,
    /// how many frames the helpers take that it calls
    helpers: Vec<u32>,
    /// how many statements it has, with those of what is put into it
    sizes: Vec<u32>,
    inlined: Vec<bool>,
}

/// The names of the functions that are put into their callers.
pub(super) fn inlined(program: &Program) -> BTreeSet<String> {
    let mut calls = Calls {
        program,
        callees: program.functions.iter().map(callees).collect(),
        helpers: program.functions.iter().map(helpers).collect(),
        sizes: Vec::new(),
        inlined: program.functions.iter().map(|f| !can_be_apart(f)).collect(),
    };
    let chains = program.chains.iter().flatten();
    let mut roots: BTreeSet<FuncId> =
        chains.flat_map(|c| c.present.iter().chain(c.absent.iter().flatten()).copied()).collect();
    roots.extend(&program.invariants);
    roots.insert(program.parser);
    while let Some(deepest) = roots.iter().copied().max_by_key(|root| calls.frames(*root)) {
        if ABOVE + calls.frames(deepest) <= FRAMES {
            break;
        }
        calls.sizes = program.functions.iter().map(size).collect();
        let Some(chosen) = calls.cheapest(deepest) else { break };
        calls.inlined[chosen.index()] = true;
    }
    let names = program.functions.iter().zip(&calls.inlined);
    names.filter(|(_, inlined)| **inlined).map(|(function, _)| function.name.clone()).collect()
}

impl Calls<'_> {
    /// How many frames a call of the function takes.
    fn frames(&self, func: FuncId) -> u32 {
        let below = self.callees[func.index()].iter().map(|callee| self.frames(*callee)).max();
        u32::from(!self.inlined[func.index()]) + below.unwrap_or(0).max(self.helpers[func.index()])
    }

    /// Of the functions on the longest way down, that which makes the program grow least.
    fn cheapest(&self, root: FuncId) -> Option<FuncId> {
        let mut way = vec![root];
        while let Some(next) =
            self.callees[way[way.len() - 1].index()].iter().copied().max_by_key(|f| self.frames(*f))
        {
            way.push(next);
        }
        way.retain(|func| !self.inlined[func.index()]);
        way.into_iter().min_by_key(|func| self.whole(*func).saturating_mul(self.places(*func)))
    }

    fn whole(&self, func: FuncId) -> u32 {
        let inside = self.callees[func.index()].iter().filter(|callee| self.inlined[callee.index()]);
        inside.fold(self.sizes[func.index()], |sum, callee| sum.saturating_add(self.whole(*callee)))
    }

    /// In how many places it is called.
    fn places(&self, func: FuncId) -> u32 {
        let calls = self.callees.iter().flatten().filter(|callee| **callee == func).count();
        let chains = self.program.chains.iter().flatten();
        let of_chains =
            chains.flat_map(|c| c.present.iter().chain(c.absent.iter().flatten())).filter(|f| **f == func);
        (calls + of_chains.count()) as u32
    }
}

fn callees(function: &Function) -> Vec<FuncId> {
    let mut found = Vec::new();
    walk::statements(&function.body, &mut |stmt| {
        if let StmtKind::Call { func, .. } = stmt.kind {
            found.push(func);
        }
    });
    found
}

fn size(function: &Function) -> u32 {
    let mut statements = 1;
    walk::statements(&function.body, &mut |_| statements += 1);
    statements
}

/// Frames of what stands under a function that is no function of the program: with those that tell a trace.
fn helpers(function: &Function) -> u32 {
    let mut frames = 0;
    walk::statements(&function.body, &mut |stmt| {
        let of_statement = match &stmt.kind {
            StmtKind::Instr(
                Instr::Notify { .. }
                | Instr::Raise { .. }
                | Instr::TimerStart { .. }
                | Instr::TimerRestart { .. }
                | Instr::TimerStop { .. }
                | Instr::DelCtx { .. },
            ) => 1,
            StmtKind::Instr(_) | StmtKind::Assert { .. } => 2,
            StmtKind::WndReset { .. }
            | StmtKind::WndSet { .. }
            | StmtKind::WndSlide { .. }
            | StmtKind::ListAdd { .. }
            | StmtKind::ListInsert { .. }
            | StmtKind::Extract { .. } => 1,
            _ => 0,
        };
        frames = frames.max(of_statement);
        let mut exprs = |e| walk::expressions(e, &mut |e| frames = frames.max(of_expression(&e.kind)));
        walk::of_statement(stmt, &mut exprs);
        if let StmtKind::Instr(instr) = &stmt.kind {
            walk::of_instr(instr).into_iter().for_each(exprs);
        }
    });
    frames
}

fn of_expression(kind: &ExprKind) -> u32 {
    match kind {
        ExprKind::Unary(UnOp::Sqrt | UnOp::Cbrt, _) => 2,
        ExprKind::Binary(
            BinOp::FixedDiv
            | BinOp::Ratio
            | BinOp::BytesPerRate
            | BinOp::BytesPerDuration
            | BinOp::RateTimesDuration,
            ..,
        )
        | ExprKind::WndTest(..)
        | ExprKind::WndFirstSet(_)
        | ExprKind::WndFirstUnset(_)
        | ExprKind::ListFind(..) => 1,
        _ => 0,
    }
}
