// SPDX-License-Identifier: MIT OR Apache-2.0
//! CRC-32 fields against packets that someone else's code made, and against every single bit that can be damaged.

mod common;

use carrick_interp::{Core, Data, Refused};
use common::*;

/// What a router may change is masked; the CRC-32 (by zlib) stands last, its least significant byte first.
const PACKET: &str = "45410044988640003ffe8df20a0000010a000002c00012b7003000000440ffff550000d380cf1710\
                      6361727269636b2062656e64732074776f20726f706573219365812c";
const TEXT: &str = "
net_header ipv4 { uint32 src_ip; uint32 dst_ip; uint8 protocol = 254; uint8 ttl = 63; uint8 tos = 0x41; }
id key(uint32 k);
event ask : app_event { uint32 psn; addr_t data; }
event framed : net_event { uint32 crc; uint64 len; }
context thing by key { uint64 seen; }
pkt_bp frame over ipv4 {
    uint16 from = 0xc000; uint16 to = 0x12b7; uint16 len = header_len + payload_len + 4; uint16 sum;
    uint8 op = 4; uint8 flags = 0x40; uint16 part = 0xffff; uint8 marks; uint32 peer : 24 = 211;
    bool ack : 1 = true; uint8 zero : 7; uint32 psn : 24;
    data_t payload;
    crc32_t icrc = crc32(ones(8), net, header, payload, masked(net.tos, net.ttl, net.checksum, sum, marks));
}
void parse(pkt_t p, ipv4 ip) {
    frame h;
    p.extract(h);
    framed e;
    e.crc = h.icrc;
    e.len = uint64(h.payload.len);
    set_flow_id(e, key(0));
    raise e;
}
void make(ask e) { thing v; new_ctx(v, key(0)); notify(e.token, OK); }
void send(ask e, thing c) {
    new_tx_ordered_data(INF, c.id);
    add_tx_data(e.data, 24, c.id);
    frame bp;
    bp.net.src_ip = 0x0a000001;
    bp.net.dst_ip = 0x0a000002;
    bp.marks = 0x55;
    bp.psn = e.psn;
    bp.payload = data(c.id, 0, 24);
    pkt_gen(bp);
    notify(e.token, OK);
}
void see(framed e, thing c) { c.seen = uint64(e.crc); }
dispatch d { ask -> { send } absent { make }; framed -> { see }; }
interface i { ask -> ask at key(0); }
deploy {
    register_ep_chains(d); register_ctx_spec(thing, 1); register_data_spec(thing, 1KiB, 0);
    register_ev_parser(parse); register_interface(i);
}";

fn packet() -> Vec<u8> {
    let digit = |c: u8| (c as char).to_digit(16).expect("hexadecimal") as u8;
    PACKET.as_bytes().chunks(2).map(|two| digit(two[0]) << 4 | digit(two[1])).collect()
}

#[test]
fn what_is_sent_is_what_others_compute() {
    let program = compile(TEXT);
    let mut core = core(&program, A);
    // The first request makes the context.
    for token in [1, 2] {
        let octets = Data::Send(b"carrick bends two ropes!");
        call(&mut core, "ask", 0, token, &[0xcf1710], octets).unwrap();
    }
    let sent = drain(&mut core, 0).remove(0);
    // All but the identification, which counts packets, and the two checksums over it.
    let wanted = packet();
    assert_eq!(sent[20..64], wanted[20..64]);
    let mut same = wanted;
    same[4..6].copy_from_slice(&sent[4..6]);
    assert_eq!(mended(same)[..20], sent[..20]);
    // What it made itself it takes.
    assert_eq!(receiver().rx(&sent, 0), Ok(()));
}

fn receiver() -> Core {
    let mut core = core(&compile(TEXT), B);
    call(&mut core, "ask", 0, 1, &[0], Data::None).unwrap();
    core
}

#[test]
fn a_damaged_bit_is_found_unless_it_is_masked() {
    let mut core = receiver();
    core.rx(&packet(), 0).unwrap();
    let bad = carrick_ir::counter("bad_checksum");
    for bit in 0..packet().len() * 8 {
        let mut damaged = packet();
        damaged[bit / 8] ^= 0x80 >> (bit % 8);
        let octet = bit / 8;
        // What the network layer itself looks at is refused before the parser: version, lengths, fragments, checksum,
        // protocol, destination.
        let before = matches!(octet, 0 | 2 | 3 | 6 | 7 | 9 | 10 | 11 | 16..20);
        let masked = matches!(octet, 1 | 8 | 26 | 27 | 32);
        if before {
            continue;
        }
        let wanted = if masked { Ok(()) } else { Err(Refused::Dropped(bad)) };
        assert_eq!(core.rx(&mended(damaged), 0), wanted, "bit {bit}");
    }
}

#[test]
fn a_packet_without_room_for_it_is_short() {
    let mut core = receiver();
    let short = carrick_ir::counter("short");
    for len in 20..44_u8 {
        let mut cut = packet();
        cut.truncate(len.into());
        cut[3] = len;
        assert_eq!(core.rx(&mended(cut), 0), Err(Refused::Dropped(short)));
    }
}
