// SPDX-License-Identifier: MIT OR Apache-2.0
//! Constants and constant expressions.

use carrick_ir::{self as ir, Ty};
use carrick_syntax::Span;
use carrick_syntax::ast::{Expr, ExprKind, Ident, ItemKind, Type};
use carrick_syntax::diag::Diagnostic;
use carrick_syntax::walk;

use crate::body::Body;
use crate::checker::ConstState;
use crate::env::Def;
use crate::{Checker, codes};

impl Checker<'_> {
    pub(crate) fn check_constants(&mut self) {
        let file = self.file;
        for item in &file.items {
            if let ItemKind::Const { name, ty, value } = &item.kind {
                let doc = item.doc.as_str().into();
                self.program.consts.push(ir::ConstDef {
                    name: name.name.clone(),
                    doc,
                    ty: Ty::U32,
                    value: 0,
                });
                self.constants.push((ConstState::Unknown, ty, name, value));
            }
        }
        let edges: Vec<Vec<usize>> =
            self.constants.iter().map(|(_, _, _, value)| self.constants_in(value)).collect();
        for circle in ir::graph::circles(&edges) {
            self.report_circle(&circle);
        }
        // Each after those that it needs: none is computed within another, however many there are.
        for index in ir::graph::postorder(&edges) {
            if self.constants[index].0 == ConstState::Unknown {
                self.compute_constant(index);
            }
        }
    }

    /// The numbers of the constants that an expression names.
    fn constants_in(&self, value: &Expr) -> Vec<usize> {
        let mut found = Vec::new();
        walk::expr(value, &mut |node| {
            if let walk::Node::Expr(Expr { kind: ExprKind::Name(name), .. }) = node
                && let Some(Def::Const(id)) = self.env.get(name)
            {
                found.push(id.index());
            }
        });
        found
    }

    fn report_circle(&mut self, circle: &[usize]) {
        for index in circle {
            let (state, _, name, _) = &mut self.constants[*index];
            *state = ConstState::Wrong;
            self.usage.mark(&name.name);
        }
        let (_, _, name, _) = self.constants[circle[0]];
        let diagnostic = Diagnostic::error(
            codes::CONST_CYCLE,
            format!("the constant `{}` depends on itself", name.name),
            name.span,
            "its value needs its value",
        );
        self.report(diagnostic.mend("break the cycle"));
    }

    /// Type and value of a constant, if it is right.
    pub(crate) fn const_value(&mut self, id: ir::ConstId) -> Option<(Ty, u64)> {
        let known = self.constants.get(id.index()).is_some_and(|c| c.0 == ConstState::Known);
        let def = self.program.consts.get(id.index()).filter(|_| known)?;
        Some((def.ty.clone(), def.value))
    }

    fn compute_constant(&mut self, index: usize) {
        let (_, ty, _, value) = self.constants[index];
        let result = self.constant_type(ty).and_then(|ty| {
            let value = self.constant(value, &ty)?;
            Some((ty, value))
        });
        if let Some((ty, value)) = &result {
            let def = &mut self.program.consts[index];
            (def.ty, def.value) = (ty.clone(), *value);
        }
        self.constants[index].0 = if result.is_some() { ConstState::Known } else { ConstState::Wrong };
    }

    /// Each after those before it in the file.
    pub(crate) fn check_constant_arrays(&mut self) {
        let file = self.file;
        for item in &file.items {
            if let ItemKind::ConstArray { ty, name, len, values } = &item.kind {
                let found = self.array_of_constants(ty, name, len, values);
                let (ty, values) = found.unwrap_or((Ty::U32, Vec::new()));
                let (name, doc) = (name.name.clone(), item.doc.as_str().into());
                self.program.arrays.push(ir::ArrayDef { name, doc, ty, values });
            }
        }
    }

    fn array_of_constants(
        &mut self,
        ty: &Type,
        name: &Ident,
        len: &Expr,
        values: &[Expr],
    ) -> Option<(Ty, Vec<u64>)> {
        let of = self.constant_type(ty)?;
        let len = self.length(len)?;
        let found: Option<Vec<u64>> = values.iter().map(|value| self.constant(value, &of)).collect();
        if values.len() != len as usize {
            let diagnostic = Diagnostic::error(
                codes::ARRAY_VALUES,
                format!("`{}` has {len} elements, and {} values", name.name, values.len()),
                name.span,
                "declared here",
            );
            self.report(diagnostic.mend("give each element a value"));
            return None;
        }
        Some((of, found?))
    }

    /// The type of a constant.
    fn constant_type(&mut self, ty: &Type) -> Option<Ty> {
        let found = self.resolve(ty)?;
        if found.is_scalar() {
            return Some(found);
        }
        let diagnostic = Diagnostic::error(
            codes::CONST_TYPE,
            "a constant has a scalar type",
            ty.span,
            "not a scalar type",
        );
        self.report(diagnostic.mend("use an integer, a unit, bool, seq32 or an enum"));
        None
    }

    /// The value of a constant expression of this type.
    pub(crate) fn constant(&mut self, expr: &Expr, ty: &Ty) -> Option<u64> {
        let typed = Body::for_declaration(self).value_of_type(expr, ty)?;
        let value = match typed.kind {
            // The unspecified address is the only one that can be written.
            ir::ExprKind::MakeId(ir::ADDRESS_ID, _) if typed.ty == self.program.address_ty() => Some(0),
            _ => self.fold(&typed),
        };
        if value.is_none() {
            self.not_constant(expr.span);
        }
        value
    }

    pub(crate) fn not_constant(&mut self, span: Span) {
        self.report(
            Diagnostic::error(
                codes::NOT_CONSTANT,
                "this is not a constant",
                span,
                "known only when the program runs",
            )
            .note("constant expressions are made of literals, `const` names, enum values and operators")
            .mend("use a constant"),
        );
    }

    /// The value of a constant that counts something: an integer, or a number of bytes.
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
