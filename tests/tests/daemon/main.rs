// SPDX-License-Identifier: MIT OR Apache-2.0
//! `carrickd`: programs that stay in the kernel when their daemon dies, go when it is told to end, and are not there at all
//! where something is missing.
//!
//! Each test has network namespaces, a BPF file system and folders of its own. Each that cannot run here says so.

mod lost;

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader, Lines, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};

use carrick_tests::build::{carrickd, root};
use carrick_tests::in_kernel::{ASK, Pins, answering, enable_veth_redirect};
use carrick_tests::net::{DEVICE, End, Net, skip};
use carrick_tests::running::{Running, saying, started};
use carrick_xdp_loader::machine;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use serde_json::Value;

/// Where a daemon is tried out. (What stands first is removed first.)
struct House {
    pins: Pins,
    net: Net,
    dir: tempfile::TempDir,
}

impl House {
    fn new() -> Option<House> {
        let net = Net::kernel_on_both()?;
        machine::suits().map_err(|missing| skip(&missing.to_string())).ok()?;
        if Command::new("clang").arg("--version").output().is_err() {
            skip("clang is missing");
            return None;
        }
        let dir = tempfile::tempdir().expect("a folder");
        fs::set_permissions(dir.path(), Permissions::from_mode(0o755)).expect("it is ours");
        answering(dir.path());
        Some(House { pins: Pins::new(dir.path().join("bpf")), net, dir })
    }

    /// The configuration with one program, on this device.
    fn on(&self, device: &str) -> PathBuf {
        self.configured(&format!(
            "[[program]]\nfile = \"least.mtp\"\ndevice = {device:?}\naddress = \"{}/24\"\n",
            Net::OURS
        ))
    }

    fn configured(&self, text: &str) -> PathBuf {
        let path = self.dir.path().join("carrickd.toml");
        fs::write(&path, text).expect("writable");
        path
    }

    fn file(&self) -> PathBuf {
        self.dir.path().join("least.mtp")
    }

    fn pinned(&self) -> PathBuf {
        self.pins.path().join("carrick")
    }

    fn places(&self) -> [PathBuf; 4] {
        ["--pins".into(), self.pinned(), "--state".into(), self.dir.path().join("state")]
    }

    /// A command of the daemon's, at our end.
    fn carrickd(&self, verb: &str) -> Command {
        let mut command = self.net.command(End::Ours, &carrickd().to_string_lossy());
        command.arg(verb).args(self.places());
        command
    }

    /// A daemon that is ready, and told this before.
    fn daemon(&self, config: &Path, told: &str) -> Running {
        let (running, mut lines) = started(self.carrickd("run").arg(config));
        let before: Vec<String> = lines.by_ref().take_while(|line| line != "info: ready").collect();
        assert!(before.iter().any(|line| line.contains(told)), "{told} in {before:?}");
        std::thread::spawn(move || lines.for_each(drop));
        running
    }

    fn status(&self) -> Value {
        let output = self.carrickd("status").args(["--format", "json"]).output().expect("it starts");
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice(&output.stdout).expect("JSON")
    }

    /// What the peer is answered when it sends these numbers.
    fn asked(&self, numbers: &str) -> String {
        let mut ask = self.net.command(End::Peer, "python3");
        let output =
            ask.args(["-c", ASK, Net::OURS]).args(numbers.split(' ')).output().expect("python3 runs");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8_lossy(&output.stdout).trim_end().replace('\n', " ")
    }

    /// Lets frames that a program sends by itself come to the peer.
    fn redirects(&self) {
        let gro = self.net.command(End::Peer, "ethtool").args(["-K", DEVICE, "gro", "on"]).status();
        assert!(gro.is_ok_and(|s| s.success()), "what is sent from the kernel is handed over");
    }

    /// Whether there is a program at our device.
    fn is_attached(&self) -> bool {
        let shown =
            self.net.command(End::Ours, "ip").args(["link", "show", DEVICE]).output().expect("ip runs");
        String::from_utf8_lossy(&shown.stdout).contains("xdp")
    }

