// SPDX-License-Identifier: MIT OR Apache-2.0
//! Option lists. Where in the packet the next option is stands in the core, and each option is verified apart: else the verifier
//! would follow every choice of options that there can be.

use carrick_ir::OptListDef;

use crate::Emitter;

impl Emitter<'_> {
    /// The head of the function that says how long a list is.
    pub(crate) fn length_head(&mut self, list: &OptListDef) {
        let (ty, name) = (self.names.declared(&list.name), self.names.own(&list.name));
        if !self.kernel {
            return self.w.open(format!(
                "CARRICK_UNUSED static inline uint32_t {name}_length(CARRICK_UNUSED const struct {ty} *o) {{"
            ));
        }
        self.w.open(format!("CARRICK_APART uint32_t {name}_length(const struct {ty} *o) {{"));
        self.w.line("if (!o)");
        self.w.line("    return 0;");
    }

    /// The head of the function that writes a list.
    pub(crate) fn writing_head(&mut self, list: &OptListDef) {
        let (ty, name) = (self.names.declared(&list.name), self.names.own(&list.name));
        if !self.kernel {
            return self.w.open(format!(
                "CARRICK_UNUSED static inline void {name}_write(CARRICK_UNUSED const struct {ty} *o, CARRICK_UNUSED uint8_t *p) {{"
            ));
        }
        let core = self.names.own("core");
        self.w.line("/* From core->at on. */");
        self.w.open(format!("CARRICK_APART int {name}_write(struct {core} *core, const struct {ty} *o) {{"));
        self.w.line("if (!core || !o)");
        self.w.line("    return 0;");
    }

    /// Reads options where the verifier sees every octet.
    pub(crate) fn reading_at(&mut self, list: &OptListDef) {
        self.one_option(list);
        let (ty, name) = (self.names.declared(&list.name), self.names.own(&list.name));
        let core = self.names.own("core");
        self.w.line("/* False if a length is impossible. */");
        self.w.open(format!(
            "CARRICK_APART int {name}_read(struct {core} *core, struct {ty} *o, uint32_t from, uint32_t to) {{"
        ));
        self.w.line("if (!core || !o)");
        self.w.line("    return false;");
        self.w.line("core->at = from;");
        self.w.open("for (uint32_t turn = 0; turn < CARRICK_SEEN; turn++) {");
        self.w.line("uint32_t at = core->at;");
        self.w.line("if (at >= to)");
        self.w.line("    break;");
        self.w.line(format!("uint32_t octets = {name}_one(core, o, at, to - at);"));
        self.w.line("if (octets > to - at)");
        self.w.line("    return octets == CARRICK_END_OF_OPTIONS;");
        self.w.line("core->at = at + octets;");
        self.w.close("}");
        self.w.line("return true;");
        self.w.close("}");
        self.w.blank();
    }

    fn one_option(&mut self, list: &OptListDef) {
        let (ty, name) = (self.names.declared(&list.name), self.names.own(&list.name));
        let core = self.names.own("core");
        self.w.line(
            "/* The octets of the option there, where so many are left: more if its length is impossible. */",
        );
        self.w.open(format!(
            "CARRICK_APART uint32_t {name}_one(struct {core} *core, struct {ty} *o, uint32_t at, uint32_t left) {{"
        ));
        self.w.line("const uint32_t impossible = CARRICK_END_OF_OPTIONS - 1;");
        self.w.line("if (!core || !o)");
        self.w.line("    return impossible;");
        self.w.line("const uint8_t *p = core->in + carrick_at(at, CARRICK_SEEN);");
        self.w.line("if (*p == 0)");
        self.w.line("    return CARRICK_END_OF_OPTIONS;");
        self.single_options(list, "return 1;");
        self.w.line("if (left < 2 || p[1] < 2 || p[1] > left)");
        self.w.line("    return impossible;");
        self.long_options(list);
        self.w.line("return p[1];");
        self.w.close("}");
        self.w.blank();
    }
}
