// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values.

use carrick_ir::{self as ir, ExprKind, StmtKind, Ty};
use carrick_syntax::Span;
use carrick_syntax::ast::{self, BinOp, UnOp};
use carrick_syntax::diag::Diagnostic;

use super::place::Node;
use super::{Body, Scope, Val};
use crate::codes;
use crate::env::Def;
use crate::types::{converts, fits, is_int};

impl Body<'_, '_> {
    /// The value, converted to this type if it converts by itself.
    pub(crate) fn value_of_type(&mut self, e: &ast::Expr, ty: &Ty) -> Option<ir::Expr> {
        let val = self.val(e, Some(ty))?;
        self.coerce(val, ty, e.span)
    }

    /// The value of a computed header field: as wide as it is if that is more than the field, so that what does not fit is
    /// seen when a packet is made.
    pub(crate) fn computed_field(&mut self, e: &ast::Expr, ty: &Ty) -> Option<ir::Expr> {
        let value = match self.val(e, None)? {
            Val::Typed(value) if value.ty == Ty::Bytes || is_int(&value.ty) => value,
            other => return self.coerce(other, ty, e.span),
        };
        let (bits, signed) = ir::arith::shape(&value.ty);
        let wider = bits > ir::arith::shape(ty).0 && !signed;
        Some(if wider && !matches!(ty, Ty::Enum(_)) { value } else { self.cast(value, ty) })
    }

    /// A length of a packet's declaration: a number of bytes or any integer, converted to the type.
    pub(crate) fn computed_value(&mut self, e: &ast::Expr, ty: &Ty) -> Option<ir::Expr> {
        let value = match self.val(e, None)? {
            Val::Typed(value) if value.ty == Ty::Bytes || is_int(&value.ty) => value,
            other => return self.coerce(other, ty, e.span),
        };
        Some(self.cast(value, ty))
    }

    /// The value with its own type; a literal is a `uint32`, or a `uint64` if it does not fit.
    pub(crate) fn typed(&mut self, e: &ast::Expr) -> Option<ir::Expr> {
        let val = self.val(e, None)?;
        self.with_own_type(val, e.span)
    }

    pub(super) fn with_own_type(&mut self, val: Val, span: Span) -> Option<ir::Expr> {
        match val {
            Val::Typed(value) => Some(value),
            Val::Int(value) => {
                let ty = if fits(&Ty::U32, value) {
                    Ty::U32
                } else if value < 0 {
                    Ty::I64
                } else {
                    Ty::U64
                };
                self.coerce(Val::Int(value), &ty, span)
            }
            Val::None => self.none_without_type(span),
        }
    }

    fn none_without_type<T>(&mut self, span: Span) -> Option<T> {
        self.report(
            Diagnostic::error(codes::NONE_TYPE, "`none` has no type here", span, "no type is expected")
                .note("`none` is a value of addr_t, token_t and handle_t")
                .mend("use it where one of these types is expected"),
        )
    }

    pub(crate) fn condition(&mut self, e: &ast::Expr) -> Option<ir::Expr> {
        match self.val(e, Some(&Ty::Bool))? {
            Val::Typed(value) if value.ty == Ty::Bool => Some(value),
            other => {
                let found = self.describe(&other);
                self.report(
                    Diagnostic::error(
                        codes::NOT_A_CONDITION,
                        format!("expected a condition, found {found}"),
                        e.span,
                        "not a `bool`",
                    )
                    .mend("compare it: `x != 0`"),
                )
            }
        }
    }

    pub(super) fn describe(&self, val: &Val) -> String {
        match val {
            Val::Typed(value) => format!("`{}`", self.name(&value.ty)),
            Val::Int(value) => format!("the number {value}"),
            Val::None => "`none`".into(),
        }
    }

    pub(super) fn cast(&self, value: ir::Expr, ty: &Ty) -> ir::Expr {
        if value.ty == *ty {
            return value;
        }
        let loc = value.loc;
        if let ExprKind::Lit(bits) = value.kind {
            return ir::Expr { kind: ExprKind::Lit(ir::arith::cast(ty, bits)), ty: ty.clone(), loc };
        }
        ir::Expr { kind: ExprKind::Cast(Box::new(value)), ty: ty.clone(), loc }
    }

