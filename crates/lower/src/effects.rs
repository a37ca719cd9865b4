//! Which functions can stop a chain, and which have no effect but their result.

use carrick_ir::{Function, Place, Program, Stmt, StmtKind, walk};

/// Sets `may_stop` and `pure` of every function; callees come first.
pub fn mark(program: &mut Program) {
    for index in 0..program.functions.len() {
        let (before, rest) = program.functions.split_at_mut(index);
        let function = &mut rest[0];
        let (mut may_stop, mut pure) = (false, true);
        walk::statements(&function.body, &mut |stmt| {
            may_stop |= stops(stmt, before);
            pure &= is_pure(stmt, function, before);
        });
        (function.may_stop, function.pure) = (may_stop, pure && !may_stop);
    }
}

fn stops(stmt: &Stmt, before: &[Function]) -> bool {
    match &stmt.kind {
        StmtKind::Stop => true,
        StmtKind::Call { func, .. } => before[func.index()].may_stop,
        _ => false,
    }
}

fn is_pure(stmt: &Stmt, function: &Function, before: &[Function]) -> bool {
    let own = |place: &Place| !function.locals[place.root.index()].ty.is_by_ref();
    match &stmt.kind {
        StmtKind::Assign { place, .. } => own(place),
        StmtKind::ListAdd { list, .. }
        | StmtKind::ListRemove { list, .. }
        | StmtKind::ListPop { list, .. }
        | StmtKind::ListClear { list } => own(list),
        StmtKind::WndReset { wnd, .. } | StmtKind::WndSet { wnd, .. } | StmtKind::WndSlide { wnd, .. } => {
            own(wnd)
        }
        StmtKind::Call { func, .. } => before[func.index()].pure,
        StmtKind::Random { .. }
        | StmtKind::Instr(_)
        | StmtKind::Extract { .. }
        | StmtKind::SetFlowId { .. } => false,
        _ => true,
    }
}
