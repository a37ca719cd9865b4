//! Target files: what each target has, and what a program would need of it.

use carrick_ir as ir;
use serde::{Deserialize, Serialize};

use crate::Failure;

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
    /// numbers that a program must stay below
    #[serde(default)]
    pub limits: std::collections::BTreeMap<String, u64>,
    /// scheduling blocks for packets
    #[serde(default)]
    pub blocks: Vec<String>,
    /// scheduling blocks for events
    #[serde(default)]
    pub event_blocks: Vec<String>,
    /// where code can run
    #[serde(default)]
    pub sites: Vec<String>,
}

const FILES: &[(&str, &str)] = &[
    ("targets/sim/target.toml", include_str!("../../../targets/sim/target.toml")),
    ("targets/native/target.toml", include_str!("../../../targets/native/target.toml")),
];

/// All targets.
///
/// # Panics
/// If a target file that was compiled in is malformed; a test reads them all.
pub fn all() -> Vec<Target> {
    let parse = |(path, text): &(&str, &str)| {
        toml::from_str(text).unwrap_or_else(|e| panic!("{path} is malformed: {e}"))
    };
    FILES.iter().map(parse).collect()
}

/// The target with this name.
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

/// What the program needs and the target lacks, a sentence each.
pub fn lacks(target: &Target, program: &ir::Program) -> Vec<String> {
    let mut lacks = Vec::new();
    let mut need = |what: &str, name: &str, has: &[String]| {
        if !has.iter().any(|h| h == name) {
            lacks.push(format!("target {} has no {what} `{name}`, which {} uses", target.name, program.file));
        }
    };
    let role = if program.in_network.is_some() { "in_network" } else { "endpoint" };
    need("role", role, &target.roles);
    need("network header", &program.net_header.name, &target.net_headers);
    if let Some(interface) = &program.interface {
        need("interface", &interface.name, &target.interfaces);
    }
    for instruction in ir::uses::instructions(program) {
        need("instruction", instruction, &target.instructions);
    }
    for block in ir::uses::blocks(&program.schedule) {
        need("scheduling block", block, &target.blocks);
    }
    for block in program.event_schedule.iter().flat_map(|e| ir::uses::blocks(&e.schedule)) {
        need("scheduling block for events", block, &target.event_blocks);
    }
    for event in &program.events {
        need("event kind", ir::uses::event_kind_name(event.kind), &target.event_kinds);
    }
    lacks
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_target_file_is_well_formed() {
        let targets = super::all();
        assert!(targets.iter().any(|t| t.name == "sim"));
        assert!(targets.iter().all(|t| !t.instructions.is_empty()));
    }

    #[test]
    fn a_block_that_a_target_lacks_is_named() {
        let text = include_str!("../../../tests/programs/scheduling.mtp");
        let program = crate::compile::compile_text("scheduling.mtp", text).program.expect("it is right");
        let mut target = super::find("sim").expect("there is one");
        let of = |what: &[String]| what.iter().filter(|w| w.contains("block")).cloned().collect::<Vec<_>>();
        assert_eq!(of(&super::lacks(&target, &program)), [""; 0]);
        target.blocks.retain(|b| b != "drr");
        let lacks = of(&super::lacks(&target, &program));
        assert_eq!(lacks, ["target sim has no scheduling block `drr`, which scheduling.mtp uses"]);
    }
}
