// SPDX-License-Identifier: MIT OR Apache-2.0
//! Numbers that loops of many turns use and that live longer than a turn: they lie where the verifier does not follow them.

use std::collections::BTreeSet;

use carrick_emit_c::loops::MANY;
use carrick_ir::bounds::turns;
use carrick_ir::{self as ir, ExprKind, Function, LocalId, Stmt, StmtKind, walk};

/// Whether a loop is one of those.
pub(crate) fn is_long(stmt: &Stmt) -> bool {
    turns(stmt).is_some_and(|turns| turns >= MANY)
}

/// The locals of a function that a loop's body uses and that live longer than it.
pub(crate) fn crossing(stmt: &Stmt, body: &ir::Block) -> BTreeSet<LocalId> {
    let (mut used, mut own) = (BTreeSet::new(), BTreeSet::new());
    walk::statements(body, &mut |stmt| {
        own.extend(stmt.begins());
        match &stmt.kind {
            StmtKind::Assign { place, .. } if place.path.is_empty() => {
                used.insert(place.root);
            }
            StmtKind::For { var, .. } => _ = own.insert(*var),
            _ => {}
        }
        walk::of_statement(stmt, &mut |e| {
            if let ExprKind::Load(place) = &e.kind {
                used.insert(place.root);
            }
        });
    });
    let over = match &stmt.kind {
        StmtKind::For { var, .. } => Some(*var),
        _ => None,
    };
    used.into_iter().filter(|local| !own.contains(local) && Some(*local) != over).collect()
}

/// Whether a number lies in the function's frame: loops of many turns use it, and what is in memory the verifier does not
/// follow from turn to turn. Those that loops count with do not.
pub(crate) fn in_frame(function: &Function, id: LocalId) -> bool {
    if id.0 < function.params || !function.locals[id.index()].ty.is_scalar() {
        return false;
    }
    let (mut crosses, mut counts) = (false, false);
    walk::statements(&function.body, &mut |stmt| {
        let StmtKind::For { var, body, .. } = &stmt.kind else { return };
        counts |= *var == id;
        crosses |= is_long(stmt) && crossing(stmt, body).contains(&id);
    });
    crosses && !counts
}
