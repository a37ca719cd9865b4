// SPDX-License-Identifier: MIT OR Apache-2.0
//! What programs become: the source and the printed IR side by side. Every one of them is valid.

mod common;

use carrick_ir::print::print;
use common::{function, lowered, program};

/// What a processor with this body becomes.
fn body(source: &str) -> String {
    format!("{source}\n=>\n{}", function(&lowered(&program("", source, "")), "receive"))
}

macro_rules! bodies {
    ($($name:ident: $source:literal;)*) => {$(
        #[test]
        fn $name() {
            insta::assert_snapshot!(stringify!($name), body($source));
        }
    )*};
}

bodies! {
    integers_widen_and_convert:
        "c.long = m.n; c.small = int16(m.n); c.count = uint32(c.small) + 1; c.long += 5000000000; c.on = bool(m.n);";
    literals_take_the_type_of_their_surroundings:
        "c.small = -3; c.seq = 7; c.octets = 9; c.wait = 0; c.count = 1 << 4; c.long = 1 + 2 * 3; c.count = ~0;";
    units_combine:
        "c.wait = now() - c.last; c.last = now() + 2 * c.wait; c.octets = c.speed * c.wait; c.wait = c.octets / c.speed;
         c.long = c.octets / 3KiB; c.octets = c.octets * 2 / 5 + m.n; c.speed = max(c.speed, 10Mbps) % 3Kbps;
         c.wait = -abs(c.wait) * 3 / 4;";
    sequence_numbers_are_serial:
        "if (m.seq > c.seq && m.seq - 5 <= c.seq) { c.count = m.seq - c.seq; c.seq = seq_max(m.seq, c.seq) + c.octets; }";
    effects_leave_expressions_in_order:
        "c.count = m.n + bump(c) * twice(bump(c)) + random();";
    the_right_side_of_and_waits:
        "if (c.on && bump(c) > 3 || c.numbers.pop() == 1) { c.on = false; }";
    the_branches_of_a_choice_wait:
        "c.count = c.on ? bump(c) : m.n; c.on = m.n == 4 ? true : false;";
    arguments_are_evaluated_from_left_to_right:
        "c.seq = c.seq + keyed_hash(c.count, bump(c), c.count, random());";
    an_index_is_computed_before_the_value:
        "c.table[m.n + c.count] = bump(c); c.table[m.n]++; c.numbers[c.count % 4] += 2; c.one.n = c.table[3];";
    lists_have_methods:
        "if (!c.numbers.full()) { c.numbers.add(m.n); } c.numbers.set(0, c.numbers.get(1)); c.numbers.remove(c.numbers.len() - 1);
         c.numbers.pop(); c.numbers.clear(); c.samples.add(c.one); c.one = c.samples[0]; c.count = c.samples[1].n;";
    sorted_lists:
        "sorted_list<sample, 4, at> late; late.add(c.one); late[0].n = late.find(now()); c.numbers.insert(m.n, late[0].n);";
    windows_have_methods:
        "if (c.window.set(m.seq, m.seq + m.n)) { c.window.slide(); } c.window.reset(c.seq); c.window.slide(m.seq);
         c.seq = c.window.head(); c.on = c.window.test(c.window.first_unset()); c.window.set(c.seq, c.seq + 1);
         c.on = c.window.unset(c.window.first_set(), m.seq);";
    loops_are_bounded:
        "for (uint32 i in 0..4) { if (i == 2) { continue; } c.count += i; }
         for (uint32 i in 1..m.n max 16) { if (i > c.count) { break; } }
         for (uint32 x in c.numbers) { c.count += x; } for (sample q in c.samples) { c.count += q.n; }";
    branches_nest:
        "if (m.n == 1) { c.count = 1; } else if (m.n == 2) { stop; } else { { c.count = 3; } return; }
         c.state = phase(m.n); if (c.state != IDLE && c.state < BUSY_NOW) { c.state = BUSY_NOW; }";
    names_of_sibling_blocks_stay_apart:
        "if (c.on) { uint32 x = 1; c.count = x; } else { seq32 x = m.seq; c.seq = x; }";
    requests_are_completed:
        "notify(c.token, OK, c.count); notify(none, RESET); notify(c.token, NO_ROOM, c.peer);
         if (c.token == none || c.peer != none) { c.token = none; } c.peer = handle(c);";
    records_are_filled_in_order:
        "sample q = { ..c.one, n = bump(c) }; c.one = { ..q, at = now() }; c.samples.add({ n = sat_sub(m.n, c.count) });
         packet bp = { ..m, net = { dst_ip = c.id.remote_ip }, last = true, payload = data(c.id, c.long, m.n) }; pkt_gen(bp);";
    data_units_are_worked_on:
        "new_tx_ordered_data(INF, c.id); new_rx_ordered_data(64KiB, get_flow_id(m)); add_tx_data(m.payload + 4, m.n, c.id);
         tx_flush_and_notify(c.id, m.n); add_rx_data_seg(m.payload, 5, c.id, c.long); rx_flush_and_notify(c.id, 8, m.payload);
         if (m.payload != none && tx_room(c.id) > 4) { del_ctx(c); }";
    timers_run:
        "timer_start(c.timer, 5ms); timer_restart(c.timer, c.wait * 2); if (c.timer.armed()) { timer_stop(c.timer); }";
    packets_are_made:
        "packet bp; bp.seq = c.seq; bp.last = true; bp.net.dst_ip = c.id.remote_ip; bp.net.tos = 4; bp.opts.add(size_opt(1460));
         bp.payload = data(c.id, c.long, m.n); pkt_gen(bp); bp.payload = data(c.id, 0, 5KB, 1000);
         done d; d.end = c.seq; pkt_gen(bp, by_seq, d);";
}