    /// Nothing of a daemon is left.
    fn is_as_before(&self) {
        assert!(!self.is_attached(), "the device is as it was");
        assert!(!self.pinned().exists(), "nothing is pinned");
        assert!(!self.dir.path().join("state").exists(), "nothing is built");
    }

    /// The one sentence with which a command ends that can do nothing; its exit code is 3.
    fn missing(&self, command: &mut Command) -> String {
        let (code, said) = refusal(command);
        assert_eq!(code, 3, "{said}");
        said
    }
}

impl Drop for House {
    fn drop(&mut self) {
        // Of a test that failed between two daemons something may be left, which is not only pinned.
        let _ = self.carrickd("clean").output();
    }
}

/// How a command ends that can do nothing: its exit code, and its one sentence.
fn refusal(command: &mut Command) -> (i32, String) {
    let output = command.output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let mut sentences = said.lines().filter_map(|line| line.strip_prefix("error: "));
    let sentence = sentences.next().unwrap_or_else(|| panic!("an error: {output:?}")).to_owned();
    assert_eq!(sentences.next(), None, "one alone");
    (output.status.code().expect("it ends by itself"), sentence)
}

fn kill(daemon: Running, signal: &str) {
    let told = Command::new("kill").args([signal, &daemon.id().to_string()]).status();
    assert!(told.is_ok_and(|s| s.success()), "it was there");
    let status = daemon.ended();
    assert_eq!(status.success(), signal != "-KILL", "{status}");
}

#[test]
fn an_application_that_cannot_work_with_its_program_is_refused_at_the_start() {
    let Some(house) = House::new() else { return };
    let calls = root().join("tests/tests/kernel_host/asking.mtp");
    let text = fs::read_to_string(house.on(DEVICE)).expect("readable");
    let text = text.replace("least.mtp", &calls.display().to_string());
    let config = house.configured(&format!("{text}app = \"echo:7\"\n"));
    let (code, said) = refusal(house.carrickd("run").arg(&config));
    assert_eq!(code, 2, "{said}");
    assert!(said.starts_with("asking cannot begin with the application echo:7"), "{said}");
    house.is_as_before();
}

#[test]
fn a_daemon_goes_on_with_the_connections_of_a_dead_one() {
    let Some(house) = House::new() else { return };
    let config = house.on(DEVICE);
    enable_veth_redirect(&house.net);
    let first = house.daemon(&config, &format!("least is on {DEVICE}"));
    assert_eq!(house.asked("0 7 5"), "7 12 refused");
    let connections = house.carrickd("status").arg("--connections").output().expect("it starts");
    let shown = String::from_utf8_lossy(&connections.stdout);
    let line = format!("    conn (remote_ip={}, local_ip={})", Net::PEER, Net::OURS);
    assert!(shown.lines().any(|l| l == line), "{line} in:\n{shown}");
    let before = house.status();
    let program = &before["programs"][0];
    assert_eq!(program["instances"][0]["open"], 1, "{before}");
    assert_eq!(program["instances"][0]["capacity"], 16, "{before}");
    assert_eq!(
        (&program["counters"]["rx_packets"], &program["found"]),
        (&3.into(), &false.into()),
        "{before}"
    );
    kill(first, "-KILL");
    assert_eq!(house.asked("30"), "42 refused", "the kernel needs no daemon");
    let alone = house.missing(&mut house.carrickd("status"));
    assert!(alone.contains("no carrickd listens") && alone.contains("but least is pinned"), "{alone}");
    let second = house.daemon(&config, &format!("least is on {DEVICE}, as the last daemon left it"));
    assert_eq!(house.asked("1"), "43 refused");
    let after = house.status();
    let program = &after["programs"][0];
    assert_eq!(program["instances"], before["programs"][0]["instances"]);
    assert_eq!((&program["counters"]["rx_packets"], &program["found"]), (&5.into(), &true.into()), "{after}");
    kill(second, "-USR1");
    let third = house.daemon(&config, "as the last daemon left it");
    assert_eq!(house.asked("1"), "44 refused");
    assert!(third.end().success());
    house.is_as_before();
}

/// A process that is not there after its test.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        // If it has ended by then, there is nothing to kill.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// An application that connects when it is told to, and a peer that lets it.
struct Asking<'h> {
    house: &'h House,
    config: PathBuf,
    daemon: Ended,
    script: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
    log: Lines<BufReader<ChildStderr>>,
    _peer: Running,
}

