// SPDX-License-Identifier: MIT OR Apache-2.0
//! What Wireshark has to know beforehand: the protocol, its fields, what can be odd.

use std::collections::BTreeSet;

use carrick_ir::{BlueprintDef, BpField, BpFieldKind, BpId, EnumId, STATUS_NAMES, Ty};

use crate::emitter::Emitter;
use crate::extract::path;
use crate::text::{self, quoted};
use crate::types::Rep;
use crate::writer::{Writer, braces};

/// What can be odd about a packet: name, text, group and severity.
const EXPERTS: [(&str, &str, &str, &str); 10] = [
    ("short", "the packet ends within its header", "MALFORMED", "ERROR"),
    ("bad_options", "the options are malformed", "MALFORMED", "ERROR"),
    ("bad_field", "a field is out of range", "MALFORMED", "ERROR"),
    ("bad_checksum", "the checksum is wrong", "CHECKSUM", "ERROR"),
    (
        "unfinished",
        "the checksum is not computed: a device does that, or a simulator does without",
        "CHECKSUM",
        "CHAT",
    ),
    ("cut", "the capture does not have the whole packet", "UNDECODED", "NOTE"),
    ("unparsed", "the parser raises no event: the program drops the packet", "PROTOCOL", "NOTE"),
    ("computed", "differs from the value that the program would send", "PROTOCOL", "NOTE"),
    ("claim", "a claim of the program does not hold", "PROTOCOL", "WARN"),
    ("unknown", "the parser uses a value that no capture contains", "ASSUMPTION", "NOTE"),
];

/// The most bytes of which Wireshark's fields can be a part.
const MASK_OCTETS: u32 = 4;

struct Fields<'e> {
    emitter: &'e Emitter<'e>,
    w: Writer,
    enums: BTreeSet<EnumId>,
    statuses: bool,
}

/// The script's beginning.
pub fn declarations(emitter: &Emitter<'_>) -> String {
    let p = emitter.p;
    let mut fields = Fields { emitter, w: Writer::default(), enums: BTreeSet::new(), statuses: false };
    for id in &emitter.reach.blueprints {
        fields.blueprint(&p.blueprints[id.index()]);
    }
    fields.options();
    for id in &emitter.reach.events {
        let event = &p.events[id.index()];
        fields.field("none", &event.name, &[&text::string(&event.doc)]);
        for field in &event.fields {
            fields.of_event(&format!("{}.{}", event.name, field.name), &field.ty);
        }
    }
    let mut w = Writer::default();
    let name = format!("mtp_{}", p.name.to_lowercase());
    let file = text::in_line(&p.file);
    w.line(format!("-- Wireshark's view of the packets of the transport program `{}` ({file}),", p.name));
    w.line("-- as its own parser reads them. Written by `carrick dissect`; to use it:");
    w.line(format!("--   wireshark -X lua_script:{}.lua capture.pcapng", p.name));
    w.line("");
    w.line(format!(
        "local proto = Proto({}, {})",
        quoted(&name),
        quoted(&format!("{} (transport program)", p.name))
    ));
    w.line(format!("local PROTOCOL = {}", p.net_header.protocol));
    if let Some(segments) = p.net_header.segments() {
        w.line(format!("local SEGMENTS = {segments}"));
    }
    w.line("");
    fields.named_values(&mut w);
    fields.decisive(&mut w);
    w.line("local f = {}");
    w.line("");
    w.open("local function field(kind, path, ...)");
    w.line(format!(
        "f[path] = ProtoField[kind]({} .. path, path:match(\"[^.]+$\"), ...)",
        quoted(&format!("{name}."))
    ));
    w.close("end");
    w.line("");
    let mut text = w.finish() + &fields.own() + &fields.w.finish();
    text.push_str("proto.fields = f\n\nlocal x = {\n");
    for (kind, what, group, severity) in EXPERTS {
        text.push_str(&format!(
            "  {kind} = ProtoExpert.new(\"{name}.expert-{kind}\", {}, expert.group.{group}, expert.severity.{severity}),\n",
            quoted(what)
        ));
    }
    text.push_str("}\nproto.experts = x\n");
    text
}

