// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where the library may not be able to do what it does: before it was initialised, after chroot, beside another build.

use std::path::Path;
use std::process::Command;

use carrick_tests::net::{End, Net, lacks};

use super::setting::version;
use super::{connected, peer};

/// A library whose constructor reads a file, as libcap-ng's does, opens a connection, as a logger might, and closes both.
const EARLY_LIBRARY: &str = r#"
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
int octets, connected;
__attribute__((constructor)) static void begin(void) {
    char text[16];
    int fd = open("/proc/sys/kernel/cap_last_cap", O_RDONLY), s = socket(AF_INET, SOCK_STREAM, 0);
    octets = (int)read(fd, text, sizeof text);
    close(fd);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(1000)};
    inet_pton(AF_INET, getenv("PEER"), &to.sin_addr);
    connected = connect(s, (struct sockaddr *)&to, sizeof to) == 0;
    close(s);
}
"#;
const EARLY_PROGRAM: &str = r#"
#include <stdio.h>
extern int octets, connected;
int main(void) { return printf("%d octets, connected: %d\n", octets, connected) < 0; }
"#;

fn compile(dir: &Path, name: &str, code: &str, how: &[&str]) {
    let source = dir.join(name).with_extension("c");
    std::fs::write(&source, code).expect("writable");
    let done =
        Command::new("cc").arg(&source).arg("-o").arg(dir.join(name)).args(how).current_dir(dir).status();
    assert!(done.expect("cc runs").success(), "{name}");
}

/// The linker runs its constructor before that of the preloaded library.
#[test]
fn constructors_of_other_libraries_may_call_sockets() {
    let Some((net, stack, _peer)) = connected(&[]) else { return };
    let dir = tempfile::tempdir().expect("a folder");
    compile(dir.path(), "libearly.so", EARLY_LIBRARY, &["-shared", "-fPIC"]);
    compile(
        dir.path(),
        "early",
        EARLY_PROGRAM,
        &["-Wl,--no-as-needed", "-L.", "-learly", "-Wl,-rpath,$ORIGIN"],
    );
    let program = dir.path().join("early");
    let said =
        stack.command(&net, &program.to_string_lossy()).env("PEER", Net::PEER).output().expect("it starts");
    assert!(said.status.success(), "{said:?}");
    assert_eq!(String::from_utf8_lossy(&said.stdout), "3 octets, connected: 1\n");
}

/// Listens, changes its root to an empty folder, and its user; then it opens a connection, accepts one and sets its options.
const CHROOTED: &str = "
import encodings.idna, os, socket, sys, tempfile
listener = socket.create_server(('', 2000))
os.chmod(os.path.dirname(os.environ['CARRICK_SOCKETS']), 0o755)
folder = tempfile.mkdtemp()
os.chmod(folder, 0o755)
os.chroot(folder)
os.chdir('/')
os.setuid(65534)
s = socket.create_connection((sys.argv[1], 1000))
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
assert s.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 1
s.sendall(b'call 2000 hello\\n')
accepted, _ = listener.accept()
accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
assert accepted.recv(5, socket.MSG_WAITALL) == b'hello'
accepted.close()
assert s.recv(100).startswith(b' at')
try:
    socket.socket().bind(('', 80))
except PermissionError:
    print('as its user')
";

#[test]
fn programs_that_change_their_root_keep_the_stack() {
    if lacks("python3") {
        return;
    }
    let Some(net) = Net::new() else { return };
    let stack = super::Stack::start_for(&net, ",65533:80", &[]);
    let _peer = peer(&net);
    let mut python = stack.command(&net, "python3");
    let said = python.args(["-c", CHROOTED, Net::PEER]).output().expect("it starts");
    let text = String::from_utf8_lossy(&said.stderr);
    assert_eq!(String::from_utf8_lossy(&said.stdout), "as its user\n", "{text}");
    stack.end();
}

/// A stack of another build, as far as its answers tell: it refuses the version, or its messages have another length.
const OTHER_STACK: &str = "
import os, socket, struct, sys, tempfile
path = os.path.join(tempfile.mkdtemp(), 'door')
door = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
door.bind(path)
door.listen()
os.environ.update(LD_PRELOAD=sys.argv[1], CARRICK_SOCKETS=path)
code = '''
import errno, socket
for _ in range(2):
    try:
        socket.socket().connect(('10.77.0.2', 1000))
    except OSError as e:
        print(errno.errorcode[e.errno], flush=True)
'''
for answer in (struct.pack('=i', 71) + bytes(44), bytes(8)):
    child = os.posix_spawn(sys.executable, [sys.executable, '-c', code], os.environ)
    for _ in range(2):
        asked, _ = door.accept()
        asked.recv(1000)
        asked.send(answer)
    os.waitpid(child, 0)
";

#[test]
fn a_library_of_another_build_is_told() {
    let Some((net, stack, _peer)) = connected(&[]) else { return };
    let mut python = net.command(End::Ours, "python3");
    let said = python.args(["-c", OTHER_STACK]).arg(stack.library()).output().expect("it starts");
    let warned = String::from_utf8_lossy(&said.stderr);
    assert_eq!(String::from_utf8_lossy(&said.stdout), "EPROTO\n".repeat(4), "{warned}");
    assert_eq!(warned.matches("are of different builds").count(), 2, "once for each program: {warned}");
    // And the other way round: the stack answers what has another version, whatever its length is.
    const OTHER_LIBRARY: &str = "
import socket, struct, sys
for rest in (0, 4, 100, 300):
    door = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    door.connect(sys.argv[1])
    door.send(struct.pack('=I', int(sys.argv[2]) + 1) + bytes(rest))
    print(struct.unpack('=i', door.recv(64)[:4])[0])
";
    let mut library = net.command(End::Ours, "python3");
    let said =
        library.args(["-c", OTHER_LIBRARY]).arg(stack.door()).arg(version()).output().expect("it starts");
    assert_eq!(String::from_utf8_lossy(&said.stdout), "71\n".repeat(4), "{said:?}");
}
