// SPDX-License-Identifier: MIT OR Apache-2.0
//! How many connections the applications of a stack serve: as many as the program has, and the next one is refused.

use carrick_tests::build::{host, root};
use carrick_tests::net::{End, Net, lacks};
use carrick_tests::running::saying;
use serde_json::{Value, json};

const PROGRAM: &str = "protocols/tcp/tcp.mtp";

/// Of each of two source addresses; together more than an address has dynamic ports, and than 14 bits count.
const EACH: u32 = 10_000;
const BEYOND: u32 = 5;

#[test]
fn all_connections_of_the_program_are_served_and_the_next_refused() {
    if lacks("python3") {
        return;
    }
    let Some(net) = Net::tun() else { return };
    let sources = [Net::PEER, "10.77.0.4"];
    net.ip(End::Peer, &format!("addr add {}/24 dev wire0", sources[1])).expect("an address");
    // What the device drops would be sent again a second later.
    net.ip(End::Peer, "link set wire0 txqueuelen 10000").expect("a longer queue");
    let mut command = net.command(End::Ours, &host(PROGRAM).to_string_lossy());
    command.args(["--port", &net.port(), "--addr", &format!("{}/24", Net::OURS), "--app", "echo"]);
    command.args(["--set", &format!("max_conns={}", 2 * EACH), "--set", "peer_share=0"]);
    let (server, said) = saying(&mut command, "listening");
    let client = root().join("bench/connections.py");
    let mut command = net.command(End::Peer, &client.to_string_lossy());
    command.args([&format!("{}:7", Net::OURS), "--from", &sources.join(",")]);
    command.args(["--each", &EACH.to_string(), "--beyond", &BEYOND.to_string()]);
    let done = command.output().expect("it starts");
    let got: Value = serde_json::from_slice(&done.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&done.stderr)));
    assert_eq!(got["first"], json!({ "open": 2 * EACH }));
    assert_eq!(got["second"], json!({}), "an exchange on each that is open");
    assert_eq!(got["beyond"], json!({ "ECONNREFUSED": BEYOND }));
    server.end();
    let said: Vec<String> = said.collect();
    let refused = format!("ctx_refused {BEYOND}");
    let words = |line: &String| line.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.iter().any(|line| words(line) == refused), "{said:?}");
    assert!(said.iter().any(|line| line.contains("it has at most 20000.")), "{said:?}");
}
