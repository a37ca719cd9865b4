// SPDX-License-Identifier: MIT OR Apache-2.0
//! Raised events: each runs with all that it raises itself, before anything else. They lie on a stack, what one chain raised
//! beside each other, and the programs run one after the other: runs are not nested, since frames of calls are few.

use std::collections::BTreeSet;

use carrick_emit_c::Emitter;
use carrick_ir::{EventId, EventKind, FuncId, Instr, Program, StmtKind, Ty, walk};

use crate::{shared_lock, writing};

/// What follows from one event, itself included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Following {
    /// how many events lie on the stack at once
    pub waiting: u32,
    /// of how many chains
    pub chains: u32,
}

/// Where events come from: what a program of the kernel runs at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    Parsed,
    Asked,
    Sent,
}

/// So many events that wait at most are run in a loop whose turns the verifier follows, each by itself.
const FEW: u32 = 4;

impl Source {
    pub(crate) const ALL: [Source; 3] = [Source::Parsed, Source::Asked, Source::Sent];

    fn kinds(self) -> &'static [EventKind] {
        match self {
            Source::Parsed => &[EventKind::Net],
            Source::Asked => &[EventKind::App, EventKind::Timer],
            Source::Sent => &[EventKind::Sent],
        }
    }

    /// What is raised by the parser, or by one event from here and what follows it, and the events among that.
    fn raised(self, program: &Program) -> (Following, BTreeSet<EventId>) {
        let (mut known, mut reached) = (vec![None; program.events.len()], BTreeSet::new());
        let first = (0..program.events.len()).map(|at| EventId(at as u32));
        let first = first.filter(|event| self.kinds().contains(&program.events[event.index()].kind));
        let first: Vec<EventId> = first.collect();
        let each: Vec<Following> = first.iter().map(|event| of_event(program, *event, &mut known)).collect();
        let mut open = first.clone();
        while let Some(event) = open.pop() {
            open.extend(raised_of(program, event).into_iter().filter(|raised| reached.insert(*raised)));
        }
        if self == Source::Parsed {
            reached.extend(first);
            return (several(program.max_parsed.max(1), each), reached);
        }
        (each.into_iter().fold(Following { waiting: 0, chains: 0 }, worse), reached)
    }
}

/// The most that follows from anything.
pub(crate) fn following(program: &Program) -> Following {
    let all = Source::ALL.map(|source| source.raised(program).0);
    all.into_iter().fold(Following { waiting: 1, chains: 1 }, worse)
}

fn worse(a: Following, b: Following) -> Following {
    Following { waiting: a.waiting.max(b.waiting), chains: a.chains.max(b.chains) }
}

/// What follows from so many events of these kinds.
fn several(count: u32, kinds: Vec<Following>) -> Following {
    let each = kinds.into_iter().fold(Following { waiting: 0, chains: 0 }, worse);
    Following { waiting: count.saturating_add(each.waiting), chains: each.chains + u32::from(count > 0) }
}

fn of_event(program: &Program, event: EventId, known: &mut [Option<Following>]) -> Following {
    if let Some(found) = known[event.index()] {
        return found;
    }
    let kinds = raised_of(program, event).iter().map(|event| of_event(program, *event, known)).collect();
    let found = several(program.chains[event.index()].as_ref().map_or(0, |c| c.max_raised), kinds);
    known[event.index()] = Some(found);
    found
}

/// The events that the chain of this one raises.
fn raised_of(program: &Program, event: EventId) -> BTreeSet<EventId> {
    let mut raised = BTreeSet::new();
    let chain = program.chains[event.index()].iter();
    for func in chain.flat_map(|c| c.present.iter().chain(c.absent.iter().flatten())) {
        raised_by(program, *func, &mut raised);
    }
    raised
}

/// The events that a run of the function raises.
fn raised_by(program: &Program, func: FuncId, found: &mut BTreeSet<EventId>) {
    let function = &program.functions[func.index()];
    walk::statements(&function.body, &mut |stmt| match &stmt.kind {
        StmtKind::Call { func, .. } => raised_by(program, *func, found),
        StmtKind::Instr(Instr::Raise { event }) => {
            if let Ty::Event(event) = function.locals[event.index()].ty {
                found.insert(event);
            }
        }
        _ => {}
    });
}

/// The members of the core.
pub(crate) fn raised_members(e: &mut Emitter<'_>) {
    e.w.line("uint32_t due; /* the number + 1 of an event that came otherwise than by a packet */");
    e.w.line("/* Raised events, and for each chain that raised some of them: the first one, that to run next, and the end. */");
    e.w.line("uint32_t waiting_count, level_count;");
    e.w.line("struct carrick_level levels[CARRICK_CHAINS];");
}

/// Where raised events lie: of what a processor has, too much for one value of a map.
pub(crate) fn raised_map(e: &mut Emitter<'_>) {
    let raised = format!("struct {}", e.names.own("raised"));
    let waiting = u64::from(following(e.p).waiting);
    writing::map(e, "carrick_raised", "PERCPU_ARRAY", waiting, Some(("uint32_t", &raised)));
}

/// Runs what is due, if it did not come by a packet, and all that is raised.
pub(crate) fn run_from(e: &mut Emitter<'_>, source: Source) {
    let raised = e.names.own("raised");
    let next = e.names.own("next_raised");
    let (name, at) = match source {
        Source::Parsed => ("run_parsed", ""),
        Source::Asked => ("run_host_request", "core->host_request.event"),
        Source::Sent => ("run_sent", "core->brought.event"),
    };
    let events = source.raised(e.p).1;
    e.open_on_core("CARRICK_INLINE void ", name, "");
    if source != Source::Parsed {
        runs(e, |_, kind| source.kinds().contains(&kind), "core->due == ", 1, at);
        e.w.line("core->due = 0;");
    }
    if !events.is_empty() {
        e.w.line(format!("{raised}_here(core);"));
        e.w.open(match following(e.p) {
            // Each of these is run once, and then there are no more.
            Following { waiting, chains: 1 } if waiting <= FEW => {
                format!("for (uint32_t turn = 0; turn <= {waiting}u && core->level_count > 0; turn++) {{")
            }
            _ => "while (core->level_count > 0 && CARRICK_GOES_ON) {".to_owned(),
        });
        e.w.line(format!("struct {raised} *raised = {next}(core);"));
        e.w.line("if (!raised)\n    continue;");
        e.w.line("uint32_t kind = raised->kind;");
        runs(e, |event, _| events.contains(&event), "kind == ", 0, "raised->event");
        e.w.line(format!("{raised}_here(core);"));
        e.w.close("}");
    }
    shared_lock::let_go(e);
    e.w.end();
}

/// Runs the chain of that event of these whose number, and so much more, is what the condition asks for.
fn runs(
    e: &mut Emitter<'_>,
    of: impl Fn(EventId, EventKind) -> bool,
    condition: &str,
    more: usize,
    at: &str,
) {
    for (index, event) in e.p.events.iter().enumerate() {
        if of(EventId(index as u32), event.kind) && e.p.chains[index].is_some() {
            let own = e.names.own(&event.name);
            e.w.line(format!("if ({condition}{})", index + more));
            e.w.line(format!("    (void){own}_run(core, &{at}.{}_);", event.name));
        }
    }
}
