// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two programs of two users at one door of the kernel's: each has its ports, at the same time, and neither those of the other.

use carrick_tests::in_kernel::enable_veth_redirect_but;
use carrick_tests::net::{End, Net, lacks};
use carrick_tests::running::{Running, saying};

use super::setting::Stack;

/// Becomes a user, binds its own port, the other's, and one that both may have; tells how that went, and serves its own: it
/// says who it is, and sends back what comes.
const SERVER: &str = "
import errno, os, socket, sys
user, *ports = [int(arg) for arg in sys.argv[1:]]
os.chmod(os.path.dirname(os.environ['CARRICK_SOCKETS']), 0o755)
os.setuid(user)
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
print(*[bind(port) for port in ports], flush=True)
while True:
    s, _ = held[0].accept()
    s.sendall(b'%d ' % os.getuid())
    while data := s.recv(65536):
        s.sendall(data)
    s.close()
";

/// Connects to each port before it uses any, and prints who answers with the same bytes.
const CLIENT: &str = "
import os, socket, sys
def read(s, count):
    data = b''
    while len(data) < count:
        got = s.recv(count - len(data))
        assert got, 'it ended'
        data += got
    return data
there = [socket.create_connection((sys.argv[1], int(port)), 10) for port in sys.argv[2:]]
for s in there:
    s.settimeout(20)
who = [read(s, 6) for s in there]
sent = [os.urandom(50000) for s in there]
for s, octets in zip(there, sent):
    s.sendall(octets)
for s, octets, name in zip(there, sent, who):
    print(name.decode().strip() if read(s, len(octets)) == octets else 'other octets')
";

const USERS: [&str; 2] = ["65533", "65534"];
const PORTS: [&str; 2] = ["8001", "8002"];
/// Both may have it.
const SHARED: &str = "9000";

fn server(stack: &Stack, net: &Net, which: usize, bound: &str) -> Running {
    let mut python = stack.command(net, "python3");
    python.args(["-u", "-c", SERVER, USERS[which], PORTS[which], PORTS[1 - which], SHARED]);
    let (running, lines) = saying(&mut python, bound);
    std::thread::spawn(move || lines.count());
    running
}

fn answering(net: &Net, ports: &[&str]) -> String {
    let mut python = net.command(End::Peer, "python3");
    let output = python.args(["-c", CLIENT, Net::OURS]).args(ports).output().expect("python3 runs");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).trim_end().replace('\n', " ")
}

#[test]
fn two_users_serve_at_once_and_neither_has_the_others_port() {
    if ["python3", "clang"].iter().any(|program| lacks(program)) {
        return;
    }
    let Some(net) = Net::kernel_on_both() else { return };
    enable_veth_redirect_but(&net, 0);
    let rules = ",65533:8001,65534:8002,65533:9000,65534:9000";
    let Some(stack) = Stack::start_in_kernel_for(&net, rules) else { return };
    let first = server(&stack, &net, 0, "ok EACCES ok");
    let _second = server(&stack, &net, 1, "ok EACCES EADDRINUSE");
    assert_eq!(answering(&net, &PORTS), "65533 65534");
    // What ends of one is none of the other's, and what it leaves is nobody's who may not have it.
    first.end();
    assert_eq!(answering(&net, &PORTS[1..]), "65534");
    let _third = server(&stack, &net, 0, "ok EACCES ok");
    assert_eq!(answering(&net, &PORTS), "65533 65534");
    stack.end();
}
