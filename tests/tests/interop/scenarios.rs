// SPDX-License-Identifier: MIT OR Apache-2.0
//! What two stacks do with each other, told from our side.

use carrick_tests::net::{DEVICE, End, Net, skip};

use crate::pair::Pair;

/// Enough to fill every buffer and window several times.
const MUCH: u64 = 3_000_000;

pub fn we_open_they_close(pair: &mut Pair) {
    pair.open_from_us();
    pair.upload(10_000);
    pair.download(10_000);
    pair.peer.must("close", "ok");
    pair.ours.must("finish 2", "ok 0");
    pair.ours.must("close", "ok");
}

pub fn they_open_we_close(pair: &mut Pair) {
    pair.open_from_them();
    pair.upload(MUCH);
    pair.download(MUCH);
    pair.ours.must("close", "ok");
    pair.peer.must("finish 1", "ok 0");
    pair.peer.must("close", "ok");
}

pub fn both_close_at_once(pair: &mut Pair) {
    pair.open_from_us();
    pair.upload(100);
    pair.ours.tell("shutdown");
    pair.peer.tell("shutdown");
    pair.ours.answers("ok");
    pair.peer.answers("ok");
    pair.ours.must("finish 2", "ok 0");
    pair.peer.must("finish 1", "ok 0");
}

pub fn we_half_close_and_still_receive(pair: &mut Pair) {
    pair.open_from_us();
    pair.upload(5_000);
    pair.ours.must("shutdown", "ok");
    pair.peer.must("finish 1", "ok 0");
    pair.download(MUCH);
    pair.peer.must("shutdown", "ok");
    pair.ours.must("finish 2", "ok 0");
}

pub fn they_half_close_and_still_receive(pair: &mut Pair) {
    pair.open_from_them();
    pair.download(5_000);
    pair.peer.must("shutdown", "ok");
    pair.ours.must("finish 2", "ok 0");
    pair.upload(MUCH);
    pair.ours.must("shutdown", "ok");
    pair.peer.must("finish 1", "ok 0");
}

pub fn we_abort(pair: &mut Pair) {
    pair.open_from_them();
    pair.upload(1_000);
    pair.ours.must("abort", "ok");
    pair.peer.must("recv 1 1", "reset");
}

pub fn they_abort(pair: &mut Pair) {
    pair.open_from_us();
    pair.download(1_000);
    pair.peer.must("abort", "ok");
    pair.ours.must("recv 1 2", "reset");
}

pub fn we_abort_and_they_find_out(pair: &mut Pair) {
    // The reset may be lost: then what they send is answered with another one.
    pair.open_from_them();
    pair.upload(1_000);
    pair.ours.must("abort", "ok");
    let answer = pair.peer.ask(&format!("exchange {MUCH} 1 {MUCH} 1"));
    assert!(["reset", "closed"].contains(&answer.as_str()), "{answer}");
}

pub fn they_abort_and_we_find_out(pair: &mut Pair) {
    pair.open_from_us();
    pair.download(1_000);
    pair.peer.must("abort", "ok");
    pair.ours.must(&format!("exchange {MUCH} 1 {MUCH} 2"), "reset");
}

pub fn we_are_refused(pair: &mut Pair) {
    pair.ours.must(&format!("connect {} 81", Net::PEER), "refused");
}

pub fn they_are_refused(pair: &mut Pair) {
    // An answer from another port shows that we are there at all.
    pair.ours.must("listen 80", "ok");
    pair.peer.must(&format!("connect {} 81", Net::OURS), "refused");
    pair.peer.must(&format!("connect {} 80", Net::OURS), "ok");
}

pub fn data_both_ways_at_once(pair: &mut Pair) {
    pair.open_from_us();
    exchange(pair);
}

pub fn a_reader_who_stops_and_resumes(pair: &mut Pair) {
    // The peer takes nothing until our send buffer and its window are full, so the window closes.
    pair.peer.must("option rcvbuf 8192", "ok");
    pair.open_from_us();
    pair.ours.tell(&format!("send {MUCH} 1"));
    pair.peer.must("recv 1000 1", "ok 1000");
    pair.wait_for("TcpExt", "TCPToZeroWindowAdv");
    pair.peer.must(&format!("recv {} 1", MUCH - 1000), &format!("ok {}", MUCH - 1000));
    pair.ours.answers(&format!("ok {MUCH}"));
}

pub fn we_stop_reading_and_resume(pair: &mut Pair) {
    pair.open_from_us();
    pair.peer.tell(&format!("send {MUCH} 2"));
    pair.wait_for("TcpExt", "TCPWinProbe");
    pair.ours.must(&format!("recv {MUCH} 2"), &format!("ok {MUCH}"));
    pair.peer.answers(&format!("ok {MUCH}"));
}

