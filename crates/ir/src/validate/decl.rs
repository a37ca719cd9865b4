// SPDX-License-Identifier: MIT OR Apache-2.0
//! Declarations.

use std::collections::BTreeSet;

use super::check::{Check, Scope};
use crate::crc::NET_OCTETS;
use crate::part::VARINT_MAX;
use crate::{
    BlueprintDef, BpField, BpFieldKind, BpId, CallTarget, Chain, Crc, CrcMask, CrcPart, ElementPart, EventId,
    EventKind, Expr, FieldDef, FieldElement, FuncId, InterfaceCall, KeyPart, MOST_BLOCKS, MOST_ELEMENTS,
    MOST_INPUTS, NetField, NetLayer, OptDef, OptElements, OptField, Policy, SchedBlock, SchedInput,
    SchedInputs, Schedule, SegRule, Shared, Ty, arith,
};

impl<'p> Check<'p> {
    pub(super) fn program(&mut self) {
        self.names();
        self.structures();
        self.values();
        self.records();
        self.headers();
        for (index, function) in self.program.functions.iter().enumerate() {
            self.function(index, function);
        }
        self.chains();
        self.interface();
        self.network();
    }

    /// What a program in the network keeps, and what machines are drawn of.
    fn network(&mut self) {
        let p = self.program;
        if let Some(packets) = &p.in_network {
            self.at("role", "in_network");
            self.scoped(Scope::Constant, packets, &Ty::U64, "how many packets are kept");
        }
        for machine in &p.machines {
            self.at("machine", &machine.name);
            self.must(machine.context.index() < p.contexts.len(), "there is no such context");
            let known = |state: &u32| (*state as usize) < machine.states.len();
            self.must(machine.entries.iter().all(known), "there is no such state");
            for t in &machine.transitions {
                self.must(t.from.iter().chain(&t.to).all(known), "there is no such state");
                self.must(t.event.index() < p.events.len(), "there is no such event");
            }
        }
    }

    fn at(&mut self, what: &str, name: &str) {
        self.place = format!("{what} {name}");
    }

    fn values(&mut self) {
        let p = self.program;
        for def in &p.consts {
            self.at("const", &def.name);
            self.scalar(&def.ty);
            self.must(arith::canonical(&def.ty, def.value) == def.value, "the value does not fit");
        }
        for def in &p.arrays {
            self.at("const", &def.name);
            self.scalar(&def.ty);
            let fit = def.values.iter().all(|v| arith::canonical(&def.ty, *v) == *v);
            self.must(!def.values.is_empty() && fit, "it is empty, or a value does not fit");
        }
        for def in &p.params {
            self.at("param", &def.name);
            self.scalar(&def.ty);
            let fit = [def.default, def.lo, def.hi].iter().all(|v| arith::canonical(&def.ty, *v) == *v);
            self.must(fit, "a value does not fit");
            let below = arith::less(&def.ty, def.default, def.lo);
            self.must(!below && !arith::less(&def.ty, def.hi, def.default), "the default is out of range");
        }
        for def in &p.requirements {
            self.at("require", def.text.raw());
            self.scoped(Scope::Constant, &def.cond, &Ty::Bool, "the condition");
        }
        let defaults: Vec<u64> = p.params.iter().map(|d| d.default).collect();
        if self.errors.is_empty() {
            self.must(p.unmet(&defaults).is_none(), "the defaults do not meet it");
        }
        for def in &p.enums {
            self.at("enum", &def.name);
            let fit = def.variants.iter().all(|(_, v)| arith::canonical(&def.repr, *v) == *v);
            self.must(fit, "a value does not fit");
            let names: BTreeSet<&str> = def.variants.iter().map(|(name, _)| name.as_str()).collect();
            self.must(names.len() == def.variants.len(), "two values have one name");
        }
    }

    fn scalar(&mut self, ty: &Ty) {
        self.ty(ty);
        self.must(ty.is_scalar(), "not a scalar");
    }

