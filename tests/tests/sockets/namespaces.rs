// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs that no library reaches: a stack serves all that is in a network namespace.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use carrick_tests::build::{host, root};
use carrick_tests::in_kernel::enable_veth_redirect_but;
use carrick_tests::net::{End, Net, lacks};
use carrick_tests::running::{Running, saying, serve, started};

use super::setting::{PATIENCE, Stack};
use super::space::Space;
use super::{behaves_but, peer, peer_at};

/// Makes what a stack serves.
type Make = fn(&Net) -> Option<Space>;

const NAMESPACE: Make = |net| Some(Space::namespace(net));

/// A stack that serves such a space, and the service at the other end of its wire.
pub fn connected_in(space: Make, more: &[&str]) -> Option<(Net, Stack, Running)> {
    if lacks("python3") {
        return None;
    }
    let net = Net::new()?;
    let stack = Stack::start_serving(&net, space(&net)?, "", more);
    let peer = peer(&net);
    Some((net, stack, peer))
}

/// The same for a namespace.
fn connected(more: &[&str]) -> Option<(Net, Stack, Running)> {
    connected_in(NAMESPACE, more)
}

/// All cases but one: `TCP_INFO` is of the connection to the host.
fn behaves_between(program: Command, ours: &str, peer: &str) {
    behaves_but(program, ours, peer, &["the_inside_is_told"]);
}

pub fn behaves(program: Command) {
    behaves_between(program, Net::OURS, Net::PEER);
}

/// Programs of such a space, over a stack in a process.
pub fn programs_behave(space: Make) {
    let Some((net, stack, _peer)) = connected_in(space, &[]) else { return };
    let before = stack.descriptors();
    behaves(stack.command(&net, "python3"));
    stack.wait_for_descriptors(before);
    stack.end();
}

/// The same over a stack in the kernel.
pub fn programs_behave_by_the_kernel(space: Make) {
    if ["python3", "clang"].iter().any(|program| lacks(program)) {
        return;
    }
    let Some(net) = Net::kernel_on_both() else { return };
    enable_veth_redirect_but(&net, 0);
    let Some(stack) = space(&net).and_then(|space| Stack::start_in_kernel_serving(&net, space)) else {
        return;
    };
    let _peer = peer(&net);
    behaves(stack.command(&net, "python3"));
    stack.end();
}

/// The same over IPv6.
pub fn programs_behave_over_ipv6(space: Make) {
    if lacks("python3") {
        return;
    }
    let Some(net) = Net::new() else { return };
    let given = net.sysctl(End::Ours, "net.ipv6.conf.lo.disable_ipv6=0");
    if given.and_then(|()| net.take_ipv6(End::Peer, "fd00:77::2")).is_err() {
        return;
    }
    let Some(space) = space(&net) else { return };
    let stack = Stack::start_serving_over_ipv6(&net, space, "fd00:77::1");
    let _peer = peer_at(&net, "fd00:77::2");
    behaves_between(stack.command(&net, "python3"), "fd00:77::1", "fd00:77::2");
    stack.end();
}

#[test]
fn programs_in_it_behave_alike() {
    programs_behave(NAMESPACE);
}

#[test]
fn programs_in_it_behave_alike_by_the_kernel() {
    programs_behave_by_the_kernel(NAMESPACE);
}

#[test]
fn programs_in_it_behave_alike_over_ipv6() {
    programs_behave_over_ipv6(NAMESPACE);
}

#[test]
fn programs_in_it_behave_alike_on_a_wire_that_mixes_packets() {
    let faults = ["--fault", "reorder=3%,dup=2%,delay=300us,jitter=200us,seed=7"];
    let Some((net, stack, _peer)) = connected(&faults) else { return };
    behaves(stack.command(&net, "python3"));
}

/// Builds a program that a library cannot reach. `None`, said aloud, where its compiler is missing.
pub fn built(compiler: &str, arguments: &[&str], source: &str, dir: &Path) -> Option<PathBuf> {
    if lacks(compiler) {
        return None;
    }
    let program = dir.join(Path::new(source).file_stem().expect("it has a name"));
    let mut command = Command::new(compiler);
    command.args(arguments).arg("-o").arg(&program).arg(root().join("tests/tests/sockets").join(source));
    command.env("CGO_ENABLED", "0").env("GO111MODULE", "off");
    let done = command.output().expect("it starts");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    Some(program)
}

