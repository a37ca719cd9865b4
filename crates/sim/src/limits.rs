// SPDX-License-Identifier: MIT OR Apache-2.0
//! Limits of what a run is asked to do. More would take more memory or time than machines have, so it is refused at once.

/// Bytes of a flow, a transfer, or all requests of a connection: 16 TiB.
pub const BYTES: u64 = 1 << 44;
/// Flows of a run.
pub const FLOWS: u64 = 10_000_000;
/// Connections that stay open.
pub const CONNECTIONS: u64 = 10_000_000;
/// Links of a topology.
pub const LINKS: u64 = 1_000_000;
/// Propagation delay of a link: an hour, in nanoseconds.
pub const DELAY_NS: u64 = 3_600_000_000_000;

/// Refuses a number above its limit.
///
/// # Errors
/// A sentence with the number and the limit.
pub fn at_most(what: &str, number: u64, limit: u64) -> Result<(), String> {
    if number <= limit {
        return Ok(());
    }
    Err(format!("{what}: {number} is above the limit of {limit}"))
}
