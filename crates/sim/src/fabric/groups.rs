// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hosts by their program. Those of one program form a group: flows go between hosts of one group.

use std::collections::BTreeMap;

use carrick_ir::NetLayer;

use super::topology::Node;
use crate::{icmp, ip};

/// A program that hosts run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// as tables have it; no other program has this name
    pub name: String,
    pub file: String,
    /// of its packets
    pub protocol: u8,
    pub layer: NetLayer,
}

/// Which program is at which host.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Groups {
    /// the first is at all hosts that [`Groups::others`] does not have
    pub all: Vec<Group>,
    /// by host, the place of its program
    pub others: BTreeMap<Node, usize>,
}

/// Packets that reached a host whose program speaks another protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Foreign {
    pub host: Node,
    /// of the packets
    pub protocol: u8,
    pub packets: u64,
}

impl Groups {
    /// The place of a host's program.
    pub fn of(&self, host: Node) -> usize {
        self.others.get(&host).copied().unwrap_or(0)
    }

    /// Whether two hosts run the same program.
    pub fn together(&self, a: Node, b: Node) -> bool {
        self.of(a) == self.of(b)
    }

    /// Whether there are several programs.
    pub fn several(&self) -> bool {
        self.all.len() > 1
    }

    /// Of so many hosts, those of each program in ascending order.
    pub fn members(&self, hosts: u32) -> Vec<Vec<Node>> {
        let mut members = vec![Vec::new(); self.all.len().max(1)];
        (0..hosts).for_each(|host| members[self.of(host)].push(host));
        members
    }

    /// The name of a host's program, where there are several.
    pub fn name(&self, host: Node) -> Option<&str> {
        self.several().then(|| self.all[self.of(host)].name.as_str())
    }

    /// Why two hosts of different programs have no flow between them.
    pub(super) fn apart(&self, a: Node, b: Node) -> String {
        let [first, second] = [a, b].map(|host| &self.all[self.of(host)]);
        let said = format!("h{a} runs {}, h{b} runs {}", first.name, second.name);
        if (first.protocol, first.layer) == (second.protocol, second.layer) {
            return format!("{said}: a flow goes between hosts of one program");
        }
        let over = |it: &Group| match it.layer {
            _ if first.layer == second.layer => it.protocol.to_string(),
            layer => format!("{} over {}", it.protocol, layer.name()),
        };
        format!("{said}: protocol {} and {} do not speak to each other", over(first), over(second))
    }

    /// The protocol of a packet that reached a host whose program speaks another one.
    pub(super) fn foreign(&self, host: Node, packet: &[u8]) -> Option<u8> {
        let Group { protocol, layer, .. } = self.all[self.of(host)];
        let found = ip::protocol(packet).filter(|found| !icmp::is_report(*found))?;
        (found != protocol || ip::is_ipv6(packet) != (layer == NetLayer::Ipv6)).then_some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups() -> Groups {
        let group = |name: &str, protocol, layer| Group {
            name: name.to_owned(),
            file: format!("{name}.mtp"),
            protocol,
            layer,
        };
        let all = vec![
            group("a", 6, NetLayer::Ipv4),
            group("b", 253, NetLayer::Ipv4),
            group("c", 253, NetLayer::Ipv6),
            group("d", 6, NetLayer::Ipv4),
        ];
        Groups { all, others: BTreeMap::from([(1, 1), (2, 2), (4, 1), (5, 3)]) }
    }

    #[test]
    fn hosts_are_with_those_of_their_program() {
        let groups = groups();
        assert_eq!(groups.members(6), [vec![0, 3], vec![1, 4], vec![2], vec![5]]);
        assert!(groups.together(1, 4) && groups.together(0, 3) && !groups.together(0, 1));
        assert_eq!((groups.name(4), Groups::default().name(4)), (Some("b"), None));
    }

    #[test]
    fn why_hosts_do_not_speak_is_said() {
        let groups = groups();
        let apart = |a, b| groups.apart(a, b);
        assert_eq!(apart(0, 1), "h0 runs a, h1 runs b: protocol 6 and 253 do not speak to each other");
        let versions =
            "h1 runs b, h2 runs c: protocol 253 over ipv4 and 253 over ipv6 do not speak to each other";
        assert_eq!(apart(1, 2), versions);
        assert_eq!(apart(0, 5), "h0 runs a, h5 runs d: a flow goes between hosts of one program");
    }

    #[test]
    fn packets_of_other_protocols_are_foreign() {
        let groups = groups();
        let (mut four, mut six) = ([0; 20], [0; 40]);
        (four[0], four[9]) = (0x45, 253);
        (six[0], six[6]) = (0x60, 253);
        assert_eq!(groups.foreign(1, &four), None);
        assert_eq!(groups.foreign(0, &four), Some(253));
        assert_eq!(groups.foreign(2, &four), Some(253), "of the other version");
        assert_eq!(groups.foreign(2, &six), None);
        let mut whole = [0; 48];
        (whole[0], whole[6], whole[40]) = (0x60, 44, 253);
        assert_eq!(groups.foreign(2, &whole), None, "behind a fragment header");
        assert_eq!(groups.foreign(0, &four[..5]), None, "too short to say");
    }
}
