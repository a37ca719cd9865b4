// SPDX-License-Identifier: MIT OR Apache-2.0
//! The numbers of a run as tables.

use std::collections::BTreeSet;

use carrick_doc::escape;

use crate::model::{FOREIGN, Flow, Run, Segments, Series, Transfer};
use crate::words::span;

/// So many flows are listed.
const FLOWS_MAX: usize = 40;

/// How a flow is called: `host 0, tcb 1`.
pub fn flow_name(flow: &Flow) -> String {
    format!("host {}, {} {}", flow.host, flow.context, flow.number)
}

/// The tables.
pub fn tables(run: &Run) -> String {
    let hosts = table(&["", "packets sent", "bytes", "lost", "queue full", "most waiting"], hosts(run));
    let head = [
        "",
        "id",
        "segments",
        "bytes",
        "retransmitted",
        "bytes received",
        "round-trip time",
        "transfers",
        "completion time",
    ];
    let flows: BTreeSet<u32> = run.segments.iter().chain(&run.received).map(|s| s.of).collect();
    let flows: Vec<Vec<String>> = flows.into_iter().map(|of| flow(run, of)).collect();
    let more = match flows.len().checked_sub(FLOWS_MAX) {
        None | Some(0) => String::new(),
        Some(more) => format!("<p>{more} more are not listed.</p>\n"),
    };
    let flows = table(&head, flows.into_iter().take(FLOWS_MAX));
    format!("{hosts}{flows}{more}<p>Times are median and 99th percentile.</p>\n")
}

fn hosts(run: &Run) -> impl Iterator<Item = Vec<String>> {
    let p = &run.packets;
    run.queues.iter().map(move |queue| {
        let own = || (0..p.t.len()).filter(move |&i| p.host[i] == queue.of && p.left[i] != FOREIGN);
        let octets: u64 = own().map(|i| u64::from(p.octets[i])).sum();
        let lost = own().filter(|&i| p.left[i] >= 0 && p.arrival[i] < 0).count();
        let full = own().filter(|&i| p.left[i] == -1).count();
        let most = queue.v.iter().copied().fold(0.0, f64::max);
        let numbers = [own().count() as u64, octets, lost as u64, full as u64, most as u64];
        let name = format!("host {}", queue.of);
        [name].into_iter().chain(numbers.iter().map(u64::to_string)).collect()
    })
}

fn flow(run: &Run, of: u32) -> Vec<String> {
    let flow = &run.flows[of as usize];
    let id: Vec<String> = flow.id.iter().map(|(name, value)| format!("{name} {value}")).collect();
    let mut row = vec![flow_name(flow), id.join(", ")];
    let octets = |s: &Segments| s.len.iter().fold(0, |all: u64, len| all.saturating_add(*len)).to_string();
    match run.segments.iter().find(|s| s.of == of) {
        Some(s) => {
            let again = s.again.iter().filter(|a| **a != 0).count();
            row.extend([s.t.len().to_string(), octets(s), again.to_string()]);
        }
        None => row.extend([const { String::new() }; 3]),
    }
    row.push(run.received.iter().find(|s| s.of == of).map(octets).unwrap_or_default());
    let rtt = run.rtt.iter().find(|r| r.of == of).map(samples).unwrap_or_default();
    row.push(middle_and_tail(rtt));
    let all: Vec<&Transfer> = run.transfers.iter().filter(|t| t.flow == of).collect();
    let times: Vec<u64> = all.iter().filter_map(|t| Some(t.end?.saturating_sub(t.begin))).collect();
    let open = all.len() - times.len();
    row.push(if open == 0 { all.len().to_string() } else { format!("{} ({open} did not end)", all.len()) });
    row.push(middle_and_tail(times));
    row
}

fn samples(series: &Series) -> Vec<u64> {
    series.v.iter().map(|v| *v as u64).collect()
}

/// Median and 99th percentile of times in nanoseconds.
fn middle_and_tail(mut all: Vec<u64>) -> String {
    all.sort_unstable();
    let at = |percent: usize| all.get(all.len().saturating_sub(1) * percent / 100).copied();
    match (at(50), at(99)) {
        (Some(middle), Some(tail)) if middle != tail => format!("{}, {}", span(middle), span(tail)),
        (Some(only), _) => span(only),
        _ => String::new(),
    }
}

/// Rows of plain text; nothing if there is none.
fn table(head: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let row = |cells: Vec<String>| {
        let cells: String = cells.iter().map(|c| format!("<td>{}</td>", escape(c))).collect();
        format!("<tr>{cells}</tr>\n")
    };
    let rows: String = rows.map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    let head: String = head.iter().map(|title| format!("<th>{title}</th>")).collect();
    format!("<table>\n<tr>{head}</tr>\n{rows}</table>\n")
}
