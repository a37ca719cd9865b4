// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lists of instances: most are empty most of the time. In a process they lie beside the instance, in memory that it
//! takes when a list gets an element, and gives back at the end of a chain behind which all are empty.

use carrick_ir::{ContextDef, FieldDef, LocalId, Place, Proj, Stmt, StmtKind, Ty, walk};

use crate::Emitter;
use crate::names::safe;

/// Bytes of a list that stays in its instance: the pointer to another place would not be worth it.
const SMALL: u64 = 64;

impl<'p> Emitter<'p> {
    /// Whether a field of the context lies beside its instances.
    fn is_apart(&self, ctx: &ContextDef, field: &FieldDef) -> bool {
        let large =
            |ty: &Ty| matches!(ty, Ty::List(of, n, _) if u64::from(*n) * self.least_bytes(of) > SMALL);
        self.dialect.lists_apart() && !ctx.global && large(&field.ty)
    }

    /// What a value takes at least.
    fn least_bytes(&self, ty: &Ty) -> u64 {
        let of = |fields: &[FieldDef]| fields.iter().map(|field| self.least_bytes(&field.ty)).sum();
        match ty {
            Ty::Bool => 1,
            Ty::Int { bits, .. } => u64::from(*bits).div_ceil(8),
            Ty::Seq32 => 4,
            Ty::Struct(id) => of(&self.p.structs[id.index()].fields),
            Ty::Id(id) => of(&self.p.ids[id.index()].parts),
            Ty::Array(element, n) | Ty::List(element, n, _) => u64::from(*n) * self.least_bytes(element),
            _ => 8,
        }
    }

