// SPDX-License-Identifier: MIT OR Apache-2.0
//! Declarations.

use super::names::{literal, name};
use super::printer::Printer;
use crate::uses::event_kind_name;
use crate::{
    BlueprintDef, BpFieldKind, CallTarget, Chain, ContextDef, Crc, CrcMask, CrcPart, CtxId, EventDef, Expr,
    FieldDef, FuncId, Function, Interface, KeyPart, NetLayer, OptDef, OptListDef, SchedInput, SchedInputs,
    Schedule, Text,
};

impl<'p> Printer<'p> {
    pub(super) fn program(&mut self) {
        let p = self.program;
        self.line(&format!("program {} from {:?}, source {:016x}", p.name, p.file.raw(), p.source_hash));
        if !p.features.is_empty() {
            let features: Vec<&str> = p.features.iter().map(Text::raw).collect();
            self.line(&format!("with {}", features.join(", ")));
        }
        self.values();
        for def in &p.structs {
            self.record(&format!("struct {}", def.name), &def.fields);
        }
        for def in &p.ids {
            let parts: Vec<String> = def.parts.iter().map(|f| self.field(f)).collect();
            self.line(&format!("id {}({})", def.name, parts.join(", ")));
        }
        p.events.iter().for_each(|def| self.event(def));
        p.contexts.iter().for_each(|def| self.context(def));
        for def in &p.scratchpads {
            self.record(&format!("scratchpad {}", def.name), &def.fields);
        }
        self.net_header();
        p.opts.iter().for_each(|def| self.opt(def));
        for (index, def) in p.opt_lists.iter().enumerate() {
            let user = p.blueprints.iter().find(|b| b.options.is_some_and(|o| o.index() == index));
            self.fields = user.map_or_else(Vec::new, field_names);
            self.opt_list(def);
        }
        p.blueprints.iter().for_each(|def| self.blueprint(def));
        self.seg_rules();
        self.schedules();
        self.role();
        p.machines.iter().for_each(|m| self.machine(m));
        self.coalescing_rules();
        p.functions.iter().for_each(|def| self.function(def));
        for (event, chain) in p.events.iter().zip(&p.chains) {
            match chain {
                Some(chain) => self.chain(event, chain),
                None => self.line(&format!("chain {}: none", event.name)),
            }
        }
        for invariant in &p.invariants {
            self.line(&format!("invariant {}", self.function_name(*invariant)));
        }
        if let Some(interface) = &p.interface {
            self.interface(interface);
        }
        self.line(&format!(
            "parser {}: at most {} events a packet; at most {} blueprints an event",
            self.function_name(p.parser),
            p.max_parsed,
            p.max_blueprints
        ));
        if let Some(parser) = p.report_parser {
            self.line(&format!("report parser {}", self.function_name(parser)));
        }
    }

    fn schedules(&mut self) {
        let p = self.program;
        self.blocks("block", &p.schedule);
        let Some(events) = &p.event_schedule else { return };
        self.blocks("event block", &events.schedule);
        for (def, queue) in p.events.iter().zip(&events.queues) {
            if let Some(queue) = queue {
                self.line(&format!("event {} waits in queue {queue}", def.name));
            }
        }
        if let Some(queue) = events.timers {
            self.line(&format!("timers wait in queue {queue}"));
        }
    }

    fn blocks(&mut self, what: &str, schedule: &Schedule) {
        for (at, block) in schedule.blocks.iter().enumerate() {
            let inputs = match &block.inputs {
                SchedInputs::PerFlow(queue) => format!("queue {queue} for each flow"),
                SchedInputs::Each(inputs) => {
                    let input = |i: &SchedInput| match i {
                        SchedInput::Queue(n) => format!("queue {n}"),
                        SchedInput::Block(n) => format!("block {n}"),
                    };
                    inputs.iter().map(input).collect::<Vec<_>>().join(", ")
                }
            };
            let shares: String = block.policy.shares().iter().map(|e| format!(" {}", self.expr(e))).collect();
            self.line(&format!("{what} {at}: {}{shares} of {inputs}", block.policy.name()));
        }
    }

    fn values(&mut self) {
        let p = self.program;
        for def in &p.consts {
            let value = literal(p, &def.ty, def.value);
            self.line(&format!("const {}: {} = {value}", def.name, self.ty(&def.ty)));
        }
        for def in &p.arrays {
            let values: Vec<String> = def.values.iter().map(|v| literal(p, &def.ty, *v)).collect();
            self.line(&format!("array {}: {} = {}", def.name, self.ty(&def.ty), values.join(", ")));
        }
        for def in &p.params {
            let [default, lo, hi] = [def.default, def.lo, def.hi].map(|v| literal(p, &def.ty, v));
            self.line(&format!("param {}: {} = {default} in {lo}..{hi}", def.name, self.ty(&def.ty)));
        }
        for def in &p.requirements {
            self.line(&format!("require {}", self.expr(&def.cond)));
        }
        for def in &p.enums {
            let variants: Vec<String> = def.variants.iter().map(|(n, v)| format!("{n} = {v}")).collect();
            self.line(&format!("enum {}: {} {{ {} }}", def.name, self.ty(&def.repr), variants.join(", ")));
        }
    }

