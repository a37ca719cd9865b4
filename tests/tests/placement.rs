// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where chains run on a target with several sites: decided by the compiler, for every program there is.
//!
//! `tests/placement/NAME.txt` is what people see of `tests/programs/NAME.mtp`; `CARRICK_RECORD=1` writes it anew.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use carrick_driver::explain_offloads::Offloads;
use carrick_driver::explain_placement::Explained;
use carrick_driver::targets::TargetFile;
use carrick_driver::{Choice, compile_choice};
use carrick_ir::Program;
use carrick_targets::ALL;
use carrick_tests::build::root;
use carrick_tests::{programs, recorded};
use serde_json::Value;

/// Of these the whole explanation is held: each has something that the others have not.
const SHOWN: [&str; 6] = ["choosing", "in_network", "least", "memory", "shared", "waiting"];

fn program(path: &Path) -> std::sync::Arc<Program> {
    let compiled = compile_choice(path, &Choice::default()).expect("readable");
    compiled.program.unwrap_or_else(|| panic!("{}: {:?}", path.display(), compiled.diagnostics))
}

fn target() -> TargetFile {
    ALL.named("xdp").expect("there is one").file
}

fn explained(path: &Path) -> Value {
    Explained::new(&program(path), &target()).json()
}

/// Where the chain of an event runs, `absent` or not; a flow event's at each site that raises it.
fn sites<'v>(explained: &'v Value, event: &str, case: &str) -> Vec<&'v str> {
    let chains = explained["chains"].as_array().into_iter().flatten();
    let of = chains.filter(|c| c["event"] == event && c["case"] == case);
    of.filter_map(|c| c["site"].as_str()).collect()
}

#[test]
fn an_explanation_is_what_people_see() {
    let target = target();
    for name in SHOWN {
        // Named as seen from the root, wherever the test runs.
        let file = format!("tests/programs/{name}.mtp");
        let mut program = Program::clone(&program(&root().join(&file)));
        program.file = file.into();
        let said = Explained::new(&program, &target).pretty();
        recorded::file(&root().join(format!("tests/placement/{name}.txt")), &said);
    }
}

#[test]
fn every_chain_of_every_program_has_a_site() {
    let mut seen = BTreeSet::new();
    for path in [programs::protocols(), programs::of("tests/programs")].concat() {
        let program = program(&path);
        let explained = explained(&path);
        for (event, chain) in program.events.iter().zip(&program.chains) {
            let cases = chain.iter().flat_map(|c| [Some("present"), c.absent.as_ref().map(|_| "absent")]);
            for case in cases.flatten() {
                let found = sites(&explained, &event.name, case);
                assert!(!found.is_empty(), "{}: {} {case}", path.display(), event.name);
                seen.extend(found.into_iter().map(str::to_owned));
            }
        }
        let place = &explained["chains"][0]["why"][0]["place"];
        assert!(place["line"].as_u64() > Some(0), "{}: {place}", path.display());
    }
    assert_eq!(seen, BTreeSet::from(["control", "egress", "ingress"].map(str::to_owned)));
}

/// What the paper (§6.1, appendix C) has beside the kernel, handshakes and memory, is in it: units have their place in maps.
#[test]
fn a_transport_with_units_is_in_the_kernel() {
    let stream = explained(&root().join("protocols/tcp/tcp.mtp"));
    for (event, case, expected) in [
        ("segment", "present", "ingress"),
        ("segment", "absent", "ingress"),
        ("passive_open", "absent", "ingress"),
        ("tcp_send", "present", "egress"),
        ("tcp_recv", "present", "egress"),
        ("retransmit", "present", "egress"),
        ("tcp_listen", "absent", "egress"),
        ("tcp_connect", "absent", "egress"),
    ] {
        assert_eq!(sites(&stream, event, case), [expected], "{event} {case}");
    }
    let state = stream["contexts"].as_array().expect("contexts");
    let tcb = state.iter().find(|c| c["context"] == "tcb").expect("it is there");
    let of = |site: &str| {
        let all = tcb["sites"].as_array().into_iter().flatten();
        all.filter(|s| s["site"] == site).map(|s| s["fields"].as_array().map_or(0, Vec::len)).sum::<usize>()
    };
    assert!(of("ingress") > 0 && of("control") == 0, "{tcb}");
}

