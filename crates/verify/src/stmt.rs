// SPDX-License-Identifier: MIT OR Apache-2.0
//! What statements do.

use carrick_ir::{
    Arg, Block, Change, Expr, FuncId, Loc, LocalId, Over, Place, Proj, Stmt, StmtKind, Ty, walk,
};
use carrick_solve::Term;

use crate::arith;
use crate::layout;
use crate::machine::{Frame, Machine, unsupported};
use crate::path::End;
use crate::site::{Doing, Kind};
use crate::value::Value;

/// How a statement ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Flow {
    Next,
    Break,
    Continue,
    Return(Value),
    Stop,
}

/// Whether a block can run under a condition, without a decision: it only declares, assigns and claims.
fn is_plain(program: &carrick_ir::Program, func: FuncId, block: &Block) -> bool {
    let locals = &program.functions[func.index()].locals;
    let mut plain = true;
    walk::statements(block, &mut |stmt| {
        plain &= match &stmt.kind {
            StmtKind::Assert { .. } | StmtKind::Block(_) | StmtKind::If { .. } => true,
            StmtKind::Let { local, .. } => is_number(&locals[local.index()].ty),
            StmtKind::Assign { place, .. } => is_number(&place.ty),
            _ => false,
        };
    });
    plain
}

/// Numbers, and what is made of them only.
fn is_number(ty: &Ty) -> bool {
    ty.is_scalar() || matches!(ty, Ty::Id(_) | Ty::Addr)
}

impl<'p> Machine<'p> {
    pub(crate) fn call(&mut self, func: FuncId, args: Vec<Value>) -> Result<Flow, End> {
        let def = &self.program.functions[func.index()];
        let mut frame = Frame { func: Some(func), locals: args };
        frame.locals.resize(def.locals.len(), Value::Nothing);
        match self.block(&def.body, &mut frame)? {
            Flow::Stop => Ok(Flow::Stop),
            Flow::Return(Value::Nothing) | Flow::Next if def.ret != Ty::Void => {
                Ok(Flow::Return(self.zero(&def.ret)))
            }
            Flow::Return(value) => Ok(Flow::Return(value)),
            _ => Ok(Flow::Return(Value::Nothing)),
        }
    }

