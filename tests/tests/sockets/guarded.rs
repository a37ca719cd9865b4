// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the stack does with what programs give to it, and with what they leave behind.

use carrick_tests::net::{End, Net, lacks};
use carrick_tests::running::saying;

use super::setting::{Stack, version};
use super::{behaves, connected};

/// Gives a socket of its own to the stack with each kind of request, as a service's socket that takes the writer of what
/// arrives for the sender. For a connection it asks in vain that the socket be one end.
const DEPUTY: &str = "
import socket, struct, sys
door_path, version, peer = sys.argv[1], int(sys.argv[2]), sys.argv[3]
for kind in range(1, 10):
    service, given = socket.socketpair()
    service.settimeout(30)
    service.sendall(b'send 10\\n')
    door = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    door.connect(door_path)
    address = 0xffff << 32 | int.from_bytes(socket.inet_aton(peer), 'big')
    ask = struct.pack('=IIQQQHHIIIIIIIII', version, kind, 0, 0, address if kind == 3 else 0, 1000, 0, 0, 0, 0, 0, *[0xffffffff] * 5)
    socket.send_fds(door, [ask], [given.fileno()])
    given.close()
    got, ends, _, _ = socket.recv_fds(door, 64, 1)
    if kind == 3:
        assert struct.unpack('=i', got[:4])[0] == 0, 'it is not refused'
        assert struct.unpack('=i', door.recv(64)[:4])[0] == 0, 'it is made'
        end = socket.socket(fileno=ends[0])
        end.sendall(b'send 10\\n')
        assert end.recv(10, socket.MSG_WAITALL) == b'x' * 10
    try:
        assert service.recv(1) == b'', 'the stack wrote to it'
    except ConnectionResetError:
        pass  # it is closed, and nobody has read what was sent there
    print(kind)
";

#[test]
fn a_programs_descriptor_is_neither_read_nor_written() {
    let Some((net, stack, _peer)) = connected(&[]) else { return };
    let before = stack.descriptors();
    let mut deputy = net.command(End::Ours, "python3");
    deputy.args(["-u", "-c", DEPUTY]).arg(stack.door()).args([&version(), Net::PEER]);
    let said = deputy.output().expect("it starts");
    let expected = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    assert_eq!(String::from_utf8_lossy(&said.stdout), expected, "{}", String::from_utf8_lossy(&said.stderr));
    stack.wait_for_descriptors(before);
}

/// What a program does before it goes; nobody has the address ending in 77.
const LEAVING: [(&str, &str); 5] = [
    ("closes while it connects", "s = begin(); s.close()"),
    ("dies while it connects", "s = begin(); die()"),
    (
        "dies while a thread waits for a connection",
        "threading.Thread(target=lambda: socket.create_connection(NOBODY)).start(); s = begin(); die()",
    ),
    (
        "dies with data that nobody has read, in both directions",
        "s = socket.create_connection(PEER); s.sendall(b'echo\\n' + b'x' * 200000); s.recv(1); die()",
    ),
    ("dies with a listener", "l = socket.create_server(('', 2000)); die()"),
];

const LEAVER: &str = "
import os, signal, socket, sys, threading
NOBODY, PEER = (sys.argv[1].rsplit('.', 1)[0] + '.77', 9), (sys.argv[1], 1000)
def begin():
    s = socket.socket()
    s.setblocking(False)
    assert s.connect_ex(NOBODY) == 115
    return s
def die():
    os.kill(os.getpid(), signal.SIGKILL)
exec(sys.argv[2])
";

/// At once: its handshake alone would go on for two minutes.
#[test]
fn what_a_program_leaves_is_given_back_at_once() {
    let Some((net, stack, _peer)) = connected(&[]) else { return };
    let before = stack.descriptors();
    for (what, code) in LEAVING {
        println!("{what}");
        let mut python = stack.command(&net, "python3");
        let said = python.args(["-u", "-c", LEAVER, Net::PEER, code]).output().expect("it starts");
        assert!(said.stderr.is_empty(), "{what}: {}", String::from_utf8_lossy(&said.stderr));
        stack.wait_for_descriptors(before);
    }
    let said = stack.end();
    assert!(!said.contains("open_contexts"), "{said}");
}

