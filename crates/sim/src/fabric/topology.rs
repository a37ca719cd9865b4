// SPDX-License-Identifier: MIT OR Apache-2.0
//! Who is connected to whom, as plain data.

use crate::faults::FaultSchedule;
use crate::limits::{self, at_most};

/// A host or a switch: hosts have the numbers from 0, switches those behind them.
pub type Node = u32;

/// A link between two nodes, with a queue of its own at each end.
#[derive(Debug, Clone, PartialEq)]
pub struct Wire {
    pub ends: [Node; 2],
    /// bits per second, in each direction whose `faults` have no rate over time
    pub rate_bps: u64,
    /// propagation from the first end to the second, and back, in nanoseconds
    pub delay_ns: [u64; 2],
    /// from the first end to the second, and back
    pub faults: [FaultSchedule; 2],
}

impl Wire {
    /// The nodes from and to which its directions go, in the order of `delay_ns` and `faults`.
    pub fn directions(&self) -> [[Node; 2]; 2] {
        let [a, b] = self.ends;
        [[a, b], [b, a]]
    }

    /// Bits per second on average until a time, from the first end to the second (0) or back (1).
    pub fn mean_bps(&self, direction: usize, until: u64) -> u64 {
        self.faults[direction].rate().map_or(self.rate_bps, |rate| rate.mean_bps(until))
    }
}

/// What links are like that a name alone does not tell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Links {
    /// of links to hosts, and of those between switches; bits per second
    pub rate_bps: u64,
    pub core_rate_bps: u64,
    /// nanoseconds
    pub delay_ns: u64,
}

/// A network's shape.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Topology {
    pub hosts: u32,
    pub switches: u32,
    pub wires: Vec<Wire>,
}

/// Hosts at most: what fits into the addresses that they get. Switches at most, too.
const HOSTS_MAX: u32 = 65_000;

/// The shapes that have a name, as they are written.
pub const SHAPES: &str = "pair, dumbbell:N, star:N, leaf-spine:LEAVES,SPINES,HOSTS_PER_LEAF or fat-tree:K";

impl Topology {
    /// The faults of all links, in each direction.
    pub fn faults(&self) -> impl Iterator<Item = &FaultSchedule> {
        self.wires.iter().flat_map(|wire| &wire.faults)
    }

    /// The same, to be changed.
    pub fn faults_mut(&mut self) -> impl Iterator<Item = &mut FaultSchedule> {
        self.wires.iter_mut().flat_map(|wire| &mut wire.faults)
    }

    /// The shape of this name: two hosts and a link (`pair`), N hosts on each side of a link (`dumbbell:N`), N hosts at a
    /// switch (`star:N`), two tiers (`leaf-spine:L,S,H`), or three (`fat-tree:K`, Al-Fares et al., SIGCOMM 2008).
    ///
    /// # Errors
    /// A sentence, if there is no such shape, or a number in it is out of range.
    pub fn named(name: &str, links: &Links) -> Result<Topology, String> {
        let (shape, numbers) = name.split_once(':').unwrap_or((name, ""));
        let numbers: Option<Vec<u32>> =
            numbers.split([',', 'x']).filter(|n| !n.is_empty()).map(|n| n.parse().ok()).collect();
        let wrong = || format!("{name:?} is no topology: say {SHAPES}, or name a .toml file");
        let numbers = numbers.ok_or_else(wrong)?;
        let hosts = |n: u64| u32::try_from(n).ok().filter(|n| (1..=HOSTS_MAX).contains(n));
        let too_many = || format!("{name:?}: a topology has 1 to {HOSTS_MAX} hosts");
        let topology = match (shape, &numbers[..]) {
            ("pair", []) => {
                let mut pair = Topology { hosts: 2, ..Topology::default() };
                pair.wire(0, 1, links.rate_bps, links);
                pair
            }
            ("dumbbell", [n]) => dumbbell(hosts(u64::from(*n) * 2).ok_or_else(too_many)? / 2, links),
            ("star", [n]) => star(hosts(u64::from(*n)).ok_or_else(too_many)?, links),
            ("leaf-spine", [leaves, spines, per_leaf]) if *spines > 0 => {
                hosts(u64::from(*leaves) * u64::from(*per_leaf)).ok_or_else(too_many)?;
                at_most("links", u64::from(*leaves) * u64::from(*spines), limits::LINKS)?;
                leaf_spine(*leaves, *spines, *per_leaf, links)
            }
            ("fat-tree", [k]) if k % 2 == 0 => {
                hosts(u64::from(*k).pow(3) / 4).ok_or_else(too_many)?;
                fat_tree(*k, links)
            }
            ("fat-tree", [_]) => {
                return Err(format!("{name:?}: switches of a fat tree have an even number of ports"));
            }
            _ => return Err(wrong()),
        };
        Ok(topology)
    }

