// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instructions, and the statements that make packets and events.

use super::check::{Check, Scope};
use crate::{
    BlueprintDef, BpId, ContextDef, CtxId, EventKind, Expr, Instr, LocalId, Opcode, Operand, OptDef, RuleId,
    StmtKind, TimerId, Ty,
};

/// What the operands before one were, as far as it depends on them.
#[derive(Default)]
struct Before<'p> {
    made: Option<CtxId>,
    local: Option<LocalId>,
    context: Option<&'p ContextDef>,
    timer: Option<TimerId>,
    blueprint: Option<(BpId, &'p BlueprintDef)>,
}

impl<'p> Check<'p> {
    pub(super) fn instr(&mut self, instr: &Instr) {
        let mut before = Before::default();
        for (name, operand) in instr.operands() {
            self.operand(&mut before, name, operand);
        }
        let op = instr.opcode();
        let in_network = self.program.in_network.is_some();
        let needs = op.declaration().needs;
        self.must(in_network || !needs.in_network(), "an instruction of a program in the network");
        self.must(!self.is_parser() || op == Opcode::Raise, "an instruction in a parser");
    }

    fn operand(&mut self, before: &mut Before<'p>, name: &str, operand: Operand) {
        match operand {
            Operand::ContextType(ctx) => {
                before.context = self.program.contexts.get(ctx.index());
                before.made = Some(*ctx);
                self.must(before.context.is_some(), "there is no such context");
            }
            Operand::Initial(value) => {
                if let Some((ty, made)) = self.local(*value).zip(before.made) {
                    self.same(ty, &Ty::Context(made), "the new context");
                }
                if let Scope::Function(function, _) = self.scope {
                    self.must(value.0 >= function.params, "the new context is the chain's");
                }
            }
            Operand::Context(ctx) | Operand::OwnContext(ctx) => {
                self.chain_context(*ctx);
                before.local = Some(*ctx);
                before.context = match self.local_ty(*ctx) {
                    Some(Ty::Context(id)) => self.program.contexts.get(id.index()),
                    _ => None,
                };
            }
            Operand::Timer(timer) => before.timer = Some(*timer),
            Operand::Which(which) => {
                if let Some((ctx, timer)) = before.local.zip(before.timer) {
                    self.timer(ctx, timer, which.as_ref());
                }
            }
            Operand::Id(id) => {
                if let Some(context) = before.context {
                    self.must(!context.global, "a global context has no id");
                    self.expr_of(id, &Ty::Id(context.id), "the id");
                }
            }
            Operand::Answer(value) => {
                if let Some(value) = value {
                    self.expr(value);
                    self.must(matches!(value.ty, Ty::Handle | Ty::U64), "another kind of value");
                }
            }
            Operand::Packet(bp) => {
                before.blueprint = self.blueprint_local(*bp);
                self.must(before.blueprint.is_some_and(|(_, def)| !def.frame), "a packet of a frame");
            }
            Operand::Header(header) => {
                if let Some(header) = header {
                    let def = self.blueprint_local(*header);
                    let whole = def.is_some_and(|(_, def)| !def.frame && def.frames.is_none());
                    self.must(whole, "a header of frames");
                }
            }
            Operand::Rules(rules) => self.rules(rules, before.blueprint),
            Operand::Sent(sent) => {
                if let Some(sent) = sent {
                    self.event_of_kind(*sent, EventKind::Sent);
                }
            }
            Operand::Event(event) => {
                let kind = if self.is_parser() { EventKind::Net } else { EventKind::Flow };
                self.event_of_kind(*event, kind);
            }
            _ => {
                if let Some((e, ty)) = operand.expr().zip(operand.ty()) {
                    self.expr_of(e, &ty, name);
                }
            }
        }
    }

    fn rules(&mut self, rules: &[RuleId], of: Option<(BpId, &BlueprintDef)>) {
        for rule in rules {
            let rule = self.program.seg_rules.get(rule.index()).map(|r| r.blueprint);
            let fits = rule.zip(of).is_some_and(|(rule, (id, def))| {
                rule == id || def.frames.as_ref().is_some_and(|f| f.members.contains(&rule))
            });
            self.must(fits, "a rule of another blueprint");
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
                let given = self.program.opts.get(opt.index()).map_or_else(Vec::new, OptDef::given);
                self.must(args.len() == given.len(), "another number of values");
                for (arg, ty) in args.iter().zip(&given) {
                    self.expr_of(arg, ty, "a value of an option");
                }
            }
            _ => {}
        }
    }
}
