//! A pair of devices loses or delays what a program sends back by its own device (`XDP_TX`), by what the other end has.

use carrick_tests::net::{DEVICE, End, Net};

use super::streams::{place, server};

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
