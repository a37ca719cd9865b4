// SPDX-License-Identifier: MIT OR Apache-2.0
//! Arguments of `carrick verify`.

use std::path::PathBuf;

use clap::Args;

use super::Source;
use crate::output::Format;

#[derive(Debug, Args)]
pub struct VerifyArgs {
    #[command(flatten)]
    pub source: Source,
    /// Parameter with one value: name=value. Other parameters have all values of their ranges
    #[arg(long)]
    pub set: Vec<String>,
    /// Explore the processors of this event's chain only. Repeat for several
    #[arg(long, value_name = "EVENT")]
    pub chain: Vec<String>,
    /// Explore this processor only. Repeat for several
    #[arg(long, value_name = "NAME")]
    pub processor: Vec<String>,
    /// Check only this: a part of a claim, a kind (assert, division, shift, list, serial, cut), or FILE:LINE. Repeat for several
    #[arg(long, value_name = "WHAT")]
    pub claim: Vec<String>,
    /// An older version of the program: prove that the new one does the same, or show where it does not
    #[arg(long, value_name = "FILE", conflicts_with_all = ["claim", "paths", "dump_smt", "chain", "processor"])]
    pub against: Option<PathBuf>,
    /// With --against: what is called OLD in the older version is called NEW now. Repeat for several
    #[arg(long, value_name = "OLD=NEW", requires = "against")]
    pub map: Vec<String>,
    /// Count the paths of every processor, and check nothing
    #[arg(long, conflicts_with_all = ["claim", "dump_smt"])]
    pub paths: bool,
    /// Elements of each list, and ranges of each window, at the beginning of a processor, at most
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=64))]
    pub k: u32,
    /// Paths of one processor, at most
    #[arg(long, default_value_t = 100_000, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub budget: u64,
    /// Seconds for one processor, at most
    #[arg(long, default_value_t = 60, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub seconds: u64,
    /// Folder for the conditions of each check, in SMT-LIB 2
    #[arg(long, value_name = "DIR")]
    pub dump_smt: Option<PathBuf>,
    /// Number of processors that are explored in parallel
    #[arg(short = 'j', long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: u16,
    /// Output format
    #[arg(long, value_enum, default_value = "pretty")]
    pub format: Format,
}
