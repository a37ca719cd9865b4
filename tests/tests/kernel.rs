// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs in the kernel of this machine: that it takes them, that they do what the interpreter does, and real packets.
//!
//! Each test that cannot run here says so: without clang, or without the privilege.

use std::collections::BTreeSet;
use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;
use std::sync::Arc;
use std::thread;

use aya_obj::obj::Function;
use carrick_driver::cc::{self, Tracing};
use carrick_driver::{Choice, Failure, Over, compile_choice, compile_file};
use carrick_interp::Config;
use carrick_ir::Program;
use carrick_sim::Scenario;
use carrick_sim::core::Core;
use carrick_sim::diff::{Comparison, Pace, diff_cores, diff_engine};
use carrick_sim::ip::{checksum, mend_checksum};
use carrick_sim::scenario::Engine;
use carrick_targets::xdp::build;
use carrick_tests::build::{carrick, root};
use carrick_tests::in_kernel::{ASK, answering, enable_veth_redirect};
use carrick_tests::net::{DEVICE, End, Net, skip};
use carrick_tests::running::saying;
use carrick_tests::tier;
use carrick_xdp_loader::{KernelCore, LoadError, Object, Objects, needs};

/// Seeds, and operations of each: more than enough for every path of programs this small.
const SEEDS: u64 = 3;
const OPERATIONS: u64 = 600;

/// A program, if BPF C can be made of it.
fn fits(path: &Path) -> Option<Arc<Program>> {
    let program = compile_file(path).expect("readable").program.expect("it is right");
    carrick_xdp_emitter::unsupported(&program).is_none().then_some(program)
}

/// The same over IPv6.
fn fits_over_ipv6(path: &str) -> Arc<Program> {
    let choice = Choice { over: Over::Ipv6, ..Choice::default() };
    let program = compile_choice(&root().join(path), &choice).expect("readable").program;
    let program = program.expect("it is right");
    assert_eq!(carrick_xdp_emitter::unsupported(&program), None, "{path}");
    program
}

/// The small programs that fit, and the paper's; there are some.
fn programs() -> Vec<(PathBuf, Arc<Program>)> {
    let folders = ["tests/programs", "tests/paper"].map(|folder| root().join(folder));
    let files = folders.iter().flat_map(|folder| fs::read_dir(folder).expect("there are some").flatten());
    let mut files: Vec<PathBuf> =
        files.map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "mtp")).collect();
    files.sort();
    let found: Vec<_> = files.into_iter().filter_map(|path| fits(&path).map(|p| (path, p))).collect();
    assert!(found.iter().any(|(path, _)| path.ends_with("least.mtp")), "the least of them fits");
    found
}

/// The object of a program; `None`, said aloud, where nothing compiles it.
fn object(program: &Program, tracing: Tracing) -> Option<build::Object> {
    match build::cached_object(program, tracing) {
        Ok(object) => Some(object),
        Err(Failure::Missing(what)) => {
            skip(&what);
            None
        }
        Err(failure) => panic!("{failure}"),
    }
}

/// The objects of a program with tracing, and what they are loaded from.
fn traced(program: &Program) -> Option<(Objects, build::Object)> {
    object(program, Tracing::On).map(|built| (Objects::new(&built.program.path), built))
}

/// What a load gave; `None`, said aloud, where this process may not.
fn loaded<T>(result: Result<T, LoadError>) -> Option<T> {
    match result {
        Ok(object) => Some(object),
        Err(LoadError::Missing(what)) => {
            skip(&what);
            None
        }
        Err(LoadError::Rejected { log, .. }) => panic!("{log}"),
        Err(LoadError::Failed(what)) => panic!("{what}"),
    }
}

