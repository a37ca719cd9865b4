// SPDX-License-Identifier: MIT OR Apache-2.0
//! Declarations of the program's types.

use std::collections::BTreeSet;

use carrick_ir::{self as ir, Ty};

use crate::Emitter;
use crate::names::{safe, window_words};
use crate::text;

/// Of a constant array, for the eye.
const VALUES_IN_A_ROW: usize = 8;

impl Emitter<'_> {
    /// The structs and enums of what the program declares.
    pub fn type_declarations(&mut self) {
        self.constants();
        let mut done = BTreeSet::new();
        let p = self.p;
        let addresses = usize::from(matches!(p.address_ty(), Ty::Id(_)));
        for id in p.ids.iter().skip(addresses) {
            self.record(&self.names.declared(&id.name), &id.doc, &id.parts);
        }
        for index in 0..p.structs.len() {
            self.declare(&Ty::Struct(ir::StructId(index as u32)), &mut done);
        }
        let fields =
            p.scratchpads.iter().flat_map(|s| &s.fields).chain(p.contexts.iter().flat_map(|c| &c.fields));
        for field in fields.chain(p.events.iter().flat_map(|e| &e.fields)) {
            self.declare(&field.ty, &mut done);
        }
        for local in p.functions.iter().flat_map(|f| &f.locals) {
            self.declare(&local.ty, &mut done);
        }
        for list in p.opts.iter().filter_map(|opt| opt.list.as_ref()) {
            self.declare(&list.ty(), &mut done);
        }
        for scratchpad in &p.scratchpads {
            self.record(&self.names.declared(&scratchpad.name), &scratchpad.doc, &scratchpad.fields);
        }
        for event in &p.events {
            self.event_struct(event);
        }
    }

    fn constants(&mut self) {
        for def in &self.p.enums {
            if let Some(doc) = text::comment(&def.doc) {
                self.w.line(doc);
            }
            let ty = self.names.ctype(&def.repr);
            for (name, value) in &def.variants {
                let name = self.names.declared(name);
                let value = self.literal(*value, &def.repr);
                self.w.line(format!("CARRICK_UNUSED static const {ty} {name} = {value};"));
            }
            self.w.blank();
        }
        for def in &self.p.consts {
            if let Some(doc) = text::comment(&def.doc) {
                self.w.line(doc);
            }
            let value = self.literal(def.value, &def.ty);
            let line = format!(
                "CARRICK_UNUSED static const {} {} = {value};",
                self.names.ctype(&def.ty),
                self.names.declared(&def.name)
            );
            self.w.line(line);
        }
        self.arrays();
        self.w.blank();
    }

    fn arrays(&mut self) {
        for def in &self.p.arrays {
            if let Some(doc) = text::comment(&def.doc) {
                self.w.line(doc);
            }
            let (ty, name) = (self.names.ctype(&def.ty), self.names.declared(&def.name));
            let values: Vec<String> = def.values.iter().map(|v| self.literal(*v, &def.ty)).collect();
            self.w.line(format!(
                "CARRICK_UNUSED CARRICK_CONSTANTS static const {ty} {name}[{}] = {{",
                values.len()
            ));
            for row in values.chunks(VALUES_IN_A_ROW) {
                self.w.line(format!("    {},", row.join(", ")));
            }
            self.w.line("};");
        }
    }

    /// Declares a type after those that it is made of, once.
    fn declare(&mut self, ty: &Ty, done: &mut BTreeSet<String>) {
        match ty {
            Ty::Array(element, _) => self.declare(element, done),
            Ty::Struct(id) => {
                let def = &self.p.structs[id.index()];
                if done.insert(self.names.declared(&def.name)) {
                    for field in &def.fields {
                        self.declare(&field.ty, done);
                    }
                    self.record(&self.names.declared(&def.name), &def.doc, &def.fields);
                }
            }
            Ty::List(element, n, order) => {
                self.declare(element, done);
                let name = self.names.list(element, *n);
                if done.insert(name.clone()) {
                    self.w.open(format!("struct {name} {{"));
                    self.w.line("uint32_t len;");
                    let items = self.names.declaration(&Ty::Array(element.clone(), *n), "items");
                    self.w.line(format!("{items};"));
                    self.w.end_type();
                    self.list_functions(&name, element, *n);
                }
                if self.p.sort_key(element, *order).is_some() && done.insert(self.sorted_name("find", ty)) {
                    self.sorted_functions(ty);
                }
            }
            Ty::Wnd { size, runs } => {
                let name = self.names.window(*size, *runs);
                if self.has_inside(ty) && done.insert(name.clone()) {
                    self.window_struct(&name, *size, *runs);
                    self.window_functions(&name, *size, *runs);
                }
            }
            _ => {}
        }
    }

    fn window_struct(&mut self, name: &str, size: u64, runs: Option<u32>) {
        self.w.open(format!("struct {name} {{"));
        match runs {
            Some(runs) => {
                self.w.line("struct carrick_wnd wnd;");
                self.w.line(format!("struct carrick_run runs[{}];", runs + 1));
            }
            None => {
                self.w.line("uint32_t head;");
                self.w.line(format!("uint64_t bits[{}];", window_words(size)));
            }
        }
        self.w.end_type();
    }

    fn record(&mut self, name: &str, doc: &ir::Text, fields: &[ir::FieldDef]) {
        if let Some(doc) = text::comment(doc) {
            self.w.line(doc);
        }
        self.w.open(format!("struct {name} {{"));
        self.fields(fields);
        if fields.is_empty() {
            self.w.line("uint8_t nothing__;");
        }
        self.w.end_type();
    }

    pub(crate) fn fields<'f>(&mut self, fields: impl IntoIterator<Item = &'f ir::FieldDef>) {
        for field in fields {
            let declaration = self.names.declaration(&field.ty, &safe(&field.name));
            self.declared_field(&declaration, field);
        }
    }

    /// A field, declared as this.
    pub(crate) fn declared_field(&mut self, declaration: &str, field: &ir::FieldDef) {
        match text::comment_in_line(&field.doc) {
            Some(comment) => self.w.line(format!("{declaration}; {comment}")),
            None => self.w.line(format!("{declaration};")),
        }
    }

    fn event_struct(&mut self, event: &ir::EventDef) {
        if let Some(doc) = text::comment(&event.doc) {
            self.w.line(doc);
        }
        self.w.open(format!("struct {} {{", self.names.declared(&event.name)));
        self.fields(&event.fields);
        if let Some(id) = event.id {
            self.w.line(format!("struct {} flow__;", self.names.id(id)));
        }
        self.w.line("uint64_t token__;");
        self.w.end_type();
    }
}
