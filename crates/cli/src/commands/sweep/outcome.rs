// SPDX-License-Identifier: MIT OR Apache-2.0
//! One run of a sweep: made, and as rows of a table.

use carrick_driver::Failure;
use carrick_driver::hash::Hash;
use carrick_sim::Report;
use carrick_sim::app::{End, Record};
use carrick_sim::fabric::port::PortCounters;
use carrick_sim::fabric::results::FlowResult;
use carrick_sim::faults::FaultCounters;
use carrick_sim::metrics::Metrics;
use carrick_sim::scenario::end_name;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, Args as _, Command, FromArgMatches};

use super::args::Rows;
use super::plan::Planned;
use crate::args::SimArgs;
use crate::commands::fabric::{Network, Run};
use crate::commands::sim;
use crate::load::Builds;
use crate::manifest::Manifest;
use crate::unused;

/// Columns before those of the options with several values. The first two are read again when a sweep goes on.
pub const FIRST: [&str; 4] = ["key", "status", "flows", "seed"];
const OF_RUNS: [&str; 24] = [
    "flows_ended",
    "delivered_bytes",
    "ended_at_ns",
    "completion_ns",
    "goodput_bps",
    "fairness",
    "slowdown_p50",
    "slowdown_p99",
    "packets",
    "retransmitted_packets",
    "lost_packets",
    "dropped_packets",
    "marked_packets",
    "rtt_p50_ns",
    "rtt_p99_ns",
    "lost_in_bursts_packets",
    "lost_down_packets",
    "duplicated_packets",
    "reordered_packets",
    "corrupted_packets",
    "too_long_packets",
    "bad_header_packets",
    "failures",
    "failure",
];
const OF_FLOWS: [&str; 13] = [
    "flow",
    "source",
    "destination",
    "flow_bytes",
    "delivered_bytes",
    "start_ns",
    "end_ns",
    "ideal_ns",
    "slowdown",
    "background",
    "flow_status",
    "flow_program",
    "failure",
];

/// What the cells of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Integer,
    /// with a fraction
    Number,
    Text,
}

/// Of the columns that every table of a kind has; `None` of those that options name.
pub fn kind(column: &str) -> Option<Kind> {
    match column {
        "key" | "status" | "failure" | "flow_status" | "flow_program" => Some(Kind::Text),
        "fairness" | "slowdown" | "slowdown_p50" | "slowdown_p99" => Some(Kind::Number),
        _ if FIRST.iter().chain(&OF_RUNS).chain(&OF_FLOWS).any(|name| *name == column) => Some(Kind::Integer),
        _ => None,
    }
}

/// Columns behind those of the options.
pub fn columns(rows: Rows) -> &'static [&'static str] {
    match rows {
        Rows::Runs => &OF_RUNS,
        Rows::Flows => &OF_FLOWS,
    }
}

/// What is wrong with a command line, in a sentence.
pub fn wrong(error: &clap::Error) -> Failure {
    let said = error.to_string();
    let said = said.lines().next().unwrap_or_default();
    let said = said.strip_prefix("error: ").unwrap_or(said).trim_end_matches(':');
    // What is missing is named in the lines behind the first one.
    let missing = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::Strings(names)) if error.kind() == ErrorKind::MissingRequiredArgument => {
            format!(": {}", names.join(", "))
        }
        _ => String::new(),
    };
    Failure::Usage(format!("{said}{missing}"))
}

/// The command line of one command.
///
/// # Errors
/// [`Failure::Usage`] with what is wrong with it.
pub fn matches(parser: &mut Command, words: &[String]) -> Result<ArgMatches, Failure> {
    let line = ["carrick".to_owned()].into_iter().chain(words.iter().cloned());
    parser.try_get_matches_from_mut(line).map_err(|e| wrong(&e))
}

/// The command line of one simulation, read.
///
/// # Errors
/// [`Failure::Usage`] with what is wrong with it.
pub fn parse(parser: &mut Command, words: &[String]) -> Result<SimArgs, Failure> {
    let given = matches(parser, words)?;
    match unused::find(&given) {
        Some(why) => Err(Failure::Usage(why)),
        None => SimArgs::from_arg_matches(&given).map_err(|e| wrong(&e)),
    }
}