#[test]
fn a_site_that_is_not_well_described_is_refused() {
    let text = fs::read_to_string(root().join("targets/xdp/target.toml")).expect("readable");
    let wrong = |from: &str, to: &str| {
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text, "{from} is not there");
        TargetFile::parse(&changed).expect_err("it is wrong")
    };
    let kind = wrong("event_kinds = [\"net_event\"]", "event_kinds = [\"flow_event\"]");
    assert_eq!(kind, "at site \"ingress\" no event arises of the kind \"flow_event\"");
    let limit = wrong("{ statements_per_chain", "{ queues");
    assert!(limit.starts_with("site \"ingress\" has a limit \"queues\""), "{limit}");
    assert!(wrong("waits = false", "waiting = false").contains("waiting"));
}

/// What the program of `tests/programs/joined.mtp` becomes, and what prevents it where one thing is another one.
#[test]
fn an_engine_makes_packets_where_the_rules_say_what_it_does() {
    let native = ALL.named("native").expect("there is one").file;
    let text = fs::read_to_string(root().join("tests/programs/joined.mtp")).expect("readable");
    let said = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        let compiled = carrick_driver::compile_text("joined.mtp", text.replacen(from, to, 1));
        let program = compiled.program.unwrap_or_else(|| panic!("{to}: {:?}", compiled.diagnostics));
        let offloads = Offloads::new(&program, &native).expect("its ports have one");
        assert_eq!(
            offloads.pretty().contains("several leave"),
            offloads.json()["packets"][0]["joined"] == true
        );
        offloads.json()["packets"][0].clone()
    };
    let whole = said("", "");
    assert_eq!(whole["joined"], true);
    let conditions = whole["if"].as_array().map_or(0, Vec::len);
    assert_eq!(conditions, 7, "protocol and number, three flags, three others: {whole}");
    for (from, to, why) in [
        ("uint8 protocol = 6", "uint8 protocol = 253", "no engine takes packets of IP protocol 253"),
        ("prev.number + uint32(prev.payload.len / 1B)", "prev.number + 1", "`counted` does not count"),
        (
            "uint32(prev.payload.len / 1B)]",
            "uint32(uint8(prev.payload.len / 1B))]",
            "`counted` does not count",
        ),
        (
            "[part::number, bp.number,",
            "[part::number, uint32(uint16(bp.number)),",
            "`counted` does not count",
        ),
        (
            "uint32 number;\n    uint32 k;",
            "uint32 number in 0..1000;\n    uint32 k;",
            "no number without a range",
        ),
        (
            "[part::late, false, false, bp.late]",
            "[part::late, false, bp.late]",
            "`late_last` says another thing",
        ),
        (
            "[part::early, bp.early, false]",
            "[part::early, bp.early, true]",
            "`early_first` says another thing",
        ),
        (
            "prev.mark > uint16",
            "prev.number > uint32",
            "`marked_until` can give each packet another `marked`",
        ),
        ("header_len / 4", "header_len / 2", "do not count its words"),
        ("internet(pseudo, header, payload)", "internet(header, payload)", "its checksum is another one"),
        ("uint16 last_word;", "uint16 last_word = payload_len / 1B;", "`last_word` depends on the payload"),
    ] {
        let said = said(from, to);
        assert!(said["why"].as_str().is_some_and(|said| said.contains(why)), "{to}: {said}");
    }
    let xdp = target();
    let program = program(&root().join("tests/programs/joined.mtp"));
    assert!(
        Offloads::new(&program, &xdp)
            .is_err_and(|refused| refused.to_string().contains("no port of the target xdp"))
    );
}
