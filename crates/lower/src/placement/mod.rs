//! Where each chain of a program runs, on a target that has several sites for code.
//!
//! A chain is one atomic step on its contexts, so it is never cut: all of its processors run at one site. Which one
//! follows from what they do. Nothing in a program says it.

mod obstacles;
mod packets;
mod state;

use carrick_ir::bounds::costs;
use carrick_ir::{Chain, EventId, EventKind, FuncId, Instr, Loc, Program, StmtKind, Ty, walk};

pub use packets::Made;
pub use state::Held;

/// A place of a target where code can run.
#[derive(Debug, Clone)]
pub struct Site {
    /// as the target file has it
    pub name: String,
    /// what it is, as part of a sentence
    pub description: String,
    /// the kinds of event that arise there; flow events run where they are raised
    pub begins: Vec<EventKind>,
    /// the instructions that can be issued there, by their names in the language; `None`: all
    pub instructions: Option<Vec<String>>,
    /// whether it hands out memory for units of data
    pub memory: bool,
    /// whether the octets of units are at hand there, to make packets of
    pub payload: bool,
    /// whether events can wait there for their turn
    pub waits: bool,
    /// the most blueprints that one event can issue there
    pub blueprints: Option<u32>,
    /// the most statements that one run of a chain can come by there
    pub statements: Option<u32>,
}

/// One reason, and the place of the program that it comes from; line 0 if from none in particular.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Why {
    /// a clause, without a full stop
    pub text: String,
    /// where
    pub loc: Loc,
}

/// Where one chain runs, for one origin of its event.
#[derive(Debug, Clone)]
pub struct Placed {
    /// whose chain it is
    pub event: EventId,
    /// whether it is what happens without a context
    pub absent: bool,
    /// the processors, in order
    pub processors: Vec<FuncId>,
    /// the site, by its number
    pub site: usize,
    /// where its event arises; for a flow event the site that raises it
    pub origin: usize,
    /// what keeps it from running where its event arises; empty if it does
    pub obstacles: Vec<Why>,
    /// the packets that it issues, and where they are made
    pub packets: Vec<Made>,
}

/// Where everything runs and lies.
#[derive(Debug, Clone)]
pub struct Placement {
    /// events in their order; a flow event once for each site that raises it
    pub chains: Vec<Placed>,
    /// the contexts in their order
    pub contexts: Vec<Held>,
}

/// Decides where the chains of a complete program run: where their events arise, else at the last site, which has to
/// take everything.
///
/// # Panics
/// If there is no site.
pub fn place(program: &Program, sites: &[Site]) -> Placement {
    assert!(!sites.is_empty(), "code runs somewhere");
    let mut chains = Vec::new();
    // Raises are no circle: each turn settles at least the chains that only settled ones raise.
    let mut open: Vec<(EventId, usize)> = origins(program, sites);
    let mut seen = Vec::new();
    while let Some(next) = open.pop() {
        if seen.contains(&next) {
            continue;
        }
        seen.push(next);
        for placed in cases(program, sites, next) {
            open.extend(raised(program, &placed.processors).map(|event| (event, placed.site)));
            chains.push(placed);
        }
    }
    chains.sort_by_key(|placed| (placed.event, placed.origin, placed.absent));
    let contexts = state::held(program, &chains);
    Placement { chains, contexts }
}

/// The events that come from outside, and where they arise.
fn origins(program: &Program, sites: &[Site]) -> Vec<(EventId, usize)> {
    let mut found = Vec::new();
    for (number, event) in program.events.iter().enumerate().filter(|(_, e)| e.kind != EventKind::Flow) {
        let site = sites.iter().position(|s| s.begins.contains(&event.kind)).unwrap_or(sites.len() - 1);
        found.push((EventId(number as u32), site));
    }
    found
}

/// What happens for an event with a context, and without.
fn cases(program: &Program, sites: &[Site], (event, origin): (EventId, usize)) -> Vec<Placed> {
    let Some(chain) = &program.chains[event.index()] else { return Vec::new() };
    let absent = chain.absent.as_ref().map(|processors| (true, processors));
    let both = std::iter::once((false, &chain.present)).chain(absent);
    both.map(|(absent, processors)| one(program, sites, (event, origin), absent, processors)).collect()
}

fn one(
    program: &Program,
    sites: &[Site],
    (event, origin): (EventId, usize),
    absent: bool,
    processors: &[FuncId],
) -> Placed {
    let last = sites.len() - 1;
    let costs = costs(program).0;
    let obstacles = if origin == last {
        Vec::new()
    } else {
        obstacles::of(program, &costs, &sites[origin], event, processors)
    };
    let site = if obstacles.is_empty() { origin } else { last };
    let packets = packets::made(program, sites, site, processors);
    Placed { event, absent, processors: processors.to_vec(), site, origin, obstacles, packets }
}

/// The flow events that processors and what they call can raise.
fn raised(program: &Program, processors: &[FuncId]) -> impl Iterator<Item = EventId> {
    let mut found = Vec::new();
    for func in reachable(program, processors) {
        let def = &program.functions[func.index()];
        walk::statements(&def.body, &mut |stmt| {
            if let StmtKind::Instr(Instr::Raise { event }) = &stmt.kind
                && let Ty::Event(event) = def.locals[event.index()].ty
            {
                found.push(event);
            }
        });
    }
    found.into_iter()
}

/// The functions and those that they call, each once, callers before callees.
pub fn reachable(program: &Program, functions: &[FuncId]) -> Vec<FuncId> {
    let mut found: Vec<FuncId> = Vec::new();
    let mut open: Vec<FuncId> = functions.iter().rev().copied().collect();
    while let Some(func) = open.pop() {
        if found.contains(&func) {
            continue;
        }
        found.push(func);
        walk::statements(&program.functions[func.index()].body, &mut |stmt| {
            if let StmtKind::Call { func, .. } = &stmt.kind {
                open.push(*func);
            }
        });
    }
    found
}

/// The contexts that a chain takes: its own, those that it shares, the global ones.
fn contexts(chain: &Chain) -> impl Iterator<Item = carrick_ir::CtxId> {
    let shared = chain.shared.iter().map(|s| s.context);
    chain.context.into_iter().chain(shared).chain(chain.globals.iter().copied())
}

#[cfg(test)]
mod tests;
