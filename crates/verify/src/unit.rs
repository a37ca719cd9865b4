// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is explored by itself: a processor, a parser, the beginning.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use carrick_ir::{CtxId, EventId, FuncId, Instr, Program, StmtKind, Ty, walk};
use carrick_solve::Figures;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::bounds::Bounds;
use crate::instr::rebinds;
use crate::machine::Machine;
use crate::path::End;
use crate::site::{Doing, Failure, Site};
use crate::sites;
use crate::stmt::Flow;
use crate::value::Value;

/// A function that runs from any state.
#[derive(Debug, Clone)]
pub(crate) struct Unit {
    /// absent: the beginning, when global contexts have their first values
    pub func: Option<FuncId>,
    /// whose chains it is in
    pub events: Vec<EventId>,
    /// in each of them it is the first
    pub first: bool,
    /// in each of them it is the last
    pub last: bool,
    /// the id of the event is that of its context
    pub same_id: bool,
}

/// What came of it.
#[derive(Debug)]
pub(crate) struct Explored {
    pub paths: u64,
    /// why it is not complete
    pub stopped: Option<String>,
    /// what it uses that cannot be explored
    pub unsupported: Option<String>,
    pub time: Duration,
    pub figures: Figures,
    pub failed: FxHashMap<Site, Failure>,
    pub undecided: FxHashSet<Site>,
    /// conditions whose other way is not known
    pub undecided_conditions: u64,
    /// names and types of the variables
    pub variables: Vec<(String, Ty)>,
    pub smt: Vec<(Site, String)>,
}

/// All units of a program, in the order of its functions.
pub(crate) fn all(program: &Program) -> Vec<Unit> {
    let rebinds = rebinds(program);
    let mut units: Vec<Unit> = Vec::new();
    for (event, chain) in program.chains.iter().enumerate() {
        let Some(chain) = chain else { continue };
        for (list, present) in [(Some(&chain.present), true), (chain.absent.as_ref(), false)] {
            let list = list.map_or(&[][..], |list| list);
            for (at, func) in list.iter().enumerate() {
                let (first, last) = (at == 0, at + 1 == list.len());
                let same_id = present && chain.fallback.is_empty() && (first || !rebinds);
                let event = EventId(event as u32);
                match units.iter_mut().find(|unit| unit.func == Some(*func)) {
                    Some(unit) => {
                        unit.events.push(event);
                        unit.first &= first;
                        unit.last &= last;
                        unit.same_id &= same_id;
                    }
                    None => units.push(Unit { func: Some(*func), events: vec![event], first, last, same_id }),
                }
            }
        }
    }
    units.extend(program.parsers().map(|parser| of_no_chain(Some(parser))));
    if program.contexts.iter().any(|ctx| ctx.global) {
        units.push(of_no_chain(None));
    }
    units.sort_by_key(|unit| unit.func);
    units
}

fn of_no_chain(func: Option<FuncId>) -> Unit {
    Unit { func, events: Vec::new(), first: true, last: true, same_id: false }
}

/// The invariants of a context.
pub(crate) fn invariants(program: &Program, context: CtxId) -> impl Iterator<Item = FuncId> {
    let of = move |f: &FuncId| {
        let locals = &program.functions[f.index()].locals;
        locals.first().is_some_and(|local| local.ty == Ty::Context(context))
    };
    program.invariants.iter().copied().filter(of)
}

/// The contexts that a unit works on, or makes.
pub(crate) fn contexts(program: &Program, unit: &Unit) -> Vec<CtxId> {
    let mut found = Vec::new();
    let Some(func) = unit.func else {
        let global = (0..program.contexts.len()).filter(|at| program.contexts[*at].global);
        return global.map(|at| CtxId(at as u32)).collect();
    };
    let def = &program.functions[func.index()];
    for param in &def.locals[..def.params as usize] {
        found.extend(if let Ty::Context(context) = param.ty { Some(context) } else { None });
    }
    for func in sites::reached(program, [func]) {
        walk::statements(&program.functions[func.index()].body, &mut |stmt| {
            if let StmtKind::Instr(Instr::NewCtx { ctx, .. }) = &stmt.kind {
                found.push(*ctx);
            }
        });
    }
    found
}

/// The functions that a unit runs, with the claims that it must keep.
pub(crate) fn functions(program: &Program, unit: &Unit) -> FxHashSet<FuncId> {
    let claims = contexts(program, unit).into_iter().flat_map(|context| invariants(program, context));
    sites::reached(program, unit.func.into_iter().chain(claims))
}