/// What reads the command line of one simulation.
pub fn parser() -> Command {
    SimArgs::augment_args(Command::new("sim"))
}

/// Checks a run without making it; returns a text of all that it depends on beside its words: programs and files.
///
/// # Errors
/// [`Failure::Usage`] with what is wrong, [`Failure::Failed`] if a program has errors.
pub fn depends_on(args: &SimArgs, builds: &Builds) -> Result<String, Failure> {
    let build = builds.get(&args.source.file, &args.source.features.choice())?;
    let manifest = match &args.fabric.topology {
        Some(name) => {
            let network = Network::of(args, &build.program, name, builds)?;
            Manifest::of(args, &[], &build.program, network.programs())?
        }
        None => {
            args.scenario.scenario(&build.program, &args.link_faults, &args.set)?;
            let between = args.way.between(&build.program, builds)?;
            Manifest::of(args, &[], &build.program, between.as_ref().map(|between| &**between.program()))?
        }
    };
    let inputs = manifest.inputs.iter().map(|input| format!(" {} {}", input.file, input.hash));
    Ok(format!("{}{}", manifest.source_hash, inputs.collect::<String>()))
}

/// What a run is known by: two runs with the same key are the same.
pub fn key(planned: &Planned, depends_on: &str) -> u64 {
    let mut hash = Hash::new();
    for text in
        [env!("CARRICK_VERSION"), depends_on].into_iter().chain(planned.words.iter().map(String::as_str))
    {
        hash.add(text.as_bytes());
        hash.add(&[0]);
    }
    hash.value()
}

/// What came of a run.
#[derive(Default)]
pub struct Outcome {
    pub failures: Vec<String>,
    flows: Vec<Vec<String>>,
    /// those of [`OF_RUNS`] before the failures
    totals: Vec<String>,
}

/// Makes a run.
///
/// # Errors
/// Whatever ends it without a result.
pub fn make(args: &SimArgs, builds: &Builds) -> Result<Outcome, Failure> {
    let build = builds.get(&args.source.file, &args.source.features.choice())?;
    if let Some(name) = &args.fabric.topology {
        let network = Network::of(args, &build.program, name, builds)?;
        return Ok(of_network(&network.one(args, None, network.runs.get(0))?));
    }
    let pair = sim::pair(args, &[], &build.program, builds)?;
    Ok(of_pair(pair.report, build.program.file.raw(), pair.metrics.as_ref()))
}

fn text<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// What came of a run of two hosts.
pub fn of_pair(report: Report, program: &str, metrics: Option<&Metrics>) -> Outcome {
    let completion = report.completion_ns();
    let goodput =
        completion.filter(|ns| *ns > 0).map(|ns| (report.received() as f64 * 8e9 / ns as f64).round());
    let rtt = metrics.and_then(Metrics::rtt);
    let flows: Vec<Vec<String>> =
        report.connections[0].iter().map(|client| pair_flow(client, &report, program)).collect();
    let links = report.links.iter().chain(report.between.iter().flat_map(|node| &node.links));
    let mut faults = FaultCounters::default();
    let (dropped, marked) = links.fold((0, 0), |sum, link| {
        faults.add(&link.faults);
        (sum.0 + link.queue_full, sum.1 + link.marked)
    });
    let ended = report.connections[0]
        .iter()
        .filter(|client| client.finished.is_some() && !matches!(client.end, End::Error(_)))
        .count();
    let mut totals = vec![
        ended.to_string(),
        report.received().to_string(),
        report.ended_at.to_string(),
        text(completion),
        text(goodput),
        String::new(),
        String::new(),
        String::new(),
        report.packets.to_string(),
        text(metrics.map(Metrics::retransmitted_packets)),
        faults.lost.to_string(),
        dropped.to_string(),
        marked.to_string(),
        text(rtt.map(|(p50, _)| p50)),
        text(rtt.map(|(_, p99)| p99)),
    ];
    // Between two hosts no switch drops packets for their header.
    totals.extend(counts_of_faults(&faults, None));
    let failures = report.failures.into_iter().chain(report.damage).collect();
    Outcome { failures, flows, totals }
}

