// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instances of contexts, and what became of the bytes that they were given to send.

use std::collections::{BTreeMap, VecDeque};
use std::net::{Ipv4Addr, Ipv6Addr};

use carrick_ir::{Program, Ty};
use carrick_sim::core::Record;
use carrick_sim::metrics::Metrics;
use carrick_sim::observe::Observer;

use crate::model::{Flow, Segments, Series, Transfer};
use crate::words::context_of;

/// So many requests for packets are remembered, to find the one that a packet was made for.
const ASKED_MAX: usize = 256;

/// The TX data unit of a flow.
#[derive(Default)]
struct Unit {
    added: u64,
    segments: Segments,
    /// its last value, and that of `delivered`, count bytes
    edge: Series,
    rtt: Series,
    delivered: Series,
    /// which events asked for which bytes: first, end, event
    asked: VecDeque<(u64, u64, i64)>,
    open: Option<Transfer>,
}

/// Collects flows as a trace goes by.
#[derive(Default)]
pub struct Flows {
    pub flows: Vec<Flow>,
    known: BTreeMap<(u32, u64), u32>,
    counts: BTreeMap<(u32, usize), u32>,
    units: BTreeMap<u32, Unit>,
    /// the flow at the other end that sends to this one
    senders: BTreeMap<u32, u32>,
    pub transfers: Vec<Transfer>,
    metrics: Metrics,
}

/// When and where something is recorded, and during which event.
#[derive(Clone, Copy)]
pub struct Moment {
    pub t: u64,
    pub host: u32,
    pub event: i64,
}

impl Flows {
    /// The flow with this handle at a host; `None` if that is no handle.
    pub fn of(&mut self, program: &Program, host: u32, handle: u64) -> Option<u32> {
        let context = context_of(handle).filter(|c| *c < program.contexts.len())?;
        if let Some(flow) = self.known.get(&(host, handle)) {
            return Some(*flow);
        }
        let number = self.counts.entry((host, context)).or_default();
        *number += 1;
        let flow = self.flows.len() as u32;
        let name = program.contexts[context].name.clone();
        self.flows.push(Flow { host, context: name, number: *number, id: Vec::new() });
        self.known.insert((host, handle), flow);
        Some(flow)
    }

    /// An instruction of the event that runs at a host on a flow.
    pub fn instruction(
        &mut self,
        program: &Program,
        at: Moment,
        on: Option<u32>,
        name: &str,
        record: &Record,
    ) {
        let word = |n: usize| record.words.get(n).copied().unwrap_or(0);
        if name == "pkt_gen" {
            if let Some(unit) = on.and_then(|flow| self.units.get_mut(&flow)) {
                unit.asked.push_back((word(1), word(1).saturating_add(word(2)), at.event));
                unit.asked.drain(..unit.asked.len().saturating_sub(ASKED_MAX));
            }
            return;
        }
        let handle = if name == "new_ctx" { word(1) } else { word(0) };
        match name {
            "new_ctx" => {
                if let Some(flow) = self.of(program, at.host, handle) {
                    self.flows[flow as usize].id = id(program, word(0) as usize, record.words.get(2..));
                }
            }
            "new_tx_ordered_data" => {
                if let Some(flow) = self.of(program, at.host, handle) {
                    self.new_unit(at, flow);
                }
            }
            "add_tx_data" | "tx_flush_and_notify" | "rx_flush_and_notify" => {
                if let Some(flow) = self.of(program, at.host, handle) {
                    self.octets(at, flow, name, word(1));
                }
            }
            _ => {}
        }
        let before = self.metrics.rtt_samples.len();
        self.metrics.record(at.t, at.host as usize, record);
        let sample = self.metrics.rtt_samples.get(before).copied();
        let flow = self.known.get(&(at.host, handle));
        if let Some((rtt, unit)) = sample.zip(flow.and_then(|f| self.units.get_mut(f))) {
            unit.rtt.step(at.t, rtt as f64, at.event);
        }
    }

    fn new_unit(&mut self, at: Moment, flow: u32) {
        let unit = self.units.entry(flow).or_insert_with(|| Unit {
            segments: Segments { of: flow, ..Segments::default() },
            edge: Series::of(flow),
            rtt: Series::of(flow),
            delivered: Series::of(flow),
            ..Unit::default()
        });
        unit.added = 0;
        self.transfers.extend(unit.open.take());
        unit.edge.step(at.t, 0.0, at.event);
        unit.delivered.step(at.t, 0.0, at.event);
    }