    fn records(&mut self) {
        let p = self.program;
        for def in &p.structs {
            self.at("struct", &def.name);
            self.fields(&def.fields);
        }
        for def in &p.scratchpads {
            self.at("scratchpad", &def.name);
            self.fields(&def.fields);
        }
        for def in &p.ids {
            self.at("id", &def.name);
            def.parts.iter().for_each(|f| self.scalar_or_address(&f.ty));
        }
        for def in &p.events {
            self.at("event", &def.name);
            self.fields(&def.fields);
            let is_bool = |at: u32| def.fields.get(at as usize).is_some_and(|f| f.ty == Ty::Bool);
            let paired = |at: &u32| {
                *at > 0
                    && is_bool(at - 1)
                    && !def.optional.contains(&(at - 1))
                    && (*at as usize) < def.fields.len()
            };
            self.must(
                def.optional.iter().all(paired),
                "an optional field without one that says whether it is there",
            );
            self.must(def.id.is_none_or(|id| id.index() < p.ids.len()), "there is no such id");
        }
        for def in &p.contexts {
            self.at("context", &def.name);
            let id = p.ids.get(def.id.index());
            self.must(id.is_some_and(|id| !def.global || id.parts.is_empty()), "there is no such id");
            self.fields(&def.fields);
            self.timers(def);
            self.scoped(Scope::Constant, &def.capacity, &Ty::U64, "the capacity");
            for capacity in def.unit_sizes() {
                self.scoped(Scope::Constant, capacity, &Ty::Bytes, "the capacity of a unit");
            }
        }
    }

    fn fields(&mut self, fields: &'p [FieldDef]) {
        for field in fields {
            self.ty(&field.ty);
            self.must(field.ty != Ty::Void, "a field without a type");
            if let Some(init) = &field.init {
                self.scoped(Scope::Constant, init, &field.ty, "an initial value");
            }
        }
    }

    fn scalar_or_address(&mut self, ty: &Ty) {
        if *ty != self.program.address_ty() {
            self.scalar(ty);
        }
    }

    fn opt_elements(&mut self, def: &OptDef, list: &OptElements) {
        self.ty(&list.ty());
        let parts = list.parts(self.program);
        let whole = parts.iter().all(|(_, ty)| matches!(ty, Ty::Int { .. } | Ty::Seq32));
        self.must(whole && !parts.is_empty(), "an element that is not made of integers");
        let longest = list.most_octets(self.program).saturating_add(u32::from(def.len));
        let limit = if def.wide.is_some() { u16::MAX.into() } else { u8::MAX.into() };
        self.must(longest <= limit, "its elements do not fit its length");
    }

    fn headers(&mut self) {
        let p = self.program;
        self.at("net_header", &p.net_header.name);
        for field in &p.net_header.fields {
            match (&field.ty, field.field) {
                (Ty::Array(of, 1..), NetField::Segments) => self.scalar_or_address(of),
                (ty, _) => self.scalar_or_address(ty),
            }
            if let Some(init) = &field.init {
                self.scoped(Scope::Constant, init, &field.ty, "an initial value");
            }
        }
        for def in &p.opts {
            self.at("opt", &def.name);
            if let Some(list) = &def.list {
                self.opt_elements(def, list);
            }
            let bits: u32 = def.fields.iter().map(|f| arith::shape(&f.ty).0).sum();
            if let Some(kind) = def.wide {
                let wide = |f: &OptField| !f.varint || f.ty == Ty::U64;
                self.must(kind <= VARINT_MAX && def.fields.iter().all(wide), "an impossible option");
                continue;
            }
            self.must(!def.fields.iter().any(|f| f.varint), "a field of variable length");
            let head = if def.len == 1 && def.list.is_none() { 8 } else { 16 };
            self.must(bits + head == 8 * u32::from(def.len), "its fields do not take its length");
        }
        for (index, def) in p.opt_lists.iter().enumerate() {
            self.at("opt_list", &def.name);
            self.must(def.members.iter().all(|m| m.index() < p.opts.len()), "there is no such option");
            let user = p.blueprints.iter().position(|b| b.options.is_some_and(|o| o.index() == index));
            if let Some(user) = user {
                self.scoped(Scope::Header(BpId(user as u32)), &def.len, &Ty::Bytes, "the length");
            }
        }
        for (index, def) in p.blueprints.iter().enumerate() {
            self.at("blueprint", &def.name);
            self.blueprint(BpId(index as u32), def);
        }
        self.at("deploy", "schedule");
        self.schedule(&p.schedule, &Ty::Bytes);
        if let Some(events) = &p.event_schedule {
            self.schedule(&events.schedule, &Ty::U64);
            let there = |queue: &Option<u32>| queue.is_none_or(|n| n < events.schedule.queues);
            self.must(events.queues.len() == p.events.len(), "another number of events");
            self.must(events.queues.iter().chain([&events.timers]).all(there), "there is no such queue");
        }
        for rule in &p.coalescing {
            self.at("coalescing_rule", &rule.name);
            let bp = p.blueprints.get(rule.blueprint.index());
            let plain = |at: &u32| {
                let field = bp.and_then(|b| b.fields.get(*at as usize));
                field.is_some_and(|f| matches!(f.kind, BpFieldKind::Plain { .. }))
            };
            self.must(rule.takes.iter().all(plain), "a field that cannot be taken over");
            self.must(bp.is_some_and(|b| !b.frame && b.frames.is_none()), "a rule for frames");
            self.scoped(Scope::Coalescing(rule.blueprint), &rule.when, &Ty::Bool, "the condition");
        }
        for def in &p.seg_rules {
            self.at("seg_rule", &def.name);
            self.seg_rule(def);
        }
    }

