// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connections that one end has forgotten (RFC 9000 §10.3).

use crate::native::{connect, stream};
use crate::peer::Peer;
use crate::rebinding::{CLIENT, SERVER, stack};
use crate::wire::Heard;

/// The transport parameter that has a token, which is of 16 bytes.
const STATELESS_RESET_TOKEN: [u8; 2] = [2, 16];

/// An id of a server's, and its token.
fn id_and_token() -> (u64, Vec<u8>) {
    let mut peer = Peer::new();
    let opening = peer.opening(&peer.parameters());
    let answer = peer.tell(&opening);
    let heard = answer[0].heard();
    let Some(Heard::Crypto(parameters)) = heard.iter().find(|h| matches!(h, Heard::Crypto(_))) else {
        panic!("{heard:?}")
    };
    let at = parameters.windows(2).position(|two| two == STATELESS_RESET_TOKEN).expect("a token") + 2;
    (answer[0].scid, parameters[at..at + 16].to_vec())
}

#[test]
fn what_nobody_remembers_is_answered_with_the_token_of_its_id() {
    let (id, token) = id_and_token();
    // Another server with the same key, as it is after it was started again.
    let mut peer = Peer::new();
    peer.dcid = id;
    let mut answer = |frames: usize| {
        let packet = peer.packet(vec![1; frames]).write();
        peer.raw(&packet)
    };
    // A header has 13 bytes.
    for (frames, len) in [(9, 21), (20, 32), (30, 42), (31, 42), (1000, 42)] {
        let [one, other] = [answer(frames), answer(frames)].map(|all| all[0][28..].to_vec());
        assert_eq!((one.len(), one[0] & 0xc0), (len, 0x40), "it looks like any packet with a short header");
        assert_eq!(one[len - 16..], token, "and ends with the token");
        assert_ne!(one[..len - 16], other[..len - 16], "what is before it is random");
    }
    let nothing = Vec::<Vec<u8>>::new();
    assert_eq!(answer(8), nothing, "less than a reset");
    // Two who have forgotten each other come to an end.
    let (mut said, mut times) = (answer(1000), 0);
    while let Some(reset) = said.first() {
        said = peer.raw(&as_of_the_peer(reset));
        times += 1;
    }
    assert!(times <= 22, "{times}");
}

/// A reset as if it had come from the other end.
fn as_of_the_peer(reset: &[u8]) -> Vec<u8> {
    crate::wire::datagram(crate::peer::CLIENT, crate::peer::SERVER, &reset[28..])
}

#[test]
fn a_server_that_forgot_its_clients_tells_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let start = || {
        let mut server = stack(folder.path(), "server", "client", SERVER.0);
        server.must("listen 99", "ok");
        server
    };
    let mut server = start();
    let mut client = stack(folder.path(), "client", "server", CLIENT);
    connect(&mut client, &mut server);
    stream(&mut client, &mut server);
    server.kill();
    let mut server = start();
    // Whoever waits learns of it with the first packet that is answered.
    client.must("send 100 9", "ok 100");
    let said = client.ask("recv 10 9");
    assert!(
        said == "reset" || said == "closed",
        "as long as it waits, or after the connection has ended: {said}"
    );
    // A new connection is as good as any.
    connect(&mut client, &mut server);
}
