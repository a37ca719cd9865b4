//! What came of runs of a network, for people and for programs.

use std::collections::BTreeMap;
use std::time::Duration;

use carrick_ir::{COUNTERS, Program, REFUSALS};
use carrick_sim::fabric::results::{Bucket, Results, Tier, TierResult};
use serde_json::{Value, json};

use super::Run;
use crate::commands::sim::SimArgs;

/// Buckets of sizes that slowdowns are told of.
const BUCKETS: usize = 10;
/// Failures that are told of, of each run.
const FAILURES: usize = 8;

/// What makes runs again: everything but how many ran at once, which changes nothing.
pub fn manifest(args: &SimArgs, program: &Program) -> String {
    format!(
        "carrick {}\nprogram {} {:016x}\nseed {}\narguments {}",
        env!("CARGO_PKG_VERSION"),
        program.file,
        program.source_hash,
        args.scenario.seed,
        arguments()
    )
}

fn arguments() -> String {
    let mut words = Vec::new();
    let mut all = std::env::args().skip(1);
    while let Some(word) = all.next() {
        match word.as_str() {
            "--jobs" => drop(all.next()),
            _ if word.starts_with("--jobs=") => {}
            _ => words.push(word),
        }
    }
    words.join(" ")
}

/// One table of all runs, each line with its seed; `table` is that of one.
pub fn csv(runs: &[Run], manifest: &str, table: fn(&Results) -> String) -> String {
    let mut text = String::new();
    manifest.lines().for_each(|line| text.extend(["# ", line, "\n"]));
    for (number, run) in runs.iter().enumerate() {
        let seed = run.seed.to_string();
        for (place, line) in table(&run.results).lines().enumerate() {
            match place {
                0 if number > 0 => {}
                0 => text.extend(["seed,", line, "\n"]),
                _ => text.extend([&seed, ",", line, "\n"]),
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
pub fn pretty(runs: &[Run], took: Duration) {
    for run in runs {
        if runs.len() > 1 {
            println!("seed {}", run.seed);
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
    println!(
        "flows             {} of {} ended, at {:.6} s",
        r.ended().count(),
        r.flows.len(),
        r.ended_at as f64 / 1e9
    );
    println!(
        "goodput           {:.3} Gbit/s, {:.1} % of all hosts' links",
        r.goodput_bps() / 1e9,
        r.utilisation() * 100.0
    );
    if let Some(fairness) = r.fairness() {
        println!("fairness          {fairness:.4} (Jain)");
    }
    if let Some(retransmitted) = run.retransmitted {
        println!("retransmitted     {retransmitted} packets");
    }
    println!("slowdown          octets up to      flows        p50        p99       most");
    for Bucket { upto, flows, p50, p99, most } in r.slowdowns(BUCKETS) {
        println!("{upto:>30} {flows:>10} {p50:>10.2} {p99:>10.2} {most:>10.2}");
    }
    r.tiers.iter().for_each(tier);
    for (reason, n) in refusals(r) {
        println!("hosts refused {n}: {reason}");
    }
    let failures = r.failures();
    failures.iter().take(FAILURES).for_each(|failure| println!("FAILED: {failure} (seed {})", run.seed));
    if failures.len() > FAILURES {
        println!("FAILED: {} more flows (seed {})", failures.len() - FAILURES, run.seed);
    }
}

fn tier(t: &TierResult) {
    let c = &t.counters;
    println!(
        "{:<17} {} ports: {} packets, {} dropped, {} lost, {} marked, {} trimmed, {} returned, {} pauses; queue {} octets at most, {:.0} on average at the worst",
        tier_name(t.tier),
        t.ports,
        c.packets,
        c.dropped,
        c.lost,
        c.marked,
        c.trimmed,
        c.returned,
        c.pauses,
        c.peak,
        t.mean_most
    );
}

fn refusals(r: &Results) -> impl Iterator<Item = (&'static str, u64)> {
    COUNTERS.iter().copied().zip(r.counters.iter().copied()).take(REFUSALS).filter(|(_, n)| *n > 0)
}

/// For programs; nothing in it depends on the machine.
pub fn json(runs: &[Run], args: &SimArgs, program: &Program) -> Value {
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "program": program.file,
        "source_hash": format!("{:016x}", program.source_hash),
        "seed": args.scenario.seed,
        "arguments": arguments(),
        "runs": runs.iter().map(run_json).collect::<Vec<_>>(),
    })
}

fn run_json(run: &Run) -> Value {
    let r = &run.results;
    let buckets = r.slowdowns(BUCKETS).into_iter();
    let slowdowns: Vec<Value> = buckets
        .map(|b| json!({"octets": b.upto, "flows": b.flows, "p50": b.p50, "p99": b.p99, "max": b.most}))
        .collect();
    let tiers: BTreeMap<&str, Value> = r.tiers.iter().map(|t| (tier_name(t.tier), tier_json(t))).collect();
    json!({
        "seed": run.seed,
        "flows": r.flows.len(),
        "ended": r.ended().count(),
        "ended_at_ns": r.ended_at,
        "goodput_bps": r.goodput_bps(),
        "utilisation": r.utilisation(),
        "fairness": r.fairness(),
        "retransmitted_packets": run.retransmitted,
        "slowdowns": slowdowns,
        "queues": tiers,
        "packets": r.packets,
        "hops": r.hops,
        "counters": COUNTERS.iter().zip(&r.counters).collect::<BTreeMap<_, _>>(),
        "failures": r.failures(),
    })
}

fn tier_json(t: &TierResult) -> Value {
    let c = &t.counters;
    json!({
        "ports": t.ports,
        "packets": c.packets,
        "octets": c.octets,
        "dropped": c.dropped,
        "lost": c.lost,
        "marked": c.marked,
        "trimmed": c.trimmed,
        "returned": c.returned,
        "pauses": c.pauses,
        "peak_octets": c.peak,
        "worst_mean_octets": t.mean_most,
    })
}
