// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a program needs of a target is found with the places where it is written.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use carrick_driver::Choice;
use carrick_driver::compile::{compile_assembled, read_import};
use carrick_driver::targets::limits::LIMITS;
use carrick_driver::targets::uses::{Use, Uses};
use carrick_driver::targets::{TargetFile, codes};
use carrick_ir::uses::{blocks, event_kind_name, instructions};
use carrick_syntax::assemble::assemble;
use carrick_syntax::assemble::features::configure;
use carrick_targets::ALL;
use carrick_tests::build::root;

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
    let mut target = ALL.named("sim").expect("there is one");
    target.file.instructions.retain(|i| i != "del_ctx");
    let lacks = |choice: &Choice| {
        let compiled = compile_assembled("ending.mtp", &assembled, choice, Some(&target));
        assert_eq!(compiled.program.is_some(), compiled.errors() == 0);
        compiled.diagnostics.into_iter().map(|d| (d.code, d.message)).collect::<Vec<_>>()
    };
    assert_eq!(lacks(&Choice::default()), []);
    let mut with = Choice::default();
    with.add("ending");
    assert_eq!(lacks(&with), [(codes::INSTRUCTION, "target `sim` does not support `del_ctx`".to_owned())]);
}

/// What a limit is of a program in `tests/ui`, to the last one.
const MEASURED: [(&str, &str, u64); 11] = [
    // 20 turns, and two of the function that `noted` calls.
    ("instructions_per_chain", "MTP0607_instructions.mtp", 22),
    // Six, and three in each of 40 turns.
    ("statements_per_chain", "MTP0607_statements.mtp", 126),
    ("events_per_chain", "MTP0607_events.mtp", 4),
    ("blueprints_per_event", "MTP0607_instructions.mtp", 22),
    ("iterations_per_loop", "MTP0615_loop.mtp", 20),
    ("contexts_per_chain", "MTP0608_contexts_per_chain.mtp", 2),
    // 4 and 64 times 8, an id of twice 4.
    ("context_bytes", "MTP0609_context_octets.mtp", 524),
    // 16 instances of 4 and 8, each with 64 KiB to send and the byte of a unit of none.
    ("state_bytes", "MTP0609_state_octets.mtp", 16 * (12 + 65_536 + 1)),
    // Two references, a header of 4, a list of 4 and 100 times 8, two values of 4 for a sum; in the function a reference and 8
    // times 4.
    ("stack_bytes", "MTP0610_stack_octets.mtp", 872),
    // 20 of IPv4, 4, and 6 times 8.
    ("header_bytes", "MTP0611_header_octets.mtp", 72),
    // One by number, one for each of 16 instances, and one more.
    ("queues", "MTP0612_queues.mtp", 18),
];

#[test]
fn every_limit_holds_to_the_last() {
    let stated: Vec<&str> = MEASURED.iter().map(|(name, ..)| *name).collect();
    assert_eq!(stated, LIMITS.iter().map(|l| l.name).collect::<Vec<_>>());
    let page = fs::read_to_string(root().join("docs/writing-a-target.md")).expect("it is there");
    for (limit, (name, program, most)) in LIMITS.iter().zip(MEASURED) {
        let text = fs::read_to_string(root().join("tests/ui").join(program)).expect("it is there");
        let assembled = assemble(program, &text, &mut read_import);
        let errors = |most: u64| {
            let mut target = ALL.named("sim").expect("there is one");
            target.file.limits = [(name.to_owned(), most)].into();
            let compiled = compile_assembled(program, &assembled, &Choice::default(), Some(&target));
            compiled.diagnostics.into_iter().filter(|d| d.code >= 600).map(|d| d.message).collect::<Vec<_>>()
        };
        assert_eq!(errors(most), [""; 0], "{name}");
        let said = errors(most - 1);
        assert_eq!(said.len(), 1, "{name}: {said:?}");
        assert!(said[0].contains(&most.to_string()), "{name}: {said:?}");
        let row = format!("| `{name}` | {} |", limit.meaning);
        assert!(page.contains(&row), "docs/writing-a-target.md has no row {row}");
    }
}

#[test]
fn a_word_for_instructions_is_a_group_or_one_of_them() {
    let with = |words: &str| {
        let text = include_str!("../../targets/native/target.toml");
        let line = text.lines().find(|line| line.starts_with("instructions = ")).expect("a line of them");
        TargetFile::parse(&text.replace(line, &format!("instructions = [{words}]")))
    };
    let target = with("\"passing\", \"notify\", \"drop\"").expect("they are known");
    assert_eq!(target.instructions, ["drop", "forward", "notify"]);
    let wrong = with("\"fly\"").expect_err("it is not known");
    assert_eq!(wrong, "`fly` is no instruction, and no group of instructions");
}

#[test]
fn a_limit_that_there_is_not_is_refused() {
    let text = include_str!("../../targets/sim/target.toml");
    let wrong = TargetFile::parse(&format!("{text}\nspeed = 3\n")).expect_err("no such limit");
    assert!(wrong.contains("there is no limit \"speed\"") && wrong.contains("stack_bytes"), "{wrong}");
}

#[test]
fn a_target_file_that_is_none_is_refused() {
    let wrong = |name: &str| ALL.named(name).err().expect("it is no target").to_string();
    let said = wrong("nowhere/small.toml");
    assert!(said.contains("nowhere/small.toml is no target file"), "{said}");
    let said = wrong("nowhere");
    assert!(said.contains("there are sim, native"), "{said}");
    let said = wrong(&root().join("Cargo.toml").display().to_string());
    assert!(said.contains("is no target file") && said.contains("unknown field"), "{said}");
}