    pub(super) fn coerce(&mut self, val: Val, ty: &Ty, span: Span) -> Option<ir::Expr> {
        match val {
            Val::Typed(value) if converts(&value.ty, ty) => match self.reference_in(&value) {
                Some(local) => self.copied_reference(local, span),
                None => Some(self.cast(value, ty)),
            },
            Val::Typed(value) => self.other_type(&value.ty, ty, span),
            Val::Int(value) => self.literal(value, ty, span),
            Val::None if ty.has_none() => Some(self.make(ExprKind::Lit(0), ty.clone(), span)),
            Val::None => {
                let name = self.name(ty);
                self.report(
                    Diagnostic::error(codes::NONE_TYPE, format!("`{name}` is never `none`"), span, "here")
                        .note("`none` is a value of addr_t, token_t and handle_t")
                        .mend("use a value of the type"),
                )
            }
        }
    }

    fn literal(&mut self, value: i128, ty: &Ty, span: Span) -> Option<ir::Expr> {
        if value == 0 && *ty == Ty::Id(ir::ADDRESS_ID) && *ty == self.cx.program.address_ty() {
            let halves = [(); 2].map(|()| self.make(ExprKind::Lit(0), Ty::U64, span));
            return Some(self.make(ExprKind::MakeId(ir::ADDRESS_ID, halves.into()), ty.clone(), span));
        }
        let takes = is_int(ty)
            || matches!(ty, Ty::Seq32 | Ty::Bytes | Ty::Fixed)
            || (value == 0 && matches!(ty, Ty::Duration | Ty::Time | Ty::Rate));
        if !takes {
            return self.other_than_number(value, ty, span);
        }
        // Whole numbers of a fixed-point type stand before the point.
        let (value, written) = if *ty == Ty::Fixed { (value << 32, value) } else { (value, value) };
        if !fits(ty, value) {
            let name = self.name(ty);
            return self.report(
                Diagnostic::error(
                    codes::LITERAL_RANGE,
                    format!("{written} does not fit into `{name}`"),
                    span,
                    "too large or too small",
                )
                .mend("use a wider type or another number"),
            );
        }
        Some(self.make(ExprKind::Lit(value as u64), ty.clone(), span))
    }

    pub(super) fn val(&mut self, e: &ast::Expr, want: Option<&Ty>) -> Option<Val> {
        use ast::ExprKind as E;
        match &e.kind {
            E::Int { value, .. } => Some(Val::Int(i128::from(*value))),
            E::Unit { value, unit, .. } => self.unit(*value, unit, e.span),
            E::Bool(b) => Some(Val::Typed(self.make(ExprKind::Lit(u64::from(*b)), Ty::Bool, e.span))),
            E::None => Some(Val::None),
            E::Inf => Some(Val::Typed(self.make(ExprKind::Lit(u64::MAX), Ty::Bytes, e.span))),
            E::Paren(inner) => self.val(inner, want),
            E::Name(_) | E::Field(..) | E::Index(..) => self.name_or_place(e),
            E::Call(callee, args) => self.call_value(callee, args, e.span, want),
            E::Unary(op, operand) => self.unary(*op, operand, e.span, want),
            E::Binary(op @ (BinOp::And | BinOp::Or), a, b) => self.logical(*op, a, b, e.span),
            E::Binary(op, a, b) => self.binary(*op, a, b, e.span),
            E::Cond(c, a, b) => self.cond(c, a, b, e.span, want),
            E::Record(_) => self.record_value(e, want),
            E::Error => None,
        }
    }

    /// A literal with a unit.
    fn unit(&mut self, value: u64, unit: &str, span: Span) -> Option<Val> {
        let (factor, ty): (u64, Ty) = match unit {
            "ns" => (1, Ty::Duration),
            "us" => (1_000, Ty::Duration),
            "ms" => (1_000_000, Ty::Duration),
            "s" => (1_000_000_000, Ty::Duration),
            "min" => (60_000_000_000, Ty::Duration),
            "h" => (3_600_000_000_000, Ty::Duration),
            "KB" => (1_000, Ty::Bytes),
            "MB" => (1_000_000, Ty::Bytes),
            "GB" => (1_000_000_000, Ty::Bytes),
            "KiB" => (1 << 10, Ty::Bytes),
            "MiB" => (1 << 20, Ty::Bytes),
            "GiB" => (1 << 30, Ty::Bytes),
            "bps" => (1, Ty::Rate),
            "Kbps" => (1_000, Ty::Rate),
            "Mbps" => (1_000_000, Ty::Rate),
            "Gbps" => (1_000_000_000, Ty::Rate),
            _ => (1, Ty::Bytes),
        };
        let product = i128::from(value) * i128::from(factor);
        if !fits(&ty, product) {
            return self.report(
                Diagnostic::error(
                    codes::UNIT_RANGE,
                    format!("{value}{unit} is too large"),
                    span,
                    "does not fit 64 bits",
                )
                .mend("use a smaller number"),
            );
        }
        Some(Val::Typed(self.make(ExprKind::Lit(product as u64), ty, span)))
    }

