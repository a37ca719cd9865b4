// SPDX-License-Identifier: MIT OR Apache-2.0
//! Arguments of `carrick verify`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::Source;
use crate::output::Format;

#[derive(Debug, Args)]
pub struct VerifyArgs {
    #[command(flatten)]
    pub source: Source,
    /// Parameter with one value: name=value. Other parameters have all values of their ranges, and with --peers their defaults
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
    #[command(flatten)]
    pub peers: PeersArgs,
    /// Count the paths of every processor, and check nothing
    #[arg(long, conflicts_with_all = ["claim", "dump_smt"])]
    pub paths: bool,
    /// Elements of each list, and ranges of each window, at the beginning of a processor, at most
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=64))]
    pub k: u32,
    /// Paths of one processor, at most
    #[arg(long, default_value_t = 100_000, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub budget: u64,
    /// Seconds for one processor, or for the search of --peers, at most
    #[arg(long, default_value_t = 60, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub seconds: u64,
    /// Folder for the conditions of each check, in SMT-LIB 2
    #[arg(long, value_name = "DIR")]
    pub dump_smt: Option<PathBuf>,
    /// Number of threads that explore
    #[arg(short = 'j', long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: u16,
    /// Output format
    #[arg(long, value_enum, default_value = "pretty")]
    pub format: Format,
}

/// What `--peers` explores.
#[derive(Debug, Args)]
pub struct PeersArgs {
    /// Explore everything that can happen between two ends over a channel with faults, from the beginning on. Exit code 0: all is
    /// proved, 1: something is broken, 4: not everything was explored
    #[arg(long, conflicts_with_all = ["against", "claim", "paths", "dump_smt", "chain", "processor", "k", "budget"])]
    pub peers: bool,
    /// With --peers: the program of the server, such as another version. Without it, both ends run the same
    #[arg(long, value_name = "FILE", requires = "peers")]
    pub server: Option<PathBuf>,
    /// With --peers: in-network program between client and server. The faults can happen on either side of it
    #[arg(long, value_name = "FILE", requires = "peers")]
    pub via: Option<PathBuf>,
    /// With --peers: parameter of the in-network program: name=value. Repeat for several
    #[arg(long, value_name = "NAME=VALUE", requires = "via")]
    pub via_set: Vec<String>,
    /// With --peers: bytes that the client sends, each in a call of its own; so many messages, RPCs or work requests, where a
    /// program has no streams
    #[arg(long, default_value_t = 3, value_name = "N", requires = "peers", value_parser = clap::value_parser!(u64).range(0..=64))]
    pub bytes: u64,
    /// With --peers: the same of the server
    #[arg(long, default_value_t = 0, value_name = "N", requires = "peers", value_parser = clap::value_parser!(u64).range(0..=64))]
    pub answer: u64,
    /// With --peers: bytes of each message, RPC or work request
    #[arg(long, default_value_t = 8, value_name = "N", requires = "peers", value_parser = clap::value_parser!(u32).range(8..=65536))]
    pub message: u32,
    /// With --peers: packets that are lost, at most
    #[arg(long, default_value_t = 2, value_name = "N", requires = "peers")]
    pub lose: u8,
    /// With --peers: packets that are duplicated, at most
    #[arg(long, default_value_t = 1, value_name = "N", requires = "peers")]
    pub dup: u8,
    /// With --peers: packets that overtake others, at most
    #[arg(long, default_value_t = 1, value_name = "N", requires = "peers")]
    pub reorder: u8,
    /// With --peers: packets that arrive with a changed bit, at most
    #[arg(long, default_value_t = 0, value_name = "N", requires = "peers")]
    pub corrupt: u8,
    /// With --peers: moments at which time passes although packets are on their way, at most
    #[arg(long, default_value_t = 0, value_name = "N", requires = "peers")]
    pub delay: u8,
    /// With --peers: times that an end, or the program between them, forgets everything and begins anew, at most
    #[arg(long, default_value_t = 0, value_name = "N", requires = "peers")]
    pub crash: u8,
    /// With --peers: how long a packet can be on its way, such as 10ms
    #[arg(long, default_value = "120s", value_name = "DURATION", requires = "delay")]
    pub life: String,
    /// With --peers: what must hold beside. Streams, RPCs and work requests promise the last three by themselves
    #[arg(long, value_name = "PROMISE", value_delimiter = ',', requires = "peers")]
    pub expect: Vec<Expected>,
    /// With --peers: states, at most
    #[arg(long, default_value_t = 20_000_000, value_name = "N", requires = "peers", value_parser = clap::value_parser!(u64).range(1..))]
    pub states: u64,
    /// With --peers: write what happens on the way to what is broken, as a trace for `carrick report` and `carrick trace`
    #[arg(long, value_name = "FILE", requires = "peers")]
    pub trace: Option<PathBuf>,
    /// With --peers: write the packets of that way, as the client sees them, as a capture for Wireshark
    #[arg(long, value_name = "FILE", requires = "peers")]
    pub pcap: Option<PathBuf>,
}

/// What can be promised beyond what an interface promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Expected {
    /// no application gets an error
    NoErrors,
    /// messages whose `send` completed well arrive
    All,
    /// no message is duplicated
    Once,
    /// no message arrives behind one that was sent later
    Order,
}
