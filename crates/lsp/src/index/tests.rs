// SPDX-License-Identifier: MIT OR Apache-2.0
//! The index against the checker: on programs that are right, they agree on what each name means.

use std::fs;
use std::path::{Path, PathBuf};

use carrick_driver::compile_text;
use carrick_syntax::lexer::{self, TokenKind};

use crate::document::Analysis;
use crate::texts::Texts;
use crate::{rename, words};

/// Every program below these folders that has no error.
fn programs() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut places = vec![root.join("protocols"), root.join("tests")];
    let mut found = Vec::new();
    while let Some(place) = places.pop() {
        for entry in fs::read_dir(&place).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                places.push(path);
            } else if path.extension().is_some_and(|e| e == "mtp") {
                let text = fs::read_to_string(&path).unwrap_or_default();
                // A file that imports others is not the whole program.
                let whole = !text.lines().any(|line| line.starts_with("import "));
                if whole && compile_text("p.mtp", text.clone()).errors() == 0 {
                    found.push((path, text));
                }
            }
        }
    }
    assert!(found.len() > 5, "where are the programs?");
    found
}

#[test]
fn every_name_of_a_program_that_is_right_means_something() {
    for (path, text) in programs() {
        let analysis = Analysis::new("p.mtp", &text, &Texts::default());
        let index = &analysis.index;
        let (tokens, _) = lexer::lex(analysis.text());
        for token in tokens.iter().filter(|t| t.kind == TokenKind::Ident) {
            let name = analysis.text_of(token.span);
            let declared = index.at(token.span.start).is_some_and(|r| r.span == token.span);
            let member = index.in_front_of(token.span);
            let built_in = member.map_or_else(
                || {
                    words::find(name).is_some()
                        || ["pseudo", "net", "header", "payload", "bp", "prev"].contains(&name)
                },
                |shape| index.built_in_members(shape).iter().any(|w| w.name == name),
            );
            // A CRC-32 masks these of the network header, which need not be declared.
            let masked = ["checksum", "identification", "tos", "ttl"].contains(&name) && member.is_some();
            assert!(declared || built_in || masked, "{}: `{name}` at {:?}", path.display(), token.span);
        }
    }
}

#[test]
fn an_extension_leads_to_its_point_and_to_what_that_passes() {
    let text =
        "context c by k { uint32 n; }\nvoid f(c x) { uint32 a = 1; point p(x, a); }\nextend f.p { x.n = a; }";
    let analysis = Analysis::new("p.mtp", text, &Texts::default());
    let at = |needle: &str| text.rfind(needle).expect("it is there") as u32;
    let leads = |from: u32, to: &str| {
        let found = analysis.index.definition(from).map(|span| span.start);
        assert_eq!(found, text.find(to).map(|start| start as u32), "{to}");
    };
    leads(at("f.p"), "f(c x)");
    leads(at("p {"), "p(x, a)");
    leads(at("a; }"), "a = 1");
    leads(at("x.n"), "x) {");
}

#[test]
fn a_program_whose_every_name_is_another_still_checks() {
    for (path, text) in programs() {
        let analysis = Analysis::new("p.mtp", &text, &Texts::default());
        let mut renamed = text.clone();
        for reference in analysis.index.references.iter().rev() {
            let can = rename::prepare(&analysis, reference.span.start).is_some();
            if can {
                renamed.insert_str(reference.span.end as usize, "_z");
            }
        }
        let codes = |text: String| {
            let compiled = compile_text("p.mtp", text);
            assert_eq!(compiled.errors(), 0, "{}: {:#?}", path.display(), compiled.diagnostics);
            compiled.diagnostics.iter().map(|d| d.code).collect::<Vec<_>>()
        };
        assert_eq!(codes(text), codes(renamed), "{}", path.display());
    }
}

#[test]
fn no_request_fails_on_a_broken_text() {
    for (path, text) in programs().into_iter().filter(|(_, t)| t.len() < 6000) {
        for cut in (0..text.len()).step_by(97).filter(|c| text.is_char_boundary(*c)) {
            let analysis = Analysis::new("p.mtp", &text[..cut], &Texts::default());
            let at = cut as u32;
            crate::completion::completion(&analysis, at);
            crate::hover::hover(&analysis, at.saturating_sub(1));
            crate::semantic::tokens(&analysis);
            let outline = crate::outline::outline(&analysis);
            assert!(outline.len() <= analysis.index.symbols.len(), "{}", path.display());
        }
    }
}

#[test]
fn a_name_that_would_be_mistaken_is_refused() {
    let text = "const uint32 A = 1;\nconst uint32 B = 2;\nuint32 f(uint32 x) {\n    uint32 y = x + A;\n    return y;\n}\n";
    let analysis = Analysis::new("p.mtp", text, &Texts::default());
    let uri = "file:///p.mtp".parse().expect("a URI");
    let to = |of: &str, name: &str| {
        let at = text.find(of).expect("it is there") as u32;
        rename::rename(&analysis, &uri, at, name).is_ok()
    };
    assert!(to("A =", "C") && to("x)", "z") && to("y =", "w"));
    // taken, hiding a global, a keyword, not a name
    for (of, name) in [
        ("A =", "B"),
        ("x)", "y"),
        ("y =", "x"),
        ("y =", "A"),
        ("A =", "y"),
        ("x)", "uint8"),
        ("x)", "1x"),
        ("x)", ""),
    ] {
        assert!(!to(of, name), "{of} to {name:?}");
    }
}