    fn name_or_place(&mut self, e: &ast::Expr) -> Option<Val> {
        if let ast::ExprKind::Name(name) = &e.kind
            && let Some(value) = self.global(name, e.span)
        {
            return Some(Val::Typed(value));
        }
        if let Some(found) = self.scoped_name(e) {
            return found.map(Val::Typed);
        }
        if let Some(found) = self.constant_element(e) {
            return found.map(Val::Typed);
        }
        let place = match self.node(e)? {
            Node::Elements(elements) => return Some(Val::Typed(self.elements_value(elements, e.span))),
            node => self.readable(node, e)?,
        };
        let ty = place.ty.clone();
        Some(Val::Typed(self.make(ExprKind::Load(place), ty, e.span)))
    }

    /// The event, context or scratchpad of the chain, if the value is that as a whole.
    fn reference_in(&self, value: &ir::Expr) -> Option<ir::LocalId> {
        let ExprKind::Load(place) = &value.kind else { return None };
        let whole = place.path.is_empty() && value.ty.is_by_ref() && self.is_parameter(place.root);
        whole.then_some(place.root)
    }

    fn copied_reference<T>(&mut self, local: ir::LocalId, span: Span) -> Option<T> {
        let local = &self.locals[local.index()];
        let (name, ty) = (local.name.clone(), self.name(&local.ty));
        self.report(
            Diagnostic::error(
                codes::COPY_OF_REFERENCE,
                format!("the `{ty}` of this chain has no value as a whole"),
                span,
                "passed by reference",
            )
            .mend(format!("use its fields, or a record of them: `{{ ..{name} }}`")),
        )
    }

    /// A constant, parameter, enum value or status.
    fn global(&mut self, name: &str, span: Span) -> Option<ir::Expr> {
        if self.find(name).is_some() {
            return None;
        }
        let (kind, ty) = match self.cx.env.get(name) {
            Some(Def::Const(id)) => {
                let (ty, _) = self.cx.const_value(id)?;
                (ExprKind::Const(id), ty)
            }
            Some(Def::Param(id)) => (ExprKind::Param(id), self.cx.program.params.get(id.index())?.ty.clone()),
            Some(Def::Variant(id, which)) => {
                let value = self.cx.program.enums.get(id.index())?.variants.get(which as usize)?.1;
                (ExprKind::Lit(value), Ty::Enum(id))
            }
            Some(_) => return None,
            None if name == "ROUTE" && self.cx.has_role() => (ExprKind::Lit(ir::ROUTE), Ty::U8),
            None => {
                let status = ir::STATUS_NAMES.iter().position(|s| *s == name)?;
                (ExprKind::Lit(status as u64), Ty::Status)
            }
        };
        self.cx.usage.mark(name);
        Some(self.make(kind, ty, span))
    }

    /// `ARRAY[i]` of a constant array; `None` if `e` is none.
    fn constant_element(&mut self, e: &ast::Expr) -> Option<Option<ir::Expr>> {
        let ast::ExprKind::Index(base, index) = &e.kind else { return None };
        let ast::ExprKind::Name(name) = &base.kind else { return None };
        let Some(Def::ConstArray(id)) = self.cx.env.get(name).filter(|_| self.find(name).is_none()) else {
            return None;
        };
        self.cx.usage.mark(name);
        let Some(def) = self.cx.program.arrays.get(id.index()) else {
            let what = format!("`{name}` is not known here");
            let diagnostic = Diagnostic::error(codes::NOT_CONSTANT, what, e.span, "an element of it");
            let note = "constant arrays have their values after constants, in the order of the file";
            return Some(self.report(diagnostic.note(note).mend("write the value")));
        };
        let (ty, len) = (def.ty.clone(), def.values.len() as u32);
        if len == 0 {
            return Some(None); // it is wrong itself
        }
        let at = self.index_value(index, len);
        Some(at.map(|at| self.make(ExprKind::Element(id, Box::new(at)), ty, e.span)))
    }

