// SPDX-License-Identifier: MIT OR Apache-2.0
//! Both versions on one path: the same values, one version after the other, and what came of each.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use carrick_ir::{CtxId, EventId, FuncId, Program, ScratchId, Ty, print};
use carrick_solve::{Answer, Model, Term, Values};
use rustc_hash::{FxHashMap, FxHashSet};

use super::names::Names;
use super::outcome::{self, Leaf, Outcome, Shown, Side};
use super::pairs::Pair;
use super::report::{Difference, Unlike, Verdict};
use crate::bounds::Bounds;
use crate::layout::{self, parts_of};
use crate::machine::{Frame, Machine};
use crate::path::End;
use crate::report::written;
use crate::site::Doing;
use crate::sites;
use crate::stmt::Flow;
use crate::unit::invariants;
use crate::value::{OpenList, Value};

/// So much of what differs is told.
const UNLIKE_MAX: usize = 12;

/// What came of it.
pub(super) struct Found {
    pub paths: u64,
    pub time: Duration,
    pub verdict: Verdict,
}

/// Values by their types: what the functions of a side are given.
type Given = Vec<(Ty, Value)>;

struct Twice<'p, 'a> {
    machine: Machine<'p>,
    old: &'p Program,
    new: &'p Program,
    names: &'a Names,
    pair: &'a Pair,
    /// the parameters of each side
    params: [Vec<Term>; 2],
    /// the events of the chain in each
    events: [Vec<EventId>; 2],
    /// why the values of one version cannot be those of the other
    unfit: Option<String>,
    given: [Given; 2],
}

/// Explores all paths of both, within the bounds.
pub(super) fn explore(
    old: &Program,
    new: &Program,
    names: &Names,
    bounds: &Bounds,
    pair: &Pair,
    cancelled: &Arc<AtomicBool>,
) -> Found {
    let begun = Instant::now();
    let mut machine = Machine::new(old, bounds, cancelled);
    machine.checks.wanted = Some(FxHashSet::default());
    machine.grows = [(old, &pair.old), (new, &pair.new)]
        .iter()
        .any(|(program, funcs)| sites::adds(program, &reached(program, funcs)));
    let params = [machine.params.clone(), Vec::new()];
    let all = |program: &Program, translated: bool| {
        let named = |at: &usize| {
            let name = &program.events[*at].name;
            pair.events.iter().any(|event| event == if translated { names.new_name(name) } else { name })
        };
        (0..program.events.len()).filter(named).map(|at| EventId(at as u32)).collect::<Vec<_>>()
    };
    let events = [all(old, true), all(new, false)];
    let mut twice = Twice {
        machine,
        old,
        new,
        names,
        pair,
        params,
        events,
        unfit: None,
        given: [Vec::new(), Vec::new()],
    };
    twice.begin();
    if let Some(why) = twice.unfit {
        return Found { paths: 0, time: begun.elapsed(), verdict: Verdict::Undecided(why) };
    }

    let (mut paths, mut open) = (0, None);
    let verdict = loop {
        match twice.path() {
            Ok(None) => paths += 1,
            Ok(Some(verdict @ Verdict::Differs(_))) => break verdict,
            Ok(Some(verdict)) => open = open.or(Some(verdict)),
            Err(End::Impossible) => {}
            Err(End::Stopped(why)) => break Verdict::Undecided(why),
            Err(End::Unsupported(what)) => {
                break Verdict::Undecided(format!("it uses {what}, which is not explored"));
            }
        }
        if !twice.machine.path.next() {
            let hard = twice.machine.path.undecided;
            let too_hard = || {
                (hard > 0)
                    .then(|| Verdict::Undecided(format!("{hard} conditions were too hard for the solver")))
            };
            let never = || {
                (paths == 0)
                    .then(|| Verdict::Undecided("no values satisfy the claims of the old version".to_owned()))
            };
            break open.or_else(too_hard).or_else(never).unwrap_or(Verdict::Same);
        }
        if paths >= bounds.paths {
            break Verdict::Undecided(format!("it has more than {} paths", bounds.paths));
        }
    };
    Found { paths, time: begun.elapsed(), verdict }
}

