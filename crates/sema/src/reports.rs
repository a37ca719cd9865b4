// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors that the network reports about packets of the program: their kinds, and the parser that reads them.

use carrick_ir::{self as ir, BpFieldKind, NetLayer, REPORT_NAMES, Ty};
use carrick_syntax::Span;
use carrick_syntax::ast::{Ident, ItemKind, TypeKind};
use carrick_syntax::diag::Diagnostic;

use crate::env::Def;
use crate::{Checker, codes};

/// The type of the kinds, an enum that is there if a function takes one.
const REPORT: &str = "report_t";
/// Bytes behind the network header that every report quotes (RFC 792).
const QUOTED: u32 = 8;
/// The protocol of reports themselves.
const ICMP: u8 = 1;
const ICMPV6: u8 = 58;

impl Checker<'_> {
    /// Names the kinds, as those of an enum with this number, if the program takes reports.
    pub(crate) fn declare_report_names(&mut self, id: ir::EnumId) {
        let takes = |item: &carrick_syntax::ast::Item| {
            let ItemKind::Function { params, .. } = &item.kind else { return false };
            params.iter().any(|p| matches!(&p.ty.kind, TypeKind::Name(name) if name == REPORT))
        };
        if !self.file.items.iter().any(takes) {
            return;
        }
        let variants = REPORT_NAMES.iter().enumerate().map(|(i, name)| (*name, Def::Variant(id, i as u32)));
        for (name, def) in variants.chain([(REPORT, Def::Enum(id))]) {
            // A program may have a name of its own for something else.
            self.env.names.entry(name.to_owned()).or_insert((def, Span::default()));
        }
    }

    /// The enum itself, behind those of the program.
    pub(crate) fn declare_report_enum(&mut self) {
        if self.env.get(REPORT).is_some() {
            self.program.enums.push(ir::EnumDef {
                name: REPORT.to_owned(),
                doc: "What the network reports about a packet.".into(),
                repr: Ty::U8,
                variants: (0..).zip(REPORT_NAMES).map(|(value, name)| (name.to_owned(), value)).collect(),
            });
        }
    }

    /// Whether these are the parameters, or some of them, of a parser of reports.
    pub(crate) fn takes_report(&self, params: &[ir::Local]) -> bool {
        let Some(Def::Enum(report)) = self.env.get(REPORT) else { return false };
        params.iter().any(|l| l.ty == Ty::Enum(report))
    }

    /// Takes the function as the parser of reports.
    pub(crate) fn report_parser(&mut self, id: ir::FuncId, params: &[ir::Local], name: &Ident) {
        let tys: Vec<&Ty> = params.iter().map(|l| &l.ty).collect();
        let known = !tys.contains(&&Ty::Void);
        let right = matches!(tys[..], [Ty::Packet, Ty::NetHeader, Ty::Enum(_), Ty::Bytes, from] if *from == self.program.address_ty());
        if known && !right {
            return self.report(
                Diagnostic::error(
                    codes::PARSER_PARAMS,
                    "a report parser takes the quoted packet, its network header, and what is reported",
                    name.span,
                    "other parameters",
                )
                .mend("write `void reported(pkt_t p, ipv4 ip, report_t kind, bytes mtu, uint32 from) { }`"),
            );
        }
        if let Some(first) = self.program.report_parser {
            let first = self.program.functions[first.index()].name.clone();
            let first = self.env.span(&first).unwrap_or_default();
            return self.report(
                Diagnostic::error(
                    codes::TWO_PARSERS,
                    "the program has two report parsers",
                    name.span,
                    "another report parser",
                )
                .cause(first, "the first")
                .mend("make one of them"),
            );
        }
        self.program.report_parser = Some(id);
        let header = &self.program.net_header;
        let why = match (header.layer, header.protocol) {
            (NetLayer::Link, _) => {
                "hosts and routers of an IP network report errors; over `link` there are none"
            }
            _ if self.has_role() => {
                "a program in the network forwards reports to the end that sent the packet"
            }
            (NetLayer::Ipv4, ICMP) | (NetLayer::Ipv6, ICMPV6) => {
                "no error is reported about ICMP packets that are errors (RFC 1122 §3.2.2)"
            }
            _ => return,
        };
        self.report(
            Diagnostic::error(codes::NO_REPORTS, "this program gets no reports", name.span, "never runs")
                .note(why)
                .mend("remove the report parser"),
        );
    }

    /// A report may quote no more than the first bytes of a header.
    pub(crate) fn check_quoted(&mut self, bp: ir::BpId, span: Span) {
        let def = &self.program.blueprints[bp.index()];
        let sum = |f: &ir::BpField| matches!(f.kind, BpFieldKind::Checksum { .. } | BpFieldKind::Crc(_));
        let label = if def.fields.iter().any(sum) {
            "its checksum covers what is not quoted".to_owned()
        } else if def.options.is_some()
            || !def.parts.is_empty()
            || def.frames.is_some()
            || def.payload_len.is_some()
        {
            "its length depends on what may not be quoted".to_owned()
        } else if def.fixed_len > QUOTED {
            format!("{} bytes", def.fixed_len)
        } else {
            return;
        };
        let message = format!("a report may not quote all of `{}`", def.name);
        self.report(
            Diagnostic::error(codes::QUOTED, message, span, label)
                .note(format!("a report quotes at least the first {QUOTED} bytes after the network header (RFC 792)"))
                .mend(format!(
                    "declare a blueprint of these bytes: at most {QUOTED}, without checksum, options and groups"
                )),
        );
    }

    /// The registrations that are missing of a program with a report parser.
    pub(crate) fn unregistered_parsers(&self, registered: &[String]) -> Vec<String> {
        if self.program.report_parser.is_none() || self.diagnostics.has(codes::PARSER) {
            return Vec::new();
        }
        let names = self.program.parsers().map(|f| &self.program.functions[f.index()].name);
        let calls = names.map(|name| format!("register_ev_parser({name})"));
        calls.filter(|call| !registered.contains(call)).collect()
    }
}