/// The cells of single faults, in the order of their columns.
fn counts_of_faults(c: &FaultCounters, bad_header: Option<u64>) -> Vec<String> {
    let all = [c.lost_in_bursts, c.lost_down, c.duplicated, c.reordered, c.corrupted, c.too_long];
    all.iter().map(u64::to_string).chain([text(bad_header)]).collect()
}

/// A connection of the client.
fn pair_flow(client: &Record, report: &Report, program: &str) -> Vec<String> {
    let server = report.connections[1].iter().find(|server| server.number == client.number);
    vec![
        client.number.to_string(),
        "0".to_owned(),
        "1".to_owned(),
        client.sent.to_string(),
        server.map_or(0, |server| server.received).to_string(),
        client.started.to_string(),
        text(server.and_then(|server| server.finished)),
        String::new(),
        String::new(),
        "0".to_owned(),
        end_name(client.end),
        program.to_owned(),
    ]
}

/// What came of a run of a network.
pub fn of_network(run: &Run) -> Outcome {
    let r = &run.results;
    let slowdown = r.slowdowns(1).pop();
    let ended = r.ended().count();
    let first = r.measured().filter_map(|f| f.outcome.started).min();
    let last = r
        .measured()
        .map(FlowResult::ended_at)
        .collect::<Option<Vec<u64>>>()
        .and_then(|all| all.into_iter().max());
    let ports = r.tiers.iter().map(|tier| &tier.counters);
    let mut all = PortCounters::default();
    ports.for_each(|port| all.add(port));
    let delivered: u64 = r.measured().map(|f| f.outcome.received).sum();
    let mut totals = vec![
        ended.to_string(),
        delivered.to_string(),
        r.ended_at.to_string(),
        text(last.zip(first).map(|(last, first)| last - first)),
        r.goodput_bps().round().to_string(),
        text(r.fairness().map(|fairness| format!("{fairness:.6}"))),
        text(slowdown.as_ref().map(|s| format!("{:.4}", s.p50))),
        text(slowdown.as_ref().map(|s| format!("{:.4}", s.p99))),
        r.packets.to_string(),
        text(run.retransmitted),
        all.faults.lost.to_string(),
        all.dropped.to_string(),
        all.marked.to_string(),
        text(run.rtt_ns.map(|(p50, _)| p50)),
        text(run.rtt_ns.map(|(_, p99)| p99)),
    ];
    totals.extend(counts_of_faults(&all.faults, Some(all.bad_header)));
    let program = |flow: &FlowResult| r.groups.all[r.groups.of(flow.flow.source)].file.clone();
    let flows = r.flows.iter().enumerate();
    let flows = flows.map(|(number, flow)| network_flow(number, flow, program(flow))).collect();
    Outcome { failures: r.failures(), flows, totals }
}

fn network_flow(number: usize, f: &FlowResult, program: String) -> Vec<String> {
    let status = match f.status() {
        "OK" => "closed".to_owned(),
        other => other.to_lowercase(),
    };
    vec![
        number.to_string(),
        f.flow.source.to_string(),
        f.flow.destination.to_string(),
        f.flow.octets.to_string(),
        f.outcome.received.to_string(),
        text(f.outcome.started),
        text(f.ended_at()),
        f.ideal_ns.to_string(),
        text(f.slowdown().map(|slowdown| format!("{slowdown:.4}"))),
        u8::from(f.flow.background).to_string(),
        status,
        program,
    ]
}

impl Outcome {
    /// The flows as a table, without the columns that all flows of a run have in common.
    pub fn flows_csv(&self) -> String {
        csv(&OF_FLOWS[..OF_FLOWS.len() - 1], self.flows.iter())
    }

    /// The run as a table of one line, without the failures.
    pub fn totals_csv(&self) -> String {
        csv(&OF_RUNS[..OF_RUNS.len() - 2], [&self.totals])
    }
}

