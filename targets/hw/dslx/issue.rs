// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instructions: each statement that issues one is a site, whose number and operands leave the pipeline in a slot. Which slot is
//! known when the function is written: it is behind those of all that may have been issued before. So nothing in the pipeline
//! chooses a slot, and slots may stay empty. Statements of which only one runs share slots.

use carrick_ir::{CtxId, Expr, Instr, Loc, LocalId, Operand, Ty};

use super::body::{Body, Places};
use super::emitter::{Emitted, Emitter, Site, unsupported};
use super::timers;

const ISSUED: &str = include_str!("issued.x");

/// What a chain has issued: the declarations.
pub fn declarations(context: Option<&str>, draws: bool, timers: u32) -> String {
    let instance = context.map(|c| format!("    made: u1,\n    instance: {c},\n")).unwrap_or_default();
    let drawn = if draws { "    drawn: u8,\n" } else { "" };
    let (count, timed, scheduled) = match timers {
        0 => (String::new(), "", ""),
        n => (
            format!("// Timers of a flow.\nconst TIMERS = u32:{n};\n\n{}", timers::TIMER),
            "    timers: Timer[TIMERS],\n",
            "    ran: u1,\n    starts: uN[TIMERS],\n    stops: uN[TIMERS],\n    cancels: u56[TIMERS],\n",
        ),
    };
    format!(
        "{count}// An instruction: the number of the statement that issued it, and its operands; or which of the wide ones they are. The number 0\n\
         // says that there is none.\n\
         pub struct Slot {{\n    site: u8,\n    args: uN[ARGS],\n}}\n\n\
         // What a chain has issued so far: whether it has stopped, whether its context ends, a new instance, the instructions.\n\
         pub struct Issued {{\n{timed}    stop: u1,\n    gone: u1,\n{instance}{drawn}{scheduled}    wide: uN[WIDE][WIDES],\n    slots: Slot[SLOTS],\n}}\n\n{ISSUED}"
    )
}

impl Emitter<'_> {
    /// Writes what issues an instruction.
    pub fn issue(&mut self, instr: &Instr, loc: Loc, body: &mut Body<'_>) -> Emitted<()> {
        match instr {
            Instr::NewCtx { ctx, value, id } => self.make(*ctx, *value, id, loc, body)?,
            Instr::DelCtx { .. } => body.line_of(loc, "let io = Issued { gone: u1:1, ..io };"),
            Instr::RebindCtx { .. } => return unsupported("`rebind_ctx`", loc),
            Instr::RetireCtx { .. } => return unsupported("`retire_ctx`", loc),
            Instr::PktStore { .. } | Instr::PktRelease { .. } | Instr::PktDiscard { .. } => {
                return unsupported("a store of packets", loc);
            }
            _ => {}
        }
        // Number 0 is that of an empty slot.
        let site = self.sites.len() + 1;
        let (types, values) = self.operands(instr, loc, body)?;
        let bits = self.width(&types);
        let wide = bits > self.slot_bits;
        let (issue, space) = if wide { ("issue_wide", "WIDE") } else { ("issue", "ARGS") };
        let at = body.places.text();
        let args = match values.as_slice() {
            [] => format!("uN[{space}]:0"),
            all => format!("({}) as uN[{space}]", all.join(" ++ ")),
        };
        body.line_of(loc, &format!("let io = {issue}(io, {at}, u8:{site}, {args});"));
        match instr {
            Instr::TimerStart { timer, which, after, .. } => {
                self.time(*timer, which.as_ref(), Some((after, false)), loc, body)?;
            }
            Instr::TimerRestart { timer, which, after, .. } => {
                self.time(*timer, which.as_ref(), Some((after, true)), loc, body)?;
            }
            Instr::TimerStop { timer, which, .. } => self.time(*timer, which.as_ref(), None, loc, body)?,
            _ => {}
        }
        body.issued = true;
        body.places = body.places + Places { slots: 1, wides: u32::from(wide) };
        let locals = body.function.locals.clone();
        self.sites.push(Site { instr: instr.clone(), loc, args: types, bits, wide, locals });
        Ok(())
    }

    /// The values that leave with an instruction, and their types.
    fn operands(&mut self, instr: &Instr, loc: Loc, body: &Body<'_>) -> Emitted<(Vec<Ty>, Vec<String>)> {
        let (mut types, mut values) = (Vec::new(), Vec::new());
        // What a new instance is like leaves in fields of its own.
        if matches!(instr, Instr::NewCtx { .. }) {
            return Ok((types, values));
        }
        for (_, operand) in instr.operands() {
            let (ty, value) = match operand {
                Operand::Packet(local)
                | Operand::Event(local)
                | Operand::Header(Some(local))
                | Operand::Sent(Some(local)) => self.local(*local, body),
                operand => match operand.expr() {
                    Some(e) => (e.ty.clone(), self.expr(e, body.scope(loc))?),
                    None => continue,
                },
            };
            values.push(self.flat(&ty, &value));
            types.push(ty);
        }
        Ok((types, values))
    }

    fn local(&self, local: LocalId, body: &Body<'_>) -> (Ty, String) {
        (body.function.locals[local.index()].ty.clone(), body.name(local).to_owned())
    }

    fn make(&mut self, ctx: CtxId, value: LocalId, id: &Expr, loc: Loc, body: &mut Body<'_>) -> Emitted<()> {
        if self.made.is_some_and(|made| made != ctx) {
            return unsupported("instances of two contexts", loc);
        }
        self.made = Some(ctx);
        let (name, id) = (self.ty(&Ty::Context(ctx)), self.expr(id, body.scope(loc))?);
        let value = body.name(value);
        body.line_of(
            loc,
            &format!("let io = Issued {{ made: u1:1, instance: {name} {{ id: {id}, ..{value} }}, ..io }};"),
        );
        Ok(())
    }
}
