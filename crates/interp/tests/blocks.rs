// SPDX-License-Identifier: MIT OR Apache-2.0
//! Scheduling blocks: rates, shares and order, in virtual time.

mod common;

use carrick_interp::{Core, Data};
use common::*;

const TEXT: &str = "
param rate first_rate = 8Mbps in 0bps..1Gbps;
net_header ipv4 { uint32 src_ip; uint32 dst_ip; uint8 protocol = 254; }
id key(uint32 k);
event make_req : app_event { uint32 k; }
event put : app_event { addr_t data; uint32 k; uint32 queue; uint32 len; bytes mss; }
event rate_req : app_event { uint32 k; uint32 queue; rate r; }
event prio_req : app_event { uint32 k; uint32 queue; uint64 prio; }
event end_req : app_event { uint32 k; }
event seen : net_event { }
context flow by key { uint64 end; }
pkt_bp segment over ipv4 { uint8 queue; uint8 k; uint16 zero; data_t payload; }
void parse(pkt_t p, ipv4 ip) {
    segment h;
    p.extract(h);
    seen e;
    set_flow_id(e, key(0));
    raise e;
}
void make(make_req e) { flow v; new_ctx(v, key(e.k)); notify(e.token, OK); }
void made(make_req e, flow c) { notify(e.token, IN_USE); }
void send(put e, flow c) {
    if (c.end == 0) {
        new_tx_ordered_data(INF, c.id);
    }
    add_tx_data(e.data, e.len, c.id);
    segment bp;
    bp.queue = uint8(e.queue);
    bp.k = uint8(c.id.k);
    bp.payload = data(c.id, c.end, e.len, e.mss);
    c.end += uint64(e.len);
    pkt_gen(bp, e.queue);
    tx_flush_and_notify(c.id, e.len);
    notify(e.token, OK);
}
/// On no context.
void stray(put e) {
    segment bp;
    bp.queue = uint8(e.queue);
    bp.k = 255;
    pkt_gen(bp, e.queue);
    notify(e.token, OK);
}
void pace(rate_req e, flow c) { set_queue_rate(e.queue, e.r); notify(e.token, OK); }
void prefer(prio_req e, flow c) { set_queue_prio(e.queue, e.prio); notify(e.token, OK); }
void end(end_req e, flow c) { del_ctx(c); notify(e.token, OK); }
void see(seen e, flow c) { c.end += 0; }
dispatch d {
    make_req -> { made } absent { make };
    put -> { send } absent { stray };
    rate_req -> { pace };
    prio_req -> { prefer };
    end_req -> { end };
    seen -> { see };
}
interface i {
    make -> make_req at key(k);
    put -> put at key(k);
    pace -> rate_req at key(k);
    prefer -> prio_req at key(k);
    end -> end_req at key(k);
}
deploy {
    register_ep_chains(d); register_ctx_spec(flow, 4); register_data_spec(flow, 4MiB, 0);
    register_ev_parser(parse); register_interface(i);
    register_pkt_sched(SCHEDULE);
}";

/// Bytes of a packet around its payload.
const AROUND: u64 = 24;
const MS: u64 = 1_000_000;
const SECOND: u64 = 1000 * MS;

/// A packet that went out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Out {
    at: u64,
    queue: u8,
    flow: u8,
    octets: u64,
}

/// A core with its clock.
struct Host {
    core: Core,
    now: u64,
}

impl Host {
    /// With four flows.
    fn new(schedule: &str) -> Host {
        let mut text = TEXT.replace("SCHEDULE", schedule);
        for (instruction, block) in
            [("set_queue_rate", "rate_limiter"), ("set_queue_prio", "strict_priority")]
        {
            if !schedule.contains(block) {
                let call = text.find(instruction).unwrap();
                let end = call + text[call..].find(';').unwrap();
                text.replace_range(call..=end, "");
            }
        }
        let mut host = Host { core: core(&compile(&text), A), now: 0 };
        (0..4).for_each(|k| host.ask("make", &[k], b""));
        host
    }

