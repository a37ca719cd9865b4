// SPDX-License-Identifier: MIT OR Apache-2.0
//! A program in the network: what becomes of the packets that it looks at.

mod common;

use carrick_interp::{Config, Core, Refused};
use common::*;

const TEXT: &str = "
net_header ipv4 { uint32 src_ip; uint32 dst_ip; uint8 protocol = 254; uint8 interface; }
event seen : net_event { uint8 what; uint8 n; uint8 from; uint32 src; }
pkt_bp head over ipv4 { uint8 what; uint8 n; }
void parse(pkt_t p, ipv4 ip) {
    head h;
    p.extract(h);
    if (h.what == 9) { return; }
    seen e;
    e.what = h.what;
    e.n = h.n;
    e.from = ip.interface;
    e.src = ip.src_ip;
    raise e;
}
void act(seen e) {
    if (e.what == 1) { forward(e.pkt, e.n); }
    if (e.what == 2) { drop(e.pkt); }
    if (e.what == 3) { pkt_store(e.pkt, uint64(e.n)); }
    if (e.what == 4) { drop(e.pkt); pkt_release(uint64(e.n), 0); }
    if (e.what == 5) { drop(e.pkt); pkt_discard(uint64(e.n)); }
    if (e.what == 6) { forward(e.pkt, 1); drop(e.pkt); pkt_store(e.pkt, 1); }
    if (e.what == 10) { pkt_copy(e.pkt, e.n); pkt_store(e.pkt, 5); }
    if (e.what == 11) { pkt_copy(e.pkt, uint32(e.n) * 1000); pkt_copy(e.pkt, ROUTE); }
    if (e.what == 7) {
        drop(e.pkt);
        head h;
        h.what = 8;
        h.net.dst_ip = e.src;
        h.net.interface = e.from;
        pkt_gen(h);
    }
}
dispatch d { seen -> { act }; }
deploy { register_role(in_network, 3); register_ep_chains(d); register_ev_parser(parse); }";

const ROUTE: u32 = carrick_ir::ROUTE as u32;

fn start() -> Core {
    core(&compile(TEXT), 0)
}

/// A packet from A to B of this protocol, with `more` behind what it says.
fn packet(protocol: u8, what: u8, n: u8, more: usize) -> Vec<u8> {
    let mut packet = vec![0; 22 + more];
    packet[0] = 0x45;
    packet[2..4].copy_from_slice(&(22 + more as u16).to_be_bytes());
    (packet[8], packet[9]) = (3, protocol);
    packet[12..16].copy_from_slice(&A.to_be_bytes());
    packet[16..20].copy_from_slice(&B.to_be_bytes());
    (packet[20], packet[21]) = (what, n);
    mended(packet)
}

/// What leaves, and by which interface, after a packet has come.
fn after(core: &mut Core, interface: u32, packet: &[u8]) -> Vec<(u32, Vec<u8>)> {
    core.rx_on(interface, packet, 0).unwrap();
    leaving(core)
}

fn leaving(core: &mut Core) -> Vec<(u32, Vec<u8>)> {
    let mut out = Vec::new();
    let mut packet = Vec::new();
    while core.tx(&mut packet, 0) {
        out.push((core.tx_interface(), packet.clone()));
    }
    out
}

#[test]
fn what_nobody_speaks_of_goes_on() {
    let mut core = start();
    let fragment = {
        let mut packet = packet(254, 2, 0, 0);
        packet[6] = 0x20;
        mended(packet)
    };
    // of another protocol, a fragment, refused by the parser, without an instruction
    for one in [packet(6, 2, 0, 5), fragment, packet(254, 9, 0, 0), packet(254, 0, 0, 1)] {
        assert_eq!(after(&mut core, 0, &one), [(ROUTE, one.clone())]);
        assert_eq!(after(&mut core, 1, &one), [(ROUTE, one.clone())]);
    }
    assert_eq!(count(&core, "tx_forwarded"), 8);
    assert_eq!(count(&core, "unparsed"), 2);
}

