// SPDX-License-Identifier: MIT OR Apache-2.0
//! Events and their chains.

use carrick_ir::{EventKind, FuncId, KeyPart};

use crate::api::TraceKind;
use crate::contexts::Handle;
use crate::counters::{EVENTS, NO_CONTEXT};
use crate::event_queue::Raised;
use crate::layout::{CTX_ID, EVENT_ID};
use crate::linked::{Chain, Given, Linked, Processor};
use crate::machine::Machine;

/// `status_t` of a request whose event found no one to see to it.
const CLOSED: u64 = 5;

impl Machine {
    /// Handles the event at the stack's beginning; its flow id says for which context.
    pub(crate) fn event_by_id(&mut self, p: &Linked, event: usize) {
        let at = self.chain_context(p, event).and_then(|ctx| self.by_id(p, event, ctx));
        self.event(p, event, at);
    }

    /// Handles the event at the stack's beginning, for the context with a handle.
    pub(crate) fn event_on(&mut self, p: &Linked, event: usize, handle: u64) {
        let at = self.event_instance(p, event, handle);
        if let Some((at, ctx)) = at.zip(self.chain_context(p, event)) {
            let ids = p.program.words_of_id(p.program.contexts[ctx].id);
            if p.program.events[event].id == Some(p.program.contexts[ctx].id) {
                let from = at + CTX_ID as usize;
                self.mem.copy_within(from..from + ids, (p.map.stack + EVENT_ID) as usize);
            }
        }
        self.event(p, event, at);
    }

    /// The instance with a handle, if it is of the context that an event is for.
    pub(crate) fn event_instance(&self, p: &Linked, event: usize, handle: u64) -> Option<usize> {
        let wanted = self.chain_context(p, event)?;
        Handle::of(handle).filter(|h| h.ctx == wanted)?;
        self.instance(handle)
    }

    pub(crate) fn chain_context(&self, p: &Linked, event: usize) -> Option<usize> {
        p.chains[event].as_ref().and_then(|chain| chain.context)
    }

    /// The instance that the event at the stack's beginning is for, by its flow id.
    pub(crate) fn by_id(&self, p: &Linked, event: usize, ctx: usize) -> Option<usize> {
        let def = &p.program.contexts[ctx];
        if p.program.events[event].id != Some(def.id) {
            return None;
        }
        let ids = p.program.words_of_id(def.id);
        let from = (p.map.stack + EVENT_ID) as usize;
        let id = &self.mem[from..from + ids];
        let found = |id: &[u64]| self.instances[ctx].find(&self.mem, id);
        let slot = found(id).or_else(|| {
            let chain = p.chains[event].as_ref().filter(|chain| !chain.fallback.is_empty())?;
            let other = chain.fallback.iter().map(|part| match part {
                KeyPart::Same(at) => id[*at as usize],
                KeyPart::Const(value) => *value,
            });
            found(&other.collect::<Vec<_>>())
        })?;
        Some(self.instances[ctx].address(slot))
    }

    /// Handles the event at the stack's beginning, on the context at `at`, and all that it raises.
    fn event(&mut self, p: &Linked, event: usize, at: Option<usize>) {
        let first = self.raised.len();
        match &p.chains[event] {
            Some(chain) => self.chain(p, event, chain, at),
            None => self.close_request(p, event),
        }
        self.run_raised(p, first, |m, p, event| m.event_by_id(p, event));
    }

    /// Handles the raised events from `first` on, in order.
    pub(crate) fn run_raised(
        &mut self,
        p: &Linked,
        first: usize,
        handle: impl Fn(&mut Machine, &Linked, usize),
    ) {
        let end = self.raised.len();
        for i in first..end {
            let Raised { event, at } = self.raised[i];
            let (stack, size) = (p.map.stack as usize, p.layout.events[event].size as usize);
            self.mem[stack..stack + size].copy_from_slice(&self.raised_cells[at..at + size]);
            handle(self, p, event);
        }
        if first < end {
            self.raised_cells.truncate(self.raised[first].at);
            self.raised.truncate(first);
        }
    }

