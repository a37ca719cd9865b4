// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs with hostile text between their tokens and in the names of their files, and folders with hostile names.

use std::fs;
use std::path::Path;

use carrick_driver::compile::compile_texts;
use carrick_driver::{Failure, compile_file};
use carrick_ir::Program;
use carrick_syntax::lexer::{Token, TokenKind, lex};
use carrick_tests::bare::MARKER;
use carrick_tests::build::root;
use carrick_tests::command::{done, run};
use carrick_tests::net::lacks_circuits;

use super::languages::{no_other_tags, same_code};
use super::{TEXT, harmless, is_below};

/// Programs with documentation, conditions of both kinds, a machine, and an import.
const PROGRAMS: [&str; 4] = ["claims", "required", "machine", "octets"];

/// The program in a text, whose imports are in the folder of programs.
fn program(text: &str) -> Option<Program> {
    let folder = root().join("tests/programs");
    let mut read = |name: &str| fs::read_to_string(folder.join(name)).map_err(|e| e.to_string());
    compile_texts("hostile.mtp", text, &mut read).program.map(|program| Program::clone(&program))
}

/// The tokens of a program, without its own comments.
fn tokens(text: &str) -> Vec<(Token, &str)> {
    let all = lex(text).0.into_iter().filter(|token| !token.kind.is_aside() && token.kind != TokenKind::Eof);
    all.map(|token| (token, &text[token.span.start as usize..token.span.end as usize])).collect()
}

/// Hostile text in each kind of comment: documentation, for which there must be a place, and others.
fn documentation(text: &str) -> String {
    text.split('\n').map(|line| format!("\n///{line}")).collect::<String>() + "\n"
}

fn comments(text: &str) -> String {
    let block = text.replace("*/", "* /");
    let lines: String = text.split('\n').map(|line| format!("\n// {line}")).collect();
    format!(" /*{block}*/{lines}\n")
}

/// The program with this text in all comments that can stand between its tokens.
fn commented(tokens: &[(Token, &str)], documented: &[usize], text: &str) -> String {
    let piece = |(at, (_, token)): (usize, &(Token, &str))| {
        let doc = if documented.contains(&at) { documentation(text) } else { String::new() };
        format!("{doc}{token}{}", comments(text))
    };
    tokens.iter().enumerate().map(piece).collect()
}

/// Before which tokens a doc comment can stand.
fn documented(tokens: &[(Token, &str)]) -> Vec<usize> {
    let with = |at: usize| -> String {
        let piece = |(n, (_, token)): (usize, &(Token, &str))| {
            if n == at { format!("\n/// a\n{token} ") } else { format!("{token} ") }
        };
        tokens.iter().enumerate().map(piece).collect()
    };
    let begins = |at: &usize| *at == 0 || matches!(tokens[at - 1].1, ";" | "{" | "}" | ",");
    (0..tokens.len()).filter(begins).filter(|at| carrick_syntax::parse(&with(*at)).1.is_empty()).collect()
}

#[test]
fn text_between_tokens_stays_text() {
    let dir = tempfile::tempdir().expect("a folder");
    for name in PROGRAMS {
        let text = fs::read_to_string(root().join(format!("tests/programs/{name}.mtp"))).expect("readable");
        let tokens = tokens(&text);
        let documented = documented(&tokens);
        assert!(documented.len() > 10, "{name}: {documented:?}");
        let of = |text: &str| {
            program(&commented(&tokens, &documented, text))
                .unwrap_or_else(|| panic!("{name}: comments change it"))
        };
        let hostile = of(TEXT);
        let said = |text: &str| assert!(!text.contains(MARKER), "a comment is in `{text}`");
        hostile.claims.iter().for_each(|claim| said(claim.text.raw()));
        hostile.requirements.iter().for_each(|required| said(required.text.raw()));
        same_code(&hostile, &of(&harmless(TEXT)), dir.path());
    }
}

/// A name, a number, a unit or the name of a file that is hostile text makes no program.
#[test]
fn hostile_tokens_make_no_program() {
    let text = fs::read_to_string(root().join("tests/programs/required.mtp")).expect("readable");
    for (token, word) in tokens(&text) {
        if matches!(token.kind, TokenKind::Punct(_)) {
            continue;
        }
        let word = word.trim_matches('"');
        for hostile in ["\"; hostile_marker(); //", "??/", "\n#error hostile_marker\n", "\\", "\u{e9}"] {
            let (before, after) = (&text[..token.span.start as usize], &text[token.span.end as usize..]);
            let text = format!("{before}{word}{hostile}{after}");
            assert!(program(&text).is_none(), "{word}{hostile} makes a program");
        }
    }
}

