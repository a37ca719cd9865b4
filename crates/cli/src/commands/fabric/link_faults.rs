// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which links of a topology have which faults.

use std::ops::RangeInclusive;
use std::path::Path;

use carrick_driver::Failure;
use carrick_sim::fabric::topology::{Links, Node, Topology};
use carrick_sim::faults::LinkFaults;

use super::file::{self, named_nodes};
use crate::commands::faults::{self, FaultArgs, TimedFaults};

/// Gives links their faults: all those of `common`, and some those of `--link-fault`. `marks` says whether switches mark by the bytes
/// of their queues.
///
/// # Errors
/// [`Failure::Usage`] if faults are none, there is no such link, or a link cannot have them.
pub fn apply(
    common: &FaultArgs,
    texts: &[String],
    topology: &mut Topology,
    marks: bool,
) -> Result<(), Failure> {
    let common = common.all()?;
    let bare = topology.clone();
    *topology = with_faults(&bare, common.iter(), texts)?;
    if !texts.is_empty() {
        check_common(&bare, &common, texts, topology)?;
    }
    let any = |holds: fn(&LinkFaults) -> bool| topology.faults().any(|schedule| schedule.any(holds));
    if any(|faults| faults.silent && faults.path_mtu.is_none()) {
        return Err(Failure::Usage(
            "`black-hole` is of a link with an MTU: say `path-mtu=BYTES` for the same link".into(),
        ));
    }
    if any(|faults| faults.ecn_threshold.is_some()) {
        check_marks(topology, marks)?;
    }
    Ok(())
}

/// A fault of all links, with the name of its option.
type Common = (&'static str, TimedFaults);

/// Links with the faults of all, and in their place those of some.
fn with_faults<'f>(
    bare: &Topology,
    common: impl Iterator<Item = &'f Common>,
    texts: &[String],
) -> Result<Topology, Failure> {
    let mut topology = bare.clone();
    common.for_each(|(_, faults)| topology.faults_mut().for_each(|it| faults.apply(it)));
    texts.iter().try_for_each(|text| some(text, &mut topology))?;
    Ok(topology)
}

/// Refuses an option whose fault is on no link, since --link-fault says another one for all of them; `whole` has all faults.
fn check_common(
    bare: &Topology,
    common: &[Common],
    texts: &[String],
    whole: &Topology,
) -> Result<(), Failure> {
    let same = |a: &Topology, b: &Topology| a.faults().eq(b.faults());
    let alone = with_faults(bare, common.iter(), &[])?;
    for (place, (name, _)) in common.iter().enumerate() {
        let others = || common.iter().enumerate().filter(|(other, _)| *other != place).map(|(_, it)| it);
        let matters = !same(&alone, &with_faults(bare, others(), &[])?);
        if matters && same(whole, &with_faults(bare, others(), texts)?) {
            return Err(Failure::Usage(format!(
                "--{name} says nothing with --link-fault: it has another `{name}` for each link; leave out one of them"
            )));
        }
    }
    Ok(())
}

/// Whether these faults give each link of a named topology a rate over time: of the links at hosts, and of those between switches.
/// What is wrong with them is reported elsewhere.
pub fn all_have_rates(name: &str, texts: &[String]) -> [bool; 2] {
    let rates = Links { rate_bps: 1, core_rate_bps: 1, delay_ns: 0 };
    let Ok(mut topology) = Topology::named(name, &rates) else { return [false; 2] };
    if texts.is_empty() || texts.iter().any(|text| some(text, &mut topology).is_err()) {
        return [false; 2];
    }
    let hosts = topology.hosts;
    [true, false].map(|at_hosts| {
        let links = topology.wires.iter().filter(|wire| wire.ends.iter().any(|end| *end < hosts) == at_hosts);
        links.flat_map(|wire| &wire.faults).all(|schedule| schedule.rate().is_some())
    })
}

/// `s0:s1: loss=1% @ 2s..3s`
fn some(text: &str, topology: &mut Topology) -> Result<(), Failure> {
    let wrong = |why: &str| Failure::Usage(format!("--link-fault {text}: {why}"));
    let (said, faults) = faults::of_links(text)
        .ok_or_else(|| wrong("write links, a colon and faults, such as 's0:s1: loss=1% @ 2s..3s'"))?;
    let faults = TimedFaults::read(faults, Path::new("")).map_err(|e| wrong(&e.to_string()))?;
    let said = said.trim();
    let links = Ends::of(said, topology).map_err(|e| wrong(&e))?;
    let mut found = false;
    for wire in &mut topology.wires {
        for (ends, schedule) in wire.directions().into_iter().zip(&mut wire.faults) {
            if links.has(ends) {
                faults.apply(schedule);
                found = true;
            }
        }
    }
    if found {
        return Ok(());
    }
    let neighbours = file::neighbours(*links.from.start(), topology);
    let first = topology.name(*links.from.start());
    Err(wrong(&format!("there is no such link; {first} has links to {neighbours}")))
}

