// SPDX-License-Identifier: MIT OR Apache-2.0
//! `carrick sim`

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use carrick_driver::Failure;
use carrick_driver::cc::Tracing;
use carrick_ir::Program;
use carrick_sim::Report;
use carrick_sim::app::Messages;
use carrick_sim::globals::Globals;
use carrick_sim::link::LinkCounters;
use carrick_sim::metrics::Metrics;
use carrick_sim::observe::{All, Observer};
use carrick_sim::pcapng::Pcapng;
use carrick_sim::scenario::{BetweenReport, end_name};
use carrick_sim::trace::Head;
use serde_json::{Map, Value, json};

use super::fabric::state_lines;
use super::faults;
use super::refused;
use super::scenario::{self, AppKind, Between, configs};
use super::traced::{Traced, nothing};
use crate::args::SimArgs;
use crate::load::Builds;
use crate::manifest::{Manifest, words};
use crate::output::{self, Format, create};

pub fn run(args: &SimArgs) -> Result<ExitCode, Failure> {
    // A compiled core has room for all that there may be, and touches little of it. The allocator asks for huge pages, and
    // zeroing them took most of the time of a simulated fat tree, and ten times its memory.
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::disable_transparent_huge_pages(true);
    let builds = Builds::new(args.compiled.then(|| args.tracing()));
    let build = builds.get(&args.source.file, &args.source.features.choice())?;
    let program = build.program.clone();
    if let Some(name) = &args.fabric.topology {
        return super::fabric::run(args, &program, name, &builds);
    }
    let progress = output::progress("simulating");
    let pair = pair(args, &words::said(), &program, &builds);
    progress.finish_and_clear();
    let pair = pair?;
    let metrics = pair.metrics.as_ref();
    match args.format {
        Format::Json => output::json(&pair.json()),
        Format::Pretty => pretty(&pair.report, metrics, pair.took, args, &pair.state),
    }
    let failed = !pair.report.failures.is_empty() || !pair.report.damage.is_empty();
    pair.written?;
    Ok(ExitCode::from(u8::from(failed)))
}

/// A run of two hosts that is over.
pub struct Pair {
    pub report: Report,
    /// none where nothing was measured
    pub metrics: Option<Metrics>,
    /// of the global contexts of the program between them
    state: Map<String, Value>,
    took: Duration,
    manifest: Manifest,
    /// what its capture and its trace ended with
    pub written: Result<(), Failure>,
}

impl Pair {
    /// For programs.
    pub fn json(&self) -> Value {
        as_json(&self.report, self.metrics.as_ref(), self.took, &self.manifest, &self.state)
    }
}

/// Runs two hosts, as these words of a command line say.
///
/// # Errors
/// Whatever ends it without a result.
pub fn pair(
    args: &SimArgs,
    said: &[String],
    program: &Arc<Program>,
    builds: &Builds,
) -> Result<Pair, Failure> {
    let mut scenario = args.scenario.scenario(program, &args.link_faults, &args.set)?;
    scenario.stop = builds.stop.clone();
    let engine = builds.get(&args.source.file, &args.source.features.choice())?.engine()?;
    let between = args.way.between(program, builds)?;
    let way = between.as_ref().map(Between::way);
    let manifest = Manifest::of(args, said, program, between.as_ref().map(|b| &**b.program()))?;
    let mut pcap = create(args.pcap.as_deref())?.map(|f| Pcapng::new(f, program, 0, &manifest.to_string()));
    let inside = inside(args, between.as_ref())?;
    let mut trace = create(args.trace.as_deref())?.map(|file| {
        let traced = inside.unwrap_or(program);
        let cores = configs(program, way.as_ref().filter(|_| inside.is_some()), &scenario);
        let at = args.trace_at.as_deref();
        let head = Head { cores: &cores, at, ..Head::new(traced, args.scenario.seed, "") };
        Traced::new(manifest.trace(args.trace_format.into(), file, &head), inside.map(|_| 0))
    });
    let mut metrics = Metrics::default();
    let mut observers: Vec<&mut dyn Observer> = Vec::new();
    observers.extend(pcap.as_mut().map(|p| p as &mut dyn Observer));
    observers.extend(trace.as_mut().map(Traced::observer));
    let measured = !args.fast;
    let mut globals = Globals::new(between.iter().map(|between| &**between.program()));
    if measured {
        observers.push(&mut metrics);
        observers.push(&mut globals);
    }
    let begin = Instant::now();
    let tracing = args.tracing() == Tracing::On;
    let report =
        carrick_sim::run_through(program, &engine, way.as_ref(), &scenario, &mut All(observers), tracing);
    let took = begin.elapsed();
    let mut report = report.map_err(Failure::Usage)?;
    // Random applications also end in errors on purpose.
    if args.scenario.app != AppKind::Random {
        report.failures.append(&mut report.unfinished);
    }
    let captured = output::written(args.pcap.as_deref(), pcap.map_or(Ok(()), Pcapng::finish));
    let traced = output::written(args.trace.as_deref(), trace.map_or(Ok(()), Traced::finish));
    let state = between.as_ref().map_or_else(Map::new, |between| globals.of(0, between.program()));
    let metrics = measured.then_some(metrics);
    Ok(Pair { report, metrics, state, took, manifest, written: captured.and(traced) })
}

