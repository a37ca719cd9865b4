// SPDX-License-Identifier: MIT OR Apache-2.0
//! Notes in the program how much one event can cause at most.

use carrick_ir::{EventKind, Program, bounds};

/// Computes every bound of the program. There is no circle among calls or raises.
pub fn compute(program: &mut Program) {
    let (functions, chains) = bounds::costs(program);
    let parsers: Vec<_> = program.parsers().map(|f| functions[f.index()]).collect();
    program.max_parsed = parsers.iter().map(|cost| cost.raised).max().unwrap_or(0);
    for (function, cost) in program.functions.iter_mut().zip(functions) {
        function.max_raised = cost.raised;
    }
    for (chain, cost) in program.chains.iter_mut().zip(&chains) {
        if let Some(chain) = chain {
            chain.max_raised = cost.raised;
        }
    }
    let outside = program.events.iter().zip(&chains).filter(|(e, _)| e.kind != EventKind::Net);
    let most = outside.map(|(_, cost)| cost).chain(&parsers).map(|cost| cost.blueprints);
    program.max_blueprints = most.max().unwrap_or(0);
}
