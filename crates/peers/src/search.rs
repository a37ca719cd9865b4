// SPDX-License-Identifier: MIT OR Apache-2.0
//! The search: breadth first, all states that are so many actions from the beginning before any that is one more.

use std::mem;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustc_hash::FxHashSet;

use crate::action::{Action, Faults, VIA};
use crate::goal::Goal;
use crate::judge::{Broken, Judge};
use crate::memo::Done;
use crate::setup::{Bounds, DAY_NS, Setup};
use crate::state::{Ends, Shared, State};
use crate::threads::{Level, Node, Other, behind};
use crate::visited::{Seen, Visited, lock};

/// Packets that arrive while no time passes, at most: more are taken for a conversation without end.
const AT_ONCE_MOST: u32 = 1000;
/// Steps of a run without faults, and states of one moment among which a way back is sought, at most.
const STEPS: usize = 100_000;
const MOMENT: usize = 4096;

/// What came of a search.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// states that were seen
    pub states: u64,
    /// actions that were tried
    pub actions: u64,
    /// states in which a run was over
    pub ends: u64,
    /// actions of the longest shortest way to a state
    pub depth: u32,
    /// why not all states were seen, if they were not
    pub cut: Option<String>,
    /// a way to one of the last states, if not all were seen
    pub last: Vec<Action>,
    /// the search ended with it
    pub broken: Option<Broken>,
    /// ends in which an application was told an error
    pub told: u64,
    /// a way to one of them
    pub told_first: Option<Broken>,
    /// the program in the network handles no event in a run without faults: it lets all packets through
    pub idle: bool,
    /// that the search took
    pub time: Duration,
}

/// How far a search is.
#[derive(Debug, Clone, Copy)]
pub struct Progress {
    /// states that were seen
    pub states: u64,
    /// so many actions from the beginning
    pub depth: u32,
}

/// Something found: what, after how many faults, behind which state, by which action; `None`: in that state itself. Of several the least
/// counts.
type Found = (Goal, u32, u64, Option<Action>, String);

struct Search<'s> {
    bounds: &'s Bounds,
    judge: &'s Judge<'s>,
    shared: &'s Shared,
    /// somebody wants no more
    cancelled: &'s AtomicBool,
    progress: &'s (dyn Fn(Progress) + Sync),
    visited: Visited,
    states: AtomicU64,
    actions: AtomicU64,
    ends: AtomicU64,
    told: AtomicU64,
    found: Mutex<Vec<Found>>,
    /// an application was told an error: after how many actions, in which state, and what
    told_first: Mutex<Option<(u32, u64, String)>>,
    stop: AtomicBool,
    cut: Mutex<Option<String>>,
    began: Instant,
}