    /// Each queue and each block but the first feeds one block, which stands before it.
    fn schedule(&mut self, schedule: &'p Schedule, quantum: &Ty) {
        let (mut queues, mut blocks) = (0, 1);
        for (at, block) in schedule.blocks.iter().enumerate() {
            let count = match &block.inputs {
                SchedInputs::PerFlow(_) => 1,
                SchedInputs::Each(inputs) => inputs.len(),
            };
            self.must((1..=MOST_INPUTS).contains(&count), "an impossible number of inputs");
            for input in inputs_of(block) {
                match input {
                    SchedInput::Queue(_) => queues += 1,
                    SchedInput::Block(n) => {
                        self.must(n as usize > at, "a block feeds one that stands behind it");
                        blocks += 1;
                    }
                }
            }
            let (shares, ty) = match &block.policy {
                Policy::StrictPriority => (0, quantum),
                Policy::Drr(_) => (count, quantum),
                Policy::RateLimiter(_) => (count, &Ty::Rate),
            };
            self.must(block.policy.shares().len() == shares, "another number of shares");
            for share in block.policy.shares() {
                self.scoped(Scope::Constant, share, ty, "a share");
            }
        }
        let all = schedule.blocks.is_empty() && schedule.queues == 1
            || queues == schedule.queues
                && blocks == schedule.blocks.len()
                && (0..queues).all(|n| schedule.place(n).is_some())
                && (1..blocks).all(|n| schedule.parent(n).is_some());
        self.must(all && schedule.blocks.len() <= MOST_BLOCKS, "a queue or a block that feeds nothing");
    }