fn csv<'a>(columns: &[&str], rows: impl IntoIterator<Item = &'a Vec<String>>) -> String {
    let mut text = String::new();
    line(&columns.iter().map(|&name| name.to_owned()).collect::<Vec<_>>(), &mut text);
    rows.into_iter().for_each(|cells| line(cells, &mut text));
    text
}

/// A run as rows, with the sentences about what failed in it.
pub struct Made {
    pub rows: String,
    pub failures: Vec<String>,
}

/// What `status` says of a run: its flows did what they should, did not, or it could not be made.
pub const STATUSES: [&str; 3] = [OK, FAILED, ERROR];
const OK: &str = "ok";
const FAILED: &str = "failed";
pub const ERROR: &str = "error";

/// The rows of a run, whatever came of it.
pub fn rows(kind: Rows, key: u64, planned: &Planned, outcome: Result<Outcome, Failure>) -> Made {
    let (status, outcome) = match outcome {
        Ok(outcome) if outcome.failures.is_empty() => (OK, outcome),
        Ok(outcome) => (FAILED, outcome),
        Err(failure) => (ERROR, Outcome { failures: vec![failure.to_string()], ..Outcome::default() }),
    };
    let Outcome { failures, flows, totals } = outcome;
    let first = [format!("{key:016x}"), status.to_owned(), flows.len().to_string(), planned.seed.to_string()];
    let mut first: Vec<String> = first.into_iter().chain(planned.cells.iter().cloned()).collect();
    let failure = failures.first().cloned().unwrap_or_default();
    let mut rows = String::new();
    match kind {
        Rows::Runs => {
            first.extend(totals);
            first.resize(
                first.len().max(FIRST.len() + planned.cells.len() + OF_RUNS.len() - 2),
                String::new(),
            );
            first.extend([failures.len().to_string(), failure]);
            line(&first, &mut rows);
        }
        Rows::Flows if flows.is_empty() => {
            first.resize(FIRST.len() + planned.cells.len() + OF_FLOWS.len() - 1, String::new());
            first.push(failure);
            line(&first, &mut rows);
        }
        Rows::Flows => {
            for flow in flows {
                let cells = [&first[..], &flow, std::slice::from_ref(&failure)].concat();
                line(&cells, &mut rows);
            }
        }
    }
    Made { rows, failures }
}

/// Appends a line of a table (RFC 4180). No cell has a line break, so that each line is a row.
pub fn line(cells: &[String], text: &mut String) {
    for (place, cell) in cells.iter().enumerate() {
        if place > 0 {
            text.push(',');
        }
        let cell = cell.replace(['\n', '\r'], " ");
        if cell.contains([',', '"']) {
            text.extend(["\"", &cell.replace('"', "\"\""), "\""]);
        } else {
            text.push_str(&cell);
        }
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(words: &[&str]) -> Planned {
        Planned {
            seed: 3,
            words: words.iter().map(|&word| word.to_owned()).collect(),
            cells: vec!["a,b".into()],
        }
    }

    #[test]
    fn a_key_depends_on_words_and_files() {
        let of = |words: &[&str], files| key(&planned(words), files);
        assert_eq!(of(&["a", "b"], "x"), of(&["a", "b"], "x"));
        assert_ne!(of(&["a", "b"], "x"), of(&["a", "b"], "y"));
        assert_ne!(of(&["a", "b"], "x"), of(&["ab"], "x"));
    }

    #[test]
    fn every_row_has_every_column() {
        let failed = || Err(Failure::Failed("no \"core\",\nnone".into()));
        for kind in [Rows::Runs, Rows::Flows] {
            let made = rows(kind, 7, &planned(&[]), failed());
            let width = FIRST.len() + 1 + columns(kind).len();
            assert_eq!(made.rows.lines().count(), 1);
            assert!(made.rows.starts_with("0000000000000007,error,0,3,\"a,b\","), "{}", made.rows);
            assert!(made.rows.ends_with(",\"no \"\"core\"\", none\"\n"), "{}", made.rows);
            let commas = made.rows.replace("\"a,b\"", "").replace("\"\", none", "").matches(',').count();
            assert_eq!(commas, width - 1, "{}", made.rows);
        }
    }
}
