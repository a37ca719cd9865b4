// SPDX-License-Identifier: MIT OR Apache-2.0
//! Events that wait: which is handled first.

mod common;

use carrick_interp::{Core, Data, Request, TraceKind};
use common::*;

const TEXT: &str = "
net_header ipv4 { uint32 src_ip; uint32 dst_ip; uint8 protocol = 254; }
id key(uint32 k);
event make_req : app_event { uint32 k; }
event arm_req : app_event { uint32 k; duration d; }
event ask_req : app_event { uint32 k; }
event delivery : net_event { uint8 n; addr_t at; uint32 len; }
event ack : net_event { uint8 n; }
event tick : timer_event { }
context flow by key { uint64 sum; uint64 sent; timer_t t -> tick; }
pkt_bp segment over ipv4 { uint8 k; uint8 n; data_t payload; }
void parse(pkt_t p, ipv4 ip) {
    segment h;
    p.extract(h);
    delivery e;
    e.n = h.n;
    e.at = h.payload.addr;
    e.len = uint32(h.payload.len);
    set_flow_id(e, key(uint32(h.k)));
    raise e;
    ack a;
    a.n = h.n;
    set_flow_id(a, key(uint32(h.k)));
    raise a;
}
void make(make_req e) { flow v; new_ctx(v, key(e.k)); notify(e.token, OK); }
void made(make_req e, flow c) { notify(e.token, IN_USE); }
void arm(arm_req e, flow c) {
    if (c.sum == 0) {
        new_tx_ordered_data(INF, c.id);
        c.sum = 1;
    }
    timer_restart(c.t, e.d);
    notify(e.token, OK);
}
void ask(ask_req e, flow c) { timer_stop(c.t); notify(e.token, OK); }
/// Sends back what came.
void take(delivery e, flow c) {
    add_tx_data(e.at, e.len, c.id);
    segment bp;
    bp.n = e.n;
    bp.payload = data(c.id, c.sent, e.len);
    c.sent += uint64(e.len);
    pkt_gen(bp);
    tx_flush_and_notify(c.id, e.len);
}
void acked(ack e, flow c) { c.sum++; }
void ticked(tick e, flow c) { c.sum++; }
dispatch d {
    make_req -> { made } absent { make };
    arm_req -> { arm };
    ask_req -> { ask };
    delivery -> { take };
    ack -> { acked };
    tick -> { ticked };
}
interface i {
    make -> make_req at key(k);
    arm -> arm_req at key(k);
    ask -> ask_req at key(k);
}
deploy {
    register_ep_chains(d); register_ctx_spec(flow, 4); register_data_spec(flow, 4KiB, 0);
    register_ev_parser(parse); register_interface(i);
    register_ev_sched(SCHEDULE);
}";

/// A core with flows 0 to 3, the timer of each due 1 us after the start.
fn start(schedule: &str) -> Core {
    let text = TEXT.replace("SCHEDULE", schedule);
    let mut core = core(&compile(&text), A);
    for k in 0..4 {
        give(&mut core, "make", &[k]);
        give(&mut core, "arm", &[k, 1000]);
        while core.next_completion().is_some() {}
    }
    core.take_trace();
    core
}

/// A request, which waits.
fn give(core: &mut Core, name: &str, args: &[u64]) {
    call(core, name, 0, 1, args, Data::None).unwrap();
}

/// A packet for a flow, with these bytes.
fn packet(flow: u8, n: u8, octets: &[u8]) -> Vec<u8> {
    let total = 22 + octets.len() as u8;
    let mut packet = vec![0x45, 0, 0, total, 0, 0, 0, 0, 64, 254, 0, 0, 10, 0, 0, 2, 10, 0, 0, 1, flow, n];
    packet.extend_from_slice(octets);
    mended(packet)
}

/// The events that were handled since the last time: a letter and the flow.
fn handled(core: &mut Core) -> String {
    let events = core.program().events.clone();
    let records = core.take_trace();
    let of = |r: &carrick_interp::Record| {
        let letter = events[r.number as usize].name.chars().next().unwrap_or('?');
        format!("{letter}{}", (r.words[0] & 0xff))
    };
    let events = records.iter().filter(|r| r.kind == TraceKind::Event as u32);
    events.map(of).collect::<Vec<_>>().join(" ")
}

