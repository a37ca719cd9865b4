// SPDX-License-Identifier: MIT OR Apache-2.0
//! What `make bench` stands on: the key-value store, whose clients see it when an answer is wrong, and the page.

use std::process::{Command, Output};

use carrick_tests::build::{host, root};
use carrick_tests::net::{End, Net, lacks};
use carrick_tests::running::serve;

const PROGRAM: &str = "protocols/tcp/tcp.mtp";
const LOAD: &str = "4:16:1000:5000";

fn ours(net: &Net, app: &str) -> Command {
    let mut command = net.command(End::Ours, &host(PROGRAM).to_string_lossy());
    command.args(["--port", &net.port(), "--addr", &format!("{}/24", Net::OURS), "--app", app]);
    command
}

fn in_one_process(apps: [&str; 2]) -> Output {
    let mut command = Command::new(host(PROGRAM));
    command.args(["--port", "loop", "--addr", "10.0.0.1/24", "--app", apps[0], "--app", apps[1]]);
    command.output().expect("it starts")
}

#[track_caller]
fn measured(done: &Output) {
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(done.status.success(), "{said}{}", String::from_utf8_lossy(&done.stderr));
    assert!(said.starts_with("kvload: 5000 of 1000 keys in ") && said.contains("/s, median "), "{said}");
}

#[test]
fn values_come_back_as_they_were_set_last() {
    if lacks("python3") {
        return;
    }
    let Some(net) = Net::new() else { return };
    let _server = serve(&mut ours(&net, "kv:80:3"), "listening");
    let mut peer = net.command(End::Peer, "python3");
    let done = peer
        .arg(root().join("tests/tests/benchmarks/asks.py"))
        .args([Net::OURS, "80"])
        .output()
        .expect("it starts");
    assert_eq!(String::from_utf8_lossy(&done.stdout), "all\n", "{}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn a_store_and_its_clients_in_one_process() {
    measured(&in_one_process(["kv:80", &format!("kvload:10.0.0.1:80:{LOAD}")]));
}

/// What it is compared with speaks as it does: `bench/kv` over the kernel's sockets.
#[test]
fn the_same_over_the_kernels_sockets() {
    let Some(net) = Net::new() else { return };
    let dir = tempfile::tempdir().expect("a folder");
    let kv = dir.path().join("kv");
    let mut make = Command::new("make");
    make.args(["-s", "-C", "bench/kv"]).arg(format!("OUT={}", kv.display()));
    assert!(make.current_dir(root()).status().expect("make starts").success());
    let kv = kv.to_string_lossy();
    {
        let _server = serve(&mut ours(&net, "kv:80"), "listening");
        let load: Vec<&str> = ["load", Net::OURS, "80"].into_iter().chain(LOAD.split(':')).collect();
        measured(&net.command(End::Peer, &kv).args(load).output().expect("it starts"));
    }
    let _server = serve(net.command(End::Peer, &kv).args(["serve", "80"]), "listening");
    measured(&ours(&net, &format!("kvload:{}:80:{LOAD}", Net::PEER)).output().expect("it starts"));
}

/// A store that has no room for all keys answers otherwise than its client wants.
#[test]
fn a_client_says_that_an_answer_is_wrong() {
    let done = in_one_process(["kv:80:999", &format!("kvload:10.0.0.1:80:{LOAD}")]);
    assert_eq!(done.status.code(), Some(1));
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(said.contains("receive: another answer came than should"), "{said}");
}

#[test]
fn what_is_no_store_or_load_is_told() {
    for (app, said) in [
        ("kv:0", "`0` is no store: write kv:PORT"),
        ("kv:80:0", "`80:0` is no store"),
        ("kvload:10.0.0.1:80:1:65:10:10", "is no load: write kvload:IP:PORT:CONNECTIONS:ATONCE:KEYS:COUNT"),
    ] {
        let done = in_one_process([app, "echo"]);
        assert_eq!(done.status.code(), Some(2), "{app}");
        let told = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(told.contains(said), "{app}: {told}");
    }
}

#[test]
fn the_page_says_what_is_missed_and_where_the_time_goes() {
    if lacks("python3") {
        return;
    }
    let mut page = Command::new("python3");
    let done = page.arg("tests/tests/benchmarks/page.py").current_dir(root()).output().expect("it starts");
    assert_eq!(String::from_utf8_lossy(&done.stdout), "all\n", "{}", String::from_utf8_lossy(&done.stderr));
}
