// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is missing is told in one sentence that says what to do: a device, a privilege, a file, a compiler.

use std::fs;
use std::net::UdpSocket;
use std::path::Path;
use std::process::{Command, Output};

use carrick_tests::build::{carrick, host, root};
use carrick_tests::net::{DEVICE, End, Net, lacks, skip};

const PROGRAM: &str = "protocols/tcp/tcp.mtp";
const MISSING: i32 = 3;
const USAGE: i32 = 2;
const ADDRESS: [&str; 2] = ["--addr", "10.0.0.1/24"];

/// Runs it to its end; the exit code, and all that it said.
#[track_caller]
fn said(command: &mut Command) -> (Option<i32>, String) {
    let Output { status, stderr, .. } = command.output().expect("it starts");
    (status.code(), String::from_utf8_lossy(&stderr).trim_end().to_owned())
}

/// One line, with the exit code, that holds each of `parts`.
#[track_caller]
fn one_sentence(command: &mut Command, code: i32, parts: &[&str]) {
    let (got, text) = said(command);
    assert_eq!((got, text.lines().count()), (Some(code), 1), "{text}");
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in: {text}");
    }
}

/// The host on a port, with an application that can do nothing wrong.
fn host_on(port: &str) -> Command {
    let mut command = Command::new(host(PROGRAM));
    command.args(["--port", port]).args(ADDRESS).args(["--app", "echo"]);
    command
}

/// The same command without root's capabilities; `None` where `setpriv` is missing.
fn without_capabilities(command: &Command) -> Option<Command> {
    let mut bare = Command::new("setpriv");
    bare.args(["--bounding-set=-all", "--inh-caps=-all"]);
    let works = Command::new("setpriv").args(["--bounding-set=-all", "--inh-caps=-all", "true"]).output();
    let is_root = Command::new("id").arg("-u").output().is_ok_and(|o| o.stdout == b"0\n");
    if !is_root {
        bare = Command::new("env");
    } else if !works.is_ok_and(|o| o.status.success()) {
        return None;
    }
    bare.arg(command.get_program()).args(command.get_args());
    Some(bare)
}

#[test]
fn a_missing_privilege_is_told_with_its_mend() {
    for (port, mend) in [
        ("packet:lo", "setcap cap_net_raw+ep"),
        ("tun:carrick9", "run as root"),
        ("xdp:lo", "setcap cap_net_raw,cap_net_admin"),
    ] {
        if port.starts_with("tun:") && !Path::new("/dev/net/tun").exists() {
            skip("there is no /dev/net/tun");
            continue;
        }
        match without_capabilities(&host_on(port)) {
            Some(mut bare) => one_sentence(&mut bare, MISSING, &["privilege", mend]),
            None => skip("setpriv does not take capabilities away here"),
        }
    }
}

#[test]
fn a_missing_device_is_told_with_its_mend() {
    for port in ["packet:nowhere0", "xdp:nowhere0"] {
        let (code, text) = said(&mut host_on(port));
        if text.contains("privilege") {
            return skip(&text);
        }
        assert_eq!((code, text.lines().count()), (Some(MISSING), 1), "{text}");
        assert!(text.contains("`nowhere0`") && text.contains("`ip link`"), "{text}");
    }
}

