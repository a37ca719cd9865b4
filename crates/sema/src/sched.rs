// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packet scheduling: the blocks of queues in which blueprints wait.

use carrick_ir::{
    self as ir, EVENT_QUANTUM, MOST_BLOCKS, MOST_INPUTS, Policy, QUANTUM, SchedBlock, SchedInput,
    SchedInputs, Ty,
};
use carrick_syntax::Span;
use carrick_syntax::ast::{Expr, ExprKind as E};
use carrick_syntax::diag::Diagnostic;

use crate::body::Body;
use crate::checker::{QueueUse, Wanted};
use crate::{Checker, codes};

const BLOCKS: [&str; 4] = ["fifo", "strict_priority", "drr", "rate_limiter"];
const FORMS: &str =
    "blocks are `fifo()`, `strict_priority(inputs)`, `drr(inputs, quantum)` and `rate_limiter(inputs, rate)`";
const INPUTS: &str = "its inputs are a number of queues (1 to 16), `PER_FLOW`, or other blocks";

const EVENT_FORMS: &str = "blocks are `fifo(events)`, `strict_priority(inputs)` and `drr(inputs, quantum)`";

/// What is scheduled.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scheduled {
    Packets,
    Events,
}

impl Wanted {
    fn meets(self, policy: &Policy) -> bool {
        match self {
            Wanted::Any => true,
            Wanted::Rate => matches!(policy, Policy::RateLimiter(_)),
            Wanted::Priority => matches!(policy, Policy::StrictPriority),
        }
    }
}

/// A block as it is written: its name and its arguments.
pub(crate) fn block(e: &Expr) -> Option<(&str, &[Expr])> {
    let E::Call(callee, args) = &e.kind else { return None };
    let E::Name(name) = &callee.kind else { return None };
    BLOCKS.contains(&name.as_str()).then_some((name, args))
}

