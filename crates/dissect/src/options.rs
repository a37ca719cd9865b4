// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lists of options.

use carrick_ir::{BlueprintDef, ExprKind, OptDef, OptElements, OptListDef, Ty, arith, print};

use crate::emitter::Emitter;
use crate::extract::uses;
use crate::names::{entry, field, option_field};
use crate::text::quoted;
use crate::types::{Rep, rep};

impl<'p> Emitter<'p> {
    /// What can be in the lists: by kind, with what reads the fields of an option into a table.
    pub(crate) fn option_lists(&mut self) {
        if self.reach.option_lists.is_empty() {
            return;
        }
        self.w.line(
            "-- The options of each list, by kind; `read` is false if the fields do not fill an option.",
        );
        self.w.line("local known_options = {}");
        self.w.line("");
        let p = self.p;
        for list in self.reach.option_lists.clone().into_iter().filter_map(|l| p.opt_lists.get(l.index())) {
            let known = field("known_options", &list.name);
            self.w.open(format!("{known} = {{"));
            let options: Vec<&OptDef> =
                list.members.iter().filter_map(|opt| p.opts.get(opt.index())).collect();
            for (at, opt) in options.iter().enumerate() {
                let same = |o: &&&OptDef| o.wide.is_none() && o.kind == opt.kind;
                match opt.wide {
                    Some(kind) => self.wide_option(opt, kind),
                    None if options.iter().filter(same).count() == 1 => self.short_option(opt, opt.kind),
                    None if options[..at].iter().any(|o| same(&o)) => {}
                    None => {
                        self.w.open(format!("[{}] = {{ of_len = {{", opt.kind));
                        options.iter().filter(same).for_each(|o| self.short_option(o, o.len));
                        self.w.close("} },");
                    }
                }
            }
            self.w.close("}");
            self.w.line("");
        }
    }

    /// An option, found by this byte.
    fn short_option(&mut self, opt: &OptDef, by: u8) {
        let (name, len) = (quoted(&opt.name), opt.len);
        match opt.list {
            Some(_) => self.w.open(format!("[{by}] = {{ name = {name}, read = function(r, o, len)")),
            None => self.w.open(format!("[{by}] = {{ name = {name}, len = {len}, read = function(r, o)")),
        }
        let mut bit = 16;
        for of in &opt.fields {
            let bits = arith::shape(&of.ty).0;
            self.option_field(opt, &of.name, &of.ty, bit, bits);
            bit += bits;
        }
        if let Some(list) = &opt.list {
            self.elements(opt, list, &format!("{len}, len - {len}"));
        }
        self.w.line("return true");
        self.w.close("end },");
    }

    fn wide_option(&mut self, opt: &OptDef, kind: u64) {
        self.w.open(format!("[\"{kind}\"] = {{ name = {}, read = function(r, o)", quoted(&opt.name)));
        for of in &opt.fields {
            let bits = arith::shape(&of.ty).0;
            if of.varint {
                let cell = field("o", option_field(&of.name));
                let path = quoted(&format!("{}.{}", opt.name, of.name));
                self.w.line(format!("{cell} = r:varint({path})"));
                self.w.line(format!("if not {cell} then return false end"));
            } else {
                self.w.line(format!("if not r:has({}) then return false end", bits / 8));
                self.option_field(opt, &of.name, &of.ty, 0, bits);
                self.w.line(format!("r:skip({})", bits / 8));
            }
        }
        if let Some(list) = &opt.list {
            self.elements(opt, list, "0, r.to - r.at");
            self.w.line("return true");
        } else {
            self.w.line("return r.at == r.to");
        }
        self.w.close("end },");
    }

    fn option_field(&mut self, opt: &OptDef, name: &str, ty: &Ty, bit: u32, bits: u32) {
        let read = self.reading(ty, &format!("{}.{name}", opt.name), &bit.to_string(), bits);
        self.w.line(format!("{} = {read}", field("o", option_field(name))));
    }

    /// Lua that reads an integer of so many bits.
    fn reading(&self, ty: &Ty, path: &str, bit: &str, bits: u32) -> String {
        let read = match rep(self.p, ty) {
            Rep::Wide { .. } => "wide",
            Rep::Narrow { signed: true, .. } => "signed",
            _ => "field",
        };
        format!("r:{read}({}, {bit}, {bits})", quoted(path))
    }

    /// Reads the elements of an option; `from`: the byte at which they begin, and how many bytes they have.
    fn elements(&mut self, opt: &OptDef, list: &OptElements, from: &str) {
        let cell = field("o", option_field(&list.name));
        let (octets, least, most) = (list.octets(self.p), list.least, list.most);
        self.w.open(format!("{cell} = r:elements({from}, {octets}, {least}, {most}, function(bit)"));
        let mut at = 0;
        let mut parts = Vec::new();
        for (name, ty) in list.parts(self.p) {
            let bits = arith::shape(ty).0;
            let path = list.path(&opt.name, name);
            let bit = if at == 0 { "bit".to_owned() } else { format!("bit + {at}") };
            let read = self.reading(ty, &path, &bit, bits);
            parts.push(name.map_or_else(|| read.clone(), |name| entry(name, &read)));
            at += bits;
        }
        let text = parts.join(", ");
        let whole = matches!(list.element, Ty::Struct(_));
        self.w.line(if whole { format!("return {{ {text} }}") } else { format!("return {text}") });
        self.w.close("end)");
        self.w.line(format!("if not {cell} then return false end"));
    }

    /// How long the list of a received packet is.
    pub(crate) fn options(&mut self, bp: &BlueprintDef) {
        let Some(list) = self.list_of(bp) else {
            if self.needs_header_end(bp) {
                self.w.line("local header = r.at");
            }
            return;
        };
        if uses(&list.len, &ExprKind::HeaderLen) {
            self.w.line("local header_len = u64(r.at - r.begin)");
        }
        let len = self.expr(&list.len);
        self.w.line(format!("local list_len = {}", print::without_parentheses(&len)));
        self.w.line("if list_len > u64(r.to - r.at) then return r:refuse(\"bad_options\") end");
        self.w.line("local header = r.at + list_len:tonumber()");
    }

    /// The list itself, once it is known to be right.
    pub(crate) fn read_options(&mut self, bp: &BlueprintDef) {
        let (Some(list), Some(name)) = (self.list_of(bp), &bp.options_name) else { return };
        let cell = field("h", name);
        self.w.table(&format!("{cell} = "), &self.option_entries(bp), "");
        let wide = list.members.iter().any(|opt| self.p.opts[opt.index()].wide.is_some());
        let walk = if wide { "Reader.wide_options" } else { "Reader.short_options" };
        let (path, known) = (quoted(&format!("{}.{name}", bp.name)), field("known_options", &list.name));
        self.w
            .line(format!("if not r:options({path}, {walk}, {known}, {cell}, header) then return false end"));
    }

    fn list_of(&self, bp: &BlueprintDef) -> Option<&'p OptListDef> {
        self.p.opt_lists.get(bp.options?.index())
    }
}
