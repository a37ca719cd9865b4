// SPDX-License-Identifier: MIT OR Apache-2.0
//! CRC-32 fields: what they cover, and what of it is masked.

use carrick_ir::{self as ir, CrcMask, CrcPart};
use carrick_syntax::Span;
use carrick_syntax::ast::{Expr, ExprKind as E, Ident};
use carrick_syntax::diag::Diagnostic;

use crate::{Checker, codes};

/// What of the network header can be masked: its bytes.
const NET: [(&str, u32, u32); 7] = [
    ("tos", 1, 1),
    ("identification", 4, 2),
    ("ttl", 8, 1),
    ("protocol", 9, 1),
    ("checksum", 10, 2),
    ("src_ip", 12, 4),
    ("dst_ip", 16, 4),
];
/// The most bytes of ones in front of something.
const ONES_MAX: u64 = ir::validate::numbers::ONES_MAX as u64;
const FORM: &str = "write `= crc32(net, header, payload, masked(a_field, net.ttl))` with what it covers, in order: `ones(n)`, `net`, `header`, `payload`, `fields(first, last)`";

/// A part of what a field covers, as it is written.
pub(crate) fn call(expr: &Expr) -> Option<(&str, &[Expr])> {
    let E::Call(callee, args) = &expr.kind else { return None };
    let E::Name(name) = &callee.kind else { return None };
    Some((name, args))
}

impl Checker<'_> {
    /// `crc32(parts..., masked(fields...))`; header and payload without an initialiser.
    pub(crate) fn crc(&mut self, bp: ir::BpId, at: usize, span: Span, init: Option<&Expr>) {
        let crc = match init {
            None => Some(ir::Crc { over: vec![CrcPart::Header, CrcPart::Payload], masked: Vec::new() }),
            Some(init) => match call(init) {
                Some(("crc32", parts)) if !parts.is_empty() => self.crc_parts(bp, parts),
                _ => self.not_covered(codes::CRC, init.span, "this is not a CRC-32"),
            },
        };
        let Some(crc) = crc else { return };
        self.crc_and_checksum(bp, span, &crc);
        self.program.blueprints[bp.index()].fields[at].kind = ir::BpFieldKind::Crc(crc);
    }

    fn not_covered<T>(&mut self, code: u16, span: Span, message: &str) -> Option<T> {
        self.report(Diagnostic::error(code, message, span, "invalid").mend(FORM));
        None
    }

    fn crc_parts(&mut self, bp: ir::BpId, parts: &[Expr]) -> Option<ir::Crc> {
        let mut crc = ir::Crc::default();
        for part in parts {
            if let Some(("masked", fields)) = call(part) {
                for field in fields {
                    let mask = self.crc_mask(bp, field)?;
                    crc.masked.push(mask);
                }
            } else {
                let part = self.crc_part(bp, part)?;
                crc.over.push(part);
            }
        }
        Some(crc)
    }

    fn crc_part(&mut self, bp: ir::BpId, part: &Expr) -> Option<CrcPart> {
        match (&part.kind, call(part)) {
            (E::Name(name), _) if name == "net" => {
                self.no_net_in_sum(part.span, "network header");
                if self.program.net_header.layer == ir::NetLayer::Ipv6 {
                    let message = "a CRC-32 does not cover the network header over IPv6 yet";
                    return self.not_covered(codes::CRC, part.span, message);
                }
                Some(CrcPart::Net)
            }
            (E::Name(name), _) if name == "header" => Some(CrcPart::Header),
            (E::Name(name), _) if name == "payload" => Some(CrcPart::Payload),
            (_, Some(("ones", [count]))) => {
                let count_value = self.constant(count, &ir::Ty::U64)?;
                if !(1..=ONES_MAX).contains(&count_value) {
                    return self.not_covered(
                        codes::CRC_ONES,
                        count.span,
                        "expected 1 to 64 bytes of ones before the covered data",
                    );
                }
                Some(CrcPart::Ones(count_value as u32))
            }
            (_, Some(("fields", [first, last]))) => {
                let (a, b) = (self.covered_field(bp, first)?, self.covered_field(bp, last)?);
                let fields = &self.program.blueprints[bp.index()].fields;
                let (a_def, b_def) = (&fields[a as usize], &fields[b as usize]);
                let whole =
                    a_def.bit_offset.is_multiple_of(8) && (b_def.bit_offset + b_def.bits).is_multiple_of(8);
                if a > b || !whole {
                    return self.not_covered(
                        codes::CRC_FIELDS,
                        part.span,
                        "these fields are not a range of whole bytes",
                    );
                }
                Some(CrcPart::Fields { first: a, last: b })
            }
            _ => self.not_covered(codes::CRC, part.span, "a CRC-32 cannot cover this"),
        }
    }

    /// The number of a field that always stands at the same place.
    pub(crate) fn covered_field(&mut self, bp: ir::BpId, expr: &Expr) -> Option<u32> {
        let E::Name(name) = &expr.kind else {
            return self.not_covered(codes::CRC, expr.span, "this is not a field of the blueprint");
        };
        let def = &self.program.blueprints[bp.index()];
        let fixed = def.fixed_fields();
        let ident = Ident { name: name.clone(), span: expr.span };
        if def.array_named(name).is_some() {
            return self.single_field(bp, &ident);
        }
        if let Some(at) = def.field_named(name).filter(|at| (*at as usize) < fixed.len()) {
            return Some(at);
        }
        let names: Vec<String> = fixed.iter().map(|f| f.declared().to_owned()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        self.unknown(codes::UNKNOWN_FIELD, "field", &ident, &names);
        None
    }

    fn crc_mask(&mut self, bp: ir::BpId, expr: &Expr) -> Option<CrcMask> {
        let E::Field(base, field) = &expr.kind else {
            return Some(CrcMask::Field(self.covered_field(bp, expr)?));
        };
        if !matches!(&base.kind, E::Name(n) if n == "net") {
            return self.not_covered(codes::CRC, expr.span, "this is not a field of the blueprint");
        }
        let Some((name, at, octets)) = NET.iter().find(|(n, ..)| *n == field.name) else {
            self.unknown(codes::NET_FIELD, "field of the network header", field, &NET.map(|(n, ..)| n));
            return None;
        };
        Some(CrcMask::Net { name: (*name).to_owned(), at: *at, octets: *octets })
    }

    /// Checksums are filled in behind the CRC-32: it cannot cover one unless that is masked.
    fn crc_and_checksum(&mut self, bp: ir::BpId, span: Span, crc: &ir::Crc) {
        let fields = self.program.blueprints[bp.index()].fixed_fields();
        let covered = fields.iter().zip(0_u32..).find(|(field, at)| {
            let inside = crc.over.iter().any(|part| match part {
                CrcPart::Header => true,
                CrcPart::Fields { first, last } => (*first..=*last).contains(at),
                _ => false,
            });
            let masked = crc.masked.contains(&CrcMask::Field(*at));
            inside && !masked && matches!(field.kind, ir::BpFieldKind::Checksum { .. })
        });
        let Some((field, _)) = covered else { return };
        let name = field.name.clone();
        self.report(
            Diagnostic::error(
                codes::CRC_COVERS_CHECKSUM,
                format!("this CRC-32 covers the checksum `{name}`"),
                span,
                "computed before the checksum",
            )
            .note("the checksum is filled in last, over the CRC-32 too")
            .mend(format!("add `masked({name})` to what it covers, or cover other fields")),
        );
    }
}
