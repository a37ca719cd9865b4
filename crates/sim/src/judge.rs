// SPDX-License-Identifier: MIT OR Apache-2.0
//! What of a run should not have happened, by what interfaces promise.

use carrick_ir::{Program, STATUS_NAMES, uses};
use rustc_hash::FxHashMap;

use crate::app::{End, Messages, Plan, Record, Side};
use crate::core::FailedClaim;
use crate::interface::Shape;
use crate::scenario::Scenario;
use crate::status::CLOSED;

/// The plan of one end.
type SideOf = fn(&Plan) -> &Side;

/// The first of each number.
fn by_number<'a, T>(
    all: impl DoubleEndedIterator<Item = &'a T>,
    number: fn(&T) -> u64,
) -> FxHashMap<u64, &'a T> {
    all.rev().map(|it| (number(it), it)).collect()
}

/// Sentences about a run.
#[derive(Debug, Default)]
pub struct Verdict {
    /// about broken promises
    pub failures: Vec<String>,
    /// about damaged data that the program could not tell from others
    pub damage: Vec<String>,
}

/// Compares what the applications of the client and the server saw with what the interface promises.
pub fn records(program: &Program, shape: Shape, records: &[Vec<Record>; 2], scenario: &Scenario) -> Verdict {
    let failures = match shape {
        Shape::Stream | Shape::Multistream => judge_streams(shape, &records[0], &records[1], scenario),
        Shape::Verbs => judge_verbs(records),
        Shape::Message | Shape::Rpc => return judge_messages(program, shape, records, scenario),
    };
    Verdict { failures, ..Verdict::default() }
}

/// The claims that failed at a host, each in a line.
pub fn claims(program: &Program, host: &str, failed: &[FailedClaim]) -> Vec<String> {
    let mut counted: Vec<(&FailedClaim, usize)> = Vec::new();
    for failure in failed {
        match counted.iter_mut().find(|(first, _)| first.claim == failure.claim) {
            Some((_, count)) => *count += 1,
            None => counted.push((failure, 1)),
        }
    }
    let again = |count| if count > 1 { ", and again later" } else { "" };
    let line = |(first, count)| claim_words(program, host, first) + again(count);
    counted.into_iter().map(line).collect()
}

/// Where the first claim stands that failed: `FILE:LINE`.
pub(crate) fn first_claim(program: &Program, failed: &[FailedClaim]) -> Option<String> {
    let claim = program.claims.get(failed.first()?.claim as usize)?;
    Some(format!("{}:{}", program.file_of(claim.loc).raw(), claim.loc.line))
}

/// A failed claim in a line.
fn claim_words(program: &Program, host: &str, failed: &FailedClaim) -> String {
    let chain = failed.event.and_then(|e| program.events.get(e as usize));
    let place = chain.map_or_else(|| "the parser".to_owned(), |e| format!("the chain of `{}`", e.name));
    let at = failed.at as f64 / 1e9;
    let Some(claim) = program.claims.get(failed.claim as usize) else {
        return format!("a claim failed in {place}");
    };
    let (file, line, col) = (program.file_of(claim.loc).raw(), claim.loc.line, claim.loc.col);
    format!(
        "{file}:{line}:{col}: `{}` does not hold, in {place}, on the {host} at {at:.9} s",
        claim.text.raw()
    )
}

/// Every byte arrives once and in order, or both applications are told of an error.
fn judge_streams(shape: Shape, clients: &[Record], servers: &[Record], scenario: &Scenario) -> Vec<String> {
    let mut failures = Vec::new();
    let plans = by_number(scenario.plans.iter(), |plan| plan.number);
    let servers = by_number(servers.iter().filter(|s| s.number != 0), |server| server.number);
    for client in clients {
        let plan = plans.get(&client.number).copied();
        if plan.is_some_and(|p| p.hold) {
            if client.established.is_none() {
                failures.push(format!("connection {}: was not established", client.number));
            }
            continue;
        }
        let server = servers.get(&client.number).copied();
        let waits = |end: &Record, peer: Option<&Record>, side: SideOf| {
            shape == Shape::Stream
                && plan.is_some_and(|plan| end.sent >= side(plan).to_send)
                && waits_for_a_lost_peer(end, peer, scenario)
        };
        let may_wait = [
            waits(client, server, |plan| &plan.client),
            server.is_some_and(|server| waits(server, Some(client), |plan| &plan.server)),
        ];
        judge_pair(client, server, may_wait, &mut failures);
    }
    failures
}

/// Whether a stream's end is open because its peer is gone and could not say so: without keep-alives, an end that has sent
/// everything never asks.
fn waits_for_a_lost_peer(end: &Record, peer: Option<&Record>, scenario: &Scenario) -> bool {
    let gone = peer.is_some_and(|peer| matches!(peer.end, End::Aborted | End::Error(_)));
    end.end == End::Open && (gone || scenario.link.faults.is_cut())
}

