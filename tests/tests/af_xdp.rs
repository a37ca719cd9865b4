// SPDX-License-Identifier: MIT OR Apache-2.0
//! The port of AF_XDP: what is not the stack's stays the kernel's, and the device is as it was whenever the stack ends.

use std::process::Command;
use std::time::{Duration, Instant};

use carrick_tests::build::host;
use carrick_tests::net::{DEVICE, End, Net};
use carrick_tests::scripted::Scripted;

const PROGRAM: &str = "protocols/tcp/tcp.mtp";
const PATIENCE: Duration = Duration::from_secs(20);
/// An address of the kernel's own, at our end.
const KERNELS: &str = "10.77.0.9";

fn stack(net: &Net) -> Scripted {
    let mut command = net.command(End::Ours, &host(PROGRAM).to_string_lossy());
    command.args(["--port", &net.port(), "--addr", &format!("{}/24", Net::OURS), "--app", "script:-"]);
    Scripted::start("ours", &mut command)
}

fn has_program(net: &Net) -> bool {
    let mut ip = Command::new("ip");
    let output =
        ip.args(["-n", net.name(End::Ours), "-d", "link", "show", DEVICE]).output().expect("ip runs");
    String::from_utf8_lossy(&output.stdout).contains("prog/xdp")
}

/// What is answered where nobody listens.
fn answer_of(net: &Net, address: &str) -> String {
    let mut peer = Scripted::start("peer", &mut net.command(End::Peer, env!("CARGO_BIN_EXE_peer")));
    peer.ask(&format!("connect {address} 9"))
}

/// One connection, with bytes both ways.
fn transfer(net: &Net, ours: &mut Scripted) {
    let mut peer = Scripted::start("peer", &mut net.command(End::Peer, env!("CARGO_BIN_EXE_peer")));
    ours.must("listen 80", "ok");
    peer.must(&format!("connect {} 80", Net::OURS), "ok");
    ours.must("accept", "ok");
    ours.tell("send 1000000 1");
    peer.must("recv 1000000 1", "ok 1000000");
    ours.answers("ok 1000000");
    peer.tell("send 1000000 2");
    ours.must("recv 1000000 2", "ok 1000000");
    peer.answers("ok 1000000");
}

#[test]
fn a_killed_stack_leaves_the_device_to_the_next_one() {
    let Some(net) = Net::af_xdp() else { return };
    for _ in 0..3 {
        let mut ours = stack(&net);
        transfer(&net, &mut ours);
        assert!(has_program(&net));
        ours.kill();
        let begin = Instant::now();
        while has_program(&net) {
            assert!(begin.elapsed() < PATIENCE, "the program stays");
            std::thread::park_timeout(Duration::from_millis(5));
        }
    }
}

#[test]
fn the_kernel_keeps_what_is_not_the_stacks() {
    let Some(net) = Net::af_xdp() else { return };
    net.ip(End::Ours, &format!("addr add {KERNELS}/24 dev {DEVICE}")).expect("an address can be added");
    let mut ours = stack(&net);
    transfer(&net, &mut ours);
    assert_eq!([KERNELS, Net::OURS].map(|address| answer_of(&net, address)), ["refused"; 2]);
    ours.kill();
    // It would go on for up to a minute to send to who answered before.
    net.ip(End::Peer, &format!("neigh flush dev {DEVICE}")).expect("it forgets who answered");
    assert_eq!([KERNELS, Net::OURS].map(|address| answer_of(&net, address)), ["refused", "unreachable"]);
}

/// The memory of frames counts where a process has no right to lock any.
#[test]
fn too_little_locked_memory_is_said() {
    let Some(net) = Net::af_xdp() else { return };
    let mut command = net.command(End::Ours, "prlimit");
    command.args(["--memlock=65536", "setpriv", "--bounding-set=-ipc_lock"]).arg(host(PROGRAM));
    command.args(["--port", &net.port(), "--addr", &format!("{}/24", Net::OURS), "--app", "echo"]);
    let done = command.output().expect("util-linux is there");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(
        said.starts_with(
            "The frames of AF_XDP need more locked memory than the processes of this user may have together: "
        ),
        "{said}"
    );
    assert_eq!(done.status.code(), Some(3), "{said}");
}
