// SPDX-License-Identifier: MIT OR Apache-2.0
//! CRC-32 fields: one function that computes what should stand in a packet, for packets made and received.

use carrick_ir::crc::NET_OCTETS;
use carrick_ir::{BlueprintDef, BpField, BpFieldKind, Crc, CrcPart};

use crate::Emitter;
use crate::blueprint::{packet_len, sums_payload, tail};
use crate::names::safe;

/// The CRC-32 field of a blueprint.
fn field(bp: &BlueprintDef) -> Option<(&BpField, &Crc)> {
    bp.fields.iter().find_map(|f| match &f.kind {
        BpFieldKind::Crc(crc) => Some((f, crc)),
        _ => None,
    })
}

/// C for where the field stands, with the header at `p`.
fn place(bp: &BlueprintDef, field: &BpField, payload_len: &str) -> String {
    if field.bit_offset < 8 * bp.fixed_len {
        format!("p + {}", field.bit_offset / 8)
    } else {
        format!("p + header_len + {payload_len}")
    }
}

impl Emitter<'_> {
    /// Whether any CRC-32 covers the network header of a received packet.
    pub(crate) fn crc_over_net(&self) -> bool {
        self.p.blueprints.iter().filter_map(field).any(|(_, crc)| crc.covers_net())
    }

    pub(crate) fn has_crc(&self) -> bool {
        self.p.blueprints.iter().any(|bp| field(bp).is_some())
    }

    /// Whether any packet has a checksum or a CRC-32.
    pub(crate) fn has_checksums(&self) -> bool {
        let kinds = self.p.blueprints.iter().flat_map(|bp| &bp.fields).map(|field| &field.kind);
        kinds.into_iter().any(|kind| matches!(kind, BpFieldKind::Checksum { .. } | BpFieldKind::Crc(_)))
    }

    /// Computes what should stand in the field of a packet that is complete but for it.
    pub(crate) fn crc_function(&mut self, bp: &BlueprintDef) {
        let Some((own, crc)) = field(bp) else { return };
        let name = self.names.own(&bp.name);
        self.w.line("/* The CRC-32 of a packet, with ones for what is masked. */");
        self.w.open(format!(
            "CARRICK_UNUSED static inline uint32_t {name}_crc(CARRICK_UNUSED const uint8_t *net, CARRICK_UNUSED uint32_t net_len, CARRICK_UNUSED const uint8_t *p, CARRICK_UNUSED size_t header_len, CARRICK_UNUSED size_t payload_len) {{"
        ));
        let of_fields = crc.over.iter().any(|p| matches!(p, CrcPart::Header | CrcPart::Fields { .. }));
        if of_fields {
            self.masked_fields(bp, own, crc);
        }
        if crc.covers_net() {
            self.w.line(format!("uint8_t ip[{}];", 15 * 4));
            self.w.line("memcpy(ip, net, net_len);");
            self.ones("ip", &crc.net_mask());
        }
        self.w.line("uint32_t crc = CARRICK_CRC32_START;");
        for part in &crc.over {
            match part {
                CrcPart::Ones(n) => self.w.line(format!("crc = carrick_crc32_ones(crc, {n});")),
                CrcPart::Net => self.w.line("crc = carrick_crc32(crc, ip, net_len);"),
                CrcPart::Header => {
                    self.w.line("crc = carrick_crc32(crc, fields, sizeof fields);");
                    self.w.line("crc = carrick_crc32(crc, p + sizeof fields, header_len - sizeof fields);");
                }
                CrcPart::Payload => self.w.line("crc = carrick_crc32(crc, p + header_len, payload_len);"),
                CrcPart::Fields { first, last } => {
                    let range = bp.octets_of(*first, *last);
                    self.w.line(format!(
                        "crc = carrick_crc32(crc, fields + {}, {});",
                        range.start,
                        range.len()
                    ));
                }
            }
        }
        self.w.end_with("return ~crc;");
    }

    /// The fixed fields with ones where they are masked; the CRC-32 itself counts as zeros.
    fn masked_fields(&mut self, bp: &BlueprintDef, own: &BpField, crc: &Crc) {
        self.w.line(format!("uint8_t fields[{}];", bp.fixed_len));
        self.w.line("memcpy(fields, p, sizeof fields);");
        if own.bit_offset < 8 * bp.fixed_len {
            self.w.line(format!("memset(fields + {}, 0, {});", own.bit_offset / 8, own.bits / 8));
        }
        self.ones("fields", &bp.crc_mask(crc));
    }

    fn ones(&mut self, array: &str, mask: &[u8]) {
        debug_assert!(array != "ip" || mask.len() == NET_OCTETS);
        for (at, mask) in mask.iter().enumerate().filter(|(_, mask)| **mask != 0) {
            self.w.line(format!("{array}[{at}] |= {mask:#x};"));
        }
    }

    /// In an extract function, once the header's length is known: reads the field and holds it against the packet.
    pub(crate) fn crc_verify(&mut self, bp: &BlueprintDef) {
        let Some((own, crc)) = field(bp) else { return };
        let name = self.names.own(&bp.name);
        self.w.line(format!(
            "uint32_t payload_len = {} - header_len - {}u;",
            packet_len(bp),
            bp.trailer_len()
        ));
        let place = place(bp, own, "payload_len");
        self.w.line(format!("h->{} = carrick_crc32_load({place});", safe(&own.name)));
        let net = if crc.covers_net() { "p - packet->net_len, packet->net_len" } else { "p, 0" };
        let found = format!("{name}_crc({net}, p, header_len, payload_len)");
        self.refuse_damaged(&format!("{found} != h->{}", safe(&own.name)));
    }

    /// In a function that makes a packet, before its checksums are filled in. The network header is built here too if
    /// the CRC-32 covers it.
    pub(crate) fn crc_fill(&mut self, bp: &BlueprintDef) {
        let Some((own, crc)) = field(bp) else { return };
        let name = self.names.own(&bp.name);
        let place = place(bp, own, "payload_len");
        if crc.covers_net() {
            let len = format!("(uint32_t)(header_len + payload_len{})", tail(bp));
            self.build_net(&len, "core->identification");
        }
        let net = if self.has_net() { self.ip().header_len } else { "0" };
        let crc = format!("{name}_crc(out, {net}, p, header_len, payload_len)");
        self.w.line(format!("carrick_crc32_store({place}, CARRICK_MAKES_SUMS(core) ? {crc} : 0u);"));
        if bp.trailer && sums_payload(bp) {
            let trailer = format!("carrick_sum({place}, {})", bp.trailer_len());
            self.w.line(format!("payload_sum = carrick_sum_join(payload_sum, payload_len, {trailer});"));
        }
    }
}
