// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs in hardware: circuits that do what the interpreter does, and the chapter of the book.

mod wire;

use std::cell::RefCell;
use std::path::Path;
use std::process::Command;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use carrick_driver::compile_file;
use carrick_ir::{Program, counter};
use carrick_sim::Scenario;
use carrick_sim::compiled::CompiledProgram;
use carrick_sim::diff::{Pace, Via, diff_through};
use carrick_sim::observe::Nobody;
use carrick_sim::run_through;
use carrick_sim::scenario::{Engine, Way};
use carrick_targets::{ALL, hw};
use carrick_tests::build::{carrick, host, root};
use carrick_tests::document::{blocks, replay, run};
use carrick_tests::middle::{Middle, Place, flood};
use carrick_tests::net::{End, Net, lacks, lacks_circuits};
use carrick_tests::pattern;
use carrick_tests::running::{saying, serve};
use wire::Both;

/// Networks and applications in which a circuit does what the interpreter does with packets.
const SEEDS: u64 = 3;

/// What becomes of packets in these networks.
const SEEN: [&str; 10] = [
    "ip_short",
    "ip_version",
    "ip_length",
    "ip_checksum",
    "short",
    "bad_checksum",
    "bad_options",
    "rx_packets",
    "tx_packets",
    "tx_forwarded",
];

/// What more becomes of them where headers grow, and a processor decides on a packet twice.
const SEEN_LISTED: [&str; 2] = ["tx_too_long", "packet_gone"];

fn protocol(name: &str) -> Arc<Program> {
    let path = root().join(format!("protocols/{name}/{name}.mtp"));
    compile_file(&path).expect("readable").program.expect("right")
}

fn listed() -> Arc<Program> {
    let path = root().join("tests/tests/hardware/listed.mtp");
    compile_file(&path).expect("readable").program.expect("right")
}

/// Held while circuits are compiled, so that each is compiled once.
static COMPILING: Mutex<()> = Mutex::new(());

/// The chapter builds a circuit and compares two programs with the interpreter. What it builds has no warning.
#[test]
fn the_chapter_goes_as_it_says() {
    if lacks_circuits() {
        return;
    }
    let _alone = COMPILING.lock().unwrap_or_else(PoisonError::into_inner);
    let text = std::fs::read_to_string(root().join("docs/hardware.md")).expect("readable");
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    std::os::unix::fs::symlink(root().join("protocols"), dir.join("protocols")).expect("writable");
    let console = blocks(&text).into_iter().filter(|(language, _)| *language == "console");
    let commands: usize = console.map(|(_, block)| replay(dir, block)).sum();
    assert_eq!(commands, 12, "commands of the chapter");
    run(dir, "make -s -C out lint");
}

/// The circuit of a program in the network that has no timer has no warning.
#[test]
fn a_circuit_without_timers_has_no_warning() {
    if lacks_circuits() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let program = root().join("tests/tests/hardware/untimed.mtp");
    run(folder.path(), &format!("carrick build {} --target hw -o out", program.display()));
    run(folder.path(), "make -s -C out lint");
}

/// The modules that keep state do what their models do: queue, scoreboard, session table, calendar, timers, registers, snapshots, streams of packets.
#[test]
fn modules_are_as_their_models() {
    if lacks_circuits() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let made = run(&root().join("targets/hw/rtl-tests"), &format!("make -s OUT={}", folder.path().display()));
    assert!(made.contains("session_table: full at"), "{made}");
    assert!(made.contains("calendar: with 97 %"), "{made}");
    assert!(made.contains("timers: 10 dropped"), "{made}");
    assert!(made.contains("registers: "), "{made}");
    assert!(made.contains("snapshot: "), "{made}");
    assert!(made.contains("passing: a packet of 64 octets in 19.0 cycles"), "{made}");
}

/// A program in the network whose chains run in a circuit does what the interpreter does, where connections go through it.
#[test]
fn a_circuit_can_be_between_two_hosts() {
    if lacks_circuits() {
        return;
    }
    let _alone = COMPILING.lock().unwrap_or_else(PoisonError::into_inner);
    let (ends, proxy) = (protocol("tcp"), protocol("synproxy"));
    let cores = ALL.named("hw").expect("there is one").cores(&proxy, false).expect("it fits");
    let via = Via { program: &proxy, engine: &cores.engine(Pace::Asked), params: Vec::new() };
    let found = diff_through(&ends, &Engine::Interpreter, Some(&via), &Scenario::random(3)).expect("it runs");
    assert_eq!((found.difference, found.failures), (None, vec![]));
    assert!(found.packets > 100, "{} packets", found.packets);
    assert!(cores.refusal().is_none());
}

