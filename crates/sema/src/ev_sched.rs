// SPDX-License-Identifier: MIT OR Apache-2.0
//! Event scheduling: where events wait, and which goes first.

use carrick_ir::{self as ir, EventKind, Policy, SchedBlock, SchedInput, SchedInputs};
use carrick_syntax::Span;
use carrick_syntax::ast::{Expr, ExprKind as E, Ident};

use crate::env::Def;
use crate::sched::{Scheduled, block, next_queue};
use crate::{Checker, codes};

/// A schedule of events, as far as it is read.
struct Waiting {
    schedule: ir::Schedule,
    /// those that are named
    queues: Vec<Option<u32>>,
    timers: Option<u32>,
    /// for those that are not named: of a kind, and all others
    net: Option<u32>,
    app: Option<u32>,
    rest: Option<u32>,
}

impl Checker<'_> {
    /// `register_ev_sched(block);`
    pub(crate) fn event_schedule(&mut self, args: &[Expr], span: Span) {
        if self.has_role() {
            let message = "a packet in the network is handled at once: its events are not queued".into();
            return self.misshapen(Scheduled::Events, message, span, "leave this out").unwrap_or_default();
        }
        let mut waiting = Waiting {
            schedule: ir::Schedule { queues: 0, ..ir::Schedule::fifo() },
            queues: vec![None; self.program.events.len()],
            timers: None,
            net: None,
            app: None,
            rest: None,
        };
        let [policy] = args else {
            let mend = "write `register_ev_sched(strict_priority(timer_event, net_event, app_event));`";
            self.misshapen::<()>(Scheduled::Events, "`register_ev_sched` takes one block".into(), span, mend);
            return;
        };
        if self.event_input(policy, &mut waiting).is_none()
            || !self.few_blocks(Scheduled::Events, &waiting.schedule, span)
        {
            return;
        }
        for (at, event) in self.program.events.iter().enumerate() {
            let of_kind = match event.kind {
                EventKind::Net => waiting.net,
                EventKind::App => waiting.app,
                _ => continue,
            };
            let queue = waiting.queues[at].or(of_kind).or(waiting.rest);
            if queue.is_none() {
                let message = format!("`{}` has no queue", event.name);
                let mend = "name it, or add `fifo()` for all events that are not named";
                return self
                    .misscheduled(codes::WAITS_NOWHERE, Scheduled::Events, message, span, mend)
                    .unwrap_or_default();
            }
            waiting.queues[at] = queue;
        }
        let Waiting { mut schedule, queues, timers, .. } = waiting;
        if schedule.blocks.is_empty() {
            let inputs = SchedInputs::Each(vec![SchedInput::Queue(0)]);
            schedule.blocks.push(SchedBlock { policy: Policy::StrictPriority, inputs });
        }
        self.program.event_schedule = Some(ir::EventSchedule { schedule, queues, timers });
    }

    /// A queue or a block, with all that feeds it, put at the end of the schedule.
    fn event_input(&mut self, e: &Expr, waiting: &mut Waiting) -> Option<SchedInput> {
        if let E::Name(name) = &e.kind {
            let queue = next_queue(&mut waiting.schedule);
            if name == "timer_event" {
                self.only_once(waiting.timers.replace(queue).is_some(), "`timer_event`", e.span)?;
            } else {
                self.waits_in(e, queue, waiting)?;
            }
            return Some(SchedInput::Queue(queue));
        }
        let Some((name, args)) = block(e) else {
            return self.misshapen(
                Scheduled::Events,
                "expected a scheduling block for events".into(),
                e.span,
                "write `strict_priority(timer_event, net_event, app_event)`",
            );
        };
        if name == "fifo" {
            let queue = next_queue(&mut waiting.schedule);
            if args.is_empty() {
                self.only_once(
                    waiting.rest.replace(queue).is_some(),
                    "the events that are not named",
                    e.span,
                )?;
            }
            for arg in args {
                self.waits_in(arg, queue, waiting)?;
            }
            return Some(SchedInput::Queue(queue));
        }
        if name == "rate_limiter" {
            let mend = "limit the rate of the packets, in `register_pkt_sched`";
            return self.misshapen(Scheduled::Events, "events have no rate limits".into(), e.span, mend);
        }
        self.event_block(name, args, e.span, waiting)
    }

    fn event_block(
        &mut self,
        name: &str,
        args: &[Expr],
        span: Span,
        waiting: &mut Waiting,
    ) -> Option<SchedInput> {
        let at = waiting.schedule.blocks.len();
        let none = SchedBlock { policy: Policy::StrictPriority, inputs: SchedInputs::Each(Vec::new()) };
        waiting.schedule.blocks.push(none);
        let is_input = |a: &&Expr| block(a).is_some() || matches!(&a.kind, E::Name(n) if self.may_wait(n));
        let count = args.iter().take_while(is_input).count();
        let (inputs, shares) = match args {
            [first, shares @ ..] if matches!(&first.kind, E::Name(n) if n == "PER_FLOW") => {
                self.has_flows(Scheduled::Events, first.span)?;
                let queue = next_queue(&mut waiting.schedule);
                self.only_once(
                    waiting.rest.replace(queue).is_some(),
                    "the events that are not named",
                    first.span,
                )?;
                (SchedInputs::PerFlow(queue), shares)
            }
            _ if !(1..=ir::MOST_INPUTS).contains(&count) => {
                let mend = "its inputs are events, `net_event`, `app_event`, `timer_event`, `PER_FLOW`, or other blocks";
                let message = format!("a block of {count} inputs, not 1 to {}", ir::MOST_INPUTS);
                return self.misshapen(Scheduled::Events, message, span, mend);
            }
            _ => {
                let inputs: Option<Vec<_>> =
                    args[..count].iter().map(|a| self.event_input(a, waiting)).collect();
                (SchedInputs::Each(inputs?), &args[count..])
            }
        };
        let policy = self.policy(Scheduled::Events, name, shares, &inputs, span)?;
        waiting.schedule.blocks[at] = SchedBlock { policy, inputs };
        Some(SchedInput::Block(at as u32))
    }

    /// Whether a name stands for events rather than for a number.
    fn may_wait(&self, name: &str) -> bool {
        let kinds = ["net_event", "app_event", "timer_event"];
        kinds.contains(&name) || matches!(self.env.get(name), Some(Def::Event(_)))
    }

    /// An event, or all of a kind that are not named, waits in a queue.
    fn waits_in(&mut self, e: &Expr, queue: u32, waiting: &mut Waiting) -> Option<()> {
        let E::Name(name) = &e.kind else {
            let mend = "name events, `net_event` or `app_event`";
            return self.misshapen(Scheduled::Events, "this is not an event".into(), e.span, mend);
        };
        let slot = match name.as_str() {
            "net_event" => &mut waiting.net,
            "app_event" => &mut waiting.app,
            "timer_event" => {
                let mend = "give `timer_event` an input of its own";
                return self.misshapen(
                    Scheduled::Events,
                    "timers cannot share a queue with events".into(),
                    e.span,
                    mend,
                );
            }
            _ => {
                let ident = Ident { name: name.clone(), span: e.span };
                let event = self.lookup("event", &ident, |d| match d {
                    Def::Event(event) => Some(event),
                    _ => None,
                })?;
                if !matches!(self.program.events[event.index()].kind, EventKind::Net | EventKind::App) {
                    let message = format!("`{name}` is an event that is never queued");
                    let mend = "name net and app events; timers together are `timer_event`";
                    return self.misshapen(Scheduled::Events, message, e.span, mend);
                }
                &mut waiting.queues[event.index()]
            }
        };
        let twice = slot.replace(queue).is_some();
        self.only_once(twice, &format!("`{name}`"), e.span)
    }

    fn only_once(&mut self, twice: bool, name: &str, span: Span) -> Option<()> {
        if twice {
            let message = format!("{name} would have two queues");
            let mend = "leave out one of the two";
            return self.misscheduled(codes::WAITS_TWICE, Scheduled::Events, message, span, mend);
        }
        Some(())
    }
}
