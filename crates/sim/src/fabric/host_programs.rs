// SPDX-License-Identifier: MIT OR Apache-2.0
//! The programs of hosts: one at most hosts, others at some.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use carrick_ir::{NetLayer, Program, uses};

use super::groups::{Group, Groups};
use super::topology::Node;
use crate::fit;
use crate::interface::Shape;
use crate::run::same_version;
use crate::scenario::Way;

/// What each host runs.
pub struct HostPrograms<'a> {
    /// at each host that [`HostPrograms::others`] does not have
    usual: Way<'a>,
    others: BTreeMap<Node, Way<'a>>,
    groups: Groups,
}

impl<'a> HostPrograms<'a> {
    /// The same program at all hosts.
    pub fn same(usual: Way<'a>) -> HostPrograms<'a> {
        HostPrograms::new(usual, BTreeMap::new(), vec![String::new()], BTreeMap::new())
    }

    /// One program, with other features or parameters at these hosts. `names` are those of different programs, the usual one first;
    /// `programs` has the place of a host's program among them, where it is not the usual one.
    pub fn new(
        usual: Way<'a>,
        others: BTreeMap<Node, Way<'a>>,
        names: Vec<String>,
        programs: BTreeMap<Node, usize>,
    ) -> HostPrograms<'a> {
        let host_of = |number: usize| programs.iter().find(|(_, it)| **it == number).map(|(host, _)| host);
        let group = |(number, name): (usize, String)| {
            let way = host_of(number).and_then(|host| others.get(host)).unwrap_or(&usual);
            let net = &way.program.net_header;
            Group { name, file: way.program.file.raw().to_owned(), protocol: net.protocol, layer: net.layer }
        };
        let all = names.into_iter().enumerate().map(group).collect();
        HostPrograms { groups: Groups { all, others: programs }, usual, others }
    }

