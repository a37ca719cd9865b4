// SPDX-License-Identifier: MIT OR Apache-2.0
//! Expressions.

use carrick_ir::builtins::Compute;
use carrick_ir::{BinOp, Builtin, Expr, ExprKind, Place as IrPlace, Proj, Query, Ty, UnOp, arith};

use super::func::Frame;
use super::linker::{Linker, Outside};
use crate::code::*;
use crate::layout::*;
use crate::linked::{HEADER_LEN_CELL, PAYLOAD_LEN_CELL, PREV_PAYLOAD_LEN_CELL, WORK};

/// What the names of an expression stand for.
#[derive(Clone, Copy)]
pub(crate) enum Scope<'a> {
    Frame(&'a Frame),
    Outside(Outside),
}

impl From<Outside> for Scope<'_> {
    fn from(outside: Outside) -> Self {
        Scope::Outside(outside)
    }
}

impl<'a> From<&'a Frame> for Scope<'a> {
    fn from(frame: &'a Frame) -> Self {
        Scope::Frame(frame)
    }
}

type Pair<'a> = (&'a Expr, &'a Expr);

impl Linker<'_> {
    /// A scalar expression.
    pub(crate) fn expr<'s>(&self, e: &Expr, scope: impl Into<Scope<'s>>) -> Result<Ex, String> {
        self.part(e, 0, scope.into())
    }

    /// An expression of any type.
    pub(crate) fn value<'s>(&self, e: &Expr, scope: impl Into<Scope<'s>>) -> Result<Value, String> {
        let scope = scope.into();
        if e.ty.is_scalar() {
            return Ok(Value::Scalar(self.part(e, 0, scope)?));
        }
        let size = self.layout.size(&e.ty);
        match &e.kind {
            ExprKind::Load(place) => Ok(Value::Copy(self.place(place, scope)?, size)),
            ExprKind::Cond(cond, yes, no) => {
                let cond = self.part(cond, 0, scope)?;
                Ok(Value::Choose(Box::new((cond, self.value(yes, scope)?, self.value(no, scope)?))))
            }
            _ if size as usize <= MAX_PARTS => {
                Ok(Value::Parts((0..size).map(|i| self.part(e, i, scope)).collect::<Result<_, _>>()?))
            }
            _ => Err("a value with too many parts".to_owned()),
        }
    }

    /// An expression cell by cell.
    pub(crate) fn cells<'s>(&self, e: &Expr, scope: impl Into<Scope<'s>>) -> Result<Vec<Ex>, String> {
        let scope = scope.into();
        (0..self.layout.size(&e.ty)).map(|at| self.part(e, at, scope)).collect()
    }

    /// The `at`th cell of an expression's value, if each cell can be told by itself (scalars, ids, addresses).
    fn part(&self, e: &Expr, at: u32, scope: Scope) -> Result<Ex, String> {
        match &e.kind {
            ExprKind::Lit(n) => Ok(Ex::Lit(*n)),
            ExprKind::Const(c) => Ok(Ex::Lit(self.program.consts[c.index()].value)),
            ExprKind::Element(array, x) => {
                let values = self.program.arrays[array.index()].values.as_slice().into();
                Ok(Ex::Element(Box::new((values, self.part(x, 0, scope)?))))
            }
            ExprKind::Param(p) => Ok(Ex::Lit(self.params[p.index()])),
            ExprKind::Load(place) => Ok(load(self.place(place, scope)?, at)),
            ExprKind::Unary(op, x) => Ok(unary(*op, &e.ty, self.part(x, 0, scope)?)),
            ExprKind::Binary(op, a, b) => self.binary(*op, &e.ty, (a, b), scope),
            ExprKind::Cast(x) => Ok(cast(&x.ty, &e.ty, self.part(x, 0, scope)?)),
            ExprKind::Cond(c, yes, no) => {
                let (yes, no) = (self.part(yes, at, scope)?, self.part(no, at, scope)?);
                Ok(match self.part(c, 0, scope)? {
                    Ex::Lit(0) => no,
                    Ex::Lit(_) => yes,
                    c => Ex::Cond(Box::new((c, yes, no))),
                })
            }
            ExprKind::MakeId(id, parts) => {
                let mut cells = (0..parts.len()).map(|part| self.layout.part_of_id(self.program, *id, part));
                let found = cells.position(|cells| cells.contains(&at)).ok_or("an id has fewer parts")?;
                let first = self.layout.part_of_id(self.program, *id, found).start;
                self.part(&parts[found], at - first, scope)
            }
            ExprKind::CallArg(i) => Ok(load_cell(self.surroundings(&ExprKind::CallArg(*i), scope)?, at)),
            ExprKind::Builtin(which, args) => self.builtin(*which, &e.ty, args, at, scope),
            _ => self.query(e, scope),
        }
    }

    fn binary(&self, op: BinOp, to: &Ty, (a, b): Pair, scope: Scope) -> Result<Ex, String> {
        if let (Ty::Id(_) | Ty::Addr, BinOp::Eq | BinOp::Ne) = (&a.ty, op) {
            let mut all = Ex::Lit(1);
            for i in 0..self.layout.size(&a.ty) {
                let same = equal(self.part(a, i, scope)?, self.part(b, i, scope)?);
                all = if i == 0 { same } else { Ex::And(Box::new((all, same))) };
            }
            return Ok(if op == BinOp::Eq { all } else { not(all) });
        }
        Ok(binary(op, &a.ty, to, self.part(a, 0, scope)?, self.part(b, 0, scope)?))
    }

    fn builtin(&self, which: Builtin, ty: &Ty, args: &[Expr], at: u32, scope: Scope) -> Result<Ex, String> {
        let arg = |i: usize| self.part(&args[i], 0, scope);
        Ok(match which {
            Builtin::Now => Ex::Now,
            Builtin::KeyedHash => {
                let mut parts = Vec::new();
                for arg in args {
                    for i in 0..self.layout.size(&arg.ty) {
                        parts.push(self.part(arg, i, scope)?);
                    }
                }
                Ex::Hash(parts.into_boxed_slice())
            }
            Builtin::LocalIp => {
                let word = words_of(ty, self.address).nth(at as usize);
                Ex::Lit(word.ok_or("an address has fewer words")?)
            }
            Builtin::Mtu => Ex::Lit(u64::from(self.mtu.saturating_sub(self.program.net_header.longest()))),
            Builtin::AddrIsNone => Ex::Is(0, Box::new(arg(0)?)),
            Builtin::AddrSkip => self.skip(args, at, scope)?,
            _ => self.computed(which, args, scope)?,
        })
    }

    /// A function of numbers alone.
    fn computed(&self, which: Builtin, args: &[Expr], scope: Scope) -> Result<Ex, String> {
        let arg = |i: usize| self.part(&args[i], 0, scope);
        Ok(match which.declaration().compute {
            Compute::One(of) => match arg(0)? {
                Ex::Lit(n) => Ex::Lit(of(&args[0].ty, n)),
                x => Ex::One(of, Box::new((args[0].ty.clone(), x))),
            },
            Compute::Two(of) => Ex::Two(of, Box::new((args[0].ty.clone(), arg(0)?, arg(1)?))),
            Compute::Engine | Compute::Elaborated => {
                return Err(format!("`{}`, which has no value of its own", which.name()));
            }
        })
    }

    /// A cell of an address moved forward, never past its end.
    fn skip(&self, args: &[Expr], at: u32, scope: Scope) -> Result<Ex, String> {
        let cell = self.part(&args[0], at, scope)?;
        let by = || {
            let left = self.part(&args[0], 2, scope)?;
            Ok::<_, String>(Ex::Two(arith::least, Box::new((Ty::U64, self.part(&args[1], 0, scope)?, left))))
        };
        Ok(match at {
            1 => Ex::Add(u64::MAX, Box::new((cell, by()?))),
            2 => Ex::Sub(u64::MAX, Box::new((cell, by()?))),
            _ => cell,
        })
    }

    /// What is asked of lists, windows, contexts, blueprints and the surroundings.
    fn query(&self, e: &Expr, scope: Scope) -> Result<Ex, String> {
        let local = |id: &carrick_ir::LocalId| self.local(*id, scope);
        Ok(match &e.kind {
            ExprKind::Query(query, on, args) => self.method(*query, on, args, scope)?,
            ExprKind::TimerArmed(ctx, timer, which) => {
                let (mut place, ty) = local(ctx)?;
                let Ty::Context(c) = ty else { return Err("a timer of what is no context".to_owned()) };
                let cell = self.layout.contexts[c.index()].end + timer.0 * TIMER_CELLS + 1;
                if let Some(which) = which {
                    let bound = Bound::Fixed(self.program.contexts[c.index()].timers[timer.index()].count());
                    let at = self.part(which, 0, scope)?;
                    place.indices.push(Index { at, bound, stride: TIMER_CELLS, then: 0 });
                }
                Ex::IsNot(0, Box::new(load(place, cell)))
            }
            ExprKind::Handle(ctx) => load(local(ctx)?.0, 0),
            ExprKind::TxRoom(ctx) => Ex::TxRoom(Box::new(load(local(ctx)?.0, 0))),
            ExprKind::RxSize(ctx) => Ex::RxSize(Box::new(load(local(ctx)?.0, 0))),
            ExprKind::PacketLeft => Ex::PacketLeft,
            ExprKind::PacketPeek => Ex::PacketPeek,
            ExprKind::OptPresent(bp, opt) => {
                let (place, ty) = local(bp)?;
                let Ty::Blueprint(b) = ty else { return Err("an option of what is no blueprint".to_owned()) };
                load(place, self.layout.blueprints[b.index()].option(*opt)?)
            }
            kind => self.surroundings(kind, scope)?,
        })
    }

    /// A method that only reads a list or a window.
    fn method(&self, query: Query, on: &IrPlace, args: &[Expr], scope: Scope) -> Result<Ex, String> {
        let place = self.place(on, scope)?;
        Ok(match query {
            Query::ListLen => load(place, 0),
            Query::ListFull => {
                let room = if let Ty::List(_, n, _) = &on.ty { u64::from(*n) } else { 0 };
                Ex::Is(room, Box::new(load(place, 0)))
            }
            Query::ListFind => {
                let sorted = self.sort_key(&on.ty)?.ok_or("found in a list that is not sorted")?;
                Ex::ListFind(Box::new((place, self.part(&args[0], 0, scope)?, sorted)))
            }
            Query::WndHead => load(place, 0),
            Query::WndTest => Ex::WndTest(Box::new((place, self.part(&args[0], 0, scope)?))),
            Query::WndFirstSet => Ex::WndFirstSet(Box::new((place, wnd_shape(&on.ty).size))),
            Query::WndFirstUnset => Ex::WndFirstUnset(Box::new(place)),
        })
    }

    fn surroundings(&self, kind: &ExprKind, scope: Scope) -> Result<Ex, String> {
        let Scope::Outside(outside) = scope else {
            return Err("a name that functions do not have".to_owned());
        };
        let fields = |bp: usize| self.layout.blueprints[bp].fields;
        Ok(Ex::Cell(match (kind, outside) {
            (ExprKind::HeaderLen, _) => HEADER_LEN_CELL,
            (ExprKind::PayloadLen, _) => PAYLOAD_LEN_CELL,
            (ExprKind::PrevPayloadLen, _) => PREV_PAYLOAD_LEN_CELL,
            (ExprKind::BpField(i), Outside::Header(bp)) => WORK + fields(bp) + i,
            (ExprKind::BpField(i), Outside::Rule(bp)) => self.map.given + fields(bp) + i,
            (ExprKind::PrevField(i), Outside::Rule(bp)) => self.map.prev + fields(bp) + i,
            (ExprKind::CallArg(i), Outside::Call(event)) => {
                self.map.stack + self.layout.events[event].fields[*i as usize]
            }
            _ => return Err("a name out of its place".to_owned()),
        }))
    }

    pub(crate) fn place_of<'s>(&self, p: &IrPlace, scope: impl Into<Scope<'s>>) -> Result<Place, String> {
        self.place(p, scope.into())
    }

    pub(crate) fn flow_id(&self, event: carrick_ir::LocalId, ty: Ty, frame: &Frame) -> Result<Place, String> {
        self.place(&IrPlace { root: event, path: vec![Proj::FlowId], ty }, frame.into())
    }
}

