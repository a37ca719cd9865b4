// SPDX-License-Identifier: MIT OR Apache-2.0
//! A stack with fewer descriptors than the program has connections.

use carrick_tests::net::{Net, lacks};

use super::peer;
use super::setting::Stack;

/// Opens connections until one is refused, and then one more in the place of another.
const OPENS: &str = "
import errno, socket, sys
there = []
try:
    while len(there) < 1000:
        there.append(socket.create_connection((sys.argv[1], 1000), 20))
except OSError as why:
    print(len(there), errno.errorcode[why.errno])
there.pop().close()
while True:  # its place is free when both ends have let go
    try:
        there.append(socket.create_connection((sys.argv[1], 1000), 20))
        break
    except OSError as why:
        assert why.errno == errno.ENOBUFS
for s in there:
    s.sendall(b'send 10\\n')
    assert s.recv(10, socket.MSG_WAITALL) == b'x' * 10
print(len(there))
";

#[test]
fn connections_beyond_the_descriptors_are_refused() {
    if lacks("python3") || lacks("setpriv") {
        return;
    }
    let Some(net) = Net::new() else { return };
    let stack = Stack::start_with_descriptors(&net, 300);
    let _peer = peer(&net);
    let mut python = stack.command(&net, "python3");
    let said = python.args(["-c", OPENS, Net::PEER]).output().expect("it starts");
    let lines = String::from_utf8_lossy(&said.stdout).into_owned();
    assert_eq!(lines, "44 ENOBUFS\n44\n", "{}", String::from_utf8_lossy(&said.stderr));
    let said = stack.end();
    assert!(said.contains("enough for 44 of 1024 connections"), "{said}");
    assert!(said.contains("sockets_refused_full"), "{said}");
}
