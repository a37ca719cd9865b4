// SPDX-License-Identifier: MIT OR Apache-2.0
//! The function that makes an event of a packet that arrives.

use std::fmt::Write;

use carrick_ir::{BpFieldKind, BpId, EventId, IdId, Instr, NetField, StmtKind, Ty, walk};

use super::emitter::{Emitted, Emitter, Site, unsupported};
use super::expr::Scope;
use super::names::variable;
use super::packets::{OPTIONS, Packets};

impl Emitter<'_> {
    /// The function that reads a packet, before the declaration of what is around chains: it reads that too.
    pub fn parser(&mut self, chains: &[(EventId, String)], event_bits: u32) -> Emitted<String> {
        let program = self.program;
        let function = &program.functions[program.parser.index()];
        let mut header = None;
        walk::statements(&function.body, &mut |stmt| {
            if let StmtKind::Extract { bp } = &stmt.kind {
                header = Some(function.locals[bp.index()].ty.clone());
            }
        });
        let Some(Ty::Blueprint(bp)) = header else {
            return unsupported("a parser without a header", function.loc);
        };
        let mut text = self.reader(bp)?;
        let (id, id_ty) = self.id_of_flows();
        let mut arms = String::new();
        for (site, n) in self.sites.iter().zip(1..) {
            let Some((event, width)) = self.raised(site) else { continue };
            let Some(chain) = chains.iter().position(|(of, _)| *of == event) else { continue };
            let named = program.events[event.index()].id == Some(id_ty);
            let args = site.place();
            let flow =
                if named { format!("{args}[{} +: uN[{id}]]", width - id) } else { format!("uN[{id}]:0") };
            let _ = writeln!(
                arms,
                "        u8:{n} => (u8:{chain}, u1:{}, {flow}, {args}[0 +: uN[{width}]] as uN[{event_bits}]),",
                u32::from(named)
            );
        }
        let name = variable(&program.blueprints[bp.index()].name);
        let parse = variable(&function.name);
        let net: Vec<String> = program
            .net_header
            .fields
            .iter()
            .map(|f| format!("{}: {}", variable(&f.name), received(f.field)))
            .collect();
        let net_ty = self.ty(&Ty::NetHeader);
        let _ = write!(
            text,
            "// A packet as an event, and where its payload is.\n\
             pub struct Parsed {{\n    verdict: u2,\n    why: u8,\n    chain: u8,\n    named: u1,\n    id: uN[{id}],\n    \
             event: uN[{event_bits}],\n    env: Env,\n    total: u16,\n    from: u16,\n    payload: u16,\n    payload_sum: u16,\n}}\n\n\
             pub fn packet_in(p: Arrived, env: Env) -> Parsed {{\n    \
             let ip = ipv4(p);\n    let net = {net_ty} {{ {} }};\n    \
             let (why, header, len) = read_{name}(p, ip);\n    \
             let env = Env {{ header_{}: header, ..env }};\n    \
             let io = {parse}(env, zero!<Place>(), zero!<Issued>(), u64:0, net);\n    let issued = first(io);\n    let (site, args) = (issued.site, issued.args);\n    \
             let wide = io.wide[args[0 +: u8] as u32];\n    \
             let (chain, named, id, event) = match site {{\n{arms}        \
             _ => (u8:0, u1:0, uN[{id}]:0, uN[{event_bits}]:0),\n    }};\n    \
             let why = if ip.verdict != EVENT {{ ip.why }} else if why != FINE {{ why }} else if site == u8:0 {{ UNPARSED }} \
             else {{ FINE }};\n    \
             let verdict = if ip.verdict == EVENT && why != FINE {{ PASS }} else {{ ip.verdict }};\n    \
             let octets = (p.octets << ((ip.header as u32) * u32:8))[{{lo}} +: uN[{{bits}}]];\n    \
             Parsed {{\n        verdict: verdict,\n        why: why,\n        chain: chain,\n        named: named,\n        id: id,\n        \
             event: event,\n        env: env,\n        total: ip.total,\n        from: ip.header + len,\n        \
             payload: ip.rest - len,\n        payload_sum: plus(p.sum, !sum_of(octets, len)),\n    }}\n}}\n\n",
            net.join(", "),
            program.blueprints[bp.index()].name,
        );
        let (bits, lo) = self.window_of(bp)?;
        Ok(text.replace("{lo}", &lo.to_string()).replace("{bits}", &bits.to_string()))
    }

    fn id_of_flows(&self) -> (u32, IdId) {
        let id = self.program.contexts[0].id;
        (self.shapes.width(&Ty::Id(id)), id)
    }

    /// The event that a site raises, and its bits.
    fn raised(&self, site: &Site) -> Option<(EventId, u32)> {
        let Instr::Raise { event } = &site.instr else { return None };
        let Ty::Event(event) = site.locals[event.index()].ty else { return None };
        Some((event, self.shapes.width(&Ty::Event(event))))
    }

    /// Bits of a blueprint behind the header of IPv4, and those below them in what is read of a packet.
    fn window_of(&self, bp: BpId) -> Emitted<(u32, u32)> {
        let def = &self.program.blueprints[bp.index()];
        let octets = def.fixed_len + if def.options.is_some() { OPTIONS } else { 0 };
        Ok((octets * 8, (Packets::of(self.program)?.window - octets) * 8))
    }

    /// The function that reads a blueprint: why it is refused, its fields, and its length.
    fn reader(&mut self, bp: BpId) -> Emitted<String> {
        let program = self.program;
        let def = &program.blueprints[bp.index()];
        let ((bits, lo), ty, fixed) = (self.window_of(bp)?, self.ty(&Ty::Blueprint(bp)), def.fixed_len);
        let mut set: Vec<String> = Vec::new();
        for f in &program.net_header.fields {
            set.push(format!("net_{}: {}", f.name, received(f.field)));
        }
        let mut ranges = Vec::new();
        for field in &def.fields {
            let (name, of) = (variable(&field.name), self.ty(&field.ty));
            let base = self.literal(&field.ty, field.base);
            set.push(match (field.bits, field.base) {
                (0, _) => format!("{name}: {base}"),
                (n, 0) => format!("{name}: part<u32:{}, u32:{n}>(octets) as {of}", field.bit_offset),
                (n, _) => {
                    format!("{name}: (part<u32:{}, u32:{n}>(octets) as {of}) + {base}", field.bit_offset)
                }
            });
            if let Some((least, most)) = field.values_when_read() {
                let (least, most) = (self.literal(&field.ty, least), self.literal(&field.ty, most));
                ranges.push(format!("bp.{name} >= {least} && bp.{name} <= {most}"));
            }
        }
        let pseudo = |over: bool| {
            if over { "plus(p.sum, pseudo(ip.src, ip.dst, PROTOCOL, ip.rest))" } else { "p.sum" }
        };
        let sums = def.fields.iter().filter_map(|field| match &field.kind {
            BpFieldKind::Checksum { pseudo: over, .. } => Some(format!("{} == u16:0xffff", pseudo(*over))),
            _ => None,
        });
        let all = |parts: Vec<String>| if parts.is_empty() { "u1:1".to_owned() } else { parts.join(" && ") };
        let (sums, ranges) = (all(sums.collect()), all(ranges));
        let (mut text, options) = match def.options {
            None => (String::new(), "    let (listed, broken) = (u64:0, u1:0);\n".to_owned()),
            Some(list) => {
                self.reading = Some(bp);
                let len = self.expr(&program.opt_lists[list.index()].len, Scope::OUTSIDE)?;
                let call = format!(
                    "    let listed = {len};\n    \
                     let (broken, bp) = read_options_{}(octets[0 +: uN[{}]], listed as u16, bp);\n",
                    variable(&def.name),
                    OPTIONS * 8
                );
                (self.options_reader(bp)?, call)
            }
        };
        let _ = write!(
            text,
            "// Reads a `{}`: why it is refused, what is in it, how many octets.\n\
             fn read_{}(p: Arrived, ip: Ipv4) -> (u8, {ty}, u16) {{\n    \
             let octets = (p.octets << ((ip.header as u32) * u32:8))[{lo} +: uN[{bits}]];\n    \
             let bp = {ty} {{\n        {},\n        ..zero!<{ty}>()\n    }};\n{options}    \
             let len = u16:{fixed} + (listed as u16);\n    \
             let why = if ip.rest < u16:{fixed} {{ SHORT }} else if !({sums}) {{ BAD_CHECKSUM }} \
             else if listed > u64:{OPTIONS} || len > ip.rest || broken {{ BAD_OPTIONS }} \
             else if !({ranges}) {{ BAD_FIELD }} else {{ FINE }};\n    \
             let bp = {ty} {{ payload_: Payload {{ len: (ip.rest - len) as u64, ..bp.payload_ }}, ..bp }};\n    \
             (why, bp, len)\n}}\n\n",
            def.name,
            variable(&def.name),
            set.join(",\n        "),
        );
        Ok(text)
    }
}

/// A field of the network header of a packet that arrived.
fn received(field: NetField) -> &'static str {
    match field {
        NetField::SrcIp => "ip.src",
        NetField::DstIp => "ip.dst",
        NetField::Protocol => "ip.protocol",
        NetField::Ttl => "ip.ttl",
        NetField::Tos => "ip.tos",
        NetField::Interface => "p.interface",
        NetField::PayloadLen => "ip.rest",
        // Of IPv6, which circuits do not have.
        _ => "u8:0",
    }
}