/// The cell that follows another one after so many.
fn load_cell(first: Ex, at: u32) -> Ex {
    match first {
        Ex::Cell(cell) => Ex::Cell(cell + at),
        other => other,
    }
}

/// The scalar at an offset from a place.
pub(crate) fn load(mut place: Place, offset: u32) -> Ex {
    match place.indices.last_mut() {
        Some(last) => last.then += offset,
        None => place.offset += offset,
    }
    match (place.root, place.indices.is_empty()) {
        (Root::Frame, true) => Ex::Cell(place.offset),
        (Root::Ref(cell), true) => Ex::Deref(cell, place.offset),
        _ => Ex::Load(Box::new(place)),
    }
}

fn unary(op: UnOp, ty: &Ty, x: Ex) -> Ex {
    match (op, x) {
        (_, Ex::Lit(n)) => Ex::Lit(arith::unary(op, ty, n)),
        (UnOp::Not, x) => not(x),
        (_, x) => Ex::Unary(op, Box::new((ty.clone(), x))),
    }
}

fn cast(from: &Ty, to: &Ty, x: Ex) -> Ex {
    let (from_bits, from_signed) = arith::shape(from);
    let (to_bits, to_signed) = arith::shape(to);
    let widens = from_bits <= to_bits && from_signed == to_signed || !from_signed && from_bits < to_bits;
    match x {
        Ex::Lit(n) => Ex::Lit(arith::cast(to, n)),
        x if *to != Ty::Bool && (widens || to_bits == 64) => x,
        x if *to != Ty::Bool && !to_signed => Ex::Mask(mask(to), Box::new(x)),
        x => Ex::Cast(Box::new((to.clone(), x))),
    }
}

