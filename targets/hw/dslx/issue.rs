// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instructions: each statement that issues one is a site, whose number and operands leave the pipeline in a slot.

use carrick_ir::{CtxId, Expr, Instr, Loc, LocalId, Operand, Ty};

use super::body::Body;
use super::emitter::{Emitted, Emitter, Site, unsupported};

impl Emitter<'_> {
    /// Writes what issues an instruction.
    pub fn issue(&mut self, instr: &Instr, loc: Loc, body: &mut Body<'_>) -> Emitted<()> {
        match instr {
            Instr::NewCtx { ctx, value, id } => self.make(*ctx, *value, id, loc, body)?,
            Instr::DelCtx { .. } => body.line_of(loc, "let io = Issued { gone: u1:1, ..io };"),
            Instr::RebindCtx { .. } => return unsupported("`rebind_ctx`", loc),
            Instr::PktStore { .. } | Instr::PktRelease { .. } | Instr::PktDiscard { .. } => {
                return unsupported("a store of packets", loc);
            }
            _ => {}
        }
        let site = self.sites.len();
        let (types, values) = self.operands(instr, loc, body)?;
        let bits = self.width(&types);
        let wide = bits > self.slot_bits;
        let (issue, space) = if wide { ("issue_wide", "WIDE") } else { ("issue", "ARGS") };
        let args = match values.as_slice() {
            [] => format!("uN[{space}]:0"),
            all => format!("({}) as uN[{space}]", all.join(" ++ ")),
        };
        body.line_of(loc, &format!("let io = {issue}(io, u8:{site}, {args});"));
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
