// SPDX-License-Identifier: MIT OR Apache-2.0
//! A topology from a file.
//!
//! ```toml
//! hosts = 4
//! switches = 2
//!
//! [[links]]
//! ends = ["h0..h1", "s0"] # two links: h0 to s0, h1 to s0
//! rate = "10Gbps"
//! delay = "1us"
//! faults = ["loss=1%", "down @ 2s..3s"]
//!
//! [[programs]]
//! at = "s0"
//! file = "cache.mtp" # beside this file
//! set = ["keys=64"]
//! offload = "service=12us,workers=2"
//! ```

use std::path::{Path, PathBuf};

use carrick_driver::{Failure, files, quantity};
use carrick_sim::fabric::topology::{Node, Topology, Wire};
use carrick_sim::faults::{FOREVER, FaultSchedule, LinkFaults};
use carrick_sim::limits::{self, at_most};
use serde::Deserialize;

use crate::commands::faults::{self, TimedFaults};

/// Nodes at most that a message names.
const NEIGHBOURS: usize = 8;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Shape {
    hosts: u32,
    #[serde(default)]
    switches: u32,
    links: Vec<Link>,
    #[serde(default)]
    programs: Vec<At>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Link {
    /// `h3`, `s0`, or several: `h0..h7`
    ends: [String; 2],
    /// unless `faults` have a rate over time
    rate: Option<String>,
    /// one way
    delay: String,
    /// the other way, if it is another
    back: Option<String>,
    loss: Option<String>,
    /// the other way, if it is another
    loss_back: Option<String>,
    /// in both directions, as `--link-fault` has them: `jitter=5us`, `down @ 2s..3s`
    #[serde(default)]
    faults: Vec<String>,
}

/// A program in the network.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct At {
    /// the node: `s0`, `h3`
    pub at: String,
    pub file: PathBuf,
    /// `name=value`
    #[serde(default)]
    pub set: Vec<String>,
    /// what takes its messages, as on the command line
    pub offload: Option<String>,
}

/// The text of a file.
pub fn read(path: &Path) -> Result<String, Failure> {
    files::data(path).map_err(|e| Failure::Usage(format!("cannot read {}: {e}", path.display())))
}

/// The files of rates over time that it names.
///
/// # Errors
/// [`Failure::Usage`] if it cannot be read or is no topology.
pub fn rate_traces(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    let texts = shape(path)?.links.into_iter().flat_map(|link| link.faults);
    let beside =
        |text: String| faults::files(&text).map(|file| path.with_file_name(file)).collect::<Vec<_>>();
    Ok(texts.flat_map(beside).collect())
}

fn shape(path: &Path) -> Result<Shape, Failure> {
    toml::from_str(&read(path)?).map_err(|e| Failure::Usage(format!("{}: {e}", path.display())))
}

/// Reads it, with the programs at its nodes.
///
/// # Errors
/// [`Failure::Usage`] if it cannot be read or is no topology.
pub fn topology(path: &Path) -> Result<(Topology, Vec<At>), Failure> {
    let wrong = |e: String| Failure::Usage(format!("{}: {e}", path.display()));
    let shape = shape(path)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut topology = Topology { hosts: shape.hosts, switches: shape.switches, wires: Vec::new() };
    topology.check_size().map_err(wrong)?;
    for link in &shape.links {
        let delay = quantity::duration(&link.delay)?;
        let back = link.back.as_deref().map_or(Ok(delay), quantity::duration)?;
        let loss = link.loss.as_deref().map_or(Ok(0), quantity::share)?;
        let loss_back = link.loss_back.as_deref().map_or(Ok(loss), quantity::share)?;
        let mut faults = [loss, loss_back]
            .map(|loss_ppm| FaultSchedule::from(LinkFaults { loss_ppm, ..LinkFaults::default() }));
        for text in &link.faults {
            let timed =
                TimedFaults::read(text, folder).map_err(|e| wrong(format!("faults {text:?}: {e}")))?;
            faults.iter_mut().for_each(|schedule| timed.apply(schedule));
        }
        let rate_bps = rate(link, &faults[0]).map_err(|e| wrong(format!("link {:?}: {e}", link.ends)))?;
        let [a, b] = [&link.ends[0], &link.ends[1]].map(|end| nodes(end, &topology).map_err(wrong));
        let (a, b) = (a?, b?);
        let links = topology.wires.len() as u64 + a.clone().count() as u64 * b.clone().count() as u64;
        at_most("links", links, limits::LINKS).map_err(wrong)?;
        for (a, b) in a.flat_map(|a| b.clone().map(move |b| (a, b))) {
            topology.wires.push(Wire {
                ends: [a, b],
                rate_bps,
                delay_ns: [delay, back],
                faults: faults.clone(),
            });
        }
    }
    topology.check().map_err(wrong)?;
    let beside = |at: At| At { file: path.with_file_name(&at.file), ..at };
    Ok((topology, shape.programs.into_iter().map(beside).collect()))
}

