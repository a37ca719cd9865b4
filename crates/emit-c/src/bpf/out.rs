// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packets of a program in the kernel, and what the target's headers are told of it.

use carrick_ir::{BlueprintDef, uses};

use super::raised::following;
use super::unsupported::sums_all;
use crate::Emitter;
use crate::blueprint::sums_payload;

impl Emitter<'_> {
    /// The next packet of an entry, in `core->out`: its bytes behind the Ethernet header, 0 if there is none.
    pub(super) fn out_functions(&mut self) {
        self.packet_functions();
        let entry = self.names.own("entry");
        self.open_on_core("CARRICK_GLOBAL_FN int ", "packet", &format!(", struct {entry} *e"));
        self.w.line("CARRICK_GIVEN(core && e);");
        for index in self.packets() {
            let bp = &self.p.blueprints[index];
            let (name, member) = (self.names.own(&bp.name), &bp.name);
            self.w.open(format!("if (e->kind == {index}) {{"));
            self.w.line(format!("int octets = {name}_packet(core, e);"));
            if bp.frames.is_some() {
                self.w
                    .line(format!("if (core->last)\n    (void){name}_frames_sent(core, &e->bp.{member}_);"));
            }
            self.w.line("return octets;");
            self.w.close("}");
        }
        self.w.line("core->last = true;");
        self.w.end_with("return 0;");
    }

    /// In a function that makes a packet or a frame: how much of the payload comes now.
    pub(super) fn part_of_payload(&mut self, done: &str) {
        self.w.line(format!("core->payload.offset += {done};"));
        self.w.line("core->payload.len = payload_len;");
    }

    /// Its sum, for the checksums.
    pub(super) fn sum_of_payload(&mut self, bp: &BlueprintDef) {
        if sums_payload(bp) {
            let sum = match self.sends_payloads() {
                true => format!("payload_len ? {}(core) : 0", self.names.own("payload_sum")),
                false => "0".into(),
            };
            self.w.line(format!("uint64_t payload_sum = {sum};"));
        }
    }

    /// Whether it reads more of a frame than what is parsed first.
    fn reads_frames(&self) -> bool {
        sums_all(self.p) || self.looks_further() || self.has_any_units() || uses::stores(self.p)
    }

    /// What the target's headers are told of the program.
    pub(super) fn what_it_is_like(&mut self) {
        let parser = &self.p.functions[self.p.parser.index()].name;
        self.w.line(format!("#define CARRICK_PARSER fn_{parser}"));
        self.define_report_parser();
        self.w.line(format!("#define CARRICK_PROTOCOL {}", self.p.net_header.protocol));
        self.w.line(format!("#define CARRICK_CHAINS {}u", following(self.p).chains));
        for (name, holds) in [
            ("WHOLE_SUM", sums_all(self.p)),
            ("READS_FRAMES", self.reads_frames()),
            ("LOOKS", self.looks_further()),
            ("FRAMES", self.has_frames()),
            ("MAKES_FRAMES", self.makes_frames()),
            ("PAYLOADS", self.sends_payloads()),
            ("UNITS", self.has_any_units()),
            ("STORES", uses::stores(self.p)),
            ("GATHERS", self.gathers()),
            ("CLAIMED", !self.p.claims.is_empty()),
        ] {
            self.w.line(format!("#define CARRICK_{name} {}", u8::from(holds)));
        }
    }
}
