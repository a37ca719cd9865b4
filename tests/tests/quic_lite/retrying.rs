// SPDX-License-Identifier: MIT OR Apache-2.0
//! A server that has each client show that it is where it says (RFC 9000 §8.1.2, §17.2.5).

use crate::peer::{MS, Peer};
use crate::wire::{HANDSHAKE, Heard, Packet, RETRY};

const FIRST_ID: u64 = 0x0102_0304_0506_0708;
const INVALID_TOKEN: u64 = 0x0b;

/// A client, the Retry that it got, and what it says to that.
fn retried() -> (Peer, Packet, Packet) {
    let mut peer = Peer::of_server(&[("retry", 1)]);
    let kept = peer.core.open_contexts();
    let opening = peer.opening(&peer.parameters());
    let mut answer = peer.tell(&opening);
    assert_eq!(answer.len(), 1, "{answer:?}");
    let retry = answer.remove(0);
    assert_eq!((retry.long, retry.token.len()), (Some(RETRY), 24), "{retry:?}");
    assert_eq!(retry.dcid, opening.scid);
    assert_ne!(retry.scid, opening.dcid, "RFC 9000 §17.2.5.1");
    assert_eq!(peer.core.open_contexts(), kept, "nothing is kept for it");
    let mut again = peer.opening(&peer.parameters());
    again.dcid = retry.scid;
    again.token = retry.token.clone();
    (peer, retry, again)
}

/// A transport parameter that is an id.
fn id(parameters: &[u8], number: u8) -> u64 {
    let at = parameters.windows(2).position(|two| two == [number, 8]).expect("the parameter") + 2;
    u64::from_be_bytes(parameters[at..at + 8].try_into().expect("eight octets"))
}

#[test]
fn a_client_that_shows_its_token_is_let_in() {
    let (mut peer, retry, again) = retried();
    let answer = peer.tell(&again);
    assert_eq!(answer[0].long, Some(HANDSHAKE), "{answer:?}");
    let heard = answer[0].heard();
    let Some(Heard::Crypto(parameters)) = heard.iter().find(|h| matches!(h, Heard::Crypto(_))) else {
        panic!("{heard:?}")
    };
    // RFC 9000 §7.3: both ids that it has spoken to, so that nobody else can have sent the Retry.
    assert_eq!((id(parameters, 0x00), id(parameters, 0x10)), (FIRST_ID, retry.scid));
    peer.dcid = answer[0].scid;
    assert!(peer.say(&[1]).contains(&Heard::Done));
}

#[test]
fn a_token_is_good_for_one_address_and_one_id_and_for_a_while() {
    let wrong: [fn(&mut Peer, &mut Packet); 5] = [
        |_, packet| packet.from.1 += 1,
        |_, packet| packet.from.0 += 1,
        |_, packet| packet.dcid ^= 1 << 40,
        |_, packet| packet.token[23] ^= 1,
        |peer, _| peer.now += 10_001 * MS,
    ];
    for (case, change) in wrong.iter().enumerate() {
        let (mut peer, _, mut again) = retried();
        change(&mut peer, &mut again);
        let heard: Vec<Heard> = peer.tell(&again).iter().flat_map(Packet::heard).collect();
        let closed = Heard::Close { error: INVALID_TOKEN, of_transport: true };
        assert_eq!(heard, [closed], "case {case}");
    }
    let (mut peer, _, again) = retried();
    peer.now += 9_999 * MS;
    assert_eq!(peer.tell(&again)[0].long, Some(HANDSHAKE));
}
