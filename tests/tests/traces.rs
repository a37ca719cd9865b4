// SPDX-License-Identifier: MIT OR Apache-2.0
//! Traces: both forms say the same, what is whole of a trace is read, and no file of anybody's ends the reader.

use std::sync::Arc;

use carrick_driver::compile_file;
use carrick_ir::Program;
use carrick_sim::faults::LinkFaults;
use carrick_sim::link::LinkConfig;
use carrick_sim::rng::Rng;
use carrick_sim::scenario::Engine;
use carrick_sim::trace::{Describer, Form, Head, MAGIC, Reader, VERSION, Writer};
use carrick_sim::{Scenario, run};
use carrick_tests::build::root;
use carrick_tests::command::{self, done};
use carrick_tests::programs::protocols;
use serde_json::json;

const TCP: &str = "protocols/tcp/tcp.mtp";

/// A trace of a run with losses.
fn recorded(program: &Arc<Program>, form: Form, octets: u64) -> Vec<u8> {
    let mut trace = Vec::new();
    let mut writer = Writer::new(form, &mut trace, &Head::new(program, 7, "a test"));
    let faults =
        LinkFaults { loss_ppm: 30_000, duplicate_ppm: 20_000, corrupt_ppm: 10_000, ..LinkFaults::default() };
    let link = LinkConfig { faults: faults.into(), ..LinkConfig::default() };
    run(program, &Engine::Interpreter, &Scenario::bulk(7, link, octets), &mut writer, true).expect("it runs");
    writer.finish().expect("memory takes all");
    trace
}

fn program(file: &str) -> Arc<Program> {
    compile_file(&root().join(file)).expect("readable").program.expect("a program without errors")
}

/// Draws numbers below another one.
fn draws(seed: u64) -> impl FnMut(usize) -> usize {
    let mut rng = Rng::new(seed, 1);
    move |below| rng.below(below as u64) as usize
}

/// The lines of a binary trace, and where it ends if it is not whole.
fn lines(trace: &[u8]) -> Result<(Vec<String>, Option<String>), String> {
    let mut reader = Reader::open(trace)?;
    let mut describer = Describer::new(reader.hosts.clone());
    let mut lines = vec![reader.header.to_string()];
    while let Some(moment) = reader.read()? {
        if let Some((what, detail)) = describer.describe(&moment) {
            let line = json!({"t": moment.now, "host": moment.host, "what": what, "detail": detail});
            lines.push(line.to_string());
        }
    }
    Ok((lines, reader.cut()))
}

fn text_lines(trace: Vec<u8>) -> Vec<String> {
    String::from_utf8(trace).expect("UTF-8").lines().map(str::to_owned).collect()
}

#[test]
fn both_forms_say_the_same_of_every_program() {
    let mut programs = 0;
    for file in protocols() {
        let program = compile_file(&file).expect("readable").program.expect("a program without errors");
        if program.in_network.is_some() {
            continue;
        }
        let expected = text_lines(recorded(&program, Form::Json, 30_000));
        assert!(expected.len() > 100, "{}", file.display());
        let found = lines(&recorded(&program, Form::Binary, 30_000));
        assert_eq!(found, Ok((expected, None)), "{}", file.display());
        programs += 1;
    }
    assert!(programs > 10);
}

#[test]
fn a_binary_trace_is_a_tenth_of_the_lines() {
    let program = program(TCP);
    let [binary, json] = [Form::Binary, Form::Json].map(|form| recorded(&program, form, 2_000_000).len());
    assert!(binary * 10 < json, "{binary} and {json} bytes");
}

/// The ends of the header and of the blocks.
fn ends_of_blocks(trace: &[u8]) -> Vec<usize> {
    let number = |at: usize| u32::from_le_bytes(trace[at..at + 4].try_into().expect("four")) as usize;
    let mut ends = vec![16 + number(12) + 4];
    while let Some(&at) = ends.last().filter(|at| **at < trace.len()) {
        let len = number(at);
        ends.push(at + 8 + if len == 0 { 8 } else { len });
    }
    ends
}