#[test]
fn states_are_found_offered_and_outlined() {
    let text = "event e : net_event { uint32 n; }\nevent f : timer_event { }\ncontext conn by k { uint32 x; }\nmachine life for conn c {\n    /// at first\n    state a {\n        on e v if (v.n == c.x) { goto b; }\n    }\n    state b { }\n}\nbool g(conn d) { return d.life == a; }\n";
    let analysis = Analysis::new("p.mtp", text, &Texts::default());
    let defined = |of: &str| {
        let at = text.find(of).expect("it is there") + of.len() - 1;
        analysis
            .index
            .definition(at as u32)
            .map(|span| analysis.text()[..span.start as usize].lines().count())
    };
    assert_eq!(defined("goto b"), Some(9), "a state");
    assert_eq!(defined("d.life"), Some(4), "the state of a context is its machine's");
    assert_eq!(defined("v.n"), Some(1), "a field of the event");
    assert_eq!(defined("c.x"), Some(3), "a field of the context");
    let offered = |behind: &str| {
        let at = text.find(behind).expect("it is there") + behind.len();
        let offered = crate::completion::completion(&analysis, at as u32);
        offered.into_iter().map(|c| c.label).collect::<Vec<_>>()
    };
    assert_eq!(offered("goto "), ["a", "b"]);
    assert_eq!(offered("on "), ["e", "f"]);
    assert!(offered("d.").contains(&"life".to_owned()));
    let outline = crate::outline::outline(&analysis);
    let machine = outline.iter().find(|s| s.name == "life").expect("it is in the outline");
    let states = machine.children.iter().flatten().map(|s| s.name.as_str());
    assert_eq!(states.collect::<Vec<_>>(), ["a", "b"]);
    let context = outline.iter().find(|s| s.name == "conn").expect("it is in the outline");
    assert_eq!(context.children.as_ref().map(Vec::len), Some(1), "machines stand beside their contexts");
}

#[test]
fn an_array_of_a_header_has_elements_and_no_methods() {
    let text = "struct ack { uint64 number; uint16 port; }\nevent acked : net_event { uint16 cutoff[8]; ack acks[2]; }\npkt_bp hdr over ipv4 { uint16 cutoff[8]; ack acks[2]; }\nvoid f(hdr h) {\n    acked e = { ..h };\n    e.acks[0] = h.acks[1];\n    h.acks[1].port = h.cutoff[2];\n}\n";
    let analysis = Analysis::new("p.mtp", text, &Texts::default());
    let hover = |of: &str| {
        let at = text.find(of).expect("it is there") + of.len() - 1;
        let hover = crate::hover::hover(&analysis, at as u32).expect("something is said");
        serde_json::to_string(&hover.contents).expect("it has a form")
    };
    assert!(hover("= h.cutoff").contains("field of `hdr`"), "{}", hover("= h.cutoff"));
    assert!(hover("[1].port").contains("field of `ack`"), "{}", hover("[1].port"));
    assert!(hover("e.acks").contains("field of `acked`"), "{}", hover("e.acks"));
    let offered = |behind: &str| {
        let at = text.find(behind).expect("it is there") + behind.len();
        let offered = crate::completion::completion(&analysis, at as u32);
        offered.into_iter().map(|c| c.label).collect::<Vec<_>>()
    };
    assert_eq!(offered("    h.acks[1]."), ["number", "port"]);
    assert!(offered("= h.").contains(&"cutoff".to_owned()));
}

#[test]
fn an_optional_field_has_a_test_and_what_its_type_has() {
    let text = "struct s { uint32 a; }\nevent e : net_event { optional s two; optional list<s, 3> all; uint32 n; }\n\
                void f(e x) { if (x.two.present && x.all.present) x.two.a = x.all[0].a; }";
    let analysis = Analysis::new("p.mtp", text, &Texts::default());
    let index = &analysis.index;
    let two = index.member(index.global("e").expect("it is declared"), "two").expect("it is a field");
    let words = |symbol| -> Vec<&str> {
        index.built_in_members(&index.shape(symbol)).iter().map(|w| w.name).collect()
    };
    assert_eq!(words(two), ["present"]);
    let all = index.member(index.global("e").expect("it is declared"), "all").expect("it is a field");
    assert!(words(all).contains(&"present") && words(all).contains(&"len"), "{:?}", words(all));
    for part in ["a = x", "a; }"] {
        let at = text.rfind(part).expect("it is there") as u32;
        let declared = index.definition(at).map(|span| span.start);
        assert_eq!(declared, text.find("a; }").map(|at| at as u32), "{part}");
    }
    let declaration = crate::hover::hover(&analysis, text.find("two;").expect("it is there") as u32);
    let said = format!("{declaration:?}");
    assert!(said.contains("optional s two"), "{said}");
}

#[test]
fn the_element_of_a_retain_has_the_members_of_its_type() {
    let text = "struct s { uint32 a; }\ncontext c by k { list<s, 3> all; }\nvoid f(c x) { x.all.retain(y, y.a > 3); }";
    let analysis = Analysis::new("p.mtp", text, &Texts::default());
    let leads = |from: &str, to: &str| {
        let found = analysis.index.definition(text.rfind(from).expect("it is there") as u32);
        assert_eq!(found.map(|span| span.start), text.find(to).map(|at| at as u32), "{from}");
    };
    leads("y.a", "y, y");
    leads("a > 3", "a; }");
    let retain = text.find("retain").expect("it is there") as u32;
    assert!(crate::hover::hover(&analysis, retain).is_some());
}
