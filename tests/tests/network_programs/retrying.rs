// SPDX-License-Identifier: MIT OR Apache-2.0
//! The transport by itself: each request is executed once, whatever the network does, and the time between retries is constant.

use std::collections::BTreeMap;

use carrick_driver::Over;
use carrick_ir::STATUS_NAMES;
use carrick_sim::ip::{checksum, mend_checksum};
use carrick_tests::pattern::fill;
use carrick_tests::seeds::seeds;

use crate::host::{Ended, Host, PORT, program};
use crate::world::{Applications, MILLISECOND, World, address};

const REQUESTS: u32 = 40;
const SERVER: usize = 2;

/// Bytes that no other message has.
fn octets(client: usize, number: u32, response: bool) -> Vec<u8> {
    let len = 8 + (number as usize * 397 + client * 131 + usize::from(response) * 977) % 6000;
    let mut octets = vec![0; len];
    fill(u64::from(number), 0, &mut octets);
    octets[..4].copy_from_slice(&number.to_be_bytes());
    (octets[4], octets[5]) = (client as u8, u8::from(response));
    octets
}

fn number_of(octets: &[u8]) -> (usize, u32) {
    (usize::from(octets[4]), u32::from_be_bytes(octets[..4].try_into().expect("four bytes")))
}

/// Two clients and a server.
#[derive(Default)]
struct Counting {
    begun: [u32; SERVER],
    executed: BTreeMap<(usize, u32), u32>,
    answered: u32,
    failed: u32,
}

impl Applications for Counting {
    fn next(&mut self, client: usize, _now: u64) -> Option<(u32, Vec<u8>)> {
        let begun = self.begun.get_mut(client).filter(|begun| **begun < REQUESTS)?;
        *begun += 1;
        Some((address(SERVER), octets(client, *begun, false)))
    }

    fn serve(&mut self, server: usize, request: &[u8]) -> Vec<u8> {
        let (client, number) = number_of(request);
        assert_eq!((server, request), (SERVER, &octets(client, number, false)[..]), "a request is whole");
        *self.executed.entry((client, number)).or_default() += 1;
        octets(client, number, true)
    }

    fn ended(&mut self, client: usize, rpc: Ended) {
        let (_, number) = number_of(&rpc.request);
        let Ok(response) = rpc.response else {
            self.failed += 1;
            return;
        };
        assert_eq!(response, octets(client, number, true), "it is the response to this request");
        self.answered += 1;
    }
}

/// `CARRICK_SEEDS` is the number of seeds.
#[test]
fn each_request_is_executed_once() {
    let seeds = seeds(30);
    let mut failed = 0;
    for seed in 1..=seeds {
        let mut world = World::new(3, &["rto=2ms", "retries_max=20", "remember=60ms"], None, seed);
        let mut counting = Counting::default();
        world.run(&mut counting);
        world.settle(&mut counting);
        let twice: Vec<_> = counting.executed.iter().filter(|(_, times)| **times != 1).collect();
        assert!(twice.is_empty(), "seed {seed}: {twice:?}");
        assert!(counting.executed.len() as u32 >= counting.answered, "seed {seed}");
        assert_eq!(counting.answered + counting.failed, 2 * REQUESTS, "seed {seed}: each RPC ends");
        assert!(world.hosts.iter().all(|host| host.open_contexts() == 1), "seed {seed}: all is forgotten");
        failed += counting.failed;
    }
    // Timeouts are for few: the sum tells of a transport that gives up.
    assert!(u64::from(failed) * 100 <= seeds * u64::from(2 * REQUESTS), "{failed} failed");
}

fn host(settings: &[&str]) -> Host {
    Host::new(&program("protocols/udp-retry/udp-retry.mtp", Over::Ipv4), address(0), 5, settings)
}

#[test]
fn a_client_retries_at_constant_intervals_and_gives_up() {
    let mut host = host(&["rto=125us", "retries_max=4", "remember=1ms"]);
    host.request(address(1), b"a request");
    host.pass(MILLISECOND);
    let sent = host.packets();
    let times: Vec<u64> = sent.iter().map(|(at, _)| *at).collect();
    assert_eq!(times, [0, 125_000, 250_000, 375_000, 500_000]);
    assert!(sent.iter().all(|(_, octets)| octets[20..] == sent[0].1[20..]), "the same bytes each time");
    let ended = host.ended();
    let status = ended[0].response.as_ref().expect_err("nobody answers");
    assert_eq!(STATUS_NAMES[usize::from(*status)], "TIMED_OUT");
    assert_eq!(host.open_contexts(), 1, "the endpoint");
}

/// RFC 768: over the pseudo-header and the datagram; 0 if the checksum in it is right.
fn udp_checksum(packet: &[u8]) -> u16 {
    checksum(&[&packet[12..20], &[0, 17], &packet[24..26], &packet[20..]])
}

#[test]
fn a_message_is_datagrams_with_its_place_in_it() {
    let mut host = host(&[]);
    let request = octets(0, 14, false);
    assert!(request.len() > 2 * 1500);
    host.request(address(1), &request);
    let mut next = 0;
    for (_, packet) in host.packets() {
        assert_eq!((packet[9], &packet[16..20]), (17, &address(1).to_be_bytes()[..]), "UDP to the server");
        let word = |at: usize| u32::from_be_bytes(packet[at..at + 4].try_into().expect("four bytes"));
        let half = |at: usize| u16::from_be_bytes([packet[at], packet[at + 1]]);
        assert_eq!([half(20), half(22)], [PORT, PORT]);
        assert_eq!(usize::from(half(24)), packet.len() - 20, "RFC 768's length");
        assert_eq!(udp_checksum(&packet), 0, "RFC 768's checksum");
        assert_eq!((word(40) as usize, word(44) as usize), (request.len(), next), "no response, all of it");
        assert_eq!(packet[48..], request[next..next + packet.len() - 48]);
        next += packet.len() - 48;
    }
    assert_eq!(next, request.len());
}

/// A part of a response of so many bytes to a request.
fn response(to: &[u8], stamp: u32, size: u32, offset: u32, payload: &[u8]) -> Vec<u8> {
    let mut octets =
        [&to[..12], &to[16..20], &to[12..16], &to[22..24], &to[20..22], &[0; 4], &to[28..36]].concat();
    for word in [stamp, size | 1 << 31, offset] {
        octets.extend(word.to_be_bytes());
    }
    octets.extend(payload);
    let len = octets.len() as u16;
    octets[2..4].copy_from_slice(&len.to_be_bytes());
    octets[24..26].copy_from_slice(&(len - 20).to_be_bytes());
    let sum = udp_checksum(&octets);
    octets[26..28].copy_from_slice(&sum.to_be_bytes());
    mend_checksum(&mut octets);
    octets
}

/// A message that was changed on its way is not mixed with the message as it was.
#[test]
fn parts_of_different_messages_are_not_mixed() {
    let mut host = host(&["rto=2ms"]);
    host.request(address(1), b"a request");
    let asked = host.packets().remove(0).1;
    for (stamp, offset, text, ends) in
        [(1, 0, "abcd", 0), (2, 4, "WXYZ", 0), (1, 4, "efgh", 0), (2, 0, "STUV", 0), (2, 4, "WXYZ", 1)]
    {
        let octets = response(&asked, stamp, 8, offset, text.as_bytes());
        host.receive_octets(&octets).expect("it is taken");
        let ended = host.ended();
        assert_eq!(ended.len(), ends, "{text}");
        assert!(ended.iter().all(|rpc| rpc.response.as_deref() == Ok(b"STUVWXYZ")));
    }
}
