// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packets of frames: what is put into which packet, and what is read back.

mod common;

use carrick_interp::{Config, Core, Data};
use common::*;

const TEXT: &str = "
net_header ipv4 { uint32 src_ip; uint32 dst_ip; uint8 protocol = 254; }
id key(uint32 k);
event put : app_event { addr_t data; uint32 len; uint32 first; uint32 second; }
event chunk : net_event { uint64 offset; uint32 len; bool fin; bytes left; }
event acked : net_event { uint64 largest; bytes left; }
context thing by key { uint64 seen; }
pkt_bp ack_frame { uint8 type = 2; varint_t largest; }
pkt_bp chunk_frame {
    uint8 type : 7 = 4; bool fin : 1;
    varint_t offset; varint_t len = payload_len;
    data_t payload[len];
}
frame_union frame { ack_frame, chunk_frame }
pkt_bp packet over ipv4 { uint16 number; list<frame, 4> frames; }
seg_rule numbers [packet::number, bp.number, prev.number + 1];
seg_rule offsets [chunk_frame::offset, bp.offset, uint64(prev.offset + prev.payload.len)];
seg_rule fins [chunk_frame::fin, false, false, bp.fin];
void parse(pkt_t p, ipv4 ip) {
    packet h;
    p.extract(h);
    for (uint8 turn in 0..8) {
        if (p.left() == 0) { break; }
        if (p.peek() == 2) {
            ack_frame f;
            p.extract(f);
            acked e;
            e.largest = f.largest;
            e.left = p.left();
            set_flow_id(e, key(0));
            raise e;
        } else {
            chunk_frame f;
            p.extract(f);
            chunk e;
            e.offset = f.offset;
            e.len = uint32(f.payload.len);
            e.fin = f.fin;
            e.left = p.left();
            set_flow_id(e, key(0));
            raise e;
        }
    }
}
void make(put e) { thing v; new_ctx(v, key(0)); notify(e.token, OK); }
void send(put e, thing c) {
    new_tx_ordered_data(INF, c.id);
    add_tx_data(e.data, e.len, c.id);
    packet bp;
    bp.net.dst_ip = 0x0a000002;
    bp.number = 7;
    ack_frame a;
    a.largest = 300;
    bp.frames.add(a);
    chunk_frame f;
    f.payload = data(c.id, 0, e.first);
    bp.frames.add(f);
    f.offset = e.first;
    f.fin = true;
    f.payload = data(c.id, e.first, e.second);
    bp.frames.add(f);
    bp.frames.add(a);
    bp.frames.add(a);
    pkt_gen(bp, numbers, offsets, fins);
    notify(e.token, OK);
}
void see_chunk(chunk e, thing c) { c.seen++; }
void on_ack(acked e, thing c) { c.seen++; }
dispatch d { put -> { send } absent { make }; chunk -> { see_chunk }; acked -> { on_ack }; }
interface i { put -> put at key(0); }
deploy {
    register_ep_chains(d); register_ctx_spec(thing, 1); register_data_spec(thing, 4KiB, 0);
    register_ev_parser(parse); register_interface(i);
    register_seg_rule(numbers); register_seg_rule(offsets); register_seg_rule(fins);
}";

fn put(core: &mut Core, octets: &[u8], first: u64) {
    let len = octets.len() as u64;
    call(core, "put", 0, 1, &[len, first, len - first], Data::Send(octets)).unwrap();
    core.next_completion().unwrap();
}

/// A core with its context; the packets that two frames of data and three without become.
fn sent(config: &Config, octets: &[u8], first: u64) -> Vec<Vec<u8>> {
    let mut core = Core::new(compile(TEXT), config).unwrap();
    put(&mut core, &[], 0);
    put(&mut core, octets, first);
    drain(&mut core, 0).iter().map(|packet| packet[20..].to_vec()).collect()
}

#[test]
fn all_fit_into_one_packet_in_their_order() {
    let packets = sent(&config(A), b"abcde", 3);
    // The fifth frame is one more than the list holds.
    let wanted: &[u8] = b"\x00\x07\x02\x41\x2c\x08\x00\x03abc\x09\x03\x02de\x02\x41\x2c";
    assert_eq!(packets, [wanted]);
}

#[test]
fn a_frame_goes_on_in_the_next_packet_by_its_rules() {
    let octets: Vec<u8> = (0..400_u32).map(|i| i as u8).collect();
    // Room for 180 bytes of frames: what changes with each packet counts with 8 bytes.
    let packets = sent(&Config { mtu: 202, ..config(A) }, &octets, 200);
    let heads: Vec<&[u8]> = packets.iter().map(|p| &p[..2]).collect();
    assert_eq!(heads, [[0, 7], [0, 8], [0, 9]]);
    let first = 180 - 3 - 17;
    let mut wanted = vec![2, 0x41, 0x2c, 8, 0, 0x40, first];
    wanted.extend(&octets[..first.into()]);
    assert_eq!(packets[0][2..], wanted);
    // The rest of the first, then as much as fits of the second.
    let second = 180 - 17 - 40 - 17;
    let mut wanted = vec![8, 0x40, first, 40];
    wanted.extend(&octets[first.into()..200]);
    wanted.extend([8, 0x40, 200, 0x40, second]);
    wanted.extend(&octets[200..200 + usize::from(second)]);
    assert_eq!(packets[1][2..], wanted);
    let left = octets.len() - 200 - usize::from(second);
    let mut wanted = vec![9, 0x41, (200 + u16::from(second)) as u8, 0x40, left as u8];
    wanted.extend(&octets[200 + usize::from(second)..]);
    wanted.extend([2, 0x41, 0x2c]);
    assert_eq!(packets[2][2..], wanted);
}

fn events(core: &mut Core) -> Vec<Vec<u64>> {
    core.take_trace().into_iter().filter(|r| r.kind == 0).map(|r| r.words[1..].to_vec()).collect()
}

/// A packet that begins with this network header, with other frames.
fn with_frames(packet: &[u8], frames: &[u8]) -> Vec<u8> {
    let mut packet = packet[..22].to_vec();
    packet.extend_from_slice(frames);
    let total = packet.len() as u16;
    packet[2..4].copy_from_slice(&total.to_be_bytes());
    mended(packet)
}

#[test]
fn frames_are_read_one_after_the_other() {
    let program = compile(TEXT);
    let (mut a, mut b) = (core(&program, A), core(&program, B));
    for core in [&mut a, &mut b] {
        put(core, &[], 0);
    }
    put(&mut a, b"abcde", 3);
    let packet = drain(&mut a, 0).remove(0);
    b.take_trace();
    b.rx(&packet, 0).unwrap();
    assert_eq!(events(&mut b), [vec![300, 14], vec![0, 3, 0, 8], vec![3, 2, 1, 3], vec![300, 0]]);
    // A payload longer than what is left, after one that is right: that one stands.
    b.rx(&with_frames(&packet, &[2, 5, 8, 0, 3, 1, 2]), 0).unwrap();
    assert_eq!(events(&mut b), [vec![5, 5]]);
    assert_eq!(count(&b, "short"), 1);
    assert!(b.rx(&with_frames(&packet, &[8, 0, 3, 1, 2]), 0).is_err());
    assert_eq!(count(&b, "short"), 2);
}
