// SPDX-License-Identifier: MIT OR Apache-2.0
//! What of an instance is seldom there: elements of its lists, and all runs of a window but one. In a process they lie
//! beside the instance, in memory that it takes when a list gets an element or a window a second run, and gives back at
//! the end of a chain behind which it holds neither.

use std::cmp::Reverse;

use carrick_ir::{Change, ContextDef, FieldDef, LocalId, Place, Proj, Stmt, StmtKind, Ty, walk};

use crate::Emitter;
use crate::emitter::Feature;
use crate::names::safe;

/// Bytes of what stays in its instance: the pointer to another place would not be worth it.
const SMALL: u64 = 64;
/// Bytes of a run of a window.
const RUN: u64 = 8;

impl<'p> Emitter<'p> {
    fn keeps_beside(&self, ctx: &ContextDef) -> bool {
        self.dialect.has(Feature::Beside) && !ctx.global
    }

    /// Whether a field of the context is a list that lies beside its instances.
    fn is_list_beside(&self, ctx: &ContextDef, field: &FieldDef) -> bool {
        let large =
            |ty: &Ty| matches!(ty, Ty::List(of, n, _) if u64::from(*n) * self.least_bytes(of) > SMALL);
        self.keeps_beside(ctx) && large(&field.ty)
    }

    /// How many runs a window may have out of order, if they lie beside the instances of the context.
    pub(crate) fn runs_beside(&self, ctx: &ContextDef, field: &FieldDef) -> Option<u32> {
        match field.ty {
            Ty::Wnd { runs: Some(runs), .. } if self.keeps_beside(ctx) => {
                (u64::from(runs) * RUN > SMALL).then_some(runs)
            }
            _ => None,
        }
    }

