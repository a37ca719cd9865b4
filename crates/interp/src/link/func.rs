// SPDX-License-Identifier: MIT OR Apache-2.0
//! Functions and their statements.

use carrick_ir::{
    Arg as IrArg, Block, Change, CtxId, Expr, FuncId, Function, Instr, LocalId, OptId, Order, Over,
    Place as IrPlace, RuleId, Stmt, StmtKind, TimerId, Ty,
};

use super::linker::Linker;
use crate::code::*;
use crate::layout::*;

/// Where the locals of a function lie.
pub(crate) struct Frame {
    pub locals: Vec<LocalCell>,
}

pub(crate) struct LocalCell {
    pub cell: u32,
    pub by_ref: bool,
    pub ty: Ty,
}

impl Linker<'_> {
    pub(crate) fn functions(&mut self) -> Result<Vec<Func>, String> {
        let program = self.program;
        program.functions.iter().map(|f| self.function(f)).collect()
    }

    pub(super) fn function(&mut self, def: &Function) -> Result<Func, String> {
        let ret = self.layout.size(&def.ret);
        let (frame, size) = self.frame(def);
        let mut code = Vec::new();
        self.block(&def.body, &frame, &mut code).map_err(|e| format!("`{}`: {e}", def.name))?;
        let params = frame.locals[..def.params as usize].iter().map(|l| l.cell).collect();
        Ok(Func { code: code.into_boxed_slice(), frame: size, ret, params })
    }

    /// The result lies first, then the locals.
    pub(super) fn frame(&self, def: &Function) -> (Frame, u32) {
        let mut at = self.layout.size(&def.ret);
        let mut locals = Vec::new();
        for (i, local) in def.locals.iter().enumerate() {
            let by_ref = i < def.params as usize && local.ty.is_by_ref();
            locals.push(LocalCell { cell: at, by_ref, ty: local.ty.clone() });
            at += if by_ref { 1 } else { self.layout.size(&local.ty) };
        }
        (Frame { locals }, at)
    }

    fn code(&mut self, block: &Block, frame: &Frame) -> Result<Code, String> {
        let mut code = Vec::new();
        self.block(block, frame, &mut code)?;
        Ok(code.into_boxed_slice())
    }

    fn block(&mut self, block: &Block, frame: &Frame, out: &mut Vec<St>) -> Result<(), String> {
        for stmt in &block.stmts {
            if let StmtKind::Block(body) = &stmt.kind {
                self.block(body, frame, out)?;
            } else {
                let site = self.sites.as_mut().and_then(Iterator::next);
                let st = self.stmt(stmt, frame)?;
                out.push(match site {
                    Some((number, site)) => {
                        St::At(Box::new(At { site: number as u32, head: site.head, code: [st].into() }))
                    }
                    None => st,
                });
            }
        }
        Ok(())
    }

    fn stmt(&mut self, stmt: &Stmt, frame: &Frame) -> Result<St, String> {
        let own = |local: &LocalId| frame.locals[local.index()].cell;
        Ok(match &stmt.kind {
            StmtKind::Let { local, init: Some(init) } => {
                let place = Place { root: Root::Frame, offset: own(local), indices: Vec::new() };
                put(place, self.value(init, frame)?)
            }
            StmtKind::Let { local, init: None } => {
                St::Init(own(local), Box::new(self.init(&frame.locals[local.index()].ty)?))
            }
            StmtKind::Assign { place, value } => put(self.place_of(place, frame)?, self.value(value, frame)?),
            StmtKind::Call { dest, func, args } => self.call(dest.as_ref().map(own), *func, args, frame)?,
            StmtKind::Random { dest } => St::Random(own(dest)),
            StmtKind::If { cond, then, otherwise } => {
                let cond = self.expr(cond, frame)?;
                St::If(Box::new((cond, self.code(then, frame)?, self.code(otherwise, frame)?)))
            }
            StmtKind::Block(_) => return Err("a block out of its place".to_owned()),
            StmtKind::For { var, over, body } => {
                let body = self.code(body, frame)?;
                self.for_loop(own(var), &frame.locals[var.index()].ty, over, body, frame)?
            }
            StmtKind::Break => St::Break,
            StmtKind::Continue => St::Continue,
            StmtKind::Return(value) => {
                St::Return(value.as_ref().map(|v| self.value(v, frame)).transpose()?.map(Box::new))
            }
            StmtKind::Stop => St::Stop,
            StmtKind::Assert { claim, cond } => St::Assert(Box::new(self.expr(cond, frame)?), *claim),
            StmtKind::Instr(instr) => St::Instr(Box::new(self.instr(instr, frame)?), stmt.loc),
            kind => self.data_stmt(kind, frame)?,
        })
    }

    fn for_loop(&self, var: u32, ty: &Ty, over: &Over, body: Code, frame: &Frame) -> Result<St, String> {
        let list = match over {
            Over::Range { from, to, max } => {
                let (from, to) = (self.expr(from, frame)?, self.expr(to, frame)?);
                return Ok(St::Range(Box::new(Range { var, ty: ty.clone(), from, to, max: *max, body })));
            }
            Over::EachOf(list) => list,
        };
        let (of, bound) = match &list.ty {
            Ty::List(of, _, _) => (of, Bound::Len),
            Ty::Array(of, n) => (of, Bound::Fixed(*n)),
            _ => return Err("a loop over what has no elements".to_owned()),
        };
        let (list, stride) = (self.place_of(list, frame)?, self.layout.size(of));
        Ok(St::Each(Box::new(Each { var, list, bound, stride, body })))
    }

    /// A method that changes a list or a window.
    fn change(
        &self,
        what: Change,
        dest: Option<LocalId>,
        on: &IrPlace,
        args: &[Expr],
        frame: &Frame,
    ) -> Result<St, String> {
        let dest = dest.map(|local| frame.locals[local.index()].cell);
        let expr = |at: usize| self.expr(&args[at], frame);
        Ok(match what {
            Change::ListAdd => St::ListAdd(Box::new(self.list_add(on, &args[0], frame)?)),
            Change::ListInsert => St::ListInsert(Box::new((self.list_add(on, &args[1], frame)?, expr(0)?))),
            Change::ListRemove => {
                let (list, _, stride) = self.list(on, frame)?;
                St::ListRemove(Box::new((list, expr(0)?, stride)))
            }
            Change::ListPop => {
                let (list, _, stride) = self.list(on, frame)?;
                St::ListPop(Box::new(ListPop { dest, list, stride }))
            }
            Change::ListClear => St::ListClear(Box::new(self.place_of(on, frame)?)),
            Change::WndReset => St::WndReset(Box::new((self.place_of(on, frame)?, expr(0)?))),
            Change::WndSet | Change::WndUnset => St::WndSet(Box::new(WndSet {
                dest,
                wnd: self.place_of(on, frame)?,
                shape: wnd_shape(&on.ty),
                value: what == Change::WndSet,
                from: expr(0)?,
                to: expr(1)?,
            })),
            Change::WndSlide => {
                let to = if args.is_empty() { None } else { Some(expr(0)?) };
                St::WndSlide(Box::new((self.place_of(on, frame)?, to)))
            }
        })
    }

    /// Statements on lists, windows, events and blueprints.
    fn data_stmt(&self, kind: &StmtKind, frame: &Frame) -> Result<St, String> {
        let own = |local: &LocalId| frame.locals[local.index()].cell;
        Ok(match kind {
            StmtKind::Change { what, dest, on, args } => self.change(*what, *dest, on, args, frame)?,
            StmtKind::SetFlowId { event, id } => {
                put(self.flow_id(*event, id.ty.clone(), frame)?, self.value(id, frame)?)
            }
            StmtKind::Extract { bp } => St::Extract(self.blueprint_of(*bp, frame)?.0 as u32, own(bp)),
            StmtKind::FrameAdd { bp, frame: added } => self.frame_add(*bp, *added, frame)?,
            StmtKind::OptAdd { bp, opt, args } => self.option_add(*bp, *opt, args, frame)?,
            kind => self.payload_stmt(kind, frame)?,
        })
    }

    /// `bp.opts.add(an_option(...))`.
    fn option_add(&self, bp: LocalId, opt: OptId, args: &[Expr], frame: &Frame) -> Result<St, String> {
        let few = "an option with too few fields";
        let (of, at) = self.blueprint_of(bp, frame)?;
        let cell = at + self.layout.blueprints[of].option(opt)?;
        let def = &self.program.opts[opt.index()];
        let mut args = args.iter();
        let mut parts = vec![Ex::Lit(1)];
        for field in &def.fields {
            parts.push(match field.fixed {
                Some(value) => Ex::Lit(value),
                None => self.expr(args.next().ok_or(few)?, frame)?,
            });
        }
        let elements = cell + parts.len() as u32;
        let parts = Value::Parts(parts.into_boxed_slice());
        let Some(list) = &def.list else {
            let place = Place { root: Root::Frame, offset: cell, indices: Vec::new() };
            return Ok(St::Put(Box::new((place, parts))));
        };
        let (least, list) = (list.least, self.value(args.next().ok_or(few)?, frame)?);
        Ok(St::OptAdd(Box::new(OptAdd { cell, parts, elements, list, least })))
    }

    /// `bp.payload = data(...)`.
    fn payload_stmt(&self, kind: &StmtKind, frame: &Frame) -> Result<St, String> {
        let expr = |e: &Expr| self.expr(e, frame);
        let cell = |bp: &LocalId| -> Result<u32, String> {
            let (of, at) = self.blueprint_of(*bp, frame)?;
            Ok(at + self.layout.blueprints[of].payload)
        };
        Ok(match kind {
            StmtKind::SetPayload { bp, ctx, offset, len, mss } => St::SetPayload(Box::new(SetPayload {
                cell: cell(bp)?,
                ctx: self.local(*ctx, frame.into())?.0,
                offset: expr(offset)?,
                len: expr(len)?,
                mss: mss.as_ref().map(expr).transpose()?,
            })),
            StmtKind::SetPayloadOf { bp, ctx, id, offset, len, mss } => {
                St::SetPayloadOf(Box::new(SetPayloadOf {
                    cell: cell(bp)?,
                    ctx: ctx.index(),
                    id: self.value(id, frame)?,
                    offset: expr(offset)?,
                    len: expr(len)?,
                    mss: mss.as_ref().map(expr).transpose()?,
                }))
            }
            StmtKind::SetPayloadAt { bp, addr, len, mss } => St::SetPayloadAt(Box::new(SetPayloadAt {
                cell: cell(bp)?,
                addr: self.value(addr, frame)?,
                len: expr(len)?,
                mss: mss.as_ref().map(expr).transpose()?,
            })),
            _ => return Err("a statement out of its place".to_owned()),
        })
    }

    fn frame_add(&self, bp: LocalId, added: LocalId, frame: &Frame) -> Result<St, String> {
        let (packet, list) = self.blueprint_of(bp, frame)?;
        let (kind, cell) = self.blueprint_of(added, frame)?;
        let layout = &self.layout.blueprints[packet];
        let of = self.program.blueprints[packet].frames.as_ref();
        Ok(St::FrameAdd(Box::new(FrameAdd {
            list: list + layout.frames,
            most: of.map_or(0, |f| f.most),
            stride: layout.frame_cells,
            bp: kind,
            frame: cell,
            size: self.layout.blueprints[kind].size,
        })))
    }

    fn call(&self, dest: Option<u32>, func: FuncId, args: &[IrArg], frame: &Frame) -> Result<St, String> {
        let callee = &self.program.functions[func.index()];
        let (cells, _) = self.frame(callee);
        let mut given = Vec::new();
        for (arg, param) in args.iter().zip(&cells.locals) {
            let arg = match arg {
                IrArg::Value(e) => Arg::Value(self.value(e, frame)?),
                IrArg::Ref(local) if param.by_ref => Arg::Address(self.local(*local, frame.into())?.0),
                IrArg::Ref(local) => {
                    let (place, ty) = self.local(*local, frame.into())?;
                    Arg::Value(Value::Copy(place, self.layout.size(&ty)))
                }
            };
            given.push((param.cell, arg));
        }
        Ok(St::Call(Box::new(CallSt { func: func.index(), args: given, dest })))
    }

    fn list_add(&self, list: &IrPlace, value: &Expr, frame: &Frame) -> Result<ListAdd, String> {
        let key = self.sort_key(&list.ty)?;
        let (list, capacity, stride) = self.list(list, frame)?;
        Ok(ListAdd { list, capacity, stride, key, value: self.value(value, frame)? })
    }

    /// By what a list is sorted, if it is.
    pub(super) fn sort_key(&self, list: &Ty) -> Result<Option<SortKey>, String> {
        let Ty::List(of, _, order) = list else { return Err("sorted, and no list".to_owned()) };
        let Some(ty) = self.program.sort_key(of, *order) else { return Ok(None) };
        let offset = match (order, &**of) {
            (Order::SortedBy(field), Ty::Struct(id)) => {
                self.layout.struct_fields(*id).fields[*field as usize]
            }
            _ => 0,
        };
        Ok(Some(SortKey { ty, offset, stride: self.layout.size(of) }))
    }

    /// A list, its capacity, and the cells of an element.
    fn list(&self, list: &IrPlace, frame: &Frame) -> Result<(Place, u32, u32), String> {
        let Ty::List(of, n, _) = &list.ty else {
            return Err("a list statement on what is no list".to_owned());
        };
        Ok((self.place_of(list, frame)?, *n, self.layout.size(of)))
    }

    fn blueprint_of(&self, local: LocalId, frame: &Frame) -> Result<(usize, u32), String> {
        match &frame.locals[local.index()] {
            LocalCell { ty: Ty::Blueprint(b), cell, .. } => Ok((b.index(), *cell)),
            _ => Err("not a blueprint".to_owned()),
        }
    }
}

