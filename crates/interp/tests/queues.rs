// SPDX-License-Identifier: MIT OR Apache-2.0
//! Queues of blueprints, one before the other.

mod common;

use carrick_interp::{Core, Data};
use common::*;

const TEXT: &str = "
net_header ipv4 { uint32 src_ip; uint32 dst_ip; uint8 protocol = 254; }
id key(uint32 k);
event put : app_event { addr_t data; uint32 len; uint32 queue; uint8 name; }
event seen : net_event { }
context thing by key { uint64 sent; uint64 end; }
pkt_bp segment over ipv4 { uint8 name; uint32 at; data_t payload; }
seg_rule at_goes_on [segment::at, bp.at, uint32(bytes(prev.at) + prev.payload.len)];
void parse(pkt_t p, ipv4 ip) {
    segment h;
    p.extract(h);
    seen e;
    set_flow_id(e, key(0));
    raise e;
}
void make(put e) { thing v; new_ctx(v, key(0)); notify(e.token, OK); }
void send(put e, thing c) {
    if (c.end == 0) {
        new_tx_ordered_data(INF, c.id);
    }
    add_tx_data(e.data, e.len, c.id);
    segment bp;
    bp.name = e.name;
    bp.payload = data(c.id, c.end, e.len, 3);
    c.end += uint64(e.len);
    pkt_gen(bp, at_goes_on, e.queue);
    notify(e.token, OK);
}
void see(seen e, thing c) { c.sent++; }
dispatch d { put -> { send } absent { make }; seen -> { see }; }
interface i { put -> put at key(0); }
deploy {
    register_ep_chains(d); register_ctx_spec(thing, 1); register_data_spec(thing, 4KiB, 0);
    register_ev_parser(parse); register_interface(i); register_seg_rule(at_goes_on);
    register_pkt_sched(strict_priority(3));
}";

fn start() -> Core {
    let mut core = core(&compile(TEXT), A);
    put(&mut core, 0, b'-', b"");
    core
}

fn put(core: &mut Core, queue: u64, name: u8, octets: &[u8]) {
    call(core, "put", 0, 1, &[octets.len() as u64, queue, name.into()], Data::Send(octets)).unwrap();
    core.next_completion().unwrap();
}

/// Name, offset by the rule and payload of the next packet.
fn next(core: &mut Core) -> Option<(char, u8, Vec<u8>)> {
    let mut packet = Vec::new();
    core.tx(&mut packet, 0).then(|| (packet[20].into(), packet[24], packet[25..].to_vec()))
}

fn names(core: &mut Core) -> String {
    std::iter::from_fn(|| next(core)).map(|(name, ..)| name).collect()
}

#[test]
fn an_earlier_queue_goes_first_and_each_keeps_its_order() {
    let mut core = start();
    for (queue, name) in [(2, b'x'), (1, b'm'), (0, b'a'), (2, b'y'), (0, b'b'), (1, b'n'), (99, b'z')] {
        put(&mut core, queue, name, b"");
    }
    assert_eq!(names(&mut core), "abmnxyz", "a queue that is not there is the last one");
}

#[test]
fn what_is_overtaken_between_its_packets_goes_on_where_it_was() {
    let mut core = start();
    put(&mut core, 2, b'l', b"abcdefgh");
    assert_eq!(next(&mut core), Some(('l', 0, b"abc".to_vec())));
    put(&mut core, 1, b'm', b"ABCD");
    assert_eq!(next(&mut core), Some(('m', 0, b"ABC".to_vec())));
    put(&mut core, 0, b'h', b"12345");
    for wanted in [('h', 0, &b"123"[..]), ('h', 3, b"45"), ('m', 3, b"D"), ('l', 3, b"def"), ('l', 6, b"gh")]
    {
        let (name, at, octets) = next(&mut core).unwrap();
        assert_eq!((name, at, &octets[..]), wanted);
    }
    assert_eq!(next(&mut core), None);
}

#[test]
fn all_queues_together_are_bounded() {
    let mut core = start();
    // The program issues one blueprint an event: the last place is taken too.
    for n in 0..1024 {
        put(&mut core, n % 3, b'x', b"");
    }
    assert!(call(&mut core, "put", 0, 1, &[0, 0, 0], Data::None).is_err());
    assert!(next(&mut core).is_some());
    put(&mut core, 2, b'y', b"");
    assert_eq!(names(&mut core).len(), 1024);
}
