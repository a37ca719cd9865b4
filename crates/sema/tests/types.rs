// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which types go together, and which conversions happen by themselves.

use carrick_sema::{check, codes::*};
use carrick_syntax::diag::Severity;
use carrick_syntax::parse;

/// The codes of the errors of a processor with this body; `c` has a field of each type.
fn errors(body: &str) -> Vec<u16> {
    let text = format!(
        "net_header ipv4 {{ uint8 protocol = 253; }}
id flow(uint32 a);
enum e8 : uint8 {{ A, B }}
struct pair {{ uint32 x; uint32 y; }}
event segment : net_event {{ uint32 n; addr_t addr; }}
context conn by flow {{
    bool b; uint8 u8; uint16 u16; uint32 u32; uint64 u64; int8 i8; int16 i16; int32 i32; int64 i64; seq32 q; duration d;
    time t; bytes o; rate r; token_t token; handle_t handle; status_t status; e8 e; pair p; uint32 table[4]; list<uint32, 4> l;
}}
void parse(pkt_t p, ipv4 ip) {{ segment s; set_flow_id(s, flow(1)); raise s; }}
void receive(segment s, conn c) {{ c.u32 = s.n; {body} }}
dispatch stack {{ segment -> {{ receive }}; }}
deploy {{ register_ep_chains(stack); register_ctx_spec(conn, 1); register_ev_parser(parse); }}"
    );
    let (file, syntax) = parse(&text);
    assert_eq!(syntax, [], "{text}");
    let diagnostics = check(&file, "t", "t.mtp", &text).1;
    diagnostics.into_iter().filter(|d| d.severity == Severity::Error).map(|d| d.code).collect()
}

fn each_gives(statements: &str, wanted: &[u16]) {
    for statement in statements.split(';').map(str::trim).filter(|s| !s.is_empty()) {
        assert_eq!(errors(&format!("{statement};")), wanted, "{statement}");
    }
}

#[test]
fn integers_widen_where_no_value_is_lost() {
    each_gives(
        "c.u16 = c.u8; c.u32 = c.u8; c.u64 = c.u32; c.i16 = c.u8; c.i64 = c.u32; c.i64 = c.i8; c.o = c.u32; c.o = c.u64;
         c.u64 = c.u32 + c.u8; c.i32 = c.u16 * c.i32; c.b = c.i64 < c.u32; c.u32 += c.u8",
        &[],
    );
    each_gives("c.u32 = c.i8; c.u32 = c.i32; c.i8 = c.u8; c.i32 = c.u32; c.i64 = c.u64", &[OTHER_SIGN]);
    each_gives("c.u8 = c.u16; c.u8 += c.u16; c.i8 = c.i64", &[NARROWING]);
    each_gives("c.o = c.i64; c.u64 = c.o", &[UNIT_AND_NUMBER]);
    each_gives(
        "c.b = c.u32 == c.i32; c.u32 = c.u32 + c.i32; c.i64 = c.u64 - c.i64; c.i32 = c.u16 * c.i8",
        &[MIXED_SIGNS],
    );
}

#[test]
fn literals_fit_or_are_refused() {
    each_gives(
        "c.u8 = 255; c.i8 = -128; c.i8 = 127; c.u64 = 18446744073709551615; c.q = 4294967295; c.o = 5; c.d = 0; c.t = 0;
         c.u8 = 200 + 55; c.u8 = 300 - 45; c.i8 = 1 - 129; c.u32 = c.u8 + 255; c.b = c.u8 == 255; c.u8 = ~0; c.u32 = 3 / 0; c.u8 = 1 << 7; c.u64 = 1 << 40; c.i8 = -4 >> 1; c.u8 = 300 >> 2",
        &[],
    );
    each_gives(
        "c.u8 = 256; c.i8 = -129; c.i8 = 128; c.u32 = -1; c.u8 = 256 - 512; c.q = 4294967296; c.u16 = c.u8 + 256;
         c.b = c.u8 == 256; c.u8 = 1 << 8",
        &[LITERAL_RANGE],
    );
    each_gives("c.d = 10000000000h", &[UNIT_RANGE]);
    each_gives("c.t = 5; c.b = 1; c.e = 1; c.status = 1; c.token = 1", &[TYPE_MISMATCH]);
    each_gives("c.d = 5; c.r = 5; c.t = c.t + 5", &[NUMBER_WITHOUT_UNIT]);
}