/// Without tracing; comparisons load them with it. What they use this kernel has, and from which one on that is so is known.
#[test]
fn the_verifier_takes_every_program_that_fits() {
    for (path, program) in programs() {
        let Some(object) = object(&program, Tracing::Off) else { return };
        let need = needs::of(&object.program.path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
        assert!(needs::of(&object.dispatcher.path).expect("it is known").since <= need.since);
        let Some(_) = loaded(Object::load(&object.program.path, &program, 1, 1, 1500, &[])) else { return };
    }
}

#[test]
fn an_older_kernel_is_told_the_first_line_that_it_does_not_take() {
    let old = "6.1.0-28-amd64";
    let streams = fits(&root().join("protocols/tcp/tcp.mtp")).expect("it fits");
    let Some(object) = object(&streams, Tracing::Off) else { return };
    let lacking =
        needs::lacking(&needs::of(&object.program.path).expect("it is known"), old).expect("it has loops");
    let begin = "this kernel is Linux 6.1.0-28-amd64, and it takes 6.9 for its loops (opening.mtp:";
    assert!(lacking.starts_with(begin), "{lacking}");
}

/// Whether this process may load programs; if not, that is said aloud.
fn may_load() -> bool {
    let program = fits(&root().join("tests/programs/least.mtp")).expect("it fits");
    let object = object(&program, Tracing::Off);
    object.and_then(|object| loaded(Object::load(&object.program.path, &program, 1, 1, 1500, &[]))).is_some()
}

/// What a comparison of an object, in the kernel, with the interpreter gave.
fn compared(objects: &Objects, program: &Arc<Program>, seed: u64) -> Comparison {
    let pace = if seed % 2 == 1 { Pace::AtOnce } else { Pace::Asked };
    let mut make = |config: &Config| {
        let core = KernelCore::new(objects, program.clone(), config, pace);
        Ok(Box::new(core.map_err(|e| e.to_string())?) as Box<dyn Core>)
    };
    diff_cores(program, &mut make, pace, seed, OPERATIONS).expect("it loads")
}

#[test]
fn programs_do_in_the_kernel_what_they_do_in_the_interpreter() {
    if !may_load() {
        return;
    }
    let mut packets = 0;
    for (path, program) in programs() {
        let Some((objects, _built)) = traced(&program) else { return };
        for seed in 1..=SEEDS {
            let result = compared(&objects, &program, seed);
            assert_eq!(result.difference, None, "{}, seed {seed}", path.display());
            packets += result.packets;
        }
    }
    assert!(packets > 50, "only {packets} packets");
}

/// Whole transports, and what says how many instances they have: the test's machine need not have room for all. The last one's
/// packets are frames, and it has as many as it says.
const TRANSPORTS: [(&str, &str); 3] = [
    ("protocols/tcp/tcp.mtp", "max_conns"),
    ("protocols/homa/homa.mtp", "max_rpcs"),
    ("protocols/quic-lite/quic-lite.mtp", ""),
];

/// Comparisons begin with an empty core, though objects serve one core after another.
#[test]
fn a_cleared_object_is_as_one_that_was_just_loaded() {
    if !may_load() {
        return;
    }
    for name in ["homa", "netcache"] {
        let program = fits(&root().join(format!("protocols/{name}/{name}.mtp"))).expect("it fits");
        let Some((objects, built)) = traced(&program) else { return };
        for seed in 1..=2 {
            assert_eq!(compared(&objects, &program, seed).difference, None, "{name}, seed {seed}");
        }
        let config = Config { seed: 3, address: 1, ..Config::default() };
        let contents = |objects: &Objects| {
            let object = loaded(objects.lend(&program, &config)).expect("it was loaded before");
            object.contents().expect("readable")
        };
        let again = contents(&objects);
        assert_eq!(objects.loaded(), 2, "{name}: one for each end");
        for ((map, again), (_, new)) in again.iter().zip(contents(&Objects::new(&built.program.path))) {
            assert!(*again == new, "{name}: {map} differs");
        }
    }
}

/// A whole transport: applications over a network that loses and reorders.
#[test]
fn transports_do_in_the_kernel_what_they_do_in_the_interpreter() {
    if !may_load() {
        return;
    }
    for (path, instances) in TRANSPORTS {
        transfers_agree(&fits(&root().join(path)).expect("it fits"), instances, 1..=SEEDS);
    }
}

/// Compares a transport's transfers over random networks.
fn transfers_agree(program: &Arc<Program>, instances: &str, seeds: RangeInclusive<u64>) {
    let Some((objects, _built)) = traced(program) else { return };
    let of = |p: &carrick_ir::ParamDef| if p.name == instances { 16 } else { p.default };
    let params: Vec<u64> = program.params.iter().map(of).collect();
    for seed in seeds {
        let objects = objects.clone();
        let engine = Engine::Made(Rc::new(move |program, config| {
            let core = KernelCore::new(&objects, program.clone(), config, Pace::Asked);
            Ok(Box::new(core.map_err(|e| e.to_string())?))
        }));
        let random = Scenario::random(seed);
        // A frame has one page of the kernel's memory.
        let scenario = Scenario { mtu: random.mtu.min(3000), params: params.clone(), ..random };
        let result = diff_engine(program, &engine, &scenario).expect("it loads");
        assert_eq!(result.difference, None, "{}, seed {seed}", program.name);
        assert!(result.packets > 10, "only {} packets of {}", result.packets, program.name);
    }
}

/// Random operations have extension headers, reports and damaged packets; TCP reads reports. Messages wait in blocks, and have routes
/// (RFC 8754) that random calls choose.
#[test]
fn programs_do_so_over_ipv6_too() {
    if !may_load() {
        return;
    }
    let few = fits_over_ipv6("protocols/stop-and-wait/stop-and-wait.mtp");
    let Some((objects, _built)) = traced(&few) else { return };
    let mut packets = 0;
    for seed in 1..=SEEDS {
        let result = compared(&objects, &few, seed);
        assert_eq!(result.difference, None, "seed {seed}");
        packets += result.packets;
    }
    assert!(packets > SEEDS, "only {packets} packets");
    let (path, instances) = TRANSPORTS[0];
    transfers_agree(&fits_over_ipv6(path), instances, 1..=1);
    random_packets_agree(&fits_over_ipv6("protocols/message-transport/message-transport.mtp"), 1..=2);
}

/// Programs in the network, whose packets leave in the frames in which they came.
const BETWEEN: [&str; 4] = ["synproxy", "load-balancer", "netcache", "memcache"];

#[test]
fn programs_in_the_network_do_so_too() {
    if !may_load() {
        return;
    }
    for name in BETWEEN {
        let program = fits(&root().join(format!("protocols/{name}/{name}.mtp"))).expect("it fits");
        random_packets_agree(&program, 1..=2);
    }
    for path in [
        "protocols/synproxy/synproxy.mtp",
        "protocols/message-wrapper/message-wrapper.mtp",
        "tests/programs/relay.mtp",
    ] {
        random_packets_agree(&fits_over_ipv6(path), 1..=2);
    }
}

/// Compares a program on random packets, calls and timers.
fn random_packets_agree(program: &Arc<Program>, seeds: RangeInclusive<u64>) {
    let Some((objects, _built)) = traced(program) else { return };
    for seed in seeds {
        let result = compared(&objects, program, seed);
        let name = (&program.name, program.net_header.layer);
        assert_eq!(result.difference, None, "{name:?}, seed {seed}");
        assert!(result.packets > 10, "{name:?}: only {} packets", result.packets);
    }
}

/// The same with what finds and repairs losses, whose functions search lists in loops and call each other deeply.
#[test]
fn a_transport_with_features_does_so_too() {
    let sets = [
        &["sack", "bbr"][..],
        &["dctcp", "ecn", "exact", "sack"],
        &["sack", "timer_based"],
        &["cubic", "ecn", "sack", "prr", "frto"],
        &["sack", "rack"],
    ];
    for features in tier::of(&sets, 2) {
        let mut choice = Choice::default();
        features.iter().for_each(|feature| choice.add(feature));
        let path = root().join("protocols/tcp/tcp.mtp");
        let program = compile_choice(&path, &choice).expect("readable").program.expect("it is right");
        let Some(plain) = object(&program, Tracing::Off) else { return };
        let Some(_) = loaded(Object::load(&plain.program.path, &program, 1, 1, 1500, &[])) else { return };
        let Some((objects, _built)) = traced(&program) else { return };
        let result = compared(&objects, &program, 1);
        assert_eq!(result.difference, None, "{features:?}");
        assert!(result.packets > 5, "only {} packets with {features:?}", result.packets);
    }
}

/// Offsets from which a function reads single bytes, one after the other from one register: the longest run.
fn bytes_in_a_row(function: &Function) -> usize {
    // BPF_LDX | BPF_MEM | BPF_B
    const BYTE: u8 = 0x71;
    let read = function.instructions.iter().filter(|insn| insn.code == BYTE);
    let read: BTreeSet<(u8, i16)> = read.map(|insn| (insn.src_reg(), insn.off)).collect();
    let in_a_row = |first: &(u8, i16)| (0..).take_while(|n| read.contains(&(first.0, first.1 + n))).count();
    read.iter().map(in_a_row).max().unwrap_or(0)
}

/// The compiler has to know how arguments are aligned: else it copies each struct of words byte by byte (`CARRICK_ALIGNED`).
#[test]
fn structs_are_copied_by_words() {
    const WORDS: usize = 16;
    let tcp = root().join("protocols/tcp/tcp.mtp");
    for program in [fits(&tcp).expect("it fits"), fits_over_ipv6("protocols/tcp/tcp.mtp")] {
        let Some(built) = object(&program, Tracing::Off) else { return };
        let octets = fs::read(&built.program.path).expect("readable");
        let object = aya_obj::Object::parse(&octets).expect("an object");
        let of_chains = |f: &&Function| f.name.starts_with("fn_") && f.name != "fn_parse";
        let chains: Vec<&Function> = object.functions.values().filter(of_chains).collect();
        assert!(chains.len() > 50, "it has functions");
        let by_bytes: Vec<_> =
            chains.iter().filter(|f| bytes_in_a_row(f) >= WORDS).map(|f| &f.name).collect();
        assert!(by_bytes.is_empty(), "{by_bytes:?} of {:?}", program.net_header.layer);
    }
}

/// Datagrams of one transport that wait in queues of which one goes before the other.
#[test]
fn queues_go_before_others_there_too() {
    if !may_load() {
        return;
    }
    let program = fits(&root().join("protocols/ndp/ndp.mtp")).expect("it fits");
    let Some((objects, _built)) = traced(&program) else { return };
    for seed in 1..=SEEDS {
        let result = compared(&objects, &program, seed);
        assert_eq!(result.difference, None, "seed {seed}");
        assert!(result.packets > 10, "only {} packets", result.packets);
    }
}

/// A packet of `long_options.mtp`: a checksum of all of it, or of the header alone, and so many bytes of options before those at
/// the end.
fn with_options(whole: bool, before: usize, last: &[u8]) -> Vec<u8> {
    const PAD: u8 = 1;
    // An option that no program knows, as long as can be.
    let unknown = [&[77, 255][..], &[9; 253]].concat();
    let mut options: Vec<u8> = unknown.iter().copied().cycle().take(before - before % 255).collect();
    options.resize(before, PAD);
    options.extend_from_slice(last);
    let size = (6 + options.len()) as u16;
    let mut header = [&[2 - u8::from(whole), 3], &size.to_be_bytes()[..], &[0, 0], &options].concat();
    let payload = b"behind all options";
    let len = header.len() + payload.len();
    let [pseudo, protocol] = [[0, 0, 0, 2, 0, 0, 0, 1], [0, 211, (len >> 8) as u8, len as u8, 0, 0, 0, 0]];
    // The checksum's parts have an even length.
    let even = [&header[..], if whole { payload } else { &[] }].concat();
    let sum = if whole { checksum(&[&pseudo, &protocol, &even]) } else { checksum(&[&even]) };
    header[4..6].copy_from_slice(&sum.to_be_bytes());
    let total = (20 + len) as u16;
    let mut packet = vec![0x45, 0, 0, 0, 0, 0, 0, 0, 64, 211, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1];
    packet[2..4].copy_from_slice(&total.to_be_bytes());
    mend_checksum(&mut packet);
    [&packet[..], &header, payload].concat()
}

/// What a core makes of a packet: whether it is taken, what leaves, what the program saw, and the counters.
fn made_of(core: &mut dyn Core, packet: &[u8]) -> impl PartialEq + std::fmt::Debug + use<> {
    let taken = core.rx_on(0, packet, 0);
    let (mut sent, mut records) = (Vec::new(), Vec::new());
    let left = core.tx(&mut sent, 0).then_some(sent);
    core.take_trace(&mut records);
    let words = records.into_iter().map(|record| (record.kind, record.number, record.words));
    (taken, left, words.collect::<Vec<_>>(), core.counters())
}

/// What a parser sees at once ends with 256 bytes: options are before that, on both sides, and behind, and malformed.
#[test]
fn options_are_read_wherever_they_are_in_a_packet() {
    let program = fits(&root().join("tests/programs/long_options.mtp")).expect("it fits");
    let Some((objects, _built)) = traced(&program) else { return };
    let config = Config { address: 1, mtu: 1500, trace: true, ..Config::default() };
    let mut interpreted = Engine::Interpreter.core(&program, &config, 0).expect("a core");
    let Some(mut kernel) = loaded(KernelCore::new(&objects, program.clone(), &config, Pace::AtOnce)) else {
        return;
    };
    let (mark, cut) = ([9, 6, 0, 0, 0, 7], [9, 200, 1, 1]);
    for whole in [true, false] {
        for before in [0, 186, 192, 244, 245, 249, 250, 251, 255, 256, 600, 1020, 1400] {
            for last in [&mark[..], &cut] {
                let packet = with_options(whole, before, last);
                let [expected, got] =
                    [&mut *interpreted, &mut kernel as &mut dyn Core].map(|c| made_of(c, &packet));
                assert_eq!(got, expected, "whole: {whole}, {before} bytes before {last:?}");
            }
        }
    }
    let seen = [carrick_ir::counter("tx_forwarded"), carrick_ir::counter("bad_options")]
        .map(|at| kernel.counters()[at]);
    assert_eq!(seen, [52, 26], "each second one is malformed");
}

/// Packets of one flow, on each of two processors at once.
const AT_ONCE: u32 = 20_000;

/// A frame of `steps.mtp`: whether it asks how many packets came, and how many of them between a packet and its steps.
fn segment(asks: bool) -> Vec<u8> {
    let mut packet = vec![0x45, 0, 0, 28, 0, 0, 0, 0, 64, 253, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1];
    mend_checksum(&mut packet);
    let ethernet = [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0];
    [&ethernet[..], &packet, &u32::from(asks).to_be_bytes(), &[0; 4]].concat()
}

/// Has this process before all others, or no more: on a machine that is busy its threads would seldom run at once.
fn goes_first(policy: &str, priority: &str) {
    let process = std::process::id().to_string();
    // Where that does not go they run at once as often as it happens.
    let _ = Command::new("chrt").args(["--all-tasks", policy, "--pid", priority, &process]).output();
}

#[test]
fn what_follows_from_an_event_comes_before_anything_else() {
    let program = fits(&root().join("tests/programs/steps.mtp")).expect("it fits");
    let Some(object) = object(&program, Tracing::Off) else { return };
    let Some(object) = loaded(Object::load(&object.program.path, &program, 1, 1, 1500, &[])) else { return };
    let run = |asks| object.run("ingress", &segment(asks)).expect("it runs").1;
    // The first one only makes the flow.
    run(false);
    goes_first("--fifo", "1");
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| (0..AT_ONCE).for_each(|_| drop(run(false))));
        }
    });
    goes_first("--other", "0");
    let answer = run(true);
    let word = |at: usize| u32::from_be_bytes(answer[at..at + 4].try_into().expect("four octets"));
    assert_eq!((word(34), word(38)), (2 * AT_ONCE + 1, 0), "packets, and those that came between");
}

