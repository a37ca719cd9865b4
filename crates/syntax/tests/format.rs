// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the formatter does to programs.

use carrick_syntax::format;

fn formatted(text: &str) -> String {
    let once = format(text).unwrap_or_else(|d| panic!("does not parse: {d:?}\n{text}"));
    assert_eq!(format(&once).as_deref(), Ok(once.as_str()), "a second pass changes nothing");
    once
}

#[test]
fn every_construct() {
    insta::assert_snapshot!(formatted(include_str!("programs/everything.mtp")));
}

#[test]
fn a_program_that_does_not_parse_is_left_alone() {
    let diagnostics = format("struct s { uint8 }").expect_err("it does not parse");
    assert_eq!(diagnostics.len(), 1);
}

#[test]
fn nothing_stays_nothing() {
    assert_eq!(formatted(""), "");
    assert_eq!(formatted("\n\n  \n"), "");
    assert_eq!(formatted("\n\n// only a comment"), "// only a comment\n");
}

#[test]
fn one_line_blocks_stay_where_they_fit() {
    insta::assert_snapshot!(formatted("void f(){if(a){stop;}if(b){x=1;y=2;}for(t e in l){ g(e); }}void g(){x();}"), @r"
    void f() {
        if (a) { stop; }
        if (b) {
            x = 1;
            y = 2;
        }
        for (t e in l) { g(e); }
    }
    void g() { x(); }
    ");
}

#[test]
fn a_choice_has_a_line_for_each_branch() {
    insta::assert_snapshot!(formatted("void f(){choose(x){1,3..4->f();2->{g();h();}3->{}else->{stop;}}choose(y);}"), @r"
    void f() {
        choose (x) {
            1, 3..4 -> f();
            2 -> {
                g();
                h();
            }
            3 -> { }
            else -> { stop; }
        }
        choose(y);
    }
    ");
}

#[test]
fn a_list_is_told_from_a_comparison() {
    insta::assert_snapshot!(formatted("list<list<t>> f(list<t,2>a){ list<t>b; return c<d; }"), @r"
    list<list<t>> f(list<t, 2> a) {
        list<t> b;
        return c < d;
    }
    ");
}

#[test]
fn comments_stay_where_they_were_said() {
    insta::assert_snapshot!(formatted("enum e:uint8{\n// first\nA,// why\n\n\nB,// last\n};\nvoid f(){// begins\n\n\n// one\n\n\nx();\n\n// two\n}"), @r"
    enum e : uint8 {
        // first
        A, // why
        B, // last
    }
    void f() { // begins
        // one

        x();

        // two
    }
    ");
}

#[test]
fn nothing_stands_between_return_and_its_semicolon() {
    insta::assert_snapshot!(formatted("void f(){ if(x){return  ;} return\n; }"), @r"
    void f() {
        if (x) { return; }
        return;
    }
    ");
}
