// SPDX-License-Identifier: MIT OR Apache-2.0
//! Options that end with a list: its elements to and from bytes.

use carrick_ir::{OptDef, OptElements, Ty, arith};

use crate::Emitter;
use crate::loops::{goes_on, within};
use crate::names::safe;
use crate::options::{loaded, stored};

/// The integers of an element: what follows the element in C, the type, and the byte at which it begins.
type Parts = Vec<(String, Ty, u32)>;

/// C for where the element i begins, of elements with so many bytes.
fn element_at(octets: u32) -> String {
    if octets > 1 { format!("(q + i * {octets})") } else { "(q + i)".into() }
}

impl Emitter<'_> {
    /// C for the list of an option.
    pub(crate) fn option_list(opt: &OptDef, list: &OptElements) -> String {
        format!("o->{}.{}", safe(&opt.name), safe(&list.name))
    }

    /// C for the bytes of its elements, as a term behind others.
    pub(crate) fn listed_octets(&self, opt: &OptDef) -> String {
        opt.list.as_ref().map_or_else(String::new, |list| {
            format!(" + {}.len * {}u", Self::option_list(opt, list), list.octets(self.p))
        })
    }

    fn element_parts(&self, list: &OptElements) -> Parts {
        let mut at = 0;
        let mut parts = Vec::new();
        for (name, ty) in list.parts(self.p) {
            let member = name.map_or_else(String::new, |name| format!(".{}", safe(name)));
            parts.push((member, ty.clone(), at));
            at += arith::shape(ty).0 / 8;
        }
        parts
    }

    /// Opens the loop over the elements.
    fn each_option_element(&mut self, place: &str, list: &OptElements) {
        let (room, more) = (within("i", list.most), goes_on(list.most));
        self.w.open(format!("for (uint32_t i = 0; {room}i < {place}.len{more}; i++) {{"));
    }

    /// Writes the elements from `first` bytes behind `q` on.
    pub(crate) fn write_elements(&mut self, opt: &OptDef, list: &OptElements, first: u32) {
        let (place, octets) = (Self::option_list(opt, list), list.octets(self.p));
        let element = element_at(octets);
        self.each_option_element(&place, list);
        for (member, ty, at) in self.element_parts(list) {
            let value = format!("{place}.items[i]{member}");
            self.w.line(stored(&element, first + at, arith::shape(&ty).0 / 8, &value));
        }
        self.w.close("}");
    }

    /// Writes them where the list of options has come to.
    pub(crate) fn write_elements_here(&mut self, opt: &OptDef, list: &OptElements) {
        let place = Self::option_list(opt, list);
        self.each_option_element(&place, list);
        self.w.line("CARRICK_OUT_HERE(core);");
        for (member, ty, at) in self.element_parts(list) {
            self.w.line(stored("q", at, arith::shape(&ty).0 / 8, &format!("{place}.items[i]{member}")));
        }
        self.written(list.octets(self.p));
        self.w.close("}");
    }

    /// Reads the elements that fill so many bytes, from `first` bytes behind `q` on; `wrong` if they do not.
    pub(crate) fn read_elements(&mut self, opt: &OptDef, list: &OptElements, first: u32, wrong: &str) {
        let (place, octets) = (Self::option_list(opt, list), list.octets(self.p));
        let (least, most) = (list.least * octets, list.most * octets);
        let low = if least > 0 { format!("listed < {least} || ") } else { String::new() };
        let whole = if octets > 1 { format!(" || listed % {octets} != 0") } else { String::new() };
        self.w.line(format!("if ({low}listed > {most}{whole})\n    return {wrong};"));
        let element = element_at(octets);
        let count = if octets > 1 { format!("listed / {octets}") } else { "listed".into() };
        self.w.line(format!("{place}.len = {count};"));
        self.each_option_element(&place, list);
        for (member, ty, at) in self.element_parts(list) {
            let value = loaded(&element, first + at, arith::shape(&ty).0 / 8);
            self.w.line(format!("{place}.items[i]{member} = ({}){value};", self.names.ctype(&ty)));
        }
        self.w.close("}");
    }
}