/// Generated code that reads outside of what it has, as a mistake of the compiler's would.
#[test]
fn a_rejection_names_the_line_of_the_program() {
    let program = fits(&root().join("tests/programs/least.mtp")).expect("it fits");
    let dir = tempfile::tempdir().expect("a folder");
    match build::object(&program, dir.path(), Tracing::Off) {
        Err(Failure::Missing(what)) => return skip(&what),
        result => result.expect("it compiles"),
    }
    let file = dir.path().join("least.bpf.c");
    let text = fs::read_to_string(&file).expect("it is there");
    let wrong = text.replace("c->count = c->count + e->n;", "c->count = (&c->count)[e->n];");
    assert_ne!(text, wrong, "the statement is there:\n{text}");
    fs::write(&file, wrong).expect("writable");
    build::compile(dir.path(), &program.name, Tracing::Off).expect("it compiles");
    match Object::load(&dir.path().join("least.bpf.o"), &program, 1, 1, 1500, &[]) {
        Err(LoadError::Missing(what)) => skip(&what),
        Err(refusal @ LoadError::Rejected { .. }) => {
            let text = refusal.to_string();
            assert!(text.contains("least.mtp:16: the kernel's verifier rejects"), "{text}");
            assert_eq!(text.lines().count(), 1, "{text}");
        }
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("the verifier takes it"),
    }
}

