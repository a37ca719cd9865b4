// SPDX-License-Identifier: MIT OR Apache-2.0
//! All units of a program, and what follows of each check.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use carrick_ir::{FuncId, Loc, Program, STATUS_NAMES, Ty};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::bounds::Bounds;
use crate::site::{Failure, Kind, Site};
use crate::sites;
use crate::unit::{self, Explored, Unit};

/// Which units are explored, and for which checks; empty: all.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// Events whose chains are explored.
    pub chains: Vec<String>,
    /// Functions that are explored.
    pub processors: Vec<String>,
    /// Words of kinds, parts of claims, or places (`FILE:LINE`).
    pub checks: Vec<String>,
}

/// What came of a unit.
#[derive(Debug, Clone)]
pub struct UnitReport {
    /// The function, or `the beginning`.
    pub name: String,
    /// The events in whose chains it is.
    pub events: Vec<String>,
    /// How many paths were explored.
    pub paths: u64,
    /// Why not all paths were.
    pub incomplete: Option<String>,
    /// What it uses that cannot be explored yet.
    pub unsupported: Option<String>,
    /// How long it took.
    pub time: Duration,
    /// Questions to the solver, and those that it searched for.
    pub queries: u64,
    /// Of them, those that were not known yet.
    pub searches: u64,
    /// The solver's time.
    pub solver: Duration,
    /// The questions of its checks, in SMT-LIB 2.
    pub smt: Vec<(Site, String)>,
}

/// A state, and the event with which a unit breaks a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counterexample {
    /// The unit.
    pub unit: String,
    /// Fields and their values before, as far as the check depends on them.
    pub before: Vec<(String, String)>,
    /// Whether it is of an instance that the unit makes.
    pub new: bool,
}

/// What is known of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// It holds, within the bounds.
    Proved,
    /// From some state that satisfies all claims, it does not.
    NotInductive(Counterexample),
    /// It is not known, and why.
    Undecided(String),
}

/// A check, and what is known of it.
#[derive(Debug, Clone)]
pub struct CheckReport {
    /// Where it is, and of which kind.
    pub site: Site,
    /// The claim as written, or the line.
    pub text: String,
    /// The units that run it.
    pub units: Vec<String>,
    /// What is known.
    pub status: Status,
}

/// What is known of a program.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// In the order of the program.
    pub units: Vec<UnitReport>,
    /// In the order of the program.
    pub checks: Vec<CheckReport>,
}

/// Explores a program, on this many threads; `done` gets each unit when it is done.
///
/// # Errors
/// A sentence, if nothing is wanted that the program has.
pub fn verify(
    program: &Program,
    bounds: &Bounds,
    wanted: &Wanted,
    threads: usize,
    cancelled: &Arc<AtomicBool>,
    done: &(dyn Fn(&UnitReport) + Sync),
) -> Result<Report, String> {
    let units = wanted_units(program, wanted)?;
    let sites = wanted_sites(program, &units, wanted)?;
    let explored = on_threads(threads, units.len(), &|at| {
        let found = unit::explore(program, bounds, sites.as_ref(), &units[at], cancelled);
        done(&unit_report(program, &units[at], &found));
        found
    })?;
    let checks = if bounds.count { Vec::new() } else { checks(program, &units, &explored, sites.as_ref()) };
    let units = units.iter().zip(&explored).map(|(unit, found)| unit_report(program, unit, found)).collect();
    Ok(Report { units, checks })
}

/// What comes of pieces of work that several threads share, in order.
pub(crate) fn on_threads<T: Send>(
    threads: usize,
    count: usize,
    piece: &(dyn Fn(usize) -> T + Sync),
) -> Result<Vec<T>, String> {
    let done: Vec<Mutex<Option<T>>> = (0..count).map(|_| Mutex::new(None)).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(at) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|at| *at < count) {
            let found = piece(at);
            if let Ok(mut slot) = done[at].lock() {
                *slot = Some(found);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            // The stack of a path is as deep as its calls and expressions are nested.
            let thread = std::thread::Builder::new().stack_size(64 << 20);
            if thread.spawn_scoped(scope, work).is_err() {
                break;
            }
        }
    });
    // Without a thread nothing was done; here it is, then.
    work();
    let done: Vec<T> = done.into_iter().filter_map(|slot| slot.into_inner().ok().flatten()).collect();
    if done.len() == count { Ok(done) } else { Err("a thread ended before its work".to_owned()) }
}

