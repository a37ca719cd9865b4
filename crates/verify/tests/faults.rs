// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs with one fault each: it is found. The same programs without it: they are proved.

mod common;

use carrick_verify::{Bounds, Status, Wanted, verify};
use common::*;

/// A program whose check on the line with `words` fails with the first body and is proved with the second.
fn found_and_fixed(kind: &str, words: &str, state: &str, event: &str, more: &str, bodies: [&str; 2]) {
    for (body, proved) in bodies.into_iter().zip([false, true]) {
        let program = compile(&program(state, event, more, body));
        let report = explore(&program, &Bounds::default());
        let check = check(&program, &report, kind, words);
        assert_eq!(is_proved(check), proved, "{body}\n{check:#?}");
    }
}

#[test]
fn a_divisor_may_be_zero() {
    let found =
        |bodies| found_and_fixed("division", "e.n /", "    uint32 share = 1;", "uint32 n;", "", bodies);
    found(["    c.share = e.n / c.share;", "    if (c.share != 0) c.share = e.n / c.share;"]);
    found(["    c.share = e.n / (c.share & 7);", "    c.share = e.n / ((c.share & 7) + 1);"]);
    // The right operand counts only where the left one holds.
    found([
        "    if (c.share != 0 || e.n / c.share > 1) c.share = 1;",
        "    if (c.share != 0 && e.n / c.share > 1) c.share = 1;",
    ]);
}

#[test]
fn an_invariant_protects_a_divisor() {
    let state = "    uint32 share = 1;";
    let invariant = "invariant some(state c) { assert(c.share > 0); }";
    let bodies = ["    c.share = e.n / c.share;", "    c.share = max(e.n / c.share, 1);"];
    found_and_fixed("assert", "c.share > 0", state, "uint32 n;", invariant, bodies);
    let program = compile(&program(state, "uint32 n;", invariant, bodies[1]));
    let report = explore(&program, &Bounds::default());
    assert!(is_proved(check(&program, &report, "division", "e.n / c.share")));
}

#[test]
fn a_shift_may_be_too_wide() {
    let state = "    uint32 n;";
    let bodies = ["    c.n = 1 << e.n;", "    c.n = 1 << (e.n & 31);"];
    found_and_fixed("shift", "1 <<", state, "uint32 n;", "", bodies);
}

#[test]
fn a_list_may_be_full() {
    let state = "    list<uint32, 4> numbers;";
    let bodies = ["    c.numbers.add(e.n);", "    if (!c.numbers.full()) c.numbers.add(e.n);"];
    found_and_fixed("list", "numbers.add", state, "uint32 n;", "", bodies);
}

#[test]
fn serial_numbers_may_be_opposite() {
    let state = "    seq32 una;\n    seq32 nxt;";
    let bodies = [
        "    if (e.ack > c.una) c.una = e.ack;",
        "    if (e.ack - c.una < 0x40000000 && e.ack > c.una) c.una = e.ack;",
    ];
    found_and_fixed("serial", "e.ack > c.una", state, "seq32 ack;", "", bodies);
}

#[test]
fn a_field_may_cut_a_value() {
    let state = "    uint32 n;";
    let send = |value: &str| format!("    push b;\n    b.low = uint8({value});\n    pkt_gen(b);");
    let bodies = [send("e.n & 31"), send("e.n & 15")];
    found_and_fixed("cut", "b.low =", state, "uint32 n;", "", [&bodies[0], &bodies[1]]);
}

#[test]
fn an_invariant_that_is_not_kept_has_a_state_before() {
    let state = "    uint32 low;\n    uint32 high = 100;";
    let invariant = "invariant ordered(state c) { assert(c.low <= c.high); }";
    let program = compile(&program(state, "uint32 n;", invariant, "    c.low = e.n;"));
    let report = explore(&program, &Bounds::default());
    let Status::NotInductive(example) = &check(&program, &report, "assert", "c.low <= c.high").status else {
        panic!("{report:#?}");
    };
    assert_eq!((example.unit.as_str(), example.new), ("on_go", false));
    let value = |name: &str| {
        let found = example.before.iter().find(|(n, _)| n == name);
        found.unwrap_or_else(|| panic!("{name}: {example:#?}")).1.parse::<u64>().unwrap()
    };
    assert_eq!((value("e.n"), value("c.high")), (1, 0), "the smallest numbers: {example:#?}");
}

#[test]
fn an_instance_satisfies_its_invariants_when_it_is_made() {
    let invariant = "invariant some(state c) { assert(c.n > 0); }";
    let body = "    c.n = 1;";
    for (state, proved) in [("    uint32 n;", false), ("    uint32 n = 1;", true)] {
        let program = compile(&program(state, "uint32 n;", invariant, body));
        let report = explore(&program, &Bounds::default());
        let check = check(&program, &report, "assert", "c.n > 0");
        assert_eq!(is_proved(check), proved);
        if let Status::NotInductive(example) = &check.status {
            assert!(example.new && example.unit == "make", "{example:#?}");
        }
    }
}

