// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a chain reaches: the functions that it calls, the contexts that it takes.

use carrick_ir::{Chain, CtxId, FuncId, Program, StmtKind, walk};

/// The functions and those that they call, each once, callers before callees.
pub fn reachable(program: &Program, functions: &[FuncId]) -> Vec<FuncId> {
    let mut found: Vec<FuncId> = Vec::new();
    let mut open: Vec<FuncId> = functions.iter().rev().copied().collect();
    while let Some(func) = open.pop() {
        if found.contains(&func) {
            continue;
        }
        found.push(func);
        walk::statements(&program.functions[func.index()].body, &mut |stmt| {
            if let StmtKind::Call { func, .. } = &stmt.kind {
                open.push(*func);
            }
        });
    }
    found
}

/// The contexts that a chain takes: its own, those that it shares, the global ones.
pub fn contexts(chain: &Chain) -> impl Iterator<Item = CtxId> {
    let shared = chain.shared.iter().map(|s| s.context);
    chain.context.into_iter().chain(shared).chain(chain.globals.iter().copied())
}
