//! Packet scheduling: the queues in which blueprints wait.

use carrick_ir::{self as ir, Instr, StmtKind, Ty};
use carrick_syntax::Span;
use carrick_syntax::ast::{Expr, ExprKind as E};
use carrick_syntax::diag::Diagnostic;

use crate::{Checker, codes};

/// How many queues there can be.
const QUEUES: std::ops::RangeInclusive<u64> = 1..=16;

impl Checker<'_> {
    /// `register_pkt_sched(strict_priority(N));`
    pub(crate) fn packet_schedule(&mut self, args: &[Expr], span: Span) {
        let queues = match args {
            [policy] => match &policy.kind {
                E::Call(callee, args) if matches!(&callee.kind, E::Name(n) if n == "strict_priority") => {
                    match &args[..] {
                        [count] => self.constant(count, &Ty::U64),
                        _ => None,
                    }
                }
                _ => None,
            },
            _ => None,
        };
        match queues.filter(|n| QUEUES.contains(n)) {
            Some(queues) => self.program.tx_queues = queues as u32,
            None => self.report(
                Diagnostic::error(
                    codes::DEPLOY_CALL,
                    "this is not a way to schedule packets",
                    span,
                    "in deploy",
                )
                .note("packets wait in 1 to 16 queues; those of an earlier queue go before those of a later one")
                .mend("write `register_pkt_sched(strict_priority(N));`"),
            ),
        }
    }

    /// A queue is named only where there are some.
    pub(crate) fn queues_are_there(&mut self, span: Span) {
        let mut named = false;
        for function in &self.program.functions {
            ir::walk::statements(&function.body, &mut |s| {
                named |= matches!(&s.kind, StmtKind::Instr(Instr::PktGen { queue: Some(_), .. }));
            });
        }
        if named {
            self.report(
                Diagnostic::error(
                    codes::DEPLOY_MISSING,
                    "`register_pkt_sched(...)` is missing",
                    span,
                    "not said here",
                )
                .note("a `pkt_gen` says in which queue its packets wait")
                .mend("add `register_pkt_sched(strict_priority(N));` with the number of queues"),
            );
        }
    }
}
