// SPDX-License-Identifier: MIT OR Apache-2.0
//! Chains that run alone: they make instances of other flows than their event's, which later events may name already.

use carrick_ir::{Arg, Chain, Expr, ExprKind, Function, Instr, LocalId, Program, Proj, StmtKind, Ty, walk};

use super::reachable;

/// Whether a chain may make an instance whose id is not its event's.
pub fn alone(program: &Program, chain: &Chain) -> bool {
    let functions =
        || reachable(program, [chain], false).into_iter().map(|id| &program.functions[id.index()]);
    functions().any(makes) && !functions().all(|function| only_own(program, function))
}

fn makes(function: &Function) -> bool {
    let mut found = false;
    walk::statements(&function.body, &mut |stmt| {
        found |= matches!(stmt.kind, StmtKind::Instr(Instr::NewCtx { .. }));
    });
    found
}

/// Whether all instances that a function makes have the id of an event that is its parameter, and it hands on no other event.
fn only_own(program: &Program, function: &Function) -> bool {
    let given = |local: LocalId| local.0 < function.params;
    let event = |local: &LocalId| matches!(function.locals[local.index()].ty, Ty::Event(_));
    let mut own = true;
    walk::statements(&function.body, &mut |stmt| match &stmt.kind {
        StmtKind::SetFlowId { event, .. } => own &= !given(*event),
        StmtKind::Assign { place, .. } => own &= !(place.path.is_empty() && event(&place.root)),
        StmtKind::Instr(Instr::NewCtx { id, .. }) => own &= is_flow_id(id, given),
        StmtKind::Call { func, args, .. } => {
            let callee = &program.functions[func.index()];
            own &= callee.params as usize == args.len();
            let locals =
                args.iter().filter_map(|arg| if let Arg::Ref(local) = arg { Some(local) } else { None });
            own &= locals.filter(|local| event(local)).all(|local| given(*local));
        }
        _ => {}
    });
    own
}

fn is_flow_id(id: &Expr, given: impl Fn(LocalId) -> bool) -> bool {
    matches!(&id.kind, ExprKind::Load(place) if given(place.root) && place.path == [Proj::FlowId])
}
