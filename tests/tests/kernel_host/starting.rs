// SPDX-License-Identifier: MIT OR Apache-2.0
//! What happens before a program is at its device, and what people are told while it is there.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use carrick_driver::cc::Tracing;
use carrick_driver::compile_file;
use carrick_targets::xdp::build::cached_host;
use carrick_tests::build::carrick;
use carrick_tests::net::{DEVICE, End, Net, lacks, skip};
use carrick_tests::running::started;

use super::streams::{application, place};
use super::{MISSING, here, net, run};

#[test]
fn nothing_is_at_the_device_before_the_host_is_compiled() {
    let Some(net) = net() else { return };
    let mut command = run(&net);
    let output = command.args(["--app", "script:-"]).env("CC", "false").output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(MISSING) {
        return skip(&said);
    }
    assert!(!output.status.success() && !said.contains(" is on "), "{said}");
}

/// Becomes a host to which this map says where everything is.
const ANOTHER_VERSION: &str = "
import ctypes, os, platform, struct, sys
bpf = {'x86_64': 321, 'aarch64': 280, 'riscv64': 280}[platform.machine()]
create, array = 0, 2
attr = ctypes.create_string_buffer(struct.pack('IIIII', array, 4, 24, 1, 0), 128)
map = ctypes.CDLL(None, use_errno=True).syscall(bpf, create, attr, 128)
if map < 0:
    sys.exit(3)
os.set_inheritable(map, True)
os.execv(sys.argv[1], [sys.argv[1], '--port', f'kernel:carrick_places={map}', '--addr', '10.77.0.1/24', '--app', 'script:-'])
";

#[test]
fn a_host_does_not_use_a_program_of_another_version() {
    if lacks("python3") {
        return;
    }
    let program = compile_file(&here("asking.mtp")).expect("readable").program.expect("it is right");
    let host = cached_host(&program, Tracing::Off).expect("it is compiled");
    let output = Command::new("python3").args(["-c", ANOTHER_VERSION]).arg(&host.path).output();
    let output = output.expect("python3 runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.code() == Some(MISSING) && said.is_empty() {
        return skip("this user makes no BPF maps");
    }
    assert_eq!(output.status.code(), Some(MISSING), "{output:?}");
    assert!(said.starts_with("Another version of Carrick has built the program in the kernel: "), "{said}");
}

#[test]
fn a_device_is_found_where_only_the_network_is_another_one() {
    if lacks("nsenter") {
        return;
    }
    let Some(net) = net() else { return };
    let mut command = Command::new("nsenter");
    command.arg(format!("--net=/run/netns/{}", net.name(End::Ours))).arg(carrick());
    command.args(["run", "--quiet"]).arg(here("asking.mtp")).args(["--target", "xdp", "--port", DEVICE]);
    let (running, mut lines) = started(command.args(["--addr", Net::OURS]));
    let first = lines.next().unwrap_or_default();
    if first.contains("is on") {
        assert!(running.end().success());
        return;
    }
    assert_eq!(running.ended().code(), Some(MISSING), "{first}");
    assert!(!first.contains("there is no device"), "{first}");
    skip(&first);
}

#[test]
fn a_program_whose_device_goes_ends_with_an_error() {
    for app in [&[][..], &["--app", "script:-"]] {
        let Some(net) = net() else { return };
        let mut command = run(&net);
        // Nobody writes to a script, so it would wait for ever.
        command.args(app).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut process = command.spawn().expect("it starts");
        let _script = process.stdin.take();
        let mut said = BufReader::new(process.stderr.take().expect("piped")).lines().map_while(Result::ok);
        let first = said.next().unwrap_or_default();
        if !first.contains("is on") {
            assert_eq!(process.wait().expect("it ends").code(), Some(MISSING), "{first}");
            return skip(&first);
        }
        net.delete_wire().expect("it goes");
        assert_eq!(process.wait().expect("it ends").code(), Some(MISSING));
        // The application's process may see it first, or have yet to begin.
        let sentences = [
            format!("{DEVICE} is gone; the program receives no packets any more"),
            format!("The network device {DEVICE} was removed"),
            String::from("its device was removed, or is in another network namespace"),
        ];
        let told = |line: &str| sentences.iter().any(|sentence| line.contains(sentence));
        let said: Vec<String> = said.collect();
        assert!(said.iter().any(|line| told(line)), "{app:?}: {said:?}");
    }
}

/// Begins so many connections, and waits for none.
const BEGIN: &str = "
import socket, sys, time
begun = [socket.socket() for n in range(8)]
for s in begun:
    s.setblocking(False)
    s.connect_ex((sys.argv[1], 7))
time.sleep(0.1)
";

#[test]
fn packets_whose_checksums_are_left_to_a_device_are_told_of_at_once() {
    let Some((net, _)) = place() else { return };
    let offloads = net.command(End::Peer, "ethtool").args(["-K", DEVICE, "tx", "on"]).status();
    assert!(offloads.is_ok_and(|status| status.success()), "the device computes checksums");
    let mut command = application(&net, "echo", &[]);
    let (running, mut lines) = started(command.args(["--set", "max_conns=16"]));
    let first = lines.next().unwrap_or_default();
    if !first.contains("is on") {
        assert_eq!(running.ended().code(), Some(MISSING), "{first}");
        return skip(&first);
    }
    assert!(lines.any(|line| line.starts_with("listening on port")), "it serves");
    let begun = net.command(End::Peer, "python3").args(["-c", BEGIN, Net::OURS]).status();
    assert!(begun.is_ok_and(|status| status.success()));
    let advice = format!("packets on {DEVICE} had a wrong checksum");
    assert!(lines.any(|line| line.contains(&advice) && line.contains("ethtool -K")), "it says so meanwhile");
    std::thread::spawn(move || lines.count());
    assert!(running.end().success());
}

/// Opens four connections, and prints what becomes of three more.
const BEYOND: &str = "
import socket, sys
held = [socket.create_connection((sys.argv[1], 7), 10) for n in range(4)]
for s in held:
    s.sendall(b'hello')
    assert s.recv(5) == b'hello'
for n in range(3):
    try:
        socket.create_connection((sys.argv[1], 7), 10)
        print('open')
    except ConnectionRefusedError:
        print('refused')
";

#[test]
fn connections_beyond_those_of_the_program_are_refused_and_counted() {
    let Some((net, _)) = place() else { return };
    let mut command = application(&net, "echo", &[]);
    let (running, mut lines) = started(command.args(["--set", "max_conns=4"]));
    let first = lines.next().unwrap_or_default();
    if !first.contains("is on") {
        assert_eq!(running.ended().code(), Some(MISSING), "{first}");
        return skip(&first);
    }
    assert!(lines.any(|line| line.starts_with("listening on port")), "it serves");
    let beyond = net.command(End::Peer, "python3").args(["-c", BEYOND, Net::OURS]).output();
    let beyond = beyond.expect("python3 runs");
    assert_eq!(String::from_utf8_lossy(&beyond.stdout), "refused\nrefused\nrefused\n", "{beyond:?}");
    assert!(running.end().success());
    let counted = lines.filter(|line| line.split_whitespace().eq(["ctx_refused", "3"])).count();
    assert_eq!(counted, 1, "each is counted");
}
