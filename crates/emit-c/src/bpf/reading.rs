// SPDX-License-Identifier: MIT OR Apache-2.0
//! Frames of a packet: what is read next lies where all headers are read from, at its beginning.

use carrick_ir::BlueprintDef;

use crate::Emitter;

impl Emitter<'_> {
    /// Whether an extract function is verified apart: where many fields can be otherwise, or where there are many of them.
    pub(crate) fn is_read_apart(&self, bp: &BlueprintDef) -> bool {
        self.kernel && (bp.frame || !bp.parts.is_empty())
    }

    /// Whether what is read from moves over the packet.
    pub(super) fn looks_further(&self) -> bool {
        self.has_frames() || self.p.opts.iter().any(|opt| opt.wide.is_some())
    }

    /// In the struct of a packet that is parsed.
    pub(super) fn rest_members(&mut self) {
        if self.has_frames() {
            self.w.line("uint32_t rest[2]; /* what no extract has taken: from where, and to where */");
        }
    }

    /// Moving over a packet.
    pub(super) fn reading_functions(&mut self) {
        if !self.looks_further() {
            return;
        }
        let (core, look) = (self.names.own("core"), self.names.own("look"));
        self.w.line("/* `in` has what follows from here on, as much as is seen at once. */");
        self.w.open(format!("CARRICK_APART int {look}(struct {core} *core, uint32_t at) {{"));
        self.w.line("if (!core || at == core->looked)");
        self.w.line("    return 0;");
        self.w.line("core->looked = at;");
        self.w.line("uint64_t octets = core->packet.len - at;");
        self.w.line("if (octets > CARRICK_SEEN)");
        self.w.line("    octets = CARRICK_SEEN;");
        self.w.line("CARRICK_OPAQUE(octets);");
        self.w.line("if (at >= core->packet.len || octets > CARRICK_SEEN)");
        self.w.line("    return 0;");
        self.w.line("const void *from = (const void *)(uintptr_t)(core->frame + core->begin + at);");
        self.w.line("return (int)bpf_probe_read_kernel(core->in, (uint32_t)octets, from);");
        self.w.close("}");
        self.w.blank();
        if self.has_frames() {
            self.peeking();
        }
    }

    fn peeking(&mut self) {
        let (core, look) = (self.names.own("core"), self.names.own("look"));
        let packet = self.names.own("packet");
        self.w.line("/* The next octet that no extract has taken; 0 if there is none. */");
        self.w.open(format!(
            "CARRICK_APART uint8_t {}(struct {core} *core, const struct {packet} *packet) {{",
            self.names.own("peek")
        ));
        self.w.line("if (!core || !packet || packet->rest[0] >= packet->rest[1])");
        self.w.line("    return 0;");
        self.w.line(format!("(void){look}(core, packet->rest[0]);"));
        self.w.line("return core->in[0];");
        self.w.close("}");
        self.w.blank();
    }

    /// At the beginning of an extract function: where it reads.
    pub(crate) fn reading_begins(&mut self, bp: &BlueprintDef) {
        if self.is_read_apart(bp) {
            self.w.line("if (!core || !packet || !h)");
            self.w.line("    return false;");
        }
        if bp.frame {
            self.w.line("uint32_t len = packet->rest[1] - packet->rest[0];");
        }
        if self.looks_further() {
            let from = if bp.frame { "packet->rest[0]" } else { "0" };
            self.w.line(format!("(void){}(core, {from});", self.names.own("look")));
        }
        self.w.line("CARRICK_UNUSED const uint8_t *p = core->in;");
    }

    /// At its end: the payload, and what is left of the packet for the next extract.
    pub(crate) fn payload_read(&mut self, bp: &BlueprintDef, octets: &str) {
        let payload = self.names.own("payload");
        let begin =
            if bp.frame { "core->begin + packet->rest[0] + header_len" } else { "core->begin + header_len" };
        let ptr = format!("CARRICK_TO_ADDR(CARRICK_IN_FRAME | ({begin}))");
        self.w.line(format!("h->payload__ = (struct {payload}){{.ptr = {ptr}, .len = {octets}}};"));
        if bp.frame && bp.payload_len.is_some() {
            self.w.line("if (h->payload__.len > payload_len)");
            self.w.line(format!("    return {}(core, CARRICK_COUNT_SHORT);", self.names.own("refuse")));
        }
        if bp.frame {
            self.w.line("packet->rest[0] += header_len + (uint32_t)h->payload__.len;");
        } else if self.has_frames() {
            self.w.line("packet->rest[0] = header_len;");
            self.w.line("packet->rest[1] = header_len + (uint32_t)h->payload__.len;");
        }
    }
}