impl Asking<'_> {
    fn new(house: &House) -> Asking<'_> {
        house.redirects();
        let files = root().join("tests/tests/kernel_host");
        let mut peer = house.net.command(End::Peer, "python3");
        let (_peer, mut heard) = started(peer.arg(files.join("peer.py")));
        assert_eq!(heard.next().as_deref(), Some("ready"));
        std::thread::spawn(move || heard.for_each(drop));
        let text = fs::read_to_string(house.on(DEVICE)).expect("readable");
        let text = text.replace("least.mtp", &files.join("asking.mtp").display().to_string());
        let config = house.configured(&format!("{text}app = \"script:-\"\n"));
        let mut daemon = house.carrickd("run");
        let daemon = daemon.arg(&config).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut daemon = daemon.spawn().expect("it starts");
        let script = daemon.stdin.take().expect("piped");
        let answers = BufReader::new(daemon.stdout.take().expect("piped")).lines();
        let mut log = BufReader::new(daemon.stderr.take().expect("piped")).lines();
        let daemon = Ended(daemon);
        assert!(log.any(|line| line.is_ok_and(|line| line == "info: ready")), "it is ready");
        Asking { house, config, daemon, script, answers, log, _peer }
    }

    /// Connects to the peer, through whatever process the application is by now.
    fn connects(&mut self) {
        writeln!(self.script, "connect {} 7", Net::PEER).expect("it reads");
        let answer = self.answers.next().expect("it answers").expect("UTF-8");
        assert_eq!(answer, "ok");
    }

    /// Waits until the daemon says this.
    fn says(&mut self, what: &str) {
        let found = self.log.by_ref().map_while(Result::ok).any(|line| line == what);
        assert!(found, "{what}");
    }

    /// Ends the daemon; whether it did so in order.
    fn end(self) -> bool {
        let Asking { mut daemon, .. } = self;
        told(&daemon.0.id().into(), "-TERM");
        daemon.0.wait().is_ok_and(|status| status.success())
    }

    /// The application, as the daemon tells.
    fn application(&self) -> Value {
        self.house.status()["programs"][0]["applications"][0].clone()
    }

    fn connections(&self) -> Value {
        self.house.status()["programs"][0]["instances"][0]["open"].clone()
    }
}

fn told(process: &Value, signal: &str) {
    let told = Command::new("kill").args([signal, &process.to_string()]).status();
    assert!(told.is_ok_and(|s| s.success()), "{process} was there");
}

/// Kills a process that is not ours to wait for, and waits until it has given all back.
fn killed(process: &Value) {
    let pid = process.as_i64().and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?)).expect("a process");
    let handle = pidfd_open(pid, PidfdFlags::empty()).expect("it is there");
    told(process, "-KILL");
    let ended = poll(&mut [PollFd::new(&handle, PollFlags::IN)], None);
    assert_eq!(ended.expect("it ends"), 1);
}

/// Whether there is such a process that has not ended, be it waited for or not.
fn is_alive(process: &Value) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

#[test]
fn an_application_that_dies_is_started_again() {
    let Some(house) = House::new() else { return };
    let mut asking = Asking::new(&house);
    asking.connects();
    let first = asking.application();
    assert_eq!((&first["app"], &first["starts"]), (&"script:-".into(), &1.into()));
    told(&first["process"], "-KILL");
    let again = |line: String| line.contains("it is started again in 100 ms");
    assert!(asking.log.by_ref().map_while(Result::ok).any(again), "that is told");
    asking.connects();
    let second = asking.application();
    assert!(second["starts"] == 2 && second["process"] != first["process"], "{second}");
    assert_eq!(asking.connections(), 1, "what the dead one had is taken back");
    told(&asking.daemon.0.id().into(), "-KILL");
    assert!(asking.daemon.0.wait().is_ok_and(|s| !s.success()));
    killed(&second["process"]);
    let last = house.daemon(&asking.config, "warn: the application of asking is gone");
    assert_eq!(asking.connections(), 0, "and what it had");
    let third = asking.application();
    assert!(last.end().success());
    assert!(!is_alive(&third["process"]), "it ended before its daemon");
    house.is_as_before();
}

