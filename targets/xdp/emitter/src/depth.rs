// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which functions are put into their callers, so that no chain of calls has more frames than the kernel allows.

use std::collections::BTreeSet;

use carrick_ir::{
    BinOp, Block, CtxId, ExprKind, FuncId, Function, Instr, Program, StmtKind, bounds, uses, walk,
};

/// Frames of nested calls that a program has (`MAX_CALL_FRAMES`).
const FRAMES: u32 = 8;
/// Those above a processor: the program, and the run of its chain.
const ABOVE: u32 = 2;

/// Functions that a program has at most (`BPF_MAX_SUBPROGS`), and those of them that are not its own: of lists, windows, data and
/// packets. The largest programs have about 60, and loaders take only those that are called.
const FUNCTIONS: usize = 256;
const OTHERS: usize = 64;

/// The most arguments that a function has which is verified apart.
const ARGUMENTS: usize = 5;

/// Whether the verifier can look at a function by itself. Records are then handed over by references.
pub(crate) fn can_be_apart(function: &Function) -> bool {
    (function.params as usize) < ARGUMENTS
}

/// What calls make of a program.
struct Calls<'p> {
    program: &'p Program,
    /// of each function: which it calls, once for each place, and how often the loops around that place turn
    callees: Vec<Vec<(FuncId, u32)>>,
    /// how many frames the helpers take that it calls
    helpers: Vec<u32>,
    /// how many statements it has, each as often as loops turn
    sizes: Vec<u32>,
    inlined: Vec<bool>,
}

/// The names of the functions that are put into their callers.
pub(crate) fn inlined(program: &Program) -> BTreeSet<String> {
    let retired = uses::retired(program);
    let mut calls = Calls {
        program,
        callees: Vec::new(),
        helpers: program.functions.iter().map(|function| helpers(function, &retired)).collect(),
        sizes: Vec::new(),
        inlined: program.functions.iter().map(|f| !can_be_apart(f)).collect(),
    };
    for function in &program.functions {
        let (mut size, mut callees) = (1, Vec::new());
        turns(&function.body, 1, &mut size, &mut callees);
        calls.sizes.push(size);
        calls.callees.push(callees);
    }
    let chains = program.chains.iter().flatten();
    let mut roots: BTreeSet<FuncId> =
        chains.flat_map(|c| c.present.iter().chain(c.absent.iter().flatten()).copied()).collect();
    roots.extend(&program.invariants);
    roots.extend(program.parsers());
    while let Some(deepest) = roots.iter().copied().max_by_key(|root| calls.frames(*root)) {
        if ABOVE + calls.frames(deepest) <= FRAMES {
            break;
        }
        let Some(chosen) = calls.cheapest(deepest) else { break };
        calls.inlined[chosen.index()] = true;
    }
    while calls.many() {
        let Some(chosen) = calls.only_once() else { break };
        calls.inlined[chosen.index()] = true;
    }
    let names = program.functions.iter().zip(&calls.inlined);
    names.filter(|(_, inlined)| **inlined).map(|(function, _)| function.name.clone()).collect()
}

/// Of each function how deep it is called at most; which a function calls are deeper than itself.
pub(crate) fn levels(program: &Program) -> Vec<u32> {
    let mut levels = vec![0; program.functions.len()];
    for at in 0..levels.len() {
        sink(program, FuncId(at as u32), 0, &mut levels);
    }
    levels
}

fn sink(program: &Program, func: FuncId, level: u32, levels: &mut [u32]) {
    if level > 0 && levels[func.index()] >= level {
        return;
    }
    levels[func.index()] = levels[func.index()].max(level);
    walk::statements(&program.functions[func.index()].body, &mut |stmt| {
        if let StmtKind::Call { func, .. } = stmt.kind {
            sink(program, func, level + 1, levels);
        }
    });
}