/// Explores all paths of a unit, within the bounds.
pub(crate) fn explore(
    program: &Program,
    bounds: &Bounds,
    wanted: Option<&FxHashSet<Site>>,
    unit: &Unit,
    cancelled: &Arc<AtomicBool>,
) -> Explored {
    let begun = Instant::now();
    let mut machine = Machine::new(program, bounds, cancelled);
    machine.checks.wanted = wanted.cloned();
    machine.fired = unit.events.clone();
    machine.grows = !bounds.count && sites::adds(program, &functions(program, unit));
    let start = start_values(&mut machine, unit);
    let mut explored = Explored {
        paths: 0,
        stopped: None,
        unsupported: None,
        time: Duration::ZERO,
        figures: Figures::default(),
        failed: FxHashMap::default(),
        undecided: FxHashSet::default(),
        undecided_conditions: 0,
        variables: Vec::new(),
        smt: Vec::new(),
    };
    loop {
        match run(&mut machine, unit, &start) {
            Ok(()) => explored.paths += 1,
            Err(End::Impossible) => {}
            Err(End::Stopped(why)) => explored.stopped = Some(why),
            Err(End::Unsupported(what)) => explored.unsupported = Some(what),
        }
        if explored.stopped.is_some() || explored.unsupported.is_some() || !machine.path.next() {
            break;
        }
        if explored.paths >= bounds.paths {
            explored.stopped = Some(format!("it has more than {} paths", bounds.paths));
            break;
        }
    }
    let names = machine.path.terms.variables().iter().map(|(name, _)| name.clone());
    explored.variables = names.zip(machine.types.into_iter().map(|(_, ty)| ty)).collect();
    explored.figures = machine.path.solver.figures();
    explored.undecided_conditions = machine.path.undecided;
    explored.failed = machine.checks.failed;
    explored.undecided = machine.checks.undecided;
    explored.smt = machine.checks.smt;
    explored.time = begun.elapsed();
    explored
}

/// A value for each parameter.
fn start_values(machine: &mut Machine<'_>, unit: &Unit) -> Vec<Value> {
    let Some(func) = unit.func else { return Vec::new() };
    let program = machine.program;
    let def = &program.functions[func.index()];
    let params = &def.locals[..def.params as usize];
    let mut values: Vec<Value> = params.iter().map(|param| machine.any(&param.ty, &param.name)).collect();
    let used = sites::fields(program, &functions(program, unit));
    for (param, value) in params.iter().zip(&mut values) {
        let Value::Record(parts) = value else { continue };
        // What nothing reads or changes may be of any length: it makes no path of its own.
        let is_used = |field: u32| used.contains(&(param.ty.clone(), field));
        if !is_used(sites::WHOLE) {
            let unused = parts.iter_mut().enumerate().filter(|(at, _)| !is_used(*at as u32));
            unused.for_each(|(_, part)| part.close());
        }
    }
    if unit.same_id {
        same_id(program, params.iter().map(|param| &param.ty).zip(&mut values).collect());
    }
    values
}

/// The id of the event among these values is that of its context.
pub(crate) fn same_id(program: &Program, given: Vec<(&Ty, &mut Value)>) {
    let event = given.iter().find_map(|(ty, value)| match (ty, value) {
        (Ty::Event(event), Value::Record(parts)) => {
            let id = program.events[event.index()].id?;
            Some((id, parts[crate::layout::flow_id(program, *event)].clone()))
        }
        _ => None,
    });
    let Some((id, event_id)) = event else { return };
    for (ty, value) in given {
        if let (Ty::Context(context), Value::Record(parts)) = (ty, value)
            && program.contexts[context.index()].id == id
        {
            parts[crate::layout::id(program, *context)] = event_id.clone();
        }
    }
}

/// One path.
fn run(machine: &mut Machine<'_>, unit: &Unit, start: &[Value]) -> Result<(), End> {
    machine.begin()?;
    let program = machine.program;
    let Some(func) = unit.func else { return begin_globals(machine) };
    let def = &program.functions[func.index()];
    let params = &def.locals[..def.params as usize];
    let (mut args, mut objects) = (Vec::new(), Vec::new());
    for (param, value) in params.iter().zip(start) {
        let mut value = value.clone();
        machine.settle(&mut value)?;
        let by_ref = param.ty.is_by_ref();
        let object = machine.alloc(value.clone());
        if let Ty::Context(context) = param.ty {
            objects.push((object, context));
        }
        args.push(if by_ref { Value::Object(object) } else { value });
    }
    machine.doing = Doing::Assuming;
    for (object, context) in &objects {
        claims(machine, *object, *context)?;
    }
    machine.doing = Doing::Running;
    machine.checks.assumed = machine.path.conditions.len();
    let flow = machine.call(func, args)?;
    machine.doing = Doing::Proving;
    // A context that goes when the chain is done need not satisfy its claims, unless another processor follows.
    let ends = unit.last || flow == Flow::Stop;
    objects.retain(|(object, _)| !(ends && machine.deleted.contains(object)));
    for (object, context) in objects {
        claims(machine, object, context)?;
    }
    for made in std::mem::take(&mut machine.made) {
        machine.checks.new = true;
        claims(machine, made.object, made.context)?;
        machine.checks.new = false;
    }
    Ok(())
}

/// Runs the invariants of a context.
fn claims(machine: &mut Machine<'_>, object: usize, context: CtxId) -> Result<(), End> {
    if machine.bounds.count && machine.doing == Doing::Proving {
        return Ok(());
    }
    let program = machine.program;
    for invariant in invariants(program, context) {
        machine.call(invariant, vec![Value::Object(object)])?;
    }
    Ok(())
}

/// The first values of global contexts satisfy their invariants.
fn begin_globals(machine: &mut Machine<'_>) -> Result<(), End> {
    machine.checks.assumed = machine.path.conditions.len();
    machine.doing = Doing::Proving;
    let program = machine.program;
    for (at, _) in program.contexts.iter().enumerate().filter(|(_, def)| def.global) {
        let context = CtxId(at as u32);
        let value = machine.initial_context(context)?;
        let object = machine.alloc(value);
        claims(machine, object, context)?;
    }
    Ok(())
}
