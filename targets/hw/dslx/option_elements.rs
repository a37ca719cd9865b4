// SPDX-License-Identifier: MIT OR Apache-2.0
//! Options that end with a list: their lengths, and the elements from and to bits.

use carrick_ir::{OptDef, OptElements, Ty};

use super::emitter::Emitter;
use super::names::variable;
use super::shape::scalar;

/// The lengths that a received option can have, in bytes.
pub fn lengths(program: &carrick_ir::Program, opt: &OptDef) -> Vec<u32> {
    let len = u32::from(opt.len);
    match &opt.list {
        Some(list) => (list.least..=list.most).map(|n| len + n * list.octets(program)).collect(),
        None => vec![len],
    }
}

/// The name of the list among the parts of a blueprint.
pub fn list_name(opt: &OptDef, list: &OptElements) -> String {
    format!("{}_{}", opt.name, list.name)
}

impl Emitter<'_> {
    /// The list of an option that is in the highest bits of `o` and has `size` bytes; its elements begin at this bit.
    pub fn read_elements(&mut self, opt: &OptDef, list: &OptElements, first: u32) -> String {
        let program = self.program;
        let (name, octets) = (self.ty(&list.ty()), list.octets(program));
        let whole = matches!(list.element, Ty::Struct(_)).then(|| self.ty(&list.element));
        let parts: Vec<_> = list.parts(program).into_iter().map(|(n, ty)| (n, ty.clone())).collect();
        let mut at = first;
        let mut items = Vec::new();
        for _ in 0..list.most {
            let mut fields = Vec::new();
            for (part, ty) in &parts {
                let (of, bits) = (self.ty(ty), scalar(program, ty).0);
                let field = part.map_or_else(String::new, |part| format!("{}: ", variable(part)));
                fields.push(format!("{field}part<u32:{at}, u32:{bits}>(o) as {of}"));
                at += bits;
            }
            let fields = fields.join(", ");
            items.push(whole.as_ref().map_or_else(|| fields.clone(), |ty| format!("{ty} {{ {fields} }}")));
        }
        let len = format!("((size - u16:{}) / u16:{octets}) as u32", opt.len);
        format!("{}: {name} {{ len: {len}, items: [{}] }}", list_name(opt, list), items.join(", "))
    }

    /// The bits of all elements that there can be; those of elements that there are not are zeros.
    pub fn write_elements(&mut self, opt: &OptDef, list: &OptElements) -> Vec<String> {
        let (program, name) = (self.program, list_name(opt, list));
        let mut words = Vec::new();
        for i in 0..list.most {
            for (part, ty) in list.parts(program) {
                let bits = scalar(program, ty).0;
                let field = part.map_or_else(String::new, |part| format!(".{}", variable(part)));
                let item = format!("bp.{name}.items[u32:{i}]{field} as uN[{bits}]");
                words.push(format!("(if bp.{name}.len > u32:{i} {{ {item} }} else {{ uN[{bits}]:0 }})"));
            }
        }
        words
    }
}
