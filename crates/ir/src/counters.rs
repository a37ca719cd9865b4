// SPDX-License-Identifier: MIT OR Apache-2.0
//! The counters of every core, by number; see docs/reference/execution.md.

/// Names in the order of their numbers (a `DROP` trace record carries the number).
pub const COUNTERS: [&str; 33] = [
    "ip_short",
    "ip_version",
    "ip_length",
    "ip_checksum",
    "ip_fragment",
    "ip_protocol",
    "ip_address",
    "short",
    "bad_checksum",
    "bad_options",
    // a field outside of its range
    "bad_field",
    "unparsed",
    "no_context",
    "ctx_refused",
    "tx_cut",
    "payload_cut",
    "rx_cut",
    "rx_runs_full",
    "no_unit",
    "tx_queue_full",
    "tx_too_long",
    // packets not made, as a field would be outside of its range
    "tx_bad_field",
    // a request completed when the completion queue was full (the program completed one twice)
    "completion_lost",
    // claims that did not hold, where claims are checked
    "claims_failed",
    // packets that could not be kept, and what was said of a packet that had gone its way already
    "store_full",
    "packet_gone",
    // a unit was created that existed
    "unit_exists",
    // not refusals: packets that entered the parser, packets made, events whose chain ran
    "rx_packets",
    "tx_packets",
    "events",
    // blueprints that a rule let another one stand for
    "tx_coalesced",
    // packets that left as they came
    "tx_forwarded",
    // retired instances that a new one took the slot of
    "ctx_reclaimed",
];

/// How many of [`COUNTERS`], from the first, count something that was refused, lost or broken.
pub const REFUSALS: usize = 27;

/// The number of the counter with this name, which must be one of [`COUNTERS`].
pub fn counter(name: &str) -> usize {
    COUNTERS.iter().position(|c| *c == name).expect("a name from COUNTERS")
}
