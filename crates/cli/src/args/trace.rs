// SPDX-License-Identifier: MIT OR Apache-2.0
//! The options of `carrick trace`.

use std::path::PathBuf;

use clap::Args;

use super::source::{Features, TARGET};
use crate::commands::faults::FaultArgs;
use crate::commands::scenario::{ScenarioArgs, ViaArgs};
use crate::output::Format;

#[derive(Debug, Args)]
pub struct TraceArgs {
    /// Program (.mtp), its table (.json), or a trace that `carrick sim --trace` or `carrick run --trace` recorded
    pub file: PathBuf,
    #[command(flatten)]
    pub features: Features,
    /// Program of a recorded trace, if its file has moved
    #[arg(long, value_name = "FILE")]
    pub program: Option<PathBuf>,
    /// Breakpoint: a line ([FILE:]LINE) or a function. Stops there, if the condition of --when holds, and reads commands from
    /// standard input (`help` lists them). Repeat for several breakpoints
    #[arg(long = "break", value_name = "PLACE", conflicts_with_all = ["on", "sample", "list", "show", "at", "context", "host", "most", "compiled", "format"], help_heading = "What to inspect")]
    pub breaks: Vec<String>,
    /// Event after which the context is shown, with the values that changed. Repeat for several events
    #[arg(long, value_name = "EVENT", conflicts_with_all = ["sample", "list"], help_heading = "What to inspect")]
    pub on: Vec<String>,
    /// Condition: show a context when it becomes true. With --on, --sample, --list or --at: show only contexts for which it holds
    #[arg(long, value_name = "CONDITION", help_heading = "What to inspect")]
    pub when: Option<String>,
    /// Expressions to sample in each context, once per --every
    #[arg(long, value_name = "EXPRESSIONS", requires = "every", conflicts_with_all = ["list", "show"], help_heading = "What to inspect")]
    pub sample: Option<String>,
    /// Virtual time between samples, for example 1ms or 50us
    #[arg(long, value_name = "DURATION", requires = "sample", help_heading = "What to inspect")]
    pub every: Option<String>,
    /// List all contexts at the times of --at, or at the end of the run
    #[arg(long, help_heading = "What to inspect")]
    pub list: bool,
    /// Virtual time for --list and --set. Repeat for several times
    #[arg(long, value_name = "TIME", conflicts_with_all = ["on", "sample"], help_heading = "What to inspect")]
    pub at: Vec<String>,
    /// Expressions to show of a context. Omit to show all fields
    #[arg(long, value_name = "EXPRESSIONS", help_heading = "What to inspect")]
    pub show: Option<String>,
    /// Context type to inspect, where the program has several
    #[arg(long, help_heading = "What to inspect")]
    pub context: Option<String>,
    /// Host to inspect: client, server, or via for the program of --via; of a recorded trace, a host as its lines name it (h3,
    /// stack). Omit for all hosts
    #[arg(long, value_name = "HOST", help_heading = "What to inspect")]
    pub host: Option<String>,
    /// Change: a field of the contexts that --on, --when or --at selects (context.field = value), or a parameter of the program (name=value)
    #[arg(long, value_name = "CHANGE", help_heading = "What to inspect")]
    pub set: Vec<String>,
    /// Number of lines after which the run ends
    #[arg(long, value_name = "LINES", value_parser = clap::value_parser!(u64).range(1..), help_heading = "What to inspect")]
    pub most: Option<u64>,
    /// Run the compiled core in place of the interpreter
    #[arg(long)]
    pub compiled: bool,
    /// Output format
    #[arg(long, value_enum, default_value = "pretty")]
    pub format: Format,
    /// Target of --run
    #[arg(long, default_value = TARGET, requires = "run")]
    pub target: String,
    /// Trace a stack on a device of this machine in place of a simulation; the arguments that follow are those of `carrick run`
    #[arg(long, value_name = "STACK", num_args = 1.., allow_hyphen_values = true, conflicts_with_all = ["breaks", "compiled", "host", "ScenarioArgs", "FaultArgs", "ViaArgs"])]
    pub run: Vec<String>,
    // Not one in the other: to clap a group with a group in it is empty, and `--run` conflicts with nothing of it.
    #[command(flatten)]
    pub scenario: ScenarioArgs,
    #[command(flatten)]
    pub link_faults: FaultArgs,
    #[command(flatten)]
    pub way: ViaArgs,
}