    fn ask(&mut self, name: &str, args: &[u64], octets: &[u8]) {
        let number = call_number(&self.core, name);
        let data = if octets.is_empty() { Data::None } else { Data::Send(octets) };
        let request = carrick_interp::Request { handle: 0, token: 1, args, data };
        self.core.call(number, &request, self.now).unwrap();
        self.core.next_completion().unwrap();
    }

    /// So many bytes wait in a queue, in packets of `mss`.
    fn put(&mut self, flow: u64, queue: u64, len: usize, mss: u64) {
        self.ask("put", &[flow, queue, len as u64, mss], &vec![7; len]);
    }

    fn next(&mut self) -> Option<Out> {
        let mut packet = Vec::new();
        self.core.tx(&mut packet, self.now).then(|| Out {
            at: self.now,
            queue: packet[20],
            flow: packet[21],
            octets: packet.len() as u64,
        })
    }

    /// All that goes out until a moment; the host sleeps until the deadline that the core names, and `late` more.
    fn run(&mut self, until: u64, late: u64) -> Vec<Out> {
        let mut all = Vec::new();
        loop {
            all.extend(std::iter::from_fn(|| self.next()));
            match self.core.next_deadline() {
                Some(at) if at + late < until => {
                    assert!(at > self.now, "a deadline lies ahead");
                    self.now = at + late;
                }
                _ => break,
            }
        }
        self.now = until;
        all
    }
}

fn octets<'a>(all: impl IntoIterator<Item = &'a Out>) -> u64 {
    all.into_iter().map(|out| out.octets).sum()
}

fn within_one_percent(octets: u64, wanted: u64) {
    assert!(octets.abs_diff(wanted) * 100 <= wanted, "{octets} octets, not {wanted}");
}

fn order(all: &[Out], of: impl Fn(&Out) -> u8) -> String {
    all.iter().map(|out| char::from(b'0' + of(out))).collect()
}

#[test]
fn a_rate_is_kept_to_the_nanosecond() {
    let mut host = Host::new("rate_limiter(1, first_rate)");
    host.put(0, 0, 2_000_000, 976);
    let all = host.run(SECOND, 0);
    within_one_percent(octets(&all), 1_000_000);
    for (n, out) in all.iter().enumerate() {
        assert_eq!((out.octets, out.at), (1000, n as u64 * MS), "1000 octets a millisecond");
    }
}

#[test]
fn parts_of_nanoseconds_add_up() {
    let mut host = Host::new("rate_limiter(1, 7Mbps)");
    host.put(0, 0, 2_000_000, 33);
    let all = host.run(SECOND, 0);
    let before: u64 = octets(&all[..all.len() - 1]);
    let exact = u128::from(before) * 8_000_000_000 / 7_000_000;
    assert_eq!(u128::from(all[all.len() - 1].at), exact, "after {} packets", all.len());
}

#[test]
fn a_host_that_wakes_late_catches_up_but_only_a_little() {
    let mut host = Host::new("rate_limiter(1, first_rate)");
    host.put(0, 0, 4_000_000, 976);
    within_one_percent(octets(&host.run(SECOND, 700_000)), 1_000_000);
    // After a pause the packet that was due goes, and what a millisecond of lateness is worth.
    host.now = 2 * SECOND;
    assert_eq!(std::iter::from_fn(|| host.next()).count(), 2);
}

#[test]
fn who_was_idle_has_saved_nothing_up() {
    let mut host = Host::new("rate_limiter(1, first_rate)");
    host.put(0, 0, 976, 976);
    assert_eq!(host.run(SECOND, 0).len(), 1);
    host.put(0, 0, 9760, 976);
    let all = host.run(SECOND + 5 * MS, 0);
    assert_eq!(all.iter().map(|out| out.at - SECOND).collect::<Vec<_>>(), [0, MS, 2 * MS, 3 * MS, 4 * MS]);
}

