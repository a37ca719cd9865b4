// SPDX-License-Identifier: MIT OR Apache-2.0
//! Arrays of headers: an element is a field. An index that is not constant becomes tests that halve the elements each
//! time, as an index out of range is tested: a read gives zero, a write does nothing.

use carrick_ir::{self as ir, ExprKind, LocalId, Proj, StmtKind, Ty};
use carrick_syntax::Span;
use carrick_syntax::ast::{self, Ident};

use super::place::{Elements, Node, extended};
use super::{Binding, Body, Scope, Val};

impl Body<'_, '_> {
    /// The array of this name in a header; `Some(None)` if it is wrong, which has been reported.
    pub(super) fn array_of_header(
        &self,
        header: LocalId,
        bp: ir::BpId,
        name: &str,
    ) -> Option<Option<Elements>> {
        let def = &self.cx.program.blueprints[bp.index()];
        let array = def.array_named(name)?;
        let right = def.fields[array.first as usize].ty != Ty::Void;
        Some(right.then_some(Elements { header, array, index: None, part: None }))
    }

    /// `h.array[index]`; `None` in place of the array if it is an element already.
    pub(super) fn element_at(&mut self, of: Elements, index: &ast::Expr) -> Option<Option<Node>> {
        if of.index.is_some() {
            return Some(None);
        }
        let index = self.index_value(index, of.array.of)?;
        let of = Elements { index: Some(index), ..of };
        Some(Some(if of.array.record.is_some() { Node::Elements(of) } else { self.narrowed(of) }))
    }

    /// `h.array[index].name`
    pub(super) fn part_of_element(&mut self, of: Elements, name: &Ident) -> Option<Node> {
        let ty = self.elements_type(&of);
        let Ty::Struct(id) = ty else { return self.without_fields(&ty, name) };
        let fields = &self.cx.program.structs[id.index()].fields;
        let Some(part) = fields.iter().position(|f| f.name == name.name) else {
            let fields: Vec<String> = fields.iter().map(|f| f.name.clone()).collect();
            return self.unknown_field(&name.name, name.span, fields.iter().map(String::as_str));
        };
        Some(self.narrowed(Elements { part: Some(part as u32), ..of }))
    }

    /// A scalar at a constant index is a field like others.
    fn narrowed(&mut self, of: Elements) -> Node {
        let constant = of.index.as_ref().and_then(|index| self.cx.fold(index));
        match constant {
            Some(at) => Node::Place(self.field_of(&of, at as u32, of.part.unwrap_or(0))),
            None => Node::Elements(of),
        }
    }

    /// The field of the header that has a part of an element.
    fn field_of(&self, of: &Elements, at: u32, part: u32) -> ir::Place {
        let number = of.array.first + at * of.array.parts + part;
        let Ty::Blueprint(bp) = self.locals[of.header.index()].ty else { return self.local_place(of.header) };
        let ty = self.cx.program.blueprints[bp.index()].fields[number as usize].ty.clone();
        ir::Place { root: of.header, path: vec![Proj::Field(number)], ty }
    }

    pub(super) fn elements_type(&self, of: &Elements) -> Ty {
        let element = match (of.array.record, of.part) {
            (Some(id), None) => Ty::Struct(id),
            (_, part) => self.field_of(of, 0, part.unwrap_or(0)).ty,
        };
        match of.index {
            Some(_) => element,
            None => Ty::Array(Box::new(element), of.array.of),
        }
    }

    /// Which parts of an element are meant.
    fn parts(of: &Elements) -> std::ops::Range<u32> {
        of.part.map_or(0..of.array.parts, |part| part..part + 1)
    }