    fn field(&self, field: &FieldDef) -> String {
        let init = self.initial(field.init.as_ref());
        format!("{}: {}{init}", field.name, self.ty(&field.ty))
    }

    fn initial(&self, init: Option<&Expr>) -> String {
        init.map_or_else(String::new, |e| format!(" = {}", self.expr(e)))
    }

    fn record(&mut self, head: &str, fields: &[FieldDef]) {
        if fields.is_empty() {
            return self.line(&format!("{head} {{ }}"));
        }
        self.line(&format!("{head} {{"));
        self.indent += 1;
        for field in fields {
            self.line(&self.field(field));
        }
        self.indent -= 1;
        self.line("}");
    }

    fn event(&mut self, def: &EventDef) {
        let id = def.id.map(|id| format!(" by {}", name(&self.program.ids, id.index(), |d| &d.name)));
        let head = format!("event {}: {}{}", def.name, event_kind_name(def.kind), id.unwrap_or_default());
        self.record(&head, &def.fields);
    }

    fn context(&mut self, def: &ContextDef) {
        let p = self.program;
        let id = name(&p.ids, def.id.index(), |d| &d.name);
        let global = if def.global { "global " } else { "" };
        self.line(&format!("{global}context {} by {id} {{", def.name));
        self.indent += 1;
        for field in &def.fields {
            self.line(&self.field(field));
        }
        for timer in &def.timers {
            let event = name(&p.events, timer.event.index(), |d| &d.name);
            self.line(&format!("timer {} -> {event}", timer.name));
        }
        self.line(&format!("at most {} instances", self.expr(&def.capacity)));
        for (what, capacity) in [("tx", &def.tx_capacity), ("rx", &def.rx_capacity)] {
            if let Some(capacity) = capacity {
                self.line(&format!("{what} unit of {}", self.expr(capacity)));
            }
        }
        if let Some(growth) = &def.rx_growth {
            let (most, pool) = (self.expr(&growth.most), self.expr(&growth.pool));
            self.line(&format!("grows to {most} from a pool of {pool}"));
        }
        self.indent -= 1;
        self.line("}");
    }

    fn net_header(&mut self) {
        let def = &self.program.net_header;
        let fields = def.fields.iter();
        let fields: Vec<String> = fields
            .map(|f| format!("{}: {}{}", f.name, self.ty(&f.ty), self.initial(f.init.as_ref())))
            .collect();
        if def.layer == NetLayer::Link {
            return self.line(&format!("net_header {}: nothing", def.name));
        }
        self.line(&format!(
            "net_header {} of protocol {} {{ {} }}",
            def.name,
            def.protocol,
            fields.join(", ")
        ));
    }

    fn opt(&mut self, def: &OptDef) {
        let mut fields: Vec<String> = def
            .fields
            .iter()
            .map(|f| {
                let fixed = f.fixed.map(|v| format!(" = {}", literal(self.program, &f.ty, v)));
                let varint = if f.varint { " of variable length" } else { "" };
                format!("{}: {}{varint}{}", f.name, self.ty(&f.ty), fixed.unwrap_or_default())
            })
            .collect();
        fields.extend(
            def.list.as_ref().map(|l| format!("{}: {} of {} or more", l.name, self.ty(&l.ty()), l.least)),
        );
        if let Some(kind) = def.wide {
            return self.line(&format!("opt {}: wide kind {kind} ({})", def.name, fields.join(", ")));
        }
        let more = if def.list.is_some() { " and more" } else { "" };
        self.line(&format!(
            "opt {}: kind {}, {} octets{more} ({})",
            def.name,
            def.kind,
            def.len,
            fields.join(", ")
        ));
    }

    fn opt_list(&mut self, def: &OptListDef) {
        let p = self.program;
        let members: Vec<&str> = def.members.iter().map(|m| name(&p.opts, m.index(), |d| &d.name)).collect();
        self.line(&format!(
            "opt_list {}: {{ {} }} in {}, each to a multiple of {} behind {}",
            def.name,
            members.join(", "),
            self.expr(&def.len),
            def.align,
            def.pad
        ));
    }

