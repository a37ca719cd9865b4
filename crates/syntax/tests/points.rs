// SPDX-License-Identifier: MIT OR Apache-2.0
//! What features add to functions.

use carrick_syntax::assemble::features::{Choice, configure};
use carrick_syntax::ast::{ItemKind, Stmt, StmtKind};
use carrick_syntax::format;

const FUNCTION: &str = "void f(c x) { uint32 n = 1; uint32 hidden = 2; point p(x, n); g(n, hidden); }\n";

/// The program with all its features that are there by default, and the numbers of its diagnostics.
fn configured(text: &str) -> (Vec<Stmt>, Vec<u16>, Vec<(String, u32)>) {
    let (tree, diagnostics) = carrick_syntax::parse(text);
    assert_eq!(diagnostics, [], "{text}");
    let configured = configure(&tree, &Choice::default());
    let body = configured.tree.items.iter().find_map(|item| match &item.kind {
        ItemKind::Function { body, .. } => Some(body.stmts.clone()),
        _ => None,
    });
    let codes = configured.diagnostics.iter().map(|d| d.code).collect();
    let mut names = Vec::new();
    carrick_syntax::walk::bodies(&configured.tree, &mut |node| {
        if let carrick_syntax::walk::Node::Stmt(Stmt { kind: StmtKind::Let { name, .. }, .. }) = node {
            names.push((name.name.clone(), name.span.start));
        }
    });
    (body.unwrap_or_default(), codes, names)
}

#[test]
fn extensions_run_in_the_order_of_the_file() {
    let text = format!(
        "feature a default {{ extend f.p {{ n = 10; }} }} feature b default {{ extend f.p {{ n = 20; }} }}\n\
         feature c {{ extend f.p {{ n = 30; }} }} extend f.p {{ n = 0; }} {FUNCTION}"
    );
    let (body, codes, _) = configured(&text);
    assert_eq!(codes, [0_u16; 0]);
    let StmtKind::Block(block) = &body[2].kind else { panic!("{body:?}") };
    let values: Vec<&str> =
        block.stmts.iter().map(|s| &text[s.span.start as usize..s.span.end as usize]).collect();
    assert_eq!(values, ["{ n = 0; }", "{ n = 10; }", "{ n = 20; }"]);
}

#[test]
fn a_point_without_extensions_is_nothing() {
    let (body, codes, _) = configured(FUNCTION);
    assert_eq!((body.len(), codes), (3, vec![]));
}

#[test]
fn variables_of_an_extension_hide_nothing() {
    let text = format!("{FUNCTION} extend f.p {{ uint32 hidden = n; n += hidden; }}");
    let (_, codes, names) = configured(&text);
    assert_eq!(codes, [0_u16; 0]);
    let names: Vec<&str> = names.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["n", "hidden", "hidden_"]);
}

#[test]
fn points_and_variables_are_found_in_choices() {
    let text = "void f(c x) { uint32 n = 1; uint32 hidden = 2; choose (n) { 1 -> point p(n); else -> g(hidden); } }\n\
                extend f.p { uint32 hidden = n; choose (hidden) { hidden -> n = hidden; else -> { } } }";
    let (body, codes, names) = configured(text);
    assert_eq!(codes, [0_u16; 0]);
    let names: Vec<&str> = names.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["n", "hidden", "hidden_"]);
    assert_eq!(format!("{body:?}").matches("hidden_").count(), 4, "{body:?}");
    let (_, codes, _) = configured(&format!(
        "{FUNCTION} void h(c x) {{ choose (x.a) {{ 1 -> return; 2 -> stop; }} point q(x); }}"
    ));
    assert_eq!(codes, [0_u16; 0], "another number goes on behind it");
}

#[test]
fn what_is_wrong_is_reported_once() {
    for (extension, code) in [
        ("extend f.p { n = hidden; }", 523),
        ("extend f.q { n = 1; }", 517),
        ("extend g.p { n = 1; }", 517),
        ("extend f.p { if (n == 1) return; }", 522),
        ("extend f.p { for (uint32 i in 0..2) { stop; } }", 522),
        ("extend f.p { break; }", 522),
        ("extend f.p { choose (n) { 1 -> n = 2; else -> return; } }", 522),
        ("void h(c x) { choose (x.a) { 1 -> point p(x); else -> { point p(x); } } }", 518),
        ("void h(c x) { choose (x.a) { 1 -> return; else -> stop; } point p(x); }", 521),
        ("extend f.p { point q(n); }", 520),
        ("void h() { point p(n); }", 519),
        ("void h(c x) { point p(x, x); }", 519),
        ("void h(c x) { point p(x); point p(x); }", 518),
        ("void h(c x) { if (x.a) { return; } else { stop; } point p(x); }", 521),
    ] {
        let (_, codes, _) = configured(&format!("{FUNCTION} {extension}"));
        assert_eq!(codes, [code], "{extension}");
    }
    let (_, codes, _) =
        configured(&format!("{FUNCTION} extend f.p {{ for (uint32 i in 0..2) {{ if (i == n) break; }} }}"));
    assert_eq!(codes, [0_u16; 0], "a loop of its own is left");
}

#[test]
fn points_are_laid_out() {
    let text = "void f(c x){point p( x,);}\nfeature a{extend f . p{n=1;if(n==2)x();}}\n";
    let laid_out = "void f(c x) { point p(x); }\nfeature a {\n    extend f.p {\n        n = 1;\n        if (n == 2) x();\n    }\n}\n";
    assert_eq!(format(text).as_deref(), Ok(laid_out));
}
