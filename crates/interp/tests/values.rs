// SPDX-License-Identifier: MIT OR Apache-2.0
//! What expressions and statements give.

mod common;

use carrick_interp::{Core, Refused};
use common::*;

/// A program around the body of one function, and more declarations; `e.a` and `e.b` are what is asked with.
fn asker(declarations: &str, body: &str) -> String {
    format!(
        "net_header ipv4 {{ uint32 src_ip; uint32 dst_ip; uint8 protocol = 200; }}
        event ask : app_event {{ uint64 a; uint64 b; }}
        event seen : net_event {{ uint8 kind; }}
        pkt_bp plain over ipv4 {{ uint8 kind; data_t payload; }}
        {declarations}
        void parse(pkt_t p, ipv4 ip) {{ plain h; p.extract(h); seen e; e.kind = h.kind; raise e; }}
        void note(seen e) {{ }}
        void work(ask e) {{ {body} }}
        dispatch chains {{ ask -> {{ work }}; seen -> {{ note }}; }}
        interface asking {{ ask -> ask; }}
        deploy {{ register_ep_chains(chains); register_ev_parser(parse); register_interface(asking); }}"
    )
}

fn value(declarations: &str, body: &str, a: u64, b: u64) -> u64 {
    let program = compile(&asker(declarations, body));
    ask(&mut core(&program, A), "ask", &[a, b]).value
}

/// `left op right` of values of one type, as that type's signed or unsigned number.
fn operation(ty: &str, op: &str, a: i64, b: i64) -> i64 {
    let body =
        format!("{ty} x = {ty}(e.a); {ty} y = {ty}(e.b); {ty} z = x {op} y; notify(e.token, OK, uint64(z));");
    value("", &body, a as u64, b as u64) as i64
}

#[test]
fn every_row_of_the_arithmetic_table() {
    let rows = [
        ("uint8", "+", 250, 10, 4),
        ("uint32", "-", 3, 5, 0xffff_fffe),
        ("uint16", "*", 0x1234, 0x100, 0x3400),
        ("int8", "+", 127, 1, -128),
        ("int32", "*", i64::from(i32::MIN), -1, i64::from(i32::MIN)),
        ("uint64", "-", 0, 1, -1),
        ("uint32", "/", 7, 0, 0),
        ("int32", "/", 7, 0, 0),
        ("uint32", "%", 7, 0, 7),
        ("int32", "%", -7, 0, -7),
        ("int8", "/", -128, -1, -128),
        ("int8", "%", -128, -1, 0),
        ("int64", "/", i64::MIN, -1, i64::MIN),
        ("int64", "/", -7, 2, -3),
        ("int64", "%", -7, 2, -1),
        ("uint8", "&", 0xf0, 0x3c, 0x30),
        ("uint8", "|", 0xf0, 0x3c, 0xfc),
        ("uint8", "^", 0xf0, 0x3c, 0xcc),
    ];
    for (ty, op, a, b, wanted) in rows {
        assert_eq!(operation(ty, op, a, b), wanted, "{ty}: {a} {op} {b}");
    }
}

#[test]
fn operands_are_read_from_left_to_right() {
    let bump = "uint64 bump(ask e) { e.a = e.a + 10; return e.a; }";
    for (call, wanted) in [("min(e.a, bump(e))", 5), ("max(bump(e), e.a)", 15), ("sat_sub(bump(e), e.a)", 0)]
    {
        assert_eq!(value(bump, &format!("notify(e.token, OK, {call});"), 5, 0), wanted, "{call}");
    }
}