    /// Whether it can be simulated.
    ///
    /// # Errors
    /// A sentence about what is wrong: an end that is no node, a host that has not one link, a link without a rate.
    pub fn check(&self) -> Result<(), String> {
        self.check_size()?;
        let mut links = vec![0; self.hosts as usize];
        for wire in &self.wires {
            let [a, b] = wire.ends;
            if a == b || a.max(b) >= self.hosts + self.switches {
                return Err("a link has two ends that are nodes".into());
            }
            if wire.rate_bps == 0 {
                return Err("a link has a rate".into());
            }
            at_most(
                "nanoseconds of a link's delay",
                wire.delay_ns[0].max(wire.delay_ns[1]),
                limits::DELAY_NS,
            )?;
            wire.ends.iter().filter(|end| **end < self.hosts).for_each(|end| links[*end as usize] += 1);
        }
        match links.iter().position(|n| *n != 1) {
            Some(host) => Err(format!("host {host} has {} links: a host has one", links[host])),
            None => Ok(()),
        }
    }

    /// Whether it has a number of nodes that can be simulated.
    ///
    /// # Errors
    /// A sentence with the limit.
    pub fn check_size(&self) -> Result<(), String> {
        if self.hosts == 0 || self.hosts > HOSTS_MAX {
            return Err(format!("a topology has 1 to {HOSTS_MAX} hosts, not {}", self.hosts));
        }
        at_most("switches", self.switches.into(), HOSTS_MAX.into())
    }

    /// The node of this name: hosts are `h0`, `h1`, ..., switches `s0`, `s1`, ...
    pub fn node(&self, name: &str) -> Option<Node> {
        let (kind, number) = name.split_at_checked(1)?;
        let number: u32 = number.parse().ok()?;
        match kind {
            "h" if number < self.hosts => Some(number),
            "s" if number < self.switches => Some(self.hosts + number),
            _ => None,
        }
    }

    /// What [`Topology::node`] reads.
    pub fn name(&self, node: Node) -> String {
        match node.checked_sub(self.hosts) {
            Some(switch) => format!("s{switch}"),
            None => format!("h{node}"),
        }
    }

    fn wire(&mut self, a: Node, b: Node, rate_bps: u64, links: &Links) {
        let delay_ns = [links.delay_ns; 2];
        self.wires.push(Wire { ends: [a, b], rate_bps, delay_ns, faults: Default::default() });
    }
}

fn star(hosts: u32, links: &Links) -> Topology {
    let mut star = Topology { hosts, switches: 1, ..Topology::default() };
    (0..hosts).for_each(|host| star.wire(host, hosts, links.rate_bps, links));
    star
}

fn dumbbell(side: u32, links: &Links) -> Topology {
    let hosts = side * 2;
    let mut bell = Topology { hosts, switches: 2, ..Topology::default() };
    (0..hosts).for_each(|host| bell.wire(host, hosts + host / side, links.rate_bps, links));
    bell.wire(hosts, hosts + 1, links.core_rate_bps, links);
    bell
}