/// The assignment of a value to a place.
fn put(place: Place, value: Value) -> St {
    match (value, place.root, place.indices.is_empty()) {
        (Value::Scalar(x), Root::Frame, true) => St::Set(place.offset, x),
        (Value::Scalar(x), ..) => St::SetAt(Box::new((place, x))),
        (value, ..) => St::Put(Box::new((place, value))),
    }
}

/// What is made of an operand of the type `T`.
trait Operand<T>: Sized {
    fn link(from: &T, linker: &mut Linker, frame: &Frame) -> Result<Self, String>;
}

macro_rules! link {
    ($($Name:ident = $number:literal $({ $($operand:ident: $Kind:ident),* })? => $declaration:expr,)*) => {
        impl Linker<'_> {
            /// An instruction with each of its operands linked.
            fn instr(&mut self, instr: &Instr, frame: &Frame) -> Result<In, String> {
                Ok(match instr {
                    $(Instr::$Name $({ $($operand),* })? => {
                        In::$Name $({ $($operand: Operand::link($operand, self, frame)?),* })?
                    })*
                })
            }
        }
    };
}

carrick_ir::for_each_instruction!(link);

impl Operand<Expr> for Ex {
    fn link(from: &Expr, linker: &mut Linker, frame: &Frame) -> Result<Ex, String> {
        linker.expr(from, frame)
    }
}

