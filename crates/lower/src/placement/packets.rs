// SPDX-License-Identifier: MIT OR Apache-2.0
//! The packets that chains issue, and where they are made.

use carrick_ir::{Arg, Expr, ExprKind, FuncId, Function, Instr, LocalId, Program, StmtKind, Ty, walk};

use super::placed::{Made, Site};
use super::reach::reachable;

/// What the processors and what they call issue at a site. A packet with payload is made where the payload is.
pub fn made(program: &Program, sites: &[Site], site: usize, processors: &[FuncId]) -> Vec<Made> {
    let with_payload =
        if sites[site].payload { site } else { sites.iter().position(|s| s.payload).unwrap_or(site) };
    let mut found = Vec::new();
    for function in reachable(program, processors) {
        let def = &program.functions[function.index()];
        walk::statements(&def.body, &mut |stmt| {
            if let StmtKind::Instr(Instr::PktGen { bp, .. }) = &stmt.kind
                && let Ty::Blueprint(blueprint) = def.locals[bp.index()].ty
            {
                let payload = has_payload(program, def, *bp);
                let site = if payload { with_payload } else { site };
                found.push(Made { function, blueprint, payload, site, loc: stmt.loc });
            }
        });
    }
    found
}

/// Whether a blueprint in a variable can have been given payload: in this function, or in one that it comes from.
fn has_payload(program: &Program, def: &Function, bp: LocalId) -> bool {
    let Ty::Blueprint(kind) = def.locals[bp.index()].ty else { return false };
    if program.blueprints[kind.index()].payload_name.is_none() {
        return false;
    }
    let mut found = bp.0 < def.params;
    walk::statements(&def.body, &mut |stmt| {
        found |= match &stmt.kind {
            StmtKind::SetPayload { bp: to, .. }
            | StmtKind::SetPayloadOf { bp: to, .. }
            | StmtKind::SetPayloadAt { bp: to, .. }
            | StmtKind::FrameAdd { bp: to, .. } => *to == bp,
            StmtKind::Call { dest, func, args } => {
                let given = args.iter().any(|arg| matches!(arg, Arg::Ref(local) if *local == bp));
                (given || *dest == Some(bp)) && gives_payload(program, *func)
            }
            StmtKind::Let { local, init: Some(value) } => *local == bp && copied(program, def, value),
            StmtKind::Assign { place, value } => {
                place.root == bp && place.path.is_empty() && copied(program, def, value)
            }
            _ => false,
        };
    });
    found
}

/// Whether a value that is copied can have payload: that of another variable that has it.
fn copied(program: &Program, def: &Function, value: &Expr) -> bool {
    match &value.kind {
        ExprKind::Load(from) if from.path.is_empty() => has_payload(program, def, from.root),
        _ => true,
    }
}

/// Whether a function, or one that it calls, gives payload to any blueprint.
fn gives_payload(program: &Program, func: FuncId) -> bool {
    reachable(program, &[func]).into_iter().any(|func| {
        let mut found = false;
        walk::statements(&program.functions[func.index()].body, &mut |stmt| {
            found |= matches!(
                stmt.kind,
                StmtKind::SetPayload { .. }
                    | StmtKind::SetPayloadOf { .. }
                    | StmtKind::SetPayloadAt { .. }
                    | StmtKind::FrameAdd { .. }
            );
        });
        found
    })
}