    /// The program of a host.
    pub fn at(&self, host: Node) -> &Way<'a> {
        self.others.get(&host).unwrap_or(&self.usual)
    }

    /// Which of them is at which host.
    pub fn groups(&self) -> &Groups {
        &self.groups
    }

    /// What runs somewhere, each with one of its hosts; that of a program's first host is before the others of the program.
    fn ways(&self) -> Vec<AtHost<'_, 'a>> {
        let usual = AtHost { host: None, group: 0, way: &self.usual };
        let others = self.others.iter();
        let others =
            others.map(|(host, way)| AtHost { host: Some(*host), group: self.groups.of(*host), way });
        let mut all: Vec<AtHost<'_, 'a>> = Vec::new();
        for it in [usual].into_iter().chain(others) {
            let same = |other: &AtHost<'_, 'a>| {
                Arc::ptr_eq(other.way.program, it.way.program) && other.way.params == it.way.params
            };
            if !all.iter().any(same) {
                all.push(it);
            }
        }
        all
    }

    /// The bytes of a message, by program; see [`fit::message`]. Those that carry no messages have the number of the first one that does.
    ///
    /// # Errors
    /// A sentence, if a program does not take messages of the length that the user says, or offloads would get messages of several
    /// lengths.
    pub(super) fn messages(
        &self,
        mtu: u32,
        said: Option<u32>,
        usual: u32,
        offloads: bool,
    ) -> Result<Vec<u32>, String> {
        let ways = self.ways();
        let mut carry = BTreeMap::new();
        for it in &ways {
            let carries = !Shape::of(it.way.program)?.carries_streams();
            if carries && !carry.contains_key(&it.group) {
                let own = ways.iter().filter(|other| other.group == it.group).map(|other| other.way);
                carry.insert(it.group, fit::message(own, mtu, said, usual)?);
            }
        }
        let first = carry.values().next().copied().unwrap_or(said.unwrap_or(usual));
        let all = (0..self.groups.all.len()).map(|number| carry.get(&number).copied().unwrap_or(first));
        let distinct: BTreeSet<u32> = carry.values().copied().collect();
        if offloads && distinct.len() > 1 {
            return Err(format!(
                "an offload needs messages of one length, and the programs of the hosts have {distinct:?} bytes: say --message"
            ));
        }
        Ok(all.collect())
    }

    /// Checks that these programs in the network run over the same version of the Internet Protocol as all hosts.
    ///
    /// # Errors
    /// A sentence that names two that do not.
    pub(super) fn fit_with<'p>(
        &self,
        mut placed: impl Iterator<Item = &'p Arc<Program>>,
    ) -> Result<(), String> {
        let ways = self.ways();
        placed.try_for_each(|it| ways.iter().try_for_each(|at| same_version(it, at.way.program)))
    }

    /// Checks that hosts of one program can speak with each other, and all with the network.
    ///
    /// # Errors
    /// A sentence, if a host is missing, a program is not for a host of a topology, or hosts of one program differ in their packets'
    /// protocol or in their kind of API.
    pub(super) fn check(&self, hosts: u32) -> Result<(), String> {
        if let Some(host) = self.others.keys().next_back().filter(|host| **host >= hosts) {
            return Err(format!("h{host} is no host: there are h0 to h{}", hosts - 1));
        }
        let ways = self.ways();
        ways.iter().try_for_each(|it| at_an_end(it.way))?;
        for it in &ways {
            let (Some(host), Some(first)) = (it.host, ways.iter().find(|first| first.group == it.group))
            else {
                continue;
            };
            let [program, usual] = [it, first].map(|it| it.way.program);
            same_version(program, usual)?;
            let [its, others] = [program, usual].map(|program| program.net_header.protocol);
            if its != others {
                return Err(format!(
                    "the program of h{host} has the protocol {its}, that of other hosts {others}"
                ));
            }
            if Shape::of(program)? != Shape::of(usual)? {
                return Err(format!(
                    "the program of h{host} has another kind of interface than that of other hosts"
                ));
            }
        }
        Ok(())
    }

    /// Checks that a number of messages under way is one of a program's.
    ///
    /// # Errors
    /// A sentence, if no program carries messages.
    pub(super) fn check_outstanding(&self, said: Option<u32>) -> Result<(), String> {
        let carries = |it: &AtHost<'_, '_>| Shape::of(it.way.program) == Ok(Shape::Message);
        if said.is_some() && !self.ways().iter().any(carries) {
            return Err("with --topology, only programs that carry messages accept --outstanding".into());
        }
        Ok(())
    }

    /// Whether no program carries messages.
    pub fn carry_streams(&self) -> bool {
        self.ways().iter().all(|it| Shape::of(it.way.program).is_ok_and(Shape::carries_streams))
    }

    /// Whether each program that carries messages may lose them ([`may_lose`]).
    pub(super) fn may_lose(&self) -> bool {
        self.ways()
            .iter()
            .all(|it| Shape::of(it.way.program) != Ok(Shape::Message) || may_lose(it.way.program))
    }
}

/// Whether a program carries messages, and cannot repair the loss of a last packet. Neither does it promise to deliver messages once.
pub(super) fn may_lose(program: &Program) -> bool {
    Shape::of(program) == Ok(Shape::Message) && !uses::sends_on_timer(program)
}

/// What a host runs.
struct AtHost<'h, 'a> {
    /// `None`: each that has nothing of its own
    host: Option<Node>,
    /// the place of its program
    group: usize,
    way: &'h Way<'a>,
}

/// Whether a program is for a host of a topology.
fn at_an_end(way: &Way<'_>) -> Result<(), String> {
    let file = way.program.file.raw();
    if way.program.in_network.is_some() {
        return Err(format!(
            "{file} runs in the network: simulate one that runs at an end, and place this one with `--at`"
        ));
    }
    if way.program.net_header.layer == NetLayer::Link {
        return Err(format!("switches find hosts by their address, and {file} sends whole frames"));
    }
    Ok(())
}