#[test]
fn an_application_outlives_its_daemon_and_the_next_one_finds_it() {
    let Some(house) = House::new() else { return };
    let mut asking = Asking::new(&house);
    asking.connects();
    let before = asking.application();
    told(&asking.daemon.0.id().into(), "-KILL");
    assert!(asking.daemon.0.wait().is_ok_and(|s| !s.success()));
    asking.connects();
    let next = house.daemon(&asking.config, &format!("asking is on {DEVICE}, as the last daemon left it"));
    let after = asking.application();
    assert_eq!((&after["starts"], &after["process"]), (&0.into(), &before["process"]));
    asking.connects();
    assert_eq!(asking.connections(), 3);
    kill(next, "-KILL");
    assert!(is_alive(&before["process"]), "again");
    let cleaned = house.carrickd("clean").output().expect("it starts");
    assert_eq!(String::from_utf8_lossy(&cleaned.stdout), "asking is taken away\n", "{cleaned:?}");
    assert!(!is_alive(&before["process"]), "it is taken away too");
    house.is_as_before();
}

/// Sends random bytes over one connection each time that a line comes, and says whether the same come back.
const ECHOED: &str = "
import os, socket, sys
s = socket.create_connection((sys.argv[1], 7), 10)
s.settimeout(20)
for line in sys.stdin:
    sent, back = os.urandom(int(line)), b''
    s.sendall(sent)
    while len(back) < len(sent):
        got = s.recv(65536)
        if not got:
            break
        back += got
    print('the same' if back == sent else 'other ones', flush=True)
s.shutdown(socket.SHUT_WR)
print('closed' if s.recv(1) == b'' else 'not closed', flush=True)
";

/// A connection of the kernel's own TCP, with the program's units of data at our end.
#[test]
fn a_stream_goes_on_while_daemons_die() {
    let Some(house) = House::new() else { return };
    enable_veth_redirect(&house.net);
    let text = fs::read_to_string(house.on(DEVICE)).expect("readable");
    let text = text.replace("least.mtp", &root().join("protocols/tcp/tcp.mtp").display().to_string());
    let config = house.configured(&format!("{text}app = \"echo:7\"\nset = [\"max_conns=16\"]\n"));
    let mut daemon = house.daemon(&config, &format!("tcp is on {DEVICE}"));
    let mut client = house.net.command(End::Peer, "python3");
    let client = client.args(["-u", "-c", ECHOED, Net::OURS]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut client = Ended(client.spawn().expect("python3 runs"));
    let mut orders = client.0.stdin.take().expect("piped");
    let mut said = BufReader::new(client.0.stdout.take().expect("piped")).lines().map_while(Result::ok);
    let mut echo = |octets: &str| {
        writeln!(orders, "{octets}").expect("it reads");
        assert_eq!(said.next().as_deref(), Some("the same"));
    };
    for signal in ["-KILL", "-USR1"] {
        echo("100000");
        kill(daemon, signal);
        echo("100000");
        daemon = house.daemon(&config, &format!("tcp is on {DEVICE}, as the last daemon left it"));
    }
    echo("100000");
    let status = house.status();
    assert_eq!(status["programs"][0]["applications"][0]["starts"], 0, "{status}");
    drop(orders);
    assert_eq!(said.next().as_deref(), Some("closed"));
    assert!(daemon.end().success());
    house.is_as_before();
}

/// Sends a word over a connection, and prints what comes back.
const WORD: &str = "
import socket, sys
s = socket.create_connection((sys.argv[1], 7), 10)
s.settimeout(10)
s.sendall(b'hello')
print(s.recv(5).decode())
";

/// Each keeps its connections while the daemon dies, and one goes without the other.
#[test]
fn two_programs_are_on_one_device() {
    let Some(house) = House::new() else { return };
    enable_veth_redirect(&house.net);
    let least = fs::read_to_string(house.on(DEVICE)).expect("readable");
    let streams = least.replace("least.mtp", &root().join("protocols/tcp/tcp.mtp").display().to_string());
    let streams = format!("{streams}app = \"echo:7\"\nset = [\"max_conns=16\"]\n");
    let config = house.configured(&format!("{least}{streams}"));
    let answers = |numbers: &str, sum: u32| {
        let mut word = house.net.command(End::Peer, "python3");
        let output = word.args(["-c", WORD, Net::OURS]).output().expect("python3 runs");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "hello\n", "{output:?}");
        assert_eq!(house.asked(numbers), format!("{sum} refused"));
    };
    let daemon = house.daemon(&config, &format!("least is on {DEVICE}"));
    answers("0 7", 7);
    kill(daemon, "-KILL");
    answers("5", 12);
    let third = house.configured(&format!("{least}name = \"other\"\n{streams}"));
    let said = house.missing(house.carrickd("run").arg(third));
    assert!(said.contains("IP protocol 253 on this device are for least of carrickd"), "{said}");
    let config = house.configured(&format!("{least}{streams}"));
    let daemon = house.daemon(&config, &format!("tcp is on {DEVICE}, as the last daemon left it"));
    answers("1", 13);
    assert_eq!(house.status()["programs"].as_array().map(Vec::len), Some(2));
    kill(daemon, "-USR1");
    let cleaned = house.carrickd("clean").arg("tcp").output().expect("it starts");
    assert_eq!(String::from_utf8_lossy(&cleaned.stdout), "tcp is taken away\n", "{cleaned:?}");
    assert_eq!(house.asked("1"), "14 refused", "the other one goes on");
    assert!(house.is_attached());
    let daemon = house.daemon(&config, &format!("least is on {DEVICE}, as the last daemon left it"));
    assert_eq!(house.asked("1"), "15 refused");
    assert!(daemon.end().success());
    house.is_as_before();
}