    fn blueprint(&mut self, id: BpId, def: &'p BlueprintDef) {
        let mut offset = 0;
        let fixed = def.fixed_fields().len();
        let parts: Vec<u32> = def.parts.iter().map(|p| p.first).collect();
        for (at, field) in def.fields.iter().enumerate() {
            self.scalar(&field.ty);
            if at == fixed {
                self.must(offset == 8 * def.fixed_len, "its fields do not take its length");
            }
            if at == def.header_fields().len() {
                self.must(matches!(field.kind, BpFieldKind::Crc(_)), "a field behind the payload");
                offset = 8 * def.fixed_len;
            } else if parts.contains(&(at as u32)) {
                offset = 0;
            }
            let fixed_value = field.range.is_some_and(|(lo, hi)| lo == hi && lo == field.base);
            self.must(
                (1..=64).contains(&field.bits) || field.bits == 0 && fixed_value,
                "an impossible width",
            );
            self.must(field.bit_offset == offset, "a gap between the fields");
            offset += field.bits;
            match &field.kind {
                BpFieldKind::Plain { init: None } => {}
                BpFieldKind::Plain { init: Some(init) } => {
                    self.scoped(Scope::Constant, init, &field.ty, "an initial value");
                }
                BpFieldKind::Computed(e) => self.computed(id, e, field),
                BpFieldKind::Checksum { fields, .. } => {
                    let there = |(a, b): &(u32, u32)| a <= b && (*b as usize) < fixed;
                    self.must(fields.as_ref().is_none_or(there), "a checksum over what is not there");
                    self.must(at < fixed, "a checksum without a fixed place");
                    self.must(field.bits == 16 && field.bit_offset % 16 == 0, "a checksum out of place");
                }
                BpFieldKind::Crc(crc) => self.crc(def, field, crc),
            }
        }
        if fixed == def.fields.len() {
            self.must(offset == 8 * def.fixed_len, "its fields do not take its length");
        }
        self.parts(id, def);
        self.arrays(def);
        if let Some(len) = &def.payload_len {
            self.must(def.payload_name.is_some(), "the length of a payload that is not there");
            let plain = def.parts.is_empty() && def.options.is_none() && def.frames.is_none();
            self.must(def.frame || plain, "a payload that ends before the packet, behind no fixed header");
            self.scoped(Scope::Header(id), len, &Ty::Bytes, "the length of the payload");
        }
        let aligned = def.payload_align > 1;
        let plain = def.payload_name.is_some() && def.frames.is_none() && !def.frame;
        self.must(!aligned || plain, "an alignment of what is no packet's payload");
        if let Some(frames) = &def.frames {
            let is_frame = |m: &BpId| {
                self.program.blueprints.get(m.index()).is_some_and(|b| b.frame && b.frames.is_none())
            };
            self.must(!def.frame && frames.members.iter().all(is_frame), "frames in a frame");
            self.must(def.payload_name.is_some(), "frames without a name");
        }
        let summed = |f: &BpField| matches!(f.kind, BpFieldKind::Checksum { .. } | BpFieldKind::Crc(_));
        self.must(!def.frame || !def.fields.iter().any(summed), "a checksum in a frame");
        self.must(def.max_header_len >= def.fixed_len, "the longest header is too short");
        self.must(def.options.is_some() == def.options_name.is_some(), "options without a name");
        let known = def.options.is_none_or(|o| o.index() < self.program.opt_lists.len());
        self.must(known, "there is no such option list");
    }

    /// The parts follow each other, and take whole bytes.
    fn parts(&mut self, id: BpId, def: &'p BlueprintDef) {
        let mut next = def.fixed_fields().len() as u32;
        for part in &def.parts {
            let fields = def.part_fields(part);
            self.must(part.first == next && fields.len() == part.count as usize, "a part out of place");
            next += part.count;
            if let Some(when) = &part.when {
                self.scoped(Scope::Header(id), when, &Ty::Bool, "a presence");
            }
            if part.varint {
                let one = matches!(fields, [f] if f.ty == Ty::U64 && f.bits == 64);
                self.must(one, "a variable-length integer of another type");
            }
            let bits: u32 = fields.iter().map(|f| f.bits).sum();
            self.must(bits.is_multiple_of(8), "a part of broken octets");
        }
        let all = next as usize == def.header_fields().len();
        self.must(def.parts.is_empty() || all, "a field that is in no part");
    }

    /// The fields of an array follow each other: its elements, each with all its parts.
    fn arrays(&mut self, def: &BlueprintDef) {
        let mut elements = def.fields.iter().map(|f| f.element.as_ref()).peekable();
        while let Some(first) = elements.next() {
            let Some(first) = first else { continue };
            let parts = self.parts_of_element(first);
            let all =
                (0..first.of.min(MOST_ELEMENTS)).flat_map(|at| parts.iter().map(move |part| (at, part)));
            let mut whole = true;
            for (n, (at, part)) in all.enumerate() {
                let wanted = FieldElement { at, part: part.clone(), ..first.clone() };
                whole &= match n {
                    0 => *first == wanted,
                    _ => elements.next_if(|next| next.is_some_and(|next| *next == wanted)).is_some(),
                };
            }
            self.must(whole, "an array whose elements do not follow each other");
        }
    }

