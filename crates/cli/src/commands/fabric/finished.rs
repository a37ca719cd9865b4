// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is left of a run that is over.

use carrick_sim::fabric::ProgramResult;
use carrick_sim::fabric::results::Results;
use serde_json::{Map, Value};

use super::runs::Asked;

/// A run that is over.
pub struct Run {
    pub asked: Asked,
    pub results: Results,
    /// packets that were sent again, where that was looked at
    pub retransmitted: Option<u64>,
    /// median and 99th percentile of round-trip times, where that was looked at
    pub rtt_ns: Option<(u64, u64)>,
    /// by program in the network, what its global contexts count, where that was looked at
    pub globals: Vec<Map<String, Value>>,
    /// the table of `--samples`
    pub samples: String,
    pub senders: Vec<Sender>,
    /// none where all hosts run the same program
    pub programs: Vec<ByProgram>,
}

/// What came of the flows of one of several programs.
pub struct ByProgram {
    pub result: ProgramResult,
    /// packets that its hosts sent again, where that was looked at
    pub retransmitted: Option<u64>,
}

/// What hosts with features of their own sent.
pub struct Sender {
    pub hosts: String,
    pub features: String,
    pub goodput_bps: f64,
}