    /// The value of what is named; a struct or an array is copied to a variable.
    pub(super) fn elements_value(&mut self, mut of: Elements, span: Span) -> ir::Expr {
        of.index = of.index.map(|index| self.repeatable(index, span));
        let ty = self.elements_type(&of);
        if of.index.is_some() && ty.is_scalar() {
            return self.read_part(&of, of.part.unwrap_or(0), span);
        }
        let local = self.temporary(ty);
        self.emit(StmtKind::Let { local, init: None });
        let whole = self.local_place(local);
        self.copy_elements(&of, &whole, span);
        self.load(local, span)
    }

    /// Copies elements to an array or a struct of their type.
    pub(super) fn copy_elements(&mut self, of: &Elements, to: &ir::Place, span: Span) {
        let ats: Vec<Option<u32>> = match of.index {
            Some(_) => vec![None],
            None => (0..of.array.of).map(Some).collect(),
        };
        for at in ats {
            for part in Self::parts(of) {
                let place = self.within(of, to, at, part, span);
                let value = match at {
                    Some(at) => self.load_field(of, at, part, span),
                    None => self.read_part(of, part, span),
                };
                self.emit(StmtKind::Assign { place, value });
            }
        }
    }

    /// Where a copy of the elements has a part of one of them.
    fn within(&self, of: &Elements, copy: &ir::Place, at: Option<u32>, part: u32, span: Span) -> ir::Place {
        let scalar = self.field_of(of, 0, part).ty;
        let element = match (of.array.record, of.part) {
            (Some(id), None) => Ty::Struct(id),
            _ => scalar.clone(),
        };
        let mut place = copy.clone();
        if let Some(at) = at {
            let at = self.make(ExprKind::Lit(u64::from(at)), Ty::U64, span);
            place = extended(place, Proj::Index(at), element.clone());
        }
        match element {
            Ty::Struct(_) => extended(place, Proj::Field(part), scalar),
            _ => place,
        }
    }

    fn load_field(&self, of: &Elements, at: u32, part: u32, span: Span) -> ir::Expr {
        let place = self.field_of(of, at, part);
        let ty = place.ty.clone();
        self.make(ExprKind::Load(place), ty, span)
    }

    /// A part of the element that an index finds.
    fn read_part(&mut self, of: &Elements, part: u32, span: Span) -> ir::Expr {
        let Some(index) = of.index.clone() else { return self.load_field(of, 0, part, span) };
        if let Some(at) = self.cx.fold(&index) {
            return self.load_field(of, at as u32, part, span);
        }
        self.element_value(&index, of.array.of, span, &|at| self.load_field(of, at, part, span))
    }

    /// The value that an index below a number selects, or else zero.
    pub(super) fn element_value(
        &self,
        index: &ir::Expr,
        of: u32,
        span: Span,
        value: &dyn Fn(u32) -> ir::Expr,
    ) -> ir::Expr {
        let found = self.value_between(index, (0, of), span, value);
        let zero = self.make(ExprKind::Lit(0), found.ty.clone(), span);
        self.chosen(self.is_below(index, of, span), found, zero)
    }

    fn value_between(
        &self,
        index: &ir::Expr,
        (from, to): (u32, u32),
        span: Span,
        value: &dyn Fn(u32) -> ir::Expr,
    ) -> ir::Expr {
        if to - from <= 1 {
            return value(from);
        }
        let middle = from + (to - from) / 2;
        let low = self.value_between(index, (from, middle), span, value);
        let high = self.value_between(index, (middle, to), span, value);
        self.chosen(self.is_below(index, middle, span), low, high)
    }

    fn is_below(&self, index: &ir::Expr, bound: u32, span: Span) -> ir::Expr {
        let bound = self.make(ExprKind::Lit(u64::from(bound)), Ty::U64, span);
        let kind = ExprKind::Binary(ir::BinOp::Lt, Box::new(index.clone()), Box::new(bound));
        self.make(kind, Ty::Bool, span)
    }

