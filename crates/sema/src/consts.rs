//! Constants and constant expressions.

use carrick_ir::{self as ir, Ty};
use carrick_syntax::ast::{Expr, ItemKind};
use carrick_syntax::diag::Diagnostic;

use crate::body::Body;
use crate::{Checker, codes};

/// What is known of a constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Unknown,
    Computing,
    Known,
    Wrong,
}

impl Checker<'_> {
    pub(crate) fn check_constants(&mut self) {
        let file = self.file;
        for item in &file.items {
            if let ItemKind::Const { name, .. } = &item.kind {
                let doc = item.doc.clone();
                self.program.consts.push(ir::ConstDef {
                    name: name.name.clone(),
                    doc,
                    ty: Ty::U32,
                    value: 0,
                });
                self.const_states.push(State::Unknown);
            }
        }
        for index in 0..self.program.consts.len() {
            self.const_value(ir::ConstId(index as u32));
        }
    }

    /// Type and value of a constant, computed when first asked for.
    pub(crate) fn const_value(&mut self, id: ir::ConstId) -> Option<(Ty, u64)> {
        match self.const_states[id.index()] {
            State::Known => {
                let def = &self.program.consts[id.index()];
                return Some((def.ty.clone(), def.value));
            }
            State::Wrong => return None,
            State::Computing => {
                self.const_states[id.index()] = State::Wrong;
                return None;
            }
            State::Unknown => {}
        }
        let file = self.file;
        let declared = file.items.iter().filter_map(|i| match &i.kind {
            ItemKind::Const { ty, name, value } => Some((ty, name, value)),
            _ => None,
        });
        let (ty, name, value) = declared.clone().nth(id.index())?;
        self.const_states[id.index()] = State::Computing;
        let result = self.resolve(ty).and_then(|t| {
            if !t.is_scalar() {
                self.report(
                    Diagnostic::error(
                        codes::CONST_TYPE,
                        "a constant has a scalar type",
                        ty.span,
                        "not a scalar type",
                    )
                    .mend("use an integer, a unit, bool, seq32 or an enum"),
                );
                return None;
            }
            Some((t.clone(), self.constant(value, &t)?))
        });
        if result.is_none() && self.const_states[id.index()] == State::Wrong {
            self.report(
                Diagnostic::error(
                    codes::CONST_CYCLE,
                    format!("the constant `{}` depends on itself", name.name),
                    name.span,
                    "its value needs its value",
                )
                .mend("break the circle"),
            );
        }
        if let Some((ty, value)) = &result {
            let def = &mut self.program.consts[id.index()];
            (def.ty, def.value) = (ty.clone(), *value);
        }
        self.const_states[id.index()] = if result.is_some() { State::Known } else { State::Wrong };
        result
    }

    /// The value of a constant expression of this type.
    pub(crate) fn constant(&mut self, expr: &Expr, ty: &Ty) -> Option<u64> {
        let typed = Body::for_declaration(self).value_of_type(expr, ty)?;
        let value = self.fold(&typed);
        if value.is_none() {
            self.report(
                Diagnostic::error(
                    codes::NOT_CONSTANT,
                    "this is not a constant",
                    expr.span,
                    "known only when the program runs",
                )
                .note("constant expressions are made of literals, `const` names, enum values and operators")
                .mend("use a constant"),
            );
        }
        value
    }

    /// The value of a constant that counts something: an integer, or a number of octets.
    pub(crate) fn count_of(&mut self, expr: &Expr) -> Option<u64> {
        let typed = Body::for_declaration(self).computed_value(expr, &Ty::U64)?;
        if let Some(value) = self.fold(&typed) {
            return Some(value);
        }
        self.constant(expr, &typed.ty)
    }

    /// The value of an elaborated expression, if it is constant.
    pub(crate) fn fold(&self, expr: &ir::Expr) -> Option<u64> {
        ir::fold::fold(&self.program, expr, &|_| None)
    }
}
