// SPDX-License-Identifier: MIT OR Apache-2.0
//! Option lists: how long they are, writing and reading them.

use carrick_ir::{self as ir, OptListDef, Ty, arith};

use crate::Emitter;
use crate::names::safe;

/// How many octets a field takes.
fn octets(ty: &Ty) -> u32 {
    arith::shape(ty).0 / 8
}

/// The runtime's function that stores or loads so many octets, without its name's beginning.
pub fn width_suffix(octets: u32) -> Option<&'static str> {
    match octets {
        2 => Some("16"),
        4 => Some("32"),
        8 => Some("64"),
        _ => None,
    }
}

impl Emitter<'_> {
    pub(crate) fn option_functions(&mut self) {
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

    fn length(&mut self, list: &OptListDef) {
        self.w.line("/* Octets on the wire, with padding. */");
        self.length_head(list);
        let terms: Vec<String> = list
            .members
            .iter()
            .map(|m| {
                let opt = &self.p.opts[m.index()];
                format!("(o->has_{} ? {}u : 0u)", opt.name, u32::from(opt.len).next_multiple_of(list.align))
            })
            .collect();
        self.w.line(format!("return {};", if terms.is_empty() { "0".into() } else { terms.join(" + ") }));
        self.w.close("}");
        self.w.blank();
    }

    fn writing(&mut self, list: &OptListDef) {
        self.writing_head(list);
        let (align, pad) = (list.align, list.pad);
        for member in &list.members {
            let opt = &self.p.opts[member.index()];
            let whole = u32::from(opt.len).next_multiple_of(align);
            let before = whole - u32::from(opt.len);
            self.w.open(format!("if (o->has_{}) {{", opt.name));
            if self.kernel {
                self.w.line(
                    "uint8_t *p = core->out + CARRICK_BEGIN + carrick_at(core->at, CARRICK_HEADER_MAX);",
                );
            }
            for at in 0..before {
                self.w.line(format!("p[{at}] = {pad};"));
            }
            self.w.line(format!("p[{before}] = {};", opt.kind));
            if opt.len > 1 {
                self.w.line(format!("p[{}] = {};", before + 1, opt.len));
            }
            let mut at = before + 2;
            for field in &opt.fields {
                let value = match field.fixed {
                    Some(value) => self.literal(value, &field.ty),
                    None => format!("o->{}.{}", safe(&opt.name), safe(&field.name)),
                };
                match width_suffix(octets(&field.ty)) {
                    Some(w) => self.w.line(format!("carrick_store{w}(p + {at}, (uint{w}_t){value});")),
                    None => self.w.line(format!("p[{at}] = (uint8_t){value};")),
                }
                at += octets(&field.ty);
            }
            let next = if self.kernel { "core->at" } else { "p" };
            self.w.line(format!("{next} += {whole};"));
            self.w.close("}");
        }
        if self.kernel {
            self.w.line("return 0;");
        }
        self.w.close("}");
        self.w.blank();
    }

    /// In a function that reads options, the one at `p`: of those that are one byte long, each is noted, and then this is done.
    pub(crate) fn single_options(&mut self, list: &OptListDef, then: &str) {
        let options = list.members.iter().map(|m| &self.p.opts[m.index()]);
        for opt in options.filter(|o| o.len == 1 && o.kind != 0) {
            self.w.open(format!("if (*p == {}) {{", opt.kind));
            self.w.line(format!("o->has_{} = true;", opt.name));
            self.w.line(then);
            self.w.close("}");
        }
    }

    /// In the same function: all others, by their kind.
    pub(crate) fn long_options(&mut self, list: &OptListDef) {
        let options = list.members.iter().map(|m| &self.p.opts[m.index()]);
        let long: Vec<&ir::OptDef> = options.filter(|o| o.len != 1).collect();
        self.w.open("switch (*p) {");
        for (at, opt) in long.iter().enumerate() {
            let same: Vec<&ir::OptDef> = long.iter().filter(|o| o.kind == opt.kind).copied().collect();
            if long[..at].iter().all(|o| o.kind != opt.kind) {
                self.known_options(&same);
            }
        }
        self.w.line("default:\n    break;");
        self.w.close("}");
    }

    fn reading(&mut self, list: &OptListDef) {
        if self.kernel {
            return self.reading_at(list);
        }
        let (ty, name) = (self.names.declared(&list.name), self.names.own(&list.name));
        self.w.line("/* False if a length is impossible. */");
        self.w.open(format!(
            "CARRICK_UNUSED static inline bool {name}_read(CARRICK_UNUSED struct {ty} *o, const uint8_t *p, const uint8_t *end) {{"
        ));
        self.w.open("while (p < end && *p != 0) {");
        self.single_options(list, "p++;\ncontinue;");
        self.w.line("if (end - p < 2 || p[1] < 2 || p[1] > end - p)");
        self.w.line("    return false;");
        self.long_options(list);
        self.w.line("p += p[1];");
        self.w.close("}");
        self.w.line("return true;");
        self.w.close("}");
        self.w.blank();
    }

    /// All options of one kind.
    pub(crate) fn known_options(&mut self, options: &[&ir::OptDef]) {
        let impossible = if self.kernel { "impossible" } else { "false" };
        self.w.open(format!("case {}:", options[0].kind));
        if let [opt] = options {
            self.w.line(format!("if (p[1] != {})", opt.len));
            self.w.line(format!("    return {impossible};"));
            self.known_option(opt);
        } else {
            self.w.open("switch (p[1]) {");
            for opt in options {
                self.w.open(format!("case {}:", opt.len));
                self.known_option(opt);
                self.w.close_case("break;");
            }
            self.w.line(format!("default:\n    return {impossible};"));
            self.w.close("}");
        }
        self.w.close_case("break;");
    }

    fn known_option(&mut self, opt: &ir::OptDef) {
        self.w.line(format!("o->has_{} = true;", opt.name));
        let mut at = 2;
        for field in &opt.fields {
            let place = format!("o->{}.{}", safe(&opt.name), safe(&field.name));
            let c = self.names.ctype(&field.ty);
            match width_suffix(octets(&field.ty)) {
                Some(w) => self.w.line(format!("{place} = ({c})carrick_load{w}(p + {at});")),
                None => self.w.line(format!("{place} = ({c})p[{at}];")),
            }
            at += octets(&field.ty);
        }
    }
}