impl Fields<'_> {
    fn field(&mut self, kind: &str, path: &str, more: &[&str]) {
        let mut args = vec![quoted(kind), quoted(path)];
        args.extend(more.iter().map(|s| (*s).to_owned()));
        while args.len() > 2 && args.last().is_some_and(|last| last == "nil" || last == "\"\"") {
            args.pop();
        }
        self.w.line(format!("field({})", args.join(", ")));
    }

    /// Fields that are not the program's; no name of a program has a hyphen.
    fn own(&self) -> String {
        let mut own = Writer::default();
        own.line("field(\"string\", \"refused-for\")");
        own.line("field(\"bytes\", \"what-is-left\")");
        if !self.emitter.reach.option_lists.is_empty() {
            own.line("field(\"bytes\", \"unknown-option\")");
            own.line("field(\"bytes\", \"end-of-options\")");
            own.line("field(\"uint64\", \"option-kind\")");
            own.line("field(\"uint64\", \"option-length\")");
        }
        own.finish()
    }

    fn blueprint(&mut self, bp: &BlueprintDef) {
        self.field("none", &bp.name, &[&text::string(&bp.doc)]);
        for field in bp.fields.iter().filter(|f| f.bits > 0 && !f.is_padding()) {
            let path = format!("{}.{}", bp.name, field.name);
            let varint = bp.parts.iter().any(|part| part.varint && bp.part_fields(part).contains(field));
            self.of_header(&path, field, varint);
        }
        let parts = [(&bp.options_name, "none"), (&bp.payload_name, "bytes")];
        for (name, kind) in parts {
            if let Some(name) = name {
                self.field(kind, &format!("{}.{name}", bp.name), &[]);
            }
        }
    }

    fn of_header(&mut self, path: &str, field: &BpField, varint: bool) {
        let doc = text::string(&field.doc);
        let summed = matches!(field.kind, BpFieldKind::Checksum { .. } | BpFieldKind::Crc(_));
        let base = if summed { "base.HEX" } else { "base.DEC" };
        let bit = field.bit_offset % 8;
        let octets = (bit + field.bits).div_ceil(8);
        let values = self.values_of(&field.ty);
        if varint {
            self.field("uint64", path, &["base.DEC", "nil", "nil", &doc]);
        } else if field.base > 0 {
            // Shown as the program sees it.
            let octets = carrick_ir::arith::shape(&field.ty).0 / 8;
            self.field(&whole(&field.ty, octets), path, &[base, &values, "nil", &doc]);
        } else if bit == 0 && field.bits.is_multiple_of(8) {
            self.field(&whole(&field.ty, octets), path, &[base, &values, "nil", &doc]);
        } else {
            let masked = octets <= MASK_OCTETS;
            let ones = u64::MAX >> (64 - field.bits);
            let mask = if masked {
                format!("{:#x}", ones << (octets * 8 - bit - field.bits))
            } else {
                "nil".to_owned()
            };
            let kind = match octets {
                1..=4 => format!("uint{}", octets * 8),
                _ if !masked && field.bits <= 32 => "uint32".to_owned(),
                _ => "uint64".to_owned(),
            };
            match field.ty {
                Ty::Bool => self.field("bool", path, &["8", "nil", &mask, &doc]),
                _ => self.field(&kind, path, &[base, &values, &mask, &doc]),
            }
        }
        if summed {
            self.field(
                "uint8",
                &format!("{path}.status"),
                &["base.DEC", "{ [0] = \"bad\", \"good\", \"unverified\", \"unfinished\" }"],
            );
        }
    }

    fn options(&mut self) {
        let p = self.emitter.p;
        let lists = self.emitter.reach.option_lists.iter().filter_map(|list| p.opt_lists.get(list.index()));
        let members: BTreeSet<_> = lists.flat_map(|list| list.members.iter().copied()).collect();
        for opt in members.into_iter().filter_map(|opt| p.opts.get(opt.index())) {
            self.field("none", &opt.name, &[&text::string(&opt.doc)]);
            for field in &opt.fields {
                let path = format!("{}.{}", opt.name, field.name);
                let octets = carrick_ir::arith::shape(&field.ty).0 / 8;
                let kind = if field.varint { "uint64".to_owned() } else { whole(&field.ty, octets) };
                self.field(&kind, &path, &["base.DEC"]);
            }
            let Some(list) = &opt.list else { continue };
            for (name, ty) in list.parts(p) {
                let kind = whole(ty, carrick_ir::arith::shape(ty).0 / 8);
                self.field(&kind, &list.path(&opt.name, name), &["base.DEC"]);
            }
        }
    }

    /// A field of an event, with all that is in it.
    fn of_event(&mut self, path: &str, ty: &Ty) {
        let p = self.emitter.p;
        let inner = match ty {
            Ty::Struct(id) => p.structs.get(id.index()).map(|d| &d.fields),
            Ty::Id(id) => p.ids.get(id.index()).map(|d| &d.parts),
            Ty::Array(of, _) | Ty::List(of, ..) => return self.of_event(path, of),
            _ => None,
        };
        for field in inner.into_iter().flatten() {
            self.of_event(&format!("{path}.{}", field.name), &field.ty);
        }
        if inner.is_some() {
            return;
        }
        let values = self.values_of(ty);
        match self.emitter.rep(ty) {
            Rep::Bool => self.field("bool", path, &[]),
            Rep::Narrow { bits, signed: true } => self.field(&format!("int{bits}"), path, &["base.DEC"]),
            Rep::Narrow { bits, .. } => self.field(&format!("uint{bits}"), path, &["base.DEC", &values]),
            Rep::Wide { signed: true } => self.field("int64", path, &["base.DEC"]),
            Rep::Wide { .. } => self.field("uint64", path, &["base.DEC", &values]),
            Rep::Addr => self.field("uint32", path, &["base.DEC"]),
            Rep::Table => {}
        }
    }

    /// The table of the names that the values of a type have.
    fn values_of(&mut self, ty: &Ty) -> String {
        match ty {
            Ty::Enum(id) => {
                self.enums.insert(*id);
                format!("enums[{}]", quoted(&self.emitter.p.enums[id.index()].name))
            }
            Ty::Status => {
                self.statuses = true;
                "enums.status_t".to_owned()
            }
            _ => "nil".to_owned(),
        }
    }

    /// Fields of any width that the info column shows, with the names of their values.
    fn decisive(&self, w: &mut Writer) {
        let p = self.emitter.p;
        let shown = |bp: &BlueprintDef, at: usize, id: BpId| {
            let asked = u32::try_from(at).is_ok_and(|at| self.emitter.reach.decisive.contains(&(id, at)));
            let field = &bp.fields[at];
            (field.ty != Ty::Bool && field.bits > 0 && (asked || matches!(field.ty, Ty::Enum(_))))
                .then(|| format!("[{}] = {}", path(bp, field), self.names_of(&field.ty)))
        };
        let blueprints = self.emitter.reach.blueprints.iter().map(|id| (*id, &p.blueprints[id.index()]));
        let entries: Vec<String> = blueprints
            .flat_map(|(id, bp)| (0..bp.fields.len()).filter_map(move |at| shown(bp, at, id)))
            .collect();
        w.line("-- What the info column shows of small numbers: fields that say which kind of packet it is.");
        w.table("local telling = ", &entries, "");
        w.line("");
    }

    fn names_of(&self, ty: &Ty) -> String {
        match ty {
            Ty::Enum(id) => format!("enums[{}]", quoted(&self.emitter.p.enums[id.index()].name)),
            _ => "{}".to_owned(),
        }
    }

    fn named_values(&self, w: &mut Writer) {
        if self.enums.is_empty() && !self.statuses {
            return;
        }
        w.line("local enums = {}");
        for def in self.enums.iter().filter_map(|id| self.emitter.p.enums.get(id.index())) {
            let values: Vec<String> =
                def.variants.iter().map(|(n, v)| format!("[{v}] = {}", quoted(n))).collect();
            w.table(&format!("enums[{}] = ", quoted(&def.name)), &values, "");
        }
        if self.statuses {
            let values = STATUS_NAMES.iter().enumerate().map(|(i, n)| format!("[{i}] = {}", quoted(n)));
            w.line(format!("enums.status_t = {}", braces(&values.collect::<Vec<_>>())));
        }
        w.line("");
    }
}

/// Wireshark's kind of a field that is whole bytes.
fn whole(ty: &Ty, octets: u32) -> String {
    let signed = matches!(ty, Ty::Int { bits, signed: true } if u32::from(*bits) == octets * 8);
    match octets {
        0..=4 => format!("{}int{}", if signed { "" } else { "u" }, octets.max(1) * 8),
        _ => format!("{}int64", if signed { "" } else { "u" }),
    }
}
