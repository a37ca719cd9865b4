// SPDX-License-Identifier: MIT OR Apache-2.0
//! Unmodified programs over the stack, with streams, datagrams and packets in order: their sockets are relayed by the library that is
//! preloaded, or are the kernel's own, of a network namespace or a cgroup.

mod cases;
mod cgroups;
mod datagrams;
mod descriptors;
mod documented;
mod early;
mod guarded;
mod namespaces;
mod over_ipv6;
mod programs;
mod setting;
mod space;
mod twins;
mod users;

use std::process::Command;

use carrick_tests::build::root;
use carrick_tests::in_kernel::enable_veth_redirect_but;
use carrick_tests::net::{End, Net, lacks};
use carrick_tests::running::{Running, saying, serve};
use setting::{Stack, version};

const BEHAVIOUR: &str = "tests/tests/sockets/program.py";

/// The service that the program talks to, on the kernel's stack.
fn peer(net: &Net) -> Running {
    peer_at(net, Net::PEER)
}

/// The same, at another address.
fn peer_at(net: &Net, address: &str) -> Running {
    let script = root().join("tests/tests/sockets/peer.py");
    let mut command = net.command(End::Peer, "python3");
    serve(command.arg("-u").arg(script).arg(address), "ready")
}

/// A stack, with more arguments, and the service at the other end of its wire.
fn connected(more: &[&str]) -> Option<(Net, Stack, Running)> {
    if lacks("python3") {
        return None;
    }
    let net = Net::new()?;
    let stack = Stack::start(&net, more);
    let peer = peer(&net);
    Some((net, stack, peer))
}

/// Runs the program; all its cases must pass.
fn behaves(program: Command) {
    behaves_between(program, Net::OURS, Net::PEER);
}

/// The same, between other addresses.
fn behaves_between(program: Command, ours: &str, peer: &str) {
    behaves_but(program, ours, peer, &[]);
}

/// The same, without these cases.
fn behaves_but(mut program: Command, ours: &str, peer: &str, but: &[&str]) {
    program.arg("-u").arg(root().join(BEHAVIOUR)).args([ours, peer]).args(but);
    let done = program.output().expect("it starts");
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(
        done.status.success() && said.ends_with("all\n"),
        "{said}{}",
        String::from_utf8_lossy(&done.stderr)
    );
}

#[test]
fn the_kernels_sockets_behave_as_the_program_expects() {
    if lacks("python3") {
        return;
    }
    let Some(net) = Net::kernel_on_both() else { return };
    let _peer = peer(&net);
    behaves(net.command(End::Ours, "python3"));
}

#[test]
fn ours_behave_alike() {
    let Some((net, stack, _peer)) = connected(&[]) else { return };
    let before = stack.descriptors();
    behaves(stack.command(&net, "python3"));
    stack.wait_for_descriptors(before);
}

#[test]
fn ours_behave_alike_by_the_kernel() {
    if ["python3", "clang"].iter().any(|program| lacks(program)) {
        return;
    }
    let Some(net) = Net::kernel_on_both() else { return };
    enable_veth_redirect_but(&net, 0);
    let Some(stack) = Stack::start_in_kernel(&net) else { return };
    let _peer = peer(&net);
    let before = stack.descriptors();
    behaves(stack.command(&net, "python3"));
    stack.wait_for_descriptors(before);
}

/// Without losses: nobody sends a reset again that was lost, so that what it should end may stay for ever.
#[test]
fn ours_behave_alike_on_a_wire_that_mixes_packets() {
    let Some((net, stack, _peer)) =
        connected(&["--fault", "reorder=3%,dup=2%,delay=300us,jitter=200us,seed=7"])
    else {
        return;
    };
    behaves(stack.command(&net, "python3"));
}

const WITHOUT_STACK: &str = "import errno
listener, peer = socket.create_server(('', 2000)), s.getpeername()
print('connected')
def told(f, *arguments):
    try:
        print(f(*arguments))
    except OSError as e:
        print(errno.errorcode[e.errno])