/// Explores all that can happen between two ends, until something is broken or there is nothing more; `cancelled` ends it early, and
/// `progress` is told how far it is.
///
/// # Errors
/// A sentence, if the programs speak nothing in common or make no core.
pub fn explore(
    setup: &Setup,
    bounds: &Bounds,
    cancelled: &AtomicBool,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Outcome, String> {
    let mut judge = Judge::new(setup)?;
    let usual = usual(setup, bounds, &judge, cancelled)?;
    judge.left = usual.left;
    let (judge, shared) = (&judge, Shared::default());
    let mut ends = Ends::new(judge, &shared)?;
    let first = ends.begin(setup.faults, setup.life_ns)?;
    let print = first.print();
    let wrong = (0..ends.ends.len()).find_map(|host| judge.end(host, &ends.ends[host], false));
    let wrong = wrong.map(|(goal, what)| (goal, 0, print, None, what));
    let search = Search {
        bounds,
        judge,
        shared: &shared,
        cancelled,
        progress,
        visited: Visited::beginning_with(print),
        states: AtomicU64::new(1),
        actions: AtomicU64::new(0),
        ends: AtomicU64::new(0),
        told: AtomicU64::new(0),
        found: Mutex::new(wrong.into_iter().collect()),
        told_first: Mutex::default(),
        stop: AtomicBool::new(false),
        cut: Mutex::default(),
        began: Instant::now(),
    };
    let (depth, last) = match usual.broken {
        Some(_) => (0, print),
        None => search.levels(&mut ends, (print, first))?,
    };
    let mut outcome = search.outcome(depth, last);
    // What is wrong without any fault is what there is to see first.
    outcome.broken = usual.broken.or(outcome.broken).or(usual.wrong);
    outcome.idle = usual.idle;
    if judge.left.is_none() && outcome.broken.is_none() {
        outcome.cut.get_or_insert_with(|| "a run without faults does not come to its end".into());
    }
    Ok(outcome)
}

/// Memory that is used again and again: what can happen next, and the state that comes of it.
struct Room {
    actions: Vec<Action>,
    next: State,
}

/// A run without faults.
struct Usual {
    /// the contexts that it leaves at each host, if it ends
    left: Option<Vec<usize>>,
    /// what of it is not as everybody expects of such a run
    broken: Option<Broken>,
    /// what must not be in any run; the search may find a shorter way there
    wrong: Option<Broken>,
    /// there is a program in the network, and it handles no event
    idle: bool,
}

fn usual(setup: &Setup, bounds: &Bounds, judge: &Judge<'_>, cancelled: &AtomicBool) -> Result<Usual, String> {
    let shared = Shared::default();
    let mut ends = Ends::new(judge, &shared)?;
    let mut state = ends.begin(Faults::default(), setup.life_ns)?;
    let mut next = state.clone();
    let (mut actions, mut path) = (Vec::new(), Vec::new());
    let (mut passed, mut acts) = (false, false);
    let mut usual = Usual { left: None, broken: None, wrong: None, idle: false };
    while path.len() < STEPS && state.channel.now <= bounds.virtual_ns && !cancelled.load(Ordering::Relaxed) {
        state.actions(false, &mut actions);
        let Some(action) = actions.first() else {
            ends.become_state(&state)?;
            let what = judge.without_faults(&ends.ends);
            usual.broken = what.map(|what| Broken { goal: Goal::Delivery, what, path });
            usual.left = Some(ends.open_contexts());
            usual.idle = passed && !acts;
            return Ok(usual);
        };
        path.push(*action);
        let done = ends.step(&state, *action, &mut next)?;
        mem::swap(&mut state, &mut next);
        let Some((host, done)) = done else { continue };
        passed |= host == VIA;
        acts |= host == VIA && done.acts;
        if let Some((goal, what)) = done.wrong.clone() {
            usual.wrong = Some(Broken { goal, what, path });
            break;
        }
    }
    Ok(usual)
}

impl Search<'_> {
    /// Goes through all states behind the first, level by level. Returns how many levels there were, and a state of the last one.
    fn levels(&self, ends: &mut Ends<'_>, first: Node) -> Result<(u32, u64), String> {
        let (mut depth, mut last) = (0, first.0);
        thread::scope(|scope| {
            let made = || Ends::new(self.judge, self.shared);
            let others =
                (1..self.bounds.jobs).map(|_| Other::new(scope, made, |ends, level| self.work(ends, level)));
            let others: Vec<Other> = others.collect();
            let mut nodes = vec![first];
            while let Some((print, _)) = nodes.first().filter(|_| lock(&self.found).is_empty()) {
                last = nodes.iter().map(|(print, _)| *print).min().unwrap_or(*print);
                nodes = behind(&Level::new(nodes, depth), &others, |level| self.work(ends, level))?;
                if self.stop.load(Ordering::Relaxed) {
                    break;
                }
                depth += u32::from(!nodes.is_empty());
            }
            Ok((depth, last))
        })
    }

    /// The states behind those of one level that were not seen before, of those that no other thread has taken.
    fn work(&self, ends: &mut Ends<'_>, level: &Level) -> Result<Vec<Node>, String> {
        let mut after = Vec::new();
        let Some((_, first)) = level.nodes.first() else { return Ok(after) };
        let mut room = Room { actions: Vec::new(), next: first.clone() };
        while !self.stop.load(Ordering::Relaxed) {
            let some = level.take();
            if some.is_empty() {
                break;
            }
            for node in some {
                self.expand(ends, node, level.depth, &mut room, &mut after)?;
            }
            let states = self.states.load(Ordering::Relaxed);
            (self.progress)(Progress { states, depth: level.depth });
            self.watch(states);
        }
        Ok(after)
    }

    /// Stops the search where it has gone far enough.
    fn watch(&self, states: u64) {
        let why = if self.cancelled.load(Ordering::Relaxed) {
            "it was interrupted".to_owned()
        } else if self.began.elapsed() >= self.bounds.time {
            format!("{} s have passed", self.bounds.time.as_secs())
        } else if states >= self.bounds.states {
            format!("{} states were seen", self.bounds.states)
        } else {
            return;
        };
        lock(&self.cut).get_or_insert(why);
        self.stop.store(true, Ordering::Relaxed);
    }

    fn expand(
        &self,
        ends: &mut Ends<'_>,
        (print, state): &Node,
        depth: u32,
        Room { actions, next }: &mut Room,
        after: &mut Vec<Node>,
    ) -> Result<(), String> {
        state.actions(self.bounds.every_order, actions);
        let late = state.channel.now > self.bounds.virtual_ns;
        if actions.is_empty() || late {
            return self.over(ends, *print, state, !late, depth);
        }
        self.actions.fetch_add(actions.len() as u64, Ordering::Relaxed);
        for action in actions.drain(..) {
            let done = ends.step(state, action, next)?;
            if let Some((goal, what)) = done.and_then(|(_, done)| wrong(next, &done)) {
                lock(&self.found).push((goal, self.faults(next), *print, Some(action), what));
                continue;
            }
            let reached = next.print();
            match self.visited.add(reached, *print, action, depth + 1) {
                Seen::New => {
                    self.states.fetch_add(1, Ordering::Relaxed);
                    after.push((reached, next.clone()));
                }
                Seen::Before(at) if at <= depth && next.channel.same_moment(&state.channel) => {
                    let Some(leads) = leads_to(ends, next.clone(), *print)? else {
                        let why = format!("more than {MOMENT} states are at one moment");
                        lock(&self.cut).get_or_insert(why);
                        continue;
                    };
                    if leads {
                        let what =
                            "from here on the ends send each other packets for ever, and no time passes";
                        let faults = self.faults(state);
                        lock(&self.found).push((Goal::Calm, faults, *print, Some(action), what.to_owned()));
                    }
                }
                Seen::Before(_) => {}
            }
        }
        Ok(())
    }

    /// How many have happened on the way to a state.
    fn faults(&self, state: &State) -> u32 {
        self.judge.setup.faults.total() - state.channel.left.total()
    }

    /// A run is over, or has gone on for long enough.
    fn over(
        &self,
        ends: &mut Ends<'_>,
        print: u64,
        state: &State,
        quiet: bool,
        depth: u32,
    ) -> Result<(), String> {
        self.ends.fetch_add(1, Ordering::Relaxed);
        if !quiet {
            let days = self.bounds.virtual_ns / DAY_NS;
            lock(&self.cut)
                .get_or_insert_with(|| format!("some runs go on after {days} day of virtual time"));
        }
        ends.become_state(state)?;
        let (wrong, told) = self.judge.over(&ends.ends, quiet, state.channel.has_crashed());
        if let Some((goal, what)) = wrong {
            lock(&self.found).push((goal, self.faults(state), print, None, what));
        }
        if let Some(what) = told {
            self.told.fetch_add(1, Ordering::Relaxed);
            let mut first = lock(&self.told_first);
            // Always the same, whatever the threads do.
            if first.as_ref().is_none_or(|(at, before, _)| (depth, print) < (*at, *before)) {
                *first = Some((depth, print, what));
            }
        }
        Ok(())
    }

    fn outcome(self, depth: u32, last: u64) -> Outcome {
        // Of all that was found at this depth, always the same.
        let first = mem::take(&mut *lock(&self.found)).into_iter().min();
        let broken = first.map(|(goal, _, print, by, what)| {
            let path = self.visited.path(print).into_iter().chain(by).collect();
            Broken { goal, what, path }
        });
        let told_first = lock(&self.told_first).take().map(|(_, print, what)| Broken {
            goal: Goal::Delivery,
            what,
            path: self.visited.path(print),
        });
        let cut = lock(&self.cut).take();
        let last = if cut.is_some() { self.visited.path(last) } else { Vec::new() };
        Outcome {
            states: self.states.load(Ordering::Relaxed),
            actions: self.actions.load(Ordering::Relaxed),
            ends: self.ends.load(Ordering::Relaxed),
            depth,
            cut,
            last,
            broken,
            told: self.told.load(Ordering::Relaxed),
            told_first,
            idle: false,
            time: self.began.elapsed(),
        }
    }
}

/// What is wrong with what a host has done.
fn wrong(state: &State, done: &Done) -> Option<(Goal, String)> {
    if state.at_once > AT_ONCE_MOST {
        let what =
            format!("{AT_ONCE_MOST} packets arrive, each because of the one before, and no time passes");
        return Some((Goal::Calm, what));
    }
    done.wrong.clone()
}

/// Whether a state leads to that with a print, by packets that arrive in order at one moment; `None`: there are too many to say.
fn leads_to(ends: &mut Ends<'_>, from: State, print: u64) -> Result<Option<bool>, String> {
    let mut seen = FxHashSet::default();
    let mut waiting = vec![from];
    let mut actions = Vec::new();
    while let Some(state) = waiting.pop() {
        let here = state.print();
        if here == print {
            return Ok(Some(true));
        }
        if !seen.insert(here) {
            continue;
        }
        if seen.len() > MOMENT {
            return Ok(None);
        }
        state.actions(false, &mut actions);
        for action in actions.iter().filter(|action| matches!(action, Action::Deliver(_, 0))) {
            let mut next = state.clone();
            ends.step(&state, *action, &mut next)?;
            waiting.push(next);
        }
    }
    Ok(Some(false))
}
