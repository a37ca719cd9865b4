// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs as tables: what a table says is what its text says, whoever reads it; a wrong table gets an error.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use carrick_driver::compile::text_of;
use carrick_driver::{compile_file, table};
use carrick_ir::Program;
use carrick_sim::Scenario;
use carrick_sim::link::LinkConfig;
use carrick_sim::observe::Nobody;
use carrick_sim::rng::Rng;
use carrick_sim::scenario::Engine;
use carrick_tests::build::{carrick, root};
use carrick_tests::command::{done, run};
use carrick_tests::programs;
use serde_json::{Value, json};

#[test]
fn a_table_says_what_its_text_says() {
    let files = [programs::protocols(), programs::of("tests/programs"), programs::of("tests/paper")].concat();
    assert!(files.len() > 30, "{files:?}");
    for file in files {
        let compiled = compile_file(&file).expect("readable");
        let program = compiled.program.unwrap_or_else(|| panic!("{}", file.display()));
        let table = table::write(&program);
        assert_eq!(table::read("a.json", &table).as_ref(), Ok(&*program), "{}", program.name);
        assert!(text_of(&program).is_some(), "{}: the text is not in its table", program.name);
    }
}

/// The table of a program with features, in a folder.
fn table_of(program: &str, features: &[&str], dir: &Path) -> String {
    let to = dir.display().to_string();
    done(&root(), &[&["build", program, "--target", "json", "-o", &to], features].concat());
    let name = Path::new(program).file_stem().expect("a name").to_string_lossy().replace('-', "_");
    dir.join(format!("{name}.json")).display().to_string()
}

#[test]
fn every_command_does_with_a_table_what_it_does_with_the_text() {
    let dir = tempfile::tempdir().expect("a folder");
    let features = ["--with", "sack,cubic"];
    let text = "protocols/tcp/tcp.mtp";
    let table = table_of(text, &features, dir.path());
    let both = |command: &str, more: &[&str]| {
        let of_text = done(&root(), &[&[command, text], &features[..], more].concat());
        (of_text, done(&root(), &[&[command, &table], more].concat()))
    };
    for (command, more) in [("check", vec!["--ir"]), ("layout", vec![]), ("dissect", vec!["-o", "-"])] {
        let (of_text, of_table) = both(command, &more);
        assert!(!of_text.is_empty(), "{command} says nothing");
        assert_eq!(of_text, of_table, "{command}");
    }
    let trace = |name: &str| dir.path().join(name).display().to_string();
    let (a, b) = (trace("a.jsonl"), trace("b.jsonl"));
    let simulate = |program: &[&str], trace: &str| {
        done(
            &root(),
            &[
                &["sim"],
                program,
                &[
                    "--loss",
                    "2%",
                    "--seed",
                    "7",
                    "--bytes",
                    "200000",
                    "--trace-format=json",
                    "--trace",
                    trace,
                ],
            ]
            .concat(),
        );
        let text = fs::read_to_string(trace).expect("a trace");
        let (_, records) = text.split_once('\n').expect("a header");
        records.to_owned()
    };
    let of_text = simulate(&[&[text], &features[..]].concat(), &a);
    assert!(of_text.lines().count() > 100);
    assert_eq!(of_text, simulate(&[&table], &b));
    done(&root(), &["report", &b, "--program", &table, "-o", &trace("page.html")]);
    let page = fs::read_to_string(trace("page.html")).expect("a page");
    assert!(page.contains("congestion control by RFC 5681"), "the page of a run shows the text");
}