#[test]
fn shifts_casts_and_signs() {
    let rows = [
        ("uint8 x = uint8(e.a); x = x << e.b; notify(e.token, OK, uint64(x));", 1, 8, 0),
        ("uint8 x = uint8(e.a); x = x << e.b; notify(e.token, OK, uint64(x));", 0x81, 1, 2),
        ("uint32 x = uint32(e.a) >> e.b; notify(e.token, OK, x);", u64::MAX, 32, 0),
        ("int16 x = int16(e.a) >> e.b; notify(e.token, OK, uint64(x));", 0x8000, 99, u64::MAX),
        ("uint64 x = uint64(int8(e.a)); notify(e.token, OK, x);", 0x80, 0, 0xffff_ffff_ffff_ff80),
        ("int32 x = int8(e.a); notify(e.token, OK, uint64(x));", 0xff, 0, u64::MAX),
        ("bool x = bool(e.a); notify(e.token, OK, uint64(x));", 256, 0, 1),
        ("int8 x = -int8(e.a); notify(e.token, OK, uint64(x));", 0x80, 0, (-128_i64) as u64),
        ("uint8 x = ~uint8(e.a); notify(e.token, OK, x);", 0x0f, 0, 0xf0),
        ("notify(e.token, OK, uint64(abs(int32(e.a))));", (-5_i64) as u64, 0, 5),
        ("notify(e.token, OK, min(e.a, e.b) + 100 * max(e.a, e.b));", 3, 9, 903),
        ("notify(e.token, OK, uint64(min(int8(e.a), int8(e.b))));", 0xff, 3, u64::MAX),
    ];
    for (body, a, b, wanted) in rows {
        assert_eq!(value("", body, a, b), wanted, "{body}");
    }
}

#[test]
fn serial_numbers_and_units() {
    let rows = [
        ("notify(e.token, OK, uint64(seq32(e.a) < seq32(e.b)));", 0xffff_fff0, 5, 1),
        ("notify(e.token, OK, uint64(seq32(e.a) >= seq32(e.b)));", 0, 1 << 31, 0),
        ("notify(e.token, OK, seq32(e.b) - seq32(e.a));", 0xffff_fff0, 5, 21),
        ("notify(e.token, OK, uint64(seq_max(seq32(e.a), seq32(e.b))));", 0xffff_fff0, 5, 5),
        ("seq32 s = seq32(e.a) + uint32(e.b); notify(e.token, OK, uint64(s));", 0xffff_ffff, 3, 2),
        ("notify(e.token, OK, sat_sub(seq32(e.a), seq32(e.b)));", 5, 0xffff_fff0, 21),
        ("notify(e.token, OK, sat_sub(seq32(e.a), seq32(e.b)));", 0xffff_fff0, 5, 0),
        ("notify(e.token, OK, sat_sub(e.a, e.b));", 7, 8, 0),
        ("notify(e.token, OK, sat_add(e.a, 1));", u64::MAX, 0, u64::MAX),
        ("notify(e.token, OK, sat_add(uint8(e.a), uint8(e.b)));", 200, 55, 255),
        ("notify(e.token, OK, sat_add(uint8(e.a), uint8(e.b)));", 200, 56, 255),
        ("notify(e.token, OK, sat_sub(bytes(e.a), 3B));", 2, 0, 0),
        ("notify(e.token, OK, uint64(bytes(e.a) / rate(e.b)));", 1500, 12_000, 1_000_000_000),
        ("notify(e.token, OK, uint64(bytes(e.a) / rate(e.b)));", 1500, 0, 0),
        ("notify(e.token, OK, uint64(bytes(e.a) / duration(e.b)));", 1500, 1_000_000, 12_000_000),
        (
            "notify(e.token, OK, uint64(rate(e.a) * duration(e.b)));",
            1_000_000_000,
            1_000_000_000,
            125_000_000,
        ),
        ("duration d = time(e.a) - time(e.b); notify(e.token, OK, uint64(d));", 5, 7, (-2_i64) as u64),
        ("notify(e.token, OK, uint64(duration(e.a) / duration(e.b)));", 10, 0, 0),
        ("duration d = 2 * 3ms; notify(e.token, OK, uint64(d));", 0, 0, 6_000_000),
    ];
    for (body, a, b, wanted) in rows {
        assert_eq!(value("", body, a, b), wanted, "{body}");
    }
}

const RECORDS: &str = "struct pair { uint32 x; uint32 y = 7; } id key(uint32 p, uint16 q);";