/// The program in the network whose trace is written, if it is not that of the hosts.
fn inside<'b>(args: &SimArgs, between: Option<&'b Between>) -> Result<Option<&'b Arc<Program>>, Failure> {
    match (args.trace_at.as_deref(), between) {
        (None, _) => Ok(None),
        (Some("via"), Some(between)) => Ok(Some(between.program())),
        (Some(at), Some(_)) => Err(nothing(at, "say --trace-at via")),
        (Some(at), None) => Err(nothing(at, "place one with --via PROGRAM")),
    }
}

/// The programs that a run is of.
pub fn files(args: &SimArgs) -> Vec<PathBuf> {
    let named = [&args.source.file].into_iter().chain(&args.way.via).cloned();
    named.chain(super::fabric::files(&args.fabric)).collect()
}

fn goodput_bps(report: &Report) -> Option<f64> {
    let ns = report.completion_ns()?;
    (ns > 0).then(|| report.received() as f64 * 8e9 / ns as f64)
}

fn pretty(
    report: &Report,
    metrics: Option<&Metrics>,
    took: Duration,
    args: &SimArgs,
    state: &Map<String, Value>,
) {
    connections(report);
    if !args.scenario.streams.is_empty() {
        arrivals(report);
    }
    if let Some(ns) = report.completion_ns() {
        println!("completion time   {:.6} s", ns as f64 / 1e9);
    }
    if let Some(goodput) = goodput_bps(report) {
        println!("goodput           {}", output::rate(goodput));
    }
    if let Some(m) = metrics {
        println!(
            "data packets      {} ({} retransmitted, {} bytes)",
            m.data_packets,
            m.retransmitted_packets(),
            m.retransmitted_octets
        );
        if let Some((p50, p99)) = m.rtt() {
            println!(
                "round-trip time   {:.3} ms median, {:.3} ms at 99 %",
                p50 as f64 / 1e6,
                p99 as f64 / 1e6
            );
        }
    }
    for (name, link) in ["client to server", "server to client"].iter().zip(&report.links) {
        let threshold = args.link_faults.ecn_threshold;
        let marked = threshold.map_or_else(String::new, |_| format!(", {} marked", link.marked));
        println!(
            "{name}  {} packets, {} lost, {} queue full{}{marked}",
            link.sent,
            link.faults.lost,
            link.queue_full,
            faults::words(&link.faults, args.link_faults.usual())
        );
    }
    for host in 0..2 {
        let (of, first) = (["client", "server"][host], report.first_claims[host].as_deref());
        refused::lines(of, &report.counters[host], first).iter().for_each(|line| println!("{line}"));
    }
    report.between.iter().for_each(|node| on_the_way(node, state));
    println!(
        "simulated         {} packets in {:.3} s ({:.0} packets/s)",
        report.packets,
        took.as_secs_f64(),
        report.packets as f64 / took.as_secs_f64()
    );
    for damage in &report.damage {
        println!("DAMAGED: {damage}");
    }
    for failure in &report.failures {
        println!("FAILED: {failure} (seed {})", args.scenario.seed);
    }
}