fn leaf_spine(leaves: u32, spines: u32, per_leaf: u32, links: &Links) -> Topology {
    let hosts = leaves * per_leaf;
    let mut fabric = Topology { hosts, switches: leaves + spines, ..Topology::default() };
    (0..hosts).for_each(|host| fabric.wire(host, hosts + host / per_leaf, links.rate_bps, links));
    for leaf in 0..leaves {
        for spine in 0..spines {
            fabric.wire(hosts + leaf, hosts + leaves + spine, links.core_rate_bps, links);
        }
    }
    fabric
}

/// K pods of K/2 edge and K/2 aggregation switches, (K/2)² core switches, K/2 hosts at each edge switch.
fn fat_tree(k: u32, links: &Links) -> Topology {
    let half = k / 2;
    let hosts = half * half * k;
    let (edges, aggregations) = (hosts, hosts + k * half);
    let cores = aggregations + k * half;
    let mut tree = Topology { hosts, switches: k * k + half * half, ..Topology::default() };
    (0..hosts).for_each(|host| tree.wire(host, edges + host / half, links.rate_bps, links));
    for edge in 0..k * half {
        let pod = edge / half;
        for up in 0..half {
            tree.wire(edges + edge, aggregations + pod * half + up, links.core_rate_bps, links);
        }
    }
    for aggregation in 0..k * half {
        for up in 0..half {
            let core = cores + aggregation % half * half + up;
            tree.wire(aggregations + aggregation, core, links.core_rate_bps, links);
        }
    }
    tree
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> Result<Topology, String> {
        let links = Links { rate_bps: 10, core_rate_bps: 40, delay_ns: 1 };
        let topology = Topology::named(name, &links)?;
        topology.check().map(|()| topology)
    }

    #[test]
    fn names_have_the_nodes_and_links_that_they_should() {
        let size = |name| named(name).map(|t| (t.hosts, t.switches, t.wires.len()));
        assert_eq!(size("pair"), Ok((2, 0, 1)));
        assert_eq!(size("dumbbell:3"), Ok((6, 2, 7)));
        assert_eq!(size("star:9"), Ok((9, 1, 9)));
        assert_eq!(size("leaf-spine:9,4,16"), Ok((144, 13, 144 + 36)));
        assert_eq!(size("fat-tree:4"), Ok((16, 20, 48)));
        assert_eq!(size("fat-tree:8"), Ok((128, 80, 384)));
    }

    #[test]
    fn each_switch_of_a_fat_tree_has_as_many_links_as_ports() {
        let tree = named("fat-tree:6").expect("a fat tree");
        for switch in tree.hosts..tree.hosts + tree.switches {
            assert_eq!(tree.wires.iter().filter(|w| w.ends.contains(&switch)).count(), 6, "{switch}");
        }
    }

    #[test]
    fn what_is_no_topology_is_refused() {
        for name in [
            "ring:4",
            "star",
            "star:0",
            "star:x",
            "fat-tree:3",
            "fat-tree:0",
            "leaf-spine:2,0,2",
            "star:99999999",
            "leaf-spine:60000,60000,1",
        ] {
            assert!(named(name).is_err(), "{name}");
        }
        let mut two = named("pair").expect("a pair");
        two.wires.push(two.wires[0].clone());
        assert!(two.check().is_err());
        two.wires.truncate(1);
        two.wires[0].delay_ns = [1, u64::MAX];
        assert!(two.check().is_err_and(|e| e.contains("3600000000000")));
        let many = Topology { hosts: 4_000_000_000, switches: 1, wires: Vec::new() };
        assert!(many.check().is_err_and(|e| e.contains("65000")));
        assert!(
            Topology { hosts: 2, switches: u32::MAX, ..many }.check().is_err_and(|e| e.contains("65000"))
        );
    }
}
