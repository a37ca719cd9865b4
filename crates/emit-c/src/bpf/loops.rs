// SPDX-License-Identifier: MIT OR Apache-2.0
//! Loops, where the verifier would follow every turn: it forgets what it knew of numbers at each, and of loops of many turns it
//! follows only so many as tell it something new.

use std::collections::BTreeSet;

use carrick_ir::{self as ir, ExprKind, Function, LocalId, Place, Stmt, StmtKind, Ty, walk};

use super::depth::turns_of;
use crate::Emitter;

/// Of a loop with so many turns the verifier follows no more than it must.
pub(super) const MANY: u32 = 32;

/// The locals of a function that a loop's body uses and that live longer than it.
fn crossing(stmt: &Stmt, body: &ir::Block) -> BTreeSet<LocalId> {
    let (mut used, mut own) = (BTreeSet::new(), BTreeSet::new());
    walk::statements(body, &mut |stmt| {
        match &stmt.kind {
            StmtKind::Assign { place, .. } if place.path.is_empty() => {
                used.insert(place.root);
            }
            StmtKind::Let { local, .. }
            | StmtKind::Random { dest: local }
            | StmtKind::Call { dest: Some(local), .. }
            | StmtKind::ListPop { dest: Some(local), .. }
            | StmtKind::WndSet { dest: Some(local), .. }
            | StmtKind::ForRange { var: local, .. }
            | StmtKind::ForEach { var: local, .. } => {
                own.insert(*local);
            }
            _ => {}
        }
        walk::of_statement(stmt, &mut |e| {
            if let ExprKind::Load(place) = &e.kind {
                used.insert(place.root);
            }
        });
    });
    let over = match &stmt.kind {
        StmtKind::ForRange { var, .. } | StmtKind::ForEach { var, .. } => Some(*var),
        _ => None,
    };
    used.into_iter().filter(|local| !own.contains(local) && Some(*local) != over).collect()
}

/// Whether a number lies in the function's frame: loops of many turns use it, and what is in memory the verifier does not
/// follow from turn to turn. Those that loops count with do not.
pub(super) fn in_frame(function: &Function, id: LocalId) -> bool {
    if id.0 < function.params || !function.locals[id.index()].ty.is_scalar() {
        return false;
    }
    let (mut crosses, mut counts) = (false, false);
    walk::statements(&function.body, &mut |stmt| {
        let (StmtKind::ForRange { var, body, .. } | StmtKind::ForEach { var, body, .. }) = &stmt.kind else {
            return;
        };
        counts |= *var == id;
        crosses |= turns_of(stmt) >= MANY && crossing(stmt, body).contains(&id);
    });
    crosses && !counts
}

impl Emitter<'_> {
    /// At the beginning of the body of a loop that may turn often: the verifier does not know which turn it is.
    pub(crate) fn forget_count(&mut self, stmt: &Stmt, counts: &[(&str, &str)]) {
        if self.dialect.goes_on(turns_of(stmt)).is_empty() {
            return;
        }
        for (c, name) in counts {
            self.line(stmt, format!("{name} = ({c})({name} ^ ({c})CARRICK_READ(core->zero));"));
        }
    }

    /// At the beginning of a loop's body: what the verifier knows of numbers that the body changes, or asks for, is
    /// forgotten, else it would follow every way through all turns.
    pub(crate) fn forget_numbers(&mut self, stmt: &Stmt, body: &ir::Block) {
        if self.function.is_some_and(Self::has_frame) {
            // Else the compiler finds all addresses before the loop, and keeps them on the stack.
            self.line(stmt, "CARRICK_BARRIER_VAR(f__);");
        }
        for local in crossing(stmt, body) {
            let (ty, name) = (self.local_type(local).clone(), self.local(local));
            if !ty.is_scalar() || ty == Ty::Addr || self.in_frame(local) {
                continue;
            }
            if ty == Ty::Bool {
                // Converting a number to a bool is a branch, behind which the verifier knows it.
                self.line(stmt, format!("*(volatile bool *)&core->told = {name};"));
                self.line(stmt, format!("{name} = CARRICK_READ(core->told);"));
                continue;
            }
            let c = self.names.ctype(&ty);
            self.line(stmt, format!("{name} = ({c})({name} ^ ({c})CARRICK_READ(core->zero));"));
        }
    }

    /// In a loop over elements: that of this turn.
    pub(crate) fn each_element(&mut self, stmt: &Stmt, var: LocalId, place: &str, list: &Place) {
        let at = format!("{}__at", self.c_name(var));
        let (items, n) = match &list.ty {
            Ty::List(_, n, _) => (".items", *n),
            Ty::Array(_, n) => ("", *n),
            _ => return,
        };
        let unused = if self.in_frame(var) { "" } else { "CARRICK_UNUSED " };
        let text = format!("{unused}{} = {place}{items}[{}];", self.declared_local(var), self.bounded(at, n));
        self.line(stmt, text);
    }
}