#[test]
fn what_does_not_fit_is_told_with_its_mend() {
    let stream = Command::new(carrick())
        .args(["build", "protocols/netblocks/netblocks.mtp", "--target", "xdp", "-o", "/nonexistent"])
        .current_dir(root())
        .output()
        .expect("carrick runs");
    let said = String::from_utf8_lossy(&stream.stderr);
    assert!(
        said.contains("error[MTP0605]")
            && said.contains("over `ipv4`")
            && said.contains("or build for `sim`"),
        "{said}"
    );
}

#[test]
fn real_packets_are_answered_in_the_kernel() {
    let Some(net) = Net::kernel_on_both() else { return };
    let dir = tempfile::tempdir().expect("a folder");
    let path = answering(dir.path());
    let program = fits(&path).expect("it fits");
    let Some(object) = object(&program, Tracing::Off) else { return };
    if loaded(Object::load(&object.program.path, &program, 1, 1, 1500, &[])).is_none() {
        return;
    }
    enable_veth_redirect(&net);
    let mut run = net.command(End::Ours, &carrick().to_string_lossy());
    run.arg("run").arg(&path).args(["--target", "xdp", "--port", DEVICE, "--addr", Net::OURS]);
    let (stack, said) = saying(&mut run, &format!("least is on {DEVICE}"));
    let asked = net.command(End::Peer, "python3").args(["-c", ASK, Net::OURS, "0", "7", "5", "30"]).output();
    let asked = asked.expect("python3 runs");
    assert!(stack.end().success());
    let counters: Vec<String> = said.collect();
    assert_eq!(String::from_utf8_lossy(&asked.stdout), "7\n12\n42\nrefused\n", "{asked:?}");
    for expected in ["rx_packets 4", "tx_packets 3", "events 4"] {
        assert!(counters.iter().any(|line| line == expected), "{expected} in {counters:?}");
    }
    let link = net.command(End::Ours, "ip").args(["link", "show", DEVICE]).output().expect("ip runs");
    assert!(!String::from_utf8_lossy(&link.stdout).contains("xdp"), "the device is as it was");
}

