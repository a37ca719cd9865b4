// SPDX-License-Identifier: MIT OR Apache-2.0
//! A state: all hosts between two inputs, and the channel between them.

use std::hash::{BuildHasher, Hasher};
use std::rc::Rc;

use carrick_sim::core::Core;
use carrick_sim::observe::{Nobody, Watch};
use foldhash::quality::FixedState;

use crate::action::{Action, Faults, VIA, Way};
use crate::channel::{Channel, Input};
use crate::end::{Around, End};
use crate::judge::{Judge, NAMES};
use crate::memo::{Asked, Done, Known, Memo, What};
use crate::store::{Bytes, Host, Kept, Store};

/// A state.
#[derive(Debug)]
pub(crate) struct State {
    /// those that there are, first
    hosts: [Host; NAMES.len()],
    pub channel: Channel<Kept>,
    /// packets that have arrived since time has passed last, on the way by which it was reached first
    pub at_once: u32,
}

impl Clone for State {
    fn clone(&self) -> State {
        State { channel: self.channel.clone(), ..*self }
    }

    /// Most states that are made were seen before: then the memory of one serves the next.
    fn clone_from(&mut self, from: &State) {
        self.channel.clone_from(&from.channel);
        (self.hosts, self.at_once) = (from.hosts, from.at_once);
    }
}

impl State {
    /// What tells it from any other: equal states have equal prints, and of two others nearly none have.
    pub(crate) fn print(&self) -> u64 {
        let mut hasher = FixedState::default().build_hasher();
        self.hosts[..self.channel.hosts()].iter().for_each(|host| hasher.write_u64(host.print));
        self.channel.hash_with(|packet| packet.print, &mut hasher);
        hasher.finish()
    }

    /// See [`Channel::actions`].
    pub(crate) fn actions(&self, every_order: bool, to: &mut Vec<Action>) {
        let due = self.hosts.map(|host| host.due);
        self.channel.actions(&due[..self.channel.hosts()], every_order, to);
    }

    /// When something is due at an end, where an action lets time pass.
    fn due(&self, action: Action) -> Option<u64> {
        match action {
            Action::Time(host) => self.hosts[usize::from(host)].due,
            _ => None,
        }
    }
}

/// What all threads of a search share.
#[derive(Default)]
pub(crate) struct Shared {
    store: Store,
    known: Known,
}

/// All hosts, in whatever state was asked for last, and what they have done before.
pub(crate) struct Ends<'s> {
    pub ends: Vec<End>,
    judge: &'s Judge<'s>,
    store: &'s Store,
    memo: Memo<'s>,
    bytes: Vec<u8>,
}

impl<'s> Ends<'s> {
    /// Those of the judge's setup.
    ///
    /// # Errors
    /// As [`Setup::ends`](crate::Setup).
    pub(crate) fn new(judge: &'s Judge<'s>, Shared { store, known }: &'s Shared) -> Result<Ends<'s>, String> {
        Ok(Ends { ends: judge.setup.ends(false)?, judge, store, memo: Memo::new(known), bytes: Vec::new() })
    }

    /// The state in which all applications have begun: who answers is there before anybody asks.
    ///
    /// # Errors
    /// If two things have one print.
    pub(crate) fn begin(&mut self, faults: Faults, life: u64) -> Result<State, String> {
        let count = self.ends.len();
        let mut channel = Channel::new(faults, life, count > VIA);
        let mut hosts = [Host::default(); NAMES.len()];
        for host in (0..count).rev() {
            let mut nobody = Nobody;
            let mut around = Around::of(0, host, Watch::new(&mut nobody, false));
            self.ends[host].start(&mut around);
            channel.put(self.kept(around.sent)?.into_iter());
            hosts[host] = self.saved(host)?;
        }
        Ok(State { hosts, channel, at_once: 0 })
    }

    fn saved(&mut self, host: usize) -> Result<Host, String> {
        self.ends[host].save(&mut self.bytes);
        self.store.put_host(&self.bytes, self.ends[host].deadline())
    }

    /// Packets without their numbers.
    fn kept(&self, sent: Vec<(Way, u64, Box<[u8]>)>) -> Result<Vec<(Way, Kept)>, String> {
        sent.into_iter().map(|(way, _, bytes)| Ok((way, self.store.put_packet(&bytes)?))).collect()
    }

    /// All hosts as they are in a state.
    ///
    /// # Errors
    /// If the state was not made by such ends.
    pub(crate) fn become_state(&mut self, state: &State) -> Result<(), String> {
        let mut hosts = self.ends.iter_mut().zip(state.hosts);
        hosts.try_for_each(|(end, host)| end.restore(&self.store.host(host)?, state.channel.now))
    }

    /// Contexts that are open at each host now.
    pub(crate) fn open_contexts(&self) -> Vec<usize> {
        self.ends.iter().map(|end| end.core.open_contexts()).collect()
    }

    /// Puts what a state becomes by an action in place of `next`. Returns the host to which something happened, and what it did.
    ///
    /// # Errors
    /// As [`Ends::become_state`].
    pub(crate) fn step(
        &mut self,
        state: &State,
        action: Action,
        next: &mut State,
    ) -> Result<Option<(usize, Rc<Done>)>, String> {
        next.clone_from(state);
        let Some((host, input)) = next.channel.act(action, state.due(action)) else { return Ok(None) };
        next.at_once = if next.channel.now > state.channel.now { 0 } else { state.at_once + 1 };
        let done = self.done(host, state.hosts[host], input, &next.channel)?;
        next.channel.put(done.sent.iter().copied());
        next.hosts[host] = done.host;
        Ok(Some((host, done)))
    }

    /// What a host does, in one of its states, when something reaches it over a channel.
    fn done(
        &mut self,
        host: usize,
        from: Host,
        input: Input<Kept>,
        channel: &Channel<Kept>,
    ) -> Result<Rc<Done>, String> {
        let what = match input {
            Input::Packet(way, packet, bit) => What::Packet(way, packet.print, bit),
            Input::Time => What::Time,
            Input::Crash(number) => What::Crash(number),
        };
        let (now, crashed) = (channel.now, channel.has_crashed());
        let asked = Asked { host, state: from.print, what, now, crashed };
        if let Some(done) = self.memo.get(&asked) {
            return Ok(done);
        }
        let bytes: Bytes;
        let input = match input {
            Input::Packet(way, packet, bit) => {
                bytes = self.store.packet(packet)?;
                Input::Packet(way, &*bytes, bit)
            }
            Input::Time => Input::Time,
            Input::Crash(number) => Input::Crash(number),
        };
        let mut nobody = Nobody;
        let mut around = Around::of(now, host, Watch::new(&mut nobody, false));
        let end = &mut self.ends[host];
        end.restore(&self.store.host(from)?, now)?;
        end.take(input, &mut around);
        let wrong = self.judge.end(host, end, crashed);
        // What has happened before is not kept in a state, and so neither is the count of it.
        let acts = end.core.counters()[carrick_ir::counter("events")] > 0;
        let done = Done { host: self.saved(host)?, sent: self.kept(around.sent)?, wrong, acts };
        let done = Rc::new(done);
        self.memo.put(asked, &done);
        Ok(done)
    }
}
