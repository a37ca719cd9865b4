// SPDX-License-Identifier: MIT OR Apache-2.0
//! Trace records, between `#ifdef CARRICK_TRACE` and `#endif`.

use carrick_ir::{self as ir, Opcode, Ty};

use crate::Emitter;
use crate::names::{safe, window_words};

impl Emitter<'_> {
    /// An instruction record with these words.
    pub(crate) fn trace_instr(&mut self, op: Opcode, words: &[String]) {
        let (kind, number) = ("CARRICK_TRACE_INSTR", op.c_name());
        let words: Vec<String> = words.iter().map(|w| format!("(uint64_t)({w})")).collect();
        let n = words.len();
        self.w.line("#ifdef CARRICK_TRACE");
        if self.kernel {
            self.report(kind, &number, &words);
            return self.w.line("#endif");
        }
        self.w.line("if (core->trace)");
        let array =
            if n == 0 { "NULL".into() } else { format!("(const uint64_t[]){{{}}}", words.join(", ")) };
        self.w.line(format!("    core->trace(core->trace_user, {kind}, {number}, {array}, {n});"));
        self.w.line("#endif");
    }

    /// The functions that report events and contexts, with all their fields.
    pub(crate) fn tracing(&mut self) {
        let core = self.names.own("core");
        self.w.line("#ifdef CARRICK_TRACE");
        self.w.blank();
        for (index, event) in self.p.events.iter().enumerate() {
            let (ty, name) = (self.names.declared(&event.name), self.names.own(&event.name));
            let kind = if self.kernel { "CARRICK_INLINE int" } else { "static void" };
            self.w.open(format!(
                "{kind} {name}_trace(struct {core} *core, uint64_t handle, CARRICK_UNUSED const struct {ty} *v) {{"
            ));
            self.trace_record(index, "CARRICK_TRACE_EVENT", "handle", &event.fields, &[]);
        }
        for (index, ctx) in self.p.contexts.iter().enumerate() {
            let (ty, name) = (self.names.declared(&ctx.name), self.names.own(&ctx.name));
            let kind = self.traces();
            self.w.open(format!(
                "{kind} {name}_trace(struct {core} *core, uint64_t handle, const struct {ty} *v) {{"
            ));
            self.trace_record(index, "CARRICK_TRACE_CONTEXT", "handle", &ctx.fields, &ctx.timers);
        }
        self.w.line("#endif");
        self.w.blank();
    }

    /// What stands before such a function: in the kernel each is verified apart.
    fn traces(&self) -> &'static str {
        if self.kernel { "CARRICK_APART int" } else { "static void" }
    }

    fn trace_record(
        &mut self,
        number: usize,
        kind: &str,
        handle: &str,
        fields: &[ir::FieldDef],
        timers: &[ir::TimerDef],
    ) {
        if self.kernel {
            self.w.line("if (!core || !v)");
            self.w.line("    return 0;");
            self.w.line("struct carrick_report *r = &core->report;");
            self.w.line("r->count = 0;");
        } else {
            self.w.line("if (!core->trace)");
            self.w.line("    return;");
            self.w.line("struct carrick_record r;");
            self.w.line("r.count = 0;");
        }
        let r = self.record_here();
        self.w.line(format!("carrick_word({r}, {handle});"));
        for field in fields {
            self.words(&field.ty, &format!("v->{}", safe(&field.name)), 0);
        }
        for at in 0..timers.len() {
            self.w.line(format!(
                "carrick_word({r}, carrick_timer_armed(&v->timers__[{at}]) ? v->timers__[{at}].deadline : 0);"
            ));
        }
        if self.kernel {
            self.send_report(kind, &number.to_string());
            self.w.line("return 0;");
        } else {
            self.w.line(format!("core->trace(core->trace_user, {kind}, {number}, r.words, r.count);"));
        }
        self.w.close("}");
        self.w.blank();
    }

    /// Begins the loop over at most so many elements.
    fn words_loop(&mut self, i: &str, there: &str, most: u32) {
        let more = self.goes_on_for(most);
        self.w.open(format!("for (uint32_t {i} = 0; {there}{more}; {i}++) {{"));
        if !more.is_empty() {
            self.w.line(format!("{i} = CARRICK_FORGOTTEN({i}, r->count);"));
            self.w.line(format!("if ({i} >= {most}u)"));
            self.w.line("    break;");
        }
    }

    fn words(&mut self, ty: &Ty, at: &str, depth: u32) {
        let (i, r) = (format!("i{depth}"), self.record_here());
        match ty {
            Ty::Addr => self.w.line(format!("carrick_word_addr({r}, {at});")),
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
                self.w.line(format!("carrick_word({r}, {at}.len);"));
                let room = if self.kernel { format!("{i} < {n}u && ") } else { String::new() };
                self.words_loop(&i, &format!("{room}{i} < {at}.len"), *n);
                self.words(element, &format!("{at}.items[{i}]"), depth + 1);
                self.w.close("}");
            }
            Ty::Wnd { runs: Some(max), .. } => {
                self.w.line(format!("carrick_words_wnd({r}, &{at}.wnd, {at}.runs, {max}u);"))
            }
            Ty::Wnd { size, runs: None } => {
                let words = window_words(*size);
                self.w.line(format!("carrick_words_bits({r}, {at}.head, {at}.bits, {words}, {size}u);"));
            }
            _ => self.w.line(format!("carrick_word({r}, (uint64_t){at});")),
        }
    }

    /// The record that is being put together.
    fn record_here(&self) -> &'static str {
        if self.kernel { "r" } else { "&r" }
    }
}
