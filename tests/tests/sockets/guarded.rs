//! What the stack does with what programs give to it, and with what they leave behind.

use carrick_tests::net::{End, Net};

use super::connected;
use super::setting::version;

/// Gives a socket of its own to the stack with each kind of request, as a service's socket that takes the writer of what
/// arrives for the sender. For a connection it asks in vain that the socket be one end.
const DEPUTY: &str = "
import socket, struct, sys
door_path, version, peer = sys.argv[1], int(sys.argv[2]), sys.argv[3]
for kind in range(1, 6):
    service, given = socket.socketpair()
    service.settimeout(30)
    service.sendall(b'send 10\\n')
    door = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    door.connect(door_path)
    address = int.from_bytes(socket.inet_aton(peer), 'big')
    ask = struct.pack('=IIQIHHIIII', version, kind, 0, address if kind == 3 else 0, 1000, 0, 0, 0, 0, 0)
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
    let expected = "1\n2\n3\n4\n5\n";
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