    fn blueprint(&mut self, def: &'p BlueprintDef) {
        self.fields = field_names(def);
        self.line(&format!(
            "{} {}: {} octets, with options at most {} {{",
            if def.frame { "frame" } else { "blueprint" },
            def.name,
            def.fixed_len,
            def.max_header_len
        ));
        self.indent += 1;
        for (at, field) in def.fields.iter().enumerate() {
            let kind = match &field.kind {
                BpFieldKind::Plain { init } => self.initial(init.as_ref()),
                BpFieldKind::Computed(e) => format!(", computed: {}", self.expr(e)),
                BpFieldKind::Checksum { fields: Some((first, last)), .. } => {
                    let named = |at: &u32| name(&def.fields, *at as usize, |f| &f.name).to_owned();
                    format!(", checksum of {} to {}", named(first), named(last))
                }
                BpFieldKind::Checksum { pseudo, header, payload, fields: None } => {
                    let parts = [(pseudo, "pseudo"), (header, "header"), (payload, "payload")];
                    let parts: Vec<&str> = parts.iter().filter(|(is, _)| **is).map(|(_, n)| *n).collect();
                    format!(", checksum of {}", parts.join(", "))
                }
                BpFieldKind::Crc(crc) => format!(", crc32 of {}", crc_parts(def, crc)),
            };
            if let Some(part) = def.parts.iter().find(|p| p.first as usize == at) {
                let when = part.when.as_ref().map(|e| format!(" if {}", self.expr(e)));
                let varint = if part.varint { " of variable length" } else { "" };
                self.line(&format!("then{varint}{}:", when.unwrap_or_default()));
            }
            let end = field.bit_offset + field.bits;
            for group in def.groups.iter().filter(|g| g.first as usize == at) {
                let shape = group.shape.as_ref().map_or_else(String::new, |s| format!(" as {s}"));
                let packed = if group.packed { ", packed" } else { "" };
                self.line(&format!("group {}{shape}{packed}:", group.name));
            }
            let range = field.range.map_or_else(String::new, |(lo, hi)| format!(" in {lo}..{hi}"));
            let less = if field.base > 0 { format!(", less {}", field.base) } else { String::new() };
            self.line(&format!(
                "bits {}..{end} {}: {}{range}{less}{kind}",
                field.bit_offset,
                field.name,
                self.ty(&field.ty)
            ));
        }
        if let (Some(list), Some(field)) = (def.options, &def.options_name) {
            self.line(&format!(
                "options {field}: {}",
                name(&self.program.opt_lists, list.index(), |d| &d.name)
            ));
        }
        self.payload(def);
        self.indent -= 1;
        self.line("}");
    }

    fn payload(&mut self, def: &BlueprintDef) {
        let Some(field) = &def.payload_name else { return };
        if let Some(frames) = &def.frames {
            let members: Vec<&str> = frames
                .members
                .iter()
                .map(|m| name(&self.program.blueprints, m.index(), |b| &b.name))
                .collect();
            self.line(&format!("at most {} frames of {{ {} }}", frames.most, members.join(", ")));
        }
        let len = def.payload_len.as_ref().map(|e| format!(" of {}", self.expr(e)));
        let align = (def.payload_align > 1).then(|| format!(" align {}", def.payload_align));
        self.line(&format!("payload {field}{}{}", len.unwrap_or_default(), align.unwrap_or_default()));
    }

    fn seg_rules(&mut self) {
        let p = self.program;
        for rule in &p.seg_rules {
            let bp = p.blueprints.get(rule.blueprint.index());
            self.fields = bp.map_or_else(Vec::new, field_names);
            let field = bp.map_or("?", |bp| name(&bp.fields, rule.field as usize, |f| &f.name));
            let bp = bp.map_or("?", |bp| bp.name.as_str());
            let [first, mid, last] = [&rule.first, &rule.mid, &rule.last].map(|e| self.expr(e));
            self.line(&format!("seg_rule {}: {bp}::{field} = {first}, {mid}, {last}", rule.name));
        }
    }

    fn coalescing_rules(&mut self) {
        let p = self.program;
        for rule in &p.coalescing {
            let bp = p.blueprints.get(rule.blueprint.index());
            self.fields = bp.map_or_else(Vec::new, field_names);
            let field = |at: &u32| bp.map_or("?", |bp| name(&bp.fields, *at as usize, |f| &f.name));
            let takes: Vec<&str> = rule.takes.iter().map(field).collect();
            let takes = match takes.is_empty() {
                true => "replaces".to_owned(),
                false => format!("gives {}", takes.join(", ")),
            };
            let bp = bp.map_or("?", |bp| bp.name.as_str());
            self.line(&format!("coalescing_rule {}: {bp} {takes} if {}", rule.name, self.expr(&rule.when)));
        }
    }