    /// What only declarations know: fields of the header, of the packet before, of the call. `None` if `e` is none
    /// of these; `Some(None)` if it is a wrong one, which has been reported.
    fn scoped_name(&mut self, e: &ast::Expr) -> Option<Option<ir::Expr>> {
        match (self.scope, &e.kind) {
            (Scope::Header(bp), ast::ExprKind::Name(name)) => Some(match name.as_str() {
                "header_len" => Some(self.make(ExprKind::HeaderLen, Ty::Bytes, e.span)),
                "payload_len" => Some(self.make(ExprKind::PayloadLen, Ty::Bytes, e.span)),
                _ => self.bp_field(bp, name, e.span, ExprKind::BpField),
            }),
            (Scope::Call(event), ast::ExprKind::Name(name)) => {
                let fields = self.cx.program.events[event.index()].fields.clone();
                match fields.iter().position(|f| f.name == *name) {
                    Some(at) => {
                        Some(Some(self.make(ExprKind::CallArg(at as u32), fields[at].ty.clone(), e.span)))
                    }
                    None => Some(self.unknown_field(name, e.span, fields.iter().map(|f| f.name.as_str()))),
                }
            }
            (Scope::SegRule(bp) | Scope::Coalescing(bp), ast::ExprKind::Field(base, field)) => {
                self.rule_name(bp, base, field, e.span).or_else(|| self.header_element(bp, e))
            }
            (Scope::Header(bp) | Scope::SegRule(bp) | Scope::Coalescing(bp), _) => self.header_element(bp, e),
            _ => None,
        }
    }

    fn rule_name(
        &mut self,
        bp: ir::BpId,
        base: &ast::Expr,
        field: &ast::Ident,
        span: Span,
    ) -> Option<Option<ir::Expr>> {
        match &base.kind {
            ast::ExprKind::Name(n) if n == "bp" => {
                Some(self.bp_field(bp, &field.name, span, ExprKind::BpField))
            }
            ast::ExprKind::Name(n) if n == "prev" => {
                Some(self.bp_field(bp, &field.name, span, ExprKind::PrevField))
            }
            ast::ExprKind::Field(inner, middle) => {
                let of = if let ast::ExprKind::Name(n) = &inner.kind { n.as_str() } else { "" };
                let payload =
                    self.cx.program.blueprints[bp.index()].payload_name.as_deref() == Some(&middle.name);
                let len = field.name == "len";
                let kind = match of {
                    "prev" => ExprKind::PrevPayloadLen,
                    "bp" if matches!(self.scope, Scope::Coalescing(_)) => ExprKind::PayloadLen,
                    _ => return None,
                };
                (payload && len).then(|| Some(self.make(kind, Ty::Bytes, span)))
            }
            _ => None,
        }
    }

    fn bp_field(
        &mut self,
        bp: ir::BpId,
        name: &str,
        span: Span,
        make: fn(u32) -> ExprKind,
    ) -> Option<ir::Expr> {
        let at = self.cx.single_field(bp, &ast::Ident { name: name.to_owned(), span })?;
        let ty = self.cx.program.blueprints[bp.index()].fields[at as usize].ty.clone();
        Some(self.make(make(at), ty, span))
    }

    fn unary(&mut self, op: UnOp, operand: &ast::Expr, span: Span, want: Option<&Ty>) -> Option<Val> {
        if op == UnOp::Not {
            let value = self.condition(operand)?;
            let kind = ExprKind::Unary(ir::UnOp::Not, Box::new(value));
            return Some(Val::Typed(self.make(kind, Ty::Bool, span)));
        }
        let val = self.val(operand, want)?;
        if let (UnOp::Neg, Val::Int(value)) = (op, &val) {
            return Some(Val::Int(-value));
        }
        let value = match (val, want) {
            (Val::Int(v), Some(ty)) if is_int(ty) => self.literal(v, ty, operand.span)?,
            (val, _) => self.with_own_type(val, operand.span)?,
        };
        let possible = is_int(&value.ty) || (op == UnOp::Neg && matches!(value.ty, Ty::Duration | Ty::Fixed));
        if !possible {
            let found = self.name(&value.ty);
            return self.report(
                Diagnostic::error(
                    codes::NO_OPERATION,
                    format!("`{found}` does not have this operator"),
                    span,
                    "here",
                )
                .mend("`-` is for integers, durations and fixed, `~` for integers"),
            );
        }
        let ty = value.ty.clone();
        let op = if op == UnOp::Neg { ir::UnOp::Neg } else { ir::UnOp::BitNot };
        Some(Val::Typed(self.make(ExprKind::Unary(op, Box::new(value)), ty, span)))
    }

