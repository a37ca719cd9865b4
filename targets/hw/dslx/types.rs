// SPDX-License-Identifier: MIT OR Apache-2.0
//! Types: their names, their declarations, their bits in a row.

use std::fmt::Write;

use carrick_ir::{Order, Ty};

use super::emitter::Emitter;
use super::names::{type_name, variable};
use super::shape::{Part, PartTy, parts, scalar};

impl Emitter<'_> {
    /// The name of a type, which is declared from now on.
    pub fn ty(&mut self, ty: &Ty) -> String {
        let program = self.program;
        match ty {
            Ty::Addr => self.declare_addr(),
            Ty::Array(of, n) => format!("{}[{n}]", self.ty(of)),
            Ty::List(of, n, order) => self.list(of, *n, *order),
            ty => match parts(program, ty) {
                Some(parts) => self.declare(ty, &parts),
                None => {
                    let (bits, signed) = scalar(program, ty);
                    format!("{}{bits}", if signed { 's' } else { 'u' })
                }
            },
        }
    }

    /// A number as a literal of a scalar type.
    pub fn literal(&mut self, ty: &Ty, value: u64) -> String {
        if *ty == Ty::Addr {
            return self.zero(ty);
        }
        match scalar(self.program, ty) {
            (_, true) => format!("{}:{}", self.ty(ty), value as i64),
            _ => format!("{}:{value}", self.ty(ty)),
        }
    }

    /// The value of a type all of whose bits are 0.
    pub fn zero(&mut self, ty: &Ty) -> String {
        format!("zero!<{}>()", self.ty(ty))
    }

    fn name(&self, ty: &Ty) -> String {
        let p = self.program;
        type_name(match ty {
            Ty::Struct(id) => &p.structs[id.index()].name,
            Ty::Id(id) => &p.ids[id.index()].name,
            Ty::Scratch(id) => &p.scratchpads[id.index()].name,
            Ty::Event(id) => &p.events[id.index()].name,
            Ty::Context(id) => &p.contexts[id.index()].name,
            Ty::Blueprint(id) => &p.blueprints[id.index()].name,
            Ty::NetHeader => return "Net".into(),
            _ => "",
        })
    }

    fn declare(&mut self, ty: &Ty, parts: &[Part]) -> String {
        let name = self.name(ty);
        if !self.declared.insert(name.clone()) {
            return name;
        }
        let mut text = format!("pub struct {name} {{\n");
        let mut any = false;
        for part in parts {
            let of = match &part.ty {
                PartTy::Is(ty) => self.ty(ty),
                PartTy::Payload => self.declare_payload(),
                PartTy::Nothing => continue,
            };
            any = true;
            let _ = writeln!(text, "    {}: {of},", variable(&part.name));
        }
        if !any {
            text.push_str("    nothing: u1,\n");
        }
        text.push_str("}\n\n");
        self.types.push_str(&text);
        name
    }

    fn declare_addr(&mut self) -> String {
        if self.declared.insert("Addr".into()) {
            self.types.push_str(
                "// Memory of the host: which, from where, how many bytes, of which request.\n\
                 pub struct Addr {\n    region: u64,\n    offset: u64,\n    bytes: u64,\n    owner: u64,\n}\n\n",
            );
        }
        "Addr".into()
    }

    fn declare_payload(&mut self) -> String {
        let addr = self.declare_addr();
        if self.declared.insert("Payload".into()) {
            let sent = match self.shapes.sends() {
                true => "    unit: u64,\n    offset: u64,\n    len: u64,\n    mss: u64,\n",
                false => "    len: u64,\n",
            };
            let _ = write!(
                self.types,
                "// What follows a header: bytes of a unit of data, or of the host's memory.\n\
                 pub struct Payload {{\n{sent}    addr: {addr},\n}}\n\n"
            );
        }
        "Payload".into()
    }

    fn list(&mut self, of: &Ty, n: u32, order: Order) -> String {
        let element = self.ty(of);
        let sorted = match order {
            Order::Given => "",
            Order::Sorted | Order::SortedBy(_) => "Sorted",
        };
        let name = format!("{sorted}List{n}Of{}", element.replace(['[', ']'], "_"));
        if self.declared.insert(name.clone()) {
            let _ =
                write!(self.types, "pub struct {name} {{\n    len: u32,\n    items: {element}[{n}],\n}}\n\n");
        }
        name
    }

    /// The bits of a value in a row.
    pub fn flat(&mut self, ty: &Ty, value: &str) -> String {
        match ty {
            Ty::Array(of, n) => {
                let items: Vec<String> =
                    (0..*n).rev().map(|i| self.flat(of, &format!("{value}[u32:{i}]"))).collect();
                format!("({})", items.join(" ++ "))
            }
            Ty::Addr | Ty::List(..) => self.flat_struct(ty, value),
            ty if parts(self.program, ty).is_some() => self.flat_struct(ty, value),
            ty => match scalar(self.program, ty) {
                (bits, true) => format!("({value} as u{bits})"),
                _ => value.to_owned(),
            },
        }
    }

    fn flat_struct(&mut self, ty: &Ty, value: &str) -> String {
        let (name, width) = (self.ty(ty), self.shapes.width(ty));
        let function = format!("flat_{}", name.to_lowercase());
        if !self.helpers.contains_key(&function) {
            let fields: Vec<String> = match ty {
                Ty::Addr => ["region", "offset", "bytes", "owner"].map(|f| format!("v.{f}")).into(),
                Ty::List(of, n, _) => {
                    let items = Ty::Array(of.clone(), *n);
                    vec!["v.len".into(), self.flat(&items, "v.items")]
                }
                ty => self.flat_parts(ty),
            };
            self.helper(&function, || {
                let bits = fields.join("\n        ++ ");
                format!("fn {function}(v: {name}) -> uN[{width}] {{\n    {bits}\n}}\n")
            });
        }
        format!("{function}({value})")
    }

    fn flat_parts(&mut self, ty: &Ty) -> Vec<String> {
        let mut fields = Vec::new();
        for part in parts(self.program, ty).unwrap_or_default() {
            let field = format!("v.{}", variable(&part.name));
            match &part.ty {
                PartTy::Is(ty) => fields.push(self.flat(ty, &field)),
                PartTy::Nothing => {}
                PartTy::Payload => {
                    let sent = ["unit", "offset", "len", "mss"];
                    let there = sent.iter().filter(|f| self.shapes.sends() || **f == "len");
                    fields.extend(there.map(|f| format!("{field}.{f}")));
                    fields.push(self.flat(&Ty::Addr, &format!("{field}.addr")));
                }
            }
        }
        fields
    }
}