pub fn without_window_scaling(pair: &mut Pair) {
    pair.net.sysctl(End::Peer, "net.ipv4.tcp_window_scaling=0").expect("sysctl");
    pair.open_from_them();
    exchange(pair);
}

pub fn without_timestamps(pair: &mut Pair) {
    pair.net.sysctl(End::Peer, "net.ipv4.tcp_timestamps=0").expect("sysctl");
    pair.open_from_us();
    exchange(pair);
}

pub fn with_neither_option(pair: &mut Pair) {
    for name in ["window_scaling", "timestamps", "sack"] {
        pair.net.sysctl(End::Peer, &format!("net.ipv4.tcp_{name}=0")).expect("sysctl");
    }
    pair.open_from_us();
    exchange(pair);
}

pub fn they_accept_only_small_segments(pair: &mut Pair) {
    pair.peer.must("option mss 536", "ok");
    pair.open_from_us();
    exchange(pair);
}

pub fn many_connections(pair: &mut Pair) {
    const COUNT: usize = 60;
    pair.ours.must("listen 80 128", "ok");
    for _ in 0..COUNT {
        pair.peer.must(&format!("connect {} 80", Net::OURS), "ok");
        pair.ours.must("accept", "ok");
    }
    // Each has its own data; taken in the other order, so that they all wait at once.
    for n in 0..COUNT {
        pair.peer.must(&format!("use {n}"), "ok");
        pair.peer.must(&format!("send 3000 {n}"), "ok 3000");
    }
    for n in (0..COUNT).rev() {
        pair.ours.must(&format!("use {n}"), "ok");
        pair.ours.must(&format!("recv 3000 {n}"), "ok 3000");
        pair.ours.must("close", "ok");
    }
    for n in 0..COUNT {
        pair.peer.must(&format!("use {n}"), "ok");
        pair.peer.must("finish 0", "ok 0");
    }
}

pub fn a_full_backlog(pair: &mut Pair) {
    // More connections than may wait; those that found no room are let in when there is some.
    const COUNT: usize = 8;
    pair.ours.must("listen 80 2", "ok");
    for _ in 0..COUNT {
        pair.peer.tell(&format!("connect {} 80", Net::OURS));
    }
    // One of them has asked a second time.
    pair.wait_for("Tcp", "RetransSegs");
    for _ in 0..COUNT {
        pair.ours.must("accept", "ok");
    }
    for _ in 0..COUNT {
        pair.peer.answers("ok");
    }
}

pub fn they_leave_data_unread(pair: &mut Pair) {
    // RFC 1122 4.2.2.13: whoever closes with data unread resets.
    pair.open_from_us();
    pair.ours.must("send 1000 1", "ok 1000");
    pair.peer.must("recv 500 1", "ok 500");
    pair.peer.must("close", "ok");
    pair.ours.must("recv 1 2", "reset");
}

pub fn a_port_is_used_again(pair: &mut Pair) {
    for _ in 0..3 {
        pair.open_from_them();
        pair.upload(2_000);
        pair.ours.must("close", "ok");
        pair.peer.must("finish 1", "ok 0");
        pair.peer.must("close", "ok");
        pair.ours.must("unlisten", "ok");
    }
}

pub fn nobody_answers_a_connect(pair: &mut Pair) {
    // Nobody has this address: the network layer finds out, long before any timer of the transport.
    let answer = pair.ours.ask("connect 10.77.0.99 80");
    assert!(["unreachable", "timed_out"].contains(&answer.as_str()), "{answer}");
}

pub fn they_die_with_data_unread(pair: &mut Pair) {
    pair.open_from_us();
    pair.ours.must("send 1000 1", "ok 1000");
    pair.peer.must("wait_unread 1000", "ok");
    pair.peer.kill();
    pair.ours.must("recv 1 2", "reset");
}

pub fn the_wire_is_cut(pair: &mut Pair) {
    pair.open_from_us();
    pair.download(1_000);
    pair.net.link(End::Peer, false).expect("link down");
    pair.ours.must("send 1000 1", "ok 1000");
    pair.ours.must("recv 1 2", "timed_out");
}

pub fn they_fall_silent(pair: &mut Pair) {
    // Their host still takes what we send, but nothing that it answers leaves it.
    pair.open_from_them();
    pair.download(1_000);
    pair.net.ip(End::Peer, &format!("route add blackhole {}/32", Net::OURS)).expect("route");
    pair.ours.must("send 1000 1", "ok 1000");
    pair.ours.must("recv 1 2", "timed_out");
}

pub fn their_hardware_address_changes(pair: &mut Pair) {
    // As where a standby takes over, but nobody announces it: frames to the old address reach no one.
    pair.open_from_us();
    pair.upload(1_000);
    pair.net.ip(End::Peer, &format!("link set {DEVICE} address 02:00:00:00:00:99")).expect("another address");
    pair.upload(1_000);
    pair.download(1_000);
}

