// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the host does with an instruction that a pipeline issued: a function for each site, which issues it with the operands of
//! the slot.

use carrick_ir::{
    Block, CtxId, Expr, ExprKind, FuncId, Function, Instr, Local, LocalId, Operand, Place, Program, Stmt,
    StmtKind, Text, Ty,
};

use super::dslx::{Design, Site};

/// What a site's function is given.
pub enum Param {
    /// the chain's context
    Own,
    /// the initial values of an instance, and its id
    Instance,
    InstanceId,
    /// the next value of the slot
    Value,
}

/// The function of a site, and what it is given.
pub struct Handler {
    pub function: FuncId,
    pub params: Vec<Param>,
}

/// A program with a function for each site.
pub fn extended(program: &Program, design: &Design) -> (Program, Vec<Handler>) {
    let mut program = program.clone();
    let mut handlers = Vec::new();
    for (n, site) in design.sites.iter().enumerate() {
        let function = FuncId(program.functions.len() as u32);
        let (text, params) = function_of(site, n, design.context);
        program.functions.push(text);
        handlers.push(Handler { function, params });
    }
    (program, handlers)
}

fn function_of(site: &Site, n: usize, context: CtxId) -> (Function, Vec<Param>) {
    let mut locals = Vec::new();
    let mut params = Vec::new();
    let mut instr = site.instr.clone();
    let (mut named, mut exprs) = (Vec::new(), Vec::new());
    for (name, operand) in site.instr.operands() {
        let (ty, param) = match operand {
            Operand::Context(_) | Operand::OwnContext(_) => (Ty::Context(context), Param::Own),
            Operand::Initial(_) => (Ty::Context(context), Param::Instance),
            Operand::Packet(local)
            | Operand::Event(local)
            | Operand::Header(Some(local))
            | Operand::Sent(Some(local)) => {
                let ty = site.locals[local.index()].ty.clone();
                (ty.clone(), Param::Value)
            }
            operand => match operand.expr() {
                Some(e) if matches!(operand, Operand::Id(_)) => (e.ty.clone(), Param::InstanceId),
                Some(e) => (e.ty.clone(), Param::Value),
                None => continue,
            },
        };
        let local = LocalId(locals.len() as u32);
        match operand.expr() {
            Some(_) => exprs.push((local, ty.clone())),
            None => named.push(local),
        }
        locals.push(Local { name: name.to_owned(), ty });
        params.push(param);
    }
    rename(&mut instr, &named);
    for (e, (root, ty)) in instr.exprs_mut().into_iter().zip(exprs) {
        let place = Place { root, path: Vec::new(), ty: ty.clone() };
        *e = Expr { kind: ExprKind::Load(place), ty, loc: site.loc };
    }
    let stmts = vec![Stmt { kind: StmtKind::Instr(instr), loc: site.loc }];
    let function = Function {
        name: format!("site_{n}"),
        doc: Text::default(),
        loc: site.loc,
        params: locals.len() as u32,
        locals,
        ret: Ty::Void,
        body: Block { stmts },
        pure: false,
        may_stop: false,
        max_raised: 1,
    };
    (function, params)
}

/// Puts other locals in place of those that an instruction names, in order.
fn rename(instr: &mut Instr, to: &[LocalId]) {
    let mut to = to.iter().copied();
    let mut next = |local: &mut LocalId| *local = to.next().unwrap_or(*local);
    match instr {
        Instr::NewCtx { value, .. } => next(value),
        Instr::DelCtx { ctx }
        | Instr::TimerStart { ctx, .. }
        | Instr::TimerRestart { ctx, .. }
        | Instr::TimerStop { ctx, .. }
        | Instr::NewTxOrderedData { ctx, .. }
        | Instr::NewRxOrderedData { ctx, .. }
        | Instr::AddTxData { ctx, .. }
        | Instr::TxFlushAndNotify { ctx, .. }
        | Instr::AddRxDataSeg { ctx, .. }
        | Instr::RxFlushAndNotify { ctx, .. }
        | Instr::RxResize { ctx, .. } => next(ctx),
        Instr::Raise { event } => next(event),
        Instr::PktGen { bp, sent, .. } => {
            next(bp);
            sent.iter_mut().for_each(next);
        }
        Instr::Forward { header, .. } | Instr::PktCopy { header, .. } => header.iter_mut().for_each(next),
        // These name none, or are refused.
        _ => {}
    }
}