/// A configuration is brought in as a whole, and programs that are in both run on.
#[test]
fn a_changed_configuration_is_read_again_or_left_alone() {
    let Some(house) = House::new() else { return };
    enable_veth_redirect(&house.net);
    let text = fs::read_to_string(house.file()).expect("readable");
    let other = text.replace("protocol = 253", "protocol = 254");
    assert_ne!(other, text);
    fs::write(house.dir.path().join("other.mtp"), other).expect("writable");
    let one = fs::read_to_string(house.on(DEVICE)).expect("readable");
    let two = format!("{one}{}", one.replace("least", "other"));
    let (daemon, mut lines) = started(house.carrickd("run").arg(house.configured(&one)));
    assert!(lines.any(|line| line == "info: ready"), "it is ready");
    assert_eq!(house.asked("0 7"), "7 refused");
    let mut reload = |text: &str, says: &str, names: &[&str]| {
        house.configured(text);
        told(&daemon.id().into(), "-HUP");
        let line = lines.find(|line| line.contains("configuration")).expect("it says how that ended");
        assert!(line.contains(says), "{line}");
        let programs = house.status()["programs"].clone();
        let there: Vec<_> = programs.as_array().expect("a list").iter().map(|one| &one["name"]).collect();
        assert_eq!(there, names);
    };
    let stays = "the configuration stays as it was: ";
    reload(&format!("{two}rate = \"fast\"\n"), stays, &["least"]);
    reload(&one.replace(Net::OURS, "10.77.0.9"), "least has changed", &["least"]);
    // The second one is for the same packets, and is refused only when it is attached.
    reload(&format!("{one}{one}name = \"same\"\n"), "are for least of carrickd", &["least"]);
    reload(&two, "info: another configuration", &["least", "other"]);
    reload(&one.replace("least", "other"), "info: another configuration", &["other"]);
    assert!(!house.pinned().join("least").exists() && house.is_attached(), "one is gone, and one is there");
    reload(&two, "info: another configuration", &["other", "least"]);
    assert_eq!(house.asked("0 7"), "7 refused", "it began anew");
    reload(&one, "info: another configuration", &["least"]);
    assert_eq!(house.asked("5"), "12 refused", "it went on");
    assert!(daemon.end().success());
    house.is_as_before();
}