    /// A value that may be evaluated several times.
    fn repeatable(&mut self, value: ir::Expr, span: Span) -> ir::Expr {
        let inner = match &value.kind {
            ExprKind::Cast(inner) => inner,
            _ => &value,
        };
        let stays = match &inner.kind {
            ExprKind::Load(place) => place.path.is_empty() && inner.ty.is_scalar(),
            _ => self.cx.fold(&value).is_some(),
        };
        if stays { value } else { self.kept(value, span) }
    }

    /// `h.array[index] op= value`, `h.array = value`
    pub(super) fn assign_elements(
        &mut self,
        mut of: Elements,
        op: Option<ast::BinOp>,
        value: &ast::Expr,
        span: Span,
    ) -> Option<()> {
        of.index = of.index.map(|index| self.repeatable(index, span));
        let ty = self.elements_type(&of);
        let mark = self.out.len();
        let Some(op) = op else {
            let value = self.value_of_type(value, &ty)?;
            return self.set_elements(of, value, mark, span);
        };
        let right = self.val(value, Some(&ty))?;
        let after = self.out.len();
        let mut left = self.elements_value(of.clone(), span);
        if after > mark {
            left = self.spill(left, mark, span);
        }
        let result = self.combine(op, (Val::Typed(left), span), (right, value.span), span)?;
        let value = self.coerce(result, &ty, value.span)?;
        let mark = mark + self.out.len() - after;
        self.set_elements(of, value, mark, span)
    }

    /// Writes a value of the right type; the index was evaluated before statement `mark`.
    pub(super) fn set_elements(
        &mut self,
        mut of: Elements,
        value: ir::Expr,
        mark: usize,
        span: Span,
    ) -> Option<()> {
        if self.out.len() > mark {
            of.index = of.index.map(|index| self.spill(index, mark, span));
        }
        if value.ty.is_scalar() {
            let value = self.repeatable(value, span);
            let part = of.part.unwrap_or(0);
            let place = self.field_of(&of, 0, part);
            self.ranged_field(&place, &value, span);
            self.write_each(&of, &|body, at| vec![body.assigned_field(&of, (at, part), value.clone())]);
            return Some(());
        }
        let from = match &value.kind {
            ExprKind::Load(place) if !place.path.contains(&Proj::FlowId) => place.clone(),
            _ => {
                let local = self.temporary(value.ty.clone());
                self.emit(StmtKind::Let { local, init: Some(value) });
                self.local_place(local)
            }
        };
        let whole = of.index.is_none();
        self.write_each(&of, &|body, at| {
            let part = |part| {
                let place = body.within(&of, &from, whole.then_some(at), part, span);
                let ty = place.ty.clone();
                let value = body.make(ExprKind::Load(place), ty, span);
                body.assigned_field(&of, (at, part), value)
            };
            Self::parts(&of).map(part).collect()
        });
        Some(())
    }

    fn assigned_field(&self, of: &Elements, (at, part): (u32, u32), value: ir::Expr) -> ir::Stmt {
        let place = self.field_of(of, at, part);
        let value = self.fitting(&place, value);
        ir::Stmt { kind: StmtKind::Assign { place, value }, loc: self.at }
    }

    /// The statements for each element, or for the one that the index finds.
    fn write_each(&mut self, of: &Elements, write: &dyn Fn(&Self, u32) -> Vec<ir::Stmt>) {
        let stmts = match &of.index {
            None => (0..of.array.of).flat_map(|at| write(self, at)).collect(),
            Some(index) => match self.cx.fold(index) {
                Some(at) => write(self, at as u32),
                None => {
                    let found = self.stmts_between(index, (0, of.array.of), write);
                    vec![self.test(index, of.array.of, found, Vec::new())]
                }
            },
        };
        self.out.extend(stmts);
    }

    fn stmts_between(
        &self,
        index: &ir::Expr,
        (from, to): (u32, u32),
        write: &dyn Fn(&Self, u32) -> Vec<ir::Stmt>,
    ) -> Vec<ir::Stmt> {
        if to - from <= 1 {
            return write(self, from);
        }
        let middle = from + (to - from) / 2;
        let low = self.stmts_between(index, (from, middle), write);
        let high = self.stmts_between(index, (middle, to), write);
        vec![self.test(index, middle, low, high)]
    }

