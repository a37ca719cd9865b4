// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where each chain of a program runs, on a target that has several sites for code.
//!
//! A chain is one atomic step on its contexts, so it is never cut: all of its processors run at one site. Which one
//! follows from what they do. Nothing in a program says it.

mod obstacles;
mod packets;
mod placed;
mod reach;
mod state;

use carrick_ir::bounds::costs;
use carrick_ir::{EventId, EventKind, FuncId, Instr, Program, StmtKind, Ty, walk};

pub use placed::{Held, Made, Placed, Placement, Site, Why};
pub use reach::reachable;

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

#[cfg(test)]
mod tests;
