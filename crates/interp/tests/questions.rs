// SPDX-License-Identifier: MIT OR Apache-2.0
//! Questions about what a trace tells: every value is understood as it was told.

mod common;

use carrick_interp::{Core, Fact};
use carrick_ir::{CtxId, Function, Program, Ty};
use carrick_sema::probe::{Ask, Named, check_probe};
use carrick_syntax::{Sources, parse_exprs};
use common::*;
use proptest::prelude::*;

const PROGRAM: &str = "
net_header ipv4 { uint32 src_ip; uint32 dst_ip; uint8 protocol = 201; }
enum phase : uint8 { IDLE, BUSY_NOW = 4 }
id key(uint32 k, uint16 port);
struct sample { time at; int16 n; addr_t where; list<uint8, 3> few; }
event seen : net_event { uint32 n; }
event fired : timer_event { }
context thing by key {
    uint32 count; int64 small; seq32 seq; duration wait; fixed share; bool on; phase state; status_t why;
    list<uint32, 4> numbers; list<sample, 2> samples; sorted_list<sample, 3, n> sorted; uint32 table[4];
    sample rows[2]; sliding_wnd(1024, 4) window; token_t token; handle_t peer; addr_t data;
    timer_t slow -> fired;
    timer_t fast -> fired;
}
pkt_bp blip over ipv4 { uint32 k; uint16 port; }
uint32 sum(thing c) {
    uint32 all = c.count;
    for (uint32 n in c.numbers) { all += n; }
    return all;
}
void parse(pkt_t p, ipv4 ip) {
    blip h;
    p.extract(h);
    seen e;
    set_flow_id(e, key(h.k, h.port));
    raise e;
}
void make(seen e) { thing v; new_ctx(v, get_flow_id(e)); }
void note(seen e, thing c) { timer_start(c.slow, 1s); timer_start(c.fast, 1ms); c.count = sum(c); }
void fire(fired e, thing c) { del_ctx(c); }
dispatch chains { seen -> { note } absent { make }; fired -> { fire }; }
deploy { register_ep_chains(chains); register_ctx_spec(thing, 2); register_ev_parser(parse); }
";

/// The function that answers what an expression is, over a `thing` and the event `seen`.
fn probe(text: &str) -> Function {
    let (file, wrong) = carrick_syntax::parse(PROGRAM);
    assert_eq!(wrong, []);
    let mut sources = Sources::new("test.mtp", PROGRAM);
    let part = sources.add("question", text);
    let (asked, wrong) = parse_exprs(sources.text(), sources.range(part));
    assert_eq!(wrong, []);
    let thing = Named { name: "thing".into(), ty: Ty::Context(CtxId(0)), open: true };
    let seen = Named { name: "seen".into(), ty: Ty::Event(carrick_ir::EventId(0)), open: true };
    let checked = check_probe(&file, "test", &sources, &[thing, seen], Ask::Value(&asked[0]));
    let mut program = carrick_lower::lower(checked.unwrap_or_else(|wrong| panic!("{wrong:#?}")));
    program.functions.pop().expect("the question")
}

/// Words of a value of this type, made of these numbers.
fn words(program: &Program, ty: &Ty, from: &mut dyn FnMut() -> u64, out: &mut Vec<u64>) {
    match ty {
        Ty::Struct(s) => {
            program.structs[s.index()].fields.iter().for_each(|f| words(program, &f.ty, from, out));
        }
        Ty::Array(of, n) => (0..*n).for_each(|_| words(program, of, from, out)),
        Ty::List(of, n, _) => {
            let len = from() % u64::from(n + 1);
            out.push(len);
            (0..len).for_each(|_| words(program, of, from, out));
        }
        Ty::Wnd { .. } => {
            let (head, runs) = (from() & 0xffff_ffff, from() % 5);
            out.extend([head, runs]);
            // Runs stand apart, ahead of the head, which may be before the wrap.
            out.extend((0..2 * runs).map(|i| (head + 3 * i + 1) & 0xffff_ffff));
        }
        Ty::Addr => out.push(if from().is_multiple_of(2) { u64::MAX } else { from() % 70_000 }),
        _ => out.push(from()),
    }
}

proptest! {
    #[test]
    fn every_value_is_understood_as_it_was_told(numbers in prop::collection::vec(any::<u64>(), 64)) {
        let program = compile(PROGRAM);
        let mut core = Core::new(program.clone(), &config(A)).unwrap();
        let mut at = numbers.iter().cycle();
        let mut from = || *at.next().expect("without end");
        let mut told = Vec::new();
        program.contexts[0].fields.iter().for_each(|f| words(&program, &f.ty, &mut from, &mut told));
        told.extend([from(), 0]);
        let facts = [Fact { handle: 7, id: &[3, 4], words: &told }, Fact { handle: 0, id: &[3, 4], words: &[9] }];
        let whole = core.question(&probe("thing")).unwrap();
        let mut wanted = vec![7];
        wanted.extend(&told);
        prop_assert_eq!(core.answer(&whole, &facts, 0), wanted);
    }
}

#[test]
fn questions_are_answered_as_the_program_would() {
    let program = compile(PROGRAM);
    let mut core = Core::new(program.clone(), &config(A)).unwrap();
    let mut told = vec![5, 0, 0, 0, 0, 1, 4, 3, 2, 10, 20, 0, 0];
    told.extend([0; 4]);
    // Two rows: at, n, no address, nothing in the list.
    told.extend([0, 0, u64::MAX, 0, 0, 0, u64::MAX, 0]);
    told.extend([0xffff_ffff, 1, 0xffff_ffff, 2]);
    told.extend([0, 0, 1460]);
    told.extend([0, 50]);
    let facts = [Fact { handle: 7, id: &[3, 4], words: &told }, Fact { handle: 0, id: &[3, 4], words: &[9] }];
    let mut ask = |text: &str| {
        let question = core.question(&probe(text)).unwrap();
        core.answer(&question, &facts, 12_000)
    };
    let answers: [(&str, &[u64]); 13] = [
        ("sum(thing) + seen.n", &[44]),
        ("state == BUSY_NOW && on", &[1]),
        ("why", &[3]),
        ("numbers", &[2, 10, 20]),
        ("numbers[3]", &[0]),
        ("window.first_unset()", &[2]),
        ("window.first_set()", &[0xffff_ffff]),
        ("data == none", &[0]),
        ("rows[1].where == none", &[1]),
        ("slow.armed()", &[0]),
        ("fast.armed() && n == 9", &[1]),
        ("id.port", &[4]),
        ("now() - rows[0].at", &[12_000]),
    ];
    for (text, wanted) in answers {
        assert_eq!(ask(text), wanted, "{text}");
    }
    assert_eq!(ask("id"), [3, 4]);
    assert_eq!(ask("handle(thing)"), [7]);
}
