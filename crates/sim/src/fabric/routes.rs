// SPDX-License-Identifier: MIT OR Apache-2.0
//! Shortest paths: by which ports a switch reaches a host.

use std::collections::VecDeque;

use super::topology::{Node, Topology};

/// One direction of a link: that of wire `w` from its first end has the number `2w`, that from its second `2w + 1`.
pub type PortId = u32;

/// For each switch and host the ports that are on a shortest path.
#[derive(Debug)]
pub struct Routes {
    hosts: usize,
    /// by switch and host, a group
    to: Vec<u32>,
    /// by group, where its ports begin and end among `members`
    groups: Vec<(u32, u32)>,
    members: Vec<PortId>,
}

impl Routes {
    /// All of them.
    pub fn of(topology: &Topology) -> Routes {
        let (hosts, switches) = (topology.hosts as usize, topology.switches as usize);
        let mut out: Vec<Vec<(PortId, Node)>> = vec![Vec::new(); hosts + switches];
        for (port, wire) in (0_u32..).step_by(2).zip(&topology.wires) {
            let [a, b] = wire.ends;
            out[a as usize].push((port, b));
            out[b as usize].push((port + 1, a));
        }
        let mut routes =
            Routes { hosts, to: vec![0; hosts * switches], groups: vec![(0, 0)], members: Vec::new() };
        let mut known = rustc_hash::FxHashMap::default();
        for host in 0..hosts {
            let far = distances(host, &out, hosts);
            for switch in 0..switches {
                let node = hosts + switch;
                let nearer = |next: &Node| far[*next as usize] < far[node];
                let ports: Vec<PortId> =
                    out[node].iter().filter(|(_, next)| nearer(next)).map(|(port, _)| *port).collect();
                routes.to[switch * hosts + host] =
                    *known.entry(ports).or_insert_with_key(|ports| routes.group(ports));
            }
        }
        routes
    }

    fn group(&mut self, ports: &[PortId]) -> u32 {
        if ports.is_empty() {
            return 0;
        }
        let begin = self.members.len() as u32;
        self.members.extend_from_slice(ports);
        self.groups.push((begin, self.members.len() as u32));
        self.groups.len() as u32 - 1
    }

    /// The ports of this switch (counted from 0) that lead to a host; none if it cannot be reached.
    pub fn ports(&self, switch: usize, host: usize) -> &[PortId] {
        let (begin, end) = self.groups[self.to[switch * self.hosts + host] as usize];
        &self.members[begin as usize..end as usize]
    }
}

/// Links to a host, from every node; hosts let nothing through.
fn distances(host: usize, out: &[Vec<(PortId, Node)>], hosts: usize) -> Vec<u32> {
    let mut far = vec![u32::MAX; out.len()];
    far[host] = 0;
    let mut todo = VecDeque::from([host]);
    while let Some(node) = todo.pop_front() {
        for (_, next) in &out[node] {
            let next = *next as usize;
            if far[next] == u32::MAX && (node >= hosts || node == host) {
                far[next] = far[node] + 1;
                todo.push_back(next);
            }
        }
    }
    far
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::topology::Links;

    #[test]
    fn every_shortest_path_of_a_fat_tree_is_there() {
        let links = Links { rate_bps: 1, core_rate_bps: 1, delay_ns: 0 };
        let tree = Topology::named("fat-tree:4", &links).expect("a fat tree");
        let routes = Routes::of(&tree);
        let ways = |switch, host| routes.ports(switch, host).len();
        // The first edge switch: its own host, one of its pod, one of another pod.
        assert_eq!([ways(0, 0), ways(0, 2), ways(0, 15)], [1, 2, 2]);
        // The first aggregation switch, and the last core switch.
        assert_eq!([ways(8, 0), ways(8, 15), ways(19, 7)], [1, 2, 1]);
    }
}
