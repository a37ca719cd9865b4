// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where each name is used, and the local names.

use carrick_syntax::Span;
use carrick_syntax::ast::*;
use rustc_hash::FxHashMap;

use super::declare::{all_items, local, symbol};
use super::symbols::{Index, Kind, Reference, Shape, Symbol, SymbolId};

/// What a checksum covers: not the fields that may have these names.
const PARTS: [&str; 4] = ["pseudo", "net", "header", "payload"];

pub(super) fn resolve(index: &mut Index, tree: &File) {
    let (function, points) = (None, FxHashMap::default());
    let mut resolver = Resolver { index, tree, scopes: Vec::new(), returned: Shape::Plain, function, points };
    // An extension has the variables of a point.
    let extends = |item: &&Item| matches!(item.kind, ItemKind::Extension { .. });
    let (extensions, others): (Vec<&Item>, Vec<&Item>) = all_items(tree).partition(extends);
    for item in others.into_iter().chain(extensions) {
        resolver.item(item);
        resolver.scopes.clear();
    }
}

/// What a name means that is not declared at the top of the file.
#[derive(Clone)]
enum Local {
    Symbol(SymbolId),
    /// `bp` and `prev` in a rule
    Implicit(Shape),
}

struct Resolver<'a> {
    index: &'a mut Index,
    tree: &'a File,
    /// the innermost last
    scopes: Vec<Vec<(String, Local)>>,
    /// what the function returns
    returned: Shape,
    /// the function that is being read
    function: Option<SymbolId>,
    /// the variables that each point passes
    points: FxHashMap<SymbolId, Vec<(String, Local)>>,
}

