// SPDX-License-Identifier: MIT OR Apache-2.0
//! Checksums.

use carrick_ir::{BlueprintDef, BpFieldKind, Crc, CrcPart, NetLayer};

use crate::emitter::Emitter;
use crate::extract::path;
use crate::names::field;

impl Emitter<'_> {
    /// Whether a checksum of the blueprint needs to know where the header ends.
    pub(crate) fn needs_header_end(&self, bp: &BlueprintDef) -> bool {
        bp.fields.iter().any(|f| match f.kind {
            BpFieldKind::Checksum { header, payload, fields, .. } => fields.is_none() && header != payload,
            BpFieldKind::Crc(_) => true,
            _ => false,
        })
    }

    /// The checksum, if it covers the whole packet (it is verified before the fields are believed) or if it does not.
    pub(crate) fn checksum(&mut self, bp: &BlueprintDef, whole: bool) {
        for of in &bp.fields {
            let BpFieldKind::Checksum { pseudo, header, payload, fields } = of.kind else { continue };
            if (header && payload) != whole {
                continue;
            }
            let of_fields = fields.map(|(first, last)| {
                let range = bp.octets_of(first, last);
                format!("packet.octets:sub({}, {})", range.start + 1, range.end)
            });
            let octets = match (header, payload) {
                _ if of_fields.is_some() => of_fields.as_deref().unwrap_or_default(),
                (true, true) => "packet.octets",
                (true, false) => "packet.octets:sub(1, header)",
                (false, true) => "packet.octets:sub(header + 1)",
                (false, false) => "\"\"",
            };
            let over_ipv6 = self.p.net_header.layer == NetLayer::Ipv6;
            let sum = if over_ipv6 { "ipv6_pseudo_sum(PROTOCOL)" } else { "pseudo_sum(PROTOCOL)" };
            let pseudo = pseudo.then_some(sum);
            let cell = field("h", &of.name);
            let own = (!header && fields.is_none()).then_some(cell.as_str());
            let more: Vec<&str> = pseudo.into_iter().chain(own).collect();
            let more = if more.is_empty() { "0".to_owned() } else { more.join(" + ") };
            let right = format!("sum16({octets}, {more}) == 0xffff");
            self.verdict(&path(bp, of), &right, &cell, pseudo);
        }
    }

    /// What the CRC-32 says, if there is one.
    pub(crate) fn crc(&mut self, bp: &BlueprintDef) {
        for of in &bp.fields {
            let BpFieldKind::Crc(crc) = &of.kind else { continue };
            let place = (!bp.trailer).then_some(of.bit_offset / 8);
            self.masked_header(bp, crc, place);
            if crc.covers_net() {
                let net = masked("(packet.net_octets or \"\")", &crc.net_mask());
                self.w.line(format!("local net_octets = {net}"));
            }
            let parts: Vec<String> = crc.over.iter().map(|part| covered(bp, part)).collect();
            let parts = if parts.is_empty() { "\"\"".to_owned() } else { parts.join(" .. ") };
            let cell = field("h", &of.name);
            let right = format!("crc32({parts}) == {cell}");
            let right = if crc.covers_net() { format!("packet.net_octets and {right}") } else { right };
            self.w.line(format!("r:verdict({}, {right}, {cell})", path(bp, of)));
        }
    }

    /// The header's bytes as the CRC-32 sees them: its own count as zeros, unless they are masked.
    fn masked_header(&mut self, bp: &BlueprintDef, crc: &Crc, place: Option<u32>) {
        let of_header = |part: &CrcPart| matches!(part, CrcPart::Header | CrcPart::Fields { .. });
        if !crc.over.iter().any(of_header) {
            return;
        }
        let mut octets = "packet.octets:sub(1, header)".to_owned();
        if let Some(at) = place {
            octets = format!("without({octets}, {at})");
        }
        let octets = masked(&octets, &bp.crc_mask(crc));
        self.w.line(format!("local header_octets = {octets}"));
    }

    /// `found` is what the packet has. Without the sum of more than the pseudo-header, it is `pseudo`.
    fn verdict(&mut self, path: &str, right: &str, found: &str, pseudo: Option<&str>) {
        self.w.line(match pseudo {
            Some(sum) => format!("r:verdict({path}, packet.net_octets and {right}, {found}, {sum})"),
            None => format!("r:verdict({path}, {right}, {found})"),
        });
    }
}

fn covered(bp: &BlueprintDef, part: &CrcPart) -> String {
    match part {
        CrcPart::Ones(n) => format!("(\"\\255\"):rep({n})"),
        CrcPart::Net => "net_octets".to_owned(),
        CrcPart::Header => "header_octets".to_owned(),
        CrcPart::Payload => "packet.octets:sub(header + 1, r.to)".to_owned(),
        CrcPart::Fields { first, last } => {
            let range = bp.octets_of(*first, *last);
            format!("header_octets:sub({}, {})", range.start + 1, range.end)
        }
    }
}

/// Bytes some of whose bits count as ones.
fn masked(octets: &str, mask: &[u8]) -> String {
    let bits: Vec<String> = mask
        .iter()
        .enumerate()
        .filter(|(_, bits)| **bits != 0)
        .map(|(at, bits)| format!("[{at}] = {bits:#04x}"))
        .collect();
    if bits.is_empty() { octets.to_owned() } else { format!("masked({octets}, {{ {} }})", bits.join(", ")) }
}
