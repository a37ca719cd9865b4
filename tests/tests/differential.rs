// SPDX-License-Identifier: MIT OR Apache-2.0
//! The interpreter against generated C: random operations on two ends of each program, and what they must have led to.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use carrick_driver::built::Built;
use carrick_driver::cc::Tracing;
use carrick_driver::compile::{combinations_of, compile_choice, compile_file};
use carrick_driver::compiled;
use carrick_driver::{Choice, Over};
use carrick_interp::Config;
use carrick_ir::Program;
use carrick_sim::compiled::{Compiled, CompiledProgram};
use carrick_sim::core::Core;
use carrick_sim::diff::{Pace, diff_cores, diff_operations};
use carrick_tests::build;
use carrick_tests::net::skip;

const SEEDS: u64 = 24;
const OPERATIONS: u64 = 1200;

fn checked(path: &Path) -> Arc<Program> {
    compile_file(path).expect("the program can be read").program.expect("the program is right")
}

/// What all seeds led to.
#[derive(Default)]
struct Held {
    packets: u64,
    /// the calls that completed with `OK`
    answered: BTreeSet<String>,
}

/// The packets of all seeds; none if there is no C compiler.
fn hold(path: &Path) -> Option<u64> {
    hold_against(path, &checked(path)).map(|held| held.packets)
}

/// A program compiled, and what it is loaded from; `None`, said aloud, if there is no C compiler.
fn loaded(program: &Program) -> Option<(Rc<CompiledProgram>, Built)> {
    match compiled::shared_library(program, Tracing::On) {
        Ok(library) => Some((CompiledProgram::load(&library.path, program).expect("it loads"), library)),
        Err(carrick_driver::Failure::Missing(what)) => {
            skip(&what);
            None
        }
        Err(failure) => panic!("{failure}"),
    }
}

/// As [`hold`]: the program in the interpreter against this one compiled.
fn hold_against(path: &Path, program: &Program) -> Option<Held> {
    let (compiled, _library) = loaded(program)?;
    let interpreted = checked(path);
    let mut held = Held::default();
    for seed in 1..=SEEDS {
        let result =
            diff_operations(&interpreted, &compiled, seed, OPERATIONS).expect("the defaults are valid");
        assert_eq!(result.difference, None, "{}, seed {seed}", path.display());
        held.packets += result.packets;
        held.answered.extend(result.answered);
    }
    Some(held)
}

fn own(path: &str) -> PathBuf {
    build::root().join(path)
}

#[test]
fn every_operator_on_every_type() {
    hold(&own("tests/programs/operators.mtp"));
}

/// The interpreter makes each packet; an engine makes several of what the compiled core gives it, where the rules allow.
#[test]
fn packets_that_an_engine_makes() {
    let over_ipv6 = Choice { over: Over::Ipv6, ..Choice::default() };
    let stream = compile_choice(&own("protocols/tcp/tcp.mtp"), &over_ipv6).expect("readable").program;
    // Few of a stream's random payloads have several packets.
    for (program, least) in
        [(checked(&own("tests/programs/joined.mtp")), 500), (stream.expect("the program is right"), 1)]
    {
        let made = made_by_engine(&program);
        assert!(made.is_none_or(|made| made >= least), "{}: {made:?} packets", program.name);
    }
}

/// How many, of a program in which that is possible. `None` if there is no C compiler.
fn made_by_engine(program: &Arc<Program>) -> Option<u64> {
    assert!(program.has_joined());
    let (compiled, _library) = loaded(program)?;
    let made = Rc::new(Cell::new(0));
    for seed in 1..=SEEDS {
        let mut make = |config: &Config| {
            let core = Compiled::new(compiled.clone(), config)?;
            Ok(Box::new(core.with_engine(made.clone())) as Box<dyn Core>)
        };
        let result = diff_cores(program, &mut make, Pace::AtOnce, seed, OPERATIONS);
        let result = result.expect("the defaults are valid");
        assert_eq!(result.difference, None, "{}, seed {seed}", program.name);
    }
    Some(made.get())
}

