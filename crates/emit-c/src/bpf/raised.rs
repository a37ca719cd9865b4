// SPDX-License-Identifier: MIT OR Apache-2.0
//! Raised events: each runs with all that it raises itself, before anything else. They lie on a stack, what one chain raised
//! beside each other, and the programs run one after the other: runs are not nested, since frames of calls are few.

use std::collections::BTreeSet;

use carrick_ir::{EventId, EventKind, FuncId, Instr, Program, StmtKind, Ty, walk};

use crate::Emitter;

/// What follows from one event, itself included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Following {
    /// how many events lie on the stack at once
    pub waiting: u32,
    /// of how many chains
    pub chains: u32,
}

/// Where events come from: what a program of the kernel runs at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    Parsed,
    Asked,
    Sent,
}

/// So many events that wait at most are run in a loop whose turns the verifier follows, each by itself.
const FEW: u32 = 4;

impl Source {
    pub(super) const ALL: [Source; 3] = [Source::Parsed, Source::Asked, Source::Sent];

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
pub(super) fn following(program: &Program) -> Following {
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

impl Emitter<'_> {
    /// The members of the core.
    pub(super) fn raised_members(&mut self) {
        self.w.line("uint32_t due; /* the number + 1 of an event that came otherwise than by a packet */");
        self.w.line("/* Raised events, and for each chain that raised some of them: the first one, that to run next, and the end. */");
        self.w.line("uint32_t waiting_count, level_count;");
        self.w.line("struct carrick_level levels[CARRICK_CHAINS];");
    }

    /// Where raised events lie: of what a processor has, too much for one value of a map.
    pub(super) fn raised_map(&mut self) {
        let raised = format!("struct {}", self.names.own("raised"));
        let waiting = u64::from(following(self.p).waiting);
        self.map("carrick_raised", "PERCPU_ARRAY", waiting, Some(("uint32_t", &raised)));
    }

    /// In place of `raise` elsewhere.
    pub(crate) fn raise_in_kernel(&mut self, kind: EventId, event: &str, local: &str) {
        self.w.open("{");
        self.w.line("uint32_t place = core->waiting_count;");
        self.w.line(format!(
            "struct {} *raised = bpf_map_lookup_elem(&carrick_raised, &place);",
            self.names.own("raised")
        ));
        self.w.open("if (raised) {");
        self.w.line(format!("raised->kind = {};", kind.0));
        self.w.line(format!("CARRICK_COPY(&raised->event.{event}_, &{local});"));
        self.w.line("core->waiting_count++;");
        self.w.line("chain->raised_count++;");
        self.w.close("}");
        self.w.close("}");
    }

    /// Runs what is due, if it did not come by a packet, and all that is raised.
    pub(super) fn run_from(&mut self, source: Source) {
        let raised = self.names.own("raised");
        let next = self.names.own("next_raised");
        let (name, at) = match source {
            Source::Parsed => ("run_parsed", ""),
            Source::Asked => ("run_host_request", "core->host_request.event"),
            Source::Sent => ("run_sent", "core->brought.event"),
        };
        let events = source.raised(self.p).1;
        self.open_on_core("CARRICK_INLINE void ", name, "");
        if source != Source::Parsed {
            self.runs(|_, kind| source.kinds().contains(&kind), "core->due == ", 1, at);
            self.w.line("core->due = 0;");
        }
        if !events.is_empty() {
            self.w.line(format!("{raised}_here(core);"));
            self.w.open(match following(self.p) {
                // Each of these is run once, and then there are no more.
                Following { waiting, chains: 1 } if waiting <= FEW => {
                    format!("for (uint32_t turn = 0; turn <= {waiting}u && core->level_count > 0; turn++) {{")
                }
                _ => "while (core->level_count > 0 && CARRICK_GOES_ON) {".to_owned(),
            });
            self.w.line(format!("struct {raised} *raised = {next}(core);"));
            self.w.line("if (!raised)\n    continue;");
            self.w.line("uint32_t kind = raised->kind;");
            self.runs(|event, _| events.contains(&event), "kind == ", 0, "raised->event");
            self.w.line(format!("{raised}_here(core);"));
            self.w.close("}");
        }
        self.let_go();
        self.w.end();
    }

    /// Runs the chain of that event of these whose number, and so much more, is what the condition asks for.
    fn runs(&mut self, of: impl Fn(EventId, EventKind) -> bool, condition: &str, more: usize, at: &str) {
        for (index, event) in self.p.events.iter().enumerate() {
            if of(EventId(index as u32), event.kind) && self.p.chains[index].is_some() {
                let own = self.names.own(&event.name);
                self.w.line(format!("if ({condition}{})", index + more));
                self.w.line(format!("    (void){own}_run(core, &{at}.{}_);", event.name));
            }
        }
    }
}
