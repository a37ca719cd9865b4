// SPDX-License-Identifier: MIT OR Apache-2.0
//! What came of runs of a network, for people and for programs.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use carrick_ir::{COUNTERS, counter};
use carrick_sim::fabric::MessageTimes;
use carrick_sim::fabric::port::PortCounters;
use carrick_sim::fabric::results::{
    Bucket, CrossResult, LinkResult, OffloadResult, Results, ServiceResult, StationResult, Tier, TierResult,
};
use carrick_sim::fabric::timed::CallResult;
use serde_json::{Map, Value, json};

use super::by_program;
use super::finished::{Run, Sender};
use super::runs::Runs;
use crate::commands::scenario::unseen;
use crate::commands::{faults, refused};
use crate::manifest::Manifest;
use crate::output::rate;

/// Buckets of sizes that slowdowns are told of.
const BUCKETS: usize = 10;
/// Failures that are told of, of each run.
const FAILURES: usize = 8;

/// In a table of a shard, what stands before the number of a run, and that before its lines.
pub const RUN: &str = "# run ";

/// One table of all runs, each line with its seed, and with its values of the parameters that vary; `table` is that of one.
pub fn csv(runs: &[Run], asked: &Runs, manifest: &Manifest, table: fn(&Run) -> String) -> String {
    let mut text = String::new();
    manifest.to_string().lines().for_each(|line| text.extend(["# ", line, "\n"]));
    let row = |text: &mut String, seed: &str, line: &str, more: &[String]| {
        text.extend([seed, ",", line]);
        more.iter().for_each(|value| text.extend([",", value]));
        text.push('\n');
    };
    for (number, run) in (0..).zip(runs) {
        let seed = run.asked.seed.to_string();
        for (place, line) in table(run).lines().enumerate() {
            match place {
                0 if number > 0 => {}
                0 => row(&mut text, "seed", line, &asked.varied),
                _ => row(&mut text, &seed, line, &run.asked.values),
            }
            if place == 0
                && let Some(place) = asked.place(number)
            {
                let _ = writeln!(text, "{RUN}{place}");
            }
        }
    }
    text
}

fn tier_name(tier: Tier) -> &'static str {
    match tier {
        Tier::FromHost => "from hosts",
        Tier::ToHost => "to hosts",
        Tier::Between => "between switches",
    }
}

/// For people.
pub fn pretty(runs: &[Run], varied: &[String], took: Duration) {
    for run in runs {
        if runs.len() > 1 {
            let values =
                varied.iter().zip(&run.asked.values).map(|(name, value)| format!(", {name}={value}"));
            println!("seed {}{}", run.asked.seed, values.collect::<String>());
        }
        one(run);
    }
    let (packets, hops) =
        runs.iter().fold((0, 0), |sum, run| (sum.0 + run.results.packets, sum.1 + run.results.hops));
    let seconds = took.as_secs_f64();
    println!(
        "simulated         {packets} packets over {hops} links in {seconds:.3} s ({:.0} packets/s, {:.0} links/s)",
        packets as f64 / seconds,
        hops as f64 / seconds
    );
}

fn one(run: &Run) {
    let r = &run.results;
    let (with_losses, lost) = r.with_losses();
    let losses = by_program::losses(with_losses, lost);
    println!(
        "flows             {} of {} ended, at {:.6} s{losses}",
        r.ended().count(),
        r.measured().count(),
        r.ended_at as f64 / 1e9
    );
    println!(
        "goodput           {}, {:.1} % of all hosts' links",
        rate(r.goodput_bps()),
        r.utilisation() * 100.0
    );
    for Sender { hosts, features, goodput_bps } in &run.senders {
        println!("{:<17} {} sent ({features})", format!("goodput of {hosts}"), rate(*goodput_bps));
    }
    if let Some(fairness) = r.fairness() {
        println!("fairness          {fairness:.4} (Jain)");
    }
    by_program::lines(run).iter().for_each(|line| println!("{line}"));
    if let Some(retransmitted) = run.retransmitted {
        println!("retransmitted     {retransmitted} packets");
    }
    println!("slowdown           bytes up to      flows        p50        p99       most");
    for Bucket { upto, flows, p50, p99, most } in r.slowdowns(BUCKETS) {
        println!("{upto:>30} {flows:>10} {p50:>10.2} {p99:>10.2} {most:>10.2}");
    }
    messages(&r.messages);
    r.tiers.iter().for_each(tier);
    link("bottleneck", &r.bottleneck);
    r.links.iter().for_each(|it| link("link", it));
    refused::lines("hosts", &r.counters, None).iter().for_each(|line| println!("{line}"));
    r.services.iter().for_each(service);
    r.cross.iter().for_each(cross);
    for call in r.calls.iter().filter(|call| call.failure().is_none()) {
        println!("called            {}: {}", call.text, call.status().unwrap_or_default());
    }
    r.stations.iter().zip(&run.globals).for_each(station);
    let failures = r.failures();
    failures
        .iter()
        .take(FAILURES)
        .for_each(|failure| println!("FAILED: {failure} (seed {})", run.asked.seed));
    if failures.len() > FAILURES {
        println!("FAILED: {} more flows (seed {})", failures.len() - FAILURES, run.asked.seed);
    }
}