#[test]
fn a_daemon_that_cannot_tell_metrics_leaves_nothing() {
    let Some(house) = House::new() else { return };
    let taken = "import socket; s = socket.create_server(('127.0.0.1', 9464)); print('bound'); s.accept()";
    let mut other = house.net.command(End::Ours, "python3");
    let (_other, _lines) = saying(other.args(["-u", "-c", taken]), "bound");
    let config = format!("metrics = 9464\n{}", fs::read_to_string(house.on(DEVICE)).expect("readable"));
    let said = house.missing(house.carrickd("run").arg(house.configured(&config)));
    assert!(said.contains("choose another port for `metrics`"), "{said}");
    house.is_as_before();
}

#[test]
fn a_daemon_that_is_ended_while_it_starts_leaves_nothing() {
    let Some(house) = House::new() else { return };
    let config = house.on(DEVICE);
    for signal in ["-TERM", "-USR1"] {
        let mut command = house.carrickd("run");
        let (daemon, _lines) = saying(command.arg(&config).args(["--log", "debug"]), "least will have");
        kill(daemon, signal);
        house.is_as_before();
    }
}

#[test]
fn rates_are_read_and_told() {
    let Some(house) = House::new() else { return };
    enable_veth_redirect(&house.net);
    let text = fs::read_to_string(house.on(DEVICE)).expect("readable");
    let wrong = house.configured(&format!("{text}rate = \"fast\"\n"));
    let (code, said) = refusal(house.carrickd("run").arg(wrong));
    assert_eq!(code, 2);
    assert!(said.contains("\"fast\" is not a rate; write it like 100Mbps or 10Gbps"), "{said}");
    let config = house.configured(&format!("{text}rate = \"1Mbps\"\nflow_rate = \"500Kbps\"\n"));
    let daemon = house.daemon(&config, "");
    assert_eq!(house.asked("0 7 8"), "7 15 refused");
    let of = &house.status()["programs"][0]["rates"][0];
    assert_eq!((&of["user"], &of["flow_rate"]), (&Value::Null, &Value::from(500_000)));
    assert_eq!((&of["packets"], &of["bytes"], &of["refused"]), (&2.into(), &48.into(), &0.into()));
    assert!(daemon.end().success());
    house.is_as_before();
}

#[test]
fn what_a_dead_daemon_left_of_another_program_is_told_and_taken_away_when_asked() {
    let Some(house) = House::new() else { return };
    let config = house.on(DEVICE);
    kill(house.daemon(&config, "least is on"), "-KILL");
    let text = fs::read_to_string(house.file()).expect("readable");
    fs::write(house.file(), text.replace("c.count += e.n", "c.count += e.n + 1")).expect("writable");
    let (code, said) = refusal(house.carrickd("run").arg(&config));
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("is what a dead daemon left, with a program that has changed, or that another version of Carrick has built: source "), "{said}");
    assert!(said.contains("`carrickd clean least` takes it away"), "{said}");
    assert!(house.is_attached(), "it is still there");
    let (code, said) = refusal(house.carrickd("clean").arg("most"));
    assert_eq!((code, said.contains("most is not pinned")), (2, true), "{said}");
    let cleaned = house.carrickd("clean").arg("least").output().expect("it starts");
    assert_eq!(String::from_utf8_lossy(&cleaned.stdout), "least is taken away\n", "{cleaned:?}");
    assert!(!house.is_attached() && !house.pinned().exists());
    assert!(house.daemon(&config, "least is on").end().success(), "nothing is in the way");
    house.is_as_before();
}

#[test]
fn what_a_daemon_left_that_died_on_the_way_is_begun_anew() {
    let Some(house) = House::new() else { return };
    fs::create_dir_all(house.pinned().join("least/maps")).expect("writable");
    let daemon = house.daemon(&house.on(DEVICE), "warn: least is pinned in part");
    assert_eq!(house.status()["programs"][0]["found"], false);
    assert!(daemon.end().success());
    house.is_as_before();
}

#[test]
fn a_second_daemon_is_none() {
    let Some(house) = House::new() else { return };
    let config = house.on(DEVICE);
    let first = house.daemon(&config, "least is on");
    let said = house.missing(house.carrickd("run").arg(&config));
    assert!(said.starts_with("another carrickd has ") && said.contains("systemctl stop carrickd"), "{said}");
    let said = house.missing(&mut house.carrickd("clean"));
    assert!(said.starts_with("another carrickd has "), "{said}");
    assert_eq!(house.status()["programs"][0]["attached"], true, "the first one goes on");
    assert!(first.end().success());
    house.is_as_before();
}