    /// `&&` and `||`: the right side is evaluated only if it decides.
    fn logical(&mut self, op: BinOp, a: &ast::Expr, b: &ast::Expr, span: Span) -> Option<Val> {
        self.advise_same(op, a, b, span);
        let left = self.condition(a);
        let known = self.known_by(a);
        let known = if op == BinOp::And { known.holds } else { known.fails };
        let before = std::mem::take(&mut self.out);
        let right = self.where_present(known, |body| body.condition(b));
        let hoisted = std::mem::replace(&mut self.out, before);
        let (left, right) = (left?, right?);
        self.advise_one_side(op, &left, &right, span);
        if hoisted.is_empty() {
            let op = if op == BinOp::And { ir::BinOp::LogicalAnd } else { ir::BinOp::LogicalOr };
            let kind = ExprKind::Binary(op, Box::new(left), Box::new(right));
            return Some(Val::Typed(self.make(kind, Ty::Bool, span)));
        }
        let result = self.temporary(Ty::Bool);
        self.emit(StmtKind::Let { local: result, init: Some(left) });
        let known = self.load(result, span);
        let decides = if op == BinOp::And {
            known
        } else {
            self.make(ExprKind::Unary(ir::UnOp::Not, Box::new(known)), Ty::Bool, span)
        };
        let then = self.assigned(hoisted, result, right);
        self.emit(StmtKind::If { cond: decides, then, otherwise: ir::Block::default() });
        Some(Val::Typed(self.load(result, span)))
    }

    /// The statements, then the value kept in the local.
    fn assigned(&self, mut stmts: Vec<ir::Stmt>, local: ir::LocalId, value: ir::Expr) -> ir::Block {
        let place = self.local_place(local);
        stmts.push(ir::Stmt { kind: StmtKind::Assign { place, value }, loc: self.at });
        ir::Block { stmts }
    }

    fn cond(
        &mut self,
        c: &ast::Expr,
        a: &ast::Expr,
        b: &ast::Expr,
        span: Span,
        want: Option<&Ty>,
    ) -> Option<Val> {
        let known = self.known_by(c);
        let cond = self.condition(c);
        let before = std::mem::take(&mut self.out);
        let then = self.where_present(known.holds, |body| body.val(a, want));
        let then_stmts = std::mem::take(&mut self.out);
        let otherwise = self.where_present(known.fails, |body| body.val(b, want));
        let else_stmts = std::mem::replace(&mut self.out, before);
        let (cond, then, otherwise) = (cond?, then?, otherwise?);
        let ty = match (&then, &otherwise, want) {
            (Val::Typed(x), Val::Typed(y), _) => {
                if converts(&x.ty, &y.ty) {
                    y.ty.clone()
                } else {
                    x.ty.clone()
                }
            }
            // A branch is wrong where it is not what the whole is used for, not where it differs from the other.
            (Val::Typed(x), _, Some(ty)) | (_, Val::Typed(x), Some(ty)) if !converts(&x.ty, ty) => ty.clone(),
            (Val::Typed(x), _, _) | (_, Val::Typed(x), _) => x.ty.clone(),
            (_, _, Some(ty)) => ty.clone(),
            (Val::None, ..) | (_, Val::None, _) => return self.none_without_type(span),
            (Val::Int(x), Val::Int(y), None) => {
                if fits(&Ty::U32, *x.max(y)) {
                    Ty::U32
                } else {
                    Ty::U64
                }
            }
        };
        let then = self.coerce(then, &ty, a.span)?;
        let otherwise = self.coerce(otherwise, &ty, b.span)?;
        if then_stmts.is_empty() && else_stmts.is_empty() {
            let kind = ExprKind::Cond(Box::new(cond), Box::new(then), Box::new(otherwise));
            return Some(Val::Typed(self.make(kind, ty, span)));
        }
        let result = self.temporary(ty);
        self.emit(StmtKind::Let { local: result, init: None });
        let then = self.assigned(then_stmts, result, then);
        let otherwise = self.assigned(else_stmts, result, otherwise);
        self.emit(StmtKind::If { cond, then, otherwise });
        Some(Val::Typed(self.load(result, span)))
    }

    /// The arguments in order, each of its type; those evaluated before an effect of a later one are kept.
    pub(super) fn arguments(&mut self, args: &[(&ast::Expr, Option<Ty>)]) -> Option<Vec<ir::Expr>> {
        let mut values: Vec<Option<ir::Expr>> = Vec::new();
        for (e, ty) in args {
            let mark = self.out.len();
            let value = match ty {
                Some(ty) => self.value_of_type(e, ty),
                None => self.typed(e),
            };
            if self.out.len() > mark {
                for earlier in &mut values {
                    let kept = self.out.len();
                    if let Some(v) = earlier.take() {
                        let at = mark + (self.out.len() - kept);
                        *earlier = Some(self.spill(v, at, e.span));
                    }
                }
            }
            values.push(value);
        }
        values.into_iter().collect()
    }
}
