// SPDX-License-Identifier: MIT OR Apache-2.0
//! What both versions begin with: the same values, by the names of their parts.

use carrick_ir::{CtxId, EventId, FuncId, Program, ScratchId, Ty, print};
use carrick_solve::Term;
use rustc_hash::FxHashSet;

use super::names::Names;
use super::pairs::Pair;
use crate::layout::{self, parts_of};
use crate::machine::Machine;
use crate::sites;
use crate::unit::{invariants, same_id};
use crate::value::{OpenList, Value};

/// Values by their types: what the functions of a side are given.
pub(super) type Given = Vec<(Ty, Value)>;

/// Both versions, and the machine that runs them.
pub(super) struct Twice<'p, 'a> {
    pub machine: Machine<'p>,
    pub old: &'p Program,
    pub new: &'p Program,
    pub names: &'a Names,
    pub pair: &'a Pair,
    /// the parameters of each side
    pub params: [Vec<Term>; 2],
    /// the events of the chain in each
    pub events: [Vec<EventId>; 2],
    /// why the values of one version cannot be those of the other
    pub unfit: Option<String>,
    pub given: [Given; 2],
}

/// The functions that these run, with the claims of their contexts.
pub(super) fn reached(program: &Program, funcs: &[FuncId]) -> FxHashSet<FuncId> {
    let contexts = types(program, funcs)
        .into_iter()
        .filter_map(|ty| if let Ty::Context(ctx) = ty { Some(ctx) } else { None });
    let claims: Vec<FuncId> = contexts.flat_map(|ctx| invariants(program, ctx)).collect();
    sites::reached(program, funcs.iter().copied().chain(claims))
}

/// What functions are given, each type once.
fn types(program: &Program, funcs: &[FuncId]) -> Vec<Ty> {
    let mut found: Vec<Ty> = Vec::new();
    for func in funcs {
        let def = &program.functions[func.index()];
        for param in &def.locals[..def.params as usize] {
            if !found.contains(&param.ty) {
                found.push(param.ty.clone());
            }
        }
    }
    found
}

/// The context, scratchpad or event of such a name.
fn named(program: &Program, like: &Ty, is: &dyn Fn(&str) -> bool) -> Option<Ty> {
    Some(match like {
        Ty::Context(_) => Ty::Context(CtxId(program.contexts.iter().position(|def| is(&def.name))? as u32)),
        Ty::Scratch(_) => {
            Ty::Scratch(ScratchId(program.scratchpads.iter().position(|def| is(&def.name))? as u32))
        }
        Ty::Event(_) => Ty::Event(EventId(program.events.iter().position(|def| is(&def.name))? as u32)),
        _ => return None,
    })
}

fn add(types: &mut Vec<Ty>, ty: Option<Ty>) {
    types.extend(ty.filter(|ty| !types.contains(ty)).into_iter().collect::<Vec<_>>());
}

/// How a message calls what has no name of its own.
fn label(program: &Program, funcs: &[FuncId], ty: &Ty) -> String {
    let params = funcs.iter().flat_map(|func| {
        let def = &program.functions[func.index()];
        &def.locals[..def.params as usize]
    });
    params
        .into_iter()
        .find(|param| param.ty == *ty)
        .map_or_else(|| print::type_name(program, ty), |param| param.name.clone())
}

/// Whether what holds several elements holds as many in both versions, in the same order.
fn has_same_length(old: &Ty, new: &Ty) -> bool {
    match (old, new) {
        (Ty::Array(_, n), Ty::Array(_, other)) => n == other,
        (Ty::List(_, n, order), Ty::List(_, other, other_order)) => (n, order) == (other, other_order),
        (Ty::Wnd { .. }, Ty::Wnd { .. }) => old == new,
        _ => {
            std::mem::discriminant(old) == std::mem::discriminant(new) || (old.is_scalar() && new.is_scalar())
        }
    }
}

