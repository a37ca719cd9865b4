// SPDX-License-Identifier: MIT OR Apache-2.0
//! What holds on some paths through a function and not on others. Where conditions may depend on each other, nothing is found.

use carrick_ir::{Block, Instr, LocalId, Proj, Stmt, StmtKind, walk};

use super::stmt::leaves;

/// Whether only some branches of an `if` set this field of a packet's network header, and the packet is generated after it.
pub(super) fn set_on_some_paths(body: &Block, bp: LocalId, field: u32) -> bool {
    let is_set = |stmt: &Stmt| matches!(&stmt.kind, StmtKind::Assign { place, .. } if place.root == bp && place.path == [Proj::Net(field)]);
    partly_set(body, count(body, &is_set), bp, &is_set)
}

/// Whether one `if` of the block has all these assignments, and a path without one to a `pkt_gen`.
fn partly_set(block: &Block, all: usize, bp: LocalId, is_set: &dyn Fn(&Stmt) -> bool) -> bool {
    block.stmts.iter().enumerate().any(|(at, stmt)| {
        if walk::children(stmt).any(|inner| partly_set(inner, all, bp, is_set)) {
            return true;
        }
        let StmtKind::If { then, otherwise, .. } = &stmt.kind else { return false };
        let here = count(then, is_set) + count(otherwise, is_set);
        let always = always_set(then, is_set) && always_set(otherwise, is_set);
        here == all && !always && is_generated(&block.stmts[at + 1..], bp)
    })
}

fn count(block: &Block, is_set: &dyn Fn(&Stmt) -> bool) -> usize {
    let mut found = 0;
    walk::statements(block, &mut |stmt| found += usize::from(is_set(stmt)));
    found
}

/// Whether no path through the block goes on without the assignment.
fn always_set(block: &Block, is_set: &dyn Fn(&Stmt) -> bool) -> bool {
    block.stmts.iter().any(|stmt| match &stmt.kind {
        StmtKind::If { then, otherwise, .. } => always_set(then, is_set) && always_set(otherwise, is_set),
        StmtKind::Block(inner) => always_set(inner, is_set),
        // A loop may be known to run.
        _ => is_set(stmt) || leaves(stmt) || walk::children(stmt).any(|body| count(body, is_set) > 0),
    })
}

/// Whether these statements reach a `pkt_gen` of the packet, and no condition keeps them from it.
fn is_generated(stmts: &[Stmt], bp: LocalId) -> bool {
    let generates =
        |stmt: &Stmt| matches!(&stmt.kind, StmtKind::Instr(Instr::PktGen { bp: of, .. }) if *of == bp);
    stmts.iter().take_while(|stmt| !leaves_somewhere(stmt)).any(generates)
}

/// Whether a branch of an `if` deletes the context, and the end of these statements is reached from there.
pub(super) fn deleted_on_a_path(stmts: &[Stmt], ctx: LocalId) -> bool {
    let mut deleted = false;
    for stmt in stmts {
        deleted &= !leaves_somewhere(stmt);
        deleted |= walk::children(stmt).any(|branch| {
            let directly =
                |s: &Stmt| matches!(&s.kind, StmtKind::Instr(Instr::DelCtx { ctx: of }) if *of == ctx);
            let left = branch.stmts.iter().any(leaves_somewhere);
            !left && (branch.stmts.iter().any(directly) || deleted_on_a_path(&branch.stmts, ctx))
        });
    }
    deleted
}

fn leaves_somewhere(stmt: &Stmt) -> bool {
    leaves(stmt) || walk::children(stmt).any(|block| block.stmts.iter().any(leaves_somewhere))
}