/// What the header says, as a C compiler understands it.
const LAYOUT: &str = "
#include <stddef.h>
#include <stdio.h>
struct head { CARRICK_HEAD; };
#define SAY(what) printf(\"%zu \", (size_t)(what))
int main(void) {
    SAY(offsetof(struct head, clock)); SAY(offsetof(struct head, key)); SAY(offsetof(struct head, address));
    SAY(offsetof(struct head, mtu)); SAY(offsetof(struct head, paced)); SAY(CARRICK_STAGED); SAY(CARRICK_STAGED_STREAM);
    SAY(sizeof(struct carrick_staged)); SAY(CARRICK_QUEUE); SAY(offsetof(struct head, taken)); SAY(offsetof(struct head, busy));
    SAY(offsetof(struct head, counters)); SAY(offsetof(struct carrick_shared, queue_head));
    SAY(offsetof(struct carrick_shared, queue_tail)); SAY(offsetof(struct carrick_shared, awake)); SAY(offsetof(struct carrick_shared, due));
    SAY(offsetof(struct carrick_shared, leaving)); SAY(sizeof(struct carrick_timer));
    SAY(CARRICK_REQUEST_CALL); SAY(CARRICK_REQUEST_TIMER); SAY(CARRICK_REQUEST_PACKET); SAY(CARRICK_REQUEST_HOLD);
    SAY(offsetof(struct head, device)); SAY(offsetof(struct carrick_places, contexts));
    SAY(sizeof(struct carrick_context_place)); SAY(offsetof(struct carrick_context_place, part_count));
    SAY(offsetof(struct carrick_context_place, parts)); SAY(sizeof(struct carrick_part_place)); SAY(CARRICK_PLACE_LIVE);
    SAY(CARRICK_REPORT_COMPLETION); SAY(sizeof(struct carrick_host_request)); SAY(offsetof(struct carrick_host_request, args));
    return 0;
}
";