    fn chain(&mut self, p: &Linked, event: usize, chain: &Chain, at: Option<usize>) {
        let stack = p.map.stack as usize;
        let shared = at.and_then(|at| self.shared_by(chain, at));
        // A context that lacks one of those that it shares counts as absent itself.
        let at = at.filter(|_| shared.is_some());
        let shared = shared.unwrap_or_default();
        let handle = at.map_or(0, |at| self.mem[at]);
        self.record(TraceKind::Event, event, |m, out| {
            out.push(handle);
            m.event_words(p, event, stack, out);
        });
        let processors = if chain.context.is_none() || at.is_some() {
            &chain.present
        } else if let Some(absent) = &chain.absent {
            absent
        } else {
            self.drop_packet(NO_CONTEXT);
            self.close_request(p, event);
            return;
        };
        self.count(EVENTS);
        (self.current, self.current_event) = (handle, Some(event as u32));
        for (cell, init) in &chain.scratch {
            self.init(init, stack, *cell as usize);
        }
        if !self.run_outside(p, event, at) {
            self.processors(p, processors, at.unwrap_or(0), &shared);
        }
        self.delete_doomed(p);
        self.check_invariants(p, chain, handle, &shared);
        if self.trace.is_some() && self.instance(handle).is_some() {
            let (at, ctx) = (at.unwrap_or(0), chain.context.unwrap_or(0));
            self.record_context(p, ctx, at);
        }
        let globals = chain.globals.iter().map(|ctx| (*ctx, self.instances[*ctx].address(0)));
        let others = chain.shared.iter().map(|(ctx, _)| *ctx).zip(shared).chain(globals);
        for (ctx, at) in others.collect::<Vec<_>>() {
            self.record_context(p, ctx, at);
        }
    }

    /// The instances that a context shares with other flows; `None` if one is not there.
    fn shared_by(&self, chain: &Chain, at: usize) -> Option<Vec<usize>> {
        let id = at + CTX_ID as usize;
        let found = chain.shared.iter().map(|(ctx, parts)| {
            let key: Vec<u64> = parts.iter().map(|part| self.mem[id + part]).collect();
            let slot = self.instances[*ctx].find(&self.mem, &key)?;
            Some(self.instances[*ctx].address(slot))
        });
        found.collect()
    }

    /// Runs the invariants of a chain's context, if that lives on, and of the shared and the global ones.
    fn check_invariants(&mut self, p: &Linked, chain: &Chain, handle: u64, shared: &[usize]) {
        if !chain.invariants.is_empty()
            && let Some(at) = self.instance(handle)
        {
            self.processors(p, &chain.invariants, at, shared);
        }
        // In an absent chain there are only global contexts.
        let there = chain
            .other_invariants
            .iter()
            .filter(|i| !shared.is_empty() || !i.args.iter().any(|given| matches!(given, Given::Shared(_))));
        self.processors(p, there, 0, shared);
    }

    /// Completes the request of an app event that no one sees to.
    fn close_request(&mut self, p: &Linked, event: usize) {
        if p.program.events[event].kind == EventKind::App {
            self.notify(self.mem[p.map.stack as usize], CLOSED, 0);
        }
    }

    fn processors<'c>(
        &mut self,
        p: &Linked,
        processors: impl IntoIterator<Item = &'c Processor>,
        context: usize,
        shared: &[usize],
    ) {
        let fp = p.map.frames as usize;
        for processor in processors {
            for (given, cell) in processor.args.iter().zip(&p.funcs[processor.func].params) {
                self.mem[fp + *cell as usize] = match given {
                    Given::Event => u64::from(p.map.stack),
                    Given::Context => context as u64,
                    Given::Shared(at) => shared[*at] as u64,
                    Given::Global(ctx) => self.instances[*ctx].address(0) as u64,
                    Given::Fixed(at) => u64::from(*at),
                };
            }
            if self.run(p, processor.func, fp) {
                return;
            }
        }
    }

    /// Runs a parser on the received packet; `more` are its arguments behind packet and network header. The events that
    /// it raises are in `raised` then.
    pub(crate) fn parse(&mut self, p: &Linked, parser: FuncId, more: &[u64]) {
        let parser = parser.index();
        (self.current, self.current_event) = (0, None);
        let fp = p.map.frames as usize;
        // The packet itself is not in memory; what it stands for is never read there.
        let given = [0, u64::from(p.map.net)].into_iter().chain(more.iter().copied());
        // An IPv6 address, which is the last one, has two cells.
        let params = &p.funcs[parser].params;
        let cells = params.iter().copied().chain(params.last().map(|last| last + 1));
        for (cell, value) in cells.zip(given) {
            self.mem[fp + cell as usize] = value;
        }
        self.run(p, parser, fp);
    }
}
