// SPDX-License-Identifier: MIT OR Apache-2.0
//! As many connections at once as fit into the memory.

use carrick_tests::build::root;
use carrick_tests::in_kernel::{enable_veth_redirect, run_in_kernel};
use carrick_tests::net::{End, Net, lacks, skip};
use carrick_tests::running::started;

use super::{MISSING, here};

/// Connections, and how often each asks. All of them wait to receive when none does.
const CONNECTIONS: u32 = 1000;
const ROUNDS: u32 = 3;
/// So that they do not take much memory.
const SMALL: [&str; 8] =
    ["--set", "max_conns=1024", "--set", "peer_share=0", "--set", "snd_buf=16KiB", "--set", "rcv_buf=16KiB"];

#[test]
fn a_thousand_connections_wait_and_each_is_answered() {
    let Some(net) = Net::kernel_on_both() else { return };
    if ["clang", "python3"].iter().any(|program| lacks(program)) {
        return;
    }
    enable_veth_redirect(&net);
    let mut command = run_in_kernel(&net, &root().join("protocols/tcp/tcp.mtp"));
    let (server, mut lines) = started(command.args(SMALL).args(["--app", "echo:80"]));
    let first = lines.next().unwrap_or_default();
    if !first.starts_with("tcp is on") {
        assert_eq!(server.ended().code(), Some(MISSING), "{first}");
        return skip(&first);
    }
    assert!(lines.any(|line| line.starts_with("listening on port")), "it serves");
    let said = std::thread::spawn(move || lines.collect::<Vec<_>>());
    let mut client = net.command(End::Peer, "python3");
    client.arg(here("many.py")).args([Net::OURS, &CONNECTIONS.to_string(), &ROUNDS.to_string()]);
    let output = client.output().expect("it starts");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "same\n", "{output:?}");
    assert!(server.end().success());
    let said = said.join().expect("it is read");
    let lost = said.iter().find(|line| line.contains("lost") || line.contains("refused"));
    assert_eq!(lost, None, "{said:?}");
}
