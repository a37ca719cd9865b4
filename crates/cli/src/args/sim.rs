// SPDX-License-Identifier: MIT OR Apache-2.0
//! The options of `carrick sim`.

use std::path::PathBuf;

use carrick_driver::cc::Tracing;
use clap::Args;

use super::source::{Source, TraceForm, Watching};
use crate::commands::fabric::FabricArgs;
use crate::commands::faults::FaultArgs;
use crate::commands::scenario::{ScenarioArgs, ViaArgs};
use crate::output::Format;

#[derive(Debug, Args)]
pub struct SimArgs {
    #[command(flatten)]
    pub source: Source,
    #[command(flatten)]
    pub scenario: ScenarioArgs,
    #[command(flatten)]
    pub link_faults: FaultArgs,
    #[command(flatten)]
    pub way: ViaArgs,
    /// Parameter of the program: name=value. With --topology, name=value,value makes one run for each value
    #[arg(long)]
    pub set: Vec<String>,
    /// Run the compiled core in place of the interpreter
    #[arg(long)]
    pub compiled: bool,
    /// Run without trace and metrics, at full speed
    #[arg(long)]
    pub fast: bool,
    /// Packet capture at the client (pcapng)
    #[arg(long)]
    pub pcap: Option<PathBuf>,
    /// Trace file; `carrick report` draws it
    #[arg(long)]
    pub trace: Option<PathBuf>,
    /// Form of the trace file; `carrick report` reads both
    #[arg(long, value_enum, default_value = "binary", requires = "trace")]
    pub trace_format: TraceForm,
    /// Program in the network whose trace is written in place of that of the hosts: `via`, a node (s0), or one of several at a
    /// node (s0.0, s0.1)
    #[arg(long, value_name = "NODE", requires = "trace")]
    pub trace_at: Option<String>,
    #[command(flatten)]
    pub watching: Watching,
    /// Output format
    #[arg(long, value_enum, default_value = "pretty")]
    pub format: Format,
    #[command(flatten)]
    pub fabric: FabricArgs,
}

impl SimArgs {
    /// Whether cores report what they do.
    pub fn tracing(&self) -> Tracing {
        let wanted = !self.fast || self.trace.is_some() || self.fabric.sample.is_some();
        if wanted { Tracing::On } else { Tracing::Off }
    }
}