pub fn we_are_told_of_holes(pair: &mut Pair) {
    // Without timestamps four blocks fit; both ends tell and are told.
    pair.net.sysctl(End::Peer, "net.ipv4.tcp_timestamps=0").expect("sysctl");
    pair.open_from_us();
    until_they_count(pair, |pair| pair.download(MUCH), &["TCPSackRecovery"], "they were told of no hole");
    exchange(pair);
    assert_eq!(pair.net.counter(End::Peer, "TcpExt", "TCPSACKDiscard"), 0, "a block that cannot be");
    assert_eq!(pair.net.counter(End::Peer, "TcpExt", "TCPSACKReneging"), 0, "a block was taken back");
}

/// Transfers again until the peer has counted something: what happens to a packet is up to chance, and to how busy the
/// machine is.
fn until_they_count(pair: &mut Pair, transfer: fn(&mut Pair), names: &[&str], otherwise: &str) {
    const TRANSFERS: u32 = 20;
    for _ in 0..TRANSFERS {
        transfer(pair);
        if names.iter().any(|name| pair.net.counter(End::Peer, "TcpExt", name) > 0) {
            return;
        }
    }
    panic!("{otherwise} in {TRANSFERS} transfers");
}

pub fn they_are_told_what_came_twice(pair: &mut Pair) {
    pair.open_from_us();
    // A newer acknowledgement takes the place of one that waits, and of what that tells.
    until_they_count(pair, |pair| pair.download(MUCH), &["TCPDSACKRecv"], "they were told of nothing");
    assert_eq!(pair.net.counter(End::Peer, "TcpExt", "TCPSACKDiscard"), 0, "a block that cannot be");
}

pub fn we_are_told_what_came_twice(pair: &mut Pair) {
    pair.open_from_us();
    let names = ["TCPDSACKOldSent", "TCPDSACKOfoSent"];
    until_they_count(pair, |pair| pair.upload(MUCH), &names, "we were told of nothing");
    exchange(pair);
}

pub fn marks_from_us(pair: &mut Pair) {
    // We ask for marks, and they agree.
    pair.open_from_us();
    pair.upload(MUCH);
    assert!(pair.net.counter(End::Peer, "IpExt", "InECT0Pkts") > 100, "nothing could be marked");
    assert!(pair.net.counter(End::Peer, "IpExt", "InCEPkts") > 0, "nothing was marked");
    exchange(pair);
}

pub fn marks_from_them(pair: &mut Pair) {
    pair.net.sysctl(End::Peer, "net.ipv4.tcp_ecn=1").expect("sysctl");
    pair.open_from_them();
    pair.download(MUCH);
    assert!(pair.net.counter(End::Peer, "TcpExt", "TCPDeliveredCE") > 0, "they heard of no mark");
    exchange(pair);
}

pub fn no_marks_for_who_does_not_want_them(pair: &mut Pair) {
    pair.net.sysctl(End::Peer, "net.ipv4.tcp_ecn=0").expect("sysctl");
    pair.open_from_us();
    exchange(pair);
    assert_eq!(pair.net.counter(End::Peer, "IpExt", "InECT0Pkts"), 0, "it was not agreed on");
}

pub fn dctcp_at_both_ends(pair: &mut Pair) {
    if !they_use(pair, "dctcp") {
        return;
    }
    pair.net.sysctl(End::Peer, "net.ipv4.tcp_ecn=1").expect("sysctl");
    pair.open_from_us();
    exchange(pair);
    assert!(pair.net.counter(End::Peer, "IpExt", "InCEPkts") > 0, "nothing of ours was marked");
    assert!(pair.net.counter(End::Peer, "TcpExt", "TCPDeliveredCE") > 0, "they heard of no mark");
}

pub fn bbr_at_both_ends(pair: &mut Pair) {
    if they_use(pair, "bbr") {
        pair.open_from_us();
        exchange(pair);
    }
}

/// Chooses the kernel's congestion control; says so and is false where the kernel lacks it.
fn they_use(pair: &Pair, name: &str) -> bool {
    let chosen = pair.net.sysctl(End::Peer, &format!("net.ipv4.tcp_congestion_control={name}"));
    chosen.map_err(|why| skip(&format!("this kernel has no {name}: {why}"))).is_ok()
}

fn exchange(pair: &mut Pair) {
    pair.ours.tell(&format!("exchange {MUCH} 1 {MUCH} 2"));
    pair.peer.must(&format!("exchange {MUCH} 2 {MUCH} 1"), &format!("ok {MUCH}"));
    pair.ours.answers(&format!("ok {MUCH}"));
    pair.ours.must("shutdown", "ok");
    pair.peer.must("finish 1", "ok 0");
    pair.peer.must("shutdown", "ok");
    pair.ours.must("finish 2", "ok 0");
}