impl Operand<Expr> for Value {
    fn link(from: &Expr, linker: &mut Linker, frame: &Frame) -> Result<Value, String> {
        linker.value(from, frame)
    }
}

/// A context.
impl Operand<LocalId> for Place {
    fn link(from: &LocalId, linker: &mut Linker, frame: &Frame) -> Result<Place, String> {
        linker.local(*from, frame.into()).map(|(place, _)| place)
    }
}

/// A blueprint.
impl Operand<LocalId> for (usize, u32) {
    fn link(from: &LocalId, linker: &mut Linker, frame: &Frame) -> Result<(usize, u32), String> {
        linker.blueprint_of(*from, frame)
    }
}

/// An event.
impl Operand<LocalId> for (usize, Place) {
    fn link(from: &LocalId, linker: &mut Linker, frame: &Frame) -> Result<(usize, Place), String> {
        match linker.local(*from, frame.into())? {
            (place, Ty::Event(event)) => Ok((event.index(), place)),
            _ => Err("not an event".to_owned()),
        }
    }
}

impl Operand<CtxId> for usize {
    fn link(from: &CtxId, _: &mut Linker, _: &Frame) -> Result<usize, String> {
        Ok(from.index())
    }
}

impl Operand<TimerId> for u32 {
    fn link(from: &TimerId, _: &mut Linker, _: &Frame) -> Result<u32, String> {
        Ok(from.0)
    }
}

impl Operand<Vec<RuleId>> for usize {
    fn link(from: &Vec<RuleId>, linker: &mut Linker, _: &Frame) -> Result<usize, String> {
        linker.rule_lists.push(from.iter().map(|rule| rule.index()).collect());
        Ok(linker.rule_lists.len() - 1)
    }
}

impl<T, L: Operand<T>> Operand<Option<T>> for Option<L> {
    fn link(from: &Option<T>, linker: &mut Linker, frame: &Frame) -> Result<Option<L>, String> {
        from.as_ref().map(|from| L::link(from, linker, frame)).transpose()
    }
}
