//! What is missing is told in one sentence that says what to do: a device, a privilege, a file, a compiler.

use std::net::UdpSocket;
use std::path::Path;
use std::process::{Command, Output};

use carrick_tests::build::{carrick, host, root};
use carrick_tests::net::skip;

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
    for (port, mend) in [("packet:lo", "setcap cap_net_raw+ep"), ("tun:carrick9", "run as root")] {
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
    let (code, text) = said(&mut host_on("packet:nowhere0"));
    if text.contains("privilege") {
        return skip(&text);
    }
    assert_eq!((code, text.lines().count()), (Some(MISSING), 1), "{text}");
    assert!(text.contains("`nowhere0`") && text.contains("`ip link`"), "{text}");
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
            text.contains("/nowhere/cc does not start") && text.contains("apt-get install gcc"),
            "{text}"
        );
        assert!(!text.contains("panicked"), "{text}");
    }
}