#[test]
fn a_rate_can_change_between_two_packets() {
    let mut host = Host::new("rate_limiter(2, first_rate, 8Kbps)");
    host.put(0, 1, 4_000_000, 976);
    assert_eq!(host.run(SECOND / 2, 0).len(), 1, "1000 octets take a second");
    // Half of the packet is paid; the rest is paid at the new rate.
    host.ask("pace", &[0, 1, 16_000_000], b"");
    assert_eq!(host.core.next_deadline(), Some(SECOND / 2 + MS / 4));
    let all = host.run(SECOND, 0);
    within_one_percent(octets(&all), 1_000_000);
    // Rate 0 holds the queue back until there is another.
    host.ask("pace", &[0, 1, 0], b"");
    assert_eq!(host.run(2 * SECOND, 0).len(), 0);
    assert_eq!(host.core.next_deadline(), None);
    host.ask("pace", &[0, 1, 8_000_000], b"");
    within_one_percent(octets(&host.run(3 * SECOND, 0)), 1_000_000);
}

#[test]
fn the_last_queue_stands_for_those_that_are_not_there() {
    let mut host = Host::new("rate_limiter(2, first_rate)");
    host.put(0, 1, 4_000_000, 976);
    host.ask("pace", &[0, 77, 1_600_000], b"");
    within_one_percent(octets(&host.run(SECOND, 0)), 200_000);
}

#[test]
fn each_flow_has_its_own_rate() {
    let mut host = Host::new("rate_limiter(PER_FLOW, 800Kbps)");
    for flow in 0..4 {
        host.put(flow, 0, 1_000_000, 476);
    }
    host.ask("pace", &[2, 0, 4_000_000], b"");
    host.put(99, 0, 0, 0);
    let all = host.run(SECOND, 0);
    for (flow, wanted) in [(0, 100_000), (1, 100_000), (2, 500_000), (3, 100_000)] {
        within_one_percent(octets(all.iter().filter(|out| out.flow == flow)), wanted);
    }
    assert_eq!(all.iter().filter(|out| out.flow == 255).count(), 1, "what belongs to no flow");
}

#[test]
fn a_new_flow_begins_with_the_first_rate() {
    let mut host = Host::new("rate_limiter(PER_FLOW, 800Kbps)");
    host.ask("pace", &[1, 0, 1], b"");
    host.ask("end", &[1], b"");
    host.ask("make", &[9], b"");
    host.put(9, 0, 1_000_000, 476);
    within_one_percent(octets(&host.run(SECOND, 0)), 100_000);
}

#[test]
fn octets_are_shared_by_quanta_whatever_the_packets_are() {
    let mut host = Host::new("drr(3, 1000B, 2000B, 500B)");
    let (quanta, mss) = ([1000_f64, 2000.0, 500.0], [1000_u64, 300, 700]);
    for queue in 0..3 {
        host.put(queue, queue, 2_000_000, mss[queue as usize]);
    }
    let mut sent = [0_u64; 3];
    let longest = 1024_f64;
    for _ in 0..2000 {
        let out = host.next().unwrap();
        sent[usize::from(out.queue)] += out.octets;
        for (i, j) in [(0, 1), (0, 2), (1, 2)] {
            let turns = |n: usize| sent[n] as f64 / quanta[n];
            let bound = 1.0 + longest / quanta[i] + longest / quanta[j];
            assert!((turns(i) - turns(j)).abs() <= bound, "{sent:?}");
        }
    }
    assert!(sent.iter().min() > Some(&100_000), "{sent:?}");
}

#[test]
fn a_queue_that_was_empty_has_saved_no_turns_up() {
    let mut host = Host::new("drr(2, 976B)");
    host.put(0, 0, 20_000, 976);
    host.put(1, 1, 976, 976);
    let all = [host.next().unwrap(), host.next().unwrap(), host.next().unwrap()];
    assert_eq!(order(&all, |out| out.queue), "010");
    host.put(1, 1, 2928, 976);
    assert_eq!(order(&host.run(1, 0)[..8], |out| out.queue), "10101000");
}

