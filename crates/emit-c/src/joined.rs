// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packets of a blueprint that leave in one frame, since an engine of segmentation makes them (`carrick_ir::Engine`).

use carrick_ir::{BlueprintDef, Joined, NetLayer, Program};

use crate::Emitter;
use crate::emitter::Feature;
use crate::names::safe;

impl<'p> Emitter<'p> {
    /// How an engine makes a blueprint's packets, in a core whose host may have one.
    fn joined(&self, bp: &BlueprintDef) -> Option<Joined<'p>> {
        let p: &'p Program = self.p;
        self.dialect.has(Feature::JoinedPackets).then(|| p.joined(bp).ok()).flatten()
    }

    pub(crate) fn joins(&self, bp: &BlueprintDef) -> bool {
        self.joined(bp).is_some()
    }

    pub(crate) fn has_joined(&self) -> bool {
        self.dialect.has(Feature::JoinedPackets) && self.p.has_joined()
    }

    /// The function that says how much payload leaves in one frame.
    pub(crate) fn joined_function(&mut self, bp: &BlueprintDef) {
        let Some(joined) = self.joined(bp) else { return };
        let (name, core, entry) = (self.names.own(&bp.name), self.names.own("core"), self.names.own("entry"));
        let ty = self.names.declared(&bp.name);
        self.w.line(
            "/* How much of an entry's payload, of which so much is left, leaves in one frame that an engine of the host cuts into packets; 0: none. */",
        );
        self.w.open(format!(
            "static inline uint64_t {name}_joined(const struct {core} *core, const struct {entry} *e, uint32_t headers, uint64_t mss, uint64_t left) {{"
        ));
        self.w.line(format!("const struct {ty} *bp = &e->bp.{}_;", bp.name));
        let least = joined.engine.least;
        self.w.line(format!(
            "if (left <= mss || core->joins < headers + 2 * mss || mss < {least}u)\n    return 0;"
        ));
        self.conditions(bp, &joined);
        self.w.end_with("return carrick_min64((core->joins - headers) / mss * mss, left);");
    }

    /// Leaves the function if the packets of this entry are not what the engine makes.
    fn conditions(&mut self, bp: &BlueprintDef, joined: &Joined<'_>) {
        let protocol = joined.engine.protocol;
        let counts = 1_u64 << joined.counts;
        self.w.line(format!(
            "if (bp->net__.protocol != {protocol}u || !(e->rules & {counts}u))\n    return 0;"
        ));
        for (field, rule) in &joined.flags {
            let field = safe(&bp.fields[*field as usize].name);
            let ruled = rule.map_or_else(String::new, |rule| format!(" && !(e->rules & {}u)", 1_u64 << rule));
            self.w.line(format!("if (bp->{field}{ruled})\n    return 0;"));
        }
        if joined.others.is_empty() {
            return;
        }
        self.w.line("CARRICK_UNUSED uint64_t payload_len = mss;");
        for (number, rule) in &joined.others {
            let field = &bp.fields[rule.field as usize];
            let second = self.header_expr(&rule.second(), bp, "bp->");
            self.w.line(format!(
                "if ((e->rules & {}u) && ({})({second}) != bp->{})\n    return 0;",
                1_u64 << number,
                self.names.ctype(&field.ty),
                safe(&field.name)
            ));
        }
    }

    /// In the function that makes packets, once `payload_len` is that of one packet.
    pub(crate) fn join(&mut self, bp: &BlueprintDef) {
        if !self.joins(bp) {
            return;
        }
        self.w.line(format!(
            "uint64_t joined = {}_joined(core, e, headers, mss, whole - e->done);",
            self.names.own(&bp.name)
        ));
        self.w.line("core->segment = joined ? (uint16_t)mss : 0;");
        self.w.line("if (joined)\n    payload_len = joined;");
    }

    /// In the same function, when a packet is counted and has its number: those behind the first. The rules of a packet that follows
    /// look at the one before, which is the last of these.
    pub(crate) fn count_joined(&mut self, bp: &BlueprintDef) {
        let Some(joined) = self.joined(bp) else { return };
        let number = &bp.fields[self.p.seg_rules[joined.counts].field as usize];
        let (cut, number, ty) = (&bp.name, safe(&number.name), self.names.ctype(&number.ty));
        self.w.open("if (joined) {");
        self.w.line("uint64_t more = (payload_len - 1) / mss;");
        self.w.line("core->counters[CARRICK_COUNT_TX_PACKETS] += more;");
        if self.p.net_header.layer == NetLayer::Ipv4 {
            self.w.line("core->identification = (uint16_t)(core->identification + more);");
        }
        self.w.open("if (!last) {");
        self.w.line(format!("e->cut.{cut}_.{number} += ({ty})(payload_len - mss);"));
        self.w.line(format!("e->cut.{cut}_.payload__.len = mss;"));
        self.w.close("}");
        self.w.close("}");
    }
}
