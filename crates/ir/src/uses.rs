// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a program uses of a target.

use std::collections::BTreeSet;

use crate::{
    BlueprintDef, BpFieldKind, CrcPart, CtxId, EventId, EventKind, Instr, Needs, Program, SchedInput,
    SchedInputs, Schedule, Stmt, StmtKind, Ty, walk,
};

/// The name of an event kind in the language.
pub fn event_kind_name(kind: EventKind) -> &'static str {
    match kind {
        EventKind::App => "app_event",
        EventKind::Net => "net_event",
        EventKind::Timer => "timer_event",
        EventKind::Sent => "sent_event",
        EventKind::Flow => "flow_event",
    }
}

/// The contexts of which the program retires instances.
pub fn retired(program: &Program) -> BTreeSet<CtxId> {
    let mut found = BTreeSet::new();
    for function in &program.functions {
        walk::statements(&function.body, &mut |stmt| {
            if let StmtKind::Instr(Instr::RetireCtx { ctx }) = &stmt.kind
                && let Ty::Context(kind) = function.locals[ctx.index()].ty
            {
                found.insert(kind);
            }
        });
    }
    found
}

/// Whether the program reads or writes the memory of requests by address.
pub fn memory(program: &Program) -> bool {
    let mut found = false;
    for function in &program.functions {
        walk::statements(&function.body, &mut |stmt| found |= is_on_memory(stmt));
    }
    found
}

/// Whether a statement reads or writes it.
pub fn is_on_memory(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::SetPayloadAt { .. } => true,
        StmtKind::Instr(instr) => instr.opcode().declaration().needs == Needs::Memory,
        _ => false,
    }
}

/// Whether the program stores packets, or sends copies of them.
pub fn stores(program: &Program) -> bool {
    let mut found = false;
    for function in &program.functions {
        walk::statements(&function.body, &mut |stmt| {
            let StmtKind::Instr(instr) = &stmt.kind else { return };
            found |= instr.opcode().declaration().needs == Needs::Store;
        });
    }
    found
}

/// The instructions that the program can issue, by name, in alphabetical order.
pub fn instructions(program: &Program) -> BTreeSet<&'static str> {
    let mut found = BTreeSet::new();
    for function in &program.functions {
        walk::statements(&function.body, &mut |stmt| {
            if let StmtKind::Instr(instr) = &stmt.kind {
                found.insert(instr.opcode().name());
            }
        });
    }
    found
}

/// The scheduling blocks of a schedule, by name, in alphabetical order; `per_flow`: a queue for each flow.
pub fn blocks(schedule: &Schedule) -> BTreeSet<&'static str> {
    let mut found = BTreeSet::new();
    for block in &schedule.blocks {
        found.insert(block.policy.name());
        match &block.inputs {
            SchedInputs::PerFlow(_) => found.insert("per_flow"),
            SchedInputs::Each(inputs) if inputs.iter().any(|i| matches!(i, SchedInput::Queue(_))) => {
                found.insert("fifo")
            }
            SchedInputs::Each(_) => false,
        };
    }
    found
}

/// Whether the program can send a packet because a timer fired. One that cannot does not repair the loss of a last packet, so it does
/// not promise that what it sends arrives.
pub fn sends_on_timer(program: &Program) -> bool {
    let mut sends = Vec::with_capacity(program.functions.len());
    let mut raises: Vec<BTreeSet<EventId>> = Vec::with_capacity(program.functions.len());
    // Functions stand behind those that they call.
    for function in &program.functions {
        let (mut own, mut raised) = (false, BTreeSet::new());
        walk::statements(&function.body, &mut |stmt| match &stmt.kind {
            StmtKind::Call { func, .. } => {
                own |= sends[func.index()];
                raised.extend(&raises[func.index()]);
            }
            StmtKind::Instr(Instr::PktGen { .. }) => own = true,
            StmtKind::Instr(Instr::Raise { event }) => {
                if let Ty::Event(id) = function.locals[event.index()].ty {
                    raised.insert(id);
                }
            }
            _ => {}
        });
        sends.push(own);
        raises.push(raised);
    }
    let timers = (0..).zip(&program.events).filter(|(_, event)| event.kind == EventKind::Timer);
    let mut todo: Vec<EventId> = timers.map(|(number, _)| EventId(number)).collect();
    let mut seen: BTreeSet<EventId> = todo.iter().copied().collect();
    while let Some(event) = todo.pop() {
        let chain = program.chains.get(event.index()).and_then(Option::as_ref);
        for func in chain.into_iter().flat_map(|it| it.present.iter().chain(it.absent.iter().flatten())) {
            if sends[func.index()] {
                return true;
            }
            todo.extend(raises[func.index()].iter().filter(|event| seen.insert(**event)));
        }
    }
    false
}

/// The name of a packet that carries a payload without a checksum over it: what the network changes of that, nobody sees.
pub fn without_checksum(program: &Program) -> Option<&str> {
    let covered = |bp: &BlueprintDef| {
        bp.fields.iter().any(|field| match &field.kind {
            BpFieldKind::Checksum { payload, .. } => *payload,
            BpFieldKind::Crc(crc) => crc.over.contains(&CrcPart::Payload),
            BpFieldKind::Plain { .. } | BpFieldKind::Computed(_) => false,
        })
    };
    let mut packets = program.blueprints.iter().filter(|bp| !bp.frame && bp.payload_name.is_some());
    packets.find(|bp| !covered(bp)).map(|bp| bp.name.as_str())
}