/// A stack that is stopped: what has to ask it ends with an error, also a call that does not wait. It goes on, and so do they.
const STOPPED: &str = "
import errno, os, signal, socket, sys
stack, peer = int(sys.argv[1]), (sys.argv[2], 1000)
old = socket.create_connection(peer)
os.kill(stack, signal.SIGSTOP)
try:
    for waits in (True, False):
        s = socket.socket()
        s.setblocking(waits)
        print(errno.errorcode[s.connect_ex(peer)], flush=True)
finally:
    os.kill(stack, signal.SIGCONT)
for s in (old, socket.create_connection(peer)):
    s.sendall(b'echo\\n' + b'x' * 1000)
    s.shutdown(socket.SHUT_WR)
    print(len(b''.join(iter(lambda: s.recv(65536), b''))), flush=True)
";

#[test]
fn a_stack_that_is_stopped_holds_no_call_for_ever() {
    let Some((net, stack, _peer)) = connected(&[]) else { return };
    let before = stack.descriptors();
    let mut python = stack.command(&net, "python3");
    python.args(["-u", "-c", STOPPED, &stack.id().to_string(), Net::PEER]);
    let said = python.output().expect("it starts");
    let expected = "ENETDOWN\nENETDOWN\n1000\n1000\n";
    assert_eq!(String::from_utf8_lossy(&said.stdout), expected, "{}", String::from_utf8_lossy(&said.stderr));
    stack.wait_for_descriptors(before);
}

/// Fills all that there is between it and a peer that reads nothing, and goes.
const FILLER: &str = "
import select, socket, sys
s = socket.create_connection((sys.argv[1], 1000))
s.sendall(b'hold filler\\n')
assert s.recv(1) == b'!'
s.setblocking(False)
while select.select([], [s], [], 0.2)[1]:
    s.send(b'x' * 65536)
";

/// A peer that answers and takes nothing holds no place of a program that is gone.
#[test]
fn what_nobody_takes_is_given_up_once_its_program_is_gone() {
    let Some((net, stack, _peer)) = connected(&["--set", "orphan_time=500ms"]) else { return };
    let before = stack.descriptors();
    let mut python = stack.command(&net, "python3");
    let said = python.args(["-u", "-c", FILLER, Net::PEER]).output().expect("it starts");
    assert!(said.stderr.is_empty(), "{}", String::from_utf8_lossy(&said.stderr));
    stack.wait_for_descriptors(before);
    let said = stack.end();
    assert!(!said.contains("open_contexts"), "{said}");
}

/// For each user, with so many connections and a port: becomes that user, listens for many, accepts all that it may have,
/// says so on each, and ends them; then it accepts one more.
const LIMITED: &str = "
import os, socket, sys
os.chmod(os.path.dirname(os.environ['CARRICK_SOCKETS']), 0o755)
for user, most in [map(int, arg.split('#')) for arg in sys.argv[1:]]:
    if os.fork():
        continue
    os.setuid(user)
    listener = socket.socket()
    listener.bind(('', user - 60000 + 2000))
    listener.listen(511)
    os.write(1, b'listening\\n')
    held = [listener.accept()[0] for _ in range(most)]
    for s in held:
        s.sendall(b'one of all')
    for s in held:
        assert s.recv(1) == b''
        s.close()
    listener.accept()[0].sendall(b'one more')
    os._exit(0)
while os.wait():
    pass
";

const LIMITED_PEER: &str = "
import socket, sys
for user, most in [map(int, arg.split('#')) for arg in sys.argv[2:]]:
    there = [socket.create_connection((sys.argv[1], user - 60000 + 2000), 20) for _ in range(most)]
    for s in there:
        s.settimeout(20)
        assert s.recv(10) == b'one of all'
    more = socket.create_connection((sys.argv[1], user - 60000 + 2000), 20)
    more.settimeout(20)
    for s in there:
        s.close()
    assert more.recv(8) == b'one more'
    print(user, most)
