// SPDX-License-Identifier: MIT OR Apache-2.0
//! A state: all hosts between two inputs, and the channel between them.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use carrick_sim::core::Core;
use carrick_sim::observe::{Nobody, Watch};

use crate::action::{Action, Faults, VIA, Way};
use crate::channel::Channel;
use crate::end::{Around, End};
use crate::judge::NAMES;
use crate::setup::Setup;

/// An end between two inputs.
#[derive(Debug)]
struct Host {
    octets: Box<[u8]>,
    /// of `octets`
    print: u64,
    /// when something is due
    due: Option<u64>,
}

/// A state.
#[derive(Debug, Clone)]
pub(crate) struct State {
    hosts: Vec<Arc<Host>>,
    pub channel: Channel<Arc<[u8]>>,
    /// packets that have arrived since time has passed last, on the way by which it was reached first
    pub at_once: u32,
}

fn hash(of: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

/// Packets without their numbers.
fn octets(sent: Vec<(Way, u64, Arc<[u8]>)>) -> impl Iterator<Item = (Way, Arc<[u8]>)> {
    sent.into_iter().map(|(way, _, octets)| (way, octets))
}

impl State {
    /// What tells it from any other: equal states have equal prints, and of two others nearly none have.
    pub(crate) fn print(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.hosts.iter().for_each(|host| host.print.hash(&mut hasher));
        self.channel.hash(&mut hasher);
        hasher.finish()
    }

    /// See [`Channel::actions`].
    pub(crate) fn actions(&self, every_order: bool, to: &mut Vec<Action>) {
        let mut due = [None; NAMES.len()];
        due.iter_mut().zip(&self.hosts).for_each(|(due, host)| *due = host.due);
        self.channel.actions(&due[..self.hosts.len()], every_order, to);
    }

    /// When something is due at an end, where an action lets time pass.
    fn due(&self, action: Action) -> Option<u64> {
        match action {
            Action::Time(host) => self.hosts[usize::from(host)].due,
            _ => None,
        }
    }
}

/// All hosts, in whatever state was asked for last.
pub(crate) struct Ends {
    pub ends: Vec<End>,
    octets: Vec<u8>,
}

impl Ends {
    /// # Errors
    /// As [`Setup::ends`].
    pub(crate) fn new(setup: &Setup) -> Result<Ends, String> {
        Ok(Ends { ends: setup.ends(false)?, octets: Vec::new() })
    }

    /// The state in which all applications have begun: who answers is there before anybody asks.
    pub(crate) fn begin(&mut self, faults: Faults, life: u64) -> State {
        let count = self.ends.len();
        let mut channel = Channel::new(faults, life, count > VIA);
        for host in (0..count).rev() {
            let mut nobody = Nobody;
            let mut around = Around::of(0, host, Watch::new(&mut nobody, false));
            self.ends[host].start(&mut around);
            channel.put(octets(around.sent));
        }
        State { hosts: (0..count).map(|host| self.saved(host)).collect(), channel, at_once: 0 }
    }

    fn saved(&mut self, host: usize) -> Arc<Host> {
        self.ends[host].save(&mut self.octets);
        let due = self.ends[host].deadline();
        Arc::new(Host { octets: self.octets.as_slice().into(), print: hash(&self.octets), due })
    }

    /// All hosts as they are in a state.
    ///
    /// # Errors
    /// If the state was not made by such ends.
    pub(crate) fn become_state(&mut self, state: &State) -> Result<(), String> {
        (0..self.ends.len()).try_for_each(|host| self.become_host(state, host))
    }

    fn become_host(&mut self, state: &State, host: usize) -> Result<(), String> {
        self.ends[host].restore(&state.hosts[host].octets, state.channel.now)
    }

    /// Contexts that are open at each host now.
    pub(crate) fn open_contexts(&self) -> Vec<usize> {
        self.ends.iter().map(|end| end.core.open_contexts()).collect()
    }

    /// What a state becomes by an action, and the host to which something happened, which is as it is then.
    ///
    /// # Errors
    /// As [`Ends::become_state`].
    pub(crate) fn step(&mut self, state: &State, action: Action) -> Result<(State, Option<usize>), String> {
        let mut next = state.clone();
        let Some((host, input)) = next.channel.act(action, state.due(action)) else {
            return Ok((next, None));
        };
        next.at_once = if next.channel.now > state.channel.now { 0 } else { state.at_once + 1 };
        self.become_host(state, host)?;
        let mut nobody = Nobody;
        let mut around = Around::of(next.channel.now, host, Watch::new(&mut nobody, false));
        self.ends[host].take(input, &mut around);
        next.channel.put(octets(around.sent));
        next.hosts[host] = self.saved(host);
        Ok((next, Some(host)))
    }
}
