// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where an application is: its host among the others, and what it sends.

use crate::pattern::Pattern;

/// What an application knows of its surroundings.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    pub host: u32,
    pub hosts: u32,
    pub seed: u64,
    /// bytes of a message at most
    pub message: u32,
    /// bytes of a message at most when it arrives: offloads make messages longer
    pub longest: u32,
    /// messages to one host that are under way at once, if that is said
    pub outstanding: Option<u32>,
    /// the program does not promise that messages arrive
    pub may_lose: bool,
    /// one connection to each host that is sent to, for all flows, and not one for each flow
    pub keep: bool,
}

/// The address of host 0; the others follow.
const FIRST_ADDRESS: u32 = 0x0a00_0001;

/// The IPv4 address of a host.
pub fn address(host: u32) -> u32 {
    FIRST_ADDRESS + host
}

/// The host that has an address, if it is one.
pub fn host_at(address: u32, hosts: u32) -> Option<u32> {
    address.checked_sub(FIRST_ADDRESS).filter(|host| *host < hosts)
}

/// The bytes of a flow begin with its number.
pub fn pattern(flow: u32, seed: u64) -> Pattern {
    Pattern { number: u64::from(flow), seed }
}
