// SPDX-License-Identifier: MIT OR Apache-2.0
//! Noting what is issued on a path, and with which operands.

use carrick_ir::{CtxId, Expr, Instr, LocalId, Operand, Ty, print};

use crate::machine::{Frame, Machine};
use crate::path::End;
use crate::value::{Effect, Value};

impl<'p> Machine<'p> {
    fn note(&mut self, effect: Effect) {
        if let Some(effects) = &mut self.effects {
            effects.push(effect);
        }
    }

    /// Evaluates the operands of an instruction.
    pub(crate) fn note_instr(&mut self, instr: &'p Instr, frame: &mut Frame) -> Result<(), End> {
        let mut what = instr.opcode().name().to_owned();
        let mut parts = Vec::new();
        let mut context = None;
        for (name, operand) in instr.operands() {
            if let Some(e) = operand.expr() {
                let value = self.eval(e, frame)?;
                parts.push((name, e.ty.clone(), self.by_value(value)));
                continue;
            }
            match operand {
                Operand::ContextType(ctx) => what += &format!(" {}", self.program.contexts[ctx.index()].name),
                Operand::Context(local) | Operand::OwnContext(local) => {
                    context = self.context_of(frame, *local).ok();
                    what += &format!(" {}", self.instance(*local, frame));
                }
                Operand::Timer(timer) => {
                    let timers = context.map(|ctx: CtxId| &self.program.contexts[ctx.index()].timers);
                    what += &timers.map_or_else(String::new, |all| format!(".{}", all[timer.index()].name));
                }
                Operand::Rules(rules) => {
                    let rules =
                        rules.iter().map(|rule| format!(", {}", self.program.seg_rules[rule.index()].name));
                    what.extend(rules);
                }
                Operand::Initial(local) | Operand::Packet(local) | Operand::Event(local) => {
                    what += &self.type_of(*local, frame);
                    parts.extend(self.local_part(name, *local, frame));
                }
                Operand::Header(Some(local)) | Operand::Sent(Some(local)) => {
                    what += &self.type_of(*local, frame);
                    parts.extend(self.local_part(name, *local, frame));
                }
                _ => {}
            }
        }
        self.note(Effect { what, parts });
        Ok(())
    }

    fn local_part(
        &self,
        name: &'static str,
        local: LocalId,
        frame: &Frame,
    ) -> Option<(&'static str, Ty, Value)> {
        self.effects.as_ref()?;
        let ty = self.local_ty(frame, local)?.clone();
        Some((name, ty, self.by_value(frame.locals[local.index()].clone())))
    }

    /// The type of a context, and which instance it is among those that the path has.
    pub(crate) fn instance(&self, local: LocalId, frame: &Frame) -> String {
        let name =
            self.context_of(frame, local).map_or("?", |ctx| self.program.contexts[ctx.index()].name.as_str());
        match frame.locals.get(local.index()) {
            Some(Value::Object(at)) if self.objects.contains(at) => name.to_owned(),
            _ => format!("another {name}"),
        }
    }

    /// The name of a local's type, behind a space.
    fn type_of(&self, local: LocalId, frame: &Frame) -> String {
        let ty = self.local_ty(frame, local);
        ty.map_or_else(String::new, |ty| format!(" {}", print::type_name(self.program, ty)))
    }

    /// Where the bytes of a blueprint come from; nothing, if nobody wants to know.
    pub(crate) fn source(
        &mut self,
        what: String,
        exprs: Vec<(&'static str, &'p Expr)>,
        frame: &mut Frame,
    ) -> Result<Value, End> {
        if self.effects.is_none() {
            return Ok(Value::Nothing);
        }
        let mut parts = Vec::new();
        for (name, e) in exprs {
            let value = self.eval(e, frame)?;
            parts.push((name, e.ty.clone(), value));
        }
        Ok(Value::Source(Box::new(Effect { what, parts })))
    }

    /// A frame of a blueprint; nothing, if nobody wants to know.
    pub(crate) fn frame_source(&self, local: LocalId, frame: &Frame) -> Option<Value> {
        let parts = self.local_part("frame", local, frame)?;
        let what = format!("frame{}", self.type_of(local, frame));
        Some(Value::Source(Box::new(Effect { what, parts: vec![parts] })))
    }
}
