// SPDX-License-Identifier: MIT OR Apache-2.0
//! What scripts are too short for: listeners with many connections, and long floods of duplicates.

use carrick_interp::{Config, Core, Data};
use carrick_ir::{NetLayer, STATUS_NAMES};

use crate::network::{call, core, program};
use carrick_tests::tcp_segment::{CORE, Opt, PEER, Segment};

pub const NOW: u64 = 1_000_000_000;
pub const PORT: u16 = 80;
/// The peer's initial number.
pub const PEER_ISN: u32 = 7;

/// What the core sends, with the peer's port.
pub fn sent(core: &mut Core, now: u64) -> Vec<(Segment, u16)> {
    let (mut packet, mut all) = (Vec::new(), Vec::new());
    while core.tx(&mut packet, now) {
        all.push(Segment::of_packet(&packet).expect("a segment"));
    }
    all
}

/// Gives the core a segment from this port of the peer, and returns what the core answers.
fn answer(core: &mut Core, port: u16, text: &str, isn: u32) -> Option<Segment> {
    let packet =
        Segment::read(text).expect("a segment").packet(NetLayer::Ipv4, (port, PORT), (PEER_ISN, isn));
    core.rx(&packet, NOW).expect("it is read");
    sent(core, NOW).into_iter().next().map(|(segment, _)| segment)
}

pub fn completed(core: &mut Core) -> (&'static str, u64) {
    let done = core.next_completion().expect("a request is complete");
    (STATUS_NAMES[usize::from(done.status)], done.value)
}

/// Listens at an address, and returns the listener's handle.
pub fn listen(core: &mut Core, address: u32, backlog: u64) -> u64 {
    call(core, "listen", 0, &[u64::from(address), u64::from(PORT), backlog], Data::None, NOW);
    completed(core).1
}

/// Opens a connection from this port of the peer, and returns the answer to its SYN.
fn open(core: &mut Core, port: u16) -> Segment {
    let offer = answer(core, port, "S 0:0 win 65535 <mss 1000,wscale 7>", 0).expect("the SYN is answered");
    assert_eq!(answer(core, port, ". 1:1 ack 1", offer.seq), None);
    offer
}

pub fn accept(core: &mut Core, listener: u64) -> u64 {
    call(core, "accept", listener, &[], Data::None, NOW);
    let (status, handle) = completed(core);
    assert_eq!(status, "OK");
    handle
}

#[test]
fn a_connection_without_a_slot_is_not_counted_as_half_open() {
    for address in [0, CORE] {
        let mut core = core(1, &["max_conns=1".to_owned()]);
        let listener = listen(&mut core, address, 1);
        open(&mut core, 5000);
        let connection = accept(&mut core, listener);
        let refused = answer(&mut core, 5001, "S 0:0 win 65535", 0).expect("there is no slot");
        assert_eq!(refused.flags, Segment::read("R. 0:0").expect("one").flags);
        call(&mut core, "abort", connection, &[], Data::None, NOW);
        sent(&mut core, NOW);
        assert_eq!(completed(&mut core).0, "OK");
        let offer = open(&mut core, 5002);
        let scaled = offer.options.iter().flatten().any(|o| matches!(o, Opt::Scale(_)));
        assert!(scaled, "a connection of its own, not a cookie: {offer}");
        accept(&mut core, listener);
    }
}

#[test]
fn as_many_wait_as_the_backlog_says() {
    let mut core = core(1, &["max_conns=4096".to_owned()]);
    let listener = listen(&mut core, CORE, 1000);
    (0..1000).for_each(|i| drop(open(&mut core, 5000 + i)));
    assert_eq!(answer(&mut core, 4000, "S 0:0 win 65535", 0), None);
    for _ in 0..1000 {
        accept(&mut core, listener);
    }
    open(&mut core, 4000);
}

/// A flood of SYNs, of which no more is heard, at a listener with a backlog as long as there are connections.
#[test]
fn a_flood_leaves_slots_to_others() {
    let mut core = core(1, &["max_conns=64".to_owned()]);
    let listener = listen(&mut core, CORE, 1000);
    for port in 10_000..11_000 {
        assert!(answer(&mut core, port, "S 0:0 win 65535", 0).is_some(), "each is answered");
    }
    for port in 5000..5020 {
        open(&mut core, port);
        accept(&mut core, listener);
    }
}

#[test]
fn all_that_nobody_accepted_is_reset_with_its_listener() {
    const MANY: usize = 150;
    let mut core = core(1, &[]);
    let listener = listen(&mut core, CORE, MANY as u64);
    (0..MANY).for_each(|i| drop(open(&mut core, 5000 + i as u16)));
    call(&mut core, "unlisten", listener, &[], Data::None, NOW);
    let (mut now, mut resets) = (NOW, Vec::new());
    loop {
        resets.extend(sent(&mut core, now));
        if core.open_contexts() == 0 {
            break;
        }
        assert_eq!(core.next_completion(), None, "not before all are reset");
        now = core.next_deadline().expect("it goes on");
        assert!(now - NOW < 1_000_000_000, "soon");
        core.advance(now).expect("it goes on");
    }
    assert_eq!(completed(&mut core).0, "OK");
    assert!(resets.iter().all(|(segment, _)| segment.flags == Segment::read("R. 0:0").expect("one").flags));
    let ports: std::collections::BTreeSet<u16> = resets.iter().map(|(_, port)| *port).collect();
    assert_eq!((resets.len(), ports.len()), (MANY, MANY));
}

/// More duplicates than the window can count (RFC 5681 §3.2 adds a segment for each).
#[test]
fn duplicates_do_not_wrap_the_window() {
    let program = program();
    let setting = ["use_timestamps=false".to_owned()];
    let params = carrick_driver::params::values(&program, &setting).expect("right settings");
    let config = Config { seed: 1, address: CORE.into(), params, mtu: 65535, ..Config::default() };
    let mut core = Core::new(program, &config).expect("the configuration is valid");
    let args = [u64::from(CORE), u64::from(PORT), u64::from(PEER), 5000];
    call(&mut core, "connect", 0, &args, Data::None, NOW);
    let isn = sent(&mut core, NOW)[0].0.seq;
    answer(&mut core, 5000, "S. 0:0 ack 1 win 65535 <mss 65495>", isn);
    let handle = completed(&mut core).1;
    let data = vec![0; 65495];
    call(&mut core, "send", handle, &[data.len() as u64], Data::Send(&data), NOW);
    sent(&mut core, NOW);
    let packet =
        Segment::read(". 1:1 ack 1").expect("one").packet(NetLayer::Ipv4, (5000, PORT), (PEER_ISN, isn));
    for _ in 0..65_700 {
        core.rx(&packet, NOW).expect("it is read");
        sent(&mut core, NOW);
    }
    assert_eq!(core.failed_claims().len(), 0, "the window is a segment at least");
}