#[test]
fn a_table_without_text_is_checked_for_targets_too() {
    let dir = tempfile::tempdir().expect("a folder");
    let table = table_of("tests/programs/memory.mtp", &[], dir.path());
    let mut value: Value = serde_json::from_str(&fs::read_to_string(&table).expect("a table")).expect("JSON");
    value["program"]["texts"] = json!([]);
    value.as_object_mut().expect("an object").remove("hash");
    fs::write(&table, value.to_string()).expect("written");
    done(&root(), &["check", &table]);
    let refused = run(&root(), &["check", &table, "--target", "xdp"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("target `xdp` does not support `put_data`"), "{said}");
}

#[test]
fn a_wrong_table_gets_an_error() {
    let dir = tempfile::tempdir().expect("a folder");
    let table = table_of("tests/programs/octets.mtp", &[], dir.path());
    let right = fs::read_to_string(&table).expect("a table");
    let said = |text: &str, more: &[&str]| {
        fs::write(&table, text).expect("written");
        let refused = run(&root(), &[&["sim", &table], more].concat());
        assert!(matches!(refused.status.code(), Some(1 | 2)), "{:?}", refused.status);
        String::from_utf8_lossy(&refused.stderr).into_owned()
    };
    for (text, more, expected) in [
        ("{".to_owned(), &[][..], "`carrick build --target json` makes tables"),
        ("[".repeat(100_000), &[], "nest deeper than"),
        (right.replacen("\"version\":", "\"version\":9", 1), &[], "has version 9"),
        (right.replacen("\"protocol\":", "\"protocol\":1", 1), &[], ""),
        (right.replacen("\"max_blueprints\":", "\"max_blueprints\":1", 1), &[], "hash"),
        (right.clone(), &["--with", "sack"], "its features are chosen"),
    ] {
        let said = said(&text, more);
        assert!(said.contains(expected), "{expected}: {said}");
    }
    let said = said(&right.replacen("\"hash\":\"", "\"hash\":null,\"x\":\"", 1), &[]);
    assert!(said.contains("unknown field `x`"), "{said}");
}

/// One of so many.
fn below(count: usize, rng: &mut Rng) -> usize {
    rng.below(count as u64) as usize
}

/// Changes one value somewhere below.
fn mutate(value: &mut Value, rng: &mut Rng) {
    match value {
        Value::Array(all) if !all.is_empty() => {
            let at = below(all.len(), rng);
            match below(12, rng) {
                0 => drop(all.remove(at)),
                1 => all.push(all[at].clone()),
                2 => all.swap(at, 0),
                _ => mutate(&mut all[at], rng),
            }
        }
        Value::Object(all) if !all.is_empty() => {
            let at = below(all.len(), rng);
            mutate(all.values_mut().nth(at).expect("it is there"), rng);
        }
        Value::Number(number) => {
            let old = number.as_u64().unwrap_or_default();
            let new =
                [0, 1, old.wrapping_add(1), old.wrapping_sub(1), u64::from(u32::MAX), u64::MAX, 1 << 40];
            *value = json!(new[below(new.len(), rng)]);
        }
        Value::Bool(flag) => *flag = !*flag,
        Value::String(text) => {
            let new = ["", "x\"; y", "*/ int", "\n#error", "main", "u32", "if"];
            *text = new[below(new.len(), rng)].to_owned();
        }
        other => *other = json!(below(4, rng)),
    }
}

/// Whatever a table says, the answer is a program that is one, or an error.
#[test]
fn a_table_of_nonsense_is_no_program() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("nonsense.json");
    let (mut taken, mut rng) = (0, Rng::new(1, 0));
    for name in ["octets", "shared", "structures", "scheduling"] {
        let program = compile_file(&root().join(format!("tests/programs/{name}.mtp"))).expect("readable");
        let mut right: Value =
            serde_json::from_str(&table::write(&program.program.expect("right"))).expect("JSON");
        right.as_object_mut().expect("an object").remove("hash");
        right["program"]["texts"] = json!([]);
        for _ in 0..mutations() {
            let mut wrong = right.clone();
            for _ in 0..=rng.below(2) {
                mutate(&mut wrong["program"], &mut rng);
            }
            let Ok(program) = table::read("nonsense.json", &wrong.to_string()) else { continue };
            taken += 1;
            fs::write(&file, wrong.to_string()).expect("written");
            survives(&program, &file);
        }
    }
    assert!(taken > 0, "no change leaves a program right");
}