#[test]
fn indices_outside_read_zero_and_write_nothing() {
    let body = "uint32 v[4]; uint32 i = uint32(e.a); v[3] = 5; v[i] = 9;
        notify(e.token, OK, uint64(v[0]) + 10 * uint64(v[3]) + 100 * uint64(v[i]) + 1000 * uint64(v[uint32(e.b)]));";
    assert_eq!(value("", body, 0, 3), 9 + 50 + 900 + 5000);
    assert_eq!(value("", body, 4, 1 << 31), 50);
    let of_pairs = "pair v[2]; pair w = v[uint32(e.a)]; notify(e.token, OK, w.y);";
    assert_eq!(value(RECORDS, of_pairs, 1, 0), 7);
    assert_eq!(value(RECORDS, of_pairs, 2, 0), 0, "the zero of the type, not its initial value");
}

#[test]
fn lists_keep_their_order_and_their_bound() {
    let body =
        "list<uint32, 3> l; l.add(4); l.add(5); l.add(6); l.add(7); l.remove(1); l.set(1, 8); l.set(2, 9);
        uint64 all = l.len(); if (l.full()) { all = 99; }
        for (uint32 x in l) { all = all * 10 + x; }
        uint32 first = l.pop(); all = all * 10 + first;
        l.clear(); first = l.pop(); all = all * 10 + first;
        notify(e.token, OK, all);";
    assert_eq!(value("", body, 0, 0), 24_840, "two elements, 4 and 8; then 4; then nothing");
}

#[test]
fn fractions_have_32_bits_behind_the_point() {
    let tell =
        |f: &str| value("", &format!("fixed f = {f}; notify(e.token, OK, uint64(int64(f * 1000)));"), 7, 2);
    let rows = [
        ("ratio(7, 10) * ratio(e.a, e.b)", 2449),
        ("ratio(e.a, e.b) / 2 - 4", -2250),
        ("cbrt(fixed(e.a) * 9 + 1)", 4000),
        ("sqrt(e.a > 3 ? 2 : 1)", 1414),
        ("log2(fixed(e.a))", 2807),
        ("log2(1 / fixed(e.b))", -1000),
        ("log2(fixed(e.a) - 7)", 0),
        ("1 / fixed(e.b) + ratio(1s, 250ms)", 4500),
        ("fixed(e.b) / 0", 0),
    ];
    for (f, wanted) in rows {
        assert_eq!(tell(f) as i64, wanted, "{f}");
    }
    assert_eq!(value("", "notify(e.token, OK, uint64(bytes(e.a) * ratio(1, 2)));", 1001, 0), 500);
}

#[test]
fn sorted_lists_keep_equal_elements_in_the_order_of_adding() {
    let body = "sorted_list<pair, 4, x> l; pair v; v.x = 5; v.y = 1; l.add(v); v.x = 2; v.y = 2; l.add(v);
        v.x = 5; v.y = 3; l.add(v); v.x = 1; v.y = 4; l.add(v); v.x = 0; l.add(v);
        uint32 all = l.find(5) * 10 + l.find(9); l.remove(l.find(2));
        for (pair p in l) { all = all * 10 + uint32(p.y); }
        notify(e.token, OK, all);";
    assert_eq!(
        value("struct pair { uint32 x; uint32 y; }", body, 0, 0),
        24_413,
        "2 below 5, 4 in all; without 2"
    );
}

#[test]
fn elements_go_into_the_middle() {
    let body =
        "list<uint32, 4> l; l.insert(3, 1); l.insert(0, 2); l.insert(1, 3); l.insert(9, 4); l.insert(0, 5);
        uint32 all = 0; for (uint32 x in l) { all = all * 10 + x; } notify(e.token, OK, all);";
    let body = body.replace("insert(9", "insert(e.a");
    assert_eq!(value("", &body, 9, 0), 2314);
}

#[test]
fn lists_of_records_copy_them() {
    let body = "list<pair, 4> l; pair v; v.x = 1; l.add(v); v.x = 2; l.add(v);
        pair w = l.get(0); w.y = 50; pair u = l.pop();
        notify(e.token, OK, uint64(u.x) + 10 * uint64(u.y) + 100 * uint64(l[0].x) + 1000 * uint64(l.len()));";
    assert_eq!(value(RECORDS, body, 0, 0), 1 + 70 + 200 + 1000);
}