#[test]
fn a_device_that_af_xdp_cannot_have_is_told_with_its_mend() {
    let Some(net) = Net::af_xdp() else { return };
    let refused = |parts: &[&str]| {
        let mut command = net.command(End::Ours, &host(PROGRAM).to_string_lossy());
        command.args(["--port", &net.port()]).args(ADDRESS).args(["--app", "echo"]);
        one_sentence(&mut command, MISSING, parts);
    };
    net.ip(End::Ours, "link set wire0 mtu 9000").expect("an MTU can be set");
    refused(&["MTU of 9000", "`ip link set wire0 mtu 3822`", "packet:wire0"]);
    net.ip(End::Ours, "link set wire0 mtu 1500").expect("an MTU can be set");
    let queues = |n: &str| net.command(End::Ours, "ethtool").args(["-L", DEVICE, "rx", n]).status();
    if queues("2").is_ok_and(|done| done.success()) {
        refused(&["has 2 queues", "ethtool -L wire0 combined 1"]);
        queues("1").expect("ethtool runs");
    } else {
        skip("this device takes no second queue");
    }
    if lacks("clang") {
        return;
    }
    let mut own = net.command(End::Ours, &root().join("scripts/enable-veth-redirect").to_string_lossy());
    let program = own.arg(DEVICE).status();
    assert!(program.is_ok_and(|done| done.success()), "the device takes a program");
    refused(&["has an XDP program", "`bpftool net`", "packet:wire0"]);
}

#[test]
fn packets_without_an_address_are_not_for_af_xdp() {
    let mut command = Command::new(host("protocols/netblocks/netblocks.mtp"));
    command.args(["--port", "xdp:lo"]).args(ADDRESS).args(["--app", "script:-"]);
    one_sentence(&mut command, USAGE, &["AF_XDP", "take packet:DEV"]);
}

#[test]
fn a_taken_udp_port_is_told_with_its_mend() {
    let taken = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    let number = taken.local_addr().expect("it is bound").port();
    one_sentence(&mut host_on(&format!("udp:{number}:9")), MISSING, &["cannot be used", "take another one"]);
}

#[test]
fn files_that_cannot_be_are_told() {
    let free = "udp:127.0.0.1:0:127.0.0.1:9";
    let mut command = Command::new(host(PROGRAM));
    command.args(["--port", "loop"]).args(ADDRESS).args(["--app", "http:/nowhere/at/all", "--app", "echo"]);
    one_sentence(&mut command, USAGE, &["There is no directory `/nowhere/at/all`", "write http:DIR"]);
    let mut command = Command::new(host(PROGRAM));
    command.args(["--port", "loop"]).args(ADDRESS).args(["--app", "echo", "--app", "echo"]);
    command.args(["--pcap", "/nowhere/out.pcapng"]);
    one_sentence(&mut command, MISSING, &["/nowhere/out.pcapng", "choose another path"]);
    one_sentence(host_on(free).args(["--app", "echo"]), USAGE, &["--app"]);
}

/// A path of a socket at which there is a file: the file stays as it is.
#[test]
fn a_file_in_the_place_of_a_socket_stays() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("file");
    fs::write(&file, "precious").expect("writable");
    let shown = file.display();
    let (door, wire) = (format!("sockets:{shown}"), format!("unix:{shown}:{shown}-of-the-peer"));
    let mut sockets = Command::new(host(PROGRAM));
    sockets.args(["--port", "loop"]).args(ADDRESS).args(["--app", &door, "--app", "echo"]);
    one_sentence(&mut sockets, USAGE, &["is no socket", "choose another path"]);
    one_sentence(&mut host_on(&wire), MISSING, &["is no socket", "choose another path"]);
    assert_eq!(fs::read_to_string(&file).expect("it is there"), "precious");
}

#[test]
fn a_missing_compiler_is_told_with_its_mend() {
    let dir = tempfile::tempdir().expect("a folder");
    let out = dir.path().join("out");
    for arguments in [
        &["build", PROGRAM, "--target", "native", "-o", &out.to_string_lossy()][..],
        &["sim", PROGRAM, "--compiled", "--bytes", "1KB"],
    ] {
        let mut command = Command::new(carrick());
        command.args(arguments).current_dir(root()).env("CC", "/nowhere/cc");
        let (code, text) = said(&mut command);
        assert_eq!(code, Some(MISSING), "{text}");
        assert!(
            text.contains("needs /nowhere/cc, which does not start") && text.contains("apt-get install gcc"),
            "{text}"
        );
        assert!(!text.contains("panicked"), "{text}");
    }
}
