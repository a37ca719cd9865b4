// SPDX-License-Identifier: MIT OR Apache-2.0
//! Renumbers functions so that callees come before callers.

use carrick_ir::{FuncId, Program, StmtKind, graph, walk};

/// Orders `functions` and rewrites every reference to one.
pub fn callees_first(program: &mut Program) {
    let calls: Vec<Vec<usize>> = program
        .functions
        .iter()
        .map(|f| {
            let mut found = Vec::new();
            walk::statements(&f.body, &mut |stmt| {
                if let StmtKind::Call { func, .. } = &stmt.kind {
                    found.push(func.index());
                }
            });
            found
        })
        .collect();
    let order = graph::postorder(&calls);
    let mut new_number = vec![FuncId(0); calls.len()];
    for (new, old) in order.iter().enumerate() {
        new_number[*old] = FuncId(new as u32);
    }
    let mut old: Vec<_> = std::mem::take(&mut program.functions).into_iter().map(Some).collect();
    program.functions = order.iter().filter_map(|i| old[*i].take()).collect();
    for function in &mut program.functions {
        function.body.statements_mut(&mut |stmt| {
            if let StmtKind::Call { func, .. } = &mut stmt.kind {
                *func = new_number[func.index()];
            }
        });
    }
    program.parser = new_number[program.parser.index()];
    program.report_parser.iter_mut().for_each(|f| *f = new_number[f.index()]);
    program.invariants.iter_mut().for_each(|f| *f = new_number[f.index()]);
    for chain in program.chains.iter_mut().flatten() {
        let all = chain.present.iter_mut().chain(chain.absent.iter_mut().flatten());
        all.for_each(|f| *f = new_number[f.index()]);
    }
}
