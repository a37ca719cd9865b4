// SPDX-License-Identifier: MIT OR Apache-2.0
//! Expressions and places.

use carrick_ir::{
    ArrayId, BinOp, Builtin, Expr, ExprKind, Function, Loc, LocalId, Place, Proj, Query, Ty, UnOp,
};

use super::emitter::{Emitted, Emitter, Input, unsupported};
use super::names::variable;
use super::shape::{PartTy, parts, scalar};

/// A product of two numbers that are not negative, by digits of the first.
const PRODUCT: &str = include_str!("product.x");

/// Where an expression is: the locals that it names, and the statement.
#[derive(Clone, Copy)]
pub struct Scope<'f> {
    pub function: Option<&'f Function>,
    pub names: &'f [String],
    pub loc: Loc,
    /// the chain has issued an instruction before this, perhaps
    pub issued: bool,
}

impl<'f> Scope<'f> {
    /// Outside functions: initial values.
    pub const OUTSIDE: Scope<'static> =
        Scope { function: None, names: &[], loc: Loc { file: 0, line: 0, col: 0 }, issued: false };

    /// The variable of a local.
    pub fn name(&self, local: LocalId) -> &'f str {
        self.names.get(local.index()).map_or("", String::as_str)
    }

    fn at(&self, e: &Expr) -> Loc {
        if e.loc.line > 0 { e.loc } else { self.loc }
    }

    fn ty(&self, local: LocalId) -> Option<&'f Ty> {
        Some(&self.function?.locals.get(local.index())?.ty)
    }
}