    fn function(&mut self, def: &'p Function) {
        self.function = Some(def);
        let params = def.locals.iter().take(def.params as usize);
        let params: Vec<String> = params.map(|l| format!("{}: {}", l.name, self.ty(&l.ty))).collect();
        let mut facts = Vec::new();
        if def.pure {
            facts.push("pure".to_owned());
        }
        if def.may_stop {
            facts.push("may stop".to_owned());
        }
        if def.max_raised > 0 {
            facts.push(format!("raises at most {}", def.max_raised));
        }
        let facts = if facts.is_empty() { String::new() } else { format!(" // {}", facts.join(", ")) };
        self.line(&format!("fn {}({}) -> {} {{{facts}", def.name, params.join(", "), self.ty(&def.ret)));
        self.block(&def.body);
        self.line("}");
        self.function = None;
    }

    /// Where the context of a chain is looked up if it has not the event's id.
    fn fallback(&self, context: CtxId, chain: &Chain) -> String {
        if chain.fallback.is_empty() {
            return String::new();
        }
        let id = self.program.contexts.get(context.index()).and_then(|c| self.program.ids.get(c.id.index()));
        let Some(id) = id else { return " else ?".to_owned() };
        let parts = chain.fallback.iter().map(|part| match part {
            KeyPart::Same(at) => name(&id.parts, *at as usize, |p| &p.name).to_owned(),
            KeyPart::Const(value) => value.to_string(),
        });
        format!(" else at {}({})", id.name, parts.collect::<Vec<_>>().join(", "))
    }

    fn function_name(&self, func: FuncId) -> &'p str {
        name(&self.program.functions, func.index(), |d| &d.name)
    }

    fn chain(&mut self, event: &EventDef, chain: &Chain) {
        let p = self.program;
        let names = |funcs: &[FuncId]| -> String {
            funcs.iter().map(|f| self.function_name(*f)).collect::<Vec<_>>().join(", ")
        };
        let mut text = format!("chain {}: {{ {} }}", event.name, names(&chain.present));
        if let Some(absent) = &chain.absent {
            text += &format!(" absent {{ {} }}", names(absent));
        }
        if let Some(context) = chain.context {
            text += &format!(" on {}", name(&p.contexts, context.index(), |d| &d.name));
            text += &self.fallback(context, chain);
        }
        for shared in &chain.shared {
            text += &format!(" sharing {}", name(&p.contexts, shared.context.index(), |d| &d.name));
        }
        for global in &chain.globals {
            text += &format!(" with {}", name(&p.contexts, global.index(), |d| &d.name));
        }
        for scratchpad in &chain.scratchpads {
            text += &format!(" with {}", name(&p.scratchpads, scratchpad.index(), |d| &d.name));
        }
        self.line(&format!("{text}, raises at most {}", chain.max_raised));
    }

    fn interface(&mut self, def: &'p Interface) {
        let p = self.program;
        self.line(&format!("interface {} {{", def.name));
        self.indent += 1;
        for call in &def.calls {
            let event = p.events.get(call.event.index());
            self.fields = event.map_or_else(Vec::new, |e| e.fields.iter().map(|f| f.name.as_str()).collect());
            let target = match &call.target {
                CallTarget::At { id, parts } => {
                    format!(" at {}({})", name(&p.ids, id.index(), |d| &d.name), self.exprs(parts))
                }
                CallTarget::On(context) => {
                    format!(" on {}", name(&p.contexts, context.index(), |d| &d.name))
                }
                CallTarget::Nowhere => String::new(),
            };
            let event = event.map_or("?", |e| e.name.as_str());
            self.line(&format!("{} -> {event}{target}", call.name));
        }
        self.indent -= 1;
        self.line("}");
    }
}

/// As in a program.
fn crc_parts(def: &BlueprintDef, crc: &Crc) -> String {
    let field = |at: u32| name(&def.fields, at as usize, |f| &f.name);
    let mut parts: Vec<String> = crc
        .over
        .iter()
        .map(|part| match part {
            CrcPart::Ones(n) => format!("ones({n})"),
            CrcPart::Net => "net".into(),
            CrcPart::Header => "header".into(),
            CrcPart::Payload => "payload".into(),
            CrcPart::Fields { first, last } => format!("fields({}, {})", field(*first), field(*last)),
        })
        .collect();
    let masked = crc.masked.iter().map(|mask| match mask {
        CrcMask::Field(at) => field(*at).to_owned(),
        CrcMask::Net { name, .. } => format!("net.{name}"),
    });
    let masked: Vec<String> = masked.collect();
    if !masked.is_empty() {
        parts.push(format!("masked({})", masked.join(", ")));
    }
    parts.join(", ")
}

fn field_names(blueprint: &BlueprintDef) -> Vec<&str> {
    blueprint.fields.iter().map(|f| f.name.as_str()).collect()
}