    /// Bytes were given to the flow's unit, are acknowledged, or went to its application.
    fn octets(&mut self, at: Moment, flow: u32, name: &str, octets: u64) {
        let flow = if name == "rx_flush_and_notify" { self.senders.get(&flow).copied() } else { Some(flow) };
        let Some(flow) = flow.filter(|_| octets > 0) else { return };
        let Some(unit) = self.units.get_mut(&flow) else { return };
        if name == "add_tx_data" {
            unit.added = unit.added.saturating_add(octets);
            let begin = Transfer { flow, begin: at.t, end: None, octets: 0, events: (at.event, -1) };
            let open = unit.open.get_or_insert(begin);
            open.octets = open.octets.saturating_add(octets);
            return;
        }
        let series = if name == "tx_flush_and_notify" { &mut unit.edge } else { &mut unit.delivered };
        let before = series.v.last().copied().unwrap_or(0.0);
        let done = before + octets as f64;
        series.step(at.t, done, at.event);
        if done >= unit.added as f64
            && let Some(open) = unit.open.take()
        {
            let events = (open.events.0, at.event);
            self.transfers.push(Transfer { end: Some(at.t), events, ..open });
        }
    }

    /// Bytes of one flow reached another.
    pub fn pair(&mut self, from: u32, to: u32) {
        self.senders.insert(to, from);
    }

    /// A packet was made with bytes of a unit: whose, and which event asked for it (-1: not known).
    pub fn segment(&mut self, program: &Program, at: Moment, record: &Record) -> Option<(u32, i64)> {
        let &[handle, offset, len, _] = &record.words[..] else { return None };
        let host = at.host as usize;
        let before = self.metrics.retransmitted_by.get(&host).copied();
        self.metrics.record(at.t, host, record);
        let again = self.metrics.retransmitted_by.get(&host).copied() != before;
        let flow = self.of(program, at.host, handle)?;
        let unit = self.units.get_mut(&flow)?;
        let asked = unit.asked.iter().rev().find(|(first, end, _)| (*first..*end).contains(&offset));
        let by = asked.map_or(-1, |(_, _, event)| *event);
        let segments = &mut unit.segments;
        segments.add(at.t, (offset, len), again, by);
        Some((flow, by))
    }

    /// What was collected: segments, acknowledged edges, round-trip times, each of the flows that have them.
    pub fn finish(mut self) -> Collected {
        let mut all = Collected::default();
        for unit in self.units.into_values() {
            self.transfers.extend(unit.open);
            if !unit.segments.t.is_empty() {
                all.segments.push(unit.segments);
                all.edges.push(unit.edge);
                all.delivered.push(unit.delivered);
            }
            all.rtt.extend(Some(unit.rtt).filter(|rtt| !rtt.t.is_empty()));
        }
        self.transfers.sort_by_key(|t| (t.begin, t.flow));
        (all.flows, all.transfers) = (self.flows, self.transfers);
        all
    }
}

/// What was collected of flows.
#[derive(Default)]
pub struct Collected {
    pub flows: Vec<Flow>,
    pub segments: Vec<Segments>,
    pub edges: Vec<Series>,
    pub delivered: Vec<Series>,
    pub rtt: Vec<Series>,
    pub transfers: Vec<Transfer>,
}

/// The parts of an id by name; addresses of the network as people write them.
fn id(program: &Program, context: usize, words: Option<&[u64]>) -> Vec<(String, String)> {
    let Some(def) = program.contexts.get(context) else { return Vec::new() };
    let mut words = words.unwrap_or_default().iter().copied();
    let shown = program.ids[def.id.index()].parts.iter().map_while(|part| {
        let named = || part.name.split('_').any(|w| ["ip", "addr", "address"].contains(&w));
        let word = words.next()?;
        let text = match part.ty {
            Ty::U32 if named() => Ipv4Addr::from(word as u32).to_string(),
            Ty::Id(_) => Ipv6Addr::from(u128::from(word) << 64 | u128::from(words.next()?)).to_string(),
            _ => word.to_string(),
        };
        Some((part.name.clone(), text))
    });
    shown.collect()
}