#[test]
fn flows_take_turns() {
    let mut host = Host::new("drr(PER_FLOW, 1000B)");
    host.put(0, 0, 100_000, 976);
    host.put(3, 0, 50_000, 476);
    host.put(1, 0, 2_928, 976);
    let all = host.run(1, 0);
    let alone = all.iter().position(|out| out.octets < 476).unwrap();
    let sent = |flow| octets(all[..alone].iter().filter(|out| out.flow == flow));
    assert_eq!(order(&all[..9], |out| out.flow), "033103310", "1000 octets a turn");
    assert!(sent(0).abs_diff(sent(3)) <= 2000, "{} and {}", sent(0), sent(3));
    assert_eq!(sent(1), 3000);
}

#[test]
fn the_least_priority_goes_first_and_equal_ones_take_turns() {
    let mut host = Host::new("strict_priority(PER_FLOW)");
    for flow in 0..4 {
        host.put(flow, 0, 20, 5);
    }
    for (flow, prio) in [(0, 30), (1, 7), (2, 30), (3, 40)] {
        host.ask("prefer", &[flow, 0, prio], b"");
    }
    let begun: Vec<Out> = (0..6).map(|_| host.next().unwrap()).collect();
    assert_eq!(order(&begun, |out| out.flow), "111102");
    host.ask("prefer", &[3, 0, 1], b"");
    assert_eq!(order(&host.run(1, 0), |out| out.flow), "3333020202"[..10].to_owned());
}

#[test]
fn numbered_queues_change_their_order() {
    let mut host = Host::new("strict_priority(3)");
    for queue in 0..3 {
        host.put(queue, queue, 4, 2);
    }
    host.ask("prefer", &[0, 1, 9], b"");
    assert_eq!(order(&host.run(1, 0), |out| out.queue), "002211");
    host.ask("prefer", &[0, 2, 0], b"");
    host.put(2, 2, 4, 2);
    host.put(0, 0, 4, 2);
    assert_eq!(order(&host.run(2, 0), |out| out.queue), "2020", "equal ones take turns");
}

#[test]
fn blocks_feed_blocks() {
    let mut host = Host::new("strict_priority(fifo(), rate_limiter(drr(2, 300B, 600B), 4Mbps), fifo())");
    host.put(0, 1, 2_000_000, 376);
    host.put(1, 2, 2_000_000, 376);
    host.put(2, 3, 40_000, 976);
    // While nothing else may go, the last queue does.
    let begun: Vec<Out> = std::iter::from_fn(|| host.next()).collect();
    assert_eq!((begun[0].queue, begun.len()), (1, 42));
    let mut all = host.run(SECOND / 2, 0);
    host.put(3, 0, 500, 500);
    assert_eq!(host.next().map(|out| (out.queue, out.at)), Some((0, SECOND / 2)), "at once");
    all.extend(host.run(SECOND, 0));
    within_one_percent(octets(&all) + 400, 500_000);
    let of = |queue| octets(all.iter().filter(|out| out.queue == queue));
    assert!((of(1) * 2).abs_diff(of(2)) < 3000, "{} and {}", of(1), of(2));
}

#[test]
fn what_is_held_back_does_not_hold_up_what_comes_in() {
    let mut host = Host::new("rate_limiter(2, 0bps, 8Kbps)");
    for _ in 0..1023 {
        host.put(0, 0, 0, 0);
    }
    host.put(0, 1, 0, 0);
    // A packet can go: take it first.
    let request = carrick_interp::Request { handle: 0, token: 1, args: &[0, 0, 0, 0], data: Data::None };
    let put = call_number(&host.core, "put");
    assert!(host.core.call(put, &request, 0).is_err());
    assert_eq!(host.next().map(|out| out.octets), Some(AROUND));
    host.put(0, 1, 0, 0);
    // None can: what finds no place is dropped.
    host.put(0, 1, 0, 0);
    assert_eq!(count(&host.core, "tx_queue_full"), 1);
    assert_eq!(host.core.next_deadline(), Some(AROUND * MS));
}
