// SPDX-License-Identifier: MIT OR Apache-2.0
//! Who calls whom and who raises what: neither may go round in a circle.

use carrick_ir::{self as ir, Instr, StmtKind, Ty};
use carrick_syntax::ast::{Ident, ItemKind};
use carrick_syntax::diag::Diagnostic;

use crate::{Checker, codes};

/// How many functions may call each other, one within the other.
const CALLS_MAX: usize = ir::bounds::CALLS_MAX;

impl Checker<'_> {
    pub(crate) fn check_graphs(&mut self) {
        let calls: Vec<Vec<usize>> = self.program.functions.iter().map(callees).collect();
        let file = self.file;
        let functions: Vec<&Ident> = file
            .items
            .iter()
            .filter_map(|i| if let ItemKind::Function { name, .. } = &i.kind { Some(name) } else { None })
            .collect();
        let recursive = ir::graph::in_circles(&calls);
        for (name, _) in functions.iter().zip(&recursive).filter(|(_, r)| **r) {
            self.report(
                Diagnostic::error(codes::RECURSION, format!("`{}` calls itself, directly or through other functions", name.name), name.span, "recursive")
                    .note("a chain of event processors is one bounded step, and targets in a kernel have 512 bytes of stack")
                    .mend("use a loop with a bound"),
            );
        }
        if recursive.contains(&true) || self.calls_too_deep(&functions, &calls) {
            return;
        }
        self.check_raises(&calls);
    }

    /// Whether functions call each other too deeply; only the innermost of them is reported.
    fn calls_too_deep(&mut self, functions: &[&Ident], calls: &[Vec<usize>]) -> bool {
        let depths = ir::graph::depths(calls);
        for (name, _) in functions.iter().zip(&depths).filter(|(_, depth)| **depth == CALLS_MAX + 1) {
            self.report(
                Diagnostic::error(
                    codes::CALLS_TOO_DEEP,
                    format!("calls nest too deeply in `{}`", name.name),
                    name.span,
                    format!("more than {CALLS_MAX} levels"),
                )
                .mend("nest fewer calls"),
            );
        }
        depths.iter().any(|depth| *depth > CALLS_MAX)
    }

    fn check_raises(&mut self, calls: &[Vec<usize>]) {
        let mut known = vec![None; calls.len()];
        let raises: Vec<Vec<usize>> =
            (0..calls.len()).map(|f| raised_by(&self.program, calls, f, &mut known)).collect();
        let events: Vec<Vec<usize>> = self
            .program
            .chains
            .iter()
            .map(|chain| {
                let processors = chain.iter().flat_map(|c| c.present.iter().chain(c.absent.iter().flatten()));
                processors.flat_map(|f| raises[f.index()].clone()).collect()
            })
            .collect();
        let file = self.file;
        let names = file
            .items
            .iter()
            .filter_map(|i| if let ItemKind::Event { name, .. } = &i.kind { Some(name) } else { None });
        let circles = ir::graph::in_circles(&events);
        for (name, _) in names.zip(&circles).filter(|(_, r)| **r) {
            self.report(
                Diagnostic::error(
                    codes::RAISE_CYCLE,
                    format!("`{}` raises itself", name.name),
                    name.span,
                    "raised again while it is processed",
                )
                .note("a raised event runs right after the chain that raised it; a cycle would never end")
                .mend("raise another event, or start a timer"),
            );
        }
    }
}

fn callees(function: &ir::Function) -> Vec<usize> {
    let mut found = Vec::new();
    ir::walk::statements(&function.body, &mut |stmt| {
        if let StmtKind::Call { func, .. } = &stmt.kind {
            found.push(func.index());
        }
    });
    found
}

/// The events that a run of the function raises; there is no recursion. `known` has what was asked for before.
fn raised_by(
    program: &ir::Program,
    calls: &[Vec<usize>],
    function: usize,
    known: &mut [Option<Vec<usize>>],
) -> Vec<usize> {
    if let Some(found) = &known[function] {
        return found.clone();
    }
    let def = &program.functions[function];
    let mut found = Vec::new();
    for callee in &calls[function] {
        found.extend(raised_by(program, calls, *callee, known));
    }
    ir::walk::statements(&def.body, &mut |stmt| {
        if let StmtKind::Instr(Instr::Raise { event }) = &stmt.kind
            && let Ty::Event(event) = def.locals[event.index()].ty
        {
            found.push(event.index());
        }
    });
    found.sort_unstable();
    found.dedup();
    known[function] = Some(found.clone());
    found
}