fn tier(t: &TierResult) {
    let c = &t.counters;
    println!(
        "{:<17} {} ports: {} packets, {} dropped, {} lost{}, {} marked, {} trimmed, {} returned, {} pauses; queue {} bytes at most, {:.0} on average at the worst",
        tier_name(t.tier),
        t.ports,
        c.packets,
        c.dropped,
        c.faults.lost,
        other_faults(c),
        c.marked,
        c.trimmed,
        c.returned,
        c.pauses,
        c.peak,
        t.mean_most
    );
}

fn messages(m: &MessageTimes) {
    let Some([p50, p99, most]) = m.percentiles() else { return };
    println!(
        "messages          {} delivered or intercepted, in {:.3} us (p50), {:.3} us (p99), {:.3} us at most; {} delivered again",
        m.took_ns.len(),
        p50 as f64 / 1e3,
        p99 as f64 / 1e3,
        most as f64 / 1e3,
        m.again
    );
}

fn link(what: &str, l: &LinkResult) {
    let c = &l.counters;
    println!(
        "{:<17} used {:.1} % of the time: {} packets, {} bytes, {} dropped{}{}, {} marked; queue {} bytes at most",
        format!("{what} {}", l.name),
        l.busy * 100.0,
        c.packets,
        c.octets,
        c.dropped,
        if c.faults.lost > 0 { format!(", {} lost", c.faults.lost) } else { String::new() },
        other_faults(c),
        c.marked,
        c.peak
    );
}

/// Faults beside losses that happened, behind other words.
fn other_faults(c: &PortCounters) -> String {
    let bad_header =
        if c.bad_header > 0 { format!(", {} with a bad header", c.bad_header) } else { String::new() };
    faults::words(&c.faults, &[]) + &bad_header
}

fn service(s: &ServiceResult) {
    let c = &s.counters;
    println!(
        "{:<17} {} packets served, {} dropped, {} waiting at most, busy {:.1} % of the time",
        format!("at {}", s.host),
        c.served,
        c.dropped,
        c.longest,
        s.busy * 100.0
    );
}

fn cross(it: &CrossResult) {
    let c = &it.counters;
    println!(
        "{:<17} {} of cross traffic sent, {} delivered: {} and {} packets, {} dropped by its host",
        format!("cross {}", it.name),
        rate(it.sent_bps),
        rate(it.delivered_bps),
        c.sent,
        c.delivered,
        c.dropped
    );
}

fn cross_json(it: &CrossResult) -> Value {
    let c = &it.counters;
    json!({
        "hosts": it.name,
        "sent_packets": c.sent,
        "sent_bytes": c.sent_octets,
        "sent_bps": it.sent_bps,
        "dropped": c.dropped,
        "delivered_packets": c.delivered,
        "delivered_bytes": c.delivered_octets,
        "delivered_bps": it.delivered_bps,
    })
}

/// The global contexts of a program in the network, a line for each.
pub fn state_lines(place: &str, globals: &Map<String, Value>) -> Vec<String> {
    let line = |(name, fields): (&String, &Value)| {
        let fields = fields.as_object().into_iter().flatten();
        let all: Vec<_> = fields.map(|(name, value)| format!("{name} {value}")).collect();
        format!("{:<17} {name}: {}", format!("state {place}"), all.join(", "))
    };
    globals.iter().map(line).collect()
}

fn station((s, globals): (&StationResult, &Map<String, Value>)) {
    let counted = |name| s.counters[counter(name)];
    println!(
        "{:<17} {}: {} packets seen, {} let through, {} made",
        format!("at {}", s.node),
        s.program,
        counted("rx_packets"),
        counted("tx_forwarded"),
        counted("tx_packets")
    );
    s.offload.iter().for_each(|it| offload(&s.node, it));
    state_lines(&format!("at {}", s.node), globals).iter().for_each(|line| println!("{line}"));
    refused::lines(&s.node, &s.counters, None).iter().for_each(|line| println!("{line}"));
    unseen(&s.counters, s.protocols)
        .iter()
        .for_each(|why| println!("{:<17} {why}", format!("at {}", s.node)));
}

fn offload(node: &str, o: &OffloadResult) {
    let c = &o.counters;
    println!(
        "{:<17} {} messages taken, {} of them again ({} spurious); {} put, {} intercepted ({} hits), {} answers refused, {} never answered; busy {:.1} % of the time",
        format!("offload at {node}"),
        c.taken,
        c.again,
        c.spurious,
        c.put,
        c.intercepted,
        c.hits,
        c.refused,
        c.unanswered,
        o.busy * 100.0
    );
}

fn counters(all: &[u64]) -> BTreeMap<&'static str, u64> {
    COUNTERS.iter().copied().zip(all.iter().copied()).collect()
}

