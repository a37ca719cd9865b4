// SPDX-License-Identifier: MIT OR Apache-2.0
//! What instructions change of the state that is explored. What they do to packets, data and the application has no effect on it.

use carrick_ir::{BpFieldKind, BpId, Expr, Instr, Loc, LocalId, StmtKind, TimerId, Ty, walk};

use crate::layout;
use crate::machine::{Frame, Machine, Made, unsupported};
use crate::path::End;
use crate::site::Kind;
use crate::value::Value;

impl<'p> Machine<'p> {
    pub(crate) fn instr(&mut self, instr: &'p Instr, loc: Loc, frame: &mut Frame) -> Result<(), End> {
        self.note_instr(instr, frame)?;
        match instr {
            Instr::NewCtx { ctx, value, id } => {
                let object = self.object(frame, *value)?;
                let mut made = self.heap[object].clone();
                let id = self.eval(id, frame)?;
                if let Value::Record(parts) = &mut made {
                    parts[layout::id(self.program, *ctx)] = id;
                }
                let object = self.alloc(made);
                self.made.push(Made { object, context: *ctx });
            }
            Instr::DelCtx { ctx } => {
                let object = self.object(frame, *ctx)?;
                self.deleted.insert(object);
            }
            Instr::RebindCtx { ctx, id } => self.rebind(*ctx, id, frame)?,
            Instr::TimerStart { ctx, timer, which, .. } | Instr::TimerRestart { ctx, timer, which, .. } => {
                self.set_timer(*ctx, *timer, which.as_ref(), true, frame)?;
            }
            Instr::TimerStop { ctx, timer, which } => {
                self.set_timer(*ctx, *timer, which.as_ref(), false, frame)?;
            }
            Instr::NewTxOrderedData { ctx, .. }
            | Instr::NewRxOrderedData { ctx, .. }
            | Instr::AddTxData { ctx, .. }
            | Instr::TxFlushAndNotify { ctx, .. }
            | Instr::RxFlushAndNotify { ctx, .. }
            | Instr::RxResize { ctx, .. } => self.forget_units(*ctx, frame)?,
            Instr::PktGen { bp, .. } => self.check_sent(*bp, loc, frame)?,
            Instr::Forward { header: Some(bp), .. } | Instr::PktCopy { header: Some(bp), .. } => {
                self.check_sent(*bp, loc, frame)?;
            }
            Instr::RetireCtx { .. }
            | Instr::Raise { .. }
            | Instr::AddRxDataSeg { .. }
            | Instr::PutData { .. }
            | Instr::Notify { .. }
            | Instr::SetQueueRate { .. }
            | Instr::SetQueuePrio { .. }
            | Instr::Forward { .. }
            | Instr::PktCopy { .. }
            | Instr::Drop
            | Instr::PktStore { .. }
            | Instr::PktRelease { .. }
            | Instr::PktDiscard { .. } => {}
        }
        Ok(())
    }

    /// The new id, unless another instance has it.
    fn rebind(&mut self, ctx: LocalId, id: &'p Expr, frame: &mut Frame) -> Result<(), End> {
        let part = layout::id(self.program, self.context_of(frame, ctx)?);
        let new = self.eval(id, frame)?;
        let free = self.fresh("the id is free", &Ty::Bool, 1);
        let object = self.object(frame, ctx)?;
        let old = self.part_mut(object, part)?.clone();
        let id = crate::value::choose(&mut self.path.terms, free, &new, &old);
        *self.part_mut(object, part)? = id.ok_or_else(|| unsupported("an id of another form"))?;
        Ok(())
    }

    fn set_timer(
        &mut self,
        ctx: LocalId,
        timer: TimerId,
        which: Option<&'p Expr>,
        runs: bool,
        frame: &mut Frame,
    ) -> Result<(), End> {
        let context = self.context_of(frame, ctx)?;
        let def = &self.program.contexts[context.index()].timers[timer.index()];
        let first = layout::timers(self.program, context) + timer.index();
        let which = which.map(|which| self.scalar(which, frame)).transpose()?;
        let object = self.object(frame, ctx)?;
        let value = self.path.terms.truth(runs);
        for at in 0..which.map_or(1, |_| def.count() as usize) {
            let is = match which {
                Some(which) => self.is(which, at as u64),
                None => self.number(1, 1),
            };
            let Value::Scalar(old) = *self.part_mut(object, first + at)? else { continue };
            let new = self.path.terms.ite(is, value, old);
            *self.part_mut(object, first + at)? = Value::Scalar(new);
        }
        Ok(())
    }

    /// The space of data units is another one from here on.
    fn forget_units(&mut self, ctx: LocalId, frame: &mut Frame) -> Result<(), End> {
        let context = self.context_of(frame, ctx)?;
        let object = self.object(frame, ctx)?;
        for part in [layout::tx_room(self.program, context), layout::rx_size(self.program, context)] {
            let space = self.fresh("space of a unit", &Ty::Bytes, 64);
            *self.part_mut(object, part)? = Value::Scalar(space);
        }
        Ok(())
    }

    /// A packet with a field out of its range is not made.
    fn check_sent(&mut self, bp: LocalId, loc: Loc, frame: &mut Frame) -> Result<(), End> {
        if self.bounds.count {
            return Ok(());
        }
        let Some(Ty::Blueprint(of)) = self.local_ty(frame, bp) else { return Ok(()) };
        let ranges = sent_ranges(self.program, *of);
        let Value::Record(parts) = frame.locals[bp.index()].clone() else { return Ok(()) };
        for (field, lo, hi) in ranges {
            if let Value::Scalar(value) = parts[field] {
                let fits = self.within(value, lo, hi, false);
                let bad = self.path.terms.not(fits);
                self.check(Kind::Cut, loc, bad);
            }
        }
        Ok(())
    }
}

/// The fields of a blueprint that a program sets, with the values that they can have in a packet.
pub(crate) fn sent_ranges(program: &carrick_ir::Program, bp: BpId) -> Vec<(usize, u64, u64)> {
    let def = &program.blueprints[bp.index()];
    let fields = def.fields.iter().enumerate();
    let plain = fields.filter(|(_, field)| matches!(field.kind, BpFieldKind::Plain { .. }));
    plain.filter_map(|(at, f)| def.values_when_sent(f).map(|(lo, hi)| (at, lo, hi))).collect()
}

/// Whether a program gives contexts other ids.
pub(crate) fn rebinds(program: &carrick_ir::Program) -> bool {
    let mut rebinds = false;
    for def in &program.functions {
        walk::statements(&def.body, &mut |stmt| {
            rebinds |= matches!(stmt.kind, StmtKind::Instr(Instr::RebindCtx { .. }));
        });
    }
    rebinds
}
