// SPDX-License-Identifier: MIT OR Apache-2.0
//! Both versions on one path: the same values, one version after the other, and what came of each.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use carrick_ir::{CtxId, EventId, FuncId, Program, Ty};
use carrick_solve::{Answer, Model, Term, Values};
use rustc_hash::{FxHashMap, FxHashSet};

use super::given::{Twice, reached};
use super::names::Names;
use super::outcome::{self, Leaf, Outcome, Shown, Side};
use super::pairs::Pair;
use super::report::{Difference, Unlike, Verdict};
use crate::bounds::Bounds;
use crate::machine::{Frame, Machine};
use crate::path::End;
use crate::report::written;
use crate::site::Doing;
use crate::sites;
use crate::stmt::Flow;
use crate::unit::invariants;
use crate::value::Value;

/// So much of what differs is told.
const UNLIKE_MAX: usize = 12;

/// What came of it.
pub(super) struct Found {
    pub paths: u64,
    pub time: Duration,
    pub verdict: Verdict,
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

impl<'p> Twice<'p, '_> {
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
        // Claims hold between chains. Those of the new version may not hold: nobody has proved them.
        let assumed = if side == 0 && self.pair.first { &objects[..] } else { &[] };
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