/// For programs; nothing in it depends on the machine.
pub fn json(runs: &[Run], varied: &[String], manifest: &Manifest) -> Value {
    let mut all = manifest.json();
    all["runs"] = runs.iter().map(|run| run_json(run, varied)).collect();
    all
}

fn run_json(run: &Run, varied: &[String]) -> Value {
    let r = &run.results;
    let buckets = r.slowdowns(BUCKETS).into_iter();
    let slowdowns: Vec<Value> = buckets
        .map(|b| json!({"bytes": b.upto, "flows": b.flows, "p50": b.p50, "p99": b.p99, "max": b.most}))
        .collect();
    let tiers: BTreeMap<&str, Value> = r.tiers.iter().map(|t| (tier_name(t.tier), tier_json(t))).collect();
    json!({
        "seed": run.asked.seed,
        "set": varied.iter().zip(&run.asked.values).collect::<BTreeMap<_, _>>(),
        "flows": r.measured().count(),
        "ended": r.ended().count(),
        "ended_at_ns": r.ended_at,
        "goodput_bps": r.goodput_bps(),
        "utilisation": r.utilisation(),
        "fairness": r.fairness(),
        "retransmitted_packets": run.retransmitted,
        "slowdowns": slowdowns,
        "queues": tiers,
        "bottleneck": link_json(&r.bottleneck),
        "host_programs": by_program::json(run),
        "foreign_packets": by_program::foreign_json(r),
        "senders": run.senders.iter().map(sender_json).collect::<Vec<_>>(),
        "links": r.links.iter().map(link_json).collect::<Vec<_>>(),
        "messages": messages_json(r),
        "packets": r.packets,
        "hops": r.hops,
        "counters": counters(&r.counters),
        "programs": r.stations.iter().zip(&run.globals).map(station_json).collect::<Vec<_>>(),
        "calls": r.calls.iter().map(call_json).collect::<Vec<_>>(),
        "cross": r.cross.iter().map(cross_json).collect::<Vec<_>>(),
        "services": r.services.iter().map(service_json).collect::<Vec<_>>(),
        "failures": r.failures(),
    })
}

fn sender_json(s: &Sender) -> Value {
    json!({ "hosts": s.hosts, "features": s.features, "goodput_bps": s.goodput_bps })
}

fn link_json(l: &LinkResult) -> Value {
    let c = &l.counters;
    let object = json!({
        "link": l.name,
        "rate_bps": l.rate_bps,
        "utilisation": l.busy,
        "packets": c.packets,
        "bytes": c.octets,
        "dropped": c.dropped,
        "bad_header": c.bad_header,
        "marked": c.marked,
        "peak_bytes": c.peak,
    });
    faults::with_counts(&c.faults, object)
}

fn messages_json(r: &Results) -> Value {
    let m = &r.messages;
    let [p50, p99, most] = m.percentiles().map_or([None; 3], |times| times.map(Some));
    json!({
        "count": m.took_ns.len(),
        "p50_ns": p50,
        "p99_ns": p99,
        "max_ns": most,
        "delivered_again": m.again,
        "lost": r.with_losses().1,
    })
}

fn call_json(call: &CallResult) -> Value {
    json!({ "call": call.text, "status": call.status(), "value": call.done.map(|(_, value)| value) })
}

fn service_json(s: &ServiceResult) -> Value {
    let c = &s.counters;
    json!({
        "at": s.host,
        "served": c.served,
        "dropped": c.dropped,
        "longest": c.longest,
        "busy_ns": c.busy_ns,
        "busy": s.busy,
    })
}

fn station_json((s, globals): (&StationResult, &Map<String, Value>)) -> Value {
    json!({
        "at": s.node,
        "program": s.program,
        "protocol": s.protocols[0],
        "counters": counters(&s.counters),
        "open_contexts": s.open_contexts,
        "state": globals,
        "offload": s.offload.as_ref().map(offload_json),
    })
}

fn offload_json(o: &OffloadResult) -> Value {
    let c = &o.counters;
    json!({
        "taken": c.taken,
        "taken_again": c.again,
        "spurious": c.spurious,
        "put": c.put,
        "intercepted": c.intercepted,
        "hits": c.hits,
        "bytes_in": c.octets_in,
        "bytes_out": c.octets_out,
        "refused": c.refused,
        "never_answered": c.unanswered,
        "busy_ns": c.busy_ns,
        "busy": o.busy,
    })
}

fn tier_json(t: &TierResult) -> Value {
    let c = &t.counters;
    let object = json!({
        "ports": t.ports,
        "packets": c.packets,
        "bytes": c.octets,
        "dropped": c.dropped,
        "bad_header": c.bad_header,
        "marked": c.marked,
        "trimmed": c.trimmed,
        "returned": c.returned,
        "pauses": c.pauses,
        "peak_bytes": c.peak,
        "worst_mean_bytes": t.mean_most,
    });
    faults::with_counts(&c.faults, object)
}
