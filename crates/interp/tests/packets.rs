// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packets: made, read, refused.

mod common;

use carrick_interp::{Config, Core, Data, Refused};
use common::*;
use etherparse::{Ipv4HeaderSlice, checksum};

/// Where the transport header begins, and how long it is with its one option.
const IP: usize = 20;
const HEADER: usize = 24;

fn courier(config: &Config) -> (Core, u64) {
    let mut core = Core::new(compile(include_str!("programs/courier.mtp")), config).unwrap();
    let handle = open(&mut core, B);
    (core, handle)
}

fn open(core: &mut Core, remote: u32) -> u64 {
    call(core, "open", 0, 1, &[A.into(), 7, remote.into(), 9], Data::None).unwrap();
    core.next_completion().unwrap().value
}

fn send(core: &mut Core, handle: u64, octets: &[u8]) {
    let len = octets.len() as u64;
    call(core, "send", handle, 2, &[len], Data::Send(octets)).unwrap();
}

fn seq(packet: &[u8]) -> u32 {
    u32::from_be_bytes(packet[IP + 4..IP + 8].try_into().unwrap())
}

/// As those of compiled cores.
#[test]
fn packets_live_for_64_hops_where_the_program_says_nothing() {
    let text = include_str!("programs/courier.mtp");
    for (declared, hops) in [("uint8 ttl;", 64), ("uint8 ttl = 9;", 9)] {
        let text = text.replace("uint8 ttl = 64;", declared);
        let mut core = Core::new(compile(&text), &config(A)).unwrap();
        let handle = open(&mut core, B);
        send(&mut core, handle, &[5]);
        let packets = drain(&mut core, 0);
        assert!(!packets.is_empty() && packets.iter().all(|packet| packet[8] == hops), "{declared}");
    }
}

/// The Internet checksum by someone else's code, over the pseudo-header and what follows the IP header.
fn checksum_of(packet: &[u8]) -> u16 {
    let rest = &packet[IP..];
    checksum::Sum16BitWords::new()
        .add_4bytes(packet[12..16].try_into().unwrap())
        .add_4bytes(packet[16..20].try_into().unwrap())
        .add_2bytes([0, packet[9]])
        .add_2bytes((rest.len() as u16).to_be_bytes())
        .add_slice(rest)
        .ones_complement()
}

#[test]
fn headers_and_checksums_are_what_others_read() {
    let (mut core, handle) = courier(&config(A));
    send(&mut core, handle, &[5; 333]);
    send(&mut core, handle, &[6; 20]);
    for (i, packet) in drain(&mut core, 0).iter().enumerate() {
        let ip = Ipv4HeaderSlice::from_slice(packet).unwrap();
        assert_eq!(ip.header_checksum(), ip.to_header().calc_header_checksum());
        assert_eq!((ip.source(), ip.destination()), (A.to_be_bytes(), B.to_be_bytes()));
        assert_eq!((ip.identification(), ip.dont_fragment(), ip.ttl()), (i as u16, true, 64));
        assert_eq!((usize::from(ip.total_len()), ip.protocol().0), (packet.len(), 200));
        assert_eq!(checksum_of(packet), 0);
    }
}

#[test]
fn fields_and_options_lie_where_they_are_declared() {
    let (mut core, handle) = courier(&config(A));
    send(&mut core, handle, b"abc");
    let packet = drain(&mut core, 0).remove(0);
    let mut wanted = vec![0, 7, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0x60, 7, packet[34], packet[35]];
    wanted.extend([1, 1, 9, 6, 0, 0, 0, 0]);
    wanted.extend(b"abc");
    assert_eq!(packet[IP..], wanted);
}

#[test]
fn a_blueprint_is_cut_into_packets_by_its_rules() {
    let (mut core, handle) = courier(&Config { mtu: 600, ..config(A) });
    let octets: Vec<u8> = (0..1300_u32).map(|i| i as u8).collect();
    send(&mut core, handle, &octets);
    call(&mut core, "close", handle, 3, &[], Data::None).unwrap();
    let packets = drain(&mut core, 0);
    let room = 600 - IP - HEADER;
    let seqs: Vec<u32> = packets.iter().map(|p| seq(p)).collect();
    assert_eq!(seqs, [0, room as u32, 2 * room as u32, 1300]);
    let sent: Vec<u8> = packets.iter().flat_map(|p| p[IP + HEADER..].to_vec()).collect();
    assert_eq!(sent, octets);
    let fins: Vec<u8> = packets.iter().map(|p| p[IP + 12] & 1).collect();
    assert_eq!(fins, [0, 0, 0, 1]);
}

#[test]
fn the_given_mss_bounds_a_packet() {
    let (mut core, handle) = courier(&config(A));
    send(&mut core, handle, &[1; 2500]);
    let lens: Vec<usize> = drain(&mut core, 0).iter().map(|p| p.len() - IP - HEADER).collect();
    assert_eq!(lens, [1000, 1000, 500]);
}

