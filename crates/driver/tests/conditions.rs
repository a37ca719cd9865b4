// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tests of features are constants: what they decide is gone, and what is left is the program as it would be written without them.

use carrick_driver::compile_text;
use carrick_driver::render::{Colour, pretty};

const PROGRAM: &str = include_str!("../../../tests/programs/least.mtp");
const FEATURES: &str = "feature off { } feature on default { context conn { uint32 only_on; } }\n";

/// The program with these declarations and `g` in its chain, printed without the line of its name; and its diagnostics.
fn printed(more: &str) -> (String, String) {
    let program = PROGRAM.replace("segment -> { receive }", "segment -> { receive, g }");
    let compiled = compile_text("conditions.mtp", format!("{program}{FEATURES}{more}"));
    let ir = compiled.program.as_deref().map(carrick_ir::print::print).unwrap_or_default();
    (ir.split_once('\n').map(|(_, rest)| rest.to_owned()).unwrap_or_default(), pretty(&compiled, Colour::No))
}

#[track_caller]
fn same(tested: &str, written_out: &str) {
    let (tested, said) = printed(tested);
    assert_eq!(said, "", "{tested}");
    let (wanted, said) = printed(written_out);
    assert_eq!(said, "", "{written_out}");
    assert_eq!(tested, wanted);
}

/// What `g` does for an event `e` of a context `c`.
fn body(statements: &str) -> String {
    format!("void g(segment e, conn c) {{ {statements} }}")
}

#[test]
fn a_condition_is_decided_among_others() {
    let taken = body("if (e.n > 3) c.count = 1;");
    for cond in [
        "e.n > 3 && feature(on)",
        "feature(on) && e.n > 3 && !feature(off)",
        "(feature(off) || e.n > 3) && (feature(on) || e.missing > 3)",
        "feature(off) ? e.missing : e.n > 3",
        "feature(on) == !feature(off) && e.n > 3",
        "feature(on) != true || e.n > 3",
    ] {
        same(&body(&format!("if ({cond}) c.count = 1;")), &taken);
    }
    let neither = "if (feature(off) || over(ipv6)) { c.missing = 1; } else { c.count = 2; }";
    same(&body(neither), &body("{ c.count = 2; }"));
}

#[test]
fn loops_are_decided_too() {
    same(&body("while (feature(off) max 3) { c.missing = 1; } c.only_on = 2;"), &body("c.only_on = 2;"));
    let tested = body("while (feature(on) && c.only_on < 9 max 3) { c.only_on++; }");
    same(&tested, &body("while (c.only_on < 9 max 3) { c.only_on++; }"));
    let (always, said) = printed(&body("while (feature(on) max 3) { c.only_on++; }"));
    assert_eq!(said, "");
    assert!(!always.contains("break"), "{always}");
}

#[test]
fn the_branches_of_a_choice_are_decided_too() {
    let choice = |one: &str, rest: &str| body(&format!("choose (e.n) {{ 1 -> {one} else -> {rest} }}"));
    let tested = choice(
        "{ if (feature(off)) c.missing = 1; c.only_on = 2; }",
        "if (feature(on)) c.count = 3; else c.missing = 4;",
    );
    same(&tested, &choice("c.only_on = 2;", "{ { c.count = 3; } }"));
    let value = "choose (feature(on) ? e.n : e.missing) { 1 -> c.only_on = 2; else -> { } }";
    same(&body(value), &choice("c.only_on = 2;", "{ }"));
}

#[test]
fn a_choice_is_what_its_tests_are() {
    same(
        &body("choose (e.n) { 1 -> c.count = 1; 2, 4..7 -> c.count = 2; else -> c.count = 3; }"),
        &body(
            "if (e.n == 1) { c.count = 1; } else if (e.n == 2 || e.n >= 4 && e.n <= 7) { c.count = 2; } else { c.count = 3; }",
        ),
    );
    same(
        &body("choose (uint8(e.n)) { 0..9 -> c.count = 1; 10..255 -> c.count = 2; }"),
        &body("uint8 tmp1_ = uint8(e.n); if (tmp1_ <= 9) { c.count = 1; } else { c.count = 2; }"),
    );
}

#[test]
fn a_constant_that_tests_decide_is_a_test() {
    let constants =
        "const bool BOTH = feature(on) && ALSO; const bool ALSO = !feature(off); const bool NEVER = !BOTH;";
    let tested = body("if (NEVER) { c.missing = 1; } else if (BOTH && e.n > 3) { c.only_on = 2; }");
    let (tested, said) = printed(&format!("{constants} {tested}"));
    assert_eq!(said, "");
    let (wanted, _) = printed(&body("if (e.n > 3) { c.only_on = 2; }"));
    let functions =
        |ir: &str| ir.lines().filter(|line| !line.starts_with("const ")).collect::<Vec<_>>().join("\n");
    assert_eq!(functions(&tested), functions(&wanted));
    // Another constant of this type is none: both sides are checked.
    let (_, said) = printed(&format!("const bool PLAIN = false; {}", body("if (PLAIN) c.missing = 1;")));
    assert!(said.contains("`missing`"), "{said}");
}

#[test]
fn what_is_called_before_a_test_is_called() {
    let bump = "bool bump(conn c) { c.count++; return c.count > 3; }";
    let (ir, said) = printed(&format!("{bump} {}", body("if (bump(c) || feature(on)) c.only_on = 1;")));
    assert!(said.starts_with("warning[MTP0406]: this condition is always true"), "{said}");
    assert!(ir.contains("= bump(&c)"), "{ir}");
    same(&body("if (min(e.n, 3) == 3 || feature(on)) c.only_on = 1;"), &body("{ c.only_on = 1; }"));
}

#[test]
fn requirements_and_reactions_are_left_out() {
    let with =
        |condition: &str| format!("param uint32 most = 3 in 1..9; {condition} {}", body("c.count += most;"));
    same(&with("require !feature(off) || most < 5;"), &with(""));
    same(&with("require feature(off) || most < 5;"), &with("require most < 5;"));
    let machine = |more: &str| {
        format!(
            "machine g for conn c {{ state first {{ {more} on segment s {{ c.only_on = s.n; goto second; }} }} state second {{ on segment s {{ goto first; }} }} }}"
        )
    };
    same(&machine("on segment s if (feature(off)) { c.missing = 1; }"), &machine(""));
    same(
        &machine("on segment s if (feature(on) && s.n > 3) { c.count = 1; }"),
        &machine("on segment s if (s.n > 3) { c.count = 1; }"),
    );
}