fn name(program: &Program, unit: &Unit) -> String {
    unit.func.map_or_else(|| "the beginning".to_owned(), |f| program.functions[f.index()].name.clone())
}

fn events(program: &Program, unit: &Unit) -> Vec<String> {
    unit.events.iter().map(|e| program.events[e.index()].name.clone()).collect()
}

fn wanted_units(program: &Program, wanted: &Wanted) -> Result<Vec<Unit>, String> {
    let mut units = unit::all(program);
    for chain in &wanted.chains {
        if !units.iter().any(|unit| events(program, unit).contains(chain)) {
            let all: FxHashSet<String> = units.iter().flat_map(|unit| events(program, unit)).collect();
            return Err(format!("no chain of an event `{chain}`; there are those of {}", list(all)));
        }
    }
    for processor in &wanted.processors {
        if !units.iter().any(|unit| name(program, unit) == *processor) {
            let all = units.iter().map(|unit| name(program, unit)).collect();
            return Err(format!("no processor `{processor}`; there are {}", list(all)));
        }
    }
    if !wanted.chains.is_empty() || !wanted.processors.is_empty() {
        units.retain(|unit| {
            events(program, unit).iter().any(|event| wanted.chains.contains(event))
                || wanted.processors.contains(&name(program, unit))
        });
    }
    Ok(units)
}

/// Names in order, for a sentence.
fn list(names: FxHashSet<String>) -> String {
    let mut names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    names.sort();
    names.join(", ")
}

fn wanted_sites(
    program: &Program,
    units: &[Unit],
    wanted: &Wanted,
) -> Result<Option<FxHashSet<Site>>, String> {
    if wanted.checks.is_empty() {
        return Ok(None);
    }
    let functions: FxHashSet<FuncId> = units.iter().flat_map(|unit| unit::functions(program, unit)).collect();
    let all = sites::of(program, &functions);
    let mut chosen = FxHashSet::default();
    for word in &wanted.checks {
        let before = chosen.len();
        chosen.extend(all.iter().copied().filter(|site| is_named(program, *site, word)));
        // A program may have no check of a kind; then all of them are proved.
        if chosen.len() == before && !Kind::WORDS.contains(&word.as_str()) {
            return Err(format!(
                "no check `{word}`: write a kind ({}), a part of a claim, or FILE:LINE",
                Kind::WORDS.join(", ")
            ));
        }
    }
    Ok(Some(chosen))
}

fn is_named(program: &Program, site: Site, word: &str) -> bool {
    if let Kind::Claim(claim) = site.kind
        && program.claims[claim as usize].text.raw().contains(word)
    {
        return true;
    }
    let place = format!("{}:{}", program.file_of(site.loc).raw(), site.loc.line);
    site.kind.word() == word || (word.contains(':') && place.ends_with(word))
}

fn unit_report(program: &Program, unit: &Unit, found: &Explored) -> UnitReport {
    let undecided = (found.undecided_conditions > 0)
        .then(|| format!("{} conditions were too hard for the solver", found.undecided_conditions));
    UnitReport {
        name: name(program, unit),
        events: events(program, unit),
        paths: found.paths,
        incomplete: found.stopped.clone().or(undecided),
        unsupported: found.unsupported.clone(),
        time: found.time,
        queries: found.figures.queries,
        searches: found.figures.searches,
        solver: found.figures.time,
        smt: found.smt.clone(),
    }
}

