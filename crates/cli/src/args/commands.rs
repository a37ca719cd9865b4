// SPDX-License-Identifier: MIT OR Apache-2.0
//! The options of the commands that have few.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

use super::source::{Features, Source, TARGET, TraceForm, Watching};
use crate::output::Format;

#[derive(Debug, ClapArgs)]
pub struct Completions {
    /// Shell to complete for
    pub shell: clap_complete::Shell,
}

#[derive(Debug, ClapArgs)]
pub struct Man {
    /// Folder for the pages; created if missing
    pub dir: PathBuf,
}

#[derive(Debug, ClapArgs)]
pub struct New {
    /// Folder to create; its name is the name of the protocol
    pub path: PathBuf,
    /// Template
    #[arg(short, long, value_enum, default_value = "stream")]
    pub template: Template,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Template {
    /// A reliable byte stream with a window of segments
    Stream,
    /// Messages of one packet each, delivered once and in order
    Message,
    /// Messages of many packets; the receiver grants when they are sent
    ReceiverDriven,
    /// An in-network program between two ends: it delays packets above a rate
    InNetwork,
}

#[derive(Debug, ClapArgs)]
pub struct Dissect {
    #[command(flatten)]
    pub source: Source,
    /// Script to write; `-` is standard output (default: NAME.lua in the current folder)
    #[arg(short, long)]
    pub output: Option<PathBuf>,
    /// Parameter that the parser uses: name=value
    #[arg(long)]
    pub set: Vec<String>,
}

#[derive(Debug, ClapArgs)]
pub struct Doc {
    /// A requirements.toml next to the program is included
    #[command(flatten)]
    pub source: Source,
    /// Page to write (default: NAME.html in the current folder)
    #[arg(short, long)]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub watching: Watching,
}

#[derive(Debug, ClapArgs)]
pub struct Report {
    /// Trace of `carrick sim --trace`, or tables of `carrick sim --csv` and `--timeline` to compare
    #[arg(required = true)]
    pub runs: Vec<PathBuf>,
    /// Page to write. A name that ends in .jsonl is for the records of a trace as JSON lines
    #[arg(short, long, default_value = "report.html")]
    pub output: PathBuf,
    /// Field of a context to draw (`field` or `context.field`); repeat for several (default: the fields that change most)
    #[arg(long, value_name = "FIELD")]
    pub plot: Vec<String>,
    /// Program of the run, if its file has moved
    #[arg(long, value_name = "FILE")]
    pub program: Option<PathBuf>,
    #[command(flatten)]
    pub features: Features,
}

#[derive(Debug, ClapArgs)]
pub struct Merge {
    /// Results of `carrick sim --shard`: tables (--csv) or JSON (--format json); all shards, in any order
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// File to write (default: standard output)
    #[arg(short, long)]
    pub output: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
pub struct Repro {
    /// Artefacts of `carrick sim`, `carrick report` or `carrick plot`: tables, JSON results, traces, captures, pages, drawings
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Compile the programs of artefacts that were made with --compiled, and run that code in this process
    #[arg(long)]
    pub compiled: bool,
    /// Read programs and other files that an artefact names outside the current folder
    #[arg(long)]
    pub outside: bool,
}

#[derive(Debug, ClapArgs)]
pub struct Lsp {
    /// Accepted because some editors pass it; standard input and output are always used
    #[arg(long)]
    pub stdio: bool,
}

#[derive(Debug, ClapArgs)]
pub struct Check {
    /// Programs (.mtp)
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Target to check against: its name, or a target file (.toml)
    #[arg(long)]
    pub target: Option<String>,
    #[command(flatten)]
    pub features: Features,
    /// Check every combination of features that `requires` and `excludes` allow
    #[arg(long, conflicts_with_all = ["with", "without", "ir"])]
    pub combinations: bool,
    /// Print the intermediate representation of each correct program
    #[arg(long)]
    pub ir: bool,
    #[command(flatten)]
    pub watching: Watching,
    /// Output format
    #[arg(long, value_enum, default_value = "pretty")]
    pub format: Format,
}

#[derive(Debug, ClapArgs)]
pub struct Fmt {
    /// Programs (.mtp); `-` formats standard input to standard output
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Change nothing; exit with 1 if a file is not formatted
    #[arg(long)]
    pub check: bool,
}

#[derive(Debug, ClapArgs)]
pub struct Build {
    #[command(flatten)]
    pub source: Source,
    /// Target to build for (`carrick targets` lists them), or a target file (.toml) with the name of one
    #[arg(long, default_value = TARGET)]
    pub target: String,
    /// Folder to write
    #[arg(short, long, required_unless_present = "explained")]
    pub output: Option<PathBuf>,
    /// Build nothing; print where each chain runs on the target, and why
    #[arg(long, conflicts_with = "output", group = "explained")]
    pub explain_placement: bool,
    /// Build nothing; print which packets an engine of segmentation makes, and what prevents it
    #[arg(long, conflicts_with = "output", group = "explained")]
    pub explain_offloads: bool,
    /// Output format
    #[arg(long, value_enum, default_value = "pretty", requires = "explained")]
    pub format: Format,
}

#[derive(Debug, ClapArgs)]
pub struct Run {
    #[command(flatten)]
    pub source: Source,
    /// Trace file, as of `carrick sim`; `carrick report` draws it
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Form of the trace file; `carrick report` reads both
    #[arg(long, value_enum, default_value = "binary", requires = "trace")]
    pub trace_format: TraceForm,
    /// Target to run on
    #[arg(long, default_value = TARGET)]
    pub target: String,
    /// Print also all that a tool says when it rejects the program
    #[arg(long)]
    pub verbose: bool,
    /// Options of the stack
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
    pub stack: Vec<String>,
}

#[derive(Debug, ClapArgs)]
pub struct Explain {
    /// Code: MTP0123, or 123. Omit to list all
    pub code: Option<String>,
}

#[derive(Debug, ClapArgs)]
pub struct Layout {
    #[command(flatten)]
    pub source: Source,
    #[command(flatten)]
    pub watching: Watching,
    /// Output format
    #[arg(long, value_enum, default_value = "pretty")]
    pub format: Format,
}

#[derive(Debug, ClapArgs)]
pub struct Targets {
    /// Output format
    #[arg(long, value_enum, default_value = "pretty")]
    pub format: Format,
}
