// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connections of a program in the kernel with the kernel's own stack: bytes both ways, on a wire that loses frames too.

use std::fs;
use std::path::Path;
use std::process::Command;

use carrick_tests::build::root;
use carrick_tests::in_kernel::{enable_veth_redirect_but, run_in_kernel_with};
use carrick_tests::net::{End, Net, lacks, skip};
use carrick_tests::running::{Running, serve, started};
use tempfile::TempDir;

const OCTETS: usize = 3_000_000;
/// No frame is lost; one in so many is.
const WIRES: [u32; 2] = [0, 50];

/// A wire with the kernel's stack at both ends, and what is fetched over it.
pub(crate) fn place() -> Option<(Net, TempDir)> {
    let missing = ["clang", "curl", "python3"].iter().any(|program| lacks(program));
    let net = if missing { None } else { Net::kernel_on_both() }?;
    let dir = tempfile::tempdir().expect("a folder");
    let data: Vec<u8> = (0..OCTETS).map(|n| (n * 31 % 251) as u8).collect();
    fs::write(dir.path().join("data"), data).expect("writable");
    Some((net, dir))
}

pub(crate) fn application(net: &Net, app: &str, features: &[&str]) -> Command {
    let mut command = run_in_kernel_with(net, &root().join("protocols/tcp/tcp.mtp"), features);
    command.args(["--app", app]);
    command
}

/// Starts a server; `None`, said aloud, where this machine does not take programs.
pub(crate) fn server(net: &Net, app: &str, features: &[&str]) -> Option<Running> {
    served_by(&mut application(net, app, features))
}

/// The same of an application that is given whole.
pub(crate) fn served_by(application: &mut Command) -> Option<Running> {
    let (running, lines) = serving(application)?;
    // Whoever does not read makes it wait.
    std::thread::spawn(move || lines.count());
    Some(running)
}

/// The same, with what it says once it serves.
pub(crate) fn serving(
    application: &mut Command,
) -> Option<(Running, impl Iterator<Item = String> + Send + use<>)> {
    let (running, mut lines) = started(application);
    let first = lines.next().unwrap_or_default();
    if !first.starts_with("tcp is on") {
        assert_eq!(running.ended().code(), Some(super::MISSING), "{first}");
        skip(&first);
        return None;
    }
    assert!(lines.any(|line| line.starts_with("listening on port")), "it serves");
    Some((running, lines))
}

fn fetched(net: &Net, dir: &Path, url: &str) {
    let to = dir.join("fetched");
    let _ = fs::remove_file(&to);
    let curl =
        net.command(End::Peer, "curl").args(["-sS", "--max-time", "120", "-o"]).arg(&to).arg(url).output();
    let curl = curl.expect("curl runs");
    assert!(curl.status.success(), "{curl:?}");
    assert!(fs::read(to).expect("readable") == fs::read(dir.join("data")).expect("readable"), "other octets");
}

#[test]
fn a_server_in_the_kernel_is_fetched_from() {
    let Some((net, dir)) = place() else { return };
    enable_veth_redirect_but(&net, 0);
    // What is paced waits in the kernel for its moment.
    for features in [&[][..], &["--with", "pacing"]] {
        let app = format!("http:{}", dir.path().display());
        let Some(running) = server(&net, &app, features) else { return };
        for lost in WIRES {
            enable_veth_redirect_but(&net, lost);
            fetched(&net, dir.path(), &format!("http://{}/data", Net::OURS));
        }
        assert!(running.end().success());
    }
}

#[test]
fn a_client_in_the_kernel_fetches() {
    let Some((net, dir)) = place() else { return };
    let mut files = net.command(End::Peer, "python3");
    files.args(["-u", "-m", "http.server", "8000", "--bind", Net::PEER]).current_dir(dir.path());
    let _files = serve(&mut files, "Serving HTTP");
    enable_veth_redirect_but(&net, WIRES[1]);
    let to = dir.path().join("got");
    let app = format!("get:http://{}:8000/data:{}", Net::PEER, to.display());
    let done = application(&net, &app, &[]).output().expect("it starts");
    if done.status.code() == Some(super::MISSING) {
        return skip(&String::from_utf8_lossy(&done.stderr));
    }
    assert!(done.status.success(), "{done:?}");
    assert!(fs::read(to).expect("it is there") == fs::read(dir.path().join("data")).expect("readable"));
    // What comes in a burst is acknowledged together.
    assert!(super::counter(&done, "tx_coalesced") > 0, "{done:?}");
}

/// Sends as many bytes as are said to an echo server, and takes them all back meanwhile.
const ECHO: &str = "
import os, socket, sys, threading
peer, octets = sys.argv[1], os.urandom(int(sys.argv[2]))
wire = socket.create_connection((peer, 7), 60)
wire.settimeout(60)
def send():
    wire.sendall(octets)
    wire.shutdown(socket.SHUT_WR)
sender = threading.Thread(target=send)
sender.start()
back = b''
while part := wire.recv(65536):
    back += part
sender.join()
print('same' if back == octets else f'{len(back)} octets', flush=True)
";

#[test]
fn octets_pass_both_ways_at_once() {
    let Some((net, _)) = place() else { return };
    enable_veth_redirect_but(&net, 0);
    let Some(running) = server(&net, "echo", &[]) else { return };
    for lost in WIRES {
        enable_veth_redirect_but(&net, lost);
        let echo = net.command(End::Peer, "python3").args(["-c", ECHO, Net::OURS, "500000"]).output();
        assert_eq!(
            String::from_utf8_lossy(&echo.expect("python3 runs").stdout),
            "same\n",
            "1 in {lost} lost"
        );
    }
    assert!(running.end().success());
}
