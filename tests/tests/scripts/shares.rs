// SPDX-License-Identifier: MIT OR Apache-2.0
//! What one peer of many can have of what connections share: slots, and the pool of receive buffers.

use carrick_driver::{Choice, Over, compile_choice, params};
use carrick_interp::{Config, Core, Data};
use carrick_ir::NetLayer;
use carrick_sim::ip::{self, checksum, mend_checksum, pseudo_header};
use carrick_tests::build::root;
use carrick_tests::tcp_segment::{CORE, Segment};

use crate::listeners::{NOW, PEER_ISN, PORT, accept, completed, listen, sent};
use crate::network::{call, core};

const MS: u64 = 1_000_000;
const ROUND_TRIP: u64 = 100 * MS;
const MSS: u32 = 1400;
/// What a largest buffer of 256 KiB needs.
const SCALE: u32 = 3;

/// Gives the core a segment from this host of the peer's network, and returns what the core answers last.
fn answer(core: &mut Core, now: u64, (host, port): (u8, u16), text: &str, isn: u32) -> Option<Segment> {
    let segment = Segment::read(text).expect("a segment");
    let mut packet = segment.packet(NetLayer::Ipv4, (port, PORT), (PEER_ISN, isn));
    packet[15] = host;
    mend_checksum(&mut packet);
    packet[36..38].fill(0);
    let sum = checksum(&[&pseudo_header(NetLayer::Ipv4, &packet), &packet[20..]]);
    packet[36..38].copy_from_slice(&sum.to_be_bytes());
    core.rx(&packet, now).expect("it is read");
    sent(core, now).into_iter().last().map(|(segment, _)| segment)
}

/// Opens connections from this host until one is refused; their handles.
fn open_all(core: &mut Core, listener: u64, host: u8) -> Vec<u64> {
    let refused = Segment::read("R. 0:0").expect("one").flags;
    let mut open = Vec::new();
    loop {
        let end = (host, 10_000 + open.len() as u16);
        let offer = answer(core, NOW, end, "S 0:0 win 65535", 0).expect("the SYN is answered");
        if offer.flags == refused || answer(core, NOW, end, ". 1:1 ack 1", offer.seq).is_some() {
            return open;
        }
        open.push(accept(core, listener));
    }
}

/// One client after the other, as the table says; and again, when all connections of the first have ended.
#[test]
fn a_peer_with_many_connections_leaves_slots_to_others() {
    let readme = std::fs::read_to_string(root().join("protocols/tcp/README.md")).expect("readable");
    let rows = readme.lines().skip_while(|line| !line.starts_with("| `max_conns` | a peer")).skip(2);
    let rows: Vec<Vec<usize>> = rows
        .map_while(|line| line.strip_prefix("| "))
        .map(|row| {
            row.trim_end_matches(" |").split(" | ").map(|cell| cell.parse().expect("a number")).collect()
        })
        .collect();
    assert!(rows.len() >= 3, "{rows:?}");
    for row in rows {
        let mut core = core(1, &[format!("max_conns={}", row[0])]);
        let listener = listen(&mut core, CORE, 1000);
        let first = open_all(&mut core, listener, 2);
        let others = [3, 4].map(|host| open_all(&mut core, listener, host).len());
        assert_eq!([first.len(), others[0], others[1]], row[1..], "of {}", row[0]);
        for handle in first {
            call(&mut core, "abort", handle, &[], Data::None, NOW);
            sent(&mut core, NOW);
            completed(&mut core);
        }
        let free = row[0] - others[0] - others[1];
        let share = (0..free).take_while(|n| *n < 8 * (free - n)).count();
        assert_eq!(open_all(&mut core, listener, 5).len(), share, "of {free} that are free again");
        assert_eq!(core.failed_claims().len(), 0);
    }
}