#[test]
fn events_are_raised_and_bounds_follow() {
    let body = "next n; n.n = 1; set_flow_id(n, c.id); for (uint32 i in 0..3) { raise n; }";
    let more = "void again(next n, conn c) { packet bp; pkt_gen(bp); c.count += n.n; pkt_gen(bp); }
void lost(next n) { stop; }";
    let text = program(more, body, "next -> { again } absent { lost };");
    let printed = print(&lowered(&text));
    let (_, chains) = printed.split_once("\nchain ").expect("chains");
    insta::assert_snapshot!(
        "events_are_raised_and_bounds_follow",
        format!("{body}\n{more}\n=>\nchain {chains}")
    );
}

#[test]
fn the_collected_spelling_means_the_same() {
    let more = "list<instr_t> answer(next n, conn c) {
    list<instr_t> out; packet bp; instr_t i = pkt_gen(bp); out.add(i);
    instr_t later = timer_start(c.timer, c.wait); c.wait = 0; out.add(later); out.add(notify(c.token, OK, n.n));
    if (n.n == 0) return out;
    c.count = 1; return out;
}";
    let lowered = lowered(&program(more, "c.count = m.n;", "next -> { answer };"));
    let text = format!("{more}\n=>\n{}", function(&lowered, "answer"));
    insta::assert_snapshot!("the_collected_spelling_means_the_same", text);
}

#[test]
fn options_and_parts_of_packets_are_read() {
    let lowered = lowered(&program("", "c.count = m.n;", "").replace(
        "message e;",
        "message e; if (h.opts[size_opt].valid()) { e.n = h.opts[size_opt].size; }
         if (ip.payload_len > 8 && h.payload.len / 2 > 1KiB && h.words > 2) { return; }",
    ));
    insta::assert_snapshot!("options_and_parts_of_packets_are_read", function(&lowered, "parse"));
}

#[test]
fn a_whole_program() {
    let declarations = "const uint16 LIMIT = 4;
param duration pace = 10ms in 1ms..60s;
param bytes room = 8KiB in 1KiB..1MiB;
const uint8 MASK = 0xf0 | 1;";
    let more = "void ask(request r, conn c) { add_tx_data(r.data, r.len, c.id); notify(r.token, OK, r.len); }
void open(request r) { conn c; c.count = LIMIT; c.wait = pace; new_ctx(c, get_flow_id(r)); notify(r.token, OK); }
void tick(pause t, conn c) { c.count &= MASK; c.octets = room; }
interface stream { send -> request on conn; put -> request at flow(len, LIMIT); }";
    let body = "twice(c.count);\nc.count = s.seen;";
    let arms = "request -> { ask } absent { open }; pause -> { tick };";
    let text = program(&format!("{declarations}\n{more}"), body, arms)
        .replace("register_ev_parser(parse);", "register_ev_parser(parse); register_interface(stream);");
    insta::assert_snapshot!("a_whole_program", print(&lowered(&text)));
}

/// Each function calls the one before it twice: 2^60 calls in all, of which each function is looked at once.
#[test]
fn bounds_of_deep_calls_take_no_time() {
    let mut more = "void f0(conn c) { next n; raise n; }\nvoid g0(conn c) { c.count = 0; }".to_owned();
    for depth in 1..60 {
        let callee = depth - 1;
        more += &format!("\nvoid g{depth}(conn c) {{ g{callee}(c); g{callee}(c); }}");
        if depth <= 8 {
            more += &format!("\nvoid f{depth}(conn c) {{ f{callee}(c); f{callee}(c); }}");
        }
    }
    let program = lowered(&program(&more, "f8(c); g59(c); c.count = m.n;", ""));
    assert_eq!(program.chains[0].as_ref().map(|c| c.max_raised), Some(256));
}

/// Of the branches of an `if`, and of what a `return` or `break` leaves out, the way that causes most counts.
#[test]
fn ways_that_exclude_each_other_are_not_summed() {
    let more = "void some(conn c) {
        next n;
        if (c.count == 1) { raise n; return; }
        if (c.count == 2) { raise n; raise n; return; }
        for (uint8 i in 0..10) {
            if (c.count == 3) { raise n; raise n; raise n; return; }
            if (c.count == 4) { break; }
            raise n;
        }
    }";
    let program = lowered(&program(more, "some(c); c.count = m.n;", ""));
    // Nine turns, and three more out of the last.
    assert_eq!(program.chains[0].as_ref().map(|c| c.max_raised), Some(12));
}
