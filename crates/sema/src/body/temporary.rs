// SPDX-License-Identifier: MIT OR Apache-2.0
//! Locals that the program does not name: they keep values over the effects of what is evaluated later.

use carrick_ir::{self as ir, ExprKind, LocalId, StmtKind, Ty};
use carrick_syntax::Span;
use carrick_syntax::ast;

use super::{Binding, Body};

impl Body<'_, '_> {
    pub(super) fn temporary(&mut self, ty: Ty) -> LocalId {
        self.temporaries_made += 1;
        let local = self.new_local(format!("tmp{}_", self.temporaries_made), ty);
        self.temporaries.push(local);
        local
    }

    /// A value that is used more than once, or later.
    pub(super) fn kept(&mut self, value: ir::Expr, span: Span) -> ir::Expr {
        if is_constant(&value) {
            return value;
        }
        let local = self.temporary(value.ty.clone());
        self.emit(StmtKind::Let { local, init: Some(value) });
        self.load(local, span)
    }

    /// Keeps a value that was computed before statement `mark`, for use after what was emitted since.
    pub(super) fn spill(&mut self, value: ir::Expr, mark: usize, span: Span) -> ir::Expr {
        let stays = match &value.kind {
            ExprKind::Load(place) => place.path.is_empty() && self.temporaries.contains(&place.root),
            _ => is_constant(&value),
        };
        if stays {
            return value;
        }
        let local = self.temporary(value.ty.clone());
        let keep = ir::Stmt { kind: StmtKind::Let { local, init: Some(value) }, loc: self.at };
        self.out.insert(mark, keep);
        self.load(local, span)
    }

    /// The temporary that the last statement made, or finished, if the value is just that.
    pub(super) fn just_made(&mut self, value: &ir::Expr) -> Option<LocalId> {
        let ExprKind::Load(place) = &value.kind else { return None };
        let made = match &mut self.out.last_mut()?.kind {
            StmtKind::Assign { place, .. } => Some(place.root),
            last => result_of(last).and_then(|dest| *dest),
        };
        made.filter(|local| place.path.is_empty() && place.root == *local && self.temporaries.contains(local))
    }

    /// A temporary becomes a variable of the program.
    pub(super) fn name_temporary(&mut self, local: LocalId, name: &ast::Ident) {
        self.temporaries.retain(|t| *t != local);
        self.locals[local.index()].name.clone_from(&name.name);
        self.used[local.index()] = false;
        self.declared.push((local, name.span));
        self.bind(name, Binding::Local(local));
    }

    /// The result of the last emitted statement is not used.
    pub(super) fn drop_result(&mut self) {
        if let Some(last) = self.out.last_mut()
            && !matches!(last.kind, StmtKind::Call { .. })
            && let Some(dest) = result_of(&mut last.kind)
        {
            *dest = None;
        }
    }

    /// A variable of the program may be called as a temporary is.
    pub(super) fn keep_temporaries_apart(&mut self) {
        for temporary in std::mem::take(&mut self.temporaries) {
            let mut name = self.locals[temporary.index()].name.clone();
            while self.locals.iter().enumerate().any(|(at, l)| at != temporary.index() && l.name == name) {
                name.push('_');
            }
            self.locals[temporary.index()].name = name;
        }
    }
}

fn is_constant(value: &ir::Expr) -> bool {
    matches!(value.kind, ExprKind::Lit(_) | ExprKind::Const(_) | ExprKind::Param(_))
}

/// Where a statement leaves its result.
fn result_of(kind: &mut StmtKind) -> Option<&mut Option<LocalId>> {
    match kind {
        StmtKind::Call { dest, .. } | StmtKind::Change { dest, .. } => Some(dest),
        _ => None,
    }
}
