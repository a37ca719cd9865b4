// SPDX-License-Identifier: MIT OR Apache-2.0
//! What stands in front of a program's own headers.

use carrick_ir::{self as ir, NetField, NetLayer, Ty};
use carrick_syntax::Span;
use carrick_syntax::ast::{Field, Ident, ItemKind, Over};
use carrick_syntax::diag::Diagnostic;

use crate::body::Body;
use crate::env::Def;
use crate::names::ID;
use crate::{Checker, codes};

/// The fields of `ipv4` and `ipv6` that a program may name. Addresses have their own type in each, and `segments` has many.
const FIELDS: [(&str, NetField, Ty); 12] = [
    ("src_ip", NetField::SrcIp, Ty::U32),
    ("dst_ip", NetField::DstIp, Ty::U32),
    ("protocol", NetField::Protocol, Ty::U8),
    ("ttl", NetField::Ttl, Ty::U8),
    ("tos", NetField::Tos, Ty::U8),
    ("payload_len", NetField::PayloadLen, Ty::U16),
    ("interface", NetField::Interface, Ty::U8),
    (SEGMENTS, NetField::Segments, Ty::U32),
    ("segment_count", NetField::SegmentCount, Ty::U8),
    ("segments_left", NetField::SegmentsLeft, Ty::U8),
    ("segment_flags", NetField::SegmentFlags, Ty::U8),
    ("segment_tag", NetField::SegmentTag, Ty::U16),
];
/// The list of a segment routing header, and how many entries it can have.
const SEGMENTS: &str = "segments";
const SEGMENTS_MAX: u32 = 16;