/// Says of each transfer that ended in an error, or is short of what its application was to send, how far it went: no promise
/// is broken, but nobody got what they wanted.
pub fn unfinished(shape: Shape, records: &[Vec<Record>; 2], scenario: &Scenario) -> Vec<String> {
    let mut found = Vec::new();
    let sides: [(&str, SideOf); 2] = [("client", |plan| &plan.client), ("server", |plan| &plan.server)];
    let plans = by_number(scenario.plans.iter(), |plan| plan.number);
    let known = [0, 1].map(|at| by_number(records[at].iter(), |record: &Record| record.number));
    for (at, (name, side)) in sides.into_iter().enumerate() {
        for record in &records[at] {
            let (n, failed) = (record.number, record.messages.failed);
            let plan = plans.get(&n).copied();
            let wanted = plan.filter(|plan| !plan.hold).map_or(0, |plan| side(plan).to_send);
            let arrived = known[1 - at].get(&n).map_or(0, |peer| peer.received);
            let due = plan.map_or(0, |plan| sides[1 - at].1(plan).to_send);
            let whole = record.sent >= wanted && record.received >= due;
            if let End::Error(status) = record.end {
                // Whoever has all, and sent all, may hear of the end so.
                if whole && status == CLOSED {
                    continue;
                }
                let status = STATUS_NAMES.get(usize::from(status)).copied().unwrap_or("?");
                let from = record.refusal.map_or_else(String::new, |refusal| format!(" ({refusal})"));
                found.push(format!(
                    "connection {n}: the {name} got {status} after {} bytes of {wanted}{from}",
                    record.sent
                ));
            } else if failed > 0 {
                let first = record.refusal.map_or_else(String::new, |first| format!(": the first {first}"));
                found.push(format!("connection {n}: {failed} calls of the {name} ended in an error{first}"));
            } else if shape.carries_streams() && arrived < wanted {
                found.push(format!("connection {n}: {arrived} bytes of the {name} arrived, of {wanted}"));
            }
        }
    }
    found
}

/// What arrives was sent so, no server executes a request twice, and every connection comes to an end. Where the network changes
/// packets and the program cannot tell, what it gives to applications is damage, and no failure of what it promises.
fn judge_messages(
    program: &Program,
    shape: Shape,
    records: &[Vec<Record>; 2],
    scenario: &Scenario,
) -> Verdict {
    let mut verdict = Verdict::default();
    let corrupts = scenario.link.faults.any(|faults| faults.corrupt_ppm > 0);
    let blind = uses::without_checksum(program).filter(|_| corrupts);
    let ends =
        records.iter().zip(["client", "server"]).flat_map(|(r, name)| r.iter().map(move |r| (name, r)));
    for (name, record) in ends {
        let (n, Messages { again, damaged, .. }) = (record.number, record.messages);
        if record.end == End::Open {
            let what = format!("connection {n}: the {name} waits for a request that never completes");
            verdict.failures.push(what);
        }
        let mut wrong = Vec::new();
        if let Some(at) = record.wrong_at {
            wrong.push(format!(
                "connection {n}: the {name} received {damaged} messages that differ from those sent, the first after {at} bytes"
            ));
        }
        if shape == Shape::Rpc && again > 0 {
            wrong.push(format!(
                "connection {n}: the {name} received {again} requests that it had received before"
            ));
        }
        match blind {
            Some(packet) => verdict.damage.extend(wrong.iter().map(|what| {
                format!("{what}: the link corrupts packets, and `{packet}` has no checksum over its payload")
            })),
            None => verdict.failures.append(&mut wrong),
        }
    }
    verdict
}

/// Every byte is where it belongs, every completion is in order, and every connection comes to an end.
fn judge_verbs(records: &[Vec<Record>; 2]) -> Vec<String> {
    let mut failures = Vec::new();
    for (name, record) in
        records.iter().zip(["client", "server"]).flat_map(|(r, n)| r.iter().map(move |r| (n, r)))
    {
        let n = record.number;
        if let Some(at) = record.wrong_at {
            failures.push(format!("connection {n}: behind {at} bytes, the {name} got a wrong status"));
        }
        if record.end == End::Open {
            failures.push(format!("connection {n}: the {name} never finished"));
        }
    }
    failures
}

/// `may_wait`: the client, and the server, may stay open.
fn judge_pair(client: &Record, server: Option<&Record>, may_wait: [bool; 2], failures: &mut Vec<String>) {
    let n = client.number;
    let mut fail = |what: String| failures.push(format!("connection {n}: {what}"));
    let ends = [("client", Some(client), may_wait[0]), ("server", server, may_wait[1])];
    for (name, end, may_wait) in ends {
        let Some(end) = end else { continue };
        if let Some(at) = end.wrong_at {
            fail(format!("the {name} received a wrong byte at {at}"));
        }
        if end.end == End::Open && !may_wait {
            fail(format!("the {name} never finished ({} bytes sent, {} received)", end.sent, end.received));
        }
    }
    let Some(server) = server else {
        if client.end == End::Clean && client.sent > 0 {
            fail("the client ended well, but the server never saw it".into());
        }
        return;
    };
    for (from, to, name, may_wait) in
        [(client, server, "server", may_wait[1]), (server, client, "client", may_wait[0])]
    {
        if to.received > from.sent && from.end == End::Clean {
            fail(format!("the {name} received {} bytes of {}", to.received, from.sent));
        }
        // Whoever resets a connection may have said the end before.
        let cut = to.received < from.sent && matches!(from.end, End::Error(_) | End::Open);
        if to.end_of_stream && (cut || to.received != from.sent && from.end == End::Clean) {
            fail(format!("the {name} saw the end after {} bytes of {}", to.received, from.sent));
        }
        let told = |r: &Record| matches!(r.end, End::Error(_) | End::Aborted);
        if from.end == End::Clean && to.received < from.sent && !told(to) && !may_wait {
            fail(format!("the {name} lacks bytes and got no error"));
        }
    }
}