/// Over IPv6, hosts of one network of 64 bits are one peer.
#[test]
fn a_network_of_ipv6_is_one_peer() {
    const SLOTS: usize = 64;
    let choice = Choice { over: Over::Ipv6, ..Choice::default() };
    let program = compile_choice(&root().join("protocols/tcp/tcp.mtp"), &choice).expect("readable");
    let program = program.program.expect("no errors");
    let params = params::values(&program, &[format!("max_conns={SLOTS}")]).expect("settings");
    let config = Config { seed: 1, address: ip::address(NetLayer::Ipv6, CORE), params, ..Config::default() };
    let mut core = Core::new(program, &config).expect("right settings");
    let [high, low] = [(config.address >> 64) as u64, config.address as u64];
    call(&mut core, "listen", 0, &[high, low, PORT.into(), 1000], Data::None, NOW);
    completed(&mut core);
    let refused = Segment::read("R. 0:0").expect("one").flags;
    // How many of so many hosts, each of which asks once, get a connection: of network 0, then of 1, then of 0 again.
    let mut served = |network: u8, hosts: std::ops::Range<u8>| {
        let count = hosts.filter(|host| {
            let mut ask = |text: &str, isn: u32| {
                let segment = Segment::read(text).expect("a segment");
                let mut packet = segment.packet(NetLayer::Ipv6, (5000, PORT), (PEER_ISN, isn));
                (packet[15], packet[23]) = (network, *host);
                packet[56..58].fill(0);
                let sum = checksum(&[&pseudo_header(NetLayer::Ipv6, &packet), &packet[40..]]);
                packet[56..58].copy_from_slice(&sum.to_be_bytes());
                core.rx(&packet, NOW).expect("it is read");
                sent(&mut core, NOW).into_iter().last().map(|(segment, _)| segment)
            };
            let offer = ask("S 0:0 win 65535", 0).expect("the SYN is answered");
            offer.flags != refused && ask(". 1:1 ack 1", offer.seq).is_none()
        });
        count.count()
    };
    assert_eq!([served(0, 10..80), served(1, 10..80), served(0, 80..90)], [57, 7, 0]);
}

#[test]
fn without_shares_a_peer_has_all_slots() {
    let mut core = core(1, &["max_conns=300".to_owned(), "peer_share=0".to_owned()]);
    let listener = listen(&mut core, CORE, 1000);
    assert_eq!(open_all(&mut core, listener, 2).len(), 300);
    assert_eq!(open_all(&mut core, listener, 3).len(), 0);
}

/// The window that a connection is offered whose peer sends all that the window takes, for some round trips. It stays idle then.
fn grown(core: &mut Core, listener: u64, now: &mut u64, end: (u8, u16)) -> u32 {
    let offer = answer(core, *now, end, "S 0:0 win 65535 <mss 1400,wscale 7>", 0).expect("an answer");
    *now += ROUND_TRIP;
    answer(core, *now, end, ". 1:1 ack 1", offer.seq);
    let handle = accept(core, listener);
    let (mut next, mut window) = (1, 8192);
    for _ in 0..10 {
        for more in [window / MSS, 1] {
            for at in (0..more).map(|n| next + n * MSS) {
                answer(core, *now, end, &format!(". {at}:{} ack 1", at + MSS), offer.seq);
            }
            call(core, "recv", handle, &[1 << 24], Data::Recv(1 << 24), *now);
            completed(core);
            *now += ROUND_TRIP;
            // What is repeated is always answered. Not all that was sent has had room.
            let said = answer(core, *now, end, &format!(". {}:{next} ack 1", next - 1), offer.seq);
            let said = said.expect("an ACK");
            next = said.ack.expect("a number").wrapping_sub(PEER_ISN);
            window = u32::from(said.window.expect("a window")) << SCALE;
        }
    }
    window
}

/// Sixteen connections of one peer, and then one of another, where nothing is given back.
#[test]
fn a_peer_with_many_buffers_leaves_a_part_of_the_pool_to_others() {
    let windows = |share: u32| {
        let settings = ["rcv_buf=8192", "rcv_max=262144", "rcv_pool=1048576", "rcv_idle=1h"];
        let mut settings: Vec<String> = settings.map(str::to_owned).to_vec();
        settings.extend(["use_timestamps=false".to_owned(), format!("peer_share={share}")]);
        let mut core = core(1, &settings);
        let listener = listen(&mut core, CORE, 1000);
        let mut now = NOW;
        let first: Vec<u32> =
            (0..16).map(|port| grown(&mut core, listener, &mut now, (2, 5000 + port))).collect();
        let other = grown(&mut core, listener, &mut now, (3, 5000));
        assert_eq!(core.failed_claims().len(), 0);
        (first, other)
    };
    let ((first, other), (_, alone)) = (windows(8), windows(0));
    assert!(first[0] >= 250_000, "as long as there is enough: {first:?}");
    assert!(other >= 50_000 && alone <= 8192, "{other} with shares, {alone} without; {first:?}");
}
