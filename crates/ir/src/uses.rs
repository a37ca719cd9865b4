//! What a program uses of a target.

use std::collections::BTreeSet;

use crate::{
    BlueprintDef, BpFieldKind, CrcPart, EventKind, Instr, Program, SchedInput, SchedInputs, Schedule,
    StmtKind, walk,
};

/// The name of an instruction in the language.
pub fn instruction_name(instr: &Instr) -> &'static str {
    match instr {
        Instr::NewCtx { .. } => "new_ctx",
        Instr::DelCtx { .. } => "del_ctx",
        Instr::RebindCtx { .. } => "rebind_ctx",
        Instr::NewTxOrderedData { .. } => "new_tx_ordered_data",
        Instr::NewRxOrderedData { .. } => "new_rx_ordered_data",
        Instr::AddTxData { .. } => "add_tx_data",
        Instr::TxFlushAndNotify { .. } => "tx_flush_and_notify",
        Instr::AddRxDataSeg { .. } => "add_rx_data_seg",
        Instr::RxFlushAndNotify { .. } => "rx_flush_and_notify",
        Instr::PutData { .. } => "put_data",
        Instr::PktGen { .. } => "pkt_gen",
        Instr::TimerStart { .. } => "timer_start",
        Instr::TimerRestart { .. } => "timer_restart",
        Instr::TimerStop { .. } => "timer_stop",
        Instr::Notify { .. } => "notify",
        Instr::Raise { .. } => "raise",
        Instr::SetQueueRate { .. } => "set_queue_rate",
        Instr::SetQueuePrio { .. } => "set_queue_prio",
        Instr::Forward { .. } => "forward",
        Instr::Drop => "drop",
        Instr::PktStore { .. } => "pkt_store",
        Instr::PktRelease { .. } => "pkt_release",
        Instr::PktDiscard { .. } => "pkt_discard",
    }
}

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

/// Whether the program reads or writes the memory of requests by address.
pub fn memory(program: &Program) -> bool {
    let mut found = false;
    for function in &program.functions {
        walk::statements(&function.body, &mut |stmt| {
            found |=
                matches!(stmt.kind, StmtKind::SetPayloadAt { .. } | StmtKind::Instr(Instr::PutData { .. }));
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
                found.insert(instruction_name(instr));
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