impl Checker<'_> {
    /// Finds out over what the program runs, and declares the type of its addresses if that is an id: the first one.
    pub(crate) fn declare_address(&mut self, next: &mut impl FnMut(usize) -> u32) {
        let names = self.file.items.iter().filter_map(|item| match &item.kind {
            ItemKind::NetHeader { name, .. } => Some(name.name.as_str()),
            _ => None,
        });
        let name = names.take(1).collect::<String>();
        self.program.net_header.layer = self.layer(&name);
        if self.program.address_ty() == Ty::U32 {
            return;
        }
        let id = ir::IdId(next(ID));
        self.env.names.insert(ir::ADDRESS.to_owned(), (Def::Id(id), Span::default()));
        let part = |name: &str| ir::FieldDef {
            name: name.to_owned(),
            doc: ir::Text::default(),
            ty: Ty::U64,
            init: None,
        };
        self.program.ids.push(ir::IdDef {
            name: ir::ADDRESS.to_owned(),
            doc: "An IPv6 address.".into(),
            parts: vec![part("high"), part("low")],
        });
    }

    /// What a network header of this name is in this build.
    fn layer(&self, name: &str) -> NetLayer {
        match (name, self.file.over) {
            ("link", _) => NetLayer::Link,
            ("ipv6", _) | ("inet", Over::Ipv6) => NetLayer::Ipv6,
            _ => NetLayer::Ipv4,
        }
    }

    pub(crate) fn net_header(&mut self, name: &Ident, fields: &[Field]) {
        if name.name == "link" {
            return self.link(name, fields);
        }
        if !["ipv4", "ipv6", "inet"].contains(&name.name.as_str()) {
            self.unknown(codes::NET_HEADER, "network header", name, &["ipv4", "ipv6", "inet", "link"]);
        }
        let mut defs = Vec::new();
        let mut protocol = None;
        self.check_twins(fields.iter().map(|f| &f.name));
        for field in fields {
            let Some((known, kind, ty)) = FIELDS.iter().find(|(n, ..)| *n == field.name.name) else {
                let what = format!("field of {}", name.name);
                self.unknown(codes::NET_FIELD, &what, &field.name, &FIELDS.map(|(n, ..)| n));
                continue;
            };
            if let Some(presence) = field.presence.first() {
                self.net_field_optional(field, presence.cond.span);
            }
            let Some(ty) = self.net_field_type(*kind, ty, field, fields) else { continue };
            let ty = &ty;
            if *kind == NetField::Interface && !self.has_role() {
                self.not_at_an_end(field.name.span, "`interface`");
                continue;
            }
            if *kind != NetField::Segments && self.resolve(&field.ty).is_some_and(|t| t != *ty) {
                let wanted = self.name(ty);
                self.report(
                    Diagnostic::error(
                        codes::NET_FIELD_TYPE,
                        format!("the type of `{known}` is `{wanted}`"),
                        field.ty.span,
                        "another type",
                    )
                    .fix(format!("write `{wanted}`"), field.ty.span, wanted.clone()),
                );
            }
            if let (NetField::PayloadLen, Some(init)) = (kind, &field.init) {
                self.report(
                    Diagnostic::error(
                        codes::NET_FIELD_SET,
                        "`payload_len` is only read",
                        init.span,
                        "set by the network layer",
                    )
                    .mend("remove the value"),
                );
            }
            let init = field.init.as_ref().and_then(|e| Body::for_declaration(self).value_of_type(e, ty));
            if *kind == NetField::Protocol {
                protocol = init.as_ref().and_then(|e| self.fold(e));
            }
            defs.push(ir::NetFieldDef { field: *kind, name: field.name.name.clone(), ty: ty.clone(), init });
        }
        if protocol.is_none() {
            self.no_protocol(name.span);
        }
        self.program.net_header = ir::NetHeaderDef {
            name: name.name.clone(),
            layer: self.layer(&name.name),
            fields: defs,
            protocol: protocol.unwrap_or(0) as u8,
        };
    }

    fn no_protocol(&mut self, span: Span) {
        self.report(
            Diagnostic::error(
                codes::NET_PROTOCOL,
                "the network header has no protocol number",
                span,
                "no field `protocol`",
            )
            .note("every packet carries the number, and the parser receives only packets with this number")
            .mend("add `uint8 protocol = N;` with a constant N (IANA protocol numbers; 253 and 254 are for experiments)"),
        );
    }

    /// The type of a field, if the program can have it: segments are of IPv6, and all their fields need the list.
    fn net_field_type(&mut self, kind: NetField, ty: &Ty, field: &Field, all: &[Field]) -> Option<Ty> {
        let address = self.program.address_ty();
        if !kind.is_of_segments() {
            return Some(if matches!(kind, NetField::SrcIp | NetField::DstIp) {
                address
            } else {
                ty.clone()
            });
        }
        let wrong = if self.program.net_header.layer != NetLayer::Ipv6 {
            Diagnostic::error(
                codes::NET_FIELD,
                format!("`{}` is a field of IPv6 alone", field.name.name),
                field.name.span,
                "an IPv4 packet has no segment routing header",
            )
            .mend("declare it in `if (over(ipv6)) { }`, and list hops in the program's own header over IPv4")
        } else if !all.iter().any(|f| f.name.name == SEGMENTS) {
            Diagnostic::error(
                codes::NET_FIELD,
                format!("`{}` without `segments`", field.name.name),
                field.name.span,
                "of a list that is not declared",
            )
            .mend("declare `ip_t segments[N];` too, with the length N of the longest list")
        } else if kind == NetField::Segments {
            return self.segments(field, address);
        } else {
            return Some(ty.clone());
        };
        self.report(wrong);
        None
    }

    /// `ip_t segments[N];`
    fn segments(&mut self, field: &Field, address: Ty) -> Option<Ty> {
        let element = self.resolve(&field.ty)?;
        let length = match &field.array {
            Some(length) => self.length(length)?,
            None => 0,
        };
        if element != address || !(1..=SEGMENTS_MAX).contains(&length) {
            self.report(
                Diagnostic::error(
                    codes::NET_FIELD_TYPE,
                    "the type of `segments` is an array of `ip_t`",
                    field.span,
                    "another type",
                )
                .mend(format!("write `ip_t segments[N];` with N from 1 to {SEGMENTS_MAX}")),
            );
            return None;
        }
        Some(Ty::Array(Box::new(element), length))
    }

    /// A field in a group of `if` whose condition is known only when the program runs.
    fn net_field_optional(&mut self, field: &Field, cond: Span) {
        self.report(
            Diagnostic::error(
                codes::PRESENCE,
                format!("`{}` cannot be optional", field.name.name),
                field.span,
                "a field of the network header",
            )
            .cause(cond, "not decided by the build")
            .note("a program has the same fields of the network header for all packets")
            .mend("test `over(ipv6)` or `feature(name)`, or move it out of the group"),
        );
    }

    /// `net_header link { }`
    fn link(&mut self, name: &Ident, fields: &[Field]) {
        if let Some(field) = fields.first() {
            self.report(
                Diagnostic::error(
                    codes::LINK,
                    "`link` has no fields of a network header",
                    field.span,
                    "a field of `link`",
                )
                .note("over `link`, a packet begins with the first field of its blueprint")
                .mend("make it a field of the blueprint"),
            );
        }
        self.program.net_header = ir::NetHeaderDef {
            name: name.name.clone(),
            layer: NetLayer::Link,
            fields: Vec::new(),
            protocol: 0,
        };
    }

    /// What the network layer would have to add to a sum.
    pub(crate) fn no_net_in_sum(&mut self, span: Span, what: &str) {
        if self.program.net_header.layer == NetLayer::Link {
            self.report(
                Diagnostic::error(
                    codes::LINK,
                    format!("there is no {what} to cover"),
                    span,
                    "covers what is not in a packet",
                )
                .note("over `link`, a packet begins with the first field of its blueprint")
                .mend("cover `header`, `payload` or `fields(first, last)`"),
            );
        }
    }
}
