// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a value is when its variable begins to live.

use carrick_ir::{BpFieldKind, Expr, FieldDef, Ty};

use super::emitter::{Emitted, Emitter};
use super::expr::Scope;
use super::names::variable;

impl Emitter<'_> {
    /// The initial value of a type.
    pub fn initial(&mut self, ty: &Ty) -> Emitted<String> {
        let p = self.program;
        let given = |defs: &[FieldDef]| -> Vec<(String, Option<Expr>, Ty)> {
            defs.iter().map(|def| (def.name.clone(), def.init.clone(), def.ty.clone())).collect()
        };
        let fields = match ty {
            Ty::Struct(id) => given(&p.structs[id.index()].fields),
            Ty::Scratch(id) => given(&p.scratchpads[id.index()].fields),
            Ty::Event(id) => given(&p.events[id.index()].fields),
            Ty::Context(id) => given(&p.contexts[id.index()].fields),
            Ty::Blueprint(id) => {
                let net = p.net_header.fields.iter();
                let net = net.map(|f| (format!("net_{}", f.name), f.init.clone(), f.ty.clone()));
                let own = p.blueprints[id.index()].fields.iter().map(|f| {
                    let init = if let BpFieldKind::Plain { init } = &f.kind { init.clone() } else { None };
                    (f.name.clone(), init, f.ty.clone())
                });
                net.chain(own).collect()
            }
            _ => return Ok(self.zero(ty)),
        };
        let mut set = Vec::new();
        for (name, init, ty) in fields {
            let value = match init {
                Some(init) => self.expr(&init, Scope::OUTSIDE)?,
                None => self.initial(&ty)?,
            };
            if !value.starts_with("zero!") {
                set.push(format!("{}: {value}", variable(&name)));
            }
        }
        if set.is_empty() {
            return Ok(self.zero(ty));
        }
        let (name, zero) = (self.ty(ty), self.zero(ty));
        let function = format!("initial_{}", name.to_lowercase());
        self.helper(&function, || {
            let set = set.join(", ");
            format!("fn {function}(env: Env) -> {name} {{\n    {name} {{ {set}, ..{zero} }}\n}}\n")
        });
        Ok(format!("{function}(env)"))
    }
}