/// Some directions of links.
struct Ends {
    from: RangeInclusive<Node>,
    to: RangeInclusive<Node>,
    /// and back
    both: bool,
}

impl Ends {
    /// `s0:s1` in this direction, `s0-s1` in both, `s0` all at a node; a node may be several, `h0..h3`, or all, `*`.
    fn of(text: &str, topology: &Topology) -> Result<Ends, String> {
        let all = 0..=(topology.hosts + topology.switches - 1);
        let end = |text: &str| match text.trim() {
            "*" => Ok(all.clone()),
            text => named_nodes(text, topology),
        };
        let (from, to, both) = match (text.split_once(':'), text.split_once('-')) {
            (Some((from, to)), _) => (end(from)?, end(to)?, false),
            (None, Some((a, b))) => (end(a)?, end(b)?, true),
            (None, None) => (end(text)?, all.clone(), true),
        };
        Ok(Ends { from, to, both })
    }

    fn has(&self, [a, b]: [Node; 2]) -> bool {
        let forth = |a, b| self.from.contains(&a) && self.to.contains(&b);
        forth(a, b) || self.both && forth(b, a)
    }
}

/// Packets wait for a link, and can be marked there, only at switches.
fn check_marks(topology: &Topology, marks: bool) -> Result<(), Failure> {
    if marks {
        return Err(Failure::Usage(
            "--mark-at and an ECN threshold of links mark the same packets: leave out one of them".into(),
        ));
    }
    let at_switch = topology.wires.iter().flat_map(|wire| wire.ends.iter().zip(&wire.faults));
    let mut at_switch = at_switch.filter(|(from, _)| **from >= topology.hosts);
    if at_switch.any(|(_, schedule)| schedule.any(|faults| faults.ecn_threshold.is_some())) {
        return Ok(());
    }
    Err(Failure::Usage(
        "an ECN threshold says nothing for links that begin at hosts: there no packets wait; \
         choose links that begin at a switch"
            .into(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The links that have a fault, for these words: each `from:to`.
    fn chosen(topology: &str, text: &str) -> Result<String, String> {
        let rates = Links { rate_bps: 10, core_rate_bps: 10, delay_ns: 1 };
        let mut topology = Topology::named(topology, &rates).expect("a topology");
        some(text, &mut topology).map_err(|e| e.to_string())?;
        let both = topology.wires.iter().flat_map(|wire| wire.directions().into_iter().zip(&wire.faults));
        let names = both.filter(|(_, it)| it.any(|faults| faults.down)).map(|(ends, _)| ends);
        let names = names.map(|ends| ends.map(|node| topology.name(node)).join(":"));
        Ok(names.collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn links_are_chosen_by_their_ends() {
        for (text, wanted) in [
            ("h0:s0: down", "h0:s0"),
            ("s0:h0:down", "s0:h0"),
            ("h0-s0: down", "h0:s0 s0:h0"),
            ("h2..h3:*: down", "h2:s1 h3:s1"),
            ("*:h2..h3: down @ 1s..2s", "s1:h2 s1:h3"),
            ("s0: down", "h0:s0 s0:h0 h1:s0 s0:h1 s0:s1 s1:s0"),
            ("s0..s1:s0..s1: down", "s0:s1 s1:s0"),
            ("*:*: loss=1%, down", "h0:s0 s0:h0 h1:s0 s0:h1 h2:s1 s1:h2 h3:s1 s1:h3 s0:s1 s1:s0"),
        ] {
            assert_eq!(chosen("dumbbell:2", text).as_deref(), Ok(wanted), "{text}");
        }
    }

    #[test]
    fn what_is_no_link_is_said() {
        for (text, wanted) in [
            ("down", "write links, a colon and faults"),
            ("h0:h1: down", "there is no such link; h0 has links to s0"),
            ("h9:s0: down", "\"h9\" is no node of this topology: it has h0 to h3 and s0 to s1"),
            ("h0..h9:s0: down", "\"h0..h9\" is no end of a link"),
            ("h0:s0: downn", "`downn` is not a fault of a link"),
            ("h0:s0: down @ 1s", "is not an interval"),
        ] {
            let said = chosen("dumbbell:2", text).expect_err(text);
            assert!(said.starts_with(&format!("--link-fault {text}: ")) && said.contains(wanted), "{said}");
        }
    }
}
