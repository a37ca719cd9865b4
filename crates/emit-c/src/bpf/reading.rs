// SPDX-License-Identifier: MIT OR Apache-2.0
//! Frames of a packet: what is read next lies where all headers are read from, at its beginning.

use carrick_ir::BlueprintDef;

use crate::Emitter;

impl Emitter<'_> {
    /// Whether an extract function is verified apart: where many fields can be otherwise, or where there are many of them.
    pub(crate) fn is_read_apart(&self, bp: &BlueprintDef) -> bool {
        bp.frame || !bp.parts.is_empty()
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
        self.w.line("if (!core || at == core->looked)\n    return 0;");
        self.w.line("core->looked = at;");
        self.w.line("uint64_t octets = core->packet.len - at;");
        self.w.line("if (octets > CARRICK_SEEN)\n    octets = CARRICK_SEEN;");
        self.w.line("CARRICK_OPAQUE(octets);");
        self.w.line("if (at >= core->packet.len || octets > CARRICK_SEEN)\n    return 0;");
        self.w.line("const void *from = (const void *)(uintptr_t)(core->frame + core->begin + at);");
        self.w.end_with("return (int)bpf_probe_read_kernel(core->in, (uint32_t)octets, from);");
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
        self.w.line("if (!core || !packet || packet->rest[0] >= packet->rest[1])\n    return 0;");
        self.w.line(format!("(void){look}(core, packet->rest[0]);"));
        self.w.end_with("return core->in[0];");
    }
}
