// SPDX-License-Identifier: MIT OR Apache-2.0
//! Claims that do not hold are counted and told, and nothing else happens.

mod common;

use carrick_interp::{Core, Data, FailedClaim, TraceKind};
use common::*;

const FIRST: u64 = 1 << 56 | 1 << 32;

/// With a range made, found by the key 5.
fn claims() -> Core {
    let mut core = core(&compile(include_str!("../../../tests/programs/claims.mtp")), A);
    call(&mut core, "make", 0, 1, &[5], Data::None).unwrap();
    assert_eq!(core.next_completion().map(|c| c.value), Some(FIRST));
    core
}

fn set(core: &mut Core, low: u64, high: u64) {
    call(core, "set", FIRST, 9, &[low, high], Data::None).unwrap();
    assert!(core.next_completion().is_some(), "the request completes all the same");
}

/// Their numbers, in the order of the file.
fn failed(core: &Core) -> Vec<u32> {
    core.failed_claims().iter().map(|f| f.claim).collect()
}

#[test]
fn what_holds_is_silent() {
    let mut core = claims();
    set(&mut core, 0, 9);
    set(&mut core, 9, 9);
    assert_eq!(failed(&core), [] as [u32; 0]);
    assert_eq!(core.counters()[carrick_ir::counter("claims_failed")], 0);
}

#[test]
fn a_processors_claim_fails_where_it_stands_and_an_invariant_after_the_chain() {
    let mut core = claims();
    core.take_trace();
    set(&mut core, 10, 3);
    let chain = core.failed_claims().iter().map(|f| (f.claim, f.event, f.context)).collect::<Vec<_>>();
    let set_req = core.program().events.iter().position(|e| e.name == "set_req").map(|e| e as u32);
    assert_eq!(chain, [(4, set_req, FIRST), (1, set_req, FIRST), (2, set_req, FIRST)]);
    let kinds: Vec<u32> = core.take_trace().iter().map(|r| r.kind).collect();
    let [event, instr, context, claim] =
        [TraceKind::Event, TraceKind::Instr, TraceKind::Context, TraceKind::Claim].map(|k| k as u32);
    assert_eq!(kinds, [event, claim, instr, instr, claim, claim, context]);
    assert_eq!(core.counters()[carrick_ir::counter("claims_failed")], 3);
}

#[test]
fn every_turn_of_a_loop_claims() {
    let mut core = claims();
    set(&mut core, 2, 9);
    assert_eq!(failed(&core), [3]);
}

#[test]
fn a_context_that_is_gone_claims_nothing() {
    let mut core = claims();
    call(&mut core, "end", FIRST, 9, &[], Data::None).unwrap();
    assert_eq!(failed(&core), [] as [u32; 0]);
}

#[test]
fn only_the_first_are_kept_and_all_are_counted() {
    let mut core = claims();
    for _ in 0..30 {
        set(&mut core, 4, 9);
        while core.tx(&mut Vec::new(), 0) {}
    }
    assert_eq!(core.failed_claims().len(), 16);
    assert!(core.failed_claims().iter().all(|f| matches!(f, FailedClaim { claim: 3, at: 0, .. })));
    assert_eq!(core.counters()[carrick_ir::counter("claims_failed")], 30);
}