/// What each connection saw, of the first few.
fn connections(report: &Report) {
    for (name, records) in ["client", "server"].iter().zip(&report.connections) {
        for r in records.iter().take(8) {
            println!(
                "{name} connection {}: {} bytes sent, {} received, {}",
                r.number,
                r.sent,
                r.received,
                end_name(r.end)
            );
            let m = r.messages;
            if m != Messages::default() {
                println!(
                    "  messages: {} sent, {} received ({} late, {} again), {} damaged, {} failed",
                    m.sent, m.received, m.late, m.again, m.damaged, m.failed
                );
            }
        }
        if records.len() > 8 {
            println!("{name}: {} more connections", records.len() - 8);
        }
    }
}

/// How long each of several transfers took, until all of it was there.
fn arrivals(report: &Report) {
    for r in &report.connections[0] {
        let there = report.connections[1].iter().find(|s| s.number == r.number && s.received > 0);
        if let Some(at) = there.and_then(|s| s.finished) {
            println!(
                "stream {:<4} {:>10} bytes complete after {:.6} s",
                r.number,
                r.sent,
                (at - r.started) as f64 / 1e9
            );
        }
    }
}

fn on_the_way(node: &BetweenReport, state: &Map<String, Value>) {
    let counted = |name| node.counters[carrick_ir::counter(name)];
    println!(
        "on the way        {} packets let through, {} headers made; to the client {}, to the server {}",
        counted("tx_forwarded"),
        counted("tx_packets"),
        node.links[0].sent,
        node.links[1].sent
    );
    state_lines("on the way", state).iter().for_each(|line| println!("{line}"));
    refused::lines("way", &node.counters, None).iter().for_each(|line| println!("{line}"));
    scenario::unseen(&node.counters, node.protocols)
        .iter()
        .for_each(|why| println!("on the way        {why}"));
}

fn as_json(
    report: &Report,
    metrics: Option<&Metrics>,
    took: Duration,
    manifest: &Manifest,
    state: &Map<String, Value>,
) -> Value {
    let connections = |records: &[carrick_sim::app::Record]| -> Vec<Value> {
        records
            .iter()
            .map(|r| {
                let m = r.messages;
                let messages = json!({"sent": m.sent, "received": m.received, "late": m.late, "again": m.again, "damaged": m.damaged, "failed": m.failed});
                json!({"number": r.number, "sent_bytes": r.sent, "received_bytes": r.received, "end": end_name(r.end), "started_ns": r.started, "finished_ns": r.finished, "messages": messages})
            })
            .collect()
    };
    let mut all = manifest.json();
    let result = json!({
        "completion_ns": report.completion_ns(),
        "goodput_bps": goodput_bps(report),
        "client": connections(&report.connections[0]),
        "server": connections(&report.connections[1]),
        "data_packets": metrics.map(|m| m.data_packets),
        "retransmitted_packets": metrics.map(Metrics::retransmitted_packets),
        "rtt_p50_ns": metrics.and_then(Metrics::rtt).map(|(p50, _)| p50),
        "rtt_p99_ns": metrics.and_then(Metrics::rtt).map(|(_, p99)| p99),
        "packets": report.packets,
        "open_contexts": report.open_contexts,
        "links": links(&report.links),
        "between": report.between.as_ref().map(|node| json!({
            "open_contexts": node.open_contexts,
            "counters": carrick_ir::COUNTERS.iter().zip(&node.counters).collect::<BTreeMap<_, _>>(),
            "links": links(&node.links),
            "state": state,
        })),
        "wall_seconds": took.as_secs_f64(),
        "failures": report.failures,
        "damage": report.damage,
    });
    if let (Value::Object(all), Value::Object(result)) = (&mut all, result) {
        all.extend(result);
    }
    all
}

/// What became of the packets of links.
fn links(all: &[LinkCounters]) -> Value {
    let of = |link: &LinkCounters| {
        let object = json!({ "sent": link.sent, "queue_full": link.queue_full, "marked": link.marked });
        faults::with_counts(&link.faults, object)
    };
    all.iter().map(of).collect()
}
