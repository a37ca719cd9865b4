// SPDX-License-Identifier: MIT OR Apache-2.0
//! Options whose last field is a list: it has as many elements as the option's length holds.

use crate::arith;
use crate::program::{OptDef, OptElements, Program};
use crate::ty::{Order, Ty};

impl OptElements {
    /// The type of the list.
    pub fn ty(&self) -> Ty {
        Ty::List(Box::new(self.element.clone()), self.most, Order::Given)
    }

    /// The integers of an element in wire order; each has the name of its field, if the element is a struct.
    pub fn parts<'p>(&'p self, program: &'p Program) -> Vec<(Option<&'p str>, &'p Ty)> {
        match &self.element {
            Ty::Struct(id) => {
                let fields = program.structs.get(id.index()).map_or(&[][..], |def| &def.fields);
                fields.iter().map(|f| (Some(f.name.as_str()), &f.ty)).collect()
            }
            ty => vec![(None, ty)],
        }
    }

    /// What an integer of the elements is called in displays: `option.list.field`, or `option.list` of plain integers.
    pub fn path(&self, option: &str, part: Option<&str>) -> String {
        let part = part.map_or_else(String::new, |part| format!(".{part}"));
        format!("{option}.{}{part}", self.name)
    }

    /// Bytes of an element on the wire.
    pub fn octets(&self, program: &Program) -> u32 {
        self.parts(program).iter().map(|(_, ty)| arith::shape(ty).0 / 8).sum()
    }

    /// Bytes of the longest list on the wire.
    pub fn most_octets(&self, program: &Program) -> u32 {
        self.octets(program).saturating_mul(self.most)
    }
}

impl OptDef {
    /// A field that programs name, with its type: one of `fields`, or behind these the list.
    pub fn field(&self, at: usize) -> Option<(&str, Ty)> {
        match self.fields.get(at) {
            Some(field) => Some((&field.name, field.ty.clone())),
            None => self.list.as_ref().filter(|_| at == self.fields.len()).map(|l| (l.name.as_str(), l.ty())),
        }
    }

    /// All of them.
    pub fn all_fields(&self) -> impl Iterator<Item = (&str, Ty)> {
        (0..=self.fields.len()).filter_map(|at| self.field(at))
    }

    /// The types of the values that a program gives when it adds the option.
    pub fn given(&self) -> Vec<Ty> {
        let free = self.fields.iter().filter(|f| f.fixed.is_none()).map(|f| f.ty.clone());
        free.chain(self.list.as_ref().map(OptElements::ty)).collect()
    }

    /// Bytes of the longest list of the option.
    pub fn most_listed(&self, program: &Program) -> u32 {
        self.list.as_ref().map_or(0, |list| list.most_octets(program))
    }
}