impl Calls<'_> {
    /// How many frames a call of the function takes.
    fn frames(&self, func: FuncId) -> u32 {
        let below = self.callees[func.index()].iter().map(|(callee, _)| self.frames(*callee)).max();
        u32::from(!self.inlined[func.index()]) + below.unwrap_or(0).max(self.helpers[func.index()])
    }

    /// Of the functions on the longest way down, that which makes the program grow least.
    fn cheapest(&self, root: FuncId) -> Option<FuncId> {
        let mut way = vec![root];
        while let Some(next) =
            self.callees[way[way.len() - 1].index()].iter().map(|call| call.0).max_by_key(|f| self.frames(*f))
        {
            way.push(next);
        }
        way.retain(|func| !self.inlined[func.index()]);
        way.into_iter().min_by_key(|func| self.whole(*func).saturating_mul(self.places(*func)))
    }

    /// Whether there are more functions than the kernel takes, about: also those of events, of blueprints and of all programs.
    fn many(&self) -> bool {
        let own = self.inlined.iter().filter(|inlined| !**inlined).count();
        let of_events = self.program.chains.iter().flatten().count();
        own + of_events + self.program.blueprints.len() * 2 + OTHERS > FUNCTIONS
    }

    /// The shortest function that is called in one place alone.
    fn only_once(&self) -> Option<FuncId> {
        let all = (0..self.program.functions.len()).map(|at| FuncId(at as u32));
        let open = all.filter(|func| !self.inlined[func.index()] && self.places(*func) == 1);
        let found = open.filter(|func| {
            !self.program.parsers().chain(self.program.invariants.iter().copied()).any(|f| f == *func)
        });
        found.min_by_key(|func| self.whole(*func))
    }

    /// How much is verified of a function: its statements, and those of what is put into it, as often as loops turn.
    fn whole(&self, func: FuncId) -> u32 {
        let inside = self.callees[func.index()].iter().filter(|(callee, _)| self.inlined[callee.index()]);
        inside.fold(self.sizes[func.index()], |sum, (callee, turns)| {
            sum.saturating_add(self.whole(*callee).saturating_mul(*turns))
        })
    }

    /// In how many places it is called, each as often as loops turn.
    fn places(&self, func: FuncId) -> u32 {
        let calls = self.callees.iter().flatten().filter(|(callee, _)| *callee == func);
        let calls = calls.fold(0_u32, |sum, (_, turns)| sum.saturating_add(*turns));
        let chains = self.program.chains.iter().flatten();
        let of_chains =
            chains.flat_map(|c| c.present.iter().chain(c.absent.iter().flatten())).filter(|f| **f == func);
        calls.saturating_add(of_chains.count() as u32)
    }
}

/// Adds up the statements of a block in loops that turn so often, and its calls.
fn turns(block: &Block, around: u32, size: &mut u32, callees: &mut Vec<(FuncId, u32)>) {
    for stmt in &block.stmts {
        *size = size.saturating_add(around);
        if let StmtKind::Call { func, .. } = &stmt.kind {
            callees.push((*func, around));
        }
        for child in walk::children(stmt) {
            turns(child, around.saturating_mul(bounds::turns(stmt).unwrap_or(1)), size, callees);
        }
    }
}

/// Frames of what stands under a function that is no function of the program: with those that tell a trace.
fn helpers(function: &Function, retired: &BTreeSet<CtxId>) -> u32 {
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
            StmtKind::Instr(Instr::Forward { header: Some(_), .. } | Instr::RetireCtx { .. }) => 3,
            // The list of retired instances is held, and changed.
            StmtKind::Instr(Instr::NewCtx { ctx, .. }) if retired.contains(ctx) => 3,
            StmtKind::Instr(_) | StmtKind::Assert { .. } => 2,
            // Its options, one of them, and a number of it.
            StmtKind::Extract { .. } => 4,
            StmtKind::Change { what, .. } => what.declaration().depth,
            _ => 0,
        };
        frames = frames.max(of_statement);
        let mut exprs = |e| walk::expressions(e, &mut |e| frames = frames.max(of_expression(&e.kind)));
        walk::of_statement(stmt, &mut exprs);
        if let StmtKind::Instr(instr) = &stmt.kind {
            instr.exprs().for_each(exprs);
        }
    });
    frames
}

fn of_expression(kind: &ExprKind) -> u32 {
    match kind {
        ExprKind::Builtin(function, _) => function.declaration().depth,
        ExprKind::Binary(
            BinOp::FixedDiv | BinOp::BytesPerRate | BinOp::BytesPerDuration | BinOp::RateTimesDuration,
            ..,
        ) => 1,
        ExprKind::Query(query, ..) => query.declaration().depth,
        _ => 0,
    }
}