#[test]
fn units_combine_as_the_table_says() {
    each_gives(
        "c.d = c.d + c.d - 5ms; c.d = c.d * 3; c.d = c.i8 * c.d; c.d = c.d / 2; c.i64 = c.d / c.d; c.d = c.d % 3s; c.d = -c.d;
         c.d = c.t - c.t; c.t = c.t + c.d; c.t = c.d + c.t; c.t = c.t - 1s; c.t += 5ms; c.d *= 2; c.d /= c.u8;
         c.o = c.o + c.o - 1KiB; c.o = c.o + c.u32; c.o = 5 + c.o; c.o = c.o * c.u8; c.o = 2 * c.o; c.o = c.o / 3; c.u64 = c.o / c.o;
         c.o = c.o % 7KB; c.r = c.r + 5Mbps; c.r = c.r * 3 / 4; c.u64 = c.r / c.r; c.d = c.o / c.r; c.o = c.r * c.d; c.o = c.d * c.r; c.r = c.o / c.d;
         c.b = c.d < 5ms; c.b = c.t >= now(); c.b = c.o == 5; c.b = c.r != 1Gbps; c.b = c.d > 0",
        &[],
    );
    each_gives(
        "c.d = c.d * c.d; c.d = c.d + c.o; c.t = c.t + c.t; c.t = c.t * 2; c.d = c.d - c.t; c.d = 5 / c.d; c.o = c.o * c.o;
         c.o = c.d / c.o; c.r = c.r * c.o; c.r = c.r + c.o; c.b = c.d < c.t; c.b = c.d < c.i64;
         c.i64 = c.d + c.i64",
        &[MIXED_UNITS],
    );
    each_gives("c.d = c.d << 1; c.o = c.o & 7", &[MIXED_TYPES]);
    each_gives("c.o = ~c.o; c.t = -c.t; c.o = -c.o", &[NO_OPERATION]);
}

#[test]
fn sequence_numbers_are_their_own_kind() {
    each_gives(
        "c.q = c.q + 1; c.q = c.q - c.u32; c.q += c.o; c.q = c.q + c.u64; c.u32 = c.q - c.q; c.b = c.q < c.q; c.b = c.q >= c.q;
         c.q = seq_max(c.q, c.q); c.b = c.q == seq32(c.u32); c.u32 = uint32(c.q); c.q++",
        &[],
    );
    each_gives("c.q = c.u32; c.u32 = c.q", &[SEQ_AND_NUMBER]);
    each_gives("c.q = min(c.q, c.q); c.q = seq_min(c.u32, c.u32)", &[EXTREME_TYPE]);
    each_gives("c.b = c.q < c.u32; c.b = c.u64 == c.q", &[SEQ_COMPARISON]);
    each_gives(
        "c.q = c.q * 2; c.q = c.q + c.q; c.q = 1 + c.q; c.q = c.q & 1; c.q = c.q + c.d",
        &[MIXED_TYPES],
    );
}

#[test]
fn names_of_things_compare_and_nothing_else() {
    each_gives(
        "c.b = c.token == none; c.b = none != c.handle; c.b = s.addr == none; c.b = c.token != c.token; c.b = c.e < B;
         c.b = c.e == A; c.b = c.status == RESET; c.b = c.b != true; c.b = c.id == flow(4); c.b = c.b & c.b ^ true; c.token = none;
         c.u8 = uint8(c.e); c.e = e8(c.u8); c.status = status_t(3); c.u64 = uint64(c.d); c.d = duration(c.u32); c.b = bool(c.q)",
        &[],
    );
    each_gives(
        "c.b = c.token == c.handle; c.b = c.e == c.status; c.b = c.e == c.u8; c.u8 = c.b + c.b; c.b = c.u32 == none",
        &[MIXED_TYPES],
    );
    each_gives(
        "c.b = c.token < c.token; c.b = c.status < RESET; c.b = c.b < c.b; c.b = c.id < c.id",
        &[NO_ORDER],
    );
    each_gives("c.b = s.addr == s.addr; c.b = c.p == c.p; c.b = c.l == c.l", &[NOT_COMPARABLE]);
    each_gives("c.b = none == none", &[MIXED_TYPES]);
    each_gives(
        "c.u32 = uint32(c.p); c.u64 = uint64(c.token); c.token = token_t(4); c.u32 = uint32(c.l)",
        &[CONVERSION],
    );
    each_gives("c.u32 = none; c.e = none; c.p = none", &[NONE_TYPE]);
    each_gives("c.b = c.u8; c.u32 = c.b; c.p = c.table; c.u32 = c.l", &[TYPE_MISMATCH]);
    each_gives("c.u8 = c.e; c.e = c.u8", &[ENUM_AND_NUMBER]);
}

#[test]
fn conditions_are_truth_values() {
    each_gives("c.b = c.b && c.u32 != 0 || !c.b", &[]);
    each_gives("c.b = !c.u32; c.b = c.u32 && c.b; c.b = c.b || 1; c.u32 = c.u32 ? 1 : 2", &[NOT_A_CONDITION]);
}

#[test]
fn shifts_count_without_a_sign() {
    each_gives("c.u8 = c.u8 << 9; c.i64 = c.i64 >> c.u8; c.u32 <<= c.u64; c.u32 = 1 << c.u8", &[]);
    each_gives("c.u8 = c.u8 << c.i8; c.u32 >>= c.i64", &[SIGNED_SHIFT]);
}
