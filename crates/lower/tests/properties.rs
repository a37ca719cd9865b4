// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whatever the checker accepts becomes valid IR, also if nobody would write it.

mod common;

use std::path::Path;
use std::sync::LazyLock;

use carrick_ir::validate::validate;
use carrick_syntax::lexer::lex;
use carrick_syntax::parse;
use proptest::prelude::*;

/// Statements that use everything, each in a block of its own so that any of them can go.
const BODY: &str = "{ c.long = m.n; c.small = int16(m.n); c.on = bool(m.n); c.small = -3; c.count = 1 << 4; }
    { c.wait = now() - c.last; c.octets = c.speed * c.wait; c.long = c.octets / 3KiB; c.wait = -abs(c.wait) * 3 / 4; }
    if (m.seq > c.seq && m.seq - 5 <= c.seq) { c.count = m.seq - c.seq; c.seq = seq_max(m.seq, c.seq) + c.octets; }
    { c.count = m.n + bump(c) * twice(bump(c)) + random(); }
    if (c.on && bump(c) > 3 || c.numbers.pop() == 1) { c.on = false; }
    { c.count = c.on ? bump(c) : m.n; c.seq = c.seq + keyed_hash(c.count, bump(c), c.id, random()); }
    { c.table[m.n + c.count] = bump(c); c.table[m.n] += random(); c.numbers[bump(c)] -= c.numbers.pop(); }
    { c.numbers.set(0, c.numbers.get(1)); c.numbers.remove(c.numbers.len() - 1); c.samples.add(c.one); }
    if (c.window.set(m.seq, m.seq + random())) { c.window.slide(); c.on = c.window.test(c.window.head()); }
    for (uint32 i in 1..m.n max 16) { if (i > c.count) { break; } for (sample q in c.samples) { c.one = q; continue; } }
    { notify(c.token, NO_ROOM, c.peer); notify(none, OK, bump(c)); c.peer = handle(c); }
    { add_tx_data(m.payload + 4, m.n, c.id); add_rx_data_seg(m.payload, 5, c.id, c.long); c.on = m.payload != none; }
    { timer_restart(c.timer, c.wait * 2); if (c.timer.armed()) { timer_stop(c.timer); } }
    { packet bp; bp.net.tos = 4; bp.opts.add(size_opt(1460)); bp.payload = data(c.id, 0, random(), 1000); pkt_gen(bp, by_seq); }
    { done d; d.end = c.seq; packet bp; pkt_gen(bp, d); next n; set_flow_id(n, c.id); raise n; del_ctx(c); stop; }";

static PROGRAMS: LazyLock<Vec<Vec<String>>> = LazyLock::new(|| {
    let more = "param bytes room = 8KiB in 1KiB..1MiB; const uint8 MASK = 0xf0 | 1;
void ask(request r, conn c) { add_tx_data(r.data, r.len, c.id); notify(r.token, OK, r.len); }
void open(request r) { conn c; c.count = MASK; c.octets = room; new_ctx(c, get_flow_id(r)); notify(r.token, OK); }
list<instr_t> follow(next n, conn c, scratch s) { list<instr_t> out; instr_t i = timer_start(c.timer, c.wait); s.seen = n.n; out.add(i); return out; }
interface stream { send -> request on conn; put -> request at flow(len, MASK); }";
    let arms = "request -> { ask } absent { open }; next -> { follow };";
    let whole = common::program(more, BODY, arms)
        .replace("register_ev_parser(parse);", "register_ev_parser(parse); register_interface(stream);");
    common::lowered(&whole);
    let ui = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/ui");
    let paths = std::fs::read_dir(ui).expect("the folder of programs").map(|e| e.expect("an entry").path());
    let mut paths: Vec<_> = paths.filter(|p| p.extension().is_some_and(|e| e == "mtp")).collect();
    paths.sort();
    let mut texts: Vec<String> =
        paths.iter().map(|p| std::fs::read_to_string(p).expect("a readable program")).collect();
    // First, so that most donors and half of the programs are this one.
    texts.insert(0, whole);
    texts.iter().filter(|t| parse(t).1.is_empty()).map(|t| tokens(t)).collect()
});

fn tokens(text: &str) -> Vec<String> {
    let all = lex(text).0.into_iter().filter(|t| !t.kind.is_comment());
    all.map(|t| text[t.span.start as usize..t.span.end as usize].to_owned()).collect()
}

const OPERATORS: [&str; 18] =
    ["||", "&&", "|", "^", "&", "==", "!=", "<", "<=", ">", ">=", "<<", ">>", "+", "-", "*", "/", "%"];

/// Tokens of one kind can stand for each other, as far as the grammar goes.
fn kind(token: &str) -> Option<u8> {
    let first = token.chars().next()?;
    match first {
        'a'..='z' | 'A'..='Z' | '_' => Some(0),
        '0'..='9' => Some(1),
        _ if OPERATORS.contains(&token) => Some(2),
        _ => None,
    }
}

/// Puts a token of this program, or of another one, in the place of one of its kind.
fn mutate(program: &mut [String], (at, other, from): (usize, Option<usize>, usize)) {
    let at = at % program.len();
    let Some(wanted) = kind(&program[at]) else { return };
    let donor = other.map_or(&PROGRAMS[0], |o| &PROGRAMS[o % PROGRAMS.len()]);
    let fitting: Vec<&String> = donor.iter().filter(|t| kind(t) == Some(wanted)).collect();
    if !fitting.is_empty() {
        program[at].clone_from(fitting[from % fitting.len()]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 768, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_accepted_becomes_valid(
        which in prop_oneof![Just(0), any::<usize>()],
        mutations in proptest::collection::vec(any::<(usize, Option<usize>, usize)>(), 1..4),
    ) {
        let mut program = PROGRAMS[which % PROGRAMS.len()].clone();
        mutations.into_iter().for_each(|m| mutate(&mut program, m));
        let text = program.join(" ");
        let (file, syntax) = parse(&text);
        if !syntax.is_empty() {
            return Ok(());
        }
        if let (Some(program), _) = carrick_sema::check(&file, "t", "t.mtp", &text) {
            let program = carrick_lower::lower(program);
            prop_assert_eq!(validate(&program), Ok(()), "{}", text);
        }
    }
}
