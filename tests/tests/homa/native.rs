// SPDX-License-Identifier: MIT OR Apache-2.0
//! RPCs between two processes, each a stack with the compiled program.

use std::path::Path;

use carrick_tests::build::host;
use carrick_tests::scripted::{Scripted, pair};

use crate::PROGRAM;

const SERVER: &str = "10.0.0.2";
const FAULTS: &[&str] = &["--fault", "loss=1%,reorder=2%,dup=2%,seed=7"];

/// A client with an endpoint at port 40000, and a server with one at port 99; what goes wrong between them.
fn client_and_server(folder: &Path, faults: &[&str]) -> (Scripted, Scripted) {
    let ends = [("server", SERVER), ("client", "10.0.0.1")];
    let [mut server, mut client] = pair(&host(PROGRAM), folder, ends, faults);
    client.must("endpoint 40000", "ok");
    server.must("endpoint 99", "ok");
    (client, server)
}

fn rpcs(client: &mut Scripted, server: &mut Scripted, count: u32, request: u32, response: u32) {
    server.tell(&format!("serve {count} {request} 3 {response} 4"));
    client.must(&format!("call {count} {SERVER} 99 {request} 3 {response} 4"), &format!("ok {count}"));
    server.answers(&format!("ok {count}"));
}

#[test]
fn rpcs_go_between_two_processes() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut client, mut server) = client_and_server(folder.path(), &[]);
    for (request, response) in [(1, 1), (1424, 1425), (200_000, 30), (30, 200_000), (70_000, 120_000)] {
        rpcs(&mut client, &mut server, 20, request, response);
    }
}

#[test]
fn rpcs_go_between_two_processes_through_faults() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut client, mut server) = client_and_server(folder.path(), FAULTS);
    rpcs(&mut client, &mut server, 200, 100, 300);
    rpcs(&mut client, &mut server, 20, 50_000, 80_000);
}

#[test]
fn a_server_that_is_gone_is_told_of() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut client, mut server) = client_and_server(folder.path(), &[]);
    server.kill();
    client.must(&format!("call 3 {SERVER} 99 100 3 100 4"), "timed_out");
}