    /// Whether an instance of a context has windows of a kind with all their runs.
    pub(crate) fn has_inside(&self, window: &Ty) -> bool {
        self.p.contexts.iter().any(|ctx| {
            ctx.fields.iter().any(|field| field.ty == *window && self.runs_beside(ctx, field).is_none())
        })
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

    /// The alignment of a type in C.
    fn alignment(&self, ty: &Ty) -> u64 {
        let of =
            |fields: &[FieldDef]| fields.iter().map(|field| self.alignment(&field.ty)).max().unwrap_or(1);
        match ty {
            Ty::Bool | Ty::Enum(_) | Ty::Status => 1,
            Ty::Int { bits, .. } => u64::from(*bits).div_ceil(8).next_power_of_two(),
            Ty::Seq32 | Ty::Wnd { runs: Some(_), .. } => 4,
            Ty::Struct(id) => of(&self.p.structs[id.index()].fields),
            Ty::Id(id) => of(&self.p.ids[id.index()].parts),
            Ty::Array(element, _) => self.alignment(element),
            Ty::List(element, ..) => self.alignment(element).max(4),
            _ => 8,
        }
    }

    fn lists_beside<'c>(&self, ctx: &'c ContextDef) -> Vec<&'c FieldDef> {
        ctx.fields.iter().filter(|field| self.is_list_beside(ctx, field)).collect()
    }

    /// The windows whose runs lie beside the instances, and how many runs each may have out of order.
    fn windows_beside<'c>(&self, ctx: &'c ContextDef) -> Vec<(&'c FieldDef, u32)> {
        ctx.fields.iter().filter_map(|field| Some((field, self.runs_beside(ctx, field)?))).collect()
    }

    pub(crate) fn has_beside(&self, ctx: &ContextDef) -> bool {
        ctx.fields
            .iter()
            .any(|field| self.is_list_beside(ctx, field) || self.runs_beside(ctx, field).is_some())
    }

    /// C for a field, from an instance on.
    pub(crate) fn member(&self, ctx: &ContextDef, field: &FieldDef) -> String {
        let beside = if self.is_list_beside(ctx, field) { "beside__->" } else { "" };
        format!("{beside}{}", safe(&field.name))
    }

    /// C for where the runs of a window of the instance at `at` are, which lie beside it or in it.
    pub(crate) fn runs_at(&self, ctx: &ContextDef, field: &FieldDef, at: &str) -> String {
        format!("{}_{}_runs(core, {at})", self.names.own(&ctx.name), field.name)
    }

    /// A window of a context whose runs may lie beside it: C for the window, for its runs, and how many there may be
    /// out of order.
    pub(crate) fn window_beside(&self, wnd: &Place) -> Option<(String, String, u32)> {
        let (ctx, field) = self.field_of_context(wnd)?;
        let runs = self.runs_beside(ctx, field)?;
        let at = self.address(wnd.root);
        Some((format!("{}.wnd", self.place(wnd).text), self.runs_at(ctx, field, &at), runs))
    }

    fn field_of_context(&self, place: &Place) -> Option<(&'p ContextDef, &'p FieldDef)> {
        let ctx = self.beside_context(self.local_type(place.root))?;
        let [Proj::Field(at)] = &place.path[..] else { return None };
        Some((ctx, &ctx.fields[*at as usize]))
    }

    fn beside_type(&self, ctx: &ContextDef) -> String {
        format!("struct {}__beside", self.names.own(&ctx.name))
    }

    /// The struct of what lies beside an instance of a context.
    pub(crate) fn beside_struct(&mut self, ctx: &ContextDef) {
        if !self.has_beside(ctx) {
            return;
        }
        let ty = self.beside_type(ctx);
        self.w.line(format!(
            "/* Lists and runs of windows of `{}`, beside the instances that have elements or a second run. */",
            ctx.name
        ));
        self.w.open(format!("{ty} {{"));
        self.fields(self.lists_beside(ctx));
        for (field, runs) in self.windows_beside(ctx) {
            self.w.line(format!("struct carrick_run {}[{}];", safe(&field.name), runs + 1));
        }
        self.w.line(format!("{ty} *next__; /* while it is free */"));
        self.w.end_type();
    }

    /// The fields in the struct of an instance, without gaps between them: by their alignment.
    pub(crate) fn fields_inside(&mut self, ctx: &ContextDef) {
        let mut fields: Vec<&FieldDef> = ctx.fields.iter().collect();
        fields.sort_by_key(|field| Reverse(self.alignment(&field.ty)));
        for field in fields {
            if self.runs_beside(ctx, field).is_some() {
                self.declared_field(&format!("struct carrick_wnd_one {}", safe(&field.name)), field);
            } else if !self.is_list_beside(ctx, field) {
                self.fields([field]);
            }
        }
    }

    /// In the struct of an instance.
    pub(crate) fn beside_member(&mut self, ctx: &ContextDef) {
        if self.has_beside(ctx) {
            self.w.line(format!("{} *beside__;", self.beside_type(ctx)));
        }
    }

    /// In the core.
    pub(crate) fn beside_members(&mut self, ctx: &ContextDef) {
        if self.has_beside(ctx) {
            let (ty, name) = (self.beside_type(ctx), &ctx.name);
            self.w.line(format!(
                "{ty} *{name}__beside, *{name}__beside_free; /* the first is of all that have none */"
            ));
            self.w.line(format!("uint32_t {name}__beside_fresh;"));
        }
    }

    /// In the layout function.
    pub(crate) fn beside_layout(&mut self, ctx: &ContextDef) {
        if self.has_beside(ctx) {
            let (ty, name) = (self.beside_type(ctx), &ctx.name);
            self.w.line(format!(
                "core->{name}__beside = ({ty} *)(void *)carrick_place(base, &at, ({name}_capacity + 1) * sizeof({ty}));"
            ));
        }
    }

    /// Where an instance begins: it has nothing beside it.
    pub(crate) fn beside_begins(&mut self, ctx: &ContextDef) {
        if self.has_beside(ctx) {
            self.w.line(format!("c->beside__ = core->{}__beside;", ctx.name));
        }
    }

    /// Finds the runs of windows.
    pub(crate) fn runs_functions(&mut self, ctx: &ContextDef) {
        let (ty, core) = (self.names.declared(&ctx.name), self.core_param());
        let (own, name) = (self.names.own(&ctx.name), &ctx.name);
        for (field, _) in self.windows_beside(ctx) {
            let field = &field.name;
            self.w.line(format!("/* The runs of its window `{field}`. */"));
            self.w.open(format!(
                "CARRICK_INLINE struct carrick_run *{own}_{field}_runs({core}, const struct {ty} *c) {{"
            ));
            let field = safe(field);
            self.w.line(format!("struct carrick_run *one = (struct carrick_run *)&c->{field}.one;"));
            self.w.end_with(format!(
                "return c->beside__ == core->{name}__beside ? one : c->beside__->{field};"
            ));
        }
    }

    /// Takes the memory and gives it back.
    pub(crate) fn beside_functions(&mut self, ctx: &ContextDef) {
        if !self.has_beside(ctx) {
            return;
        }
        let (ty, beside, name, core) =
            (self.names.declared(&ctx.name), self.beside_type(ctx), &ctx.name, self.core_param());
        let own = self.names.own(name);
        let windows = self.windows_beside(ctx);
        self.w.line("/* A list of it gets an element, or a window perhaps a second run. */");
        self.w.open(format!("CARRICK_INLINE void {own}_take_beside({core}, struct {ty} *c) {{"));
        self.w.line(format!("if (c->beside__ != core->{name}__beside)\n    return;"));
        self.w.line(format!("{beside} *free = core->{name}__beside_free;"));
        self.w.line(format!("if (free)\n    core->{name}__beside_free = free->next__;"));
        self.w.line(format!(
            "c->beside__ = free ? free : &core->{name}__beside[++core->{name}__beside_fresh];"
        ));
        for (field, _) in &windows {
            let field = safe(&field.name);
            self.w.line(format!("c->beside__->{field}[0] = c->{field}.one;"));
        }
        self.w.end();
        self.w.line("/* Gives back what holds no element and no second run. */");
        self.w.open(format!("CARRICK_INLINE void {own}_leave_beside({core}, struct {ty} *c) {{"));
        self.w.line(format!("{beside} *beside = c->beside__;"));
        let used = self.holds(ctx, "beside->", "c->");
        self.w.line(format!("if (beside == core->{name}__beside || {used})\n    return;"));
        for (field, _) in &windows {
            let field = safe(&field.name);
            self.w.line(format!("c->{field}.one = beside->{field}[0];"));
        }
        self.w.line(format!("beside->next__ = core->{name}__beside_free;"));
        self.w.line(format!("core->{name}__beside_free = beside;"));
        self.w.end_with(format!("c->beside__ = core->{name}__beside;"));
    }

    /// C for whether there is an element in a list, or a second run in a window: lists are `beside`, windows in `c`.
    fn holds(&self, ctx: &ContextDef, beside: &str, c: &str) -> String {
        let lists = self.lists_beside(ctx).into_iter().map(|f| format!("{beside}{}.len", safe(&f.name)));
        let windows =
            self.windows_beside(ctx).into_iter().map(|(f, _)| format!("{c}{}.wnd.count > 1", safe(&f.name)));
        lists.chain(windows).collect::<Vec<_>>().join(" || ")
    }

    /// In the function that makes an instance of `values`: what lies beside them.
    pub(crate) fn copy_beside(&mut self, ctx: &ContextDef) {
        if !self.has_beside(ctx) || !self.p.functions.iter().any(|f| self.makes_beside(f, ctx)) {
            return;
        }
        let used = self.holds(ctx, "values->beside__->", "values->");
        self.w.open(format!("if ({used}) {{"));
        self.w.line(format!("{}_take_beside(core, c);", self.names.own(&ctx.name)));
        self.w.line("*c->beside__ = *values->beside__;");
        let windows = self.windows_beside(ctx);
        if !windows.is_empty() {
            self.w.close("} else {");
            self.w.open_again();
        }
        for (field, _) in windows {
            self.w.line(format!("c->{}.one = *{};", safe(&field.name), self.runs_at(ctx, field, "values")));
        }
        self.w.close("}");
    }

    /// At the end of an instance: its lists and windows are empty.
    pub(crate) fn clear_beside(&mut self, ctx: &ContextDef) {
        for field in self.lists_beside(ctx) {
            self.w.line(format!("c->beside__->{}.len = 0;", safe(&field.name)));
        }
        for (field, _) in self.windows_beside(ctx) {
            self.w.line(format!("c->{}.wnd.count = 0;", safe(&field.name)));
        }
        if self.has_beside(ctx) {
            self.w.line(format!("{}_leave_beside(core, c);", self.names.own(&ctx.name)));
        }
    }

    /// At the end of a chain on the instance at `at`, if that is there.
    pub(crate) fn chain_leaves_beside(&mut self, ctx: &ContextDef, at: &str, there: &str) {
        if self.has_beside(ctx) {
            self.w.line(format!("{there}\n    {}_leave_beside(core, {at});", self.names.own(&ctx.name)));
        }
    }

    /// Whether a value of a function that is to become an instance may have something beside it.
    fn makes_beside(&self, function: &carrick_ir::Function, ctx: &ContextDef) -> bool {
        (function.params..function.locals.len() as u32).any(|local| {
            self.beside_context(&function.locals[local as usize].ty).is_some_and(|of| of.name == ctx.name)
                && has_own_beside(function, LocalId(local))
        })
    }

    fn beside_context(&self, ty: &Ty) -> Option<&'p ContextDef> {
        let Ty::Context(id) = ty else { return None };
        Some(&self.p.contexts[id.index()]).filter(|ctx| self.has_beside(ctx))
    }

    /// Behind the declaration of a local that is to become an instance: nothing beside it, or memory of its own if it needs
    /// any. `copied`: its value was that of another.
    pub(crate) fn own_beside(&mut self, stmt: &Stmt, local: LocalId, copied: bool) {
        let Some(ctx) = self.beside_context(self.local_type(local)) else { return };
        let (name, ty) = (self.local(local), self.beside_type(ctx));
        if !copied {
            self.line(stmt, format!("{name}.beside__ = core->{}__beside;", ctx.name));
        }
        if self.function.is_some_and(|f| has_own_beside(f, local)) {
            self.line(stmt, format!("{ty} {name}__beside = *{name}.beside__;"));
            self.line(stmt, format!("{name}.beside__ = &{name}__beside;"));
        }
    }

    /// Before a list gets an element or is set, or a window gets a run that may be its second: its instance has memory for it.
    pub(crate) fn take_beside(&mut self, stmt: &Stmt, place: &Place) {
        let Some((ctx, field)) = self.field_of_context(place) else { return };
        let second = if self.runs_beside(ctx, field).is_some() {
            format!("if ({}.wnd.count)\n    ", self.place(place).text)
        } else if self.is_list_beside(ctx, field) {
            String::new()
        } else {
            return;
        };
        let (own, at) = (self.names.own(&ctx.name), self.address(place.root));
        self.line(stmt, format!("{second}{own}_take_beside(core, {at});"));
    }
}

/// Whether a local may have something beside it: the function puts it there, or copies another value.
fn has_own_beside(function: &carrick_ir::Function, local: LocalId) -> bool {
    let mut found = false;
    walk::statements(&function.body, &mut |stmt| match &stmt.kind {
        StmtKind::Let { local: of, init: Some(_) } => found |= *of == local,
        StmtKind::Change {
            what: Change::ListAdd | Change::ListInsert | Change::WndSet | Change::WndUnset,
            on,
            ..
        } => found |= on.root == local,
        StmtKind::Assign { place, .. } => found |= place.root == local && matches!(place.ty, Ty::List(..)),
        _ => {}
    });
    found
}