/// What a number can be that somebody else writes.
const EXTREMES: [u64; 6] = [0, 9, 255, 1 << 29, u32::MAX as u64, u64::MAX];

/// Where numbers stand below, or could: of elements of an array, one pointer for each kind of place.
fn numbers(value: &Value, at: &str, kind: &str, found: &mut BTreeMap<String, Vec<String>>) {
    match value {
        Value::Number(_) => found.entry(kind.to_owned()).or_default().push(at.to_owned()),
        Value::Null => found.entry(format!("{kind}?")).or_default().push(at.to_owned()),
        Value::Array(all) => {
            for (n, part) in all.iter().enumerate() {
                numbers(part, &format!("{at}/{n}"), &format!("{kind}/*"), found);
            }
        }
        Value::Object(all) => {
            for (name, part) in all {
                // Places are the same wherever they stand.
                let kind = if name == "loc" { "" } else { kind };
                numbers(part, &format!("{at}/{name}"), &format!("{kind}/{name}"), found);
            }
        }
        _ => {}
    }
}

/// Each number of the IR, at extremes: a table is refused, or what it says can be printed, generated and run.
#[test]
fn every_number_of_a_table_is_checked() {
    let (mut kinds, mut refused) = (BTreeSet::new(), 0);
    for name in ["octets", "structures", "scheduling", "headers", "globals"] {
        let file = root().join(format!("tests/programs/{name}.mtp"));
        let compiled = compile_file(&file).expect("readable");
        let mut right: Value =
            serde_json::from_str(&table::write(&compiled.program.expect("right"))).expect("JSON");
        right.as_object_mut().expect("an object").remove("hash");
        right["program"]["texts"] = json!([]);
        let mut found = BTreeMap::new();
        // Expressions are in each other: what is deep is what is shallow.
        numbers(&right["program"], "/program", "", &mut found);
        let new: Vec<_> = found.into_iter().filter(|(kind, _)| !kinds.contains(kind)).collect();
        for (kind, places) in new.into_iter().filter(|(kind, _)| kind.split('/').count() < 10) {
            let place = &places[places.len() / 2];
            kinds.insert(kind);
            let old = right.pointer(place).cloned().expect("it is there");
            let near = old.as_u64().map_or([0, 1], |n| [n.wrapping_add(1), n.wrapping_add(1 << 29)]);
            for number in EXTREMES.into_iter().chain(near) {
                *right.pointer_mut(place).expect("it is there") = json!(number);
                match table::read("number.json", &right.to_string()) {
                    Ok(program) => runs_without_panic(&program),
                    Err(_) => refused += 1,
                }
            }
            *right.pointer_mut(place).expect("it is there") = old;
        }
    }
    assert!(kinds.len() > 100 && refused > 600, "{} kinds of numbers, {refused} tables refused", kinds.len());
}

/// What is accepted can be printed, generated and run for a moment.
fn runs_without_panic(program: &Program) {
    carrick_ir::print::print(program);
    carrick_emit_c::emit(program);
    let program = Arc::new(program.clone());
    let scenario = Scenario { limit: 1_000_000, ..Scenario::bulk(1, LinkConfig::default(), 100) };
    // A configuration that is outside of what the program allows is an error, as for any other program.
    let _ = carrick_sim::run(&program, &Engine::Interpreter, &scenario, &mut Nobody, false);
}

/// For how many wrong tables of each program; more by `CARRICK_MUTATIONS`.
fn mutations() -> usize {
    std::env::var("CARRICK_MUTATIONS").ok().and_then(|n| n.parse().ok()).unwrap_or(40)
}

/// It can be printed, generated and run.
fn survives(program: &Program, file: &Path) {
    carrick_ir::print::print(program);
    carrick_emit_c::emit(program);
    let mut command = Command::new("timeout");
    command.arg("20").arg(carrick()).arg("sim").arg(file).args(["--bytes", "2000"]);
    let ended = command.stdout(Stdio::null()).stderr(Stdio::piped()).output().expect("it starts");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(!said.contains("panicked"), "{}: {said}", fs::read_to_string(file).expect("a table"));
}