#[test]
fn what_is_behind_a_packet_does_not_go_on_and_broken_ones_do_not_at_all() {
    let mut core = start();
    let whole = packet(6, 0, 0, 4);
    let padded: Vec<u8> = whole.iter().copied().chain([0; 10]).collect();
    assert_eq!(after(&mut core, 0, &padded), [(ROUTE, whole.clone())]);
    let mut broken = whole.clone();
    broken[12] ^= 1;
    assert!(matches!(core.rx_on(0, &broken, 0), Err(Refused::Dropped(_))));
    assert!(matches!(core.rx_on(0, &whole[..10], 0), Err(Refused::Dropped(_))));
    assert_eq!(leaving(&mut core), []);
}

#[test]
fn a_packet_goes_where_it_is_sent_or_nowhere() {
    let mut core = start();
    let (back, on, far) = (packet(254, 1, 0, 0), packet(254, 1, 1, 0), packet(254, 1, 200, 0));
    assert_eq!(after(&mut core, 0, &back), [(0, back.clone())]);
    assert_eq!(after(&mut core, 1, &on), [(1, on.clone())]);
    assert_eq!(after(&mut core, 0, &far), [(200, far.clone())], "the node knows whether it has that one");
    assert_eq!(after(&mut core, 0, &packet(254, 2, 0, 0)), []);
}

#[test]
fn packets_wait_under_their_keys_in_order() {
    let mut core = start();
    let waiting: Vec<Vec<u8>> = (0..3).map(|more| packet(254, 3, 5 + u8::from(more == 1), more)).collect();
    for one in &waiting {
        assert_eq!(after(&mut core, 0, one), []);
    }
    // There is no room for a fourth.
    assert_eq!(after(&mut core, 0, &packet(254, 3, 5, 9)), []);
    assert_eq!(count(&core, "store_full"), 1);
    let released = after(&mut core, 1, &packet(254, 4, 5, 0));
    assert_eq!(released, [(0, waiting[0].clone()), (0, waiting[2].clone())]);
    assert_eq!(after(&mut core, 1, &packet(254, 4, 5, 0)), []);
    assert_eq!(after(&mut core, 1, &packet(254, 5, 6, 0)), []);
    assert_eq!(after(&mut core, 1, &packet(254, 4, 6, 0)), [], "it was forgotten");
}

#[test]
fn a_packet_goes_one_way() {
    let mut core = start();
    let one = packet(254, 6, 0, 0);
    assert_eq!(after(&mut core, 0, &one), [(1, one.clone())]);
    assert_eq!(count(&core, "packet_gone"), 2);
}

#[test]
fn a_copy_leaves_and_the_packet_is_kept() {
    let mut core = start();
    let one = packet(254, 10, 3, 0);
    assert_eq!(after(&mut core, 0, &one), [(3, one.clone())]);
    assert_eq!(after(&mut core, 1, &packet(254, 4, 5, 0)), [(0, one.clone())], "and goes later");
    let twice = packet(254, 11, 1, 0);
    let left = [(ROUTE - 1, twice.clone()), (ROUTE, twice.clone()), (ROUTE, twice.clone())];
    assert_eq!(after(&mut core, 0, &twice), left, "no node has interface 1000");
    // A copy needs space, as what is stored does.
    (0..3).for_each(|_| assert_eq!(after(&mut core, 0, &packet(254, 3, 5, 0)), []));
    assert_eq!(after(&mut core, 0, &twice), [(ROUTE, twice.clone())]);
    assert_eq!((count(&core, "store_full"), count(&core, "packet_gone")), (2, 0));
}