#[test]
fn what_is_whole_is_read_wherever_a_trace_is_cut() {
    let program = program(TCP);
    let trace = recorded(&program, Form::Binary, 300_000);
    let (all, _) = lines(&trace).expect("a trace");
    let ends = ends_of_blocks(&trace);
    assert!(ends.len() > 3 && ends.last() == Some(&trace.len()), "{ends:?}");
    let mut random = draws(3);
    let drawn = (0..12).map(|_| random(trace.len()));
    let mut longest = 0;
    for at in drawn.chain(ends.iter().map(|end| end - 1)).chain(ends[..ends.len() - 1].iter().copied()) {
        let found = lines(&trace[..at]);
        if at < ends[0] {
            let said = found.expect_err("no header");
            assert!(said.contains("cut short") || said.contains("no binary trace"), "{at}: {said}");
            continue;
        }
        let (found, cut) = found.expect("a beginning");
        assert!(cut.is_some_and(|cut| cut.contains("ends without its end mark")), "{at}");
        assert_eq!(found, all[..found.len()], "{at}");
        let blocks = ends.iter().filter(|end| **end <= at).count();
        assert_eq!(found.len() > 1, blocks > 1, "{at}: each whole block has records");
        longest = longest.max(found.len());
    }
    assert_eq!(longest, all.len(), "only the end mark is missing");
}

#[test]
fn what_is_no_trace_is_refused_in_words() {
    let program = program("protocols/stop-and-wait/stop-and-wait.mtp");
    let trace = recorded(&program, Form::Binary, 10_000);
    let refused = |at: usize, octets: &[u8]| {
        let mut other = trace.clone();
        other[at..at + octets.len()].copy_from_slice(octets);
        lines(&other).expect_err("it is none")
    };
    let other = (VERSION + 1).to_le_bytes();
    assert!(refused(8, &other).contains(&format!("version {}, and this is version {VERSION}", VERSION + 1)));
    assert!(refused(0, b"XXXX").contains("no binary trace"));
    assert!(refused(20, b"XXXX").contains("header is damaged"));
    let last = trace.len() - 40;
    assert!(refused(last, b"XXXX").contains("damaged after"));
    // As a transfer of text does.
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    let text: Vec<u8> = trace.iter().copied().filter(|octet| *octet != b'\r').collect();
    for (octets, said) in
        [(&text[..], "was it copied as text?"), (&MAGIC[..], "cut short"), (b"", "not that of a trace")]
    {
        std::fs::write(dir.join("a.run"), octets).expect("writable");
        let output = command::run(dir, &["report", "a.run"]);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && error.starts_with("carrick: a.run: "), "{error}");
        assert!(error.contains(said), "{error}");
    }
}

/// Blocks with wrong records and the right checksum: the reader says that they are damaged, or reads something else.
#[test]
fn no_block_ends_the_reader() {
    let program = program(TCP);
    let trace = recorded(&program, Form::Binary, 20_000);
    let ends = ends_of_blocks(&trace);
    let (head, block) = (&trace[..ends[0]], &trace[ends[0] + 8..ends[1]]);
    let mut random = draws(11);
    let mut refused = 0;
    for _ in 0..300 {
        let mut block = block.to_vec();
        for _ in 0..=random(3) {
            let at = random(block.len());
            match random(4) {
                0 => block.truncate(at.max(1)),
                1 => drop(block.remove(at)),
                2 => block[at] = 0xff,
                _ => block[at] ^= 1 << random(8),
            }
        }
        let sizes = [block.len() as u32, crc32fast::hash(&block)].map(u32::to_le_bytes).concat();
        match lines(&[head, &sizes, &block].concat()) {
            Ok((_, cut)) => assert!(cut.is_some()),
            Err(said) => {
                assert!(said.contains("damaged after"), "{said}");
                refused += 1;
            }
        }
    }
    assert!(refused > 30, "{refused}");
}

