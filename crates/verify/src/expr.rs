// SPDX-License-Identifier: MIT OR Apache-2.0
//! The values of expressions.

use carrick_ir::{BinOp, Builtin, Expr, ExprKind, LocalId, Place, Query, TimerId, Ty};
use carrick_solve::Term;

use crate::arith::{self, Of};
use crate::layout;
use crate::machine::{Frame, Machine, unsupported};
use crate::path::End;
use crate::site::{Doing, Kind};
use crate::value::{self, Value};

/// Whether a function orders serial numbers.
pub(crate) fn compares_serials(function: Builtin, args: &[Expr]) -> bool {
    matches!(function, Builtin::SeqMin | Builtin::SeqMax) && !args.is_empty()
}

impl<'p> Machine<'p> {
    pub(crate) fn width(&self, ty: &Ty) -> u8 {
        layout::shape(self.program, ty).0
    }

    pub(crate) fn eval(&mut self, e: &'p Expr, frame: &mut Frame) -> Result<Value, End> {
        let program = self.program;
        let width = self.width(&e.ty);
        let term = match &e.kind {
            ExprKind::Lit(_) if e.ty == Ty::Addr => return Ok(self.zero(&Ty::Addr)),
            ExprKind::Lit(number) => self.number((*number).into(), width),
            ExprKind::Const(id) => self.number(program.consts[id.index()].value.into(), width),
            ExprKind::Param(id) => self.params[id.index()],
            ExprKind::Element(array, at) => {
                let at = self.scalar(at, frame)?;
                self.element(&program.arrays[array.index()].values, at, width)
            }
            ExprKind::Load(place) => return self.load(place, frame),
            ExprKind::Unary(op, a) => {
                let a = self.scalar(a, frame)?;
                arith::unary(&mut self.path.terms, *op, a)
            }
            ExprKind::Binary(op, a, b) => return self.binary(*op, e, a, b, frame),
            ExprKind::Cast(a) => {
                let signed = layout::shape(program, &a.ty).1;
                let a = self.scalar(a, frame)?;
                arith::cast(&mut self.path.terms, &e.ty, width, signed, a)
            }
            ExprKind::Cond(cond, a, b) => {
                let cond = self.scalar(cond, frame)?;
                return self.one_of(cond, a, b, frame);
            }
            ExprKind::MakeId(_, parts) => {
                let parts: Result<Vec<Value>, End> =
                    parts.iter().map(|part| self.eval(part, frame)).collect();
                return Ok(Value::Record(parts?));
            }
            ExprKind::Builtin(function, args) => return self.builtin(*function, e, args, frame),
            ExprKind::Query(query, place, args) => self.query(*query, place, args, frame)?,
            ExprKind::TimerArmed(context, timer, which) => {
                let which = which.as_ref().map(|which| self.scalar(which, frame)).transpose()?;
                self.timer_runs(frame, *context, *timer, which)?
            }
            ExprKind::TxRoom(context) => self.of_unit(frame, *context, layout::tx_room)?,
            ExprKind::RxSize(context) => self.of_unit(frame, *context, layout::rx_size)?,
            ExprKind::Handle(context) => {
                let part = layout::handle(program, self.context_of(frame, *context)?);
                self.part_of(frame, *context, part)?
            }
            ExprKind::OptPresent(bp, opt) => self.option_is_there(frame, *bp, *opt)?,
            ExprKind::PacketLeft => self.fresh(&self.behind("bytes left in the packet"), &Ty::Bytes, 64),
            ExprKind::PacketPeek => self.fresh(&self.behind("the next byte"), &Ty::U8, 8),
            _ => return Err(unsupported("an expression that only headers have")),
        };
        Ok(Value::Scalar(term))
    }

    /// What is known of a packet at a place of it.
    fn behind(&self, what: &str) -> String {
        let (number, count) = self.headers;
        if count == 0 { what.to_owned() } else { format!("{what} behind {count} headers/{number}") }
    }

    fn element(&mut self, values: &[u64], at: Term, width: u8) -> Term {
        let mut found = self.number(0, width);
        for (i, value) in values.iter().enumerate() {
            let this = self.is(at, i as u64);
            let value = self.number((*value).into(), width);
            found = self.path.terms.ite(this, value, found);
        }
        found
    }