#[test]
fn the_next_packet_waits_until_the_last_has_left() {
    let mut core = start();
    let one = packet(254, 0, 0, 0);
    core.rx_on(0, &one, 0).unwrap();
    assert_eq!(core.rx_on(0, &one, 0), Err(Refused::Again));
    assert_eq!(leaving(&mut core).len(), 1);
    assert_eq!(core.rx_on(0, &one, 0), Ok(()));
}

#[test]
fn answers_leave_where_they_are_told_to() {
    let mut core = start();
    for from in [0, 1] {
        let answers = after(&mut core, from, &packet(254, 7, 0, 0));
        let [(by, answer)] = &answers[..] else { panic!("{answers:?}") };
        assert_eq!((*by, answer[20]), (from, 8));
        assert_eq!(answer[16..20], A.to_be_bytes());
    }
}

#[test]
fn what_is_too_long_is_lost() {
    let config = Config { mtu: 100, ..config(0) };
    let mut core = Core::new(compile(TEXT), &config).unwrap();
    assert_eq!(after(&mut core, 0, &packet(254, 0, 0, 79)), []);
    assert_eq!(after(&mut core, 0, &packet(254, 3, 0, 79)), []);
    assert_eq!(count(&core, "tx_too_long"), 2);
}

const REWRITES: &str = "
net_header ipv4 { uint32 src_ip; uint32 dst_ip; uint8 protocol = 254; uint8 ttl = 64; }
event seen : net_event { uint8 what; }
pkt_bp head over ipv4 { uint8 what; uint8 n; checksum16_t sum; data_t payload; }
void parse(pkt_t p, ipv4 ip) {
    head h;
    p.extract(h);
    seen e;
    e.what = h.what;
    raise e;
}
void act(seen e) {
    head h;
    if (e.what != 3) { e.pkt.extract(h); }
    h.n += 5;
    h.net.dst_ip = 0x0a000003;
    h.net.ttl -= 1;
    if (e.what == 2) { forward(e.pkt, 0, h); }
    if (e.what == 4) { pkt_copy(e.pkt, 0, h); h.n += 1; }
    forward(e.pkt, 1, h);
}
dispatch d { seen -> { act }; }
deploy { register_role(in_network, 3); register_ep_chains(d); register_ev_parser(parse); }";

/// A packet of REWRITES with a right checksum.
fn summed(what: u8, n: u8, payload: &[u8]) -> Vec<u8> {
    let mut packet = packet(254, what, n, 2 + payload.len());
    packet[24..].copy_from_slice(payload);
    let pseudo = 2 * u32::from(0x0a00_u16) + 3 + 254 + (4 + payload.len() as u32);
    let words = packet[20..].chunks(2).map(|w| u32::from(w[0]) << 8 | w.get(1).map_or(0, |o| u32::from(*o)));
    let mut sum = words.sum::<u32>() + pseudo;
    while sum > 0xffff {
        sum = (sum >> 16) + (sum & 0xffff);
    }
    packet[22..24].copy_from_slice(&(!sum as u16).to_be_bytes());
    mended(packet)
}

#[test]
fn a_packet_leaves_with_another_header_and_the_payload_that_was_read() {
    let mut core = core(&compile(REWRITES), 0);
    let left = after(&mut core, 0, &summed(1, 7, b"carried"));
    let [(1, packet)] = &left[..] else { panic!("{left:?}") };
    assert_eq!(packet[16..20], [10, 0, 0, 3]);
    assert_eq!((packet[8], packet[20], packet[21]), (2, 1, 12), "TTL, what was read and what was changed");
    assert_eq!(&packet[24..], b"carried");
    assert_eq!(mended(packet.clone()), *packet, "the network header's checksum is right");
    // Its checksum is right too: read again, it raises its event again.
    assert_eq!(after(&mut core, 0, packet).len(), 1);
    assert_eq!((count(&core, "bad_checksum"), count(&core, "packet_gone")), (0, 0));
}

