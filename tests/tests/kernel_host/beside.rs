// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two programs on one device, each with its process: what ends of one, however it does, is none of the other's.

use std::process::Command;

use carrick_tests::build::{carrick, root};
use carrick_tests::in_kernel::{ASK, answering, enable_veth_redirect};
use carrick_tests::net::{DEVICE, End, Net, lacks, skip};
use carrick_tests::running::{Running, started};
use tempfile::TempDir;

use super::{MISSING, has_program};

/// Sends a word over a connection, and prints what comes back; `none` if nobody listens.
const ECHO: &str = "
import socket, sys
try:
    s = socket.create_connection((sys.argv[1], 1000), 10)
    s.sendall(b'hello')
    print(s.recv(5).decode())
except ConnectionRefusedError:
    print('none')
";

/// Sends a packet of protocol 253, and prints whether the kernel's own stack says that it knows no such protocol.
const UNKNOWN: &str = "
import socket, struct, sys
icmp = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
icmp.settimeout(10)
s = socket.socket(socket.AF_INET, socket.SOCK_RAW, 253)
s.sendto(struct.pack('!I', 7), (sys.argv[1], 0))
print('unknown' if tuple(icmp.recv(2000)[20:22]) == (3, 2) else 'something else')
";

struct Place {
    net: Net,
    dir: TempDir,
}

impl Place {
    fn new() -> Option<Place> {
        let missing = ["clang", "python3"].iter().any(|program| lacks(program));
        let net = if missing { None } else { Net::kernel_on_both() }?;
        let dir = tempfile::tempdir().expect("a folder");
        answering(dir.path());
        enable_veth_redirect(&net);
        Some(Place { net, dir })
    }

    fn run(&self, words: &[&str]) -> Command {
        let mut command = self.net.command(End::Ours, &carrick().to_string_lossy());
        command.arg("run").args(words).current_dir(self.dir.path());
        command.args(["--target", "xdp", "--port", DEVICE, "--addr", &format!("{}/24", Net::OURS)]);
        command
    }

    /// Streams, with an application that echoes.
    fn streams(&self) -> Command {
        let mut command = self.run(&[&root().join("protocols/tcp/tcp.mtp").to_string_lossy()]);
        command.args(["--set", "max_conns=16", "--app", "echo:1000"]);
        command
    }

    /// Numbers, which nobody uses on our side.
    fn numbers(&self) -> Command {
        self.run(&["least.mtp"])
    }

    fn asked(&self, script: &str, words: &[&str]) -> String {
        let mut python = self.net.command(End::Peer, "python3");
        let output = python.args(["-c", script, Net::OURS]).args(words).output().expect("python3 runs");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8_lossy(&output.stdout).trim_end().replace('\n', " ")
    }
}

/// Starts one, and waits until it is there; `None`, said aloud, where this machine does not take programs.
fn there(mut command: Command, says: &str) -> Option<Running> {
    let (running, mut lines) = started(&mut command);
    let mut before = Vec::new();
    while let Some(line) = lines.next() {
        if line.starts_with(says) {
            std::thread::spawn(move || lines.count());
            return Some(running);
        }
        before.push(line);
    }
    assert_eq!(running.ended().code(), Some(MISSING), "{before:?}");
    skip(&before.join(" "));
    None
}

fn kill(running: Running) {
    let told = Command::new("kill").args(["-KILL", &running.id().to_string()]).status();
    assert!(told.is_ok_and(|status| status.success()), "it was there");
    assert!(!running.ended().success());
}

#[test]
fn two_programs_are_on_one_device_and_neither_needs_the_other() {
    let Some(place) = Place::new() else { return };
    let Some(streams) = there(place.streams(), "listening on port") else { return };
    assert_eq!(place.asked(UNKNOWN, &[]), "unknown", "as always");
    let numbers = there(place.numbers(), "least is on").expect("as the other one");
    for n in ["0 7", "5"] {
        assert_eq!(place.asked(ECHO, &[]), "hello");
        let answers = if n == "5" { "12 refused" } else { "7 refused" };
        assert_eq!(place.asked(ASK, &n.split(' ').collect::<Vec<_>>()), answers);
    }
    let same = place.numbers().output().expect("it starts");
    let said = String::from_utf8_lossy(&same.stderr).into_owned();
    let sentence = format!("IP protocol 253 on this device are for least (process {})", numbers.id());
    assert!(said.contains(&sentence), "{said}");
    assert_eq!(same.status.code(), Some(MISSING), "{said}");
    // The second one ends in order, and is back.
    assert!(numbers.end().success());
    assert_eq!(place.asked(UNKNOWN, &[]), "unknown");
    assert_eq!(place.asked(ECHO, &[]), "hello");
    let numbers = there(place.numbers(), "least is on").expect("there is a place");
    // The first one goes, which brought what hands out packets.
    assert!(streams.end().success());
    assert_eq!(place.asked(ECHO, &[]), "none");
    assert_eq!(place.asked(ASK, &["0", "7"]), "7 refused");
    assert!(has_program(&place.net));
    assert!(numbers.end().success());
    assert!(!has_program(&place.net), "the device is as it was");
}

#[test]
fn a_program_goes_with_its_process_also_where_that_is_killed() {
    let Some(place) = Place::new() else { return };
    let Some(numbers) = there(place.numbers(), "least is on") else { return };
    let streams = there(place.streams(), "listening on port").expect("as the other one");
    kill(numbers);
    assert_eq!(place.asked(UNKNOWN, &[]), "unknown");
    assert_eq!(place.asked(ECHO, &[]), "hello");
    let numbers = there(place.numbers(), "least is on").expect("its place is nobody's");
    assert_eq!(place.asked(ASK, &["0", "7"]), "7 refused");
    assert!(streams.end().success());
    kill(numbers);
    assert!(!has_program(&place.net), "the device is as it was");
}

#[test]
fn an_application_goes_with_who_started_it() {
    let Some(place) = Place::new() else { return };
    let (running, mut lines) = started(&mut place.streams());
    let begun =
        lines.by_ref().find(|line| line.starts_with("listening on port") || line.starts_with("error"));
    if begun.is_none_or(|line| line.starts_with("error")) {
        assert_eq!(running.ended().code(), Some(MISSING));
        return skip("this machine takes no programs");
    }
    kill(running);
    // What it says ends once nobody is left who could say more.
    assert_eq!(lines.find(|line| line.starts_with("error")), None);
    assert!(!has_program(&place.net), "the device is as it was");
}

/// The kernel's own reason is told, and the end of the pair that has to be changed.
#[test]
fn a_peer_with_a_larger_mtu_is_told_as_that() {
    let Some(place) = Place::new() else { return };
    place.net.ip(End::Peer, &format!("link set {DEVICE} mtu 9000")).expect("an MTU can be set");
    let (running, lines) = started(&mut place.streams());
    let said: Vec<String> = lines.collect();
    assert_eq!(running.ended().code(), Some(MISSING), "{said:?}");
    if said.iter().any(|line| line.contains("operation not permitted")) {
        return skip("this machine takes no programs");
    }
    let told = said.iter().find(|line| line.contains("takes no program")).expect("it is told");
    for part in ["Peer MTU is too large", "other end of wire0 to 1500", "ip link set PEERDEV mtu 1500"] {
        assert!(told.contains(part), "`{part}` is not in: {told}");
    }
}
