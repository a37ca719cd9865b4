// SPDX-License-Identifier: MIT OR Apache-2.0
//! The function that makes a packet of what a chain issues.

use std::fmt::Write;

use carrick_ir::{BlueprintDef, BpField, BpFieldKind, BpId, Instr, Loc, NetField, Ty};

use super::emitter::{Emitted, Emitter, Site, unsupported};
use super::expr::Scope;
use super::names::variable;
use super::packets::most_options;
use super::shape::{PartTy, parts};

impl Emitter<'_> {
    /// The functions that make packets of what chains issue.
    pub fn builder(&mut self) -> Emitted<String> {
        let mut text = String::new();
        let mut done: Vec<BpId> = Vec::new();
        // What is the same for several sites is there once.
        let mut arms: Vec<(String, Vec<u32>)> = Vec::new();
        for (site, n) in self.sites.clone().iter().zip(1..) {
            if let Some(bp) = blueprint(site).filter(|bp| !done.contains(bp)) {
                text.push_str(&self.writer(bp, site.loc)?);
                done.push(bp);
            }
            let Some(made) = self.made_of(site)? else { continue };
            match arms.iter_mut().find(|(text, _)| *text == made) {
                Some((_, sites)) => sites.push(n),
                None => arms.push((made, vec![n])),
            }
        }
        text.push_str("pub fn packet_out(l: Leaving) -> Made {\n    ");
        for (made, sites) in arms {
            let sites: Vec<String> = sites.iter().map(|n| format!("l.site == u8:{n}")).collect();
            let _ = write!(text, "if {} {{\n        {made}\n    }} else ", sites.join(" || "));
        }
        text.push_str("{\n        zero!<Made>()\n    }\n}\n\n");
        Ok(text)
    }

    /// The packet that a site makes; nothing if it makes none.
    fn made_of(&self, site: &Site) -> Emitted<Option<String>> {
        Ok(Some(match &site.instr {
            Instr::Drop => "Made { kind: DROPPED, ..zero!<Made>() }".into(),
            Instr::Forward { header: None, .. } => format!(
                "Made {{ kind: UNCHANGED, interface: interface_of(l.{}[0 +: u32]), ..zero!<Made>() }}",
                site.place()
            ),
            Instr::Forward { .. } => self.written_by(site, false),
            Instr::PktGen { rules, queue: None, sent: None, .. } if rules.is_empty() => {
                self.written_by(site, true)
            }
            Instr::NewCtx { .. }
            | Instr::DelCtx { .. }
            | Instr::TimerStart { which: None, .. }
            | Instr::TimerRestart { which: None, .. }
            | Instr::TimerStop { which: None, .. }
            | Instr::Raise { .. } => return Ok(None),
            _ => return unsupported("an instruction on data or stored packets", site.loc),
        }))
    }

    /// A packet with the header of a site's blueprint: a new one, or one in place of that which arrived.
    fn written_by(&self, site: &Site, new: bool) -> String {
        let Some(bp) = blueprint(site) else { return String::new() };
        let width = self.shapes.width(&Ty::Blueprint(bp));
        let name = variable(&self.program.blueprints[bp.index()].name);
        let alone = "Leaving { payload: u16:0, payload_sum: u16:0, ..l }";
        let args = format!("l.{}", site.place());
        let bp = format!("let bp = unflat_{name}({args}[0 +: uN[{width}]]);");
        if new {
            let interface = self.interface_field();
            return format!("{bp}\n        write_{name}(bp, {interface}, HEADER, {alone})");
        }
        // A blueprint into which the packet was not read has no payload.
        let len = self.shapes.width(&Ty::Addr);
        format!(
            "{bp}\n        \
             let (kind, l) = if {args}[{len} +: u64] == u64:0 {{ (REPLACED, {alone}) }} else {{ (REWRITTEN, l) }};\n        \
             write_{name}(bp, interface_of({args}[{width} +: u32]), kind, l)"
        )
    }

    fn interface_field(&self) -> String {
        let mut fields = self.program.net_header.fields.iter();
        let found = fields.find(|f| f.field == NetField::Interface);
        found.map_or("u8:0".into(), |f| format!("interface_of(bp.net_{} as u32)", f.name))
    }

    /// The functions that write a blueprint as bytes.
    fn writer(&mut self, bp: BpId, loc: Loc) -> Emitted<String> {
        let program = self.program;
        let def = &program.blueprints[bp.index()];
        let (ty, name) = (self.ty(&Ty::Blueprint(bp)), variable(&def.name));
        let mut text = self.unflat(bp, &ty);
        text.push_str(&self.options_writer(bp, &ty));
        self.reading = Some(bp);
        let (computed, in_range) = self.computed_fields(def, &ty, loc)?;
        let octets = self.fixed_fields(def);
        let in_range = if in_range.is_empty() { "u1:1".into() } else { in_range.join(" && ") };
        let (fixed, options) = (def.fixed_len, most_options(program, def));
        let bits = (fixed + options) * 8;
        let mut sums = String::new();
        for field in &def.fields {
            let BpFieldKind::Checksum { pseudo, .. } = &field.kind else { continue };
            let over = if *pseudo {
                format!(
                    "pseudo({}, {}, {}, rest)",
                    self.net(NetField::SrcIp),
                    self.net(NetField::DstIp),
                    self.net(NetField::Protocol)
                )
            } else {
                "u16:0".into()
            };
            let _ = writeln!(
                sums,
                "    let octets = octets | ((!plus(plus(sum(octets), l.payload_sum), {over}) as uN[{bits}]) << u32:{});",
                bits - field.bit_offset - field.bits
            );
        }
        let listed = if options > 0 { format!("list_{name}(bp)") } else { "(u16:0, uN[0]:0)".into() };
        let _ = write!(
            text,
            "// Writes a packet of a `{}`.\n\
             fn write_{name}(bp: {ty}, interface: u8, kind: u3, l: Leaving) -> Made {{\n    \
             let (listed, options) = {listed};\n    let len = u16:{fixed} + listed;\n    let rest = len + l.payload;\n    \
             let (header_len, payload_len) = (len as u64, l.payload as u64);\n{computed}    \
             let octets = {octets} ++ options;\n{sums}    \
             let ip = ipv4_header(rest + u16:20, {}, l.identification, {}, {}, {}, {});\n    \
             let octets = (ip ++ octets) as uN[u32:8 * LONGEST] << (u32:8 * LONGEST - u32:{});\n    \
             Made {{ kind: kind, bad: !({in_range}), interface: interface, len: len + u16:20, octets: octets }}\n}}\n\n",
            def.name,
            self.net(NetField::Tos),
            self.net(NetField::Ttl),
            self.net(NetField::Protocol),
            self.net(NetField::SrcIp),
            self.net(NetField::DstIp),
            bits + 160,
        );
        Ok(text)
    }

    /// Sets the computed fields of a blueprint; with the conditions that all its fields can be sent.
    fn computed_fields(&mut self, def: &BlueprintDef, ty: &str, loc: Loc) -> Emitted<(String, Vec<String>)> {
        let mut computed = String::new();
        let mut in_range = Vec::new();
        for field in &def.fields {
            let value = match &field.kind {
                BpFieldKind::Computed(e) => {
                    let value = self.expr(e, Scope::OUTSIDE)?;
                    if value.contains("env.") {
                        return unsupported("a computed field that is not of its packet alone", loc);
                    }
                    let values = def.values_when_sent(field);
                    in_range.extend(values.map(|values| self.within(&value, &e.ty, values)));
                    self.cast(&e.ty, &field.ty, value)
                }
                BpFieldKind::Checksum { .. } => self.zero(&field.ty),
                BpFieldKind::Plain { .. } => {
                    in_range.extend(self.plain_in_range(def, field));
                    continue;
                }
                BpFieldKind::Crc(_) => continue,
            };
            let _ = writeln!(computed, "    let bp = {ty} {{ {}: {value}, ..bp }};", variable(&field.name));
        }
        Ok((computed, in_range))
    }

    /// The condition that a field which the program sets can be sent, if it may not be so.
    fn plain_in_range(&mut self, def: &BlueprintDef, field: &BpField) -> Option<String> {
        let values = def.values_when_sent(field)?;
        Some(self.within(&format!("bp.{}", variable(&field.name)), &field.ty, values))
    }

    /// The condition that a value of this type is one of these.
    fn within(&mut self, value: &str, ty: &Ty, (least, most): (u64, u64)) -> String {
        let (least, most) = (self.literal(ty, least), self.literal(ty, most));
        format!("({value}) >= {least} && ({value}) <= {most}")
    }

    /// The fixed fields of a blueprint in a row.
    fn fixed_fields(&mut self, def: &BlueprintDef) -> String {
        let mut fields: Vec<_> = def.fields.iter().filter(|field| field.bits > 0).collect();
        fields.sort_by_key(|field| field.bit_offset);
        let octets: Vec<String> = fields
            .iter()
            .map(|field| {
                let of = variable(&field.name);
                let base = self.literal(&field.ty, field.base);
                match field.base {
                    0 => format!("(bp.{of} as uN[{}])", field.bits),
                    _ => format!("((bp.{of} - {base}) as uN[{}])", field.bits),
                }
            })
            .collect();
        octets.join("\n        ++ ")
    }

    /// A field of a packet's network header, or what it is if the program does not say.
    fn net(&self, which: NetField) -> String {
        let found = self.program.net_header.fields.iter().find(|f| f.field == which);
        match (found, which) {
            (Some(f), _) => format!("bp.net_{}", f.name),
            (None, NetField::Ttl) => "u8:64".into(),
            (None, NetField::Tos) => "u8:0".into(),
            (None, NetField::Protocol) => "PROTOCOL".into(),
            _ => "u32:0".into(),
        }
    }

    /// The value that is in `v` from this bit upwards, as `flat` puts it there.
    fn of_bits(&mut self, ty: &Ty, at: u32) -> String {
        let (name, bits) = (self.ty(ty), self.shapes.width(ty));
        match ty {
            Ty::List(of, n, _) => {
                let each = self.shapes.width(of);
                let items: Vec<_> = (0..*n).map(|i| self.of_bits(of, at + i * each)).collect();
                let len = format!("v[{} +: u32]", at + n * each);
                format!("{name} {{ len: {len}, items: [{}] }}", items.join(", "))
            }
            Ty::Struct(id) => {
                let mut left = at + bits;
                let mut fields = Vec::new();
                for field in &self.program.structs[id.index()].fields {
                    left -= self.shapes.width(&field.ty);
                    fields.push(format!("{}: {}", variable(&field.name), self.of_bits(&field.ty, left)));
                }
                format!("{name} {{ {} }}", fields.join(", "))
            }
            _ => format!("v[{at} +: uN[{bits}]] as {name}"),
        }
    }

    /// The function that makes a blueprint of its bits.
    fn unflat(&mut self, bp: BpId, ty: &str) -> String {
        let all = parts(self.program, &Ty::Blueprint(bp)).unwrap_or_default();
        let mut left = self.shapes.width(&Ty::Blueprint(bp));
        let width = left;
        let mut set = Vec::new();
        for part in all {
            if let PartTy::Is(of) = &part.ty {
                let bits = self.shapes.width(of);
                left -= bits;
                set.push(format!("{}: {}", variable(&part.name), self.of_bits(of, left)));
            }
        }
        format!(
            "fn unflat_{}(v: uN[{width}]) -> {ty} {{\n    {ty} {{\n        {},\n        ..zero!<{ty}>()\n    }}\n}}\n\n",
            variable(&self.program.blueprints[bp.index()].name),
            set.join(",\n        ")
        )
    }
}

/// The blueprint of the packet that a site makes.
fn blueprint(site: &Site) -> Option<BpId> {
    let (Instr::PktGen { bp: local, .. } | Instr::Forward { header: Some(local), .. }) = &site.instr else {
        return None;
    };
    let Ty::Blueprint(bp) = site.locals[local.index()].ty else { return None };
    Some(bp)
}
