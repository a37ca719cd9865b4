//! Instructions, and the statements that make packets and events.

use super::{Check, Scope};
use crate::{EventKind, Expr, Instr, LocalId, StmtKind, Ty};

impl Check<'_> {
    pub(super) fn instr(&mut self, instr: &Instr) {
        match instr {
            Instr::NewCtx { ctx, value, id } => self.new_ctx(*ctx, *value, id),
            Instr::DelCtx { ctx } => self.chain_context(*ctx),
            Instr::NewTxOrderedData { ctx, size } | Instr::NewRxOrderedData { ctx, size } => {
                self.unit(*ctx, &[(size, Ty::Bytes)]);
            }
            Instr::AddTxData { ctx, addr, len } | Instr::RxFlushAndNotify { ctx, len, addr } => {
                self.unit(*ctx, &[(addr, Ty::Addr), (len, Ty::Bytes)]);
            }
            Instr::TxFlushAndNotify { ctx, len } => self.unit(*ctx, &[(len, Ty::Bytes)]),
            Instr::AddRxDataSeg { ctx, addr, len, offset } => {
                self.unit(*ctx, &[(addr, Ty::Addr), (len, Ty::Bytes), (offset, Ty::U64)]);
            }
            Instr::PutData { from, len, to } => {
                self.expr_of(from, &Ty::Addr, "where the octets are");
                self.expr_of(len, &Ty::Bytes, "how many");
                self.expr_of(to, &Ty::Addr, "where they go");
            }
            Instr::PktGen { bp, rules, sent, queue } => {
                if let Some(queue) = queue {
                    self.expr_of(queue, &Ty::U32, "the queue");
                }
                let def = self.blueprint_local(*bp);
                self.must(def.is_some_and(|(_, def)| !def.frame), "a packet of a frame");
                for rule in rules {
                    let of = self.program.seg_rules.get(rule.index()).map(|r| r.blueprint);
                    let fits = of.zip(def).is_some_and(|(of, (id, def))| {
                        of == id || def.frames.as_ref().is_some_and(|f| f.members.contains(&of))
                    });
                    self.must(fits, "a rule of another blueprint");
                }
                if let Some(sent) = sent {
                    self.event_of_kind(*sent, EventKind::Sent);
                }
            }
            Instr::TimerStart { ctx, timer, after } | Instr::TimerRestart { ctx, timer, after } => {
                self.chain_context(*ctx);
                self.timer(*ctx, *timer);
                self.expr_of(after, &Ty::Duration, "how long");
            }
            Instr::RebindCtx { ctx, id } => {
                self.chain_context(*ctx);
                let context = self.context_local(*ctx);
                self.must(context.is_none_or(|c| !c.global), "a global context has no id");
                if let Some(context) = context {
                    self.expr_of(id, &Ty::Id(context.id), "the id");
                }
            }
            Instr::TimerStop { ctx, timer } => {
                self.chain_context(*ctx);
                self.timer(*ctx, *timer);
            }
            Instr::Notify { token, status, value } => {
                self.expr_of(token, &Ty::Token, "the request");
                self.expr_of(status, &Ty::Status, "the status");
                if let Some(value) = value {
                    self.expr(value);
                    self.must(matches!(value.ty, Ty::Handle | Ty::U64), "another kind of value");
                }
            }
            Instr::SetQueueRate { queue, rate } => {
                self.expr_of(queue, &Ty::U32, "the queue");
                self.expr_of(rate, &Ty::Rate, "the rate");
            }
            Instr::SetQueuePrio { queue, prio } => {
                self.expr_of(queue, &Ty::U32, "the queue");
                self.expr_of(prio, &Ty::U64, "the priority");
            }
            Instr::Forward { .. }
            | Instr::Drop
            | Instr::PktStore { .. }
            | Instr::PktRelease { .. }
            | Instr::PktDiscard { .. } => self.of_packet(instr),
            Instr::Raise { event } => {
                let kind = if self.is_parser() { EventKind::Net } else { EventKind::Flow };
                self.event_of_kind(*event, kind);
            }
        }
        self.must(!self.is_parser() || matches!(instr, Instr::Raise { .. }), "an instruction in a parser");
    }

    /// What only a program in the network does.
    fn of_packet(&mut self, instr: &Instr) {
        self.must(self.program.in_network.is_some(), "an instruction of a program in the network");
        match instr {
            Instr::Forward { interface, header } => {
                self.expr_of(interface, &Ty::U32, "the interface");
                if let Some(header) = header {
                    let def = self.blueprint_local(*header);
                    let whole = def.is_some_and(|(_, def)| !def.frame && def.frames.is_none());
                    self.must(whole, "a header of frames");
                }
            }
            Instr::PktStore { key } | Instr::PktDiscard { key } => self.expr_of(key, &Ty::U64, "the key"),
            Instr::PktRelease { key, interface } => {
                self.expr_of(key, &Ty::U64, "the key");
                self.expr_of(interface, &Ty::U32, "the interface");
            }
            _ => {}
        }
    }

    pub(super) fn is_parser(&self) -> bool {
        matches!(self.scope, Scope::Function(f, _) if f.locals.first().is_some_and(|l| l.ty == Ty::Packet))
    }

    /// The chain's context is a parameter.
    fn chain_context(&mut self, ctx: LocalId) {
        self.context_local(ctx);
        let Scope::Function(function, _) = self.scope else { return };
        self.must(ctx.0 < function.params, "a context that is not the chain's");
    }

    fn unit(&mut self, ctx: LocalId, args: &[(&Expr, Ty)]) {
        self.chain_context(ctx);
        for (arg, ty) in args {
            self.expr_of(arg, ty, "an argument");
        }
    }

    fn new_ctx(&mut self, ctx: crate::CtxId, value: LocalId, id: &Expr) {
        if let Some(ty) = self.local(value) {
            self.same(ty, &Ty::Context(ctx), "the new context");
        }
        if let Scope::Function(function, _) = self.scope {
            self.must(value.0 >= function.params, "the new context is the chain's");
        }
        match self.program.contexts.get(ctx.index()) {
            Some(context) if context.global => self.fail("a global context is made anew"),
            Some(context) => self.expr_of(id, &Ty::Id(context.id), "the id"),
            None => self.fail("there is no such context"),
        }
    }

    fn event_of_kind(&mut self, event: LocalId, kind: EventKind) {
        if let Some(def) = self.event_local(event) {
            self.must(def.kind == kind, "an event of another kind");
        }
    }

    fn has_payload(&mut self, bp: LocalId) {
        let payload = self.blueprint_local(bp).is_some_and(|(_, def)| def.payload_name.is_some());
        self.must(payload, "the blueprint has no payload");
    }

    pub(super) fn packet_stmt(&mut self, kind: &StmtKind) {
        match kind {
            StmtKind::SetFlowId { event, id } => {
                let wanted = self.event_local(*event).and_then(|e| e.id);
                match wanted {
                    Some(wanted) => self.expr_of(id, &Ty::Id(wanted), "the id"),
                    None => self.fail("an id for an event without one"),
                }
            }
            StmtKind::Extract { bp } => {
                let in_network = self.program.in_network.is_some();
                self.must(self.is_parser() || in_network, "only a parser extracts");
                self.blueprint_local(*bp);
            }
            StmtKind::SetPayload { bp, ctx, offset, len, mss } => {
                self.has_payload(*bp);
                let mut args = vec![(offset, Ty::U64), (len, Ty::Bytes)];
                args.extend(mss.as_ref().map(|m| (m, Ty::Bytes)));
                self.unit(*ctx, &args);
            }
            StmtKind::SetPayloadOf { bp, ctx, id, offset, len, mss } => {
                self.has_payload(*bp);
                self.must(!self.is_parser(), "a parser sends nothing");
                match self.program.contexts.get(ctx.index()) {
                    Some(context) if context.global => self.fail("a global context is found by no id"),
                    Some(context) => self.expr_of(id, &Ty::Id(context.id), "the id"),
                    None => self.fail("there is no such context"),
                }
                self.expr_of(offset, &Ty::U64, "an argument");
                for octets in std::iter::once(len).chain(mss) {
                    self.expr_of(octets, &Ty::Bytes, "how many");
                }
            }
            StmtKind::SetPayloadAt { bp, addr, len, mss } => {
                self.has_payload(*bp);
                self.expr_of(addr, &Ty::Addr, "where the octets are");
                for octets in std::iter::once(len).chain(mss) {
                    self.expr_of(octets, &Ty::Bytes, "how many");
                }
            }
            StmtKind::FrameAdd { bp, frame } => {
                let of = self.blueprint_local(*bp).and_then(|(_, def)| def.frames.as_ref());
                let member = self.blueprint_local(*frame).map(|(id, _)| id);
                let fits = of.zip(member).is_some_and(|(of, member)| of.members.contains(&member));
                self.must(fits, "the packet has no such frame");
            }
            StmtKind::OptAdd { bp, opt, args } => {
                self.option(*bp, *opt);
                let fields = self.program.opts.get(opt.index()).map_or(&[][..], |o| &o.fields);
                let free: Vec<&Ty> = fields.iter().filter(|f| f.fixed.is_none()).map(|f| &f.ty).collect();
                self.must(args.len() == free.len(), "another number of values");
                for (arg, ty) in args.iter().zip(free) {
                    self.expr_of(arg, ty, "a value of an option");
                }
            }
            _ => {}
        }
    }
}