/// Sends 0 from each address, of which each would be a connection, and then asks from the first.
const CROWD: &str = "
import socket, struct, sys
sockets = []
for address in sys.argv[2:]:
    s = socket.socket(socket.AF_INET, socket.SOCK_RAW, 253)
    s.bind((address, 0))
    s.settimeout(10)
    s.sendto(struct.pack('!I', 0), (sys.argv[1], 0))
    sockets.append(s)
sockets[0].sendto(struct.pack('!I', 7), (sys.argv[1], 0))
print(struct.unpack('!I', sockets[0].recv(2000)[20:24])[0])
";

#[test]
fn who_finds_no_place_any_more_is_counted_and_who_has_one_keeps_it() {
    let Some(house) = House::new() else { return };
    enable_veth_redirect(&house.net);
    let text = fs::read_to_string(house.file()).expect("readable");
    fs::write(house.file(), text.replace("(conn, 16)", "(conn, 2)")).expect("writable");
    let config = house.on(DEVICE);
    let metrics = format!("metrics = 9464\n{}", fs::read_to_string(&config).expect("readable"));
    let daemon = house.daemon(&house.configured(&metrics), "metrics are at http://127.0.0.1:9464/metrics");
    for address in ["10.77.0.11", "10.77.0.12"] {
        house.net.ip(End::Peer, &format!("addr add {address}/24 dev {DEVICE}")).expect("it is taken");
    }
    let mut crowd = house.net.command(End::Peer, "python3");
    let crowd = crowd.args(["-c", CROWD, Net::OURS, Net::PEER, "10.77.0.11", "10.77.0.12"]).output();
    let crowd = crowd.expect("python3 runs");
    assert_eq!(String::from_utf8_lossy(&crowd.stdout), "7\n", "{crowd:?}");
    let status = house.status();
    let program = &status["programs"][0];
    assert_eq!(program["counters"]["ctx_refused"], 1, "{status}");
    assert_eq!(program["instances"][0]["open"], 2, "{status}");
    let read =
        "import urllib.request as r; print(r.urlopen('http://127.0.0.1:9464/metrics').read().decode())";
    let told = house.net.command(End::Ours, "python3").args(["-c", read]).output().expect("python3 runs");
    let told = String::from_utf8_lossy(&told.stdout);
    for line in [
        "carrick_events_total{program=\"least\",counter=\"ctx_refused\"} 1",
        "carrick_instances{program=\"least\",context=\"conn\"} 2",
        "carrick_instances_max{program=\"least\",context=\"conn\"} 2",
    ] {
        assert!(told.lines().any(|l| l == line), "{line} in:\n{told}");
    }
    let shown = house.carrickd("status").output().expect("it starts");
    let shown = String::from_utf8_lossy(&shown.stdout);
    assert!(shown.lines().any(|line| line == "  conn                 2 of 2"), "{shown}");
    assert!(daemon.end().success());
    house.is_as_before();
}

#[test]
fn a_device_that_takes_no_program_is_left_as_it_is() {
    let Some(house) = House::new() else { return };
    let run = |device: &str| house.missing(house.carrickd("run").arg(house.on(device)));
    assert_eq!(run("nowhere0"), "there is no device nowhere0; `ip link` lists those that there are");
    house.is_as_before();
    assert!(run("lo").starts_with("the driver of lo has no XDP; choose a device"));
    house.is_as_before();
    let script = root().join("scripts/enable-veth-redirect");
    let other = house.net.command(End::Ours, &script.to_string_lossy()).arg(DEVICE).status();
    assert!(other.is_ok_and(|s| s.success()), "the device has another program");
    let said = run(DEVICE);
    assert!(said.starts_with(&format!("{DEVICE} has an XDP program already")), "{said}");
    assert!(said.contains(&format!("ip link set {DEVICE} xdp off")), "{said}");
    assert!(house.is_attached(), "the other one is still there");
    house.net.ip(End::Ours, &format!("link set dev {DEVICE} xdp off")).expect("it goes");
    house.is_as_before();
}