#[test]
fn arrays_lists_records_windows_and_bit_fields() {
    if let Some(packets) = hold(&own("tests/programs/structures.mtp")) {
        assert!(packets > 100, "only {packets} packets were made");
    }
}

#[test]
fn contexts_that_all_flows_share() {
    if let Some(packets) = hold(&own("tests/programs/globals.mtp")) {
        assert!(packets > 500, "only {packets} packets were made");
    }
}

#[test]
fn lists_of_instances_that_fill_and_empty() {
    let path = own("tests/programs/filled.mtp");
    let Some(held) = hold_against(&path, &checked(&path)) else { return };
    assert!(held.packets > 100, "only {} packets were made", held.packets);
    for call in ["make", "put", "take", "swap", "end"] {
        assert!(held.answered.contains(call), "`{call}` was never answered");
    }
}

#[test]
fn contexts_that_some_flows_share() {
    if let Some(packets) = hold(&own("tests/programs/shared.mtp")) {
        assert!(packets > 150, "only {packets} packets were made");
    }
}

#[test]
fn instances_that_new_ones_take_the_slots_of() {
    let path = own("tests/programs/retired.mtp");
    let Some(held) = hold_against(&path, &checked(&path)) else { return };
    assert!(held.packets > 500, "only {} packets were made", held.packets);
    assert!(held.answered.contains("begin"), "no flow began");
}

#[test]
fn ids_that_are_bound_late_and_change() {
    if let Some(packets) = hold(&own("tests/programs/rebinding.mtp")) {
        assert!(packets > 500, "only {packets} packets were made");
    }
}

/// And they do what is written without them.
#[test]
fn state_machines() {
    let (machine, unfolded) = (own("tests/programs/machine.mtp"), own("tests/programs/machine_unfolded.mtp"));
    if let Some(packets) = hold(&machine) {
        assert!(packets > 1000, "only {packets} packets were made");
        hold_against(&machine, &checked(&unfolded));
    }
}

/// And they do what is written without them.
#[test]
fn records() {
    let (records, unfolded) = (own("tests/programs/records.mtp"), own("tests/programs/records_unfolded.mtp"));
    if let Some(packets) = hold(&records) {
        assert!(packets > 1000, "only {packets} packets were made");
        hold_against(&records, &checked(&unfolded));
    }
}

/// A loop with a condition does what is written as a range that begins with a way out.
#[test]
fn loops() {
    let (loops, unfolded) = (own("tests/programs/loops.mtp"), own("tests/programs/loops_unfolded.mtp"));
    if let Some(packets) = hold(&loops) {
        assert!(packets > 1000, "only {packets} packets were made");
        hold_against(&loops, &checked(&unfolded));
    }
}

/// A choice does what is written as an `if` for each branch.
#[test]
fn choices_over_a_value() {
    let (choices, unfolded) = (own("tests/programs/choices.mtp"), own("tests/programs/choices_unfolded.mtp"));
    if let Some(packets) = hold(&choices) {
        assert!(packets > 1000, "only {packets} packets were made");
        hold_against(&choices, &checked(&unfolded));
    }
}

/// An array of a header does what is written as a field for each element, and an index as tests of it.
#[test]
fn arrays_of_headers_and_events() {
    let (arrays, unfolded) = (own("tests/programs/arrays.mtp"), own("tests/programs/arrays_unfolded.mtp"));
    if let Some(packets) = hold(&arrays) {
        assert!(packets > 1000, "only {packets} packets were made");
        hold_against(&arrays, &checked(&unfolded));
    }
}

/// An optional field of an event does what is written as two fields.
#[test]
fn optional_fields_of_events() {
    let (given, unfolded) =
        (own("tests/programs/optionals.mtp"), own("tests/programs/optionals_unfolded.mtp"));
    if let Some(packets) = hold(&given) {
        assert!(packets > 1000, "only {packets} packets were made");
        hold_against(&given, &checked(&unfolded));
    }
}