/// The functions that these run, with the claims of their contexts.
fn reached(program: &Program, funcs: &[FuncId]) -> FxHashSet<FuncId> {
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
    fn program(&self, side: usize) -> &'p Program {
        if side == 0 { self.old } else { self.new }
    }

    fn funcs(&self, side: usize) -> &[FuncId] {
        if side == 0 { &self.pair.old } else { &self.pair.new }
    }

    /// Goes on with one of the two programs.
    fn turn_to(&mut self, side: usize) {
        self.machine.program = self.program(side);
        self.machine.params.clone_from(&self.params[side]);
        self.machine.fired.clone_from(&self.events[side]);
    }

    /// Any values for the old version, and the same ones for the new version. What only one of them is given, both have.
    fn begin(&mut self) {
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
            self.same_id();
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

    /// The id of the event is that of its context.
    fn same_id(&mut self) {
        let program = self.old;
        let event = self.given[0].iter().find_map(|(ty, value)| match (ty, value) {
            (Ty::Event(event), Value::Record(parts)) => {
                let id = program.events[event.index()].id?;
                Some((id, parts[layout::flow_id(program, *event)].clone()))
            }
            _ => None,
        });
        let Some((id, event_id)) = event else { return };
        for (ty, value) in &mut self.given[0] {
            if let (Ty::Context(context), Value::Record(parts)) = (&*ty, value)
                && program.contexts[context.index()].id == id
            {
                parts[layout::id(program, *context)] = event_id.clone();
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

    /// One path of both; a verdict, if they are not the same on it.
    fn path(&mut self) -> Result<Option<Verdict>, End> {
        self.turn_to(0);
        self.machine.begin()?;
        self.turn_to(1);
        for requirement in &self.new.requirements {
            let cond = self.machine.scalar(&requirement.cond, &mut Frame::default())?;
            self.machine.path.assume(cond)?;
        }
        let sides = [self.side(0)?, self.side(1)?];
        self.machine.doing = Doing::Running;
        self.machine.checks.assumed = self.machine.path.conditions.len();
        let occasions = self.machine.fresh_used.clone();
        let old = self.run(&sides[0])?;
        self.machine.fresh_used = occasions;
        let new = self.run(&sides[1])?;
        let mut leaves = Vec::new();
        outcome::compare(&mut self.machine, self.names, self.pair.last, [&old, &new], &mut leaves)?;
        Ok(self.judge(&leaves))
    }

    /// What a side begins with. The claims of the old version hold of it.
    fn side(&mut self, side: usize) -> Result<Side<'p>, End> {
        self.turn_to(side);
        let mut objects = Vec::new();
        for (ty, value) in self.given[side].clone() {
            let mut value = value;
            self.machine.settle(&mut value)?;
            let object = self.machine.alloc(value);
            objects.push((ty, object));
        }
        // Those of the new version may not hold: nobody has proved them.
        let assumed = if side == 0 { &objects[..] } else { &[] };
        self.machine.doing = Doing::Assuming;
        for (ty, object) in assumed {
            let Ty::Context(context) = ty else { continue };
            let all: Vec<FuncId> = invariants(self.program(side), CtxId(context.0)).collect();
            for invariant in all {
                self.machine.call(invariant, vec![Value::Object(*object)])?;
            }
        }
        Ok(Side { program: self.program(side), objects, number: side })
    }

    /// Runs the functions of a side, until one stops.
    fn run(&mut self, side: &Side<'p>) -> Result<Outcome<'p>, End> {
        self.turn_to(side.number);
        self.machine.objects = side.objects.iter().map(|(_, object)| *object).collect();
        self.machine.effects = Some(Vec::new());
        self.machine.headers = (0, 0);
        let mut stopped = false;
        for func in self.funcs(side.number).to_vec() {
            let def = &side.program.functions[func.index()];
            let args = def.locals[..def.params as usize].iter().map(|param| {
                let object =
                    side.objects.iter().find(|(ty, _)| *ty == param.ty).map_or(0, |(_, object)| *object);
                if param.ty.is_by_ref() { Value::Object(object) } else { self.machine.heap[object].clone() }
            });
            let args = args.collect();
            if self.machine.call(func, args)? == Flow::Stop {
                stopped = true;
                break;
            }
        }
        Ok(Outcome {
            program: side.program,
            objects: side.objects.clone(),
            effects: self.machine.effects.take().unwrap_or_default(),
            deleted: std::mem::take(&mut self.machine.deleted),
            made: std::mem::take(&mut self.machine.made),
            stopped,
        })
    }

    /// These variables, and of lists and windows that they are parts of the length and the other elements.
    fn with_lists(&self, variables: &[u32], model: &Model) -> Vec<usize> {
        let all = self.machine.path.terms.variables();
        let list_of = |name: &str| name.rsplit_once('[').map(|(list, _)| list.to_owned());
        let lists: FxHashSet<String> =
            variables.iter().filter_map(|number| list_of(&all[*number as usize].0)).collect();
        let lengths: FxHashMap<&str, u128> = all
            .iter()
            .enumerate()
            .filter_map(|(number, (name, _))| {
                let list = name.strip_suffix(".len").or_else(|| name.strip_suffix(".ranges"))?;
                lists.contains(list).then(|| (list, model.get(number).copied().unwrap_or(0)))
            })
            .collect();
        let is_shown = |number: usize| {
            let name = &all[number].0;
            let list = name.strip_suffix(".len").or_else(|| name.strip_suffix(".ranges"));
            let element = name.rsplit_once('[').and_then(|(list, rest)| {
                let at: u128 = rest.split(']').next()?.parse().ok()?;
                Some(at < *lengths.get(list)?)
            });
            variables.contains(&(number as u32))
                || list.is_some_and(|list| lengths.contains_key(list))
                || element == Some(true)
        };
        (0..all.len()).filter(|number| is_shown(*number)).collect()
    }

    /// Looks for values with which one of these is not the same.
    fn judge(&mut self, leaves: &[Leaf]) -> Option<Verdict> {
        let mut unlike = self.machine.path.terms.truth(false);
        for leaf in leaves {
            let differs = self.machine.path.terms.not(leaf.same);
            unlike = self.machine.path.terms.or(unlike, differs);
        }
        let model = match self.machine.path.possible(unlike) {
            Answer::No => return None,
            Answer::Unknown => {
                return Some(Verdict::Undecided("the solver did not decide it in time".to_owned()));
            }
            Answer::Yes(model) => model,
        };
        let variables = self.machine.depends_on(unlike);
        let model = self.machine.with_small_values(model, &variables, unlike);
        let mut values = Values::default();
        values.restart();
        let terms = &self.machine.path.terms;
        let mut value = |term: Term| values.of(terms, term, &model);
        let mut told = Vec::new();
        for leaf in leaves.iter() {
            if value(leaf.same) == 0 && told.len() < UNLIKE_MAX {
                let [old, new] = [0, 1].map(|side| leaf.shown[side].text(self.program(side), &mut value));
                let of = |shown: &Shown, text: String, value: &mut dyn FnMut(Term) -> u128| match shown {
                    Shown::Number(_, term) => format!("{text} ({})", value(*term)),
                    Shown::Words(_) => text,
                };
                // Names that stand for other numbers in the other version.
                let [old, new] = if old == new {
                    [of(&leaf.shown[0], old, &mut value), of(&leaf.shown[1], new, &mut value)]
                } else {
                    [old, new]
                };
                told.push(Unlike { what: leaf.what.clone(), old, new });
            }
        }
        let before = self.with_lists(&variables, &model).into_iter().map(|number| {
            let (name, _) = &terms.variables()[number];
            let of = model.get(number).copied().unwrap_or(0);
            let (program, ty) = &self.machine.types[number];
            (name.clone(), written(program, ty, of))
        });
        Some(Verdict::Differs(Difference { before: before.collect(), unlike: told }))
    }
}
