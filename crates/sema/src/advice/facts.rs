// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the functions of a program do with its declarations.

use std::collections::BTreeSet;

use carrick_ir::{CtxId, EventId, Function, Instr, LocalId, Program, RuleId, StmtKind, TimerId, Ty, walk};

/// Which declarations instructions name, in any function.
#[derive(Default)]
pub(super) struct Facts {
    pub started: BTreeSet<(CtxId, TimerId)>,
    pub made: BTreeSet<CtxId>,
    pub raised: BTreeSet<EventId>,
    pub sent: BTreeSet<EventId>,
    pub rules: BTreeSet<RuleId>,
    /// contexts whose units are made, for sending and for receiving
    pub tx_made: BTreeSet<CtxId>,
    pub rx_made: BTreeSet<CtxId>,
    /// contexts whose units are used
    pub tx_used: BTreeSet<CtxId>,
    pub rx_used: BTreeSet<CtxId>,
}

impl Facts {
    pub(super) fn of(program: &Program) -> Facts {
        let mut facts = Facts::default();
        for function in &program.functions {
            walk::statements(&function.body, &mut |stmt| match &stmt.kind {
                StmtKind::Instr(instr) => facts.add(function, instr),
                StmtKind::SetPayload { ctx, .. } => facts.tx_used.extend(context(function, *ctx)),
                StmtKind::SetPayloadOf { ctx, .. } => _ = facts.tx_used.insert(*ctx),
                _ => {}
            });
        }
        facts
    }

    fn add(&mut self, function: &Function, instr: &Instr) {
        match instr {
            Instr::TimerStart { ctx, timer, .. } | Instr::TimerRestart { ctx, timer, .. } => {
                self.started.extend(context(function, *ctx).map(|ctx| (ctx, *timer)));
            }
            Instr::NewCtx { ctx, .. } => _ = self.made.insert(*ctx),
            Instr::Raise { event } => self.raised.extend(event_of(function, *event)),
            Instr::PktGen { rules, sent, .. } => {
                self.rules.extend(rules);
                self.sent.extend(sent.and_then(|sent| event_of(function, sent)));
            }
            Instr::NewTxOrderedData { ctx, .. } => self.tx_made.extend(context(function, *ctx)),
            Instr::NewRxOrderedData { ctx, .. } => self.rx_made.extend(context(function, *ctx)),
            Instr::AddTxData { ctx, .. } => self.tx_used.extend(context(function, *ctx)),
            Instr::AddRxDataSeg { ctx, .. } => self.rx_used.extend(context(function, *ctx)),
            _ => {}
        }
    }
}

fn context(function: &Function, local: LocalId) -> Option<CtxId> {
    if let Ty::Context(ctx) = function.locals[local.index()].ty { Some(ctx) } else { None }
}

fn event_of(function: &Function, local: LocalId) -> Option<EventId> {
    if let Ty::Event(event) = function.locals[local.index()].ty { Some(event) } else { None }
}
