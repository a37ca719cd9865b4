// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instructions: a call of what `context.rs` and `queue.rs` generate for each type.

use carrick_ir::{self as ir, Expr, Instr, Opcode, Ty};

use crate::Emitter;

impl Emitter<'_> {
    /// `PROGRAM__context` of the context that a local refers to.
    pub(crate) fn context_name(&self, ctx: ir::LocalId) -> String {
        match self.local_type(ctx) {
            Ty::Context(id) => self.names.own(&self.p.contexts[id.index()].name),
            _ => String::new(),
        }
    }

    fn on_context(&mut self, ctx: ir::LocalId, what: &str, args: &[&Expr]) {
        let args: String = args.iter().map(|e| format!(", {}", self.value(e))).collect();
        let text = format!("{}_{what}(core, {}{args});", self.context_name(ctx), self.local(ctx));
        self.w.line(text);
    }

    pub(crate) fn instr(&mut self, instr: &Instr) {
        match instr {
            Instr::NewCtx { ctx, value, id } => {
                let name = self.names.own(&self.p.contexts[ctx.index()].name);
                let text = format!("{name}_new(core, {}, &{});", self.value(id), self.local(*value));
                self.w.line(text);
            }
            Instr::DelCtx { ctx } => {
                let text = format!("{}_delete(core, chain, {});", self.context_name(*ctx), self.local(*ctx));
                self.w.line(text);
            }
            Instr::RebindCtx { ctx, id } => self.on_context(*ctx, "rebind", &[id]),
            Instr::RetireCtx { ctx } => self.on_context(*ctx, "retire", &[]),
            Instr::NewTxOrderedData { ctx, size } => self.on_context(*ctx, "tx_open", &[size]),
            Instr::NewRxOrderedData { ctx, size } => self.on_context(*ctx, "rx_open", &[size]),
            Instr::AddTxData { ctx, addr, len } => self.on_context(*ctx, "tx_add", &[addr, len]),
            Instr::TxFlushAndNotify { ctx, len } => self.on_context(*ctx, "tx_flush", &[len]),
            Instr::AddRxDataSeg { ctx, addr, len, offset } => {
                self.on_context(*ctx, "rx_add", &[addr, len, offset])
            }
            Instr::RxFlushAndNotify { ctx, len, addr } => self.on_context(*ctx, "rx_flush", &[len, addr]),
            Instr::RxResize { ctx, size } => self.on_context(*ctx, "rx_resize", &[size]),
            Instr::PktGen { bp, rules, sent, queue } => self.pkt_gen(*bp, rules, *sent, queue.as_ref()),
            Instr::TimerStart { ctx, timer, which, after } => {
                self.timer("start", (*ctx, *timer, which.as_ref()), Some(after));
            }
            Instr::TimerRestart { ctx, timer, which, after } => {
                self.timer("restart", (*ctx, *timer, which.as_ref()), Some(after));
            }
            Instr::TimerStop { ctx, timer, which } => {
                self.timer("stop", (*ctx, *timer, which.as_ref()), None);
            }
            Instr::Notify { token, status, value } => {
                let value = value.as_ref().map_or_else(|| "0".into(), |v| self.word(v));
                let text = format!(
                    "{}(core, {}, {}, {value});",
                    self.names.own("notify"),
                    self.value(token),
                    self.value(status)
                );
                self.w.line(text);
            }
            Instr::PutData { from, len, to } => {
                let text = format!(
                    "{}(core, {}, {}, {});",
                    self.names.own("put_data"),
                    self.value(from),
                    self.value(len),
                    self.value(to)
                );
                self.w.line(text);
            }
            Instr::SetQueueRate { queue, rate } => self.set_queue("rate", queue, rate),
            Instr::SetQueuePrio { queue, prio } => self.set_queue("prio", queue, prio),
            Instr::Raise { event } => self.raise(*event),
            Instr::Forward { .. }
            | Instr::PktCopy { .. }
            | Instr::Drop
            | Instr::PktStore { .. }
            | Instr::PktRelease { .. }
            | Instr::PktDiscard { .. } => self.packet_instr(instr),
        }
    }

    fn pkt_gen(
        &mut self,
        bp: ir::LocalId,
        rules: &[ir::RuleId],
        sent: Option<ir::LocalId>,
        queue: Option<&ir::Expr>,
    ) {
        let queue = self.queue_arg(queue);
        let Ty::Blueprint(kind) = self.local_type(bp) else { return };
        let name = self.names.own(&self.p.blueprints[kind.index()].name);
        let mask = rules.iter().fold(0_u64, |mask, rule| mask | 1 << rule.0);
        let args = [&format!("&{}", self.local(bp)), &format!("{mask}u"), &*queue];
        self.dialect.generate(self, &format!("{name}_generate"), args, sent);
    }

    fn raise(&mut self, event: ir::LocalId) {
        let Ty::Event(kind) = *self.local_type(event) else { return };
        let name = self.p.events[kind.index()].name.clone();
        let local = self.local(event);
        self.trace_instr(Opcode::Raise, &[&format!("{}u", kind.0)]);
        self.w.line(format!("CARRICK_RAISE(core, chain, {}, {name}_, {local});", kind.0));
    }
}