/// A claim about the time may hold at its time only.
#[test]
fn time_passes_between_chains() {
    let state = "    time at;";
    for (claim, proved) in [("c.at <= now()", true), ("c.at >= now()", false)] {
        let invariant = format!("invariant when(state c) {{ assert({claim}); }}");
        let program = compile(&program(state, "uint32 n;", &invariant, "    if (e.n > 5) c.at = now();"));
        let report = explore(&program, &Bounds::default());
        assert_eq!(is_proved(check(&program, &report, "assert", claim)), proved, "{claim}");
    }
}

#[test]
fn requirements_of_parameters_hold() {
    let more = "param uint32 least = 2 in 0..10;\nparam uint32 most = 4 in 0..10;\n";
    let state = "    uint32 n;";
    let body = "    assert(least <= most);\n    c.n = least;";
    for (require, proved) in [("", false), ("require least <= most;", true)] {
        let program = compile(&program(state, "uint32 n;", &format!("{more}{require}"), body));
        let report = explore(&program, &Bounds::default());
        assert_eq!(is_proved(check(&program, &report, "assert", "least <= most)")), proved);
    }
}

#[test]
fn what_is_not_explored_is_undecided() {
    let state = "    uint32 n;";
    let body = "    for (uint32 i in 0..e.n max 64) { if ((e.n >> (i & 31)) % 3 == 1) c.n += i; }\n    assert(c.n != 7);";
    let program = compile(&program(state, "uint32 n;", "", body));
    let bounds = Bounds { paths: 3, ..Bounds::default() };
    let report = explore(&program, &bounds);
    let unit = report.units.iter().find(|unit| unit.name == "on_go").unwrap();
    assert_eq!(unit.incomplete.as_deref(), Some("it has more than 3 paths"));
    // What was found is found all the same; what was not may be on another path.
    let shift = check(&program, &report, "shift", "e.n >> (i & 31)");
    assert!(
        matches!(&shift.status, Status::Undecided(why) if why.contains("more than 3 paths")),
        "{shift:#?}"
    );
    assert!(matches!(check(&program, &report, "assert", "c.n != 7").status, Status::NotInductive(_)));
}

#[test]
fn paths_are_counted() {
    let state = "    uint32 n;\n    list<uint32, 4> numbers;";
    let body = "    if (e.n > 5) { c.n = 1; notify(e.token, OK); } else { c.n = 2; stop; }
    if (c.n == 1) c.n = 3;
    for (uint32 x in c.numbers) c.n += x;";
    let program = compile(&program(state, "uint32 n;", "", body));
    let bounds = Bounds { count: true, k: 2, ..Bounds::default() };
    let report = explore(&program, &bounds);
    let unit = report.units.iter().find(|unit| unit.name == "on_go").unwrap();
    // A list of 0, 1 or 2 elements, and two ways; the second condition goes one way on each.
    assert_eq!((unit.paths, &unit.incomplete, report.checks.len()), (6, &None, 0));
}

#[test]
fn what_is_wanted_must_be_there() {
    let program = compile(&program("    uint32 n;", "uint32 n;", "", "    assert(e.n < 5);"));
    let ask = |wanted: &Wanted| {
        verify(&program, &Bounds::default(), wanted, 1, &std::sync::Arc::default(), &|_| {})
    };
    let of = |word: &str| vec![word.to_owned()];
    let none = ask(&Wanted { chains: of("gone"), ..Wanted::default() }).unwrap_err();
    assert_eq!(none, "no chain of an event `gone`; there are those of `go`, `make_req`");
    let none = ask(&Wanted { processors: of("gone"), ..Wanted::default() }).unwrap_err();
    assert_eq!(none, "no processor `gone`; there are `make`, `on_go`, `parse`, `there`");
    assert!(
        ask(&Wanted { checks: of("gone"), ..Wanted::default() }).unwrap_err().starts_with("no check `gone`")
    );
    let report = ask(&Wanted { chains: of("go"), checks: of("e.n < 5"), ..Wanted::default() }).unwrap();
    assert_eq!((report.units.len(), report.checks.len()), (1, 1));
}

#[test]
fn an_interrupted_exploration_keeps_what_it_found() {
    let program = compile(&program("    uint32 n;", "uint32 n;", "", "    assert(e.n < 5);"));
    let cancelled = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
    let body = verify(&program, &Bounds::default(), &Wanted::default(), 1, &cancelled, &|_| {}).unwrap();
    // A condition that the solver would have to search for is not decided any more; nothing is called proved.
    assert!(body.checks.iter().all(|check| check.status != Status::Proved), "{body:#?}");
}
