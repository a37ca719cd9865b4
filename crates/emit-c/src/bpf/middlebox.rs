// SPDX-License-Identifier: MIT OR Apache-2.0
//! A program in the network: its packet leaves in the frame in which it came.

use carrick_ir::{BlueprintDef, uses};

use crate::Emitter;
use crate::blueprint::sums_payload;

impl Emitter<'_> {
    /// What the target's headers are told.
    pub(super) fn define_middlebox(&mut self) {
        let Some(packets) = &self.p.in_network else { return };
        self.w.line("#define CARRICK_MIDDLEBOX 1");
        if uses::stores(self.p) {
            let packets = self.value(packets);
            self.w.line(format!("#define CARRICK_STORE_CAPACITY(core) ((uint32_t)({packets}))"));
        }
    }

    pub(super) fn include_store(&mut self) {
        if self.p.in_network.is_some() {
            self.w.line("#include \"carrick/store.h\"");
        }
    }

    /// Members of the core.
    pub(super) fn between_members(&mut self) {
        if self.p.in_network.is_some() {
            self.w.line("struct carrick_store store;");
            self.w.open("struct {");
            self.blueprint_union("again", "read again", |bp| !bp.frame);
            self.w.close("};");
        }
    }

    /// The program that packets come to.
    pub(super) fn include_entry(&mut self) {
        self.include(if self.p.in_network.is_some() { "middlebox" } else { "ingress" });
    }

    /// Opens the function that puts a header before the payload of the packet, in `core->out`.
    pub(super) fn forward_in_kernel(&mut self, bp: &BlueprintDef) {
        let (ty, name, core) =
            (self.names.declared(&bp.name), self.names.own(&bp.name), self.names.own("core"));
        self.w.open(format!(
            "CARRICK_GLOBAL_FN int {name}_forward(struct {core} *core, const struct {ty} *h, uint32_t interface) {{"
        ));
        self.w.line("CARRICK_GIVEN(core && h);");
    }

    /// In the same function: the payload stays where it is in the frame.
    pub(super) fn payload_stays(&mut self, bp: &BlueprintDef) {
        self.w.line("uint32_t payload = core->begin + core->packet.len;");
        self.w.line("if (payload_len)\n    payload = (uint32_t)CARRICK_FROM_ADDR(h->payload__);");
        if sums_payload(bp) {
            let sum = self.names.own("sum_behind");
            self.w.line(format!(
                "uint64_t payload_sum = payload_len ? {sum}(core, payload - core->begin) : 0;"
            ));
        }
    }

    /// Its end.
    pub(super) fn forwarded_in_kernel(&mut self) {
        let with = match uses::stores(self.p) {
            true => format!("(void){}(core, ", self.names.own("store_with")),
            false => "carrick_store_with(&core->store, ".into(),
        };
        let headers = format!("{}header_len", self.net_and("h"));
        self.w.line(format!("{with}{headers}, payload, (uint32_t)payload_len, interface);"));
        self.w.line("return 0;");
    }
}