/// Keeping the elements for which a condition holds does what is written as a loop that removes the others.
#[test]
fn elements_that_are_retained() {
    let (given, unfolded) = (own("tests/programs/retained.mtp"), own("tests/programs/retained_unfolded.mtp"));
    if let Some(packets) = hold(&given) {
        assert!(packets > 1000, "only {packets} packets were made");
        hold_against(&given, &checked(&unfolded));
    }
}

/// Extensions run where their points are.
#[test]
fn points() {
    let (points, unfolded) = (own("tests/programs/points.mtp"), own("tests/programs/points_unfolded.mtp"));
    if let Some(packets) = hold(&points) {
        assert!(packets > 1000, "only {packets} packets were made");
        hold_against(&points, &checked(&unfolded));
    }
}

#[test]
fn packets_that_go_through() {
    if let Some(packets) = hold(&own("tests/programs/in_network.mtp")) {
        assert!(packets > 1000, "only {packets} packets were made");
    }
}

#[test]
fn messages_that_an_offload_takes() {
    let path = own("tests/programs/offload.mtp");
    let program = checked(&path);
    let Some(held) = hold_against(&path, &program) else { return };
    let calls = &program.interface.as_ref().expect("it has one").calls;
    let names: BTreeSet<String> = calls.iter().map(|call| call.name.clone()).collect();
    assert_eq!(held.answered, names, "calls that completed with OK");
}

#[test]
fn fractions() {
    hold(&own("tests/programs/fractions.mtp"));
}

#[test]
fn timers_under_one_name_and_what_their_events_say() {
    if let Some(packets) = hold(&own("tests/programs/alarms.mtp")) {
        assert!(packets > 300, "only {packets} packets were made");
    }
}

#[test]
fn sorted_lists_and_the_middle_of_lists() {
    hold(&own("tests/programs/sorted.mtp"));
}

/// Constants are called as a compiler could call fields where it does not know them yet.
#[test]
fn names_of_any_kind() {
    if let Some(packets) = hold(&own("tests/programs/names.mtp")) {
        assert!(packets > 1000, "only {packets} packets were made");
    }
}

#[test]
fn headers_of_every_kind() {
    if let Some(packets) = hold(&own("tests/programs/headers.mtp")) {
        assert!(packets > 1000, "only {packets} packets were made");
    }
}

#[test]
fn parsers_that_think() {
    if let Some(packets) = hold(&own("tests/programs/choosing.mtp")) {
        assert!(packets > 500, "only {packets} packets were made");
    }
}

#[test]
fn memory_of_requests() {
    if let Some(packets) = hold(&own("tests/programs/memory.mtp")) {
        assert!(packets > 1000, "only {packets} packets were made");
    }
}

#[test]
fn addresses_of_complete_requests() {
    if let Some(packets) = hold(&own("tests/programs/gone.mtp")) {
        assert!(packets > 500, "only {packets} packets were made");
    }
}

#[test]
fn claims_in_every_place() {
    hold(&own("tests/programs/claims.mtp"));
}

#[test]
fn packets_of_several_frames() {
    if let Some(packets) = hold(&own("tests/programs/frames.mtp")) {
        assert!(packets > 1000, "only {packets} packets were made");
    }
}

#[test]
fn packets_that_stand_for_others() {
    if let Some(packets) = hold(&own("tests/programs/coalescing.mtp")) {
        assert!(packets > 1000, "only {packets} packets were made");
    }
}

#[test]
fn packets_that_wait_in_scheduling_blocks() {
    if let Some(packets) = hold(&own("tests/programs/scheduling.mtp")) {
        assert!(packets > 1000, "only {packets} packets were made");
    }
}

#[test]
fn events_that_wait_for_each_other() {
    if let Some(packets) = hold(&own("tests/programs/waiting.mtp")) {
        assert!(packets > 1000, "only {packets} packets were made");
    }
}

#[test]
fn errors_that_the_network_reports() {
    if let Some(packets) = hold(&own("tests/programs/reports.mtp")) {
        assert!(packets > 1000, "only {packets} packets were made");
    }
}

