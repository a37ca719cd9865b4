// SPDX-License-Identifier: MIT OR Apache-2.0
//! Trace records, between `#ifdef CARRICK_TRACE` and `#endif`.

use carrick_ir::samples::sampled_fields;
use carrick_ir::{self as ir, Opcode, Ty};

use crate::Emitter;
use crate::emitter::Feature;
use crate::loops::{goes_on, within};
use crate::names::{safe, window_words};
use crate::timers::plus;

impl Emitter<'_> {
    /// An instruction record with these words, in a build that traces.
    pub(crate) fn trace_instr(&mut self, op: Opcode, words: &[&str]) {
        self.tell("CARRICK_TRACE_INSTR", &op.c_name(), words);
    }

    /// The same of any kind.
    pub(crate) fn tell(&mut self, kind: &str, number: &str, words: &[&str]) {
        let words: String = words.iter().map(|word| format!(", {word}")).collect();
        self.w.line(format!("CARRICK_TELL(core, {kind}, {number}{words});"));
    }

    /// C that only a build that traces has.
    pub(crate) fn traced(&mut self, lines: &str) {
        self.w.line(format!("#ifdef CARRICK_TRACE\n{lines}\n#endif"));
    }

    /// The functions that report events and contexts, with all their fields.
    pub fn tracing(&mut self) {
        let core = self.names.own("core");
        self.p.contexts.iter().for_each(|ctx| self.runs_functions(ctx));
        self.w.line("#ifdef CARRICK_TRACE");
        self.w.blank();
        for (index, event) in self.p.events.iter().enumerate() {
            let (ty, name) = (self.names.declared(&event.name), self.names.own(&event.name));
            self.w.open(format!(
                "CARRICK_INLINE int {name}_trace(struct {core} *core, uint64_t handle, CARRICK_UNUSED const struct {ty} *v) {{"
            ));
            self.trace_record(index, "CARRICK_TRACE_EVENT", "handle", &event.fields, None);
        }
        for (index, ctx) in self.p.contexts.iter().enumerate() {
            let (ty, name) = (self.names.declared(&ctx.name), self.names.own(&ctx.name));
            if self.dialect.has(Feature::Samples) {
                self.sample_function(ctx);
            }
            self.w.open(format!(
                "CARRICK_GLOBAL_FN int {name}_trace(struct {core} *core, uint64_t handle, const struct {ty} *v) {{"
            ));
            self.trace_record(index, "CARRICK_TRACE_CONTEXT", "handle", &ctx.fields, Some(ctx));
        }
        self.w.line("#endif");
        self.w.blank();
    }

    /// The function that reads a field of a context by its number.
    fn sample_function(&mut self, ctx: &ir::ContextDef) {
        let (ty, name) = (self.names.declared(&ctx.name), self.names.own(&ctx.name));
        self.w.open(format!(
            "static uint64_t {name}_sample(CARRICK_UNUSED const struct {ty} *v, uint32_t field) {{"
        ));
        self.w.line("switch (field) {");
        for (number, field) in sampled_fields(self.p, ctx).iter().enumerate() {
            let (first, rest) = field.path.split_first().expect("a field");
            let parts: String = rest.iter().map(|part| format!(".{}", safe(&part.name))).collect();
            let is_list = field.path.last().is_some_and(|last| matches!(last.ty, Ty::List(..)));
            let len = if is_list { ".len" } else { "" };
            let at = format!("v->{}{parts}{len}", self.member(ctx, first));
            self.w.line(format!("case {number}: return (uint64_t){at};"));
        }
        self.w.line("default: return 0;");
        self.w.line("}");
        self.w.end();
    }

    fn trace_record(
        &mut self,
        number: usize,
        kind: &str,
        handle: &str,
        fields: &[ir::FieldDef],
        context: Option<&ir::ContextDef>,
    ) {
        self.w.line("CARRICK_GIVEN(core && v);");
        if let Some(ctx) = context.filter(|_| self.dialect.has(Feature::Samples)) {
            let name = self.names.own(&ctx.name);
            self.w.open("if (core->sample) {");
            self.w.line(format!("if (core->sample >> 32 == {})", number + 1));
            self.w.line(format!(
                "    CARRICK_TELL(core, CARRICK_TRACE_SAMPLE, {number}, {handle}, {name}_sample(v, (uint32_t)core->sample));"
            ));
            self.w.line("return 0;");
            self.w.close("}");
        }
        self.w.line(format!("CARRICK_RECORD_BEGINS(core, {kind}, {number});"));
        self.w.line(format!("carrick_word(r, {handle});"));
        for field in fields {
            let member = context.map_or_else(|| safe(&field.name), |ctx| self.member(ctx, field));
            if let Some((ctx, max)) = context.and_then(|ctx| Some((ctx, self.runs_beside(ctx, field)?))) {
                let runs = self.runs_at(ctx, field, "v");
                self.w.line(format!("carrick_words_wnd(r, &v->{member}.wnd, {runs}, {max}u);"));
                continue;
            }
            self.words(&field.ty, &format!("v->{member}"), 0);
        }
        for (first, timer) in context.into_iter().flat_map(ir::ContextDef::timer_rows) {
            let count = timer.count();
            let at = if timer.element.is_some() { plus(first, "i0") } else { first.to_string() };
            if timer.element.is_some() {
                self.words_loop("i0", &format!("i0 < {count}"), count);
            }
            self.w.line(format!(
                "carrick_word(r, carrick_timer_armed(&v->timers__[{at}]) ? v->timers__[{at}].deadline : 0);"
            ));
            if timer.element.is_some() {
                self.w.close("}");
            }
        }
        self.w.line(format!("CARRICK_RECORD_ENDS(core, {kind}, {number});"));
        self.w.end_with("return 0;");
    }

    /// Begins the loop over at most so many elements.
    fn words_loop(&mut self, i: &str, there: &str, most: u32) {
        let more = goes_on(most);
        self.w.open(format!("for (uint32_t {i} = 0; {there}{more}; {i}++) {{"));
        if !more.is_empty() {
            self.w.line(format!("{i} = CARRICK_FORGOTTEN({i}, r->count);"));
            self.w.line(format!("if ({i} >= {most}u)"));
            self.w.line("    break;");
        }
    }

    fn words(&mut self, ty: &Ty, at: &str, depth: u32) {
        let i = format!("i{depth}");
        match ty {
            Ty::Addr => self.w.line(format!("carrick_word_addr(r, {at});")),
            Ty::Struct(id) => {
                for field in &self.p.structs[id.index()].fields {
                    self.words(&field.ty, &format!("{at}.{}", safe(&field.name)), depth);
                }
            }
            Ty::Id(id) => {
                for part in &self.p.ids[id.index()].parts {
                    self.words(&part.ty, &format!("{at}.{}", safe(&part.name)), depth);
                }
            }
            Ty::Array(element, n) => {
                self.words_loop(&i, &format!("{i} < {n}"), *n);
                self.words(element, &format!("{at}[{i}]"), depth + 1);
                self.w.close("}");
            }
            Ty::List(element, n, _) => {
                self.w.line(format!("carrick_word(r, {at}.len);"));
                let room = within(&i, *n);
                self.words_loop(&i, &format!("{room}{i} < {at}.len"), *n);
                self.words(element, &format!("{at}.items[{i}]"), depth + 1);
                self.w.close("}");
            }
            Ty::Wnd { runs: Some(max), .. } => {
                self.w.line(format!("carrick_words_wnd(r, &{at}.wnd, {at}.runs, {max}u);"))
            }
            Ty::Wnd { size, runs: None } => {
                let words = window_words(*size);
                self.w.line(format!("carrick_words_bits(r, {at}.head, {at}.bits, {words}, {size}u);"));
            }
            _ => self.w.line(format!("carrick_word(r, (uint64_t){at});")),
        }
    }
}
