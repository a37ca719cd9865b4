// SPDX-License-Identifier: MIT OR Apache-2.0
//! Option lists: how long they are, writing and reading them.

use carrick_ir::{OptDef, OptField, OptListDef, Ty, arith};

use crate::Emitter;
use crate::names::safe;

/// How many bytes a field takes.
fn octets(ty: &Ty) -> u32 {
    arith::shape(ty).0 / 8
}

/// The runtime's function that stores or loads so many bytes, without its name's beginning.
pub fn width_suffix(octets: u32) -> Option<&'static str> {
    match octets {
        2 => Some("16"),
        4 => Some("32"),
        8 => Some("64"),
        _ => None,
    }
}

/// C that stores a value in so many bytes from `at` on.
pub fn stored(base: &str, at: u32, octets: u32, value: &str) -> String {
    match width_suffix(octets) {
        Some(w) => format!("carrick_store{w}({base} + {at}, (uint{w}_t){value});"),
        None => format!("{base}[{at}] = (uint8_t){value};"),
    }
}

/// C for the value of so many bytes from `at` on.
pub fn loaded(base: &str, at: u32, octets: u32) -> String {
    match width_suffix(octets) {
        Some(w) => format!("carrick_load{w}({base} + {at})"),
        None => format!("{base}[{at}]"),
    }
}

