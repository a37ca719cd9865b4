// SPDX-License-Identifier: MIT OR Apache-2.0
//! The executor and the interpreter give statements one meaning: what the interpreter computes of some parameters is proved to be the
//! result for these, and nothing else is.

mod common;

use carrick_interp::{Config, Core, Data, Request};
use carrick_verify::{Bounds, Wanted, verify};
use common::{check, compile, is_proved};

/// Numbers, lists, windows, structs, arrays, loops and calls, all depending on three parameters.
const BODY: &str = "
    uint64 sum = mix(a, b);
    seq32 s = seq32(uint32(a));
    g.w.reset(s);
    bool one = g.w.set(s + uint32(b & 31), s + uint32(b & 31) + uint32(d & 7));
    bool two = g.w.set(s + uint32(d & 63), s + uint32(d & 63) + 5);
    bool three = g.w.unset(s + uint32(a & 63), s + uint32(a & 63) + 3);
    g.w.slide(s + uint32(b & 15));
    sum = sum * 31 + uint64(g.w.first_set() - s) + uint64(g.w.first_unset() - s) * 3;
    sum = sum * 2 + (g.w.test(s + 20) ? 1 : 0) + (one && !two ? 4 : 0) + (three ? 8 : 0);
    list<uint32, 3> plain;
    sorted_list<uint32, 4> sorted;
    for (uint32 i in 0..4) {
        uint32 x = uint32(a >> (i * 8)) & 15;
        plain.insert(x & 1, x);
        sorted.add(x ^ uint32(d & 3));
    }
    sorted.remove(uint32(b & 3));
    sum = sum * 31 + uint64(sorted.find(uint32(d & 15)));
    for (uint32 x in plain) sum = sum * 17 + uint64(x);
    for (uint32 x in sorted) sum = sum * 19 + uint64(x);
    if (plain.full() && plain.pop() > 3) sum += plain.len();
    pair p;
    p.x = uint16(a);
    p.y = int16(uint16(b));
    p.x *= 3;
    sum += uint64(p.x);
    if (p.y < 0 && seq32(uint32(a)) < seq32(uint32(d))) sum ^= 0x5555;
    uint32 table[4];
    table[uint32(a & 7)] = 9;
    table[uint32(b & 3)] += 5;
    sum = sum * 3 + uint64(table[uint32(d & 3)]);
    duration t = 1us * (a & 1023);
    rate r = 1Mbps * (b & 255);
    sum += uint64(bytes(d & 65535) / r / 1ns) + uint64(ratio(a & 255, b & 255) * 16) + uint64(r * t);
    sum = choose_one(sum, d);
";

fn text() -> String {
    format!(
        "net_header ipv4 {{ uint32 src_ip; uint32 dst_ip; uint8 protocol = 205; }}
param uint64 a = 1 in 0..18446744073709551615;
param uint64 b = 1 in 0..18446744073709551615;
param uint64 d = 1 in 0..18446744073709551615;
param uint64 expected = 0 in 0..18446744073709551615;
struct pair {{ uint16 x; int16 y; }}
event go : app_event {{ }}
global context flags {{ sliding_wnd(64, 4) w; }}
pkt_bp push over ipv4 {{ uint32 k; }}
void parse(pkt_t p, ipv4 ip) {{
    push h;
    p.extract(h);
}}
uint64 mix(uint64 x, uint64 y) {{
    uint64 z = x * 0x9e3779b97f4a7c15 ^ y >> 7;
    if (y % 3 == 0) return z / (y + 1);
    return z % (y + 1) + (x << (y & 63));
}}
uint64 choose_one(uint64 x, uint64 y) {{
    for (uint64 i in 0..8) {{
        if ((y >> i & 1) == 0) continue;
        if (i > 5) break;
        x = x * 5 + i;
    }}
    return x;
}}
void on_go(go e, flags g) {{
{BODY}
    assert(sum == expected);
    notify(e.token, OK, sum);
}}
dispatch stack {{ go -> {{ on_go }}; }}
interface test {{ go -> go; }}
deploy {{
    register_ep_chains(stack);
    register_ev_parser(parse);
    register_interface(test);
}}
"
    )
}

/// Numbers of a generator (SplitMix64).
fn random(n: u64) -> u64 {
    let mut z = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[test]
fn the_executor_computes_what_the_interpreter_does() {
    let program = compile(&text());
    for n in 0..400 {
        let given = [3 * n, 3 * n + 1, 3 * n + 2].map(random).map(|x| if n % 4 == 0 { x & 0xff } else { x });
        let params = [&given[..], &[0]].concat();
        let config = Config { seed: 1, address: 1, params, ..Config::default() };
        let mut core = Core::new(program.clone(), &config).unwrap();
        core.call(0, &Request { handle: 0, token: 1, args: &[], data: Data::None }, 0).unwrap();
        let result = core.next_completion().expect("the request completes").value;
        for (expected, holds) in [(result, true), (result.wrapping_add(1), false)] {
            let params = [&given[..], &[expected]].concat().into_iter().map(Some).collect();
            let bounds = Bounds { params, ..Bounds::default() };
            let wanted = Wanted { checks: vec!["assert".to_owned()], ..Wanted::default() };
            let report = verify(&program, &bounds, &wanted, 1, &std::sync::Arc::default(), &|_| {}).unwrap();
            let proved = is_proved(check(&program, &report, "assert", "sum == expected"));
            assert_eq!(proved, holds, "{given:x?}: the interpreter computes {result:#x}");
        }
    }
}