/// Echoes to the program in the space, and has the program echo, with that program at both ends.
pub fn echoes_both_ways(program: &Path, net: &Net, space: Space) {
    let stack = Stack::start_serving(net, space, "", &[]);
    let said = |mut command: Command, arguments: &[&str]| {
        let done = command.args(arguments).output().expect("it starts");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8_lossy(&done.stdout).into_owned()
    };
    let program = program.to_string_lossy();
    let theirs = serve(net.command(End::Peer, &program).args(["serve", "0.0.0.0:7001"]), "serving");
    let address = format!("{}:7001", Net::PEER);
    assert_eq!(said(stack.command(net, &program), &["ask", &address]), "3000000 the same\n");
    drop(theirs);
    let _ours = serve(stack.command(net, &program).args(["serve", "0.0.0.0:7002"]), "serving");
    let address = format!("{}:7002", Net::OURS);
    assert_eq!(said(net.command(End::Peer, &program), &["ask", &address]), "3000000 the same\n");
    stack.end();
}

/// Go makes its system calls itself.
#[test]
fn a_program_of_go_is_served() {
    let dir = tempfile::tempdir().expect("a folder");
    let Some(program) = built("go", &["build"], "echo.go", dir.path()) else { return };
    if let Some(net) = Net::new() {
        echoes_both_ways(&program, &net, Space::namespace(&net));
    }
}

/// One without a dynamic linker, whose bytes and connections go through a ring that it shares with the kernel.
#[test]
fn a_static_program_with_io_uring_is_served() {
    let dir = tempfile::tempdir().expect("a folder");
    let Some(program) = built("cc", &["-static", "-O1", "-Wall", "-Werror"], "ring.c", dir.path()) else {
        return;
    };
    let has_ring = Command::new(&program).arg("probe").status().expect("it starts").success();
    if !has_ring {
        carrick_tests::net::skip("this kernel has no io_uring");
        return;
    }
    if let Some(net) = Net::new() {
        echoes_both_ways(&program, &net, Space::namespace(&net));
    }
}

const UNTIL_IT_ENDS: &str = "
import errno, socket, sys
s = socket.create_connection((sys.argv[1], 1000))
print('connected', flush=True)
try:
    print(s.recv(1))
except OSError as e:
    print(errno.errorcode[e.errno])
";

/// Kills it while a program waits for the peer: a dead stack must not look like the end of a stream.
pub fn left_without_a_stack(net: &Net, stack: Stack) -> Space {
    let mut program = stack.command(net, "python3");
    let (waiting, lines) = saying(program.args(["-u", "-c", UNTIL_IT_ENDS, Net::PEER]), "connected");
    let space = stack.kill();
    assert_eq!(lines.collect::<Vec<_>>(), ["ECONNRESET"]);
    drop(waiting);
    space
}

/// And nobody connects to what nobody serves.
#[test]
fn a_stack_that_is_killed_leaves_nothing_that_waits() {
    let Some((net, stack, _peer)) = connected(&[]) else { return };
    let space = left_without_a_stack(&net, stack);
    let rules =
        || space.command("ip").args(["rule", "show", "ipproto", "tcp"]).output().expect("it starts").stdout;
    let begin = Instant::now();
    while !rules().is_empty() {
        assert!(begin.elapsed() < PATIENCE, "the namespace is not given back");
    }
    let late = space.command("python3").args(["-c", UNTIL_IT_ENDS, Net::PEER]).output().expect("it starts");
    let said = String::from_utf8_lossy(&late.stderr).into_owned();
    assert!(said.contains("Network is unreachable"), "{said}");
}

/// The stack cannot serve without it.
#[test]
fn a_stack_whose_keeper_is_killed_ends_with_a_sentence() {
    let Some(net) = Net::new() else { return };
    let stack = Stack::start_with_space(&net, "", &[]);
    let children =
        std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", stack.id())).expect("it runs");
    let keeper = children.split_whitespace().next().expect("the keeper").to_owned();
    let killed = Command::new("kill").args(["-KILL", &keeper]).status().expect("it starts");
    assert!(killed.success());
    let said = stack.fails();
    assert!(said.contains("keeps what is served has ended"), "{said}");
}

/// A stack does not serve the next space of this name, so it ends.
pub fn ends_with_its_space(make: Make) {
    let Some(net) = Net::new() else { return };
    let Some(space) = make(&net) else { return };
    let stack = Stack::start_serving(&net, space, "", &[]);
    stack.space().replace();
    let said = stack.misses();
    assert!(said.contains("is gone: the stack ends, and has to be started again."), "{said}");
    assert!(!said.contains("keeps what is served has ended"), "one sentence: {said}");
}

