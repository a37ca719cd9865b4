//! Loops in loops that turn often: the inner one is a function that is verified apart, once and not at each turn of the outer
//! one. What it shares with the function that it stands in lies in that function's frame.

use std::collections::BTreeSet;

use carrick_ir::{Block, ExprKind, Function, LocalId, Stmt, StmtKind, Ty, walk};

use super::depth::{can_be_apart, turns_of};
use crate::Emitter;

/// So many turns, of the outer loop and in each of them of the inner one, are verified apart.
const TURNS: u32 = 512;

/// The loops of a function that are functions of their own, in order.
pub(super) fn loops(function: &Function) -> Vec<&Stmt> {
    let mut found = Vec::new();
    let parses = function.locals.first().is_some_and(|l| l.ty == Ty::Packet);
    if can_be_apart(function) && !parses {
        search(function, &function.body, 1, &mut Vec::new(), &mut found);
    }
    found
}

fn search<'f>(
    function: &Function,
    block: &'f Block,
    around: u32,
    vars: &mut Vec<LocalId>,
    found: &mut Vec<&'f Stmt>,
) {
    for stmt in &block.stmts {
        let var = match &stmt.kind {
            StmtKind::ForRange { var, .. } | StmtKind::ForEach { var, .. } => Some(*var),
            _ => None,
        };
        let turns = around.saturating_mul(turns_of(stmt));
        if var.is_some() && around > 1 && turns >= TURNS && stands_alone(function, stmt, vars) {
            found.push(stmt);
            continue;
        }
        vars.extend(var);
        walk::children(stmt).for_each(|child| search(function, child, turns, vars, found));
        if var.is_some() {
            vars.pop();
        }
    }
}

/// Whether a loop asks for no number that an outer loop counts with, and changes no argument.
fn stands_alone(function: &Function, stmt: &Stmt, vars: &[LocalId]) -> bool {
    let mut alone = true;
    let mut look = |stmt: &Stmt| {
        if let StmtKind::Assign { place, .. } = &stmt.kind {
            let ty = &function.locals[place.root.index()].ty;
            alone &= place.root.0 >= function.params || !ty.is_scalar();
        }
        walk::of_statement(stmt, &mut |e| {
            if let ExprKind::Load(place) = &e.kind {
                let ty = &function.locals[place.root.index()].ty;
                alone &= !ty.is_scalar() || !vars.contains(&place.root);
            }
        });
        if let StmtKind::Instr(instr) = &stmt.kind {
            for e in walk::of_instr(instr) {
                walk::expressions(e, &mut |e| {
                    if let ExprKind::Load(place) = &e.kind {
                        alone &= !vars.contains(&place.root);
                    }
                });
            }
        }
    };
    look(stmt);
    walk::children(stmt).for_each(|block| walk::statements(block, &mut look));
    alone
}

/// Whether a number lies in the frame, where the function's loops that are apart find it: those that loops count with do not.
pub(super) fn in_frame(function: &Function, id: LocalId) -> bool {
    let local = &function.locals[id.index()];
    if id.0 < function.params || !local.ty.is_scalar() || loops(function).is_empty() {
        return false;
    }
    let mut counts = BTreeSet::new();
    walk::statements(&function.body, &mut |stmt| {
        if let StmtKind::ForRange { var, .. } | StmtKind::ForEach { var, .. } = &stmt.kind {
            counts.insert(*var);
        }
    });
    !counts.contains(&id)
}

impl<'p> Emitter<'p> {
    /// The functions that are loops of this one.
    pub(super) fn loops_apart(&mut self, function: &'p Function, shown: &str) {
        for (number, stmt) in loops(function).into_iter().enumerate() {
            let core = self.names.own("core");
            self.w.line("/* A loop within a loop. Not 0: it leaves the function. */");
            self.w.open(format!(
                "CARRICK_APART int fn_{}_loop_{number}(struct {core} *core{shown}) {{",
                function.name
            ));
            self.loop_apart = true;
            self.function_begins(function, true);
            self.loop_stmt(stmt);
            self.loop_apart = false;
            self.w.line("return 0;");
            self.w.close("}");
            self.w.own();
            self.w.blank();
        }
    }

    /// In place of a loop that is a function of its own: its call. False: it is none.
    pub(crate) fn loop_call(&mut self, stmt: &Stmt) -> bool {
        let Some(function) = self.function.filter(|_| self.kernel && !self.loop_apart) else { return false };
        let Some(number) = loops(function).into_iter().position(|at| std::ptr::eq(at, stmt)) else {
            return false;
        };
        let params = &function.locals[..function.params as usize];
        let args: String = params.iter().map(|l| format!(", {}", crate::names::safe(&l.name))).collect();
        self.line(stmt, format!("if (fn_{}_loop_{number}(core{args}))", function.name));
        let value = if function.ret == Ty::Void { "0" } else { "f__->ret__" };
        self.line(stmt, format!("    return {value};"));
        true
    }

    /// In such a function: leaves the one that it is a loop of.
    pub(crate) fn leave_loop(&self, value: &str) -> String {
        match self.function.map(|f| &f.ret) {
            None | Some(Ty::Void) => "return 1;".into(),
            Some(_) => format!("{{ f__->ret__ = {value}; return 1; }}"),
        }
    }
}