    fn block(&mut self, block: &'p Block, frame: &mut Frame) -> Result<Flow, End> {
        for stmt in &block.stmts {
            let flow = self.stmt(stmt, frame)?;
            if flow != Flow::Next {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    fn stmt(&mut self, stmt: &'p Stmt, frame: &mut Frame) -> Result<Flow, End> {
        self.stop_if_late()?;
        match &stmt.kind {
            StmtKind::Let { local, init } => self.declare(*local, init.as_ref(), frame)?,
            StmtKind::Assign { place, value } => self.assign(place, value, stmt.loc, frame)?,
            StmtKind::Call { dest, func, args } => {
                let args: Result<Vec<Value>, End> = args.iter().map(|arg| self.arg(arg, frame)).collect();
                match self.call(*func, args?)? {
                    Flow::Stop => return Ok(Flow::Stop),
                    Flow::Return(value) => self.begin_local(*dest, value, frame),
                    _ => {}
                }
            }
            StmtKind::Random { dest } => {
                let value = self.fresh("random", &Ty::U32, 32);
                frame.locals[dest.index()] = Value::Scalar(value);
            }
            StmtKind::Change { what, dest, on, args } => {
                self.change(*what, *dest, on, args, stmt.loc, frame)?;
            }
            StmtKind::If { cond, then, otherwise } => return self.condition(cond, then, otherwise, frame),
            StmtKind::Block(block) => return self.block(block, frame),
            StmtKind::For { var, over: Over::Range { from, to, max }, body } => {
                return self.range(*var, (from, to, *max), body, frame);
            }
            StmtKind::For { var, over: Over::EachOf(list), body } => {
                return self.each_of(*var, list, body, frame);
            }
            StmtKind::Break => return Ok(Flow::Break),
            StmtKind::Continue => return Ok(Flow::Continue),
            StmtKind::Return(value) => {
                let value = match value {
                    Some(value) => self.eval(value, frame)?,
                    None => Value::Nothing,
                };
                return Ok(Flow::Return(self.by_value(value)));
            }
            StmtKind::Stop => return Ok(Flow::Stop),
            StmtKind::Assert { claim, cond } => self.claim(*claim, cond, frame)?,
            StmtKind::Instr(instr) => self.instr(instr, stmt.loc, frame)?,
            _ => return self.packet_stmt(stmt, frame),
        }
        Ok(Flow::Next)
    }

    fn declare(&mut self, local: LocalId, init: Option<&'p Expr>, frame: &mut Frame) -> Result<(), End> {
        let ty = self.local_ty(frame, local).ok_or_else(|| unsupported("a value without a type"))?;
        let value = match init {
            Some(init) => self.eval(init, frame)?,
            None => self.initial(ty)?,
        };
        self.begin_local(Some(local), value, frame);
        Ok(())
    }

    /// A local begins to live. Events and contexts lie in the heap, where callees change them.
    fn begin_local(&mut self, local: Option<LocalId>, value: Value, frame: &mut Frame) {
        let Some(local) = local else { return };
        let by_ref = self.local_ty(frame, local).is_some_and(Ty::is_by_ref);
        let value = self.by_value(value);
        frame.locals[local.index()] = if by_ref { Value::Object(self.alloc(value)) } else { value };
    }

    fn arg(&mut self, arg: &'p Arg, frame: &mut Frame) -> Result<Value, End> {
        match arg {
            Arg::Value(value) => self.eval(value, frame).map(|value| self.by_value(value)),
            Arg::Ref(local) => Ok(frame.locals[local.index()].clone()),
        }
    }

    fn assign(&mut self, place: &'p Place, value: &'p Expr, loc: Loc, frame: &mut Frame) -> Result<(), End> {
        let new = self.eval(value, frame)?;
        self.check_cut(place, value, loc, frame)?;
        self.store(place, frame, new)
    }

    /// A value that a field of a header takes may be cut to its bits.
    fn check_cut(
        &mut self,
        place: &'p Place,
        value: &'p Expr,
        loc: Loc,
        frame: &mut Frame,
    ) -> Result<(), End> {
        if self.bounds.count {
            return Ok(());
        }
        let Some((whole, most)) = cut_value(self.program, self.local_ty(frame, place.root), place, value)
        else {
            return Ok(());
        };
        let whole = self.scalar(whole, frame)?;
        let width = self.path.terms.width(whole);
        let most = self.number(most.into(), width);
        let bad = self.path.terms.ult(most, whole);
        self.check(Kind::Cut, loc, bad);
        Ok(())
    }

    fn change(
        &mut self,
        what: Change,
        dest: Option<LocalId>,
        on: &'p Place,
        args: &'p [Expr],
        loc: Loc,
        frame: &mut Frame,
    ) -> Result<(), End> {
        let values: Result<Vec<Value>, End> = args.iter().map(|arg| self.eval(arg, frame)).collect();
        let values = values?;
        let result = if let Ty::Wnd { .. } = on.ty {
            let numbers: Vec<Term> = values
                .iter()
                .filter_map(|value| if let Value::Scalar(term) = value { Some(*term) } else { None })
                .collect();
            self.window_change(what, on, &numbers, frame)?
        } else {
            self.list_change(what, on, values, loc, frame)?
        };
        if let Some(result) = result {
            self.begin_local(dest, result, frame);
        }
        Ok(())
    }

    fn window_change(
        &mut self,
        what: Change,
        on: &'p Place,
        numbers: &[Term],
        frame: &mut Frame,
    ) -> Result<Option<Value>, End> {
        let Value::Window(mut window) = self.load(on, frame)? else {
            return Err(unsupported("a window that depends on a condition"));
        };
        let mut result = None;
        match (what, numbers) {
            (Change::WndReset, [head]) => {
                window.head = *head;
                window.ranges.clear();
            }
            (Change::WndSet | Change::WndUnset, [from, to]) => {
                let done = self.window_write(&on.ty, &mut window, *from, *to, what == Change::WndSet);
                result = Some(Value::Scalar(self.path.terms.truth(done)));
            }
            (Change::WndSlide, _) => self.window_slide(&mut window, numbers.first().copied()),
            _ => return Err(unsupported("a method of windows")),
        }
        self.store(on, frame, Value::Window(window))?;
        Ok(result)
    }

    fn condition(
        &mut self,
        cond: &'p Expr,
        then: &'p Block,
        otherwise: &'p Block,
        frame: &mut Frame,
    ) -> Result<Flow, End> {
        let cond = self.scalar(cond, frame)?;
        let func = frame.func.unwrap_or(FuncId(0));
        let merged = self.path.known_value(cond).is_none()
            && !self.bounds.count
            && is_plain(self.program, func, then)
            && is_plain(self.program, func, otherwise);
        if merged {
            self.guarded(cond, |m| m.block(then, frame))?;
            let opposite = self.path.terms.not(cond);
            self.guarded(opposite, |m| m.block(otherwise, frame))?;
            return Ok(Flow::Next);
        }
        let taken = self.path.branch(cond);
        self.block(if taken { then } else { otherwise }, frame)
    }

    fn range(
        &mut self,
        var: LocalId,
        (from, to, max): (&'p Expr, &'p Expr, u64),
        body: &'p Block,
        frame: &mut Frame,
    ) -> Result<Flow, End> {
        let signed = layout::shape(self.program, &from.ty).1;
        let (mut at, to) = (self.scalar(from, frame)?, self.scalar(to, frame)?);
        let one = self.number(1, self.path.terms.width(at));
        for _ in 0..max {
            let more = arith::less(&mut self.path.terms, &from.ty, signed, at, to);
            if !self.path.branch(more) {
                break;
            }
            frame.locals[var.index()] = Value::Scalar(at);
            match self.block(body, frame)? {
                Flow::Break => break,
                Flow::Next | Flow::Continue => {}
                flow => return Ok(flow),
            }
            at = self.path.terms.add(at, one);
        }
        Ok(Flow::Next)
    }

    fn each_of(
        &mut self,
        var: LocalId,
        list: &'p Place,
        body: &'p Block,
        frame: &mut Frame,
    ) -> Result<Flow, End> {
        // The body may change the list.
        for i in 0_u32.. {
            let element = match self.load(list, frame)? {
                Value::List(elements) | Value::Record(elements) => elements.into_iter().nth(i as usize),
                Value::Array(array) => self.array_element(&array, i)?,
                _ => return Err(unsupported("a list that depends on a condition")),
            };
            let Some(element) = element else { break };
            self.begin_local(Some(var), element, frame);
            match self.block(body, frame)? {
                Flow::Break => break,
                Flow::Next | Flow::Continue => {}
                flow => return Ok(flow),
            }
        }
        Ok(Flow::Next)
    }

    fn claim(&mut self, claim: u32, cond: &'p Expr, frame: &mut Frame) -> Result<(), End> {
        if self.doing == Doing::Running && self.bounds.count {
            return Ok(());
        }
        let cond = self.scalar(cond, frame)?;
        if self.doing == Doing::Assuming {
            let guard = self.guard();
            let elsewhere = self.path.terms.not(guard);
            let holds = self.path.terms.or(elsewhere, cond);
            return self.path.assume(holds);
        }
        let loc = self.program.claims[claim as usize].loc;
        let bad = self.path.terms.not(cond);
        self.check(Kind::Claim(claim), loc, bad);
        Ok(())
    }
}

/// The value before it was cut to the bits of a field of a header, and the greatest that fits.
pub(crate) fn cut_value<'p>(
    program: &carrick_ir::Program,
    root: Option<&Ty>,
    place: &Place,
    value: &'p Expr,
) -> Option<(&'p Expr, u64)> {
    let (Some(Ty::Blueprint(bp)), [Proj::Field(at)]) = (root, &place.path[..]) else { return None };
    let field = &program.blueprints[bp.index()].fields[*at as usize];
    let most = u64::MAX >> (64 - field.bits.clamp(1, 64));
    match &value.kind {
        carrick_ir::ExprKind::Binary(carrick_ir::BinOp::And, whole, mask)
            if mask.kind == carrick_ir::ExprKind::Lit(most) =>
        {
            Some((whole, most))
        }
        // Serial numbers wrap: to cut a longer count is what a program means.
        carrick_ir::ExprKind::Cast(whole)
            if value.ty != Ty::Seq32
                && layout::shape(program, &whole.ty).0 > layout::shape(program, &value.ty).0 =>
        {
            Some((whole, most))
        }
        _ => None,
    }
}