#[test]
fn a_stack_whose_namespace_is_removed_ends_with_a_sentence() {
    ends_with_its_space(NAMESPACE);
}

const SAYS_AND_CLOSES: &str = "
import socket
listening = socket.create_server(('', 7000), backlog=64)
print('listening', flush=True)
while True:
    accepted, _ = listening.accept()
    accepted.sendall(b'all of it')
    accepted.close()
";

const ASKS_OFTEN: &str = "
import collections, socket, sys, threading
said = collections.Counter()
def told():
    try:
        with socket.create_connection((sys.argv[1], 7000), 60) as s:
            got = b''
            while piece := s.recv(100):
                got += piece
            return got.decode()
    except OSError as e:
        return type(e).__name__
while told() == 'ConnectionRefusedError':
    pass
def work():
    for _ in range(50):
        said[told()] += 1
workers = [threading.Thread(target=work) for _ in range(8)]
[w.start() for w in workers]
[w.join() for w in workers]
print(dict(said))
";

/// Its socket is gone before the stack has seen that both ends are joined.
#[test]
fn a_program_that_closes_at_once_has_said_all() {
    let Some((net, stack, _peer)) = connected(&[]) else { return };
    // So it is always late.
    let late = Command::new("renice").args(["-n", "19", "-p", &stack.id().to_string()]).output();
    assert!(late.expect("it starts").status.success());
    let _program = serve(stack.command(&net, "python3").args(["-u", "-c", SAYS_AND_CLOSES]), "listening");
    let done = net.command(End::Peer, "python3").args(["-c", ASKS_OFTEN, Net::OURS]).output();
    assert_eq!(String::from_utf8_lossy(&done.expect("it starts").stdout), "{'all of it': 400}\n");
    stack.end();
}

const PORTS: &str = "
import os, socket
os.setuid(65534)
held = [socket.create_server(('', port)) for port in (8000, 8100)]
print('listening', flush=True)
held[0].accept()
";

/// The kernel lets a program listen; who may be reached is the stack's.
#[test]
fn a_user_is_served_on_its_ports_alone() {
    if lacks("python3") {
        return;
    }
    let Some(net) = Net::new() else { return };
    let stack = Stack::start_with_space(&net, ",65534:8000", &[]);
    let _listening = serve(stack.command(&net, "python3").args(["-c", PORTS]), "listening");
    let code = format!(
        "import socket, time
def told(port):
    try:
        return socket.create_connection(('{0}', port)) and 'ok'
    except ConnectionRefusedError:
        return 'refused'
while told(8000) != 'ok':
    time.sleep(0.01)
print(told(8100))",
        Net::OURS
    );
    let done = net.command(End::Peer, "python3").args(["-c", &code]).output().expect("it starts");
    assert_eq!(String::from_utf8_lossy(&done.stdout), "refused\n");
    let said = stack.end();
    assert!(said.contains("user 65534 is not served on port 8100: Permission denied"), "{said}");
}

/// What a stack says that cannot serve this.
pub fn refused(net: &Net, app: &str) -> String {
    let mut command = net.command(End::Ours, &host("protocols/tcp/tcp.mtp").to_string_lossy());
    command.args(["--port", &net.port(), "--addr", "10.77.0.1/24", "--app", app]);
    let (running, lines) = started(&mut command);
    let said = lines.collect::<Vec<_>>().join("\n");
    assert!(!running.ended().success());
    said
}

#[test]
fn a_namespace_that_is_not_there_is_named() {
    let Some(net) = Net::new() else { return };
    let said = refused(&net, "sockets:netns=nowhere");
    assert!(
        said.contains("`nowhere`: the namespace: No such file or directory. Make one: `ip netns add"),
        "{said}"
    );
    for none in ["", ".", "/etc/passwd"] {
        let said = refused(&net, &format!("sockets:netns={none}"));
        assert!(said.contains(&format!("`{none}`: it is no network namespace: write a name")), "{said}");
    }
}

/// All other programs of the machine would lose their connections.
#[test]
fn the_hosts_own_namespace_is_not_served() {
    let Some(net) = Net::new() else { return };
    for own in [net.name(End::Ours), "/proc/self/ns/net"] {
        let said = refused(&net, &format!("sockets:netns={own}"));
        assert!(said.contains(&format!("`{own}`: it is this host's own: make another")), "{said}");
    }
}
