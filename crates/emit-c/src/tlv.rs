// SPDX-License-Identifier: MIT OR Apache-2.0
//! Options whose kind and length are variable-length integers.

use carrick_ir::{OptDef, OptListDef, arith};

use crate::Emitter;
use crate::names::safe;
use crate::options::width_suffix;

impl Emitter<'_> {
    pub(crate) fn is_wide(&self, list: &OptListDef) -> bool {
        list.members.iter().any(|m| self.p.opts[m.index()].wide.is_some())
    }

    /// C for the octets of an option's fields.
    pub(crate) fn wide_len(&self, opt: &OptDef) -> String {
        let terms: Vec<String> = opt
            .fields
            .iter()
            .map(|field| match field.varint {
                true => format!("carrick_varint_len({})", self.wide_value(opt, field)),
                false => format!("{}u", arith::shape(&field.ty).0 / 8),
            })
            .collect();
        if terms.is_empty() { "0u".into() } else { terms.join(" + ") }
    }

    pub(crate) fn wide_value(&self, opt: &OptDef, field: &carrick_ir::OptField) -> String {
        match field.fixed {
            Some(value) => self.literal(value, &field.ty),
            None => format!("o->{}.{}", safe(&opt.name), safe(&field.name)),
        }
    }

    pub(crate) fn wide_functions(&mut self, list: &OptListDef) {
        let (ty, name) = (self.names.declared(&list.name), self.names.own(&list.name));
        let opts: Vec<&OptDef> = list.members.iter().map(|m| &self.p.opts[m.index()]).collect();
        self.w.line("/* Octets on the wire. */");
        self.length_head(list);
        self.w.line("uint32_t octets = 0;");
        for opt in &opts {
            self.w.open(format!("if (o->has_{}) {{", opt.name));
            let len = self.wide_len(opt);
            self.w.line(format!("uint32_t len = {len};"));
            let kind = opt.wide.unwrap_or_default();
            self.w.line(format!("octets += carrick_varint_len({kind}u) + carrick_varint_len(len) + len;"));
            self.w.close("}");
        }
        self.w.line("return octets;");
        self.w.close("}");
        self.w.blank();
        self.writing_head(list);
        for opt in &opts {
            if self.kernel {
                self.write_wide_at(opt);
            } else {
                self.write_wide(opt);
            }
        }
        if self.kernel {
            self.w.line("return 0;");
        }
        self.w.close("}");
        self.w.blank();
        if self.kernel {
            self.read_wide_at(list, &opts);
        } else {
            self.read_wide(&ty, &name, &opts);
        }
    }

    fn write_wide(&mut self, opt: &OptDef) {
        self.w.open(format!("if (o->has_{}) {{", opt.name));
        self.w.line(format!("p += carrick_varint_store(p, {}u);", opt.wide.unwrap_or_default()));
        let len = self.wide_len(opt);
        self.w.line(format!("p += carrick_varint_store(p, {len});"));
        for field in &opt.fields {
            let value = self.wide_value(opt, field);
            if field.varint {
                self.w.line(format!("p += carrick_varint_store(p, {value});"));
                continue;
            }
            let octets = arith::shape(&field.ty).0 / 8;
            match width_suffix(octets) {
                Some(w) => self.w.line(format!("carrick_store{w}(p, (uint{w}_t){value});")),
                None => self.w.line(format!("p[0] = (uint8_t){value};")),
            }
            self.w.line(format!("p += {octets};"));
        }
        self.w.close("}");
    }

    fn read_wide(&mut self, ty: &str, name: &str, opts: &[&OptDef]) {
        self.w.line("/* False if a length is impossible. */");
        self.w.open(format!(
            "CARRICK_UNUSED static inline bool {name}_read(CARRICK_UNUSED struct {ty} *o, const uint8_t *p, const uint8_t *end) {{"
        ));
        self.w.open("while (p < end) {");
        self.w.line("uint64_t kind = 0, len = 0;");
        for number in ["kind", "len"] {
            self.w.line(format!(
                "uint32_t of_{number} = carrick_varint_load(p, (uint32_t)(end - p), &{number});"
            ));
            self.w.line(format!("if (!of_{number})"));
            self.w.line("    return false;");
            self.w.line(format!("p += of_{number};"));
        }
        self.w.line("if (len > (uint64_t)(end - p))");
        self.w.line("    return false;");
        self.w.line("const uint8_t *next = p + len;");
        self.w.open("switch (kind) {");
        for opt in opts {
            self.w.open(format!("case {}u:", opt.wide.unwrap_or_default()));
            self.w.line(format!("o->has_{} = true;", opt.name));
            for field in &opt.fields {
                self.read_field(opt, field);
            }
            self.w.line("if (p != next)");
            self.w.line("    return false;");
            self.w.close_case("break;");
        }
        self.w.line("default:\n    break;");
        self.w.close("}");
        self.w.line("p = next;");
        self.w.close("}");
        self.w.line("return true;");
        self.w.close("}");
        self.w.blank();
    }

    fn read_field(&mut self, opt: &OptDef, field: &carrick_ir::OptField) {
        let place = format!("o->{}.{}", safe(&opt.name), safe(&field.name));
        if field.varint {
            self.w.open("{");
            self.w.line(format!("uint32_t octets = carrick_varint_load(p, (uint32_t)(next - p), &{place});"));
            self.w.line("if (!octets)");
            self.w.line("    return false;");
            self.w.line("p += octets;");
            self.w.close("}");
            return;
        }
        let octets = arith::shape(&field.ty).0 / 8;
        let c = self.names.ctype(&field.ty);
        self.w.line(format!("if (next - p < {octets})"));
        self.w.line("    return false;");
        match width_suffix(octets) {
            Some(w) => self.w.line(format!("{place} = ({c})carrick_load{w}(p);")),
            None => self.w.line(format!("{place} = ({c})p[0];")),
        }
        self.w.line(format!("p += {octets};"));
    }
}
