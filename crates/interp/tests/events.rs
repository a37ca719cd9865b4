// SPDX-License-Identifier: MIT OR Apache-2.0
//! Contexts, events and timers: what happens, and in which order.

mod common;

use carrick_interp::{Core, Data, Record, TraceKind};
use carrick_ir::Loc;
use common::*;

const FIRST: u64 = 1 << 56 | 1 << 32;
const CLOSED: u8 = 5;

fn machine() -> Core {
    let mut core = core(&compile(include_str!("programs/machine.mtp")), A);
    assert_eq!(ask(&mut core, "make", &[70]).value, 3, "the field's initial value");
    core
}

fn on(core: &mut Core, handle: u64, name: &str, args: &[u64]) -> carrick_interp::Completion {
    call(core, name, handle, 9, args, Data::None).unwrap();
    core.next_completion().expect("the request completes")
}

fn log(core: &mut Core, handle: u64) -> u64 {
    on(core, handle, "log", &[]).value
}

fn start(core: &mut Core, which: u64, after: u64, again: bool) -> u64 {
    on(core, FIRST, "start", &[which, after, again.into()]).value
}

#[test]
fn timers_fire_by_deadline_and_then_by_starting() {
    let mut core = machine();
    start(&mut core, 2, 20, false);
    start(&mut core, 1, 10, false);
    assert_eq!(start(&mut core, 1, 99, false), 6, "runs already: its deadline stays");
    assert_eq!(core.next_deadline(), Some(10));
    core.advance(9).unwrap();
    assert_eq!(log(&mut core, FIRST), 10);
    core.advance(20).unwrap();
    assert_eq!(log(&mut core, FIRST), 1034, "t1 starts t0, for the next moment");
    assert_eq!(core.next_deadline(), Some(21));
    core.advance(21).unwrap();
    assert_eq!(log(&mut core, FIRST), 10342);
    assert_eq!(core.next_deadline(), None);
}

#[test]
fn equal_deadlines_keep_the_order_of_starting() {
    let mut core = machine();
    start(&mut core, 2, 10, false);
    start(&mut core, 0, 10, false);
    start(&mut core, 1, 10, false);
    start(&mut core, 2, 10, true);
    core.advance(10).unwrap();
    assert_eq!(log(&mut core, FIRST), 10234, "restarting goes to the end");
}

#[test]
fn a_timer_that_restarts_itself_for_now_does_not_hold_up_the_core() {
    let mut core = machine();
    on(&mut core, FIRST, "start", &[3, 0, 0]);
    for turn in 1..4 {
        assert_eq!(core.next_deadline(), Some(turn * 100 - 99));
        core.advance(turn * 100).unwrap();
    }
    assert_eq!(log(&mut core, FIRST), 10666, "once in each turn");
}

#[test]
fn stopped_timers_do_not_fire_and_time_does_not_go_back() {
    let mut core = machine();
    start(&mut core, 1, 10, false);
    on(&mut core, FIRST, "stop_it", &[1]);
    assert_eq!(core.next_deadline(), None);
    core.advance(1000).unwrap();
    core.advance(500).unwrap();
    start(&mut core, 2, 1, false);
    assert_eq!(core.next_deadline(), Some(1001));
}

#[test]
fn raised_events_run_after_the_chain_each_with_its_own_first() {
    let mut core = machine();
    on(&mut core, FIRST, "raise_it", &[1]);
    assert_eq!(log(&mut core, FIRST), 10_561526, "scratchpad 5, then 6; 1 with its 5; 2 with its 6");
}

#[test]
fn a_timer_event_of_a_deleted_context_does_not_run() {
    let mut core = machine();
    start(&mut core, 1, 10, false);
    on(&mut core, FIRST, "end", &[0]);
    assert_eq!((core.next_deadline(), core.open_contexts()), (None, 0));
    assert_eq!(on(&mut core, FIRST, "log", &[]).status, CLOSED);
    assert_eq!(count(&core, "no_context"), 1);
}

#[test]
fn slots_are_bounded_and_ids_are_taken_once() {
    let mut core = machine();
    ask(&mut core, "make", &[70]);
    assert_eq!(count(&core, "ctx_refused"), 1);
    ask(&mut core, "make", &[71]);
    ask(&mut core, "make", &[72]);
    assert_eq!((count(&core, "ctx_refused"), core.open_contexts()), (2, 2));
    assert_eq!(count(&core, "no_context"), 1, "what was raised to 72 found no one");
    on(&mut core, FIRST, "end", &[0]);
    ask(&mut core, "make", &[73]);
    assert_eq!(log(&mut core, 1 << 56 | 2 << 32), 10, "the freed slot, a generation later");
}

#[test]
fn a_sent_event_finds_its_context_gone() {
    let mut core = machine();
    assert_eq!(on(&mut core, FIRST, "end", &[1]).value, FIRST, "deleted only after the chain");
    ask(&mut core, "make", &[70]);
    let packets = drain(&mut core, 5);
    assert_eq!(packets.len(), 1);
    assert_eq!(count(&core, "no_context"), 1);
    assert_eq!(log(&mut core, 1 << 56 | 2 << 32), 10, "nor does it reach another with the same id");
}

#[test]
fn a_request_may_be_completed_by_a_later_event() {
    let mut core = machine();
    call(&mut core, "hold", FIRST, 77, &[], Data::None).unwrap();
    assert_eq!(core.next_completion(), None);
    call(&mut core, "free", FIRST, 78, &[], Data::None).unwrap();
    let tokens: Vec<u64> = std::iter::from_fn(|| core.next_completion()).map(|c| c.token).collect();
    assert_eq!(tokens, [77, 78]);
}

#[test]
fn windows_work_as_their_methods_say() {
    let mut core = machine();
    assert_eq!(on(&mut core, FIRST, "wnd", &[0xffff_fffe]).value, 51, "the third run did not fit");
}

#[test]
fn the_trace_has_the_words_of_the_reference() {
    let mut core = core(&compile(include_str!("programs/machine.mtp")), A);
    ask(&mut core, "make", &[70]);
    let mut records = core.take_trace();
    let instructions: Vec<bool> = records.iter().map(|r| r.kind == TraceKind::Instr as u32).collect();
    let placed: Vec<bool> = records.iter().map(|r| r.at != Loc::default()).collect();
    assert_eq!(placed, instructions, "each instruction, and nothing else, says where it stands");
    records.iter_mut().for_each(|r| r.at = Loc::default());
    let record = |kind: TraceKind, number, words: &[u64]| Record {
        kind: kind as u32,
        number,
        words: words.to_vec(),
        at: Loc::default(),
    };
    let event =
        |core: &Core, name: &str| core.program().events.iter().position(|e| e.name == name).unwrap() as u64;
    let said = event(&core, "said");
    let wanted = [
        record(TraceKind::Event, event(&core, "make_req") as u32, &[0, 70]),
        record(TraceKind::Instr, 0, &[0, FIRST, 70]),
        record(TraceKind::Context, 0, &[FIRST, 1, 3, 0, 0, 0, 0, 0, 0, 0]),
        record(TraceKind::Instr, 13, &[said]),
        record(TraceKind::Instr, 12, &[1, 0, 3]),
        record(TraceKind::Event, said as u32, &[FIRST, 0, 0]),
        // handle, log, value, held, the empty window, four stopped timers
        record(TraceKind::Context, 0, &[FIRST, 10, 3, 0, 0, 0, 0, 0, 0, 0]),
    ];
    assert_eq!(records, wanted);
    assert_eq!(core.take_trace(), []);
}