told(s.recv, 1)
told(s.send, b'x')
told(listener.accept)
told(socket.socket().connect, peer)
told(socket.socket().bind, ('', 2001))
";

/// Whoever loses the stack learns that its connections broke and that the network is down, and the stack that its program has
/// died.
#[test]
fn a_death_is_told_to_the_other_side() {
    let Some((net, stack, _peer)) = connected(&[]) else { return };
    let program = |code: &str| {
        let mut command = stack.command(&net, "python3");
        command.args([
            "-u",
            "-c",
            &format!(
                "import os, socket, signal\ns = socket.create_connection(('{}', 1000))\n{code}",
                Net::PEER
            ),
        ]);
        command
    };
    // Killed in the middle: the peer, which counts, sees the end of the stream.
    let killed =
        program("s.sendall(b'count\\n')\nos.kill(os.getpid(), signal.SIGKILL)").status().expect("it runs");
    assert!(!killed.success());
    let (waiting, lines) = saying(&mut program(WITHOUT_STACK), "connected");
    stack.end();
    let said: String = lines.collect::<Vec<_>>().join("\n");
    drop(waiting);
    assert_eq!(said, "ECONNRESET\nECONNRESET\nENETDOWN\nENETDOWN\nENETDOWN");
}

/// Binds as root, and then as somebody else; in the end it asks for a connection from root's port, as no library would.
const USERS: &str = "
import errno, os, socket, struct, sys
held = []
def bind(port):
    s = socket.socket()
    held.append(s)
    try:
        s.bind(('', port))
        s.listen()
        return 'ok'
    except OSError as e:
        return errno.errorcode[e.errno]
print(bind(81))
os.chmod(os.path.dirname(os.environ['CARRICK_SOCKETS']), 0o755)
os.setuid(65534)
print(*[bind(port) for port in (80, 79, 8000, 8099, 8100, 0, 81)])
peer = 0xffff << 32 | int.from_bytes(socket.inet_aton(sys.argv[1]), 'big')
def connect(local_port):
    door = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    door.connect(os.environ['CARRICK_SOCKETS'])
    ask = struct.pack('=IIQQQHHIIIIIIIII', int(sys.argv[2]), 3, 0, 0, peer, 1000, local_port, *[0] * 9)
    door.send(ask)
    return errno.errorcode.get(struct.unpack('=i', door.recv(64)[:4])[0], 'ok')
print(connect(81), connect(8100), connect(0))
";

#[test]
fn a_user_has_the_ports_that_are_allowed() {
    if lacks("python3") {
        return;
    }
    let Some(net) = Net::new() else { return };
    let stack = Stack::start_for(&net, ",65534:80,65534:8000-8099", &[]);
    let mut users = stack.command(&net, "python3");
    let said = users.args(["-u", "-c", USERS, Net::PEER, &version()]).output().expect("it starts");
    let expected = "ok\nok EACCES ok ok EACCES ok EACCES\nEACCES EACCES ok\n";
    assert_eq!(String::from_utf8_lossy(&said.stdout), expected, "{}", String::from_utf8_lossy(&said.stderr));
    stack.end();
}

/// Whatever is said at its door, and whatever descriptors come along: the stack keeps nothing of it, and serves others.
#[test]
fn a_hostile_program_is_answered_and_forgotten() {
    let Some((net, stack, _peer)) = connected(&[]) else { return };
    let before = stack.descriptors();
    let mut hostile = net.command(End::Ours, "python3");
    let said = hostile
        .arg(root().join("tests/tests/sockets/hostile.py"))
        .arg(stack.door())
        .arg(version())
        .output()
        .expect("it starts");
    assert!(said.stdout == b"said\n", "{}", String::from_utf8_lossy(&said.stderr));
    stack.wait_for_descriptors(before);
    behaves(stack.command(&net, "python3"));
}