/// A name of a file that is hostile text. None that a person can see has control characters, and the door refuses those.
#[test]
fn names_of_files_stay_text() {
    let dir = tempfile::tempdir().expect("a folder");
    let part = "const uint32 PART = 1;\n";
    let least = fs::read_to_string(root().join("tests/programs/least.mtp")).expect("readable");
    let of = |name: &str, imported: &str| {
        let folder = dir.path().join(format!("f {name}"));
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join(imported), part).expect("writable");
        fs::write(folder.join(format!("{name}.mtp")), format!("import \"{imported}\";\n{least}"))
            .expect("writable");
        compile_file(&folder.join(format!("{name}.mtp")))
    };
    let hostile: String = TEXT.chars().filter(|c| !c.is_control() && *c != '/').take(200).collect();
    let imported = hostile.replace('"', "'");
    let right = |name: &str, imported: &str| {
        let program = of(name, imported).expect("readable").program.expect("right");
        let mut program = Program::clone(&program);
        program.name = "hostile".into();
        program
    };
    same_code(&right(&hostile, &imported), &right("w", "part.mtp"), dir.path());
    let refused = of("a\n#error hostile_marker", "part");
    assert!(
        matches!(&refused, Err(Failure::Usage(why)) if why.contains("control characters") && !why.contains('\n')),
        "{refused:?}"
    );
    let link = dir.path().join("link");
    fs::write(dir.path().join("b\n#error hostile_marker"), part).expect("writable");
    std::os::unix::fs::symlink("b\n#error hostile_marker", &link).expect("a link");
    let led = compile_texts(
        "a.mtp",
        &format!("import \"{}\";", link.display()),
        &mut carrick_driver::compile::read_import,
    );
    let said = carrick_driver::render::pretty(&led, carrick_driver::render::Colour::No);
    assert!(said.contains("MTP0500") && said.contains("control characters"), "{said}");
}

/// The page of a run has the text of the program, and what it says of itself.
#[test]
fn the_page_of_a_run_has_no_other_tags() {
    let dir = tempfile::tempdir().expect("a folder");
    let page = |name: &str, text: &str| {
        let source =
            fs::read_to_string(root().join("protocols/stop-and-wait/stop-and-wait.mtp")).expect("readable");
        let tokens = tokens(&source);
        let at = |ending: &str| format!("{name}.{ending}");
        fs::write(dir.path().join(at("mtp")), commented(&tokens, &documented(&tokens), text))
            .expect("writable");
        done(dir.path(), &["sim", &at("mtp"), "--bytes", "1KB", "--trace", &at("jsonl")]);
        done(dir.path(), &["report", &at("jsonl"), "-o", &at("html")]);
        fs::read_to_string(dir.path().join(at("html"))).expect("a page")
    };
    let hostile = page("a'&<b", TEXT);
    assert!(hostile.contains(MARKER), "the page shows the text");
    no_other_tags(&hostile, &page("w", &harmless(TEXT)));
}

/// What a folder's name says to a shell, to `make` and to the tools that they start is not done.
#[test]
fn a_circuit_is_built_in_any_folder() {
    if lacks_circuits() {
        return;
    }
    let dir = tempfile::tempdir().expect("a folder");
    let folder = dir.path().join("it's (a) $(touch marker) & `touch marker`; b");
    fs::create_dir(&folder).expect("a folder");
    fs::copy(root().join("tests/programs/least.mtp"), folder.join("least.mtp")).expect("writable");
    let built = run(&folder, &["build", "least.mtp", "--target", "hw", "-o", "out"]);
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    lint(&folder.join("out"));
    assert!(!is_below(dir.path(), "marker"));
}

fn lint(dir: &Path) {
    let linted =
        std::process::Command::new("make").args(["-s", "lint"]).current_dir(dir).output().expect("make runs");
    assert!(linted.status.success(), "{}", String::from_utf8_lossy(&linted.stderr));
}