/// Of an unsigned type's bits.
fn mask(ty: &Ty) -> u64 {
    u64::MAX >> (64 - arith::shape(ty).0)
}

fn binary(op: BinOp, ty: &Ty, to: &Ty, a: Ex, b: Ex) -> Ex {
    if let (Ex::Lit(a), Ex::Lit(b)) = (&a, &b) {
        return Ex::Lit(arith::binary(op, ty, to, *a, *b));
    }
    let (bits, signed) = arith::shape(to);
    let unsigned = !arith::shape(ty).1 && *ty != Ty::Seq32;
    match op {
        BinOp::LogicalAnd => Ex::And(Box::new((a, b))),
        BinOp::LogicalOr => Ex::Or(Box::new((a, b))),
        BinOp::Eq => equal(a, b),
        BinOp::Ne => not(equal(a, b)),
        BinOp::Lt if unsigned => Ex::Below(Box::new((a, b))),
        BinOp::Gt if unsigned => Ex::Below(Box::new((b, a))),
        BinOp::Ge if unsigned => not(Ex::Below(Box::new((a, b)))),
        BinOp::Le if unsigned => not(Ex::Below(Box::new((b, a)))),
        BinOp::Add if !signed || bits == 64 => match (a, b) {
            (x, Ex::Lit(n)) | (Ex::Lit(n), x) => Ex::Plus(mask(to), Box::new((x, n))),
            (a, b) => Ex::Add(mask(to), Box::new((a, b))),
        },
        BinOp::Sub if !signed || bits == 64 => match (a, b) {
            (x, Ex::Lit(n)) => Ex::Plus(mask(to), Box::new((x, n.wrapping_neg()))),
            (a, b) => Ex::Sub(mask(to), Box::new((a, b))),
        },
        _ => Ex::Binary(op, Box::new(Operation { ty: ty.clone(), to: to.clone(), left: a, right: b })),
    }
}

fn equal(a: Ex, b: Ex) -> Ex {
    match (a, b) {
        (x, Ex::Lit(n)) | (Ex::Lit(n), x) => Ex::Is(n, Box::new(x)),
        (a, b) => Ex::Equal(Box::new((a, b))),
    }
}

fn not(x: Ex) -> Ex {
    match x {
        Ex::Is(n, x) => Ex::IsNot(n, x),
        Ex::IsNot(n, x) => Ex::Is(n, x),
        x => Ex::Is(0, Box::new(x)),
    }
}
