//! Walking over statements.

use crate::{Block, Stmt, StmtKind};

/// The blocks that a statement holds.
pub fn children(stmt: &Stmt) -> impl Iterator<Item = &Block> {
    let (first, second) = match &stmt.kind {
        StmtKind::If { then, otherwise, .. } => (Some(then), Some(otherwise)),
        StmtKind::Block(body) | StmtKind::ForRange { body, .. } | StmtKind::ForEach { body, .. } => {
            (Some(body), None)
        }
        _ => (None, None),
    };
    first.into_iter().chain(second)
}

/// Calls `visit` for every statement of the block, those inside others included, in order.
pub fn statements<'a>(block: &'a Block, visit: &mut dyn FnMut(&'a Stmt)) {
    for stmt in &block.stmts {
        visit(stmt);
        for child in children(stmt) {
            statements(child, visit);
        }
    }
}