impl<'p> Twice<'p, '_> {
    pub(super) fn program(&self, side: usize) -> &'p Program {
        if side == 0 { self.old } else { self.new }
    }

    pub(super) fn funcs(&self, side: usize) -> &[FuncId] {
        if side == 0 { &self.pair.old } else { &self.pair.new }
    }

    /// Goes on with one of the two programs.
    pub(super) fn turn_to(&mut self, side: usize) {
        self.machine.program = self.program(side);
        self.machine.params.clone_from(&self.params[side]);
        self.machine.fired.clone_from(&self.events[side]);
        self.machine.names = (side == 0).then(|| self.names.all());
    }

    /// Any values for the old version, and the same ones for the new version. What only one of them is given, both have.
    pub(super) fn begin(&mut self) {
        let (old, new) = (self.old, self.new);
        let mut types = [types(old, &self.pair.old), types(new, &self.pair.new)];
        for ty in types[1].clone() {
            let name = print::type_name(new, &ty);
            add(&mut types[0], named(old, &ty, &|old| self.names.new_name(old) == name));
        }
        for ty in types[0].clone() {
            let name = print::type_name(old, &ty);
            add(&mut types[1], named(new, &ty, &|new| self.names.new_name(&name) == new));
        }
        for ty in types[0].clone() {
            let value = self.begins_with(0, &ty);
            self.given[0].push((ty, value));
        }
        self.close_unused();
        if self.pair.same_id {
            same_id(old, self.given[0].iter_mut().map(|(ty, value)| (&*ty, value)).collect());
        }
        self.machine.program = new;
        self.begin_params();
        for ty in types[1].clone() {
            let name = print::type_name(new, &ty);
            let of = self.given[0].iter().find(|(old_ty, _)| {
                std::mem::discriminant(old_ty) == std::mem::discriminant(&ty)
                    && self.names.translate(&print::type_name(old, old_ty)) == name
            });
            let value = match of.cloned() {
                Some((old, value)) if !self.is_new(&ty) => {
                    self.adapt(&old, &ty, &value, &label(new, &self.pair.new, &ty))
                }
                _ => self.begins_with(1, &ty),
            };
            self.given[1].push((ty, value));
        }
    }

    /// Whether a chain begins with a new one.
    fn is_new(&self, ty: &Ty) -> bool {
        matches!(ty, Ty::Scratch(_)) && self.pair.first
    }

    fn begins_with(&mut self, side: usize, ty: &Ty) -> Value {
        self.turn_to(side);
        let name = label(self.program(side), self.funcs(side), ty);
        if let Ty::Scratch(of) = ty
            && self.is_new(ty)
            && let Ok(value) = self.machine.initial_scratch(*of)
        {
            return value;
        }
        self.machine.any(ty, &name)
    }

    /// The new version's parameters: those of the old version, where it has them.
    fn begin_params(&mut self) {
        for param in &self.new.params {
            let (width, signed) = layout::shape(self.new, &param.ty);
            let old = self.old.params.iter().position(|old| self.names.new_name(&old.name) == param.name);
            let term = match old.map(|at| self.params[0][at]) {
                Some(term) => self.machine.path.terms.resize(term, width, signed),
                None if param.lo == param.hi => self.machine.number(param.lo.into(), width),
                None => self.machine.variable(param.name.clone(), &param.ty),
            };
            let within = self.machine.within(term, param.lo, param.hi, signed);
            self.machine.given.push(within);
            self.params[1].push(term);
        }
    }

    /// What neither version reads or changes may be of any length: it makes no path of its own.
    fn close_unused(&mut self) {
        let used = [(self.old, &self.pair.old), (self.new, &self.pair.new)]
            .map(|(program, funcs)| sites::fields(program, &reached(program, funcs)));
        let (old, new) = (self.old, self.new);
        for (ty, value) in &mut self.given[0] {
            let Value::Record(values) = value else { continue };
            let name = self.names.translate(&print::type_name(old, ty));
            let other = types(new, &self.pair.new).into_iter().find(|ty| print::type_name(new, ty) == name);
            let is_used = |side: usize, ty: &Ty, at: usize| {
                used[side].contains(&(ty.clone(), sites::WHOLE))
                    || used[side].contains(&(ty.clone(), at as u32))
            };
            for (at, (part, _)) in parts_of(old, ty).iter().enumerate() {
                let there = other.as_ref().and_then(|other| {
                    let parts = parts_of(new, other);
                    let at = parts.iter().position(|(name, _)| name == self.names.new_name(part))?;
                    Some(is_used(1, other, at))
                });
                if !is_used(0, ty, at) && !there.unwrap_or(false) {
                    values[at].close();
                }
            }
        }
    }

    /// A value of the old version as one of the new version: its parts by name, and any values of what it lacks.
    fn adapt(&mut self, old: &Ty, new: &Ty, value: &Value, name: &str) -> Value {
        if !has_same_length(old, new) {
            self.unfit.get_or_insert_with(|| {
                format!("`{name}` has another form than before, which is not compared")
            });
        }
        if let (Value::Array(_), Ty::Array(of, _), Ty::Array(other, _)) = (value, old, new)
            && layout::shape(self.old, of) != layout::shape(self.new, other)
        {
            let why = || format!("`{name}` has other elements than before, which is not compared");
            self.unfit.get_or_insert_with(why);
        }
        let (old_parts, new_parts) = (parts_of(self.old, old), parts_of(self.new, new));
        match (value, old, new) {
            (Value::Record(values), ..) if !new_parts.is_empty() && values.len() == old_parts.len() => {
                let parts = new_parts.iter().map(|(part, ty)| {
                    let at = old_parts.iter().position(|(old, _)| self.names.new_name(old) == part);
                    match at {
                        Some(at) => self.adapt(&old_parts[at].1, ty, &values[at], &format!("{name}.{part}")),
                        None => self.machine.any(ty, &format!("{name}.{part}")),
                    }
                });
                Value::Record(parts.collect())
            }
            (Value::Record(values), Ty::Array(old, _), Ty::Array(new, _)) => {
                Value::Record(values.iter().map(|value| self.adapt(old, new, value, name)).collect())
            }
            (Value::OpenList(open), Ty::List(old, ..), Ty::List(new, ..)) => {
                let elements = open.elements.iter().map(|value| self.adapt(old, new, value, name)).collect();
                Value::OpenList(Box::new(OpenList { elements, ..(**open).clone() }))
            }
            (Value::Scalar(term), ..) => {
                let (width, _) = layout::shape(self.new, new);
                let signed = layout::shape(self.old, old).1;
                Value::Scalar(self.machine.path.terms.resize(*term, width, signed))
            }
            _ => value.clone(),
        }
    }
}
