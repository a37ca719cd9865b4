// SPDX-License-Identifier: MIT OR Apache-2.0
//! What programs become in C: the source and the generated functions side by side.
//! `INSTA_UPDATE=always cargo test -p carrick-emit-c` writes them anew: read the diff.

#[path = "../../lower/tests/common/mod.rs"]
mod common;

use common::{lowered, program};

/// The whole `t.c` of a program.
fn emitted(text: &str) -> String {
    let files = carrick_emit_c::emit(&lowered(text));
    files.into_iter().find(|(name, _)| name == "t.c").expect("the source").1
}

/// The definitions whose first line has one of these in it.
fn definitions(c: &str, names: &[&str]) -> String {
    let mut text = String::new();
    for name in names {
        // A long head takes several lines; a declaration ends otherwise.
        let begins = c.match_indices(name).map(|(at, _)| c[..at].rfind('\n').map_or(0, |end| end + 1));
        let is_head =
            |from: &usize| !c[*from..].starts_with([' ', '#']) && head_ends(&c[*from..]).ends_with('{');
        let from = begins.into_iter().find(is_head).expect("a definition");
        let to = from + c[from..].find("\n}").expect("its end") + 2;
        text += &c[from..to];
        text += "\n\n";
    }
    // Where the lines lie in the generated file changes with everything before them.
    text.lines().filter(|l| !l.ends_with(" \"t.c\"")).fold(String::new(), |text, l| text + l + "\n")
}

/// As far as the line that ends with `{` or `;`.
fn head_ends(text: &str) -> &str {
    let ends = ["{\n", ";\n"].into_iter().filter_map(|end| text.find(end)).min();
    &text[..ends.map_or(text.len(), |at| at + 1)]
}

/// A processor with this body, and what it becomes.
fn body(source: &str) -> String {
    let c = emitted(&program("", source, ""));
    format!("{source}\n=>\n{}", definitions(&c, &["fn_receive("]))
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
    arithmetic:
        "c.count = m.n / c.count + c.count % m.n; c.small = int16(m.n) / c.small; c.long = uint64(m.n) << c.count >> 3;
         c.seq = m.seq + c.octets; c.on = m.seq < c.seq || c.seq - m.seq > 4; c.octets = c.speed * c.wait; c.count ^= ~m.n;";
    lists:
        "c.numbers.add(m.n); c.numbers[1] = c.numbers[m.n] + 1; c.numbers.remove(m.n); c.count = c.numbers.pop();
         c.samples.add(c.one); c.one = c.samples[m.n]; c.samples.clear(); for (sample q in c.samples) { c.count += q.n; }";
    sorted_lists:
        "sorted_list<sample, 4, at> late; late.add(c.one); late[0].n = late.find(now()); c.numbers.insert(m.n, late[0].n);";
    windows:
        "if (c.window.set(m.seq, m.seq + m.n)) { c.window.slide(); } c.window.slide(m.seq); c.on = c.window.test(m.seq);
         c.window.unset(c.window.first_set(), m.seq);";
    timers_and_requests:
        "timer_start(c.timer, 5ms); timer_restart(c.timer, c.wait * 2); if (c.timer.armed()) { timer_stop(c.timer); }
         notify(c.token, OK, c.count); stop;";
    contexts_and_units:
        "conn v; v.count = 3; new_ctx(v, flow(m.n, 7)); new_tx_ordered_data(INF, c.id); new_rx_ordered_data(64KiB, c.id);
         add_tx_data(m.payload + 4, m.n, c.id); tx_flush_and_notify(c.id, m.n); add_rx_data_seg(m.payload, 5, c.id, c.long);
         rx_flush_and_notify(c.id, 8, m.payload); del_ctx(c);";
    options_and_segmentation:
        "packet bp; bp.seq = c.seq; bp.net.dst_ip = c.id.remote_ip; bp.opts.add(size_opt(1460));
         bp.payload = data(c.id, c.long, m.n, 1000); done d; d.end = c.seq; pkt_gen(bp, by_seq, d);";
    bounded_loops:
        "for (uint32 i in 0..4) { c.table[i] = i; } for (uint32 i in 1..m.n max 16) { if (i > c.count) { break; } c.count++; }";
}

#[test]
fn what_processors_work_on() {
    let c = emitted(&program("", "c.count++;", ""));
    let names = ["struct t_conn {", "struct t_packet {", "struct t_message {", "fn_parse("];
    insta::assert_snapshot!("what_processors_work_on", definitions(&c, &names));
}

#[test]
fn both_spellings_of_instructions_become_the_same() {
    let statements =
        program("", "packet bp; pkt_gen(bp); timer_stop(c.timer); timer_start(c.timer, 4ms);", "");
    let collected = program(
        "",
        "list<instr_t> out; packet bp; out.add(pkt_gen(bp)); instr_t halt = timer_stop(c.timer); out.add(halt); out.add(timer_start(c.timer, 4ms)); return out;",
        "",
    );
    let collected = collected.replace("void receive(", "list<instr_t> receive(");
    let function = |text: &str| definitions(&emitted(text), &["fn_receive("]);
    // `return out;` is a `return;` at the end.
    let collected = function(&collected).replace("#line 36 \"t.mtp\"\n    return;\n", "");
    assert_eq!(function(&statements), collected);
}
