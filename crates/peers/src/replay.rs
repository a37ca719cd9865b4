// SPDX-License-Identifier: MIT OR Apache-2.0
//! A way through the states once more, with somebody who looks on.

use std::sync::Arc;

use carrick_sim::core::{Record, TraceKind};
use carrick_sim::faults::Fate;
use carrick_sim::observe::{All, Observer, Watch};

use crate::action::Action;
use crate::channel::{Channel, Input, Packet};
use crate::end::{Around, End};
use crate::setup::Setup;

/// A packet with its number in the run.
#[derive(Debug, Clone)]
struct Numbered {
    number: u64,
    octets: Arc<[u8]>,
}

impl Packet for Numbered {
    fn octets(&self) -> &[u8] {
        &self.octets
    }

    fn with(&self, octets: Vec<u8>) -> Numbered {
        Numbered { number: self.number, octets: octets.into() }
    }
}

/// One step of a way.
#[derive(Debug, Clone)]
pub struct Step {
    /// what happens
    pub action: Action,
    /// virtual nanoseconds since the beginning
    pub now: u64,
    /// the number of the packet that it is about
    pub packet: Option<u64>,
    /// the host whose events these are
    pub host: usize,
    /// events that the packet, or time, is there, in their order; of a packet that is lost: those that there would have been
    pub events: Vec<Record>,
    /// the numbers of the packets that are sent because of it
    pub sent: Vec<u64>,
}

/// Goes a way through the states, and tells `observer` of it as the simulator tells of its runs. Returns the numbers of the packets
/// that are sent before its first step, and its steps.
///
/// # Errors
/// If it is no way of this setup.
pub fn replay(
    setup: &Setup,
    path: &[Action],
    observer: &mut dyn Observer,
) -> Result<(Vec<u64>, Vec<Step>), String> {
    let mut run = Run {
        ends: [setup.end(0, true)?, setup.end(1, true)?],
        aside: [setup.end(0, true)?, setup.end(1, true)?],
        channel: Channel::new(setup.faults, setup.life_ns),
        made: 0,
        observer,
    };
    let mut first = Vec::new();
    for host in [1, 0] {
        first.append(&mut run.with(host, |end, around| end.start(around)).0);
    }
    let steps = path.iter().map(|action| run.step(*action)).collect::<Result<_, _>>()?;
    Ok((first, steps))
}

/// Keeps the events that a host begins to handle.
#[derive(Default)]
struct Events(Vec<Record>);

impl Observer for Events {
    fn record(&mut self, _now: u64, _host: usize, record: &Record) {
        if record.kind == TraceKind::Event as u32 {
            self.0.push(record.clone());
        }
    }
}

struct Run<'o> {
    ends: [End; 2],
    /// ends in which it is seen what a packet would do
    aside: [End; 2],
    channel: Channel<Numbered>,
    made: u64,
    observer: &'o mut dyn Observer,
}

impl Run<'_> {
    fn step(&mut self, action: Action) -> Result<Step, String> {
        let packet = self.channel.packet(action).cloned();
        self.tell_fate(action, packet.as_ref());
        let due = match action {
            Action::Time(host) => self.ends.get(usize::from(host)).and_then(End::deadline),
            _ => None,
        };
        let input = self.channel.act(action, due);
        let now = self.channel.now;
        let (host, sent, events) = match (input, packet.as_ref()) {
            (Some((host, input)), _) => {
                if let Input::Packet(packet) = &input {
                    self.observer.arrived(now, host, packet.number, &packet.octets);
                }
                let (sent, events) = self.with(host, |end, around| end.take(input, around));
                (host, sent, events)
            }
            (None, Some(packet)) => {
                let Action::Lose(way) = action else { return Err("no such packet is on its way".into()) };
                (way.to(), Vec::new(), self.would_be(way.to(), packet)?)
            }
            (None, None) => return Err("nothing is on its way".into()),
        };
        Ok(Step { action, now, packet: packet.map(|packet| packet.number), host, events, sent })
    }

    /// Something happens at a host; returns the numbers of the packets that it sends, and its events.
    fn with(&mut self, host: usize, act: impl FnOnce(&mut End, &mut Around<'_>)) -> (Vec<u64>, Vec<Record>) {
        let mut events = Events::default();
        let mut all = All(vec![&mut *self.observer, &mut events]);
        let now = self.channel.now;
        let mut around = Around { made: self.made, ..Around::of(now, host, Watch::new(&mut all, true)) };
        act(&mut self.ends[host], &mut around);
        self.made = around.made;
        let sent: Vec<Numbered> =
            around.sent.into_iter().map(|(number, octets)| Numbered { number, octets }).collect();
        let numbers = sent.iter().map(|packet| packet.number).collect();
        self.channel.put(host, sent.into_iter());
        (numbers, events.0)
    }

    /// The events that there would be if a packet arrived that is lost.
    fn would_be(&mut self, host: usize, packet: &Numbered) -> Result<Vec<Record>, String> {
        let mut octets = Vec::new();
        self.ends[host].save(&mut octets);
        let (now, aside) = (self.channel.now, &mut self.aside[host]);
        aside.restore(&octets, now)?;
        let mut events = Events::default();
        let mut around = Around::of(now, host, Watch::new(&mut events, true));
        aside.take(Input::Packet(packet.clone()), &mut around);
        Ok(events.0)
    }

    /// Says what becomes of a packet.
    fn tell_fate(&mut self, action: Action, packet: Option<&Numbered>) {
        let Some(packet) = packet else { return };
        let now = self.channel.now;
        let (way, arrival, copy, flipped_bit) = match action {
            Action::Deliver(way, _) => (way, Some(now), None, None),
            Action::Lose(way) => (way, None, None, None),
            Action::Duplicate(way) => (way, Some(now), Some(now), None),
            Action::Corrupt(way, at) => (way, Some(now), None, Some(u64::from(at))),
            Action::Time(_) | Action::Crash(_) => return,
        };
        let fate = Fate { left: Some(now), arrival, copy, flipped_bit, report: None };
        self.observer.forwarded(now, way.from(), packet.number, &fate);
    }
}
