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
    // units that were created again
    "units_restarted",
];

/// How many of [`COUNTERS`], from the first, count something that was refused, lost or broken.
pub const REFUSALS: usize = 26;

/// What each of the [`REFUSALS`] counts, as docs/reference/execution.md says it.
pub const REFUSED: [&str; REFUSALS] = [
    "packets shorter than an IPv4 or IPv6 header",
    "packets of another version of the Internet Protocol",
    "packets shorter than their total length, or with impossible lengths",
    "packets with a wrong header checksum",
    "fragments",
    "packets of another protocol; over IPv6 also those with extension headers that the network layer does not skip",
    "packets for another address",
    "packets that end within their fields",
    "packets with a wrong checksum or CRC-32",
    "packets with malformed options",
    "packets with a field out of range",
    "packets for which the parser raised no event",
    "events without their context, and without an `absent` chain",
    "contexts that could not be created, or bound to another id",
    "data to send that exceeded the free space",
    "payloads that are not, or no longer, wholly in their unit or in the memory of their request",
    "received data beyond the unit's buffer, and data for memory that is missing or too short",
    "received data that would need one more out-of-order range",
    "instructions on a unit that does not exist",
    "blueprints dropped because the queues were full",
    "packets longer than the buffer or the MTU",
    "packets not made because a field would be out of range, or a computed value would not fit its field",
    "requests completed while the queue of completions was full: the program completed one twice",
    "claims that did not hold, where claims are checked",
    "packets that could not be stored",
    "`forward`, `drop` or `pkt_store` of a packet whose fate was decided already",
];

/// The number of the counter with this name, which must be one of [`COUNTERS`].
pub fn counter(name: &str) -> usize {
    COUNTERS.iter().position(|c| *c == name).expect("a name from COUNTERS")
}
