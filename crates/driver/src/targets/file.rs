// SPDX-License-Identifier: MIT OR Apache-2.0
//! A target file as data.

use serde::{Deserialize, Serialize};

/// The word for all words of a list, in the file of a target that does nothing with them but pass them on.
pub const ANY: &str = "any";

/// One target file. Each list of words can be [`ANY`] alone.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TargetFile {
    /// how it is named on the command line
    pub name: String,
    /// one sentence
    pub description: String,
    /// the instructions that it carries out; target files name groups of them, too
    pub instructions: Vec<String>,
    /// `app_event`, ...
    pub event_kinds: Vec<String>,
    /// the network headers that it builds and parses
    pub net_headers: Vec<String>,
    /// the shapes of interface that its applications know
    pub interfaces: Vec<String>,
    /// `endpoint`, `in_network`: where in a network its programs are
    pub roles: Vec<String>,
    /// `icmp`: by what the network's errors are reported to its programs
    #[serde(default)]
    pub reports: Vec<String>,
    /// numbers that a program must not exceed, by the names in [`LIMITS`](super::limits::LIMITS)
    #[serde(default)]
    pub limits: std::collections::BTreeMap<String, u64>,
    /// scheduling blocks for packets
    #[serde(default)]
    pub blocks: Vec<String>,
    /// scheduling blocks for events
    #[serde(default)]
    pub event_blocks: Vec<String>,
    /// `segmentation`: what its ports do to packets that the program gives them
    #[serde(default)]
    pub engines: Vec<String>,
    /// where code can run, the last one everything; none: in one place
    #[serde(default)]
    pub sites: Vec<Site>,
    /// of a target that makes circuits: how
    pub pipeline: Option<PipelineSpec>,
    /// what of Linux programs use, and since when that is there: for those who load them
    #[serde(default)]
    pub linux: Vec<Feature>,
}

impl TargetFile {
    /// Whether it passes every program on, and runs none.
    pub fn takes_any(&self) -> bool {
        self.instructions == [ANY]
    }
}

/// Something that not every Linux has.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Feature {
    /// one word
    pub feature: String,
    /// the first version that has it
    pub since: String,
    /// what for, as the end of a sentence
    pub what: String,
}

/// How a chain becomes a pipeline.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PipelineSpec {
    /// registers between input and output, in cycles
    pub stages: u64,
    /// by what the stages are balanced: a delay model of the tool that makes them
    pub delay_model: String,
    /// frequency that each stage must reach by that model, in MHz; none: any
    pub clock_mhz: Option<u64>,
    /// contexts in the session table, at most
    pub flows: u64,
    /// events that wait in front of the pipelines
    pub queue: u64,
    /// what becomes of an event where so many wait
    pub overflow: Overflow,
    /// timers in the calendar, at most
    pub timers: u64,
    /// nanoseconds from one moment of the calendar to the next, a power of two
    pub tick: u64,
}

/// What becomes of an event that arrives at a full queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Overflow {
    /// its sender waits
    Wait,
    /// it is dropped and counted
    Drop,
}

/// One place of a target where code can run.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Site {
    /// one word
    pub name: String,
    /// what it is, as the end of a sentence
    pub description: String,
    /// the kinds of event that arise there; `flow_event` is none of them: such a one runs where it is raised
    pub event_kinds: Vec<String>,
    /// the instructions that can be issued there, whether or not the target carries them out yet; absent: all
    pub instructions: Option<Vec<String>>,
    /// whether it hands out memory for units of data
    pub memory: bool,
    /// whether what lies in units is at hand there, to make packets of
    pub payload: bool,
    /// whether events can wait there
    pub waits: bool,
    /// `blueprints_per_event` and `statements_per_chain`, as of the whole target
    #[serde(default)]
    pub limits: std::collections::BTreeMap<String, u64>,
}