#[test]
fn a_sent_event_runs_once_the_last_packet_is_out() {
    let (mut core, handle) = courier(&config(A));
    send(&mut core, handle, &[1; 2500]);
    let events = |core: &mut Core| {
        let left = core.program().events.iter().position(|e| e.name == "left").unwrap() as u32;
        core.take_trace()
            .iter()
            .filter(|r| r.kind == 0 && r.number == left)
            .map(|r| r.words[1])
            .collect::<Vec<_>>()
    };
    let mut packet = Vec::new();
    assert!(core.tx(&mut packet, 0) && core.tx(&mut packet, 0));
    assert_eq!(events(&mut core), [] as [u64; 0]);
    assert!(core.tx(&mut packet, 0));
    assert_eq!(events(&mut core), [2500]);
}

#[test]
fn inputs_are_refused_while_the_queue_is_nearly_full() {
    let (mut core, handle) = courier(&Config { completions: 2048, ..config(A) });
    let most = u64::from(core.program().max_blueprints);
    let mut taken = 0;
    while call(&mut core, "send", handle, 2, &[1], Data::Send(&[1])).is_ok() {
        taken += 1;
    }
    assert_eq!(taken, 1024 - most + 1);
    let before = core.counters().to_vec();
    assert_eq!(core.rx(&[], 1), Err(Refused::Again));
    assert_eq!(core.advance(u64::MAX), Err(Refused::Again));
    assert_eq!(core.counters(), before);
    let mut packet = Vec::new();
    assert!(core.tx(&mut packet, 1));
    assert_eq!(core.rx(&[], 1), Err(Refused::Dropped(carrick_ir::counter("ip_short"))));
}

/// A parcel from the other end, with those options and that payload.
fn parcel(options: &[u8], payload: &[u8]) -> Vec<u8> {
    let words = (16 + options.len()).div_ceil(4) as u8;
    let mut rest = vec![0, 9, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, words << 4, 7, 0, 0];
    rest.extend_from_slice(options);
    rest.extend_from_slice(payload);
    let total = (IP + rest.len()) as u16;
    let mut packet = vec![0x45, 0];
    packet.extend(total.to_be_bytes());
    packet.extend([0, 0, 0x40, 0, 64, 200, 0, 0]);
    packet.extend(B.to_be_bytes());
    packet.extend(A.to_be_bytes());
    packet.extend(rest);
    seal(packet)
}

/// Makes both checksums right.
fn seal(mut packet: Vec<u8>) -> Vec<u8> {
    packet[10..12].fill(0);
    let sum = checksum::Sum16BitWords::new().add_slice(&packet[..IP]).ones_complement();
    packet[10..12].copy_from_slice(&sum.to_ne_bytes());
    if packet.len() >= IP + 16 {
        packet[IP + 14..IP + 16].fill(0);
        let sum = checksum_of(&packet);
        packet[IP + 14..IP + 16].copy_from_slice(&sum.to_ne_bytes());
    }
    packet
}

fn changed(at: usize, octet: u8) -> Vec<u8> {
    let mut packet = parcel(&[], b"abcd");
    packet[at] = octet;
    packet
}

#[test]
fn what_is_wrong_with_a_packet_is_counted() {
    let (mut core, _) = courier(&config(A));
    let cases = [
        (vec![0x45; 19], "ip_short"),
        (seal(changed(0, 0x65)), "ip_version"),
        (seal(changed(0, 0x44)), "ip_length"),
        (seal(changed(3, 200)), "ip_length"),
        (changed(8, 3), "ip_checksum"),
        (seal(changed(6, 0x20)), "ip_fragment"),
        (seal(changed(7, 1)), "ip_fragment"),
        (seal(changed(9, 6)), "ip_protocol"),
        (seal(changed(19, 99)), "ip_address"),
        (seal(parcel(&[], b"")[..IP + 15].to_vec()), "ip_length"),
        (changed(IP + 17, 3), "bad_checksum"),
        (parcel(&[9, 1, 0, 0], b""), "bad_options"),
        (parcel(&[9, 5, 0, 0, 0, 0, 0, 0], b""), "bad_options"),
        (parcel(&[1, 1, 1, 9], b""), "bad_options"),
        (parcel(&[33, 9, 0, 0], b""), "bad_options"),
        (seal(changed(IP + 12, 0xf0)), "bad_options"),
        (seal(changed(IP + 12, 0x30)), "bad_options"),
    ];
    for (packet, counter) in cases {
        let number = carrick_ir::counter(counter);
        let before = core.counters()[number];
        assert_eq!(core.rx(&packet, 0), Err(Refused::Dropped(number)), "{counter}");
        assert_eq!(core.counters()[number], before + 1);
        let drop = core.take_trace().pop().unwrap();
        assert_eq!((drop.kind, drop.number as usize, drop.words.len()), (4, number, 0));
    }
    let short = {
        let mut packet = parcel(&[], b"")[..IP + 15].to_vec();
        packet[3] = packet.len() as u8;
        seal(packet)
    };
    assert_eq!(core.rx(&short, 0), Err(Refused::Dropped(carrick_ir::counter("short"))));
}

