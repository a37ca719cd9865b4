// SPDX-License-Identifier: MIT OR Apache-2.0
//! A way through the states once more, with somebody who looks on.

use std::sync::Arc;

use carrick_sim::core::{Core, Record, TraceKind};
use carrick_sim::faults::Fate;
use carrick_sim::observe::{All, Observer, Watch};

use crate::action::{Action, VIA, Way};
use crate::channel::{Channel, Input, Packet, changed};
use crate::end::{Around, End};
use crate::setup::Setup;

/// A packet with its number in the run.
#[derive(Debug, Clone)]
struct Numbered {
    number: u64,
    bytes: Arc<[u8]>,
}

impl Packet for Numbered {
    fn bits(&self) -> u32 {
        self.bytes.len() as u32 * 8
    }
}

/// What happens, with the bytes of the packet.
fn bytes_of(input: &Input<Numbered>) -> Input<&[u8]> {
    match input {
        Input::Packet(way, packet, bit) => Input::Packet(*way, &packet.bytes, *bit),
        Input::Time => Input::Time,
        Input::Crash(number) => Input::Crash(*number),
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
        ends: setup.ends(true)?,
        aside: setup.ends(true)?,
        channel: Channel::new(setup.faults, setup.life_ns, setup.via.is_some()),
        made: 0,
        observer,
    };
    let mut first = Vec::new();
    for host in (0..setup.hosts()).rev() {
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

/// Somebody who looks on at the program in the network, and is told of it as the simulator tells of such a program.
struct Between<'o>(&'o mut dyn Observer);

impl Observer for Between<'_> {
    fn record(&mut self, now: u64, _host: usize, record: &Record) {
        self.0.record_at(now, 0, record);
    }

    fn attend(&mut self, now: u64, _host: usize, core: &mut dyn Core) {
        self.0.attend_at(now, 0, core);
    }
}

struct Run<'o> {
    ends: Vec<End>,
    /// hosts in which it is seen what a packet would do
    aside: Vec<End>,
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
                if let Input::Packet(_, packet, bit) = &input
                    && host != VIA
                {
                    let bytes = changed(&packet.bytes, *bit);
                    self.observer.arrived(now, host, packet.number, &bytes);
                }
                let (sent, events) = self.with(host, |end, around| end.take(bytes_of(&input), around));
                (host, sent, events)
            }
            (None, Some(packet)) => {
                let Action::Lose(way) = action else { return Err("no such packet is on its way".into()) };
                let to = way.to(self.ends.len() > VIA);
                (to, Vec::new(), self.would_be(to, way, packet)?)
            }
            (None, None) => return Err("nothing is on its way".into()),
        };
        Ok(Step { action, now, packet: packet.map(|packet| packet.number), host, events, sent })
    }

    /// Something happens at a host; returns the numbers of the packets that it sends, and its events.
    fn with(&mut self, host: usize, act: impl FnOnce(&mut End, &mut Around<'_>)) -> (Vec<u64>, Vec<Record>) {
        let mut events = Events::default();
        let mut between = Between(&mut *self.observer);
        let observer: &mut dyn Observer = if host == VIA { &mut between } else { &mut *between.0 };
        let mut all = All(vec![observer, &mut events]);
        let now = self.channel.now;
        let mut around = Around { made: self.made, ..Around::of(now, host, Watch::new(&mut all, true)) };
        act(&mut self.ends[host], &mut around);
        self.made = around.made;
        let sent = around.sent;
        let numbers = sent.iter().map(|(_, number, _)| *number).collect();
        self.channel.put(
            sent.into_iter().map(|(way, number, bytes)| (way, Numbered { number, bytes: bytes.into() })),
        );
        (numbers, events.0)
    }

    /// The events that there would be if a packet arrived that is lost.
    fn would_be(&mut self, host: usize, way: Way, packet: &Numbered) -> Result<Vec<Record>, String> {
        let mut bytes = Vec::new();
        self.ends[host].save(&mut bytes);
        let (now, aside) = (self.channel.now, &mut self.aside[host]);
        aside.restore(&bytes, now)?;
        let mut events = Events::default();
        let mut around = Around::of(now, host, Watch::new(&mut events, true));
        aside.take(Input::Packet(way, &packet.bytes, None), &mut around);
        Ok(events.0)
    }

    /// Says what becomes of a packet.
    fn tell_fate(&mut self, action: Action, packet: Option<&Numbered>) {
        let Some(packet) = packet else { return };
        let now = self.channel.now;
        let (way, arrival, copy, flipped_bit) = match action {
            Action::Deliver(way, _) => (way, Some(now), None, None),
            Action::Lose(way) => (way, None, None, None),
            Action::Duplicate(way, _) => (way, Some(now), Some(now), None),
            Action::Corrupt(way, _, bit) => (way, Some(now), None, Some(u64::from(bit))),
            Action::Time(_) | Action::Crash(_) => return,
        };
        if way.from() == VIA {
            return;
        }
        let fate = Fate { left: Some(now), arrival, copy, flipped_bit, report: None };
        self.observer.forwarded(now, way.from(), packet.number, &fate);
    }
}