/// What is known of each check, of all units together.
fn checks(
    program: &Program,
    units: &[Unit],
    explored: &[Explored],
    wanted: Option<&FxHashSet<Site>>,
) -> Vec<CheckReport> {
    let mut by_site: FxHashMap<Site, Vec<usize>> = FxHashMap::default();
    for (at, unit) in units.iter().enumerate() {
        let functions = unit::functions(program, unit);
        let mut all = sites::of(program, &functions);
        all.extend(explored[at].failed.keys().copied());
        for site in all {
            by_site.entry(site).or_default().push(at);
        }
    }
    let mut found: Vec<CheckReport> = by_site
        .into_iter()
        .filter(|(site, _)| wanted.is_none_or(|wanted| wanted.contains(site)))
        .map(|(site, of)| CheckReport {
            site,
            text: text(program, site),
            units: of.iter().map(|at| name(program, &units[*at])).collect(),
            status: status(program, units, explored, site, &of),
        })
        .collect();
    found.sort_by_key(|check| check.site);
    found
}

fn status(program: &Program, units: &[Unit], explored: &[Explored], site: Site, of: &[usize]) -> Status {
    for at in of {
        if let Some(failure) = explored[*at].failed.get(&site) {
            return Status::NotInductive(counterexample(program, &units[*at], &explored[*at], failure));
        }
    }
    for at in of {
        let (unit, found) = (name(program, &units[*at]), &explored[*at]);
        if let Some(what) = &found.unsupported {
            return Status::Undecided(format!("`{unit}` is not explored: it uses {what}"));
        }
        if let Some(why) = &found.stopped {
            return Status::Undecided(format!("`{unit}` is not explored to its end: {why}"));
        }
        if found.undecided.contains(&site) || found.undecided_conditions > 0 {
            return Status::Undecided(format!("in `{unit}`, the solver did not decide it in time"));
        }
    }
    Status::Proved
}

fn text(program: &Program, site: Site) -> String {
    match site.kind {
        Kind::Claim(claim) => program.claims[claim as usize].text.raw().to_owned(),
        _ => line(program, site.loc).unwrap_or_default(),
    }
}

/// The line of the source at a place.
fn line(program: &Program, loc: Loc) -> Option<String> {
    let text = program.texts.get(loc.file as usize)?;
    Some(text.raw().lines().nth((loc.line as usize).checked_sub(1)?)?.trim().to_owned())
}

fn counterexample(program: &Program, unit: &Unit, found: &Explored, failure: &Failure) -> Counterexample {
    let before = failure.variables.iter().map(|number| {
        let (name, ty) = &found.variables[*number as usize];
        let value = failure.model.get(*number as usize).copied().unwrap_or(0);
        (name.clone(), written(program, ty, value))
    });
    Counterexample { unit: name(program, unit), before: before.collect(), new: failure.new }
}

/// A value as programs write it.
pub(crate) fn written(program: &Program, ty: &Ty, value: u128) -> String {
    let value = value as u64;
    match ty {
        Ty::Bool => (value != 0).to_string(),
        Ty::Int { bits, signed: true } => {
            let unused = 64 - u32::from(*bits);
            (((value << unused) as i64) >> unused).to_string()
        }
        Ty::Duration => duration(value as i64),
        Ty::Time => format!("{value} ns"),
        Ty::Fixed => format!("{:.6}", value as i64 as f64 / 4_294_967_296.0),
        Ty::Status => STATUS_NAMES.get(value as usize).map_or_else(|| value.to_string(), ToString::to_string),
        Ty::Enum(e) => {
            let variants = &program.enums[e.index()].variants;
            let named = variants.iter().find(|(_, of)| *of == value);
            named.map_or_else(|| value.to_string(), |(name, _)| name.clone())
        }
        Ty::Token | Ty::Handle if value == 0 => "none".to_owned(),
        _ => value.to_string(),
    }
}

fn duration(nanoseconds: i64) -> String {
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")];
    let unit = units.iter().find(|(size, _)| nanoseconds != 0 && nanoseconds % size == 0);
    unit.map_or_else(|| format!("{nanoseconds}ns"), |(size, unit)| format!("{}{unit}", nanoseconds / size))
}
