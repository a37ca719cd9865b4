// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a packet that waits stands for.

mod common;

use carrick_interp::{Core, Data};
use common::*;

const TEXT: &str = "
net_header ipv4 { uint32 src_ip; uint32 dst_ip; uint8 protocol = 254; }
id key(uint32 k);
event ack_req : app_event { uint32 k; uint32 ack; bool told; }
event data_req : app_event { uint32 k; addr_t data; uint32 len; }
event seen : net_event { }
event left : sent_event { uint32 ack; }
context thing by key { uint64 gone; }
pkt_bp segment over ipv4 { uint8 k; uint32 ack; data_t payload; }
coalescing_rule onto_data [segment, prev.payload.len != 0, ack];
coalescing_rule cumulative [segment, bp.ack >= prev.ack];
void parse(pkt_t p, ipv4 ip) {
    segment h;
    p.extract(h);
    seen e;
    set_flow_id(e, key(h.k));
    raise e;
}
void make(ack_req e) { thing v; new_ctx(v, key(e.k)); notify(e.token, OK); }
void acknowledge(ack_req e, thing c) {
    segment bp;
    bp.k = uint8(e.k);
    bp.ack = e.ack;
    if (e.told) {
        left l;
        l.ack = e.ack;
        pkt_gen(bp, l);
    } else {
        pkt_gen(bp);
    }
    notify(e.token, OK);
}
void send(data_req e, thing c) {
    new_tx_ordered_data(INF, c.id);
    add_tx_data(e.data, e.len, c.id);
    segment bp;
    bp.k = uint8(e.k);
    bp.ack = 5;
    bp.payload = data(c.id, 0, e.len, 4);
    pkt_gen(bp);
    notify(e.token, OK);
}
void after(left e, thing c) { c.gone = uint64(e.ack); }
void see(seen e, thing c) { c.gone++; }
dispatch d { ack_req -> { acknowledge } absent { make }; data_req -> { send }; seen -> { see }; left -> { after }; }
interface i { ack -> ack_req at key(k); put -> data_req at key(k); }
deploy {
    register_ep_chains(d); register_ctx_spec(thing, 2); register_data_spec(thing, 1KiB, 0);
    register_ev_parser(parse); register_interface(i);
    register_coalescing_rule(onto_data); register_coalescing_rule(cumulative);
}";

/// A core with two contexts, 1 and 2.
fn start() -> Core {
    let mut core = core(&compile(TEXT), A);
    for k in [1, 2] {
        ack(&mut core, k, 0, false);
    }
    core
}

fn ack(core: &mut Core, k: u64, number: u64, told: bool) {
    call(core, "ack", 0, 1, &[k, number, told.into()], Data::None).unwrap();
    core.next_completion().unwrap();
}

fn put(core: &mut Core, k: u64, octets: &[u8]) {
    call(core, "put", 0, 1, &[k, octets.len() as u64], Data::Send(octets)).unwrap();
    core.next_completion().unwrap();
}

/// Context, acknowledgement and payload of each packet that waits.
fn sent(core: &mut Core) -> Vec<(u8, u32, Vec<u8>)> {
    let ack = |p: &[u8]| u32::from_be_bytes([p[21], p[22], p[23], p[24]]);
    drain(core, 0).iter().map(|p| (p[20], ack(p), p[25..].to_vec())).collect()
}

#[test]
fn the_newest_of_a_context_stands_for_those_before_it_at_their_place() {
    let mut core = start();
    for (k, number) in [(1, 3), (2, 8), (1, 4), (1, 9), (2, 8)] {
        ack(&mut core, k, number, false);
    }
    assert_eq!(sent(&mut core), [(1, 9, vec![]), (2, 8, vec![])]);
    assert_eq!(count(&core, "tx_coalesced"), 3);
}

#[test]
fn what_the_rule_does_not_take_waits_on_its_own() {
    let mut core = start();
    for number in [7, 6, 8] {
        ack(&mut core, 1, number, false);
    }
    assert_eq!(sent(&mut core), [(1, 7, vec![]), (1, 8, vec![])]);
    ack(&mut core, 1, 1, false);
    assert_eq!(sent(&mut core), [(1, 1, vec![])], "what is out stands for nothing");
}

#[test]
fn data_takes_the_acknowledgement_unless_it_has_begun_to_leave() {
    let mut core = start();
    put(&mut core, 1, b"abcdefgh");
    ack(&mut core, 1, 6, false);
    let mut packet = Vec::new();
    assert!(core.tx(&mut packet, 0));
    assert_eq!((packet[24], &packet[25..]), (6, &b"abcd"[..]));
    ack(&mut core, 1, 7, false);
    assert_eq!(sent(&mut core), [(1, 6, b"efgh".to_vec()), (1, 7, vec![])]);
}

#[test]
fn data_takes_the_place_of_an_acknowledgement_and_none_is_lost() {
    let mut core = start();
    ack(&mut core, 1, 2, false);
    put(&mut core, 1, b"ab");
    put(&mut core, 1, b"cd");
    assert_eq!(sent(&mut core), [(1, 5, b"cd".to_vec()), (1, 5, b"cd".to_vec())], "a unit made anew");
    assert_eq!(count(&core, "units_restarted"), 1);
    assert_eq!(count(&core, "tx_coalesced"), 1);
}

#[test]
fn one_with_a_sent_event_is_not_replaced() {
    let mut core = start();
    ack(&mut core, 1, 2, true);
    ack(&mut core, 1, 3, true);
    ack(&mut core, 1, 4, false);
    assert_eq!(sent(&mut core), [(1, 2, vec![]), (1, 3, vec![]), (1, 4, vec![])]);
    put(&mut core, 1, b"ab");
    ack(&mut core, 1, 9, true);
    core.take_trace();
    assert_eq!(sent(&mut core), [(1, 9, b"ab".to_vec())]);
    let left = core.program().events.iter().position(|e| e.name == "left").unwrap() as u32;
    let ran: Vec<u64> =
        core.take_trace().iter().filter(|r| r.kind == 0 && r.number == left).map(|r| r.words[1]).collect();
    assert_eq!(ran, [9], "the event of what the data stands for runs");
}
