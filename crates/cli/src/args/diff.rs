// SPDX-License-Identifier: MIT OR Apache-2.0
//! The options of `carrick diff`.

use std::path::PathBuf;

use clap::Args;

use super::source::{Source, TARGET};
use crate::commands::scenario::ViaArgs;
use crate::output::Format;

#[derive(Debug, Args)]
pub struct DiffArgs {
    #[command(flatten)]
    pub source: Source,
    /// Another version of the program (.mtp or .json): runs both on the same random networks and reports where they first differ
    #[arg(value_name = "OTHER", conflicts_with_all = ["via", "target", "operations", "verbose"])]
    pub other: Option<PathBuf>,
    /// Number of seeds. Each seed runs random operations and, where the simulator has applications for the program's interface,
    /// random applications on a random network
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    pub seeds: u64,
    /// First seed
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Number of random operations for each seed, on two ends that exchange packets
    #[arg(long, default_value_t = 1200)]
    pub operations: u64,
    #[command(flatten)]
    pub way: ViaArgs,
    /// Target whose cores are compared: its name, or a target file (.toml) with the name of one
    #[arg(long, default_value = TARGET, conflicts_with_all = ["via"])]
    pub target: String,
    /// Print also all that a tool says when it rejects the program
    #[arg(long)]
    pub verbose: bool,
    /// Output format
    #[arg(long, value_enum, default_value = "pretty")]
    pub format: Format,
}