    fn test(&self, index: &ir::Expr, bound: u32, below: Vec<ir::Stmt>, above: Vec<ir::Stmt>) -> ir::Stmt {
        let cond = self.is_below(index, bound, Span::default());
        let (then, otherwise) = (ir::Block { stmts: below }, ir::Block { stmts: above });
        ir::Stmt { kind: StmtKind::If { cond, then, otherwise }, loc: self.at }
    }

    /// What declarations know of an array of their header: `array[index]`, `array[index].part`, and behind `bp.` or `prev.`.
    /// `None` if `e` is none of these.
    pub(super) fn header_element(&mut self, bp: ir::BpId, e: &ast::Expr) -> Option<Option<ir::Expr>> {
        let (indexed, part) = match &e.kind {
            ast::ExprKind::Field(indexed, part) => (&**indexed, Some(part)),
            _ => (e, None),
        };
        let ast::ExprKind::Index(base, index) = &indexed.kind else { return None };
        let (make, name): (fn(u32) -> ExprKind, _) = match (&base.kind, self.scope) {
            (ast::ExprKind::Name(name), Scope::Header(_)) => (ExprKind::BpField, name),
            (ast::ExprKind::Field(of, field), Scope::SegRule(_) | Scope::Coalescing(_)) => match &of.kind {
                ast::ExprKind::Name(of) if of == "bp" => (ExprKind::BpField, &field.name),
                ast::ExprKind::Name(of) if of == "prev" => (ExprKind::PrevField, &field.name),
                _ => return None,
            },
            _ => return None,
        };
        let array = self.cx.program.blueprints[bp.index()].array_named(name)?;
        Some(self.declared_element(bp, array, (index, part), make, e.span))
    }

    fn declared_element(
        &mut self,
        bp: ir::BpId,
        array: ir::FieldArray,
        (index, part): (&ast::Expr, Option<&Ident>),
        make: fn(u32) -> ExprKind,
        span: Span,
    ) -> Option<ir::Expr> {
        let first = self.cx.program.blueprints[bp.index()].fields[array.first as usize].ty.clone();
        let number = match (array.record, part) {
            _ if first == Ty::Void => return None, // reported where it is declared
            (None, None) => 0,
            (Some(id), Some(part)) => {
                let fields = self.cx.program.structs[id.index()].fields.clone();
                match fields.iter().position(|f| f.name == part.name) {
                    Some(number) => number as u32,
                    None => {
                        return self.unknown_field(
                            &part.name,
                            part.span,
                            fields.iter().map(|f| f.name.as_str()),
                        );
                    }
                }
            }
            (None, Some(part)) => return self.without_fields(&first, part),
            (Some(_), None) => return self.not_a_value(span, "a struct", "name one of its fields"),
        };
        let index = self.index_value(index, array.of)?;
        let fields = &self.cx.program.blueprints[bp.index()].fields;
        let value = |at: u32| {
            let at = array.first + at * array.parts + number;
            self.make(make(at), fields[at as usize].ty.clone(), span)
        };
        Some(match self.cx.fold(&index) {
            Some(at) => value(at as u32),
            None => self.element_value(&index, array.of, span, &value),
        })
    }

    /// The array of a header that an expression names as a whole; nothing is reported.
    pub(super) fn named_array(&mut self, e: &ast::Expr) -> Option<Elements> {
        let ast::ExprKind::Field(base, field) = &e.kind else { return None };
        let ast::ExprKind::Name(name) = &base.kind else { return None };
        let Some(Binding::Local(local)) = self.find(name) else { return None };
        let Ty::Blueprint(bp) = self.locals[local.index()].ty else { return None };
        self.array_of_header(local, bp, &field.name)?
    }
}