/// Options that end with a list are read and made in a circuit as in the interpreter.
#[test]
fn lists_in_options_go_through_a_circuit() {
    if lacks_circuits() {
        return;
    }
    let _alone = COMPILING.lock().unwrap_or_else(PoisonError::into_inner);
    let (ends, listed) = (protocol("tcp"), listed());
    let cores = ALL.named("hw").expect("there is one").cores(&listed, false).expect("it fits");
    let via = Via { program: &listed, engine: &cores.engine(Pace::Asked), params: Vec::new() };
    let found = diff_through(&ends, &Engine::Interpreter, Some(&via), &Scenario::random(3)).expect("it runs");
    assert_eq!((found.difference, found.failures), (None, vec![]));
    assert!(found.packets > 100, "{} packets", found.packets);
}

/// Both ends are interpreted; between them are the interpreter and a circuit, which get the same bytes, whole and damaged.
#[test]
fn packets_are_read_and_made_as_the_interpreter_does() {
    if lacks_circuits() {
        return;
    }
    let _alone = COMPILING.lock().unwrap_or_else(PoisonError::into_inner);
    assert_seen(&compared(&protocol("synproxy"), SEEDS), &SEEN);
}

/// The same with options that end with a list, and with headers that grow beyond what may leave.
#[test]
fn packets_with_lists_are_read_and_made_as_the_interpreter_does() {
    if lacks_circuits() {
        return;
    }
    let _alone = COMPILING.lock().unwrap_or_else(PoisonError::into_inner);
    let counted = compared(&listed(), 1);
    assert_seen(&counted, &SEEN);
    assert_seen(&counted, &SEEN_LISTED);
}

/// What became of packets between TCP's ends in so many networks, in a circuit and in the interpreter, which agree.
fn compared(between: &Arc<Program>, seeds: u64) -> Vec<u64> {
    let ends = protocol("tcp");
    let library = hw::core(between).expect("its packets fit");
    let circuit = CompiledProgram::load(&library.path, between).expect("it is a core");
    let counted = Rc::new(RefCell::new(Vec::new()));
    let all = counted.clone();
    let engine = Engine::Made(Rc::new(move |program: &Arc<Program>, config| {
        Ok(Box::new(Both::new(program, &circuit, config, all.clone())?))
    }));
    for seed in 0..seeds {
        let way = Way { program: between, engine: &engine, params: Vec::new() };
        let random = Scenario::random(seed);
        // A packet of 8 KB fills half of the circuit's store, and is dropped.
        let scenario = Scenario { mtu: random.mtu.min(1500), ..random };
        run_through(&ends, &Engine::Interpreter, Some(&way), &scenario, &mut Nobody, false).expect("it runs");
    }
    counted.take()
}

fn assert_seen(counted: &[u64], names: &[&str]) {
    for name in names {
        assert!(counted[counter(name)] > 0, "{name}: {counted:?}");
    }
}

/// Clients and server are Linux's. What the circuit lets pass is whole; who does not answer it does not reach the server.
#[test]
fn a_circuit_is_between_linux_hosts() {
    const FORGED: u16 = 300;
    if lacks_circuits() || lacks("curl") || lacks("python3") {
        return;
    }
    let Some(middle) = Middle::new() else { return };
    let _alone = COMPILING.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().expect("a folder");
    let mut data = vec![0; 100_000];
    pattern::fill(5, 0, &mut data);
    std::fs::write(folder.path().join("data"), &data).expect("writable");
    let mut server = middle.command(Place::Server, "python3");
    server
        .args(["-u", "-m", "http.server", "80", "--bind", Middle::SERVER, "--directory"])
        .arg(folder.path());
    let _server = serve(&mut server, "Serving HTTP");
    let library = hw::core(&protocol("synproxy")).expect("its packets fit");
    // As `carrick run` starts it, which compiles the host once more.
    let mut node = middle.command(Place::Node, &host("protocols/synproxy/synproxy.mtp").to_string_lossy());
    node.env("CARRICK_CORE", &library.path).args(Middle::ports(["packet", "packet"]));
    let (node, said) = saying(&mut node, "running between");
    let arrived = || middle.counter(Place::Server, "Tcp", "InSegs");
    let before = arrived();
    middle.inside(Place::Client, || flood(FORGED));
    let url = format!("http://{}/data", Middle::SERVER);
    let got = middle.command(Place::Client, "curl").args(["-sS", "--max-time", "30", &url]).output();
    let got = got.expect("curl runs");
    assert!(got.stdout == data, "{} bytes: {}", got.stdout.len(), String::from_utf8_lossy(&got.stderr));
    assert_eq!(middle.counter(Place::Server, "Tcp", "PassiveOpens"), 1);
    assert!(arrived() - before < u64::from(FORGED), "forged segments reached the server");
    assert!(node.end().success());
    let said: Vec<String> = said.collect();
    assert!(said.iter().any(|line| line.contains("tx_forwarded")), "{said:?}");
    snapshots_are_traced(&middle, &url);
}

