// SPDX-License-Identifier: MIT OR Apache-2.0
//! What programs become in Lua. `INSTA_UPDATE=always cargo test -p carrick-dissect` writes the scripts anew: read the
//! diff.

use carrick_dissect::dissector;
use carrick_ir::Program;
use carrick_syntax::diag::Severity;

/// A program without mistakes, complete.
fn checked(name: &str, text: &str) -> Program {
    let (file, syntax) = carrick_syntax::parse(text);
    assert_eq!(syntax, [], "{name}");
    let (program, diagnostics) = carrick_sema::check(&file, name, &format!("{name}.mtp"), text);
    let errors: Vec<_> = diagnostics.iter().filter(|d| d.severity == Severity::Error).collect();
    carrick_lower::lower(program.unwrap_or_else(|| panic!("{errors:#?}")))
}

fn script(program: &Program) -> String {
    let defaults: Vec<u64> = program.params.iter().map(|p| p.default).collect();
    dissector(program, &defaults).expect("a script")
}

/// The script without the library that all have in common: the declarations, and what reads packets.
fn own(script: &str) -> String {
    let (declared, rest) =
        script.split_once("\n-- Numbers of up to 32 bits").expect("the library's beginning");
    let from = ["local const", "-- As the ends", "-- Values as"]
        .iter()
        .filter_map(|l| rest.find(&format!("\n{l}")))
        .min();
    let to = rest.find("\n-- Puts something found").expect("the library's end");
    format!("{declared}\n...{}...\n", &rest[from.expect("the program's own part")..to])
}

macro_rules! scripts {
    ($($name:ident)*) => {$(
        #[test]
        fn $name() {
            let text = include_str!(concat!("../../../tests/programs/", stringify!($name), ".mtp"));
            insta::assert_snapshot!(stringify!($name), own(&script(&checked(stringify!($name), text))));
        }
    )*};
}

scripts! { headers frames choosing structures rebinding }

/// A whole one.
#[test]
fn least() {
    let text = include_str!("../../../tests/programs/least.mtp");
    insta::assert_snapshot!("least", script(&checked("least", text)));
}

/// The least program, with these statements in its parser.
fn parser(declarations: &str, statements: &str) -> Program {
    let text = include_str!("../../../tests/programs/least.mtp");
    let text = text.replace("    segment e;\n", &format!("    segment e;\n{statements}\n"));
    checked("least", &format!("{text}\n{declarations}"))
}

#[test]
fn what_a_script_cannot_do_is_said() {
    let cases = [
        ("", "fixed half = ratio(h.n, 2); e.n = uint32(half);", "`ratio`"),
        ("", "fixed root = sqrt(fixed(int32(h.n))); e.n = uint32(int32(root));", "`sqrt`"),
        ("", "sorted_list<uint32, 4> all; all.add(h.n); e.n = all[0];", "sorted list"),
        ("", "sorted_list<uint32, 4> all; e.n = all.find(h.n);", "sorted list"),
    ];
    for (declarations, statements, word) in cases {
        let program = parser(declarations, statements);
        let refused = dissector(&program, &[]).expect_err(statements);
        assert!(refused.contains(word), "{refused}");
    }
}

#[test]
fn what_only_a_host_knows_is_taken_for_zero_and_told() {
    let text = script(&parser("", "if (now() > time(5)) { e.n = random(); }"));
    assert!(text.contains("if u64(unknown(\"now()\")) > 5 then"), "{text}");
    assert!(text.contains("unknown(\"random()\")"), "{text}");
}

#[test]
fn parameters_are_as_deployed() {
    let program = parser("param uint32 most = 3 in 1..9;", "if (e.n > most) { return; }");
    let at = program.params.iter().position(|p| p.name == "most").expect("declared");
    let mut values: Vec<u64> = program.params.iter().map(|p| p.default).collect();
    values[at] = 7;
    let text = dissector(&program, &values).expect("a script");
    assert!(text.contains("local param = { most = 7 }"), "{text}");
}