#[test]
fn contexts_timers_and_raised_events() {
    hold(&own("crates/interp/tests/programs/machine.mtp"));
}

#[test]
fn data_units_options_and_segmentation() {
    if let Some(packets) = hold(&own("crates/interp/tests/programs/courier.mtp")) {
        assert!(packets > 1000, "only {packets} packets were made");
    }
}

/// Choices of features among which each is chosen, with each of its options, and left out.
fn choices(path: &Path) -> Vec<Choice> {
    let (_, all) = combinations_of(path, Over::Ipv4).expect("not too many");
    let facts = |choice: &Choice| -> BTreeSet<String> {
        let with = choice.with.iter().map(|(name, option)| format!("{name}={option:?}"));
        with.chain(choice.without.iter().map(|name| format!("-{name}"))).collect()
    };
    let mut left: BTreeSet<String> = all.iter().flat_map(facts).collect();
    let mut picked = Vec::new();
    while let Some(best) = all.iter().max_by_key(|choice| facts(choice).intersection(&left).count())
        && !left.is_empty()
    {
        facts(best).iter().for_each(|fact| _ = left.remove(fact));
        picked.push(best.clone());
    }
    picked
}

/// The words that make a choice on the command line.
fn flags(choice: &Choice) -> Vec<String> {
    let with = choice.with.iter().map(|(name, option)| match option {
        Some(option) => format!("--with={name}={option}"),
        None => format!("--with={name}"),
    });
    with.chain(choice.without.iter().map(|name| format!("--without={name}"))).collect()
}

/// As `carrick diff` says it; false, said aloud, without a C compiler.
fn holds_as_a_command(path: &Path, seeds: &str, flags: &[String]) -> bool {
    let done = Command::new(build::carrick())
        .args(["diff", "--seeds", seeds])
        .arg(path)
        .args(flags)
        .output()
        .expect("carrick runs");
    let said = String::from_utf8_lossy(&done.stderr);
    match done.status.code() {
        Some(0) => return true,
        Some(3) => skip(&said),
        _ => panic!("{} {flags:?}: {}{said}", path.display(), String::from_utf8_lossy(&done.stdout)),
    }
    false
}

#[test]
fn every_feature_of_every_protocol() {
    let mut choices_made = 0;
    for path in programs_under(&build::root()).iter().filter(|p| p.starts_with(own("protocols"))) {
        for choice in choices(path) {
            choices_made += 1;
            if !holds_as_a_command(path, "10", &flags(&choice)) {
                return;
            }
        }
    }
    assert!(choices_made > 5, "{choices_made} choices");
}

/// Every program that can run, as `carrick diff FILE --seeds 25` holds it.
#[test]
fn every_program_of_the_tree() {
    let programs = programs_under(&build::root());
    assert!(programs.len() > 20, "only {} programs were found", programs.len());
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(path) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if !holds_as_a_command(path, "25", &[]) {
                        return;
                    }
                }
            });
        }
    });
}

/// The programs in a folder of the repository that have chains of their own; those in tests/ui are wrong in some way, and
/// Those of `kernel_host` have the calls of a stream, but no bytes in it, for which the applications of the simulator wait.
/// `exponential.mtp` paces messages without repeating those that are lost; the test of its schedule runs it.
fn programs_under(root: &Path) -> Vec<PathBuf> {
    let listed = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard", "*.mtp"])
        .current_dir(root)
        .output()
        .expect("git is there");
    let files = String::from_utf8(listed.stdout).expect("UTF-8");
    let not_to_run =
        ["tests/ui/", "crates/syntax/tests/", "tests/tests/kernel_host/", "tests/programs/exponential.mtp"];
    files
        .lines()
        .filter(|file| not_to_run.iter().all(|folder| !file.starts_with(folder)))
        .map(|file| root.join(file))
        .filter(|path| {
            fs::read_to_string(path).is_ok_and(|text| {
                ["register_ep_chains", "register_role"].iter().any(|word| text.contains(word))
            })
        })
        .collect()
}