impl Checker<'_> {
    /// `register_pkt_sched(block);`
    pub(crate) fn packet_schedule(&mut self, args: &[Expr], span: Span) {
        let mut schedule = ir::Schedule { queues: 0, ..ir::Schedule::fifo() };
        // Without one there is no queue of which more could be said.
        self.program.schedule.queues = 0;
        let [policy] = args else {
            return self.no_schedule(span);
        };
        if self.schedule_input(policy, &mut schedule).is_none() {
            return;
        }
        if !self.few_blocks(Scheduled::Packets, &schedule, span) {
            return;
        }
        self.program.schedule = schedule;
    }

    pub(crate) fn few_blocks(&mut self, what: Scheduled, schedule: &ir::Schedule, span: Span) -> bool {
        let count = schedule.blocks.len();
        if count > MOST_BLOCKS {
            let message = format!("{count} blocks are more than {MOST_BLOCKS}");
            self.misshapen::<()>(what, message, span, "leave out a block that has one input only");
        }
        count <= MOST_BLOCKS
    }

    fn no_schedule(&mut self, span: Span) {
        self.report(
            Diagnostic::error(
                codes::DEPLOY_CALL,
                "expected a scheduling block for packets",
                span,
                "in deploy",
            )
            .note(FORMS)
            .mend("write `register_pkt_sched(strict_priority(N));`"),
        );
    }

    pub(crate) fn misshapen<T>(
        &mut self,
        what: Scheduled,
        message: String,
        span: Span,
        mend: &str,
    ) -> Option<T> {
        let code = match what {
            Scheduled::Packets => codes::SCHED_BLOCK,
            Scheduled::Events => codes::EVENT_SCHED,
        };
        self.misscheduled(code, what, message, span, mend)
    }

    /// The same, with a code of its own.
    pub(crate) fn misscheduled<T>(
        &mut self,
        code: u16,
        what: Scheduled,
        message: String,
        span: Span,
        mend: &str,
    ) -> Option<T> {
        let forms = match what {
            Scheduled::Packets => FORMS,
            Scheduled::Events => EVENT_FORMS,
        };
        self.report(
            Diagnostic::error(code, message, span, "invalid scheduling block").note(forms).mend(mend),
        );
        None
    }

    /// A queue or a block, with all that feeds it, put at the end of the schedule.
    fn schedule_input(&mut self, e: &Expr, schedule: &mut ir::Schedule) -> Option<SchedInput> {
        let Some((name, args)) = block(e) else {
            self.no_schedule(e.span);
            return None;
        };
        if name == "fifo" {
            if !args.is_empty() {
                return self.misshapen(
                    Scheduled::Packets,
                    "`fifo` takes nothing".into(),
                    e.span,
                    "write `fifo()`",
                );
            }
            return Some(SchedInput::Queue(next_queue(schedule)));
        }
        let at = schedule.blocks.len();
        let none = SchedBlock { policy: Policy::StrictPriority, inputs: SchedInputs::Each(Vec::new()) };
        schedule.blocks.push(none);
        let (inputs, shares) = self.block_inputs(name, args, e.span, schedule)?;
        let policy = self.policy(Scheduled::Packets, name, shares, &inputs, e.span)?;
        schedule.blocks[at] = SchedBlock { policy, inputs };
        Some(SchedInput::Block(at as u32))
    }

    /// The inputs of a block, and the arguments behind them.
    fn block_inputs<'e>(
        &mut self,
        name: &str,
        args: &'e [Expr],
        span: Span,
        schedule: &mut ir::Schedule,
    ) -> Option<(SchedInputs, &'e [Expr])> {
        let blocks = args.iter().take_while(|a| block(a).is_some()).count();
        let (first, count, shares) = match args {
            _ if blocks > MOST_INPUTS => {
                let message = format!("{blocks} inputs are more than {MOST_INPUTS}");
                return self.misshapen(
                    Scheduled::Packets,
                    message,
                    span,
                    "let some of them feed a block of their own",
                );
            }
            _ if blocks > 0 => {
                let inputs: Option<Vec<_>> =
                    args[..blocks].iter().map(|a| self.schedule_input(a, schedule)).collect();
                return Some((SchedInputs::Each(inputs?), &args[blocks..]));
            }
            [first, shares @ ..] => match &first.kind {
                E::Name(n) if n == "PER_FLOW" => return self.flow_inputs(first.span, shares, schedule),
                _ => (first, self.constant(first, &Ty::U64)?, shares),
            },
            [] => return self.misshapen(Scheduled::Packets, format!("`{name}` has no inputs"), span, INPUTS),
        };
        if !(1..=MOST_INPUTS as u64).contains(&count) {
            return self.misshapen(
                Scheduled::Packets,
                format!("a block of {count} queues"),
                first.span,
                INPUTS,
            );
        }
        let inputs = (0..count).map(|_| SchedInput::Queue(next_queue(schedule))).collect();
        Some((SchedInputs::Each(inputs), shares))
    }

    fn flow_inputs<'e>(
        &mut self,
        span: Span,
        shares: &'e [Expr],
        schedule: &mut ir::Schedule,
    ) -> Option<(SchedInputs, &'e [Expr])> {
        self.has_flows(Scheduled::Packets, span)?;
        Some((SchedInputs::PerFlow(next_queue(schedule)), shares))
    }

    /// A queue for each flow is possible.
    pub(crate) fn has_flows(&mut self, what: Scheduled, span: Span) -> Option<()> {
        if self.program.contexts.iter().all(|c| c.global) {
            let mend = "name the queues, or declare the context of a flow";
            return self.misshapen(what, "`PER_FLOW` needs a context that is not global".into(), span, mend);
        }
        Some(())
    }

    /// A block's policy, with a quantum or a rate for each input, or for all flows.
    pub(crate) fn policy(
        &mut self,
        of: Scheduled,
        name: &str,
        args: &[Expr],
        inputs: &SchedInputs,
        span: Span,
    ) -> Option<Policy> {
        let count = match inputs {
            SchedInputs::PerFlow(_) => 1,
            SchedInputs::Each(inputs) => inputs.len(),
        };
        let (what, ty, range) = match name {
            "strict_priority" if args.is_empty() => return Some(Policy::StrictPriority),
            "strict_priority" => {
                let message = "`strict_priority` takes nothing but its inputs".into();
                return self.misshapen(
                    of,
                    message,
                    span,
                    "the first input has priority over the second, and so on",
                );
            }
            "drr" if of == Scheduled::Events => ("quantum", Ty::U64, EVENT_QUANTUM),
            "drr" => ("quantum", Ty::Bytes, QUANTUM),
            _ => ("rate", Ty::Rate, 0..=u64::MAX),
        };
        if args.len() != 1 && args.len() != count {
            let message = format!("`{name}` takes a {what} for all its inputs, or {count} of them");
            return self.misshapen(of, message, span, "write it after the inputs");
        }
        let mut shares = Vec::new();
        for arg in args {
            let share = Body::for_declaration(self).value_of_type(arg, &ty)?;
            if self.fold(&share).is_some_and(|n| !range.contains(&n)) {
                let mend = match of {
                    Scheduled::Packets => "a quantum is 64 B to 1 GiB, at best the size of a packet or more",
                    Scheduled::Events => "a quantum is 1 to 65536 events",
                };
                return self.misscheduled(
                    codes::QUANTUM,
                    of,
                    "this quantum is out of range".into(),
                    arg.span,
                    mend,
                );
            }
            shares.push(share);
        }
        shares.resize(count, shares[0].clone());
        Some(if name == "drr" { Policy::Drr(shares) } else { Policy::RateLimiter(shares) })
    }

    /// What instructions say of queues fits the queues that there are; `span` is that of deploy, `scheduled` whether it
    /// says how packets wait.
    pub(crate) fn check_queues(&mut self, span: Span, scheduled: bool) {
        let uses = std::mem::take(&mut self.queue_uses);
        if scheduled {
            return uses.iter().for_each(|used| self.check_queue(used));
        }
        let Some(used) = uses.first() else { return };
        let note = match used.what {
            Wanted::Any => "a `pkt_gen` says in which queue its packets wait",
            Wanted::Rate => "a `set_queue_rate` says how fast a queue sends",
            Wanted::Priority => "a `set_queue_prio` sets the priority of a queue",
        };
        self.report(
            Diagnostic::error(
                codes::SCHED_MISSING,
                "`register_pkt_sched(...)` is missing",
                span,
                "missing in this program",
            )
            .note(note)
            .mend(
                "add `register_pkt_sched(strict_priority(N));` with the number of queues, or another block",
            ),
        );
    }

    fn check_queue(&mut self, used: &QueueUse) {
        let schedule = &self.program.schedule;
        let last = u64::from(schedule.queues.saturating_sub(1));
        let meets = |number: u32| schedule.nearest(number, |p| used.what.meets(p)).is_some();
        let possible = match used.number {
            Some(number) => meets(number.min(last) as u32),
            None => (0..schedule.queues).any(meets),
        };
        let queues = schedule.queues;
        if queues != 0 && used.number.is_some_and(|n| n > last) {
            let message = format!("there is no queue {}", used.number.unwrap_or_default());
            self.report(
                Diagnostic::warning(codes::QUEUE_TOO_HIGH, message, used.span, "counts as the last")
                    .mend(format!("queues are numbered from 0 to {last}")),
            );
            return;
        }
        if used.what == Wanted::Any || possible || queues == 0 {
            return;
        }
        let (message, mend) = match used.what {
            Wanted::Rate => ("this queue passes no rate limiter", "rate_limiter(inputs, rate)"),
            _ => ("this queue passes no `strict_priority`", "strict_priority(inputs)"),
        };
        self.report(
            Diagnostic::error(codes::SCHED_QUEUE, message, used.span, "nothing to set")
                .note("it is set at the nearest such block that the queue's packets pass")
                .mend(format!("make the queue an input of a `{mend}`, in `register_pkt_sched`")),
        );
    }
}

pub(crate) fn next_queue(schedule: &mut ir::Schedule) -> u32 {
    schedule.queues += 1;
    schedule.queues - 1
}
