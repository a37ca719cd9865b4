// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which functions can stop a chain, and which have no effect but their result.

use carrick_ir::effects::is_pure;
use carrick_ir::{Function, Program, Stmt, StmtKind, walk};

/// Sets `may_stop` and `pure` of every function; callees come first.
pub fn mark(program: &mut Program) {
    for index in 0..program.functions.len() {
        let (before, rest) = program.functions.split_at_mut(index);
        let function = &mut rest[0];
        let (mut may_stop, mut pure) = (false, true);
        walk::statements(&function.body, &mut |stmt| {
            may_stop |= stops(stmt, before);
            pure &= is_pure(stmt, function, &mut |f| before[f.index()].pure);
        });
        (function.may_stop, function.pure) = (may_stop, pure);
    }
}

fn stops(stmt: &Stmt, before: &[Function]) -> bool {
    match &stmt.kind {
        StmtKind::Stop => true,
        StmtKind::Call { func, .. } => before[func.index()].may_stop,
        _ => false,
    }
}
