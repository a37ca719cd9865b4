// SPDX-License-Identifier: MIT OR Apache-2.0
//! The events that a parser raises, as what is shown of them.

use carrick_ir::{FieldDef, Ty};

use crate::emitter::Emitter;
use crate::names;
use crate::text::quoted;
use crate::types::Rep;

impl Emitter<'_> {
    pub(crate) fn events(&mut self) {
        self.w.line("-- The fields of the events that the parser raises.");
        self.w.line("local show_event = {}");
        self.w.line("");
        let raised: Vec<_> = self.reach.events.iter().map(|id| &self.p.events[id.index()]).collect();
        for event in raised {
            self.w.open(names::function("show_event", &event.name, "part, e"));
            self.found_fields(&event.name, "e", &event.fields);
            self.w.close("end");
            self.w.line("");
        }
    }

    fn found_fields(&mut self, path: &str, base: &str, fields: &[FieldDef]) {
        for field in fields {
            self.found_value(&format!("{path}.{}", field.name), &names::field(base, &field.name), &field.ty);
        }
    }

    fn found_value(&mut self, path: &str, value: &str, ty: &Ty) {
        let p = self.p;
        match ty {
            Ty::Struct(id) => {
                let fields = p.structs.get(id.index()).map_or(&[][..], |d| &d.fields);
                return self.found_fields(path, value, fields);
            }
            Ty::Id(id) => {
                let parts = p.ids.get(id.index()).map_or(&[][..], |d| &d.parts);
                return self.found_fields(path, value, parts);
            }
            Ty::Array(of, _) | Ty::List(of, ..) => {
                // Each loop in another has its own name for what it is at.
                let item = format!("item{}", value.matches("item").count());
                self.w.open(format!("for _, {item} in ipairs({value}) do"));
                self.found_value(path, &item, of);
                return self.w.close("end");
            }
            _ => {}
        }
        let path = quoted(path);
        match self.rep(ty) {
            Rep::Addr => self.w.line(format!("if {value} then found(part, {path}, {value}.len) end")),
            Rep::Wide { signed: true } => self.w.line(format!("found(part, {path}, int64({value}))")),
            Rep::Table => {
                self.refuse("an event has a field that dissectors do not support");
            }
            _ => self.w.line(format!("found(part, {path}, {value})")),
        }
    }
}
