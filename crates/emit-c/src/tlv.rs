// SPDX-License-Identifier: MIT OR Apache-2.0
//! Options whose kind and length are variable-length integers.

use carrick_ir::{OptDef, OptField, OptListDef, arith};

use crate::Emitter;
use crate::names::safe;
use crate::options::{loaded, stored};

impl Emitter<'_> {
    /// Whether an option of the list has a variable-length integer as its kind.
    pub fn is_wide(&self, list: &OptListDef) -> bool {
        list.members.iter().any(|m| self.p.opts[m.index()].wide.is_some())
    }

    /// C for the bytes of an option's fields.
    pub(crate) fn wide_len(&self, opt: &OptDef) -> String {
        let terms: Vec<String> = opt
            .fields
            .iter()
            .map(|field| match field.varint {
                true => format!("carrick_varint_len({})", self.option_value(opt, field)),
                false => format!("{}u", arith::shape(&field.ty).0 / 8),
            })
            .collect();
        let fields = if terms.is_empty() { "0u".into() } else { terms.join(" + ") };
        fields + &self.listed_octets(opt)
    }

    pub(crate) fn wide_functions(&mut self, list: &OptListDef) {
        let opts: Vec<&OptDef> = list.members.iter().map(|m| &self.p.opts[m.index()]).collect();
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
        self.w.end_with("return octets;");
        self.writing_head(list);
        for opt in &opts {
            self.write_wide(opt);
        }
        self.w.end_with("return 0;");
        for opt in &opts {
            self.read_fields(list, opt);
        }
        self.read_wide(list, &opts);
        self.dialect.options_loop(self, list);
    }

    /// Writes an option where the list has come to.
    fn write_wide(&mut self, opt: &OptDef) {
        self.w.open(format!("if (o->has_{}) {{", opt.name));
        self.write_varint(&format!("{}u", opt.wide.unwrap_or_default()));
        self.write_varint(&self.wide_len(opt));
        for field in &opt.fields {
            let value = self.option_value(opt, field);
            if field.varint {
                self.write_varint(&value);
                continue;
            }
            let octets = arith::shape(&field.ty).0 / 8;
            self.w.open("{");
            self.w.line("CARRICK_OUT_HERE(core);");
            self.w.line(stored("q", 0, octets, &value));
            self.written(octets);
            self.w.close("}");
        }
        if let Some(list) = &opt.list {
            self.write_elements_here(opt, list);
        }
        self.w.close("}");
    }

    /// Reads one option.
    fn read_wide(&mut self, list: &OptListDef, opts: &[&OptDef]) {
        let name = self.names.own(&list.name);
        self.one_head(list);
        self.w.line("uint64_t kind = 0, len = 0;");
        self.w.line("uint32_t octets = carrick_varint_load(CARRICK_IN_AT(core, p, at), left, &kind);");
        self.w.line("if (!octets)\n    return impossible;");
        self.w.line("uint32_t of_len = carrick_varint_load(CARRICK_IN_AT(core, p, at + octets), left - octets, &len);");
        self.w.line("octets += of_len;");
        self.w.line("if (!of_len || len > left - octets)\n    return impossible;");
        for opt in opts {
            let kind = opt.wide.unwrap_or_default();
            self.w.line(format!(
                "if (kind == {kind}u && {name}_{}_read(core, o CARRICK_IN_ARG, at + octets, (uint32_t)len) != (int)len)",
                opt.name
            ));
            self.w.line("    return impossible;");
        }
        self.w.end_with("return octets + (uint32_t)len;");
    }

    /// Reads the fields of an option.
    fn read_fields(&mut self, list: &OptListDef, opt: &OptDef) {
        let (ty, name, core) =
            (self.names.declared(&list.name), self.names.own(&list.name), self.core_param());
        self.w.line("/* How many bytes the fields took, which begin there; less than none if they are not all there. */");
        self.w.open(format!(
            "CARRICK_INLINE int {name}_{}_read({core}, struct {ty} *o CARRICK_IN_PARAM, uint32_t at, uint32_t len) {{",
            opt.name
        ));
        self.w.line("uint32_t begin = at;");
        self.w.line(format!("o->has_{} = true;", opt.name));
        for field in &opt.fields {
            self.read_field(opt, field);
        }
        if let Some(list) = &opt.list {
            self.w.line("uint32_t listed = len - (at - begin);");
            self.w.line("const uint8_t *q = CARRICK_IN_AT(core, p, at);");
            self.read_elements(opt, list, 0, "-1");
            self.w.line("at += listed;");
        }
        self.w.line("CARRICK_BARRIER_VAR(len);");
        self.w.end_with("return (int)(at - begin);");
    }

    fn read_field(&mut self, opt: &OptDef, field: &OptField) {
        let place = format!("o->{}.{}", safe(&opt.name), safe(&field.name));
        let (from, left) = ("CARRICK_IN_AT(core, p, at)", "len - (at - begin)");
        if field.varint {
            self.w.open("{");
            self.w.line(format!("uint32_t octets = carrick_varint_load({from}, {left}, &{place});"));
            self.w.line("if (!octets)\n    return -1;");
            self.w.line("at += octets;");
            return self.w.close("}");
        }
        let octets = arith::shape(&field.ty).0 / 8;
        self.w.line(format!("if ({left} < {octets})\n    return -1;"));
        let load = loaded(from, 0, octets);
        self.w.line(format!("{place} = ({}){load};", self.names.ctype(&field.ty)));
        self.w.line(format!("at += {octets};"));
    }
}