/// Whether the option was there, and its value, as the event had it.
fn stamp(core: &mut Core, packet: &[u8]) -> (u64, u64) {
    core.take_trace();
    core.rx(packet, 0).unwrap();
    let event = core.take_trace().into_iter().find(|r| r.kind == 0).unwrap();
    let words = event.words;
    (words[words.len() - 2], words[words.len() - 1])
}

#[test]
fn options_are_read_wherever_they_stand() {
    let (mut core, _) = courier(&config(A));
    let of = |options: &[u8]| parcel(options, b"xyz");
    assert_eq!(stamp(&mut core, &of(&[])), (0, 0));
    assert_eq!(stamp(&mut core, &of(&[9, 6, 0, 0, 1, 2, 1, 1])), (1, 258));
    assert_eq!(
        stamp(&mut core, &of(&[1, 77, 3, 9, 9, 6, 0, 0, 0, 7, 0, 9])),
        (1, 7),
        "unknown kinds are skipped"
    );
    assert_eq!(
        stamp(&mut core, &of(&[9, 6, 0, 0, 0, 1, 9, 6, 0, 0, 0, 2, 0, 0, 0, 0])),
        (1, 2),
        "the last wins"
    );
    assert_eq!(stamp(&mut core, &of(&[0, 0, 9, 6, 0, 0, 0, 1])), (0, 0), "kind 0 ends the list");
}

#[test]
fn octets_behind_the_ip_packet_are_not_part_of_it() {
    let (mut core, handle) = courier(&config(A));
    let mut packet = parcel(&[], b"hello");
    packet.extend([0xee; 30]);
    core.rx(&packet, 0).unwrap();
    call(&mut core, "recv", handle, 2, &[100], Data::Recv(100)).unwrap();
    let got = core.next_completion().unwrap();
    assert_eq!((got.value, got.data.as_deref()), (5, Some(&b"hello"[..])));
}

#[test]
fn a_waiting_request_gets_what_arrives_in_order() {
    let (mut core, handle) = courier(&config(A));
    call(&mut core, "recv", handle, 2, &[4], Data::Recv(4)).unwrap();
    let mut late = parcel(&[], b"5678");
    late[IP + 7] = 4;
    core.rx(&seal(late), 0).unwrap();
    assert_eq!(core.next_completion(), None);
    core.rx(&parcel(&[], b"1234"), 0).unwrap();
    assert_eq!(core.next_completion().unwrap().data.unwrap(), b"1234");
    call(&mut core, "recv", handle, 3, &[9], Data::Recv(9)).unwrap();
    assert_eq!(core.next_completion().unwrap().data.unwrap(), b"5678");
}

#[test]
fn a_pending_request_keeps_its_octets() {
    let mut small = config(A);
    small.params = vec![200_000_000, 8, 1024];
    let (mut core, handle) = courier(&small);
    send(&mut core, handle, &[1; 1024]);
    assert_eq!(core.next_completion().unwrap().value, 1024);
    send(&mut core, handle, b"later");
    assert_eq!(core.next_completion(), None, "no room");
    drain(&mut core, 0);
    let mut ack = parcel(&[], b"");
    ack[IP + 10] = 4;
    core.rx(&seal(ack), 0).unwrap();
    assert_eq!(core.next_completion().unwrap().value, 5);
    assert_eq!(drain(&mut core, 0)[0][IP + HEADER..], *b"later");
}

/// What no receiver sees decides nothing: 9 is 1 in three bits.
#[test]
fn fields_hold_the_bits_that_they_have() {
    let program = compile(
        "net_header ipv4 { uint32 src_ip; uint32 dst_ip; uint8 protocol = 253; }
        event ask : app_event { uint32 n; }
        event told : net_event { uint8 kind; }
        pkt_bp narrow over ipv4 {
            uint8 kind : 3;
            uint8 rest : 5 = 40;
            union (kind) { 1 -> { uint8 a; } }
            varint_t long;
            if (long > 7) { uint8 b; }
        }
        void parse(pkt_t p, ipv4 ip) { narrow h; p.extract(h); told e; e.kind = h.kind; raise e; }
        void send(ask e) {
            narrow bp;
            bp.kind = uint8(e.n);
            bp.a = 5;
            bp.long = 0x4000_0000_0000_0000 + uint64(e.n) - 3;
            pkt_gen(bp);
            bp.kind += 7;
            notify(e.token, OK, uint64(bp.kind) + uint64(bp.rest) * 10 + bp.long * 1000);
        }
        void see(told e) { }
        dispatch all { ask -> { send }; told -> { see }; }
        interface asking { ask -> ask; }
        deploy { register_ep_chains(all); register_ev_parser(parse); register_interface(asking); }",
    );
    let mut core = core(&program, A);
    call(&mut core, "ask", 0, 1, &[9], Data::None).unwrap();
    assert_eq!(drain(&mut core, 0)[0][IP..], [1 << 5 | 8, 5, 6]);
    assert_eq!(core.next_completion().unwrap().value, 6080);
}
