// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs in the network, at the nodes of a topology.
//!
//! The programs of a host stand between its link and the host: interface 0 leads to the link, interface 1 to the host. The
//! interfaces of a switch are its links, in the order of the topology. Each packet that reaches it passes its programs in their
//! order, as long as they send it by the route; behind the last one it goes where its destination leads. What a program sends by
//! a link leaves at once. Programs take no time.

use std::collections::{BTreeMap, VecDeque};

use carrick_interp::Config;

use super::offload::Application;
use super::routes::PortId;
use super::setup::Setup;
use super::topology::Node;
use crate::core::Core;
use crate::run::in_network;
use crate::scenario::Way;

/// Packets that go from program to program at one time at most: two programs could hand a packet to each other for ever.
const MOVES: u32 = 1000;

/// A program, and the node that it stands at.
pub struct Placed<'a> {
    pub node: Node,
    pub way: Way<'a>,
}

impl Placed<'_> {
    /// A core of the program, at work; `config` has what is the same at all nodes.
    pub(super) fn station(&self, config: Config, setup: &Setup) -> Result<Station, String> {
        let core = in_network(&self.way, config)?;
        let offload = Application::of(self.way.program, setup, self.node)?;
        let (node, links) = (self.node, Vec::new());
        Ok(Station { node, links, core, offload, next: [None; 2], timer_at: u64::MAX, astray: 0 })
    }
}

/// A program at work.
pub struct Station {
    pub node: Node,
    /// the ports of the node, in the order of the topology
    pub links: Vec<PortId>,
    pub core: Box<dyn Core>,
    /// takes its messages
    pub offload: Option<Application>,
    /// towards the link and towards the host, the next program of the chain; `None`: the node itself. At a switch, the second
    /// is the next one.
    pub next: [Option<u32>; 2],
    /// the earliest time for which a look at its timers is planned
    pub timer_at: u64,
    /// packets that it sent by an interface that the node does not have
    pub astray: u64,
}

/// Links of a switch that have an interface each; a packet that comes by another one comes by the last number.
const LINKS: usize = carrick_ir::ROUTE as usize - 1;

impl Station {
    /// The port by which packets come to the node that nobody sent.
    pub fn own_port(&self) -> PortId {
        self.links.first().map_or(0, |link| link ^ 1)
    }

    /// The port behind an interface of a switch.
    pub fn link(&self, interface: u32) -> Option<PortId> {
        self.links.get(interface as usize).filter(|_| (interface as usize) < LINKS).copied()
    }

    /// The interface of a switch by which a packet has come over a port's link.
    pub fn interface(&self, from: PortId) -> u32 {
        let number = self.links.iter().position(|link| *link == from ^ 1).unwrap_or(0);
        number.min(LINKS) as u32
    }
}

/// A packet on its way into a program.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    pub station: u32,
    pub interface: u32,
    pub packet: u32,
    /// the port by whose link it came to the node, or what it answers
    pub from: PortId,
}

/// All programs of a network.
#[derive(Default)]
pub struct Stations {
    pub all: Vec<Station>,
    /// of each node that has programs, the first and the last
    ends: BTreeMap<Node, [u32; 2]>,
    moving: VecDeque<Entry>,
    /// how many packets may still move now; `None`: none is moving
    moves: Option<u32>,
    /// hosts that had something to send meanwhile
    pub waiting: Vec<u32>,
    /// packets that moved too often
    pub looped: u64,
}

impl Stations {
    /// Those of a node form a chain in their order; `links_of` finds the ports of a node.
    pub fn new(mut all: Vec<Station>, links_of: impl Fn(Node) -> Vec<PortId>) -> Stations {
        let mut ends = BTreeMap::<Node, [u32; 2]>::new();
        for number in 0..all.len() {
            all[number].links = links_of(all[number].node);
            let this = number as u32;
            let chain = ends.entry(all[number].node).or_insert([this; 2]);
            let last = std::mem::replace(&mut chain[1], this);
            if last != this {
                all[last as usize].next[1] = Some(this);
                all[number].next[0] = Some(last);
            }
        }
        Stations { all, ends, ..Stations::default() }
    }

    /// The program that a packet meets which comes to a node over a link.
    pub fn first(&self, node: Node) -> Option<u32> {
        self.ends.get(&node).map(|ends| ends[0])
    }

    /// The program that a packet of a host meets.
    pub fn last(&self, host: Node) -> Option<u32> {
        self.ends.get(&host).map(|ends| ends[1])
    }

    /// A packet is to enter a program. True: nobody is moving packets yet.
    pub fn enter(&mut self, entry: Entry) -> bool {
        self.moving.push_back(entry);
        let begins = self.moves.is_none();
        self.moves.get_or_insert(MOVES);
        begins
    }

    /// Whether packets are moving.
    pub fn busy(&self) -> bool {
        self.moves.is_some()
    }

    /// The next packet that moves; `Err` has one that has moved too often. `None`: there is none any more.
    pub fn next(&mut self) -> Option<Result<Entry, u32>> {
        let Some(entry) = self.moving.pop_front() else {
            self.moves = None;
            return None;
        };
        let left = self.moves.unwrap_or(0);
        self.moves = Some(left.saturating_sub(1));
        if left == 0 {
            self.looped += 1;
            return Some(Err(entry.packet));
        }
        Some(Ok(entry))
    }
}