/// Contexts of a circuit are shown as those of other stacks: after the first handshake, and that is all.
fn snapshots_are_traced(middle: &Middle, url: &str) {
    let mut trace = middle.command(Place::Node, &carrick().to_string_lossy());
    trace.arg("trace").arg(root().join("protocols/synproxy/synproxy.mtp"));
    trace.args(["--on", "begun", "--show", "id.client_port, life", "--most", "1"]);
    trace.args(["--target", "hw", "--run"]).args(Middle::ports(["packet", "packet"]));
    let (trace, said) = saying(&mut trace, "running between");
    let mut get = middle.command(Place::Client, "curl");
    let mut get =
        get.args(["-sS", "-o", "/dev/null", "--max-time", "30", "--local-port", "40000", url]).spawn();
    let said: Vec<String> = said.collect();
    assert!(trace.ended().success(), "{said:?}");
    assert!(said.iter().any(|line| line.contains(" stack event begun {} conn#0 (")), "{said:?}");
    assert!(said.iter().any(|line| line.contains("    id.client_port=40000 life=")), "{said:?}");
    // What was between them is gone.
    let _ = get.as_mut().expect("curl runs").kill();
    let _ = get.expect("curl runs").wait();
}

/// An endpoint whose chains run in a circuit: `carrick run` on our device of a net, with these applications and options.
fn in_circuit(net: &Net, program: &str, words: &[&str]) -> Command {
    let mut command = net.command(End::Ours, &carrick().to_string_lossy());
    command.args(["run", program, "--target", "hw", "--port", &net.port()]);
    command.args(["--addr", &format!("{}/24", Net::OURS)]).args(words).current_dir(root());
    command
}

/// The peer's chains run natively. Packets are lost and exchanged; each message arrives once all the same.
#[test]
fn a_circuit_sends_messages_to_a_native_stack() {
    const PROGRAM: &str = "protocols/stop-and-wait/stop-and-wait.mtp";
    if lacks_circuits() {
        return;
    }
    let Some(net) = Net::new() else { return };
    let _alone = COMPILING.lock().unwrap_or_else(PoisonError::into_inner);
    let mut peer = net.command(End::Peer, &host(PROGRAM).to_string_lossy());
    peer.args(["--port", &net.port(), "--addr", &format!("{}/24", Net::PEER_STACK)]);
    peer.args(["--app", &format!("messages:{}:4:64:0", Net::OURS)]);
    let (peer, from_peer) = saying(&mut peer, "messages: 4 conversations");
    let app = format!("messages:{}:4:64:200", Net::PEER_STACK);
    let fault = "loss=2%,reorder=2%,dup=2%,seed=3";
    let mut ours = in_circuit(&net, PROGRAM, &["--app", &app, "--fault", fault]);
    let output = ours.output().expect("carrick runs");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && said.contains("messages: 200 of 64 bytes in "), "{output:?}");
    assert!(peer.end().success());
    let counted = |line: &String| Some(line.strip_prefix("rx_packets")?.trim().parse::<u32>().ok()? >= 200);
    assert!(from_peer.into_iter().any(|line| counted(&line) == Some(true)), "the peer received less");
    // Events of the circuit are traced.
    let mut trace = net.command(End::Ours, &carrick().to_string_lossy());
    trace.args([
        "trace", PROGRAM, "--on", "send_req", "--show", "number", "--most", "1", "--target", "hw", "--run",
    ]);
    trace.args(["--port", &net.port(), "--addr", &format!("{}/24", Net::OURS), "--app", &app]);
    let output = trace.current_dir(root()).output().expect("carrick runs");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains(" stack event send_req "), "{output:?}");
}