impl Emitter<'_> {
    /// The functions that read and write options.
    pub fn option_functions(&mut self) {
        for list in &self.p.opt_lists {
            if self.is_wide(list) {
                self.wide_functions(list);
                continue;
            }
            self.length(list);
            self.writing(list);
            self.reading(list);
        }
    }

    /// Opens the function that says how long a list is.
    pub(crate) fn length_head(&mut self, list: &OptListDef) {
        let (ty, name) = (self.names.declared(&list.name), self.names.own(&list.name));
        self.w.line("/* Octets on the wire, with padding. */");
        self.w.open(format!(
            "CARRICK_GLOBAL_FN uint32_t {name}_length(CARRICK_UNUSED const struct {ty} *o) {{"
        ));
        self.w.line("CARRICK_GIVEN(o);");
    }

    /// Opens the function that writes a list, from where the dialect's cursor is.
    pub(crate) fn writing_head(&mut self, list: &OptListDef) {
        let (ty, name) = (self.names.declared(&list.name), self.names.own(&list.name));
        let core = self.core_param();
        self.w.open(format!(
            "CARRICK_GLOBAL_FN int {name}_write({core}, const struct {ty} *o CARRICK_OUT_PARAM) {{"
        ));
        self.w.line("CARRICK_GIVEN(core && o);");
    }

    fn length(&mut self, list: &OptListDef) {
        self.length_head(list);
        let terms: Vec<String> = list
            .members
            .iter()
            .map(|m| {
                let opt = &self.p.opts[m.index()];
                format!("(o->has_{} ? {} : 0u)", opt.name, self.aligned_length(opt, list))
            })
            .collect();
        self.w.end_with(format!("return {};", if terms.is_empty() { "0".into() } else { terms.join(" + ") }));
    }

    /// C for the bytes of an option with the padding in front of it.
    fn aligned_length(&self, opt: &OptDef, list: &OptListDef) -> String {
        let (len, up) = (u32::from(opt.len), list.align - 1);
        match self.listed_octets(opt) {
            listed if listed.is_empty() => format!("{}u", len.next_multiple_of(list.align)),
            listed if up == 0 => format!("{len}u{listed}"),
            listed => format!("(({}u{listed}) & ~{up}u)", len + up),
        }
    }

    fn writing(&mut self, list: &OptListDef) {
        self.writing_head(list);
        let (align, pad) = (list.align, list.pad);
        for member in &list.members {
            let opt = &self.p.opts[member.index()];
            if opt.list.is_some() {
                self.write_listed(opt, list);
                continue;
            }
            let whole = u32::from(opt.len).next_multiple_of(align);
            let before = whole - u32::from(opt.len);
            self.w.open(format!("if (o->has_{}) {{", opt.name));
            self.w.line("CARRICK_OUT_HERE(core);");
            for at in 0..before {
                self.w.line(format!("q[{at}] = {pad};"));
            }
            self.w.line(format!("q[{before}] = {};", opt.kind));
            if opt.len > 1 {
                self.w.line(format!("q[{}] = {};", before + 1, opt.len));
            }
            self.write_option_fields(opt, before + 2);
            self.written(whole);
            self.w.close("}");
        }
        self.w.end_with("return 0;");
    }

    /// Writes fields from so many bytes behind `q` on; returns where the next one would be.
    fn write_option_fields(&mut self, opt: &OptDef, first: u32) -> u32 {
        let mut at = first;
        for field in &opt.fields {
            let value = self.option_value(opt, field);
            let octets = octets(&field.ty);
            self.w.line(stored("q", at, octets, &value));
            at += octets;
        }
        at
    }

    /// Writes an option with a list: how much padding is in front of it can depend on the number of elements.
    fn write_listed(&mut self, opt: &OptDef, list: &OptListDef) {
        let (len, align) = (u32::from(opt.len), list.align);
        let Some(elements) = &opt.list else { return };
        self.w.open(format!("if (o->has_{}) {{", opt.name));
        self.w.line(format!("uint32_t len = {len}u{};", self.listed_octets(opt)));
        let same = elements.octets(self.p).is_multiple_of(align);
        if !same {
            self.w.line(format!("uint32_t pad = (0u - len) & {}u;", align - 1));
            self.w.open(format!("for (uint32_t i = 0; i < {} && i < pad; i++) {{", align - 1));
            self.w.line("CARRICK_OUT_HERE(core);");
            self.w.line(format!("q[0] = {};", list.pad));
            self.written(1);
            self.w.close("}");
        }
        let before = if same { len.next_multiple_of(align) - len } else { 0 };
        self.w.open("{");
        self.w.line("CARRICK_OUT_HERE(core);");
        for at in 0..before {
            self.w.line(format!("q[{at}] = {};", list.pad));
        }
        self.w.line(format!("q[{before}] = {};", opt.kind));
        self.w.line(format!("q[{}] = (uint8_t)len;", before + 1));
        let first = self.write_option_fields(opt, before + 2);
        self.write_elements(opt, elements, first);
        self.written(format!("{before} + len"));
        self.w.close("}");
        self.w.close("}");
    }

    /// C for what a field of an option has.
    pub(crate) fn option_value(&self, opt: &OptDef, field: &OptField) -> String {
        match field.fixed {
            Some(value) => self.literal(value, &field.ty),
            None => format!("o->{}.{}", safe(&opt.name), safe(&field.name)),
        }
    }

    /// In a function that reads the option at `q`: those that are one byte long.
    fn single_options(&mut self, list: &OptListDef) {
        let options = list.members.iter().map(|m| &self.p.opts[m.index()]);
        for opt in options.filter(|o| o.len == 1 && o.kind != 0) {
            self.w.open(format!("if (*q == {}) {{", opt.kind));
            self.w.line(format!("o->has_{} = true;", opt.name));
            self.w.line("return 1;");
            self.w.close("}");
        }
    }

    /// In the same function: all others, by their kind.
    fn long_options(&mut self, list: &OptListDef) {
        let options = list.members.iter().map(|m| &self.p.opts[m.index()]);
        let long: Vec<&OptDef> = options.filter(|o| o.len != 1).collect();
        self.w.open("switch (*q) {");
        for (at, opt) in long.iter().enumerate() {
            let same: Vec<&OptDef> = long.iter().filter(|o| o.kind == opt.kind).copied().collect();
            if long[..at].iter().all(|o| o.kind != opt.kind) {
                self.known_options(&same);
            }
        }
        self.w.close_switch();
    }

    /// Opens the function that reads one option.
    pub(crate) fn one_head(&mut self, list: &OptListDef) {
        let (ty, name) = (self.names.declared(&list.name), self.names.own(&list.name));
        let core = self.core_param();
        self.w.line(
            "/* The bytes of the option there, where so many are left: more if its length is impossible. */",
        );
        self.w.open(format!(
            "CARRICK_GLOBAL_FN uint32_t {name}_one({core}, CARRICK_UNUSED struct {ty} *o CARRICK_IN_PARAM, uint32_t at, uint32_t left) {{"
        ));
        self.w.line("const uint32_t impossible = CARRICK_END_OF_OPTIONS - 1;");
        self.w.line("if (!core || !o)\n    return impossible;");
    }

    fn reading(&mut self, list: &OptListDef) {
        self.one_head(list);
        self.w.line("const uint8_t *q = CARRICK_IN_AT(core, p, at);");
        self.w.line("if (*q == 0)\n    return CARRICK_END_OF_OPTIONS;");
        self.single_options(list);
        self.w.line("if (left < 2 || q[1] < 2 || q[1] > left)\n    return impossible;");
        self.long_options(list);
        self.w.end_with("return q[1];");
        self.dialect.options_loop(self, list);
    }

    /// Opens the function that reads a list, of which it returns the name.
    pub fn options_reader(&mut self, list: &OptListDef) -> String {
        let (ty, name) = (self.names.declared(&list.name), self.names.own(&list.name));
        let core = self.core_param();
        self.w.line("/* False if a length is impossible. */");
        self.w.open(format!(
            "CARRICK_GLOBAL_FN int {name}_read({core}, struct {ty} *o CARRICK_IN_PARAM, uint32_t from, uint32_t to) {{"
        ));
        self.w.line("CARRICK_GIVEN(core && o);");
        name
    }

    /// All options of one kind.
    fn known_options(&mut self, options: &[&OptDef]) {
        self.w.open(format!("case {}:", options[0].kind));
        if let [opt @ OptDef { list: Some(list), .. }] = options {
            self.w.line(format!("if (q[1] < {})\n    return impossible;", opt.len));
            self.w.open("{");
            self.w.line(format!("uint32_t listed = q[1] - {}u;", opt.len));
            let first = self.known_option(opt);
            self.read_elements(opt, list, first, "impossible");
            self.w.close("}");
        } else if let [opt] = options {
            self.w.line(format!("if (q[1] != {})\n    return impossible;", opt.len));
            self.known_option(opt);
        } else {
            self.w.open("switch (q[1]) {");
            for opt in options {
                self.w.open(format!("case {}:", opt.len));
                self.known_option(opt);
                self.w.close_case("break;");
            }
            self.w.line("default:\n    return impossible;");
            self.w.close("}");
        }
        self.w.close_case("break;");
    }

    /// Reads the fields; returns where the next one would be.
    fn known_option(&mut self, opt: &OptDef) -> u32 {
        self.w.line(format!("o->has_{} = true;", opt.name));
        let mut at = 2;
        for field in &opt.fields {
            let place = format!("o->{}.{}", safe(&opt.name), safe(&field.name));
            let c = self.names.ctype(&field.ty);
            let octets = octets(&field.ty);
            self.w.line(format!("{place} = ({c}){};", loaded("q", at, octets)));
            at += octets;
        }
        at
    }
}