#[test]
fn loops_turn_as_often_as_they_say() {
    let body = "uint64 n = 0; for (uint32 i in 2..uint32(e.a) max 5) { if (i == 4) { continue; } if (i == uint32(e.b)) { break; } n = n * 10 + i; }
        notify(e.token, OK, n);";
    assert_eq!(value("", body, 4, 100), 23);
    assert_eq!(value("", body, 100, 100), 2356, "five turns at most");
    assert_eq!(value("", body, 100, 3), 2);
    assert_eq!(value("", body, 1, 0), 0);
}

#[test]
fn ids_are_compared_part_by_part() {
    let body = "key k(uint32(e.a), 7); key l(uint32(e.b), 7); uint64 n = 0; if (k == l) { n = 1; } if (k != l) { n += 2; }
        k = key(l.p + 1, uint16(k.p)); notify(e.token, OK, n * 100 + uint64(k.p) * 10 + k.q);";
    assert_eq!(value(RECORDS, body, 3, 3), 143);
    assert_eq!(value(RECORDS, body, 3, 4), 253);
}

#[test]
fn functions_return_and_stop() {
    let functions = "uint32 pick(uint32 x) { if (x > 3) { return x; } return 1; }
        void halt(ask e, uint32 x) { if (x == 9) { notify(e.token, ABORTED, x); stop; } }
        pair both(uint32 x) { pair v; v.x = x; return v; }
        struct pair { uint32 x; uint32 y = 7; }";
    let body = "uint32 n = pick(uint32(e.a)); halt(e, n); pair v = both(n); notify(e.token, OK, v.x + v.y);";
    assert_eq!(value(functions, body, 5, 0), 12);
    assert_eq!(value(functions, body, 2, 0), 8);
    assert_eq!(value(functions, body, 9, 0), 9, "stopped before the second notify");
}

#[test]
fn random_numbers_and_hashes_follow_the_seed() {
    let body =
        "uint32 r = random(); notify(e.token, OK, uint64(r) << 32 | uint64(keyed_hash(e.a, key(1, 2))));";
    let program = compile(&asker(RECORDS, body));
    let asked = |seed, a| {
        let config = carrick_interp::Config { seed, ..config(A) };
        let mut core = Core::new(program.clone(), &config).unwrap();
        ask(&mut core, "ask", &[a, 0]).value
    };
    assert_eq!(asked(42, 5) >> 32, 0xa15c_02b7, "the first number of PCG32 for seed 42, stream 54");
    assert_eq!(asked(42, 5), asked(42, 5));
    assert_ne!(asked(42, 5) as u32, asked(42, 6) as u32);
    assert_ne!(asked(42, 5) as u32, asked(43, 5) as u32);
}

#[test]
fn bad_requests_and_configurations_are_refused() {
    let program = compile(&asker("", "notify(e.token, OK);"));
    let mut one = core(&program, A);
    let bad =
        |core: &mut Core, token, args: &[u64]| call(core, "ask", 0, token, args, carrick_interp::Data::None);
    assert_eq!(bad(&mut one, 0, &[1, 2]), Err(Refused::BadArg));
    assert_eq!(bad(&mut one, 1, &[1]), Err(Refused::BadArg));
    for wrong in [
        carrick_interp::Config { mtu: 67, ..config(A) },
        carrick_interp::Config { completions: 3, ..config(A) },
        carrick_interp::Config { params: vec![1], ..config(A) },
    ] {
        assert!(Core::new(program.clone(), &wrong).is_err());
    }
}

#[test]
fn no_more_requests_than_completions_fit() {
    let program = compile(&asker("", "notify(e.token, OK, e.a);"));
    let config = carrick_interp::Config { completions: 2, ..config(A) };
    let mut core = Core::new(program, &config).unwrap();
    let asked = |token, core: &mut Core| call(core, "ask", 0, token, &[token, 0], carrick_interp::Data::None);
    assert_eq!([asked(1, &mut core), asked(2, &mut core)], [Ok(()), Ok(())]);
    assert_eq!(asked(3, &mut core), Err(Refused::Again));
    assert_eq!(core.next_completion().unwrap().value, 1);
    assert_eq!(asked(3, &mut core), Ok(()));
}
