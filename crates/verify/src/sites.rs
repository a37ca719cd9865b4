// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where a program has checks, and which functions it runs from where.

use carrick_ir::{
    Builtin, Expr, ExprKind, FuncId, Function, Instr, Place, Program, Proj, Stmt, StmtKind, Ty, walk,
};
use rustc_hash::FxHashSet;

use crate::expr::compares_serials;
use crate::instr::sent_ranges;
use crate::list;
use crate::site::{Kind, Site, kind_of};
use crate::stmt::cut_value;

/// These functions and all that they call.
pub(crate) fn reached(program: &Program, from: impl IntoIterator<Item = FuncId>) -> FxHashSet<FuncId> {
    let mut seen = FxHashSet::default();
    let mut open: Vec<FuncId> = from.into_iter().collect();
    while let Some(func) = open.pop() {
        if seen.insert(func) {
            walk::statements(&program.functions[func.index()].body, &mut |stmt| {
                if let StmtKind::Call { func, .. } = &stmt.kind {
                    open.push(*func);
                }
            });
        }
    }
    seen
}

/// Whether these functions add to lists.
pub(crate) fn adds(program: &Program, functions: &FxHashSet<FuncId>) -> bool {
    let mut adds = false;
    for func in functions {
        walk::statements(&program.functions[func.index()].body, &mut |stmt| {
            adds |= matches!(&stmt.kind, StmtKind::Change { what, .. } if list::adds(*what));
        });
    }
    adds
}

/// In place of a field: all of them.
pub(crate) const WHOLE: u32 = u32::MAX;

/// The fields of locals that these functions read or change, by the type of the local.
pub(crate) fn fields(program: &Program, functions: &FxHashSet<FuncId>) -> FxHashSet<(Ty, u32)> {
    let mut found = FxHashSet::default();
    for func in functions {
        let def = &program.functions[func.index()];
        let field = |place: &Place| {
            let ty = def.locals.get(place.root.index()).map(|local| local.ty.clone());
            let field = match place.path.first() {
                Some(Proj::Field(at)) => Some(*at),
                Some(_) => None,
                None => Some(WHOLE),
            };
            ty.zip(field)
        };
        walk::statements(&def.body, &mut |stmt| found.extend(stmt.works_on().and_then(field)));
        walk::all(&def.body, &mut |e| found.extend(e.reads().and_then(field)));
    }
    found
}

/// The checks in these functions.
pub(crate) fn of(program: &Program, functions: &FxHashSet<FuncId>) -> FxHashSet<Site> {
    let mut found = FxHashSet::default();
    for func in functions {
        let def = &program.functions[func.index()];
        walk::statements(&def.body, &mut |stmt| {
            found.extend(of_stmt(program, def, stmt).map(|(kind, loc)| Site { loc, kind }));
        });
        walk::all(&def.body, &mut |e| found.extend(of_expr(e).map(|kind| Site { loc: e.loc, kind })));
    }
    found
}

fn of_stmt(program: &Program, def: &Function, stmt: &Stmt) -> Option<(Kind, carrick_ir::Loc)> {
    let ty = |local: carrick_ir::LocalId| def.locals.get(local.index()).map(|local| &local.ty);
    match &stmt.kind {
        StmtKind::Assert { claim, .. } => {
            Some((Kind::Claim(*claim), program.claims.get(*claim as usize)?.loc))
        }
        StmtKind::Change { what, .. } if list::adds(*what) => Some((Kind::List, stmt.loc)),
        StmtKind::Assign { place, value } => {
            cut_value(program, ty(place.root), place, value).map(|_| (Kind::Cut, stmt.loc))
        }
        StmtKind::Instr(
            Instr::PktGen { bp, .. }
            | Instr::Forward { header: Some(bp), .. }
            | Instr::PktCopy { header: Some(bp), .. },
        ) => {
            let Some(Ty::Blueprint(of)) = ty(*bp) else { return None };
            (!sent_ranges(program, *of).is_empty()).then_some((Kind::Cut, stmt.loc))
        }
        _ => None,
    }
}

fn of_expr(e: &Expr) -> Option<Kind> {
    match &e.kind {
        ExprKind::Binary(op, left, _) => kind_of(*op, &left.ty),
        ExprKind::Builtin(Builtin::Ratio, _) => Some(Kind::Division),
        ExprKind::Builtin(function, args) if compares_serials(*function, args) => Some(Kind::Serial),
        _ => None,
    }
}
