// SPDX-License-Identifier: MIT OR Apache-2.0
//! A pair of devices loses or delays what a program sends back by its own device (`XDP_TX`), by what the other end has.
//! Where it takes no frames of programs at all, the kernel's own stack sends the answers.

use carrick_tests::net::{DEVICE, End, Net};

use super::streams::{application, place, server, serving};

/// Echoes over several connections, one after the other. Prints how many of them were answered only when a second had
/// passed, and one of the two ends had retransmitted: the peer, by its count, or the stack, by the time of its answer.
const TALK: &str = "
import socket, struct, sys
octets, late = bytes(60000), 0
for n in range(4):
    s = socket.create_connection((sys.argv[1], 7), 60)
    info = s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
    rtt, retransmitted = struct.unpack_from('I', info, 68)[0], struct.unpack_from('I', info, 100)[0]
    late += retransmitted > 0 or rtt > 900_000
    for round in range(4):
        s.sendall(octets)
        left = len(octets)
        while left:
            left -= len(s.recv(left))
    s.shutdown(socket.SHUT_WR)
    assert s.recv(1) == b''
print(late, flush=True)
";

#[test]
fn answers_arrive_whatever_the_other_end_of_the_pair_has() {
    let Some((net, _)) = place() else { return };
    let Some(running) = server(&net, "echo", &[]) else { return };
    for batches in ["off", "on"] {
        let set = net.command(End::Peer, "ethtool").args(["-K", DEVICE, "gro", batches]).status();
        assert!(set.is_ok_and(|status| status.success()), "GRO is {batches}");
        let talk = net.command(End::Peer, "python3").args(["-c", TALK, Net::OURS]).output();
        let talk = talk.expect("python3 runs");
        assert_eq!(String::from_utf8_lossy(&talk.stdout), "0\n", "GRO is {batches}: {talk:?}");
    }
    assert!(running.end().success());
}

/// While the host (argv[2]) stands still, sends SYNs from addresses that nobody has, and then bytes over a connection. They are
/// echoed when it goes on.
const FLOODED: &str = "
import os, signal, socket, struct, sys
target, host = socket.inet_aton(sys.argv[1]), int(sys.argv[2])

def total(octets):
    n = sum(struct.unpack(f'!{len(octets) // 2}H', octets))
    while n >> 16:
        n = (n & 0xFFFF) + (n >> 16)
    return ~n & 0xFFFF

def syn(n):
    source = target[:3] + bytes([100 + n % 100])
    segment = struct.pack('!HHIIBBHHH', 1024 + n, 7, n, 0, 0x50, 2, 65535, 0, 0)
    check = total(source + target + struct.pack('!BBH', 0, 6, 20) + segment)
    segment = segment[:16] + struct.pack('!H', check) + segment[18:]
    return struct.pack('!BBHHHBBH4s4s', 0x45, 0, 40, 0, 0, 64, 6, 0, source, target) + segment

def echo():
    s.sendall(bytes(1000))
    receive(1000)

def receive(left):
    while left:
        left -= len(s.recv(left))

s = socket.create_connection((sys.argv[1], 7), 60)
raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
echo()
os.kill(host, signal.SIGSTOP)
try:
    for n in range(50000):
        raw.sendto(syn(n), (sys.argv[1], 0))
    s.sendall(bytes(1000))
finally:
    os.kill(host, signal.SIGCONT)
receive(1000)
print('echoed', flush=True)
";

#[test]
fn packets_for_addresses_that_nobody_has_take_no_place_of_a_completion() {
    let Some((net, _)) = place() else { return };
    let Some((running, lines)) = serving(&mut application(&net, "echo", &[])) else { return };
    let told = std::thread::spawn(move || lines.collect::<Vec<_>>());
    let host = running.child().unwrap_or(running.id()).to_string();
    let talk = net.command(End::Peer, "python3").args(["-c", FLOODED, Net::OURS, &host]).output();
    let talk = talk.expect("python3 runs");
    assert_eq!(String::from_utf8_lossy(&talk.stdout), "echoed\n", "{talk:?}");
    assert!(running.end().success());
    let told = told.join().expect("its lines");
    let counted = |name: &str| told.iter().any(|line| line.starts_with(name));
    assert!(counted("tx_queue_full") && !counted("completion_lost"), "{told:?}");
}
