// SPDX-License-Identifier: MIT OR Apache-2.0
//! Frames: blueprints in the payload of another one.

use carrick_ir::BlueprintDef;

use crate::Emitter;
use crate::blueprint::{less_tail, packet_len};

impl Emitter<'_> {
    /// Whether extracts follow each other through a packet.
    pub fn has_frames(&self) -> bool {
        self.p.blueprints.iter().any(|bp| bp.frame)
    }

    /// At the beginning of an extract function: where it reads.
    pub(crate) fn extract_begin(&mut self, bp: &BlueprintDef) {
        if self.is_read_apart(bp) {
            self.w.line("CARRICK_GIVEN(core && packet && h);");
        }
        if bp.frame {
            self.w.line("uint32_t len = CARRICK_LEFT(packet);");
        }
        let at = if bp.frame { "FRAME" } else { "PACKET" };
        self.w.line(format!("CARRICK_UNUSED const uint8_t *p = CARRICK_{at}_AT(core, packet);"));
        if self.cuts_packet(bp) {
            self.w.line("uint32_t len = packet->len;");
        }
    }

    /// Whether the fields of the packet say where it ends.
    pub(crate) fn cuts_packet(&self, bp: &BlueprintDef) -> bool {
        !bp.frame && bp.payload_len.is_some()
    }

    /// Cuts the packet to what its fields say is its payload: a link may pad what is short.
    pub(crate) fn cut_packet(&mut self, bp: &BlueprintDef) {
        let Some(len) = &bp.payload_len else { return };
        let around = bp.fixed_len + bp.trailer_len();
        let len = self.header_value(len, bp, "h->");
        self.w.open("{");
        self.w.line(format!(
            "CARRICK_UNUSED uint64_t header_len = {}u, payload_len = len - {around}u;",
            bp.fixed_len
        ));
        self.w.line(format!("uint64_t own = {len};"));
        self.w.line("if (own > payload_len)");
        self.w.line(format!("    return {}(core, CARRICK_COUNT_SHORT);", self.names.own("refuse")));
        self.w.line(format!("len = {around}u + (uint32_t)own;"));
        self.w.close("}");
    }

    /// At its end: the payload, and what is left of the packet for the next extract.
    pub(crate) fn extract_payload(&mut self, bp: &BlueprintDef) {
        let (payload, len) = (self.names.own("payload"), packet_len(bp));
        let mut octets = format!("{len} - header_len{}", less_tail(bp));
        if bp.frame {
            self.w.line("CARRICK_UNUSED uint64_t payload_len = len - header_len;");
            octets = match (&bp.payload_len, &bp.payload_name) {
                (Some(len), _) => self.header_value(len, bp, "h->"),
                (None, Some(_)) => "payload_len".into(),
                (None, None) => "0".into(),
            };
        }
        if bp.frames.is_some() {
            self.w.line("h->frames__.count = 0;");
        }
        let of = if bp.frame { "FRAME" } else { "PACKET" };
        let begin = format!("CARRICK_{of}_PAYLOAD(core, packet, p, header_len)");
        self.w.line(format!("h->payload__ = (struct {payload}){{.ptr = {begin}, .len = {octets}}};"));
        if bp.frame && bp.payload_len.is_some() {
            self.w.line("if (h->payload__.len > payload_len)");
            self.w.line(format!("    return {}(core, CARRICK_COUNT_SHORT);", self.names.own("refuse")));
        }
        let moved = "packet, p, header_len, h->payload__.len";
        if bp.frame {
            self.w.line(format!("CARRICK_SKIP_FRAME({moved});"));
        } else if self.has_frames() {
            self.w.line(format!("CARRICK_ENTER_PAYLOAD({moved});"));
        }
    }

    /// Whether an extract function is verified apart: where many fields can be otherwise, or where there are many of them.
    pub(crate) fn is_read_apart(&self, bp: &BlueprintDef) -> bool {
        bp.frame || !bp.parts.is_empty()
    }
}
