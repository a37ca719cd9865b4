// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values as they are at first.

use carrick_ir::{BlueprintDef, BpFieldKind, FieldDef, OptDef, Ty};

use crate::emitter::Emitter;
use crate::names::{self, net_field, option_field};
use crate::types::{Rep, literal};
use crate::writer::{Writer, braces};

impl Emitter<'_> {
    /// What a local of this type is where it is declared.
    pub(crate) fn initial(&self, ty: &Ty) -> String {
        let name = match ty {
            Ty::Struct(id) => self.p.structs.get(id.index()).map(|d| &d.name),
            Ty::Event(id) => self.p.events.get(id.index()).map(|d| &d.name),
            Ty::Blueprint(id) => self.p.blueprints.get(id.index()).map(|d| &d.name),
            Ty::Array(of, n) => return format!("filled({n}, {})", self.initial(of)),
            _ => return self.zero(ty),
        };
        let Some(name) = name else { return self.refuse("a value of an unknown type") };
        self.found.borrow_mut().constructors.insert(name.clone());
        format!("{}()", names::field("new", name))
    }

    /// What stands for an element that is not there.
    pub(crate) fn zero(&self, ty: &Ty) -> String {
        let fields = |fields: &[FieldDef]| {
            braces(&fields.iter().map(|f| names::entry(&f.name, &self.zero(&f.ty))).collect::<Vec<_>>())
        };
        match ty {
            Ty::Struct(id) => self.p.structs.get(id.index()).map_or_else(String::new, |d| fields(&d.fields)),
            Ty::Id(id) => self.p.ids.get(id.index()).map_or_else(String::new, |d| fields(&d.parts)),
            Ty::Array(of, n) => format!("filled({n}, {})", self.zero(of)),
            Ty::List(..) => "{}".to_owned(),
            Ty::Wnd { .. } => {
                self.refuse("the parser uses a sliding window, which dissectors do not support")
            }
            ty => match self.rep(ty) {
                Rep::Table => self.refuse("the parser uses a value that dissectors do not support"),
                rep => literal(rep, 0),
            },
        }
    }

    /// The functions that make the values of declared types, as far as they are needed.
    pub(crate) fn constructors(&self) -> String {
        let mut w = Writer::default();
        let mut done = std::collections::BTreeSet::new();
        loop {
            let needed = self.found.borrow().constructors.clone();
            let Some(name) = needed.difference(&done).next().cloned() else { break };
            if done.is_empty() {
                w.line("-- Values as they are where they are declared.");
                w.line("local new = {}");
                w.line("");
            }
            w.open(names::function("new", &name, ""));
            w.table("return ", &self.parts(&name), "");
            w.close("end");
            w.line("");
            done.insert(name);
        }
        w.finish()
    }

    fn parts(&self, name: &str) -> Vec<String> {
        let fields = |fields: &[FieldDef]| fields.iter().map(|f| self.first(f)).collect::<Vec<_>>();
        if let Some(def) = self.p.structs.iter().find(|d| d.name == name) {
            return fields(&def.fields);
        }
        if let Some(def) = self.p.events.iter().find(|d| d.name == name) {
            return fields(&def.fields);
        }
        self.p.blueprints.iter().find(|d| d.name == name).map_or_else(Vec::new, |bp| self.blueprint_parts(bp))
    }

    fn first(&self, field: &FieldDef) -> String {
        let value = field.init.as_ref().map_or_else(|| self.initial(&field.ty), |e| self.expr(e));
        names::entry(&field.name, &value)
    }

    fn blueprint_parts(&self, bp: &BlueprintDef) -> Vec<String> {
        let mut parts = Vec::new();
        if !bp.frame {
            let net = self.p.net_header.fields.iter().map(|f| {
                let value = f.init.as_ref().map_or_else(|| self.zero(&f.ty), |e| self.expr(e));
                names::entry(net_field(f.field), &value)
            });
            parts.push(names::entry("net", &braces(&net.collect::<Vec<_>>())));
        }
        for field in &bp.fields {
            let value = match &field.kind {
                BpFieldKind::Plain { init: Some(e) } => self.expr(e),
                _ => literal(self.rep(&field.ty), 0),
            };
            parts.push(names::entry(&field.name, &value));
        }
        if let Some(name) = &bp.options_name {
            parts.push(names::entry(name, &braces(&self.option_entries(bp))));
        }
        if let Some(name) = &bp.payload_name {
            parts.push(names::entry(name, "{ addr = false, len = u64(0) }"));
        }
        parts
    }

    /// The options of a blueprint that has none of them.
    pub(crate) fn option_entries(&self, bp: &BlueprintDef) -> Vec<String> {
        let members = bp.options.and_then(|list| self.p.opt_lists.get(list.index())).map(|l| &l.members[..]);
        let options = members.unwrap_or_default().iter().filter_map(|opt| self.p.opts.get(opt.index()));
        options.map(|opt| names::entry(&opt.name, &self.no_option(opt))).collect()
    }

    fn no_option(&self, opt: &OptDef) -> String {
        let mut parts = vec!["valid = false".to_owned()];
        let field =
            |f: &carrick_ir::OptField| names::entry(option_field(&f.name), &literal(self.rep(&f.ty), 0));
        parts.extend(opt.fields.iter().map(field));
        parts.extend(opt.list.as_ref().map(|list| names::entry(option_field(&list.name), "{}")));
        braces(&parts)
    }
}
