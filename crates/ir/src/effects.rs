// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which statements have no effect but the results of their function.

use crate::{FuncId, Function, Place, Stmt, StmtKind};

/// Whether a statement of this function changes nothing that outlives it; `callee` answers for functions.
pub fn is_pure(stmt: &Stmt, function: &Function, callee: &mut dyn FnMut(FuncId) -> bool) -> bool {
    let own = |place: &Place| !function.locals[place.root.index()].ty.is_by_ref();
    match &stmt.kind {
        StmtKind::Assign { place, .. } | StmtKind::Change { on: place, .. } => own(place),
        StmtKind::Call { func, .. } => callee(*func),
        StmtKind::Random { .. }
        | StmtKind::Instr(_)
        | StmtKind::Extract { .. }
        | StmtKind::SetFlowId { .. }
        | StmtKind::Stop => false,
        _ => true,
    }
}