    fn binary(
        &mut self,
        op: BinOp,
        e: &'p Expr,
        left: &'p Expr,
        right: &'p Expr,
        frame: &mut Frame,
    ) -> Result<Value, End> {
        let a = self.eval(left, frame)?;
        if let (BinOp::LogicalAnd | BinOp::LogicalOr, Value::Scalar(a)) = (op, &a) {
            // The right operand counts only where the left one does not decide.
            let guard = if op == BinOp::LogicalAnd { *a } else { self.path.terms.not(*a) };
            let b = self.guarded(guard, |m| m.scalar(right, frame))?;
            let terms = &mut self.path.terms;
            return Ok(Value::Scalar(if op == BinOp::LogicalAnd {
                terms.and(*a, b)
            } else {
                terms.or(*a, b)
            }));
        }
        let b = self.eval(right, frame)?;
        let (Value::Scalar(a), Value::Scalar(b)) = (&a, &b) else {
            let equal = value::equal(&mut self.path.terms, &a, &b);
            let equal = equal.ok_or_else(|| unsupported("a comparison of values of different form"))?;
            return Ok(Value::Scalar(if op == BinOp::Ne { self.path.terms.not(equal) } else { equal }));
        };
        self.check_binary(op, e, left, *a, *b);
        let (width, signed) = layout::shape(self.program, &left.ty);
        let of = Of { ty: &left.ty, width, signed };
        let to = self.width(&e.ty);
        Ok(Value::Scalar(arith::binary(&mut self.path.terms, op, of, to, *a, *b)))
    }

    /// Evaluates what counts only if a condition holds.
    pub(crate) fn guarded<T>(
        &mut self,
        guard: Term,
        of: impl FnOnce(&mut Self) -> Result<T, End>,
    ) -> Result<T, End> {
        self.guards.push(guard);
        let value = of(self);
        self.guards.pop();
        value
    }

    fn one_of(&mut self, cond: Term, a: &'p Expr, b: &'p Expr, frame: &mut Frame) -> Result<Value, End> {
        if let Some(value) = self.path.known_value(cond) {
            return self.eval(if value { a } else { b }, frame);
        }
        let a = self.guarded(cond, |m| m.eval(a, frame))?;
        let opposite = self.path.terms.not(cond);
        let b = self.guarded(opposite, |m| m.eval(b, frame))?;
        let (a, b) = (self.by_value(a), self.by_value(b));
        value::choose(&mut self.path.terms, cond, &a, &b)
            .ok_or_else(|| unsupported("a choice between values of different form"))
    }

    fn builtin(
        &mut self,
        function: Builtin,
        e: &'p Expr,
        args: &'p [Expr],
        frame: &mut Frame,
    ) -> Result<Value, End> {
        let values: Result<Vec<Value>, End> = args.iter().map(|arg| self.eval(arg, frame)).collect();
        let values = values?;
        if let (Builtin::AddrSkip, [Value::Addr(there, len), Value::Scalar(by)]) = (function, &values[..]) {
            let terms = &mut self.path.terms;
            let beyond = terms.ult(*len, *by);
            let by = terms.ite(beyond, *len, *by);
            return Ok(Value::Addr(*there, terms.sub(*len, by)));
        }
        if function == Builtin::LocalIp {
            return Ok(self.address.clone());
        }
        let term = match (function, &values[..]) {
            (Builtin::Now, _) => match self.doing {
                Doing::Assuming => self.before,
                _ => self.now,
            },
            (Builtin::Mtu, _) => self.mtu,
            (Builtin::AddrIsNone, [Value::Addr(there, _)]) => self.path.terms.not(*there),
            (Builtin::KeyedHash, _) => {
                let values = self.hashed(args, &values);
                self.result("keyed_hash", &values, &Ty::U32)?
            }
            (_, [Value::Scalar(a)]) => self.of_one(function, e, *a)?,
            (_, [Value::Scalar(a), Value::Scalar(b)]) => self.of_two(function, e, &args[0], *a, *b)?,
            _ => return Err(unsupported(&format!("`{}`", function.name()))),
        };
        Ok(Value::Scalar(term))
    }

    /// Operands of a hash: numbers of 64 bits, with their signs.
    fn hashed(&mut self, args: &[Expr], values: &[Value]) -> Vec<Value> {
        let wide = |m: &mut Self, (arg, value): (&Expr, &Value)| match value {
            Value::Scalar(term) => {
                let signed = layout::shape(m.program, &arg.ty).1;
                Value::Scalar(m.path.terms.resize(*term, 64, signed))
            }
            value => value.clone(),
        };
        args.iter().zip(values).map(|both| wide(self, both)).collect()
    }

    fn of_one(&mut self, function: Builtin, e: &Expr, a: Term) -> Result<Term, End> {
        match function {
            Builtin::Abs => {
                let zero = self.number(0, self.path.terms.width(a));
                let terms = &mut self.path.terms;
                let (negative, opposite) = (terms.slt(a, zero), terms.sub(zero, a));
                Ok(terms.ite(negative, opposite, a))
            }
            // Of these, only that equal operands give equal results is known.
            Builtin::Sqrt | Builtin::Cbrt | Builtin::Log2 => {
                self.result(function.name(), &[Value::Scalar(a)], &e.ty)
            }
            _ => Err(unsupported(&format!("`{}`", function.name()))),
        }
    }