    fn parts_of_element(&self, element: &FieldElement) -> Vec<Option<ElementPart>> {
        let Some(part) = &element.part else { return vec![None] };
        let fields = self.program.structs.get(part.of.index()).map_or(&[][..], |s| &s.fields);
        fields.iter().map(|f| Some(ElementPart { of: part.of, name: f.name.clone() })).collect()
    }

    /// What computes a field may be wider than it: what does not fit is seen when a packet is made.
    fn computed(&mut self, bp: BpId, e: &'p Expr, field: &'p BpField) {
        let (bits, signed) = arith::shape(&e.ty);
        let number = matches!(e.ty, Ty::Int { .. } | Ty::Bytes) && !signed;
        let wider = number && bits > arith::shape(&field.ty).0;
        let ty = if wider { &e.ty } else { &field.ty };
        self.scoped(Scope::Header(bp), e, ty, "a computed field");
    }

    fn crc(&mut self, def: &BlueprintDef, field: &BpField, crc: &Crc) {
        self.must(field.bits == 32 && field.bit_offset.is_multiple_of(8), "a CRC-32 out of place");
        let fixed = |at: u32| (at as usize) < def.fixed_fields().len();
        let over = crc.over.iter().all(|part| match part {
            CrcPart::Fields { first, last } => fixed(*first) && fixed(*last) && first <= last,
            _ => true,
        });
        let masked = crc.masked.iter().all(|mask| match mask {
            CrcMask::Field(at) => fixed(*at),
            CrcMask::Net { at, octets, .. } => at.saturating_add(*octets) as usize <= NET_OCTETS,
        });
        self.must(over && masked, "a CRC-32 over what is not there");
    }

    fn seg_rule(&mut self, def: &'p SegRule) {
        let bp = self.program.blueprints.get(def.blueprint.index());
        let Some(field) = bp.and_then(|b| b.fields.get(def.field as usize)) else {
            return self.fail("there is no such field");
        };
        self.must(matches!(field.kind, BpFieldKind::Plain { .. }), "a rule for a computed field");
        for e in [&def.first, &def.mid, &def.last] {
            self.scoped(Scope::SegRule(def.blueprint), e, &field.ty, "the value");
        }
    }

    fn report_parser(&mut self) {
        let p = self.program;
        let Some(parser) = p.report_parser else { return };
        let parser = p.functions.get(parser.index());
        let params: Vec<&Ty> = parser
            .map_or_else(Vec::new, |f| f.locals.iter().take(f.params as usize).map(|l| &l.ty).collect());
        let right = matches!(params[..], [Ty::Packet, Ty::NetHeader, Ty::Enum(_), Ty::Bytes, from] if *from == p.address_ty());
        self.must(
            right,
            "the report parser does not take the quoted packet, its network header and what is reported",
        );
        let endpoint = p.in_network.is_none() && p.net_header.layer != NetLayer::Link;
        self.must(endpoint, "no errors are reported to this program");
    }