impl Emitter<'_> {
    pub fn expr(&mut self, e: &Expr, scope: Scope<'_>) -> Emitted<String> {
        Ok(match &e.kind {
            ExprKind::Lit(value) => self.literal(&e.ty, *value),
            ExprKind::Const(id) => {
                let value = self.program.consts[id.index()].value;
                self.literal(&e.ty, value)
            }
            ExprKind::Element(id, at) => self.constant_element(*id, at, scope)?,
            ExprKind::Param(id) => {
                self.inputs.insert(Input::Param(*id));
                format!("(env.param_{} as {})", self.program.params[id.index()].name, self.ty(&e.ty))
            }
            ExprKind::Load(place) => self.load(place, scope)?,
            ExprKind::Unary(op, x) => self.unary(*op, x, scope)?,
            ExprKind::Binary(op, a, b) => self.binary(*op, e, [a, b], scope)?,
            ExprKind::Cast(x) => {
                let value = self.expr(x, scope)?;
                self.cast(&x.ty, &e.ty, value)
            }
            ExprKind::Cond(cond, yes, no) => {
                let (cond, yes, no) =
                    (self.expr(cond, scope)?, self.expr(yes, scope)?, self.expr(no, scope)?);
                format!("(if {cond} {{ {yes} }} else {{ {no} }})")
            }
            ExprKind::MakeId(id, args) => {
                let ty = self.ty(&Ty::Id(*id));
                let mut fields = Vec::new();
                for (part, arg) in self.program.ids[id.index()].parts.iter().zip(args) {
                    fields.push(format!("{}: {}", variable(&part.name), self.expr(arg, scope)?));
                }
                format!("{ty} {{ {} }}", fields.join(", "))
            }
            ExprKind::Builtin(which, args) => self.builtin(*which, args, scope, scope.at(e))?,
            _ => self.query(e, scope)?,
        })
    }

    fn list_query(
        &mut self,
        (query, e): (Query, &Expr),
        list: &Place,
        args: &[Expr],
        scope: Scope<'_>,
    ) -> Emitted<String> {
        Ok(match (query, args) {
            (Query::ListLen, _) => {
                let list = self.load(list, scope)?;
                let len = format!("{list}.len");
                self.cast(&Ty::U32, &e.ty, len)
            }
            (Query::ListFull, _) => {
                let Ty::List(_, most, _) = list.ty else {
                    return unsupported("a list without a length", scope.at(e));
                };
                format!("({}.len == u32:{most})", self.load(list, scope)?)
            }
            (Query::ListFind, [key]) => {
                let find = self.rank(&list.ty, false)?;
                let (list, key) = (self.load(list, scope)?, self.expr(key, scope)?);
                self.cast(&Ty::U32, &e.ty, format!("{find}({list}, {key})"))
            }
            _ => return unsupported("a sliding window", scope.at(e)),
        })
    }

    /// What is asked of lists, contexts and blueprints.
    fn query(&mut self, e: &Expr, scope: Scope<'_>) -> Emitted<String> {
        let space = |input: Input, name: &str, this: &mut Self| {
            if scope.issued {
                return unsupported(
                    "the space of a unit of data after an instruction of the same chain",
                    scope.at(e),
                );
            }
            this.inputs.insert(input);
            Ok(format!("env.{name}"))
        };
        Ok(match &e.kind {
            ExprKind::Query(query, list, args) => self.list_query((*query, e), list, args, scope)?,
            ExprKind::Handle(_) => {
                self.inputs.insert(Input::Handle);
                "env.handle".into()
            }
            ExprKind::TxRoom(_) => space(Input::TxRoom, "tx_room", self)?,
            ExprKind::RxSize(_) => space(Input::RxSize, "rx_size", self)?,
            ExprKind::OptPresent(bp, opt) => {
                format!("{}.{}", scope.name(*bp), variable(&self.program.opts[opt.index()].name))
            }
            ExprKind::TimerArmed(..) => return unsupported("whether a timer runs", scope.at(e)),
            ExprKind::BpField(n) if self.reading.is_some() => {
                let fields = self.reading.map(|bp| &self.program.blueprints[bp.index()].fields);
                let field = fields.and_then(|fields| fields.get(*n as usize));
                format!("bp.{}", field.map_or_else(String::new, |field| variable(&field.name)))
            }
            ExprKind::HeaderLen if self.reading.is_some() => "header_len".into(),
            ExprKind::PayloadLen if self.reading.is_some() => "payload_len".into(),
            _ => return unsupported("an expression of parsers and headers", scope.at(e)),
        })
    }

    /// A conversion: keeps the bits, or asks whether there are any.
    pub fn cast(&mut self, from: &Ty, to: &Ty, value: String) -> String {
        let (source, dest) = (self.ty(from), self.ty(to));
        if *to == Ty::Bool && *from != Ty::Bool {
            return format!("({value} != {source}:0)");
        }
        if source == dest { value } else { format!("({value} as {dest})") }
    }

    fn unary(&mut self, op: UnOp, x: &Expr, scope: Scope<'_>) -> Emitted<String> {
        let value = self.expr(x, scope)?;
        Ok(match op {
            UnOp::Neg => format!("(-{value})"),
            UnOp::Not | UnOp::BitNot => format!("!{value}"),
        })
    }

    fn binary(&mut self, op: BinOp, e: &Expr, [a, b]: [&Expr; 2], scope: Scope<'_>) -> Emitted<String> {
        let loc = scope.at(e);
        if matches!(op, BinOp::Div | BinOp::Rem) {
            return self.divide(op, e, [a, b], scope);
        }
        if let (BinOp::Mul, Some(product)) = (op, self.multiply_by_power(e, [a, b], scope)?) {
            return Ok(product);
        }
        let (left, right) = (self.expr(a, scope)?, self.expr(b, scope)?);
        let sign = match op {
            BinOp::Add => "+",
            BinOp::Sub => "-",
            BinOp::Mul => "*",
            BinOp::And => "&",
            BinOp::Or => "|",
            BinOp::Xor => "^",
            BinOp::LogicalAnd => "&&",
            BinOp::LogicalOr => "||",
            BinOp::Shl | BinOp::Shr => {
                let sign = if op == BinOp::Shl { "<<" } else { ">>" };
                // Shifts by a negative count are shifts by many.
                let right = self.cast(&b.ty, &Ty::U64, right);
                return Ok(self.cast(&a.ty, &e.ty, format!("({left} {sign} {right})")));
            }
            BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge => {
                let right = self.cast(&b.ty, &a.ty, right);
                return Ok(self.compare(op, &a.ty, &left, &right));
            }
            _ => return unsupported("arithmetic of rates and fractions, which needs 128 bits", loc),
        };
        let left = self.cast(&a.ty, &e.ty, left);
        let right = self.cast(&b.ty, &e.ty, right);
        if op == BinOp::Mul && [a, b].iter().all(|x| self.constant(x).is_none()) {
            return Ok(self.product(&e.ty, &left, &right));
        }
        Ok(format!("({left} {sign} {right})"))
    }

    /// A product. What may be negative is multiplied in one step: none of its digits is always 0.
    fn product(&mut self, ty: &Ty, a: &str, b: &str) -> String {
        if scalar(self.program, ty).1 {
            return format!("({a} * {b})");
        }
        self.helper("product", || PRODUCT.into());
        format!("product({a}, {b})")
    }

    fn compare(&mut self, op: BinOp, ty: &Ty, a: &str, b: &str) -> String {
        match op {
            BinOp::Eq => format!("({a} == {b})"),
            BinOp::Ne => format!("({a} != {b})"),
            BinOp::Lt => self.less(ty, a, b),
            BinOp::Gt => self.less(ty, b, a),
            BinOp::Le => format!("!{}", self.less(ty, b, a)),
            _ => format!("!{}", self.less(ty, a, b)),
        }
    }

    /// A division by a power of two: a shift that rounds toward zero.
    fn divide(&mut self, op: BinOp, e: &Expr, [a, b]: [&Expr; 2], scope: Scope<'_>) -> Emitted<String> {
        let by = self.constant(b).filter(|by| by.is_power_of_two());
        let (left, (_, signed)) = (self.expr(a, scope)?, scalar(self.program, &a.ty));
        let Some(by) = by.filter(|by| !signed || *by <= i64::MAX as u64) else {
            return unsupported("a division by something other than a constant power of two", scope.at(e));
        };
        let (shift, ty) = (by.trailing_zeros(), self.ty(&a.ty));
        let up = format!("(if {left} < {ty}:0 {{ {left} + {ty}:{} }} else {{ {left} }})", by - 1);
        let quotient = match signed {
            true => format!("({up} >> u32:{shift})"),
            false => format!("({left} >> u32:{shift})"),
        };
        let result = match op {
            BinOp::Div => quotient,
            _ => format!("({left} - ({quotient} << u32:{shift}))"),
        };
        Ok(self.cast(&a.ty, &e.ty, result))
    }

    /// A multiplication by `1 << count` as a shift, which is shorter than a multiplier; of other products nothing.
    fn multiply_by_power(
        &mut self,
        e: &Expr,
        [a, b]: [&Expr; 2],
        scope: Scope<'_>,
    ) -> Emitted<Option<String>> {
        let (x, (count, bits)) = match (self.power(a), self.power(b)) {
            (_, Some(power)) => (a, power),
            (Some(power), _) => (b, power),
            _ => return Ok(None),
        };
        let (value, times) = (self.expr(x, scope)?, self.expr(count, scope)?);
        let (value, times) = (self.cast(&x.ty, &e.ty, value), self.cast(&count.ty, &Ty::U64, times));
        if bits >= scalar(self.program, &e.ty).0 {
            return Ok(Some(format!("({value} << {times})")));
        }
        let zero = self.literal(&e.ty, 0);
        Ok(Some(format!("(if {times} < u64:{bits} {{ {value} << {times} }} else {{ {zero} }})")))
    }

    /// The count of `1 << count`, and the bits beyond which that is 0. A cast to a wider type changes neither.
    fn power<'e>(&self, e: &'e Expr) -> Option<(&'e Expr, u32)> {
        let ((bits, _), shape) = (scalar(self.program, &e.ty), |x: &Expr| scalar(self.program, &x.ty));
        match &e.kind {
            ExprKind::Binary(BinOp::Shl, one, count) if self.constant(one) == Some(1) && one.ty == e.ty => {
                Some((count, bits))
            }
            ExprKind::Cast(x) if shape(x).0 <= bits && !shape(x).1 => self.power(x),
            _ => None,
        }
    }

    fn constant(&self, e: &Expr) -> Option<u64> {
        match &e.kind {
            ExprKind::Lit(value) => Some(*value),
            ExprKind::Const(id) => Some(self.program.consts[id.index()].value),
            ExprKind::Cast(x) => self.constant(x),
            _ => None,
        }
    }

    fn builtin(&mut self, which: Builtin, args: &[Expr], scope: Scope<'_>, loc: Loc) -> Emitted<String> {
        let mut values = Vec::new();
        for arg in args {
            values.push(self.expr(arg, scope)?);
        }
        let mut input = |input: Input, name: &str| {
            self.inputs.insert(input);
            Ok(format!("env.{name}"))
        };
        match (which, values.as_slice()) {
            (Builtin::Now, _) => input(Input::Now, "now"),
            (Builtin::Mtu, _) => input(Input::Mtu, "mtu"),
            (Builtin::LocalIp, _) => input(Input::LocalIp, "local_ip"),
            (Builtin::Min | Builtin::SeqMin, [a, b]) => {
                let less = self.less(&args[0].ty, b, a);
                Ok(format!("(if {less} {{ {b} }} else {{ {a} }})"))
            }
            (Builtin::Max | Builtin::SeqMax, [a, b]) => {
                let less = self.less(&args[0].ty, a, b);
                Ok(format!("(if {less} {{ {b} }} else {{ {a} }})"))
            }
            (Builtin::Abs, [a]) => match scalar(self.program, &args[0].ty) {
                (_, true) => {
                    let zero = self.literal(&args[0].ty, 0);
                    Ok(format!("(if {a} < {zero} {{ -{a} }} else {{ {a} }})"))
                }
                _ => Ok(a.clone()),
            },
            (Builtin::AddrIsNone, [a]) => Ok(format!("({a}.region == u64:0)")),
            (Builtin::AddrSkip, [a, by]) => {
                self.ty(&Ty::Addr);
                self.helper("skip", || {
                    "fn skip(a: Addr, by: u64) -> Addr {\n    \
                     let by = if by < a.bytes { by } else { a.bytes };\n    \
                     Addr { offset: a.offset + by, bytes: a.bytes - by, ..a }\n}\n"
                        .into()
                });
                Ok(format!("skip({a}, {by})"))
            }
            _ => unsupported(format!("`{}`", which.name()), loc),
        }
    }

    /// The name of a part of a value.
    fn part(&mut self, ty: &Ty, proj: &Proj, scope: Scope<'_>) -> Emitted<(String, Ty)> {
        let program = self.program;
        let all = parts(program, ty).unwrap_or_default();
        let nth = |n: usize| {
            let part = all.get(n).filter(|part| matches!(part.ty, PartTy::Is(_)));
            part.map(|part| (variable(&part.name), part))
        };
        let named = |name: &str| all.iter().position(|part| part.name == name);
        let first = match (ty, proj) {
            (Ty::Event(id), Proj::Field(n)) => {
                1 + usize::from(program.events[id.index()].id.is_some()) + *n as usize
            }
            (Ty::Context(_), Proj::Field(n)) => 2 + *n as usize,
            (Ty::Blueprint(_), Proj::Field(n)) => program.net_header.fields.len() + *n as usize,
            (Ty::Blueprint(_) | Ty::NetHeader, Proj::Net(n)) | (_, Proj::Field(n)) => *n as usize,
            (Ty::Context(_), Proj::CtxId) => 1,
            (Ty::Event(_), Proj::Token) => 0,
            (Ty::Event(_), Proj::FlowId) => 1,
            (Ty::Blueprint(_), Proj::OptField(opt, n)) => {
                named(&program.opts[opt.index()].name).unwrap_or(usize::MAX - 64) + 1 + *n as usize
            }
            (Ty::Blueprint(_), Proj::PayloadLen) => return Ok(("payload_.len".into(), Ty::Bytes)),
            (Ty::Blueprint(_), Proj::PayloadAddr) => return Ok(("payload_.addr".into(), Ty::Addr)),
            _ => return unsupported("a part of the received packet", scope.loc),
        };
        match nth(first) {
            Some((name, part)) => match &part.ty {
                PartTy::Is(ty) => Ok((name, ty.clone())),
                _ => unsupported("a part without bits", scope.loc),
            },
            None => unsupported("the token of an event that no application caused", scope.loc),
        }
    }

    /// The value at a place.
    pub fn load(&mut self, place: &Place, scope: Scope<'_>) -> Emitted<String> {
        let mut text = scope.name(place.root).to_owned();
        let Some(mut ty) = scope.ty(place.root).cloned() else {
            return unsupported("a name without a value", scope.loc);
        };
        for proj in &place.path {
            match (proj, &ty) {
                (Proj::Index(at), Ty::Array(of, n)) => {
                    let at = self.index(at, scope)?;
                    let zero = self.zero(of);
                    text = format!("(if {at} < u64:{n} {{ {text}[{at}] }} else {{ {zero} }})");
                    ty = (**of).clone();
                }
                (Proj::Elem(at), Ty::List(of, _, _)) => {
                    let (at, element) = (self.index(at, scope)?, self.element(&ty)?);
                    text = format!("{element}({text}, {at})");
                    ty = (**of).clone();
                }
                _ => {
                    let (name, of) = self.part(&ty, proj, scope)?;
                    text = format!("{text}.{name}");
                    ty = of;
                }
            }
        }
        Ok(text)
    }

    /// An element of a constant array, by a function that has the array.
    fn constant_element(&mut self, id: ArrayId, at: &Expr, scope: Scope<'_>) -> Emitted<String> {
        let def = &self.program.arrays[id.index()];
        let (function, n) = (format!("{}_at", variable(&def.name)), def.values.len());
        let values: Vec<String> = def.values.iter().map(|value| self.literal(&def.ty, *value)).collect();
        let (ty, zero) = (self.ty(&def.ty), self.zero(&def.ty));
        self.helper(&function, || {
            format!(
                "fn {function}(at: u64) -> {ty} {{\n    let values = {ty}[{n}]:[{}];\n    \
                 if at < u64:{n} {{ values[at] }} else {{ {zero} }}\n}}\n",
                values.join(", ")
            )
        });
        Ok(format!("{function}({})", self.expr(at, scope)?))
    }

    fn index(&mut self, at: &Expr, scope: Scope<'_>) -> Emitted<String> {
        let value = self.expr(at, scope)?;
        Ok(self.cast(&at.ty, &Ty::U64, value))
    }

    /// The root of a place with another value at the place.
    pub fn stored(&mut self, place: &Place, value: String, scope: Scope<'_>) -> Emitted<String> {
        let Some(ty) = scope.ty(place.root).cloned() else {
            return unsupported("a name without a value", scope.loc);
        };
        self.with(&ty, scope.name(place.root).to_owned(), &place.path, value, scope)
    }

    fn with(
        &mut self,
        ty: &Ty,
        base: String,
        path: &[Proj],
        value: String,
        scope: Scope<'_>,
    ) -> Emitted<String> {
        let Some((first, rest)) = path.split_first() else { return Ok(value) };
        match (first, ty) {
            (Proj::Index(at), Ty::Array(of, n)) => {
                let at = self.index(at, scope)?;
                let inner = self.with(of, format!("{base}[{at}]"), rest, value, scope)?;
                Ok(format!("(if {at} < u64:{n} {{ update({base}, {at}, {inner}) }} else {{ {base} }})"))
            }
            (Proj::Elem(at), Ty::List(of, _, _)) => {
                let (at, name) = (self.index(at, scope)?, self.ty(ty));
                let inner = self.with(of, format!("{base}.items[{at}]"), rest, value, scope)?;
                Ok(format!(
                    "(if {at} < ({base}.len as u64) {{ {name} {{ items: update({base}.items, {at}, {inner}), ..{base} }} }} \
                     else {{ {base} }})"
                ))
            }
            _ => {
                let (field, of) = self.part(ty, first, scope)?;
                let inner = self.with(&of, format!("{base}.{field}"), rest, value, scope)?;
                Ok(format!("{} {{ {field}: {inner}, ..{base} }}", self.ty(ty)))
            }
        }
    }
}
