//! Target files: what each target has, and what a program would need of it.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::Failure;

pub mod codes;
pub mod lacks;
pub mod limits;
pub mod measure;
pub mod sites;
pub mod unbuilt;
pub mod uses;

/// One target file.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// how it is named on the command line
    pub name: String,
    /// one sentence
    pub description: String,
    /// the instructions that it carries out
    pub instructions: Vec<String>,
    /// `app_event`, ...
    pub event_kinds: Vec<String>,
    /// the network headers that it builds and parses
    pub net_headers: Vec<String>,
    /// the shapes of interface that its applications know
    pub interfaces: Vec<String>,
    /// `endpoint`, `in_network`: where in a network its programs are
    pub roles: Vec<String>,
    /// numbers that a program must not exceed, by the names in [`limits::LIMITS`]
    #[serde(default)]
    pub limits: std::collections::BTreeMap<String, u64>,
    /// scheduling blocks for packets
    #[serde(default)]
    pub blocks: Vec<String>,
    /// scheduling blocks for events
    #[serde(default)]
    pub event_blocks: Vec<String>,
    /// where code can run, the last one everything; none: in one place
    #[serde(default)]
    pub sites: Vec<Site>,
    /// what of Linux programs use, and since when that is there: for those who load them
    #[serde(default)]
    pub linux: Vec<Feature>,
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

impl Target {
    /// Reads a target file.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Target, String> {
        let target: Target = toml::from_str(text).map_err(|e| e.to_string())?;
        limits::unknown(&target).or_else(|| sites::wrong(&target)).map_or(Ok(target), Err)
    }
}

const FILES: &[(&str, &str)] = &[
    ("targets/sim/target.toml", include_str!("../../../../targets/sim/target.toml")),
    ("targets/native/target.toml", include_str!("../../../../targets/native/target.toml")),
    ("targets/xdp/target.toml", include_str!("../../../../targets/xdp/target.toml")),
];

/// All targets.
///
/// # Panics
/// If a target file that was compiled in is malformed; a test reads them all.
pub fn all() -> Vec<Target> {
    let parse = |(path, text): &(&str, &str)| {
        Target::parse(text).unwrap_or_else(|e| panic!("{path} is malformed: {e}"))
    };
    FILES.iter().map(parse).collect()
}

/// The target with this name, or of this file if it ends in `.toml`.
///
/// # Errors
/// [`Failure::Usage`] naming those that there are, or saying what is wrong with the file.
pub fn named(name: &str) -> Result<Target, Failure> {
    if !name.ends_with(".toml") {
        return find(name);
    }
    let wrong = |e: &dyn std::fmt::Display| Failure::Usage(format!("{name} is no target file: {e}"));
    let text = std::fs::read_to_string(Path::new(name)).map_err(|e| wrong(&e))?;
    Target::parse(&text).map_err(|e| wrong(&e))
}

/// The target with this name, of those that can be built for.
///
/// # Errors
/// [`Failure::Usage`] naming those that there are.
pub fn find(name: &str) -> Result<Target, Failure> {
    let targets = all();
    let names: Vec<_> = targets.iter().map(|t| t.name.clone()).collect();
    targets
        .into_iter()
        .find(|t| t.name == name)
        .ok_or_else(|| Failure::Usage(format!("there is no target {name:?}; there are {}", names.join(", "))))
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_target_file_is_well_formed() {
        let targets = super::all();
        assert!(targets.iter().any(|t| t.name == "sim"));
        assert!(targets.iter().all(|t| !t.instructions.is_empty()));
    }
}