/// Layouts that no program has: of hosts without a program, and of records that would take all memory.
#[test]
fn no_header_ends_the_reader() {
    let program = program("protocols/stop-and-wait/stop-and-wait.mtp");
    let trace = recorded(&program, Form::Binary, 10_000);
    let end = ends_of_blocks(&trace)[0];
    let header: serde_json::Value = serde_json::from_slice(&trace[16..end - 4]).expect("JSON");
    let with = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut header = header.clone();
        change(&mut header);
        let text = header.to_string();
        let sum = crc32fast::hash(text.as_bytes()).to_le_bytes();
        lines(
            &[&trace[..12], &(text.len() as u32).to_le_bytes(), text.as_bytes(), &sum, &trace[end..]]
                .concat(),
        )
    };
    assert!(with(&|_| ()).is_ok());
    let wrong: [&dyn Fn(&mut serde_json::Value); 5] = [
        &|header| header["programs"] = json!([]),
        &|header| header["programs"] = json!("none"),
        &|header| header["hosts"] = json!([0, 1]),
        &|header| {
            header["programs"][0]["events"][0]["fields"] =
                json!([["a", {"array": ["number", 4_000_000_000_u32]}]])
        },
        &|header| {
            let inner = json!({"list": [{"list": ["number", 1_000_000]}, 1_000_000]});
            header["programs"][0]["contexts"][0]["fields"] = json!([["a", inner]]);
        },
    ];
    for change in wrong {
        assert_eq!(with(change), Err("its header is none of a trace".to_owned()));
    }
}

/// A run that is killed leaves what it has written.
#[test]
fn a_page_is_drawn_of_what_a_killed_run_left() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    let program = root().join(TCP).display().to_string();
    for (form, said) in [("binary", "it ends without its end mark, after "), ("json", "it ends within line ")]
    {
        done(dir, &["sim", &program, "--bytes", "200KB", "--trace", "a.run", "--trace-format", form]);
        let whole = std::fs::read(dir.join("a.run")).expect("a trace");
        std::fs::write(dir.join("a.run"), &whole[..whole.len() * 2 / 3]).expect("writable");
        let output = command::run(dir, &["report", "a.run"]);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{error}");
        assert!(error.starts_with(&format!("carrick: a.run: {said}")), "{error}");
        let page = std::fs::read_to_string(dir.join("report.html")).expect("a page");
        assert!(page.contains("carrick sim"), "what makes the run again");
    }
}

/// Each form is made again as it was, and the first difference is shown as a line.
#[test]
fn both_forms_are_made_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    done(dir, &["new", "parcel", "--template", "stream"]);
    let sim = ["sim", "parcel/parcel.mtp", "--bytes", "20KB", "--loss", "5%"];
    for (form, file) in [("binary", "a.run"), ("json", "a.jsonl")] {
        done(dir, &[&sim[..], &["--trace", file, "--trace-format", form]].concat());
    }
    assert_eq!(done(dir, &["repro", "a.run", "a.jsonl"]), "a.run: the same\na.jsonl: the same\n");
    done(dir, &["report", "a.run", "-o", "b.jsonl"]);
    let [a, b] = ["a.jsonl", "b.jsonl"].map(|file| std::fs::read_to_string(dir.join(file)).expect("a trace"));
    assert!(a == b, "the lines of a binary trace are those of a trace of lines");
    let file = dir.join("parcel/parcel.mtp");
    let text = std::fs::read_to_string(&file).expect("a program");
    std::fs::write(&file, format!("{text}// no more\n")).expect("writable");
    for file in ["a.run", "a.jsonl"] {
        let output = command::run(dir, &["repro", file]);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            said.contains("parcel/parcel.mtp has changed\nline 1 is the first that differs:\n- {"),
            "{said}"
        );
    }
}
