// SPDX-License-Identifier: MIT OR Apache-2.0
//! All mistakes of a file are reported at once, and none that another one causes.

use carrick_syntax::codes::*;
use carrick_syntax::{LineIndex, parse};

/// The line and the code of each diagnostic.
fn found(text: &str) -> Vec<(u32, u16)> {
    let lines = LineIndex::new(text);
    parse(text).1.iter().map(|d| (lines.line_col(d.primary.span.start).line, d.code)).collect()
}

#[test]
fn each_statement_is_judged_by_itself() {
    let text = "void f() {\n x = ;\n y = 1\n z->a = 2;\n if (a = b) { c( ; }\n else { }\n w = 3;\n}\nevent : app_event { }\n";
    let expected = [
        (2, EXPECTED),
        (3, MISSING_SEMICOLON),
        (4, ARROW),
        (5, ASSIGNMENT_IN_EXPRESSION),
        (5, EXPECTED),
        (9, EXPECTED),
    ];
    assert_eq!(found(text), expected);
}

#[test]
fn each_field_is_judged_by_itself() {
    let text =
        "struct s {\n uint32;\n uint32 *a;\n float b;\n uint8 c : ;\n uint8 ok;\n}\nconst uint32 A = 1 1;\n";
    let expected = [(2, EXPECTED), (3, POINTER), (4, FLOATING_POINT), (5, EXPECTED), (8, EXPECTED)];
    assert_eq!(found(text), expected);
}

#[test]
fn a_brace_that_is_not_closed_costs_no_other_declaration() {
    let text = "void f() {\n if (a) {\n x = 1;\n\nevent e : app_event { }\nstruct s { uint32; }\n";
    assert_eq!(found(text), [(2, UNCLOSED), (6, EXPECTED)]);
    assert_eq!(parse(text).0.items.len(), 3);
}

#[test]
fn a_brace_too_many_is_one_mistake() {
    assert_eq!(found("struct s { }\n}\nstruct t { }\n"), [(2, NOT_A_DECLARATION)]);
}

#[test]
fn each_branch_is_judged_by_itself() {
    let text = "void f() {\n choose (a) {\n 1 -> x = ;\n 2 y();\n 3 -> z->a = 2;\n b -> { }\n else -> w = ;\n }\n v = ;\n}\n";
    let expected = [(3, EXPECTED), (4, EXPECTED), (5, ARROW), (7, EXPECTED), (9, EXPECTED)];
    assert_eq!(found(text), expected);
}

#[test]
fn a_choice_nests_as_else_if_does() {
    let choice = |branches: usize| {
        let branches: String = (0..branches).map(|n| format!("{n} -> {{ x = {n}; }}\n")).collect();
        format!("void f() {{\nchoose (a) {{\n{branches}else -> {{ }} }} }}\n")
    };
    assert_eq!(found(&choice(100)), []);
    assert_eq!(found(&choice(1000)).iter().map(|(_, code)| *code).collect::<Vec<_>>(), [TOO_DEEP]);
    let mut inner = "x = 1;".to_owned();
    for _ in 0..4 {
        inner = (0..40).map(|n| format!("{n} -> y();\n")).collect::<String>() + "else -> " + &inner;
        inner = format!("choose (a) {{\n{inner} }}");
    }
    let nested: Vec<_> = found(&format!("void f() {{ {inner} }}")).iter().map(|(_, code)| *code).collect();
    assert_eq!(nested, [TOO_DEEP]);
}

#[test]
fn a_choice_has_branches_with_arrows() {
    let text = "void f() {\n choose (a) { }\n choose (a) { else -> stop; }\n choose (a) {\n 1: stop;\n else { stop; }\n }\n}\n";
    assert_eq!(found(text), [(2, EXPECTED), (3, EXPECTED), (5, EXPECTED), (6, EXPECTED)]);
}

/// A function may be called `choose`, and `else` belongs to the choice where `->` follows.
#[test]
fn a_choice_takes_no_other_meaning_away() {
    for text in [
        "void choose(c x) { choose(x); choose = 1; choose.a = 1; choose n; choose m = choose(x) + 1; }",
        "void f() { choose (choose(x)) { 1 -> if (a) b(); else -> c(); } }",
        "void f() { choose (x) { 1 -> if (a) b(); else if (c) d(); else e(); 2 -> choose (y) { 3 -> f(); } } }",
        "void f() { choose (x) { A -> choose({ a = 1 }); (B) + 1, C..D - 1 -> { } } }",
    ] {
        assert_eq!(found(text), [], "{text}");
    }
}

