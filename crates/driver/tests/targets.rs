//! What a program needs of a target is found with the places where it is written.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use carrick_driver::Choice;
use carrick_driver::compile::{compile_assembled, read_import};
use carrick_driver::targets::uses::{Use, Uses};
use carrick_driver::targets::{codes, find, named};
use carrick_ir::uses::{blocks, event_kind_name, instructions};
use carrick_syntax::assemble::assemble;
use carrick_syntax::assemble::features::configure;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All programs that run.
fn programs() -> Vec<PathBuf> {
    let files = |folder: PathBuf| {
        let entries = fs::read_dir(folder).expect("it is there");
        entries.map(|e| e.expect("readable").path()).collect::<Vec<_>>()
    };
    let mut all: Vec<PathBuf> = files(root().join("protocols")).into_iter().flat_map(files).collect();
    all.extend(files(root().join("tests/programs")));
    all.extend(files(root().join("tests/paper")));
    all.retain(|path| path.extension().is_some_and(|e| e == "mtp"));
    all.sort();
    all
}

fn names(uses: &[Use]) -> BTreeSet<&str> {
    uses.iter().map(|u| u.name.as_str()).collect()
}

#[test]
fn every_use_has_its_place() {
    let mut right = 0;
    for path in programs() {
        let name = path.display().to_string();
        let text = fs::read_to_string(&path).expect("UTF-8");
        let assembled = assemble(&name, &text, &mut read_import);
        let compiled = compile_assembled(&name, &assembled, &Choice::default(), None);
        let Some(program) = compiled.program else { continue };
        right += 1;
        let configured = configure(&assembled.tree, &Choice::default());
        let uses = Uses::of(&program, &configured.tree);
        assert_eq!(names(&uses.instructions), instructions(&program), "{name}");
        assert_eq!(names(&uses.blocks), blocks(&program.schedule), "{name}");
        let events = program.event_schedule.as_ref().map(|e| blocks(&e.schedule)).unwrap_or_default();
        assert_eq!(names(&uses.event_blocks), events, "{name}");
        let kinds: BTreeSet<&str> = program.events.iter().map(|e| event_kind_name(e.kind)).collect();
        assert_eq!(names(&uses.event_kinds), kinds, "{name}");
        for used in uses.instructions.iter().filter(|u| u.name != "raise").chain(&uses.event_kinds) {
            let span = used.span.start as usize..used.span.end as usize;
            assert_eq!(assembled.sources.text()[span].to_ascii_lowercase(), used.name, "{name}");
        }
    }
    assert!(right > 20, "only {right} programs");
}

#[test]
fn what_a_build_leaves_out_is_not_missed() {
    let least = fs::read_to_string(root().join("tests/programs/least.mtp")).expect("it is there");
    let ends = "feature ending { void end(segment e, conn c) { if (c.count > 9) { del_ctx(c); } }
        dispatch stack { segment -> { end after receive }; } }";
    let assembled = assemble("ending.mtp", &format!("{least}{ends}"), &mut read_import);
    let mut target = find("sim").expect("there is one");
    target.instructions.retain(|i| i != "del_ctx");
    let lacks = |choice: &Choice| {
        let compiled = compile_assembled("ending.mtp", &assembled, choice, Some(&target));
        assert_eq!(compiled.program.is_some(), compiled.errors() == 0);
        compiled.diagnostics.into_iter().map(|d| (d.code, d.message)).collect::<Vec<_>>()
    };
    assert_eq!(lacks(&Choice::default()), []);
    let mut with = Choice::default();
    with.add("ending");
    assert_eq!(lacks(&with), [(codes::INSTRUCTION, "target `sim` does not carry out `del_ctx`".to_owned())]);
}

#[test]
fn a_target_file_that_is_none_is_refused() {
    let wrong = named("nowhere/small.toml").expect_err("there is no such file").to_string();
    assert!(wrong.contains("nowhere/small.toml is no target file"), "{wrong}");
    let wrong = named("nowhere").expect_err("there is no such target").to_string();
    assert!(wrong.contains("there are sim, native"), "{wrong}");
    let wrong =
        named(&root().join("Cargo.toml").display().to_string()).expect_err("another file").to_string();
    assert!(wrong.contains("is no target file") && wrong.contains("unknown field"), "{wrong}");
}