/// Two packets, two requests, and timers that are due.
fn all_at_once(schedule: &str) -> String {
    let mut core = start(schedule);
    core.rx(&packet(1, 7, b"one"), 0).unwrap();
    give(&mut core, "make", &[2]);
    core.rx(&packet(3, 8, b"three"), 0).unwrap();
    give(&mut core, "make", &[1]);
    assert_eq!(handled(&mut core), "", "all of them wait");
    core.advance(1000).unwrap();
    handled(&mut core)
}

#[test]
fn events_come_in_their_order_or_by_kind_or_by_name() {
    for (schedule, wanted) in [
        ("fifo()", "t0 t1 t2 t3 d1 a1 m2 d3 a3 m1"),
        ("strict_priority(app_event, timer_event, net_event)", "m2 m1 t0 t1 t2 t3 d1 a1 d3 a3"),
        ("strict_priority(ack, fifo(), timer_event)", "a1 a3 d1 m2 d3 m1 t0 t1 t2 t3"),
        ("drr(net_event, timer_event, app_event, 1, 2, 1)", "d1 m2 t0 t1 a1 m1 t2 t3 d3 a3"),
    ] {
        assert_eq!(all_at_once(schedule), wanted, "{schedule}");
    }
}

#[test]
fn flows_take_turns() {
    let mut core = start("drr(PER_FLOW, 1)");
    for n in 0..2 {
        core.rx(&packet(2, n, b""), 0).unwrap();
    }
    core.rx(&packet(0, 9, b""), 0).unwrap();
    core.advance(0).unwrap();
    assert_eq!(handled(&mut core), "d2 d0 a2 a0 d2 a2");
}

#[test]
fn a_packet_lives_as_long_as_its_events() {
    let mut core = start("strict_priority(app_event, fifo())");
    core.rx(&packet(1, 1, b"first"), 0).unwrap();
    core.rx(&packet(2, 2, b"second"), 0).unwrap();
    let sent: Vec<Vec<u8>> = drain(&mut core, 0).iter().map(|p| p[22..].to_vec()).collect();
    assert_eq!(sent, [b"first".to_vec(), b"second".to_vec()]);
}

#[test]
fn a_timer_that_is_stopped_while_it_waits_does_not_fire() {
    let mut core = start("strict_priority(app_event, timer_event, net_event)");
    for k in [0, 2, 3] {
        give(&mut core, "ask", &[k]);
    }
    core.advance(5000).unwrap();
    assert_eq!(handled(&mut core), "a0 a2 a3 t1");
    core.advance(6000).unwrap();
    assert_eq!(handled(&mut core), "");
}

#[test]
fn only_so_many_wait() {
    let mut core = start("fifo()");
    let note = packet(1, 1, b"");
    for n in 0..128 {
        core.rx(&note, 0).unwrap_or_else(|e| panic!("packet {n}: {e:?}"));
    }
    assert!(core.rx(&note, 0).is_err(), "each is two events");
    let request = Request { handle: 0, token: 9, args: &[1], data: Data::None };
    let make = call_number(&core, "make");
    assert!(core.call(make, &request, 0).is_err());
    let mut out = Vec::new();
    assert!(core.tx(&mut out, 0), "what waits is handled before the next packet");
    core.rx(&note, 0).unwrap();
    core.call(make, &request, 0).unwrap();
}

#[test]
fn a_packet_that_is_too_long_to_wait_is_refused() {
    let text = TEXT.replace("SCHEDULE", "fifo()");
    let config = carrick_interp::Config { mtu: 68, ..config(A) };
    let mut core = Core::new(compile(&text), &config).unwrap();
    core.rx(&packet(1, 1, &[0; 46]), 0).unwrap();
    assert!(core.rx(&packet(1, 1, &[0; 47]), 0).is_err());
    assert_eq!(count(&core, "ip_length"), 1);
}