    fn chains(&mut self) {
        let p = self.program;
        self.at("program", &p.name);
        self.must(p.chains.len() == p.events.len(), "not one chain for each event");
        let parser = p.functions.get(p.parser.index());
        let params = parser.map(|f| f.locals.iter().take(f.params as usize).map(|l| &l.ty));
        let right = params.is_some_and(|params| params.eq([&Ty::Packet, &Ty::NetHeader]));
        self.must(right, "the parser does not take a packet and its network header");
        self.report_parser();
        for invariant in &p.invariants {
            let right = p.functions.get(invariant.index()).is_some_and(|f| {
                f.pure && f.ret == Ty::Void && f.params == 1 && matches!(f.locals[0].ty, Ty::Context(_))
            });
            self.must(right, "an invariant that does more than claim something of a context");
        }
        for (index, chain) in p.chains.iter().enumerate() {
            let Some(chain) = chain else { continue };
            self.at("chain", p.events.get(index).map_or("?", |e| &e.name));
            let is_global = |c: &crate::CtxId| p.contexts.get(c.index()).is_some_and(|c| c.global);
            self.must(chain.globals.iter().all(is_global), "a context that is not global");
            let has_id = |c: crate::CtxId| p.contexts.get(c.index()).is_some_and(|c| !c.global);
            self.must(chain.context.is_none_or(has_id), "a chain's own context is global, or not there");
            let scratchpads = chain.scratchpads.iter().all(|s| s.index() < p.scratchpads.len());
            self.must(scratchpads, "a scratchpad that is not there");
            let parts =
                |c: &crate::CtxId| p.ids.get(p.contexts.get(c.index())?.id.index()).map(|id| id.parts.len());
            let own = chain.context.as_ref().and_then(parts).unwrap_or(0);
            let known = |part: &KeyPart| match part {
                KeyPart::Same(at) => (*at as usize) < own,
                KeyPart::Const(_) => true,
            };
            let whole = chain.fallback.len() == own && chain.shared.is_empty();
            self.must(
                chain.fallback.is_empty() || (whole && chain.fallback.iter().all(known)),
                "a second lookup by another id than that of the chain's only context",
            );
            let fits = |s: &Shared| {
                !is_global(&s.context)
                    && parts(&s.context) == Some(s.parts.len())
                    && s.parts.iter().all(|part| (*part as usize) < own)
            };
            self.must(
                chain.shared.iter().all(fits),
                "a shared context that the chain's own does not lead to",
            );
            for func in &chain.present {
                self.processor(*func, EventId(index as u32), chain, true);
            }
            for func in chain.absent.iter().flatten() {
                self.processor(*func, EventId(index as u32), chain, false);
            }
        }
    }

    /// The chain has what its function takes.
    fn processor(&mut self, func: FuncId, event: EventId, chain: &Chain, present: bool) {
        let Some(def) = self.program.functions.get(func.index()) else {
            return self.fail("there is no such function");
        };
        self.must(def.ret == Ty::Void, "a processor that returns a value");
        for local in def.locals.iter().take(def.params as usize) {
            let given = match &local.ty {
                Ty::Event(e) => *e == event,
                Ty::Context(c) => {
                    let shared = chain.shared.iter().any(|s| s.context == *c);
                    (present && (chain.context == Some(*c) || shared)) || chain.globals.contains(c)
                }
                Ty::Scratch(s) => chain.scratchpads.contains(s),
                _ => false,
            };
            self.must(given, &format!("`{}` takes a `{}` that is not there", def.name, local.name));
        }
    }

    fn interface(&mut self) {
        let Some(interface) = &self.program.interface else { return };
        for call in &interface.calls {
            self.at("call", &call.name);
            self.call(call);
        }
    }

    fn call(&mut self, call: &'p InterfaceCall) {
        let p = self.program;
        let event = p.events.get(call.event.index());
        self.must(event.is_some_and(|e| e.kind == EventKind::App), "not an app event");
        let context = p.chains.get(call.event.index()).and_then(|c| c.as_ref()?.context);
        match &call.target {
            CallTarget::At { id, parts } => {
                let by = context.and_then(|c| p.contexts.get(c.index())).map(|c| c.id);
                self.must(by == Some(*id), "the context has another id");
                let wanted = p.ids.get(id.index()).map_or(&[][..], |d| &d.parts);
                self.must(parts.len() == wanted.len(), "not one value for each part of the id");
                for (part, def) in parts.iter().zip(wanted) {
                    self.scoped(Scope::Call(call.event), part, &def.ty, "a part of the id");
                }
            }
            CallTarget::On(on) => self.must(context == Some(*on), "the chain has another context"),
            CallTarget::Nowhere => self.must(context.is_none(), "the chain has a context"),
        }
    }
}

fn inputs_of(block: &SchedBlock) -> Vec<SchedInput> {
    match &block.inputs {
        SchedInputs::PerFlow(queue) => vec![SchedInput::Queue(*queue)],
        SchedInputs::Each(inputs) => inputs.clone(),
    }
}