/// The whole of TCP's chains is in a circuit; the client is Linux's.
#[test]
fn a_tcp_in_a_circuit_serves_curl() {
    if lacks_circuits() || lacks("curl") {
        return;
    }
    let Some(net) = Net::new() else { return };
    let _alone = COMPILING.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().expect("a folder");
    let mut data = vec![0; 200_000];
    pattern::fill(6, 0, &mut data);
    std::fs::write(folder.path().join("data"), &data).expect("writable");
    let app = format!("http:{}", folder.path().display());
    let mut ours = in_circuit(&net, "protocols/small-tcp/small-tcp.mtp", &["--app", &app]);
    let (ours, said) = saying(&mut ours, "listening on port 80");
    let url = format!("http://{}/data", Net::OURS);
    let got = net.command(End::Peer, "curl").args(["-sS", "--max-time", "60", &url]).output();
    let got = got.expect("curl runs");
    assert!(got.stdout == data, "{} bytes: {}", got.stdout.len(), String::from_utf8_lossy(&got.stderr));
    assert!(ours.end().success());
    assert!(said.into_iter().any(|line| line.starts_with("rx_packets")));
}

/// A clock that the stages of a pipeline cannot hold is refused: with the pipeline, its delay and the stages that are enough.
#[test]
fn a_clock_that_is_too_fast_is_refused() {
    if lacks_circuits() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let build = |stages: &str, model: &str, status: i32| {
        let own = ALL.find("hw").expect("there is one").file();
        let model = format!("delay_model = \"{model}\"\nclock_mhz = 500");
        let file = own.replace("delay_model = \"sky130\"", &model);
        let file = file.replace("stages = 8", &format!("stages = {stages}"));
        std::fs::write(folder.path().join("fast.toml"), file).expect("writable");
        let program = root().join("tests/tests/hardware/untimed.mtp");
        let line = format!("carrick build {} --target fast.toml -o out", program.display());
        run(folder.path(), &format!("{line}; test $? = {status}"))
    };
    let said = build("4", "sky130", 2);
    assert!(said.contains("too slow for `clock_mhz = 500`: a stage may take 2000 ps"), "{said}");
    assert!(said.contains("untimed.mtp:21:6: the parser of packets takes about "), "{said}");
    assert!(said.contains(" ps in the slowest of its 4 stages\n"), "{said}");
    assert!(!said.contains("the chain of `seen`"), "{said}");
    let (_, stages) = said.split_once("set `stages = ").expect(&said);
    build(stages.split_once('`').expect(&said).0, "sky130", 0);
    let said = build("4", "unit", 2);
    assert!(said.contains("`clock_mhz` needs a `delay_model` whose delays are times"), "{said}");
}

/// No function or variable of a program gets the name of a function that the emitter writes.
#[test]
fn names_of_the_emitter_are_taken() {
    let read = |path: &Path| std::fs::read_to_string(path).expect("readable");
    let folder = root().join("targets/hw/dslx");
    let taken = read(&folder.join("names.rs"));
    let mut functions = 0;
    for entry in std::fs::read_dir(&folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let before = if path.extension().is_some_and(|kind| kind == "x") { "fn " } else { "\"fn " };
        for behind in read(&path).split(before).skip(1) {
            let letter = |c: char| c.is_ascii_lowercase() || c == '_';
            let (name, rest) = behind.split_at(behind.find(|c| !letter(c)).unwrap_or(0));
            // The rest are made of the program's own names.
            if rest.starts_with(['(', '<']) {
                assert!(taken.contains(&format!("\"{name}\"")), "{name} of {}", path.display());
                functions += 1;
            }
        }
    }
    assert!(functions > 15, "{functions}");
}

/// A machine without XLS is told how to get it.
#[test]
fn a_missing_library_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    std::os::unix::fs::symlink(root().join("protocols"), dir.join("protocols")).expect("writable");
    let build = "carrick build protocols/synproxy/synproxy.mtp --target hw -o out";
    let said = run(dir, &format!("CARRICK_XLS=/nowhere/libxls.so {build} || test $? = 3"));
    assert!(said.contains("cannot load XLS from /nowhere/libxls.so"), "{said}");
    assert!(said.contains("`scripts/setup` installs it"), "{said}");
}