#[test]
fn the_bodies_of_loops_that_do_not_exist_are_read() {
    let text = "void f() {\n while (a) { x = ; }\n do { y = ; } while (b);\n for (;;) { z = ; }\n for (i = 0; i < g(1); i++) { }\n w = 1;\n}\n";
    let expected = [
        (2, NO_LOOP),
        (2, EXPECTED),
        (3, NO_LOOP),
        (3, EXPECTED),
        (4, C_STYLE_FOR),
        (4, EXPECTED),
        (5, C_STYLE_FOR),
    ];
    assert_eq!(found(text), expected);
}

#[test]
fn a_misspelt_declaration_has_a_mend() {
    let (_, diagnostics) = parse("evnet e : app_event { uint32 a; }\nstruct s { }\n");
    assert_eq!(diagnostics.len(), 1, "{diagnostics:?}");
    let mend = diagnostics[0].mend.as_ref().expect("a mend");
    assert_eq!((mend.text.as_str(), mend.edits[0].replacement.as_str()), ("did you mean `event`?", "event"));
}

#[test]
fn a_semicolon_is_added_behind_the_token_before_it() {
    let text = "struct s {\n    uint32 a // a comment\n    uint32 b;\n}\n";
    let (_, diagnostics) = parse(text);
    let edit = &diagnostics[0].mend.as_ref().expect("a mend").edits[0];
    let mut mended = text.to_owned();
    mended.insert_str(edit.span.start as usize, &edit.replacement);
    assert_eq!(parse(&mended).1, []);
}

#[test]
fn what_cannot_be_a_token_is_reported_once() {
    assert_eq!(
        found("const uint32 A = 1 § 2;\nconst uint32 B = @;\n"),
        [(1, STRANGE_CHARACTER), (2, STRANGE_CHARACTER)]
    );
    assert_eq!(found("void f() {\n /* "), [(2, UNTERMINATED_COMMENT)]);
}

#[test]
fn the_spellings_of_the_first_programs_are_accepted() {
    let text = "event a : APP_EVENT { uint32 x, y; };\nscratchpad_t s { bool b; }\nlist<instr_t> f(a e, s p) {\n list<instr_t> out;\n if (p.b) return out;\n else out.add(pkt_gen(b));\n return out;\n}\nlist<list<uint8>> g() { }\n";
    assert_eq!(found(text), []);
}

#[test]
fn documentation_may_stand_anywhere() {
    let text = "/// a\nstruct s {\n /// b\n uint8 c;\n /// d\n}\nvoid f() {\n /// e\n x();\n /// f\n}\n/// the end\n";
    assert_eq!(found(text), []);
}

#[test]
fn spans_lie_between_characters() {
    for text in [
        "void f() { \"\u{1f600}\"\n}",
        "const uint32 A = 1 \u{1f600}\nconst uint32 B = 2",
        "id k(uint32 \u{e4}",
    ] {
        let (_, diagnostics) = carrick_syntax::parse(text);
        assert!(!diagnostics.is_empty());
        for d in diagnostics {
            let spans = d.causes.iter().map(|c| c.span).chain([d.primary.span]);
            for span in spans {
                assert!(text.get(span.start as usize..span.end as usize).is_some(), "{} in {text:?}", d.code);
            }
        }
    }
}

#[test]
fn each_reaction_of_a_machine_is_judged_by_itself() {
    let text = "machine m for c k {\n state {\n }\n state a {\n on e if x { }\n on f { y = ; goto ; }\n off g { }\n on h with { }\n }\n on i { goto b }\n uint32 x;\n}\nmachine n of c { }\nstruct s { uint32; }\n";
    let expected = [
        (2, EXPECTED),
        (5, CONDITION_PARENTHESES),
        (6, EXPECTED),
        (6, EXPECTED),
        (7, EXPECTED),
        (8, EXPECTED),
        (10, MISSING_SEMICOLON),
        (11, EXPECTED),
        (13, EXPECTED),
        (14, EXPECTED),
    ];
    assert_eq!(found(text), expected);
}

#[test]
fn a_machine_that_is_not_closed_costs_no_other_declaration() {
    let text = "machine m for c k {\n state a {\n on e {\n goto b;\n\nstruct s { uint32 a; }\n";
    assert_eq!(found(text), [(3, UNCLOSED)]);
    assert_eq!(parse(text).0.items.len(), 2);
}