/// Bits per second of a link: those of its rate over time on average, if its faults have one.
fn rate(link: &Link, faults: &FaultSchedule) -> Result<u64, Failure> {
    match (&link.rate, faults.rate()) {
        (Some(rate), None) => quantity::rate(rate),
        (None, Some(rate)) => Ok(rate.mean_bps(FOREVER).max(1)),
        (Some(_), Some(_)) => {
            Err(Failure::Usage("`rate` says nothing with `rate-trace`: leave out one of them".into()))
        }
        (None, None) => {
            Err(Failure::Usage("its rate is missing: say `rate`, or `rate-trace=FILE` in `faults`".into()))
        }
    }
}

/// The nodes of an end: `s0`, or several, `h0..h7`.
///
/// # Errors
/// A sentence, if there are none.
pub fn nodes(text: &str, topology: &Topology) -> Result<std::ops::RangeInclusive<Node>, String> {
    let (first, last) = text.split_once("..").unwrap_or((text, text));
    let ends = topology.node(first).zip(topology.node(last));
    let (a, b) = ends.ok_or_else(|| {
        format!("{text:?} is no end of a link: hosts are h0, h1, ..., switches s0, s1, ..., several h0..h7")
    })?;
    if a > b {
        return Err(format!("{text:?} ends before it begins: write {last}..{first}"));
    }
    Ok(a..=b)
}

/// As [`nodes`], of a node by its name: one that is missing is an error that says which there are.
///
/// # Errors
/// A sentence, if there are none.
pub fn named_nodes(text: &str, topology: &Topology) -> Result<std::ops::RangeInclusive<Node>, String> {
    match topology.node(text) {
        None if !text.contains("..") => Err(no_node(text, topology).to_string()),
        _ => nodes(text, topology),
    }
}

/// The nodes to which a node has links, as text; not all of many.
pub fn neighbours(node: Node, topology: &Topology) -> String {
    let other = |wire: &Wire| match wire.ends {
        [a, b] if a == node => Some(b),
        [a, b] if b == node => Some(a),
        _ => None,
    };
    let all: Vec<_> = topology.wires.iter().filter_map(other).map(|node| topology.name(node)).collect();
    let more = if all.len() > NEIGHBOURS { ", ..." } else { "" };
    format!("{}{more}", all[..all.len().min(NEIGHBOURS)].join(", "))
}

/// Says which nodes there are.
pub fn no_node(name: &str, topology: &Topology) -> Failure {
    let several = |kind, count| match count {
        1 => format!("{kind}0"),
        _ => format!("{kind}0 to {kind}{}", count - 1),
    };
    let mut nodes = several("h", topology.hosts);
    if topology.switches > 0 {
        nodes += " and ";
        nodes += &several("s", topology.switches);
    }
    Failure::Usage(format!("{name:?} is no node of this topology: it has {nodes}"))
}
