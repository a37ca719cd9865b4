// SPDX-License-Identifier: MIT OR Apache-2.0
//! Frames of one packet with the data of several contexts.

mod common;

use carrick_interp::{Core, Data};
use common::*;

const TEXT: &str = "
net_header ipv4 { uint32 src_ip; uint32 dst_ip; uint8 protocol = 254; }
id key(uint32 k);
event put : app_event { addr_t data; uint32 k; uint32 len; }
event pack : app_event { uint32 first; uint32 second; uint32 third; bool then_gone; }
event gone : flow_event { }
context thing by key { uint64 put; }
pkt_bp chunk_frame { uint8 type = 4; uint8 len = uint8(payload_len); data_t payload[len]; }
frame_union frame { chunk_frame }
pkt_bp packet over ipv4 { list<frame, 4> frames; }
void parse(pkt_t p, ipv4 ip) { }
void make(put e) { thing v; new_ctx(v, key(e.k)); notify(e.token, OK); }
void fill(put e, thing c) {
    if (c.put == 0) new_tx_ordered_data(INF, c.id);
    add_tx_data(e.data, e.len, c.id);
    c.put += uint64(e.len);
    notify(e.token, OK);
}
void send(pack e) {
    packet bp;
    bp.net.dst_ip = 0x0a000002;
    chunk_frame f;
    f.payload = data(key(e.first), 0, 3);
    bp.frames.add(f);
    key second = key(e.second);
    f.payload = data(second, 1, 2);
    bp.frames.add(f);
    f.payload = data(key(e.third), 0, 9);
    bp.frames.add(f);
    pkt_gen(bp);
    gone up;
    set_flow_id(up, second);
    if (e.then_gone) raise up;
    notify(e.token, OK);
}
void end(gone e, thing c) { del_ctx(c); }
dispatch d { put -> { fill } absent { make }; pack -> { send }; gone -> { end }; }
interface i { put -> put at key(k); pack -> pack; }
deploy {
    register_ep_chains(d); register_ctx_spec(thing, 2); register_data_spec(thing, 1KiB, 0);
    register_ev_parser(parse); register_interface(i);
}";

/// Two contexts with data of their own.
fn filled() -> Core {
    let mut core = core(&compile(TEXT), A);
    for (k, octets) in [(1, b"abcdef"), (2, b"uvwxyz")] {
        // The first request makes the context.
        for _ in 0..2 {
            call(&mut core, "put", 0, 1, &[k, 6], Data::Send(octets)).unwrap();
            core.next_completion().expect("the request completes");
        }
    }
    core
}

#[test]
fn frames_have_the_data_that_ids_name() {
    let mut core = filled();
    ask(&mut core, "pack", &[1, 2, 1, 0]);
    let packets = drain(&mut core, 0);
    assert_eq!(packets.len(), 1);
    assert_eq!(&packets[0][20..], b"\x04\x03abc\x04\x02vw\x04\x06abcdef");
    assert_eq!((count(&core, "no_unit"), count(&core, "payload_cut")), (0, 1));
}

#[test]
fn who_is_not_there_has_no_data() {
    let mut core = filled();
    ask(&mut core, "pack", &[3, 2, 4, 0]);
    assert_eq!(&drain(&mut core, 0)[0][20..], b"\x04\x00\x04\x02vw\x04\x00");
    assert_eq!((count(&core, "no_unit"), count(&core, "payload_cut")), (2, 0));
}

/// Its bytes, and its place, are kept until the packet is out.
#[test]
fn who_goes_leaves_what_is_queued() {
    let mut core = filled();
    ask(&mut core, "pack", &[1, 2, 2, 1]);
    call(&mut core, "put", 0, 2, &[5, 6], Data::Send(b"ABCDEF")).unwrap();
    assert_eq!(count(&core, "ctx_refused"), 1);
    assert_eq!(&drain(&mut core, 0)[0][20..], b"\x04\x03abc\x04\x02vw\x04\x06uvwxyz");
    for token in [3, 4] {
        call(&mut core, "put", 0, token, &[5, 6], Data::Send(b"ABCDEF")).unwrap();
    }
    ask(&mut core, "pack", &[5, 5, 2, 0]);
    assert_eq!(&drain(&mut core, 0)[0][20..], b"\x04\x03ABC\x04\x02BC\x04\x00");
}
