// SPDX-License-Identifier: MIT OR Apache-2.0
//! Options whose kind and length are variable-length integers. Each is read from the beginning of what is seen of the packet,
//! so that lists may be as long as packets.

use carrick_ir::{OptDef, OptField, OptListDef, arith};

use crate::Emitter;
use crate::names::safe;
use crate::options::width_suffix;

impl Emitter<'_> {
    /// Reads a list where the verifier sees every octet.
    pub(crate) fn read_wide_at(&mut self, list: &OptListDef, opts: &[&OptDef]) {
        for opt in opts {
            self.one_wide(list, opt);
        }
        let (ty, name) = (self.names.declared(&list.name), self.names.own(&list.name));
        let core = self.names.own("core");
        self.w.line(
            "/* The octets of the option there, where so many are left: more if its length is impossible. */",
        );
        self.w.open(format!(
            "CARRICK_APART uint32_t {name}_one(struct {core} *core, struct {ty} *o, uint32_t left) {{"
        ));
        self.w.line("const uint32_t impossible = CARRICK_END_OF_OPTIONS - 1;");
        self.w.line("uint64_t kind = 0, len = 0;");
        self.w.line("if (!core || !o)");
        self.w.line("    return impossible;");
        self.w.line("uint32_t octets = carrick_varint_load(carrick_eight(core->in), left, &kind);");
        self.w.line("if (!octets)");
        self.w.line("    return impossible;");
        self.w.line("const uint8_t *p = core->in + carrick_at(octets, CARRICK_OPTION_MAX);");
        self.w.line("uint32_t of_len = carrick_varint_load(carrick_eight(p), left - octets, &len);");
        self.w.line("octets += of_len;");
        self.w.line("if (!of_len || len > left - octets)");
        self.w.line("    return impossible;");
        for opt in opts {
            let kind = opt.wide.unwrap_or_default();
            self.w.line(format!(
                "if (kind == {kind}u && {name}_{}_read(core, o, octets, (uint32_t)len) != (int)len)",
                opt.name
            ));
            self.w.line("    return impossible;");
        }
        self.w.line("return octets + (uint32_t)len;");
        self.w.close("}");
        self.w.blank();
        self.reading_each(list);
    }

    /// All options of a list, in what is seen of the packet from `begin` on.
    fn reading_each(&mut self, list: &OptListDef) {
        let (ty, name) = (self.names.declared(&list.name), self.names.own(&list.name));
        let core = self.names.own("core");
        self.w.line("/* False if a length is impossible. */");
        self.w.open(format!(
            "CARRICK_APART int {name}_read(struct {core} *core, struct {ty} *o, uint32_t from, uint32_t to) {{"
        ));
        self.w.line("if (!core || !o)");
        self.w.line("    return false;");
        self.w.line("uint32_t begin = core->looked;");
        self.w.line("core->at = from;");
        self.w
            .open("for (uint32_t turn = 0; turn < CARRICK_OPTIONS && CARRICK_READ(core->at) < to; turn++) {");
        self.w.line(format!("(void){}(core, begin + CARRICK_READ(core->at));", self.names.own("look")));
        self.w.line("uint32_t left = to - CARRICK_READ(core->at);");
        self.w.line(format!("uint32_t octets = {name}_one(core, o, left);"));
        self.w.line("if (octets > left)");
        self.w.line("    return false;");
        self.w.line("core->at += octets;");
        self.w.close("}");
        self.w.line(format!("(void){}(core, begin);", self.names.own("look")));
        self.w.line("return CARRICK_READ(core->at) >= to;");
        self.w.close("}");
        self.w.blank();
    }

    /// Reads the fields of an option.
    fn one_wide(&mut self, list: &OptListDef, opt: &OptDef) {
        let (ty, name) = (self.names.declared(&list.name), self.names.own(&list.name));
        let core = self.names.own("core");
        self.w.line("/* How many octets the fields took, which begin there; less than none if they are not all there. */");
        self.w.open(format!(
            "CARRICK_INLINE int {name}_{}_read(struct {core} *core, struct {ty} *o, uint32_t at, uint32_t len) {{",
            opt.name
        ));
        self.w.line("if (!core || !o)");
        self.w.line("    return -1;");
        self.w.line("uint32_t begin = at;");
        self.w.line(format!("o->has_{} = true;", opt.name));
        for field in &opt.fields {
            self.read_field_at(opt, field);
        }
        self.w.line("CARRICK_OPAQUE(len);");
        self.w.line("return (int)(at - begin);");
        self.w.close("}");
        self.w.blank();
    }

    fn read_field_at(&mut self, opt: &OptDef, field: &OptField) {
        let place = format!("o->{}.{}", safe(&opt.name), safe(&field.name));
        let p = "core->in + carrick_at(at, CARRICK_SEEN)";
        let left = "len - (at - begin)";
        if field.varint {
            self.w.open("{");
            self.w.line(format!(
                "uint32_t octets = carrick_varint_load(carrick_eight({p}), {left}, &{place});"
            ));
            self.w.line("if (!octets)");
            self.w.line("    return -1;");
            self.w.line("at += octets;");
            return self.w.close("}");
        }
        let octets = arith::shape(&field.ty).0 / 8;
        let c = self.names.ctype(&field.ty);
        self.w.line(format!("if ({left} < {octets})"));
        self.w.line("    return -1;");
        match width_suffix(octets) {
            Some(w) => self.w.line(format!("{place} = ({c})carrick_load{w}({p});")),
            None => self.w.line(format!("{place} = ({c})({p})[0];")),
        }
        self.w.line(format!("at += {octets};"));
    }

    /// Writes an option where the list has come to.
    pub(crate) fn write_wide_at(&mut self, opt: &OptDef) {
        let p = "core->out + CARRICK_BEGIN + carrick_at(CARRICK_READ(core->at), CARRICK_HEADER_MAX)";
        self.w.open(format!("if (o->has_{}) {{", opt.name));
        let varint =
            |value: String| format!("core->at += carrick_varint_store(carrick_eight({p}), {value});");
        self.w.line(varint(format!("{}u", opt.wide.unwrap_or_default())));
        self.w.line(varint(self.wide_len(opt)));
        for field in &opt.fields {
            let value = self.wide_value(opt, field);
            if field.varint {
                self.w.line(varint(value));
                continue;
            }
            let octets = arith::shape(&field.ty).0 / 8;
            match width_suffix(octets) {
                Some(w) => self.w.line(format!("carrick_store{w}({p}, (uint{w}_t){value});")),
                None => self.w.line(format!("({p})[0] = (uint8_t){value};")),
            }
            self.w.line(format!("core->at += {octets};"));
        }
        self.w.close("}");
    }
}