#[test]
fn the_layouts_are_those_of_the_header() {
    use carrick_xdp_loader::layout::{self, head, kind, place};
    let dir = tempfile::tempdir().expect("a folder");
    let (source, program) = (dir.path().join("layout.c"), dir.path().join("layout"));
    let header = root().join("targets/xdp/include/carrick/layout.h");
    fs::write(&source, format!("#include \"{}\"\n{LAYOUT}", header.display())).expect("writable");
    let made = Command::new(cc::compiler())
        .arg("-I")
        .arg(root().join("runtime/include"))
        .args([&source, Path::new("-o"), &program])
        .status();
    assert!(made.is_ok_and(|s| s.success()), "it compiles");
    let said = Command::new(&program).output().expect("it runs");
    let said = String::from_utf8_lossy(&said.stdout);
    let said: Vec<usize> = said.split_whitespace().map(|n| n.parse().expect("a number")).collect();
    let asked = layout::Asked { kind: 7, ..layout::Asked::default() };
    let octets = asked.octets();
    assert_eq!(
        said,
        [
            head::CLOCK,
            head::KEY,
            head::ADDRESS,
            head::MTU,
            head::PACED,
            layout::STAGED,
            layout::STAGED_STREAM,
            layout::STAGED_OCTETS,
            layout::QUEUE as usize,
            head::TAKEN,
            head::BUSY,
            head::COUNTERS,
            layout::QUEUE_HEAD,
            layout::QUEUE_HEAD + 8,
            layout::AWAKE,
            layout::DUE,
            layout::LEAVING,
            layout::TIMER_OCTETS,
            kind::CALL.into(),
            kind::TIMER.into(),
            kind::PACKET.into(),
            layout::HOLD.into(),
            head::DEVICE,
            place::CONTEXTS,
            place::CONTEXT,
            place::PART_COUNT,
            place::PARTS,
            place::PART,
            place::LIVE,
            layout::COMPLETION as usize,
            octets.len(),
            octets.len() - 8 * layout::ARGUMENTS,
        ]
    );
}