    fn of_two(&mut self, function: Builtin, e: &Expr, arg: &Expr, a: Term, b: Term) -> Result<Term, End> {
        let signed = layout::shape(self.program, &arg.ty).1;
        let least = matches!(function, Builtin::Min | Builtin::SeqMin);
        match function {
            Builtin::Min | Builtin::SeqMin | Builtin::Max | Builtin::SeqMax => {
                if arg.ty == Ty::Seq32 {
                    let distance = self.path.terms.sub(a, b);
                    let bad = self.is(distance, 1 << 31);
                    self.check(Kind::Serial, e.loc, bad);
                }
                let terms = &mut self.path.terms;
                let (x, y) = if least { (b, a) } else { (a, b) };
                let second = arith::less(terms, &arg.ty, signed, x, y);
                Ok(terms.ite(second, b, a))
            }
            Builtin::Ratio => {
                let bad = self.is(b, 0);
                self.check(Kind::Division, e.loc, bad);
                Ok(arith::ratio(&mut self.path.terms, signed, a, b))
            }
            _ => Err(unsupported(&format!("`{}`", function.name()))),
        }
    }

    /// The result of a function of which only this is known: equal operands give equal results.
    fn result(&mut self, function: &'static str, operands: &[Value], ty: &Ty) -> Result<Term, End> {
        let mut terms = Vec::new();
        operands.iter().try_for_each(|value| scalars(value, &mut terms))?;
        let key = (function, terms);
        if let Some(known) = self.results.get(&key) {
            return Ok(*known);
        }
        let term = self.variable(format!("{function} ({})", self.results.len()), ty);
        self.results.insert(key, term);
        Ok(term)
    }

    fn timer_runs(
        &mut self,
        frame: &Frame,
        context: LocalId,
        timer: TimerId,
        which: Option<Term>,
    ) -> Result<Term, End> {
        let id = self.context_of(frame, context)?;
        let def = &self.program.contexts[id.index()];
        let first = layout::timers(self.program, id) + timer.index();
        let count = which.map_or(1, |_| def.timers[timer.index()].count() as usize);
        let mut runs = self.number(0, 1);
        for at in 0..count {
            let mut this = self.part_of(frame, context, first + at)?;
            // It ran until it fired.
            if self.doing == Doing::Assuming && self.fired.contains(&def.timers[timer.index() + at].event) {
                let fired = self.fresh("the timer has fired", &Ty::Bool, 1);
                this = self.path.terms.or(this, fired);
            }
            let is = match which {
                Some(which) => self.is(which, at as u64),
                None => self.number(1, 1),
            };
            runs = self.path.terms.ite(is, this, runs);
        }
        Ok(runs)
    }

    /// What is known of a unit of data: it changes between chains too.
    fn of_unit(
        &mut self,
        frame: &Frame,
        context: LocalId,
        part: fn(&carrick_ir::Program, carrick_ir::CtxId) -> usize,
    ) -> Result<Term, End> {
        if self.doing == Doing::Assuming {
            return Ok(self.fresh("space of a unit", &Ty::Bytes, 64));
        }
        let part = part(self.program, self.context_of(frame, context)?);
        self.part_of(frame, context, part)
    }

    fn part_of(&mut self, frame: &Frame, context: LocalId, part: usize) -> Result<Term, End> {
        let object = self.object(frame, context)?;
        match self.part_mut(object, part)? {
            Value::Scalar(term) => Ok(*term),
            _ => Err(unsupported("a number of several parts")),
        }
    }

    fn query(
        &mut self,
        query: Query,
        place: &'p Place,
        args: &'p [Expr],
        frame: &mut Frame,
    ) -> Result<Term, End> {
        let args: Result<Vec<Term>, End> = args.iter().map(|arg| self.scalar(arg, frame)).collect();
        let args = args?;
        match (self.load(place, frame)?, &place.ty) {
            (Value::List(list), Ty::List(element, most, order)) => match query {
                Query::ListLen => Ok(self.number(list.len() as u128, 32)),
                Query::ListFull => Ok(self.number(u128::from(list.len() >= *most as usize), 1)),
                _ => self.list_find(&list, element, *order, args.first().copied()),
            },
            (Value::Window(window), Ty::Wnd { size, .. }) => {
                Ok(self.window_query(query, &window, *size, args.first().copied()))
            }
            _ => Err(unsupported("a list or a window that depends on a condition")),
        }
    }
}

/// The numbers of a value.
fn scalars(value: &Value, out: &mut Vec<Term>) -> Result<(), End> {
    match value {
        Value::Scalar(term) => out.push(*term),
        Value::Record(parts) => parts.iter().try_for_each(|part| scalars(part, out))?,
        _ => return Err(unsupported("a function of a list")),
    }
    Ok(())
}
