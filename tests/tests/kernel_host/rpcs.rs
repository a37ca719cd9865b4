// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests and responses between a program in the kernel and the same program in a process of its own at the other end.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};

use carrick_tests::build::{host, root};
use carrick_tests::in_kernel::{enable_veth_redirect_but, run_in_kernel};
use carrick_tests::net::{End, Net, lacks, skip};

const PROGRAM: &str = "protocols/homa/homa.mtp";
/// At once, at both ends: the units of each take memory of the kernel's.
const RPCS: &str = "max_rpcs=16";
/// So many RPCs, bytes of the request, bytes of the response.
const CALLS: [(u32, u32, u32); 3] = [(40, 100, 200), (30, 30_000, 70), (20, 250_000, 120_000)];
/// No IPv4 frame is lost; one in so many is.
const WIRES: [u32; 2] = [0, 40];

/// An application that obeys a script line by line.
struct Scripted {
    process: Child,
    answers: BufReader<ChildStdout>,
}

impl Scripted {
    fn begin(mut command: Command) -> Scripted {
        command.args(["--set", RPCS, "--app", "script:-"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().expect("it starts");
        let answers = BufReader::new(process.stdout.take().expect("piped"));
        Scripted { process, answers }
    }

    fn told(&mut self, line: &str) {
        let stdin = self.process.stdin.as_mut().expect("piped");
        // Who has ended already is seen by what it answers.
        let _ = writeln!(stdin, "{line}");
    }

    /// What it answers; nothing once it has ended.
    fn answers(&mut self) -> String {
        let mut line = String::new();
        self.answers.read_line(&mut line).expect("UTF-8");
        line.trim_end().to_owned()
    }

    /// Ends it, as the script ends; its exit code, and what it counted.
    fn ends(self) -> (Option<i32>, String) {
        let done = self.process.wait_with_output().expect("it ends");
        (done.status.code(), String::from_utf8_lossy(&done.stderr).into_owned())
    }
}

fn in_kernel(net: &Net) -> Scripted {
    Scripted::begin(run_in_kernel(net, &root().join(PROGRAM)))
}

fn in_process(net: &Net) -> Scripted {
    let mut command = net.command(End::Peer, &host(PROGRAM).to_string_lossy());
    command.args(["--port", &net.port(), "--addr", &format!("{}/24", Net::PEER_STACK)]);
    Scripted::begin(command)
}

/// All calls, one kind after the other.
fn called(client: &mut Scripted, server: &mut Scripted, address: &str) {
    assert_eq!(server.answers(), "ok");
    client.told("endpoint 9");
    assert_eq!(client.answers(), "ok");
    for (count, request, response) in CALLS {
        server.told(&format!("serve {count} {request} 1 {response} 2"));
        client.told(&format!("call {count} {address} 7 {request} 1 {response} 2"));
        let said = format!("ok {count}");
        assert_eq!(client.answers(), said, "calls of {request} and {response} octets");
        assert_eq!(server.answers(), said, "of {request} and {response} octets");
    }
}

/// The two ends, of which the first is to serve; `None`, said aloud, where this machine does not take programs.
fn serving(net: &Net, kernel_serves: bool) -> Option<(Scripted, Scripted)> {
    let (mut kernel, process) = (in_kernel(net), in_process(net));
    kernel.told(if kernel_serves { "endpoint 7" } else { "endpoint 8" });
    if !kernel_serves && kernel.answers() == "ok" {
        return Some((process, kernel));
    }
    if kernel_serves && kernel.answers.fill_buf().is_ok_and(|said| !said.is_empty()) {
        return Some((kernel, process));
    }
    let (code, said) = kernel.ends();
    assert_eq!(code, Some(super::MISSING), "{said}");
    skip(&said);
    None
}

fn rpcs_pass(kernel_serves: bool) {
    let missing = ["clang", "ethtool"].iter().any(|program| lacks(program));
    let Some(net) = (if missing { None } else { Net::kernel_on_both() }) else { return };
    for lost in WIRES {
        enable_veth_redirect_but(&net, lost);
        let Some((mut server, mut client)) = serving(&net, kernel_serves) else { return };
        if !kernel_serves {
            server.told("endpoint 7");
        }
        called(&mut client, &mut server, if kernel_serves { Net::OURS } else { Net::PEER_STACK });
        for end in [client, server] {
            let (code, said) = end.ends();
            assert_eq!(code, Some(0), "{said}");
        }
    }
}

#[test]
fn a_process_calls_the_kernel() {
    rpcs_pass(true);
}

#[test]
fn the_kernel_calls_a_process() {
    rpcs_pass(false);
}