/// One program that is right does not stay if the next one is wrong.
#[test]
fn what_does_not_fit_is_refused_and_what_came_before_it_is_undone() {
    let Some(house) = House::new() else { return };
    let structures = root().join("tests/programs/structures.mtp");
    let text = fs::read_to_string(house.on(DEVICE)).expect("readable");
    let two = text.replace("least.mtp", &structures.display().to_string());
    let (code, said) = refusal(house.carrickd("run").arg(house.configured(&format!("{text}{two}"))));
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("is not right, or not for the kernel"), "{said}");
    house.is_as_before();
    let other = text.replace(DEVICE, "lo").replace("\n[[program]]", "");
    let both = format!("{text}{other}name = \"other\"\n");
    let said = house.missing(house.carrickd("run").arg(house.configured(&both)));
    assert!(said.starts_with("the driver of lo has no XDP"), "{said}");
    house.is_as_before();
}

#[test]
fn who_may_not_is_told_so() {
    let Some(house) = House::new() else { return };
    let own = house.dir.path().join("carrickd");
    fs::copy(carrickd(), &own).expect("writable");
    for verb in ["run", "clean"] {
        let mut command = Command::new("setpriv");
        command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]).arg(&own).arg(verb);
        if verb == "run" {
            command.arg(house.on(DEVICE));
        }
        let said = house.missing(command.args(house.places()));
        assert!(
            said.contains("operation not permitted")
                && said.contains("CAP_BPF, CAP_PERFMON, CAP_NET_ADMIN and CAP_NET_RAW"),
            "{said}"
        );
    }
    house.is_as_before();
}

/// Root that is nothing but what the refusal names.
#[test]
fn who_has_the_capabilities_that_are_named_may() {
    let Some(house) = House::new() else { return };
    let mut command = house.net.command(End::Ours, "setpriv");
    let capabilities = "-all,+bpf,+perfmon,+net_admin,+net_raw";
    command.args(["--bounding-set", capabilities, "--inh-caps", capabilities]).arg(carrickd());
    command.arg("run").arg(house.on(DEVICE)).args(house.places());
    let (daemon, _) = saying(&mut command, "info: ready");
    assert!(house.is_attached());
    assert!(daemon.end().success());
    house.is_as_before();
}

#[test]
fn a_kernel_without_types_is_told_so() {
    let Some(house) = House::new() else { return };
    // `ip netns exec` has mounted a /sys of its own.
    let mut command = house.net.command(End::Ours, "sh");
    command.args(["-c", "mount -t tmpfs none /sys/kernel/btf && exec \"$@\"", "sh"]).arg(carrickd());
    command.arg("run").arg(house.on(DEVICE)).args(house.places());
    let said = house.missing(&mut command);
    assert!(said.contains("no /sys/kernel/btf/vmlinux") && said.contains("CONFIG_DEBUG_INFO_BTF"), "{said}");
    house.is_as_before();
}

#[test]
fn pins_lie_in_a_bpf_file_system_and_the_usual_one_is_mounted() {
    let Some(house) = House::new() else { return };
    let config = house.on(DEVICE);
    let state = house.dir.path().join("state");
    let elsewhere = house.dir.path().join("pins");
    let mut command = house.net.command(End::Ours, &carrickd().to_string_lossy());
    command.arg("run").arg(&config).arg("--state").arg(&state);
    let said = house.missing(command.arg("--pins").arg(&elsewhere));
    assert!(
        said.contains("lies in no BPF file system") && said.contains("mount -t bpf -o mode=0700 bpf"),
        "{said}"
    );
    assert!(!elsewhere.exists());
    house.is_as_before();
    // Nothing is mounted in the /sys of `ip netns exec`, which goes with its process.
    let mut command = house.net.command(End::Ours, &carrickd().to_string_lossy());
    let (daemon, _) = saying(command.arg("run").arg(&config).arg("--state").arg(&state), "ready");
    let seen = PathBuf::from(format!("/proc/{}/root/sys/fs/bpf/carrick/least/link", daemon.id()));
    assert!(seen.exists() && house.is_attached(), "it is pinned");
    assert!(daemon.end().success());
    house.is_as_before();
}