";

const LIMITS: [&str; 6] = ["60001#1", "60002#2", "60004#4", "60008#8", "60016#16", "60032#32"];

#[test]
fn a_user_has_all_of_its_share_however_many_may_wait() {
    let limits: String = LIMITS.iter().map(|limit| format!(",{limit}")).collect();
    if lacks("python3") {
        return;
    }
    let Some(net) = Net::new() else { return };
    let stack = Stack::start_for(&net, &limits, &[]);
    let mut python = stack.command(&net, "python3");
    let (_servers, mut lines) = saying(python.args(["-u", "-c", LIMITED]).args(LIMITS), "listening");
    assert_eq!(
        lines.by_ref().take(LIMITS.len() - 1).filter(|line| line == "listening").count(),
        LIMITS.len() - 1
    );
    let mut peer = net.command(End::Peer, "python3");
    let said = peer.args(["-u", "-c", LIMITED_PEER, Net::OURS]).args(LIMITS).output().expect("it starts");
    let expected: String = LIMITS.iter().map(|limit| limit.replace('#', " ") + "\n").collect();
    assert_eq!(String::from_utf8_lossy(&said.stdout), expected, "{}", String::from_utf8_lossy(&said.stderr));
}

/// What the stack does not have is refused, and not taken in silence.
const REFUSED: &str = "
import errno, socket, sys
def refused(option, ask):
    try:
        ask()
        print(option, 'is taken')
    except OSError as e:
        assert e.errno == errno.ENOPROTOOPT, e
fresh, bound, six = socket.socket(), socket.socket(), socket.socket(socket.AF_INET6)
bound.bind(('', 0))
connected = socket.create_connection((sys.argv[1], 1000))
for option in (socket.TCP_CONGESTION, socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL, socket.TCP_KEEPCNT, socket.TCP_MAXSEG):
    for s in (fresh, bound, six, connected):
        refused(option, lambda: s.setsockopt(socket.IPPROTO_TCP, option, 1))
    if option != socket.TCP_MAXSEG:
        refused(option, lambda: connected.getsockopt(socket.IPPROTO_TCP, option))
for s in (fresh, bound, connected):
    refused(socket.IP_TTL, lambda: s.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, 3))
# The kernel's sockets have all of its options.
home = socket.create_server(('127.0.0.1', 0))
for s in (home, socket.create_connection(home.getsockname())):
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 7)
datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
datagrams.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, 3)
six.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
";

#[test]
fn options_that_the_stack_does_not_have_are_refused() {
    let Some((net, stack, _peer)) = connected(&[]) else { return };
    let said = stack.command(&net, "python3").args(["-c", REFUSED, Net::PEER]).output().expect("it starts");
    assert!(said.status.success() && said.stdout.is_empty(), "{said:?}");
}

/// What a process may still do, as its status says.
fn may(pid: u32) -> String {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    let wanted = ["Uid:", "CapPrm:", "CapEff:", "NoNewPrivs:", "Seccomp:"];
    let lines = status.lines().filter(|line| wanted.iter().any(|name| line.starts_with(name)));
    lines.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ") + "\n").collect()
}

#[test]
fn a_stack_that_serves_has_no_privileges() {
    for (user, uid) in [(&[][..], "0"), (&["--user", "65534"][..], "65534")] {
        let Some((net, stack, _peer)) = connected(user) else { return };
        behaves(stack.command(&net, "python3"));
        let expected = format!(
            "Uid: {uid} {uid} {uid} {uid}\nCapPrm: 0000000000000000\nCapEff: 0000000000000000\nNoNewPrivs: 1\nSeccomp: 2\n"
        );
        assert_eq!(may(stack.id()), expected);
        stack.end();
    }
}