    /// The lists that lie beside the instances of a context, and its other fields.
    pub(crate) fn apart<'c>(&self, ctx: &'c ContextDef) -> (Vec<&'c FieldDef>, Vec<&'c FieldDef>) {
        ctx.fields.iter().partition(|field| self.is_apart(ctx, field))
    }

    pub(crate) fn has_apart(&self, ctx: &ContextDef) -> bool {
        ctx.fields.iter().any(|field| self.is_apart(ctx, field))
    }

    /// C for a field, from an instance on.
    pub(crate) fn member(&self, ctx: &ContextDef, field: &FieldDef) -> String {
        let lists = if self.is_apart(ctx, field) { "lists__->" } else { "" };
        format!("{lists}{}", safe(&field.name))
    }

    fn lists_type(&self, ctx: &ContextDef) -> String {
        format!("struct {}__lists", self.names.own(&ctx.name))
    }

    /// The struct of the lists of a context.
    pub(crate) fn lists_struct(&mut self, ctx: &ContextDef) {
        let (apart, _) = self.apart(ctx);
        if apart.is_empty() {
            return;
        }
        let ty = self.lists_type(ctx);
        self.w
            .line(format!("/* Lists of `{}`, beside the instances that have elements in one. */", ctx.name));
        self.w.open(format!("{ty} {{"));
        self.fields(apart);
        self.w.line(format!("{ty} *next__; /* while it is free */"));
        self.w.end_type();
    }

    /// In the struct of an instance.
    pub(crate) fn lists_member(&mut self, ctx: &ContextDef) {
        if self.has_apart(ctx) {
            self.w.line(format!("{} *lists__;", self.lists_type(ctx)));
        }
    }

    /// In the core.
    pub(crate) fn lists_members(&mut self, ctx: &ContextDef) {
        if self.has_apart(ctx) {
            let (ty, name) = (self.lists_type(ctx), &ctx.name);
            self.w.line(format!(
                "{ty} *{name}__lists, *{name}__lists_free; /* the first is of all that have none */"
            ));
            self.w.line(format!("uint32_t {name}__lists_fresh;"));
        }
    }

    /// In the layout function.
    pub(crate) fn lists_layout(&mut self, ctx: &ContextDef) {
        if self.has_apart(ctx) {
            let (ty, name) = (self.lists_type(ctx), &ctx.name);
            self.w.line(format!(
                "core->{name}__lists = ({ty} *)(void *)carrick_place(base, &at, ({name}_capacity + 1) * sizeof({ty}));"
            ));
        }
    }

    /// Where an instance begins: it has no list with an element.
    pub(crate) fn lists_begin(&mut self, ctx: &ContextDef) {
        if self.has_apart(ctx) {
            self.w.line(format!("c->lists__ = core->{}__lists;", ctx.name));
        }
    }

    /// Takes memory for lists and gives it back.
    pub(crate) fn lists_functions(&mut self, ctx: &ContextDef) {
        let (apart, _) = self.apart(ctx);
        if apart.is_empty() {
            return;
        }
        let (ty, lists, name, core) =
            (self.names.declared(&ctx.name), self.lists_type(ctx), &ctx.name, self.core_param());
        let own = self.names.own(name);
        self.w.line("/* A list of it gets an element. */");
        self.w.open(format!("CARRICK_INLINE void {own}_take_lists({core}, struct {ty} *c) {{"));
        self.w.line(format!("if (c->lists__ != core->{name}__lists)\n    return;"));
        self.w.line(format!("{lists} *free = core->{name}__lists_free;"));
        self.w.line(format!("if (free)\n    core->{name}__lists_free = free->next__;"));
        self.w.end_with(format!(
            "c->lists__ = free ? free : &core->{name}__lists[++core->{name}__lists_fresh];"
        ));
        let full: Vec<String> =
            apart.iter().map(|field| format!("lists->{}.len", safe(&field.name))).collect();
        self.w.line("/* Gives back what holds no element. */");
        self.w.open(format!("CARRICK_INLINE void {own}_leave_lists({core}, struct {ty} *c) {{"));
        self.w.line(format!("{lists} *lists = c->lists__;"));
        self.w.line(format!("if (lists == core->{name}__lists || {})\n    return;", full.join(" || ")));
        self.w.line(format!("lists->next__ = core->{name}__lists_free;"));
        self.w.line(format!("core->{name}__lists_free = lists;"));
        self.w.end_with(format!("c->lists__ = core->{name}__lists;"));
    }

    /// In the function that makes an instance of `values`: its lists.
    pub(crate) fn copy_lists(&mut self, ctx: &ContextDef) {
        let (apart, _) = self.apart(ctx);
        if apart.is_empty() || !self.p.functions.iter().any(|f| self.makes_lists(f, ctx)) {
            return;
        }
        let full: Vec<String> =
            apart.iter().map(|field| format!("values->lists__->{}.len", safe(&field.name))).collect();
        self.w.open(format!("if ({}) {{", full.join(" || ")));
        self.w.line(format!("{}_take_lists(core, c);", self.names.own(&ctx.name)));
        self.w.line("*c->lists__ = *values->lists__;");
        self.w.close("}");
    }

    /// At the end of an instance: its lists are empty.
    pub(crate) fn clear_lists(&mut self, ctx: &ContextDef) {
        let (apart, _) = self.apart(ctx);
        for field in &apart {
            self.w.line(format!("c->lists__->{}.len = 0;", safe(&field.name)));
        }
        if !apart.is_empty() {
            self.w.line(format!("{}_leave_lists(core, c);", self.names.own(&ctx.name)));
        }
    }

    /// At the end of a chain on the instance at `at`, if that is there.
    pub(crate) fn chain_leaves_lists(&mut self, ctx: &ContextDef, at: &str, there: &str) {
        if self.has_apart(ctx) {
            self.w.line(format!("{there}\n    {}_leave_lists(core, {at});", self.names.own(&ctx.name)));
        }
    }

    /// Whether a value of a function that is to become an instance may have elements in its lists.
    fn makes_lists(&self, function: &carrick_ir::Function, ctx: &ContextDef) -> bool {
        (function.params..function.locals.len() as u32).any(|local| {
            self.list_context(&function.locals[local as usize].ty).is_some_and(|of| of.name == ctx.name)
                && has_own_lists(function, LocalId(local))
        })
    }

    fn list_context(&self, ty: &Ty) -> Option<&'p ContextDef> {
        let Ty::Context(id) = ty else { return None };
        Some(&self.p.contexts[id.index()]).filter(|ctx| self.has_apart(ctx))
    }

    /// Behind the declaration of a local that is to become an instance: no lists, or its own if it needs any. `copied`: its
    /// value was that of another.
    pub(crate) fn own_lists(&mut self, stmt: &Stmt, local: LocalId, copied: bool) {
        let Some(ctx) = self.list_context(self.local_type(local)) else { return };
        let (name, ty) = (self.local(local), self.lists_type(ctx));
        if !copied {
            self.line(stmt, format!("{name}.lists__ = core->{}__lists;", ctx.name));
        }
        if self.function.is_some_and(|f| has_own_lists(f, local)) {
            self.line(stmt, format!("{ty} {name}__lists = *{name}.lists__;"));
            self.line(stmt, format!("{name}.lists__ = &{name}__lists;"));
        }
    }

    /// Before an element is put into a list, or the list is set: its instance has memory for it.
    pub(crate) fn take_lists(&mut self, stmt: &Stmt, list: &Place) {
        let Some(ctx) = self.list_context(self.local_type(list.root)) else { return };
        let Some(Proj::Field(at)) = list.path.first() else { return };
        if list.path.len() == 1 && self.is_apart(ctx, &ctx.fields[*at as usize]) {
            let at = self.address(list.root);
            self.line(stmt, format!("{}_take_lists(core, {at});", self.names.own(&ctx.name)));
        }
    }
}

/// Whether a local may have elements in its lists: the function puts them there, or copies another value.
fn has_own_lists(function: &carrick_ir::Function, local: LocalId) -> bool {
    let mut found = false;
    walk::statements(&function.body, &mut |stmt| match &stmt.kind {
        StmtKind::Let { local: of, init: Some(_) } => found |= *of == local,
        StmtKind::ListAdd { list, .. } | StmtKind::ListInsert { list, .. } => found |= list.root == local,
        StmtKind::Assign { place, .. } => found |= place.root == local && matches!(place.ty, Ty::List(..)),
        _ => {}
    });
    found
}