#[test]
fn a_header_that_was_not_read_has_no_payload_and_a_packet_still_goes_one_way() {
    let mut core = core(&compile(REWRITES), 0);
    let left = after(&mut core, 0, &summed(3, 7, b"left behind"));
    assert_eq!((left[0].1.len(), left[0].1[20], left[0].1[21]), (24, 0, 5));
    let left = after(&mut core, 0, &summed(4, 7, b"twice"));
    let copies: Vec<_> = left.iter().map(|(by, packet)| (*by, packet[21], &packet[24..])).collect();
    assert_eq!(copies, [(0, 12, &b"twice"[..]), (1, 13, b"twice")], "each with its own header");
    let left = after(&mut core, 1, &summed(2, 0, b""));
    assert_eq!(left.iter().map(|(by, _)| *by).collect::<Vec<_>>(), [0]);
    assert_eq!(count(&core, "packet_gone"), 1);
}

/// What has a key is kept under it, and answered to whoever asks for the key.
const KEEPS: &str = "
net_header ipv4 { uint32 src_ip; uint32 dst_ip; uint8 protocol = 254; uint8 interface; }
event put : net_event { uint8 key; addr_t data; bytes len; }
event get : net_event { uint8 key; uint32 src; uint32 dst; uint8 from; }
event made : flow_event { addr_t data; bytes len; }
pkt_bp head over ipv4 { uint8 what; uint8 key; data_t payload; }
id key_id(uint8 key);
context entry by key_id { uint64 at; bytes len; }
void parse(pkt_t p, ipv4 ip) {
    head h;
    p.extract(h);
    if (h.what == 1) {
        raise put at key_id(h.key) { key = h.key, data = h.payload.addr, len = h.payload.len };
    } else {
        raise get at key_id(h.key) { key = h.key, src = ip.src_ip, dst = ip.dst_ip, from = ip.interface };
    }
}
void begin(put e) {
    entry v;
    v.len = e.len;
    new_ctx(v, key_id(e.key));
    raise made at key_id(e.key) { data = e.data, len = e.len };
}
void fill(made e, entry c) {
    new_tx_ordered_data(INF, c.id);
    add_tx_data(e.data, e.len, c.id);
}
void renew(put e, entry c) {
    tx_flush_and_notify(c.id, c.len);
    c.at += uint64(c.len);
    add_tx_data(e.data, e.len, c.id);
    c.len = e.len;
}
void answer(get e, entry c) {
    drop(e.pkt);
    head h;
    h.what = 3;
    h.key = e.key;
    h.net.src_ip = e.dst;
    h.net.dst_ip = e.src;
    h.net.interface = e.from;
    h.payload = data(c.id, c.at, c.len);
    pkt_gen(h);
}
dispatch d { put -> { renew } absent { begin }; get -> { answer } absent { pass }; made -> { fill }; }
void pass(get e) { forward(e.pkt, ROUTE); }
deploy {
    register_role(in_network, 0); register_ep_chains(d); register_ev_parser(parse);
    register_ctx_spec(entry, 4); register_data_spec(entry, 64, 0);
}";

#[test]
fn payloads_are_kept_and_answered() {
    let mut core = core(&compile(KEEPS), 0);
    let with = |what, key, payload: &[u8]| {
        let mut packet = packet(254, what, key, payload.len());
        packet[22..].copy_from_slice(payload);
        packet
    };
    let get = with(2, 7, b"");
    assert_eq!(after(&mut core, 2, &get), [(ROUTE, get.clone())], "nothing is there yet");
    for value in [&b"first"[..], b"the second"] {
        let put = with(1, 7, value);
        assert_eq!(after(&mut core, 0, &put), [(ROUTE, put.clone())], "it is written through");
        for _ in 0..2 {
            let answers = after(&mut core, 2, &get);
            let [(2, answer)] = &answers[..] else { panic!("{answers:?}") };
            assert_eq!((answer[20], &answer[22..]), (3, value));
        }
    }
}
