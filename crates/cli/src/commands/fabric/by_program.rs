// SPDX-License-Identifier: MIT OR Apache-2.0
//! What came of a run by the programs of its hosts, for people and for programs.

use carrick_sim::fabric::results::Results;
use carrick_sim::fabric::{Foreign, Group, ProgramResult};
use serde_json::{Value, json};

use super::finished::{ByProgram, Run};
use crate::output::rate;

/// Stretches of hosts that a line names.
const SHOWN: usize = 8;

/// Hosts in ascending order: `h0..h3, h8`.
fn hosts(all: &[u32]) -> String {
    let stretches = all.chunk_by(|a, b| a + 1 == *b);
    let shown = |stretch: &[u32]| match stretch {
        [first, .., last] => format!("h{first}..h{last}"),
        [only] => format!("h{only}"),
        [] => String::new(),
    };
    let mut named: Vec<String> = stretches.map(shown).collect();
    if named.len() > SHOWN {
        named.truncate(SHOWN);
        named.push("...".to_owned());
    }
    named.join(", ")
}

/// A line for each program, one about all of them, and one for each host that got packets of another protocol.
pub fn lines(run: &Run) -> Vec<String> {
    let mut lines: Vec<String> = run.programs.iter().map(line).collect();
    if let Some(fairness) = run.results.fairness_of_programs() {
        lines.push(format!(
            "between programs  fairness {fairness:.4} (Jain, of the mean rates of their flows)"
        ));
    }
    lines.extend(run.results.foreign.iter().map(|it| foreign(&run.results, it)));
    lines
}

/// Flows of which messages were lost, behind what a line says of all flows; empty where there are none.
pub fn losses(flows: usize, messages: u64) -> String {
    if flows == 0 { String::new() } else { format!(", {flows} with {messages} lost messages") }
}

fn line(ByProgram { result, retransmitted }: &ByProgram) -> String {
    let ProgramResult { program, flows, ended, with_losses, lost_messages, goodput_bps, .. } = result;
    let of_flow = result.flow_bps.map(|bps| format!(", {} for a flow", rate(bps)));
    let again = retransmitted.map(|packets| format!(", {packets} packets retransmitted"));
    let losses = losses(*with_losses, *lost_messages);
    format!(
        "{:<17} {} (protocol {}): {ended} of {flows} flows ended{losses}, goodput {}{}{}",
        format!("program {}", program.name),
        hosts(&result.hosts),
        program.protocol,
        rate(*goodput_bps),
        of_flow.unwrap_or_default(),
        again.unwrap_or_default(),
    )
}

/// The program of a host.
fn program_of(results: &Results, host: u32) -> &Group {
    &results.groups.all[results.groups.of(host)]
}

fn foreign(results: &Results, Foreign { host, protocol, packets }: &Foreign) -> String {
    let Group { name, protocol: own, layer, .. } = program_of(results, *host);
    let own = if own == protocol { format!("it over {}", layer.name()) } else { own.to_string() };
    format!(
        "{:<17} {packets} packets of protocol {protocol} arrived, the program {name} speaks {own}",
        format!("at h{host}")
    )
}

/// One for each program; none where all hosts run the same.
pub fn json(run: &Run) -> Vec<Value> {
    let of = |ByProgram { result: it, retransmitted }: &ByProgram| {
        json!({
            "program": it.program.name,
            "file": it.program.file,
            "protocol": it.program.protocol,
            "hosts": hosts(&it.hosts),
            "flows": it.flows,
            "ended": it.ended,
            "flows_with_losses": it.with_losses,
            "lost_messages": it.lost_messages,
            "goodput_bps": it.goodput_bps,
            "flow_bps": it.flow_bps,
            "fairness": it.fairness,
            "retransmitted_packets": retransmitted,
        })
    };
    run.programs.iter().map(of).collect()
}

/// Packets that the programs of hosts do not take.
pub fn foreign_json(results: &Results) -> Vec<Value> {
    let of = |it: &Foreign| {
        let Group { name, protocol, .. } = program_of(results, it.host);
        json!({
            "host": it.host,
            "program": name,
            "speaks": protocol,
            "protocol": it.protocol,
            "packets": it.packets,
        })
    };
    results.foreign.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::hosts;

    #[test]
    fn hosts_are_named_in_stretches() {
        assert_eq!(hosts(&[0, 1, 2, 5, 7, 8]), "h0..h2, h5, h7..h8");
        let apart: Vec<u32> = (0..20).map(|n| 2 * n).collect();
        assert_eq!(hosts(&apart), "h0, h2, h4, h6, h8, h10, h12, h14, ...");
    }
}
