// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs in the network, at the nodes of a topology.
//!
//! The programs of a host stand between its link and the host: interface 0 leads to the link, interface 1 to the host. The
//! programs of a switch see each packet that reaches the switch, by interface 0. What leaves the chain of a switch, at either
//! end, is routed by its destination address. Programs take no time.

use std::collections::{BTreeMap, VecDeque};

use carrick_interp::Config;

use super::routes::PortId;
use super::topology::Node;
use crate::core::Core;
use crate::scenario::{Way, in_network};

/// Packets that go from program to program at one time at most: two programs could hand a packet to each other for ever.
const MOVES: u32 = 1000;

/// A program, and the node that it stands at.
pub struct Placed<'a> {
    pub node: Node,
    pub way: Way<'a>,
}

impl Placed<'_> {
    /// A core of the program, at work; `config` has what is the same at all nodes.
    pub(super) fn station(&self, config: Config) -> Result<Station, String> {
        let core = in_network(&self.way, config)?;
        Ok(Station { node: self.node, port: 0, core, next: [None; 2], timer_at: u64::MAX })
    }
}

/// A program at work.
pub struct Station {
    pub node: Node,
    /// a port whose link leads to the node
    pub port: PortId,
    pub core: Box<dyn Core>,
    /// by interface, the next program of the chain; `None`: the node itself
    pub next: [Option<u32>; 2],
    /// the earliest time for which a look at its timers is planned
    pub timer_at: u64,
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
    /// of each node that has programs, the one behind interface 0, and the one behind interface 1
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
    /// Those of a node form a chain in their order, from interface 0 to interface 1; `port_to` finds the port of a node.
    pub fn new(mut all: Vec<Station>, port_to: impl Fn(Node) -> PortId) -> Stations {
        let mut ends = BTreeMap::<Node, [u32; 2]>::new();
        for number in 0..all.len() {
            all[number].port = port_to(all[number].node);
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

    /// The program that a packet meets which comes to a node by this interface.
    pub fn first(&self, node: Node, interface: u32) -> Option<u32> {
        if self.ends.is_empty() {
            return None;
        }
        self.ends.get(&node).map(|ends| ends[interface as usize])
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
