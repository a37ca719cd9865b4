// SPDX-License-Identifier: MIT OR Apache-2.0
//! Several listeners under one endpoint: a keyed hash says whose a peer is.

use std::collections::{BTreeMap, BTreeSet};

use carrick_driver::compile_file;
use carrick_interp::{Config, Core, Data, Request, TraceKind};
use carrick_sim::ip::mend_checksum;
use carrick_tests::build::root;

const HERE: u32 = 1;
const PORT: u16 = 8;
const HELLO: u8 = 0;
/// As many peers as this never all have the same listener, whatever the key.
const PEERS: u32 = 64;

/// A greeting; an even tag is for the port before [`PORT`].
fn hello(from: u32, tag: u16) -> Vec<u8> {
    let mut packet = vec![0x45, 0, 0, 27, 0, 0, 0, 0, 64, 209, 0, 0];
    packet.extend([from.to_be_bytes(), HERE.to_be_bytes()].concat());
    packet.push(HELLO);
    packet.extend(tag.to_be_bytes());
    packet.extend(0_u32.to_be_bytes());
    mend_checksum(&mut packet);
    packet
}

/// Whom each peer greeted, under a stack's key.
fn greeted(seed: u64) -> BTreeMap<(u32, u16), BTreeSet<u64>> {
    let path = root().join("tests/programs/rebinding.mtp");
    let program = compile_file(&path).expect("it can be read").program.expect("the program is right");
    let config = Config { seed, address: HERE.into(), trace: true, ..Config::default() };
    let mut core = Core::new(program, &config).expect("the defaults are valid");
    for which in [0, 1] {
        let args = [u64::from(PORT), which];
        core.call(0, &Request { handle: 0, token: which + 1, args: &args, data: Data::None }, 0)
            .expect("the listener opens");
    }
    let mut found = BTreeMap::<_, BTreeSet<u64>>::new();
    // Each comes twice.
    for peer in (0..PEERS).chain(0..PEERS) {
        let (from, tag) = (2 + peer / 8, 2 * (peer % 8) as u16 + 1);
        core.take_trace();
        core.rx(&hello(from, tag), 0).expect("there is a listener");
        let record = core.take_trace().into_iter().find(|r| r.kind == TraceKind::Event as u32);
        found.entry((from, tag)).or_default().insert(record.expect("a hello").words[0]);
    }
    found
}

#[test]
fn each_peer_has_one_and_both_have_peers() {
    let found = greeted(1);
    assert_eq!(found.len(), PEERS as usize);
    assert!(found.values().all(|listeners| listeners.len() == 1), "a peer changes its listener: {found:?}");
    let listeners: BTreeSet<u64> = found.values().flatten().copied().collect();
    assert_eq!(listeners.len(), 2, "{found:?}");
    assert!(!listeners.contains(&0), "nobody listens to some: {found:?}");
}

#[test]
fn nobody_outside_knows_whose_a_peer_will_be() {
    assert_ne!(greeted(1), greeted(2), "another key chooses otherwise");
}
