//! Lists, and option lists. An element is taken out, or put in, by a function that is verified apart. Where in the packet the next option is stands in the core, and lists are verified apart: else the verifier
//! would follow every choice of options that there can be.

use carrick_ir::{OptListDef, Place, StmtKind, Ty, walk};

use crate::Emitter;

impl Emitter<'_> {
    /// Opens or closes a gap in a list, whose C this is.
    pub(crate) fn gap_call(&self, what: &str, list: &Place, l: &str, index: &str) -> String {
        format!("(void){}_{what}_gap(&{l}, {index});", self.names.ctype(&list.ty).replace("struct ", ""))
    }

    /// The functions that do so, if the program takes elements out of lists that are this struct, or puts some in.
    pub(crate) fn gap_functions(&mut self, list: &str, n: u32) {
        let is_it = |place: &Place| match &place.ty {
            Ty::List(element, n, _) => self.names.list(element, *n) == list,
            _ => false,
        };
        let (mut opens, mut closes) = (false, false);
        for function in &self.p.functions {
            walk::statements(&function.body, &mut |stmt| match &stmt.kind {
                StmtKind::ListInsert { list, .. } => opens |= is_it(list),
                StmtKind::ListRemove { list, .. } | StmtKind::ListPop { list, .. } => closes |= is_it(list),
                _ => {}
            });
        }
        for (what, _) in [("open", opens), ("close", closes)].into_iter().filter(|(_, used)| *used) {
            self.w.open(format!("CARRICK_APART int {list}_{what}_gap(struct {list} *l, uint64_t index) {{"));
            self.w.line("if (l)");
            self.w.line(format!("    CARRICK_{}_GAP(l->items, {n}u, l->len, index);", what.to_uppercase()));
            self.w.line("return 0;");
            self.w.close("}");
            self.w.blank();
        }
    }

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
        let (single, long): (Vec<_>, Vec<_>) =
            list.members.iter().map(|m| &self.p.opts[m.index()]).partition(|o| o.len == 1);
        for opt in single.iter().filter(|o| o.kind != 0) {
            self.w.open(format!("if (*p == {}) {{", opt.kind));
            self.w.line(format!("o->has_{} = true;", opt.name));
            self.w.line("return 1;");
            self.w.close("}");
        }
        self.w.line("if (left < 2 || p[1] < 2 || p[1] > left)");
        self.w.line("    return impossible;");
        self.w.open("switch (*p) {");
        for (at, opt) in long.iter().enumerate() {
            let same: Vec<_> = long.iter().filter(|o| o.kind == opt.kind).copied().collect();
            if long[..at].iter().all(|o| o.kind != opt.kind) {
                self.known_options(&same);
            }
        }
        self.w.line("default:\n    break;");
        self.w.close("}");
        self.w.line("return p[1];");
        self.w.close("}");
        self.w.blank();
    }
}