impl Resolver<'_> {
    fn refer(&mut self, span: Span, symbol: SymbolId) {
        self.index.references.push(Reference { span, symbol });
    }

    fn global(&mut self, name: &Ident) -> Option<SymbolId> {
        let symbol = self.index.global(&name.name)?;
        self.refer(name.span, symbol);
        Some(symbol)
    }

    fn globals(&mut self, names: &[Ident]) {
        for name in names {
            self.global(name);
        }
    }

    fn member(&mut self, of: SymbolId, name: &Ident) {
        if let Some(member) = self.index.member(of, &name.name) {
            self.refer(name.span, member);
        }
    }

    /// The parts of a symbol become names of their own.
    fn open_members(&mut self, of: SymbolId) {
        let members = self.index.members(of);
        let names = members.iter().map(|m| (self.index.symbols[*m].name.clone(), Local::Symbol(*m)));
        self.scopes.push(names.collect());
    }

    fn bind(&mut self, name: &Ident, kind: Kind, ty: Option<&Type>, is_array: bool, until: u32) {
        let scope = Span::new(name.span.end, until.max(name.span.end));
        let symbol = Symbol { is_array, ..local(name, kind, ty, scope) };
        let id = self.index.add(symbol);
        if let Some(scope) = self.scopes.last_mut() {
            scope.push((name.name.clone(), Local::Symbol(id)));
        }
    }

    fn item(&mut self, item: &Item) {
        match &item.kind {
            ItemKind::Const { ty, value, .. } => {
                self.ty(ty);
                self.expr(value);
            }
            ItemKind::ConstArray { ty, len, values, .. } => {
                self.ty(ty);
                self.exprs([len].into_iter().chain(values));
            }
            ItemKind::Param { ty, value, lo, hi, .. } => {
                self.ty(ty);
                self.exprs([value, lo, hi]);
            }
            ItemKind::Require { cond } => self.exprs([cond]),
            ItemKind::Enum { repr, variants, .. } => {
                self.ty(repr);
                self.exprs(variants.iter().filter_map(|v| v.value.as_ref()));
            }
            ItemKind::Id { parts, .. } => parts.iter().for_each(|p| self.ty(&p.ty)),
            ItemKind::OptUnion { members, .. } | ItemKind::FrameUnion { members, .. } => {
                self.globals(members)
            }
            ItemKind::SegRule { params, blueprint, field, first, mid, last, .. } => {
                self.rule(blueprint, std::slice::from_ref(field));
                for param in params {
                    self.bind(param, Kind::Parameter, None, false, item.span.end);
                }
                self.exprs([first, mid].into_iter().chain(last));
            }
            ItemKind::CoalescingRule { blueprint, when, takes, .. } => {
                self.rule(blueprint, takes);
                self.expr(when);
            }
            ItemKind::Function { ret, params, body, name } => {
                self.function = self.index.global(&name.name);
                self.ty(ret);
                self.returned = self.index.of_type(ret, false);
                self.scopes.push(Vec::new());
                for param in params {
                    self.ty(&param.ty);
                    self.bind(&param.name, Kind::Parameter, Some(&param.ty), false, item.span.end);
                }
                self.block(body);
            }
            ItemKind::Machine { context, states, anywhere, .. } => {
                self.function = None;
                self.ty(&context.ty);
                self.scopes.push(Vec::new());
                self.bind(&context.name, Kind::Parameter, Some(&context.ty), false, item.span.end);
                let own = states.iter().flat_map(|s| &s.reactions);
                own.chain(anywhere).for_each(|r| self.reaction(r));
            }
            ItemKind::Extension { function, point, body } => self.extension(function, point, body),
            ItemKind::Dispatch { arms, .. } => arms.iter().for_each(|a| self.arm(a)),
            ItemKind::Interface { calls, .. } => calls.iter().for_each(|c| self.interface_call(c)),
            ItemKind::Deploy { calls } => self.exprs(calls),
            ItemKind::Layout { blueprint, entries } => self.layout(blueprint, entries),
            ItemKind::Feature(feature) => {
                if let option @ Some(_) = &feature.of_option {
                    self.feature(&FeatureUse { feature: feature.name.clone(), option: option.clone() });
                }
                feature.requires.iter().chain(&feature.excludes).for_each(|used| self.feature(used));
            }
            other => self.record(other),
        }
    }

    fn extension(&mut self, function: &Ident, point: &Ident, body: &Block) {
        let Some(of) = self.global(function) else { return };
        self.index.accesses.insert(point.span, Shape::Of(of));
        let there = self.index.member(of, &point.name).filter(|m| self.index.symbols[*m].kind == Kind::Point);
        if let Some(there) = there {
            self.refer(point.span, there);
            let passed = self.points.get(&there).cloned().unwrap_or_default();
            let symbols = passed.iter().filter_map(|(_, local)| match local {
                Local::Symbol(symbol) => Some(*symbol),
                Local::Implicit(_) => None,
            });
            self.index.passed.push((body.span, symbols.collect()));
            self.scopes.push(passed);
        }
        self.block(body);
    }

    /// `point name(passed);`
    fn point(&mut self, name: &Ident, passed: &[Ident], whole: Span) {
        let mut seen = Vec::new();
        for variable in passed {
            self.name(&variable.name, variable.span);
            let local =
                self.scopes.iter().rev().find_map(|s| s.iter().rev().find(|(n, _)| *n == variable.name));
            seen.extend(local.cloned());
        }
        if self.function.is_some() {
            let point = Symbol { owner: self.function, ..symbol(name, Kind::Point, whole) };
            let point = self.index.add(point);
            self.points.insert(point, seen);
        }
    }

    fn feature(&mut self, used: &FeatureUse) {
        let Some(feature) = self.index.feature(&used.feature.name) else { return };
        self.refer(used.feature.span, feature);
        used.option.iter().for_each(|option| self.member(feature, option));
    }

    /// `feature(f)`, `feature(f, option)`
    fn feature_test(&mut self, args: &[Expr]) -> Shape {
        let mut names = args.iter().filter_map(|a| match &a.kind {
            ExprKind::Name(name) => Some(Ident { name: name.clone(), span: a.span }),
            _ => None,
        });
        if let Some(feature) = names.next() {
            self.feature(&FeatureUse { feature, option: names.next() });
        }
        Shape::Plain
    }

    fn layout(&mut self, blueprint: &Ident, entries: &[LayoutEntry]) {
        let Some(blueprint) = self.global(blueprint) else { return };
        for entry in entries {
            match entry {
                LayoutEntry::Group { fields, .. } => fields.iter().for_each(|f| self.member(blueprint, f)),
                LayoutEntry::Range { field, lo, hi } => {
                    self.member(blueprint, field);
                    self.exprs([lo, hi]);
                }
                LayoutEntry::Align { field, bits } => {
                    self.member(blueprint, field);
                    self.expr(bits);
                }
            }
        }
    }

    fn rule(&mut self, blueprint: &Ident, fields: &[Ident]) {
        let shape = self.global(blueprint).map_or(Shape::Plain, Shape::Of);
        if let Shape::Of(blueprint) = shape {
            fields.iter().for_each(|f| self.member(blueprint, f));
        }
        let implicit = ["bp", "prev"].map(|name| (name.to_owned(), Local::Implicit(shape.clone())));
        self.scopes.push(implicit.into());
    }

    fn reaction(&mut self, reaction: &Reaction) {
        self.global(&reaction.event);
        self.scopes.push(Vec::new());
        let until = reaction.body.span.end;
        if let Some(name) = &reaction.name {
            let ty = Type { kind: TypeKind::Name(reaction.event.name.clone()), span: reaction.event.span };
            self.bind(name, Kind::Parameter, Some(&ty), false, until);
        }
        for param in &reaction.with {
            self.ty(&param.ty);
            self.bind(&param.name, Kind::Parameter, Some(&param.ty), false, until);
        }
        self.exprs(&reaction.cond);
        self.block(&reaction.body);
        self.scopes.pop();
    }

    fn arm(&mut self, arm: &Arm) {
        self.global(&arm.event);
        if let Some(fallback) = &arm.fallback {
            if let Some(id) = self.global(&fallback.id) {
                self.open_members(id);
            }
            self.exprs(&fallback.args);
            self.scopes.clear();
        }
        for step in arm.chain.iter().chain(arm.absent.iter().flatten()) {
            self.global(&step.name);
            if let Some(place) = &step.place {
                self.global(&place.of);
            }
        }
    }

    fn interface_call(&mut self, call: &InterfaceCall) {
        let event = self.global(&call.event);
        match &call.target {
            CallTarget::At { id, args } => {
                self.global(id);
                if let Some(event) = event {
                    self.open_members(event);
                }
                self.exprs(args);
                self.scopes.clear();
            }
            CallTarget::On { context } => {
                self.global(context);
            }
            CallTarget::None => {}
        }
    }

    /// What is made of fields: their types, their sizes, their initialisers.
    fn record(&mut self, item: &ItemKind) {
        match item {
            ItemKind::Blueprint { name, over, .. } => {
                let header = over.as_ref().and_then(|o| self.global(o)).map_or(Shape::Plain, Shape::Of);
                self.scopes.push(vec![("net".to_owned(), Local::Implicit(header))]);
                self.index.global(&name.name).into_iter().for_each(|it| self.open_members(it));
            }
            ItemKind::OptList { name, .. } => {
                self.blueprint_with(&name.name).into_iter().for_each(|it| self.open_members(it));
            }
            ItemKind::Context { by, timers, .. } => {
                self.globals(by.as_slice());
                for timer in timers {
                    self.global(&timer.event);
                    self.exprs(&timer.array);
                }
            }
            _ => {}
        }
        for field in item.fields() {
            self.ty(&field.ty);
            self.exprs([&field.array, &field.bits, &field.align, &field.init].into_iter().flatten());
            self.exprs(field.range.iter().flat_map(|(lo, hi)| [lo, hi]));
            for group in &field.presence {
                self.expr(&group.cond);
                self.exprs(&group.arm);
            }
        }
    }

    /// The blueprint that has this list of options: the list's length is over its fields.
    fn blueprint_with(&self, options: &str) -> Option<SymbolId> {
        let has = |f: &Field| matches!(&f.ty.kind, TypeKind::Name(n) if n == options);
        all_items(self.tree).find_map(|item| match &item.kind {
            ItemKind::Blueprint { name, fields, .. } if fields.iter().any(has) => {
                self.index.global(&name.name)
            }
            _ => None,
        })
    }

    fn ty(&mut self, ty: &Type) {
        match &ty.kind {
            TypeKind::Name(name) => {
                let span = Span::new(ty.span.start, ty.span.start + name.len() as u32);
                self.global(&Ident { name: name.clone(), span });
            }
            TypeKind::List(element, bound) => {
                self.ty(element);
                self.exprs(bound.as_deref());
            }
            TypeKind::SortedList(element, bound, key) => {
                self.ty(element);
                self.exprs(bound.as_deref());
                if let (Some(key), Shape::Of(of)) = (key, self.index.of_type(element, false)) {
                    self.member(of, key);
                }
            }
            TypeKind::SlidingWnd(size, runs) => self.exprs([size, runs].into_iter().flatten().map(|e| &**e)),
        }
    }

    fn block(&mut self, block: &Block) {
        self.scopes.push(Vec::new());
        for stmt in &block.stmts {
            self.stmt(stmt, block.span.end);
        }
        self.scopes.pop();
    }

    /// `until` is the end of the block that the statement is in.
    fn stmt(&mut self, stmt: &Stmt, until: u32) {
        match &stmt.kind {
            StmtKind::Let { ty, name, array, init } => {
                self.ty(ty);
                self.exprs(array);
                match init {
                    LetInit::None => {}
                    LetInit::Value(value) => {
                        let shape = self.index.of_type(ty, array.is_some());
                        self.value(value, &shape);
                    }
                    LetInit::Args(args) => self.exprs(args),
                }
                self.bind(name, Kind::Variable, Some(ty), array.is_some(), until);
            }
            StmtKind::Assign { place, value, .. } => {
                let shape = self.expr(place);
                self.value(value, &shape);
            }
            StmtKind::Expr(e) => drop(self.expr(e)),
            StmtKind::Raise { event, at, record } => {
                self.expr(event);
                self.exprs(at);
                let made =
                    if let ExprKind::Name(name) = &event.kind { self.index.global(name) } else { None };
                let shape = made.map_or(Shape::Plain, Shape::Of);
                if let Some(record) = record {
                    self.value(record, &shape);
                }
            }
            StmtKind::If { cond, then, otherwise } => {
                self.expr(cond);
                self.block(then);
                otherwise.iter().for_each(|o| self.stmt(o, until));
            }
            StmtKind::Block(block) => self.block(block),
            StmtKind::For { ty, var, over, body } => {
                self.ty(ty);
                self.exprs(over.exprs());
                self.turn(ty, var, body);
            }
            StmtKind::While { cond, max, body } => {
                self.exprs([cond, max]);
                self.block(body);
            }
            StmtKind::Retain { list, word, var, keep } => {
                let shape = self.expr(list);
                self.index.accesses.insert(*word, shape);
                self.retained(list, var, keep, stmt.span.end);
            }
            StmtKind::Choose { value, branches } => {
                self.expr(value);
                for branch in branches {
                    self.exprs(branch.exprs());
                    self.block(&branch.body);
                }
            }
            StmtKind::Return(value) => {
                let shape = self.returned.clone();
                if let Some(value) = value {
                    self.value(value, &shape);
                }
            }
            StmtKind::Goto(state) => drop(self.global(state)),
            StmtKind::Point { name, passed } => self.point(name, passed, stmt.span),
            StmtKind::Break | StmtKind::Continue | StmtKind::Stop | StmtKind::Error => {}
        }
    }

    /// The condition of `retain`, in which the element has a name.
    fn retained(&mut self, list: &Expr, var: &Ident, keep: &Expr, until: u32) {
        let element = self.element_type(list);
        self.scopes.push(Vec::new());
        self.bind(var, Kind::Variable, element.as_ref(), false, until);
        self.expr(keep);
        self.scopes.pop();
    }

    /// The type of the elements of a list that was just referred to.
    fn element_type(&self, list: &Expr) -> Option<Type> {
        let named = match &list.kind {
            ExprKind::Field(_, field) => field.span,
            _ => list.span,
        };
        let reference = self.index.references.iter().rev().find(|r| r.span == named)?;
        match &self.index.symbols[reference.symbol].ty.as_ref()?.kind {
            TypeKind::List(element, _) | TypeKind::SortedList(element, ..) => Some((**element).clone()),
            _ => None,
        }
    }

    /// The body of a loop, with its variable.
    fn turn(&mut self, ty: &Type, var: &Ident, body: &Block) {
        self.scopes.push(Vec::new());
        self.bind(var, Kind::Variable, Some(ty), false, body.span.end);
        self.block(body);
        self.scopes.pop();
    }

    fn exprs<'e>(&mut self, exprs: impl IntoIterator<Item = &'e Expr>) {
        for e in exprs {
            self.expr(e);
        }
    }

    fn expr(&mut self, e: &Expr) -> Shape {
        match &e.kind {
            ExprKind::Name(name) => self.name(name, e.span),
            ExprKind::Field(base, field) => self.field(base, field),
            ExprKind::Index(base, index) => {
                let base = self.expr(base);
                let index = self.expr(index);
                match base.value() {
                    Shape::Array(of) | Shape::List(of) | Shape::SortedList(of) => (**of).clone(),
                    Shape::Options => index, // an option chosen by its name
                    _ => Shape::Plain,
                }
            }
            ExprKind::Call(callee, args) if is_name(callee, &["feature"]) => self.feature_test(args),
            ExprKind::Call(callee, args) => {
                let shape = self.expr(callee);
                let parts = is_name(callee, &["internet", "crc32"]);
                let mut wanted = self.wanted(callee);
                for (at, arg) in args.iter().enumerate().filter(|(_, a)| !(parts && is_name(a, &PARTS))) {
                    let found = self.value(arg, wanted.get(at).unwrap_or(&Shape::Plain));
                    // What a timer is started with are the fields of its event.
                    if let Shape::Timer(Some(event)) = found {
                        wanted = vec![Shape::Plain, Shape::Plain, Shape::Of(event)];
                    }
                }
                shape
            }
            ExprKind::Record(_) => self.value(e, &Shape::Plain),
            ExprKind::Unary(_, e) => {
                self.expr(e);
                Shape::Plain
            }
            ExprKind::Binary(_, a, b) => {
                self.exprs([&**a, &**b]);
                Shape::Plain
            }
            ExprKind::Cond(cond, then, otherwise) => {
                self.expr(cond);
                let shape = self.expr(then);
                self.expr(otherwise);
                shape
            }
            ExprKind::Paren(e) => self.expr(e),
            ExprKind::Int { .. }
            | ExprKind::Unit { .. }
            | ExprKind::Bool(_)
            | ExprKind::None
            | ExprKind::Inf
            | ExprKind::Error => Shape::Plain,
        }
    }

    /// A value where one of this shape is wanted: so the fields of a record are known.
    fn value(&mut self, e: &Expr, wanted: &Shape) -> Shape {
        let ExprKind::Record(entries) = &e.kind else { return self.expr(e) };
        for entry in entries {
            match entry {
                Entry::Field { name, value } => {
                    let shape = self.member_shape(wanted.clone(), name);
                    self.value(value, &shape);
                }
                Entry::Spread(from) => {
                    let from = self.expr(from);
                    self.note_spread(wanted, &from);
                }
            }
        }
        Shape::Plain
    }

    /// The fields that a spread takes over are the same by their names.
    fn note_spread(&mut self, wanted: &Shape, from: &Shape) {
        let (Shape::Of(wanted), Shape::Of(from)) = (wanted.value(), from.value()) else { return };
        for field in self.index.members(*wanted).to_vec() {
            if let Some(other) = self.index.member(*from, &self.index.symbols[field].name) {
                self.index.spread.extend([field, other]);
            }
        }
    }

    /// What the arguments of a call are, as far as they may be records: those of a function, or the elements of a list.
    fn wanted(&self, callee: &Expr) -> Vec<Shape> {
        match &callee.kind {
            ExprKind::Name(called) => all_items(self.tree)
                .find_map(|item| match &item.kind {
                    ItemKind::Function { name, params, .. } if name.name == *called => {
                        Some(params.iter().map(|p| self.index.of_type(&p.ty, false)).collect())
                    }
                    _ => None,
                })
                .unwrap_or_default(),
            ExprKind::Field(_, method) => match self.index.in_front_of(method.span).map(Shape::value) {
                Some(Shape::List(of) | Shape::SortedList(of)) => vec![(**of).clone(); 2],
                _ => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    fn name(&mut self, name: &str, span: Span) -> Shape {
        let found = self.scopes.iter().rev().find_map(|s| s.iter().rev().find(|(n, _)| n == name));
        match found.map(|(_, local)| local.clone()) {
            Some(Local::Implicit(shape)) => shape,
            Some(Local::Symbol(symbol)) => {
                self.refer(span, symbol);
                self.index.shape(symbol)
            }
            None => {
                let symbol = self.global(&Ident { name: name.to_owned(), span });
                symbol.map_or(Shape::Plain, |s| self.index.shape(s))
            }
        }
    }

    fn field(&mut self, base: &Expr, field: &Ident) -> Shape {
        let base = self.expr(base);
        self.member_shape(base, field)
    }

    /// A member, which is referred to.
    fn member_shape(&mut self, base: Shape, field: &Ident) -> Shape {
        let shape = match self.index.member_of(&base, &field.name) {
            Some(member) => {
                self.refer(field.span, member);
                self.index.shape(member)
            }
            None => self.index.built_in_shape(&base, &field.name),
        };
        self.index.accesses.insert(field.span, base);
        shape
    }
}

fn is_name(e: &Expr, names: &[&str]) -> bool {
    matches!(&e.kind, ExprKind::Name(name) if names.contains(&name.as_str()))
}
