// SPDX-License-Identifier: MIT OR Apache-2.0
//! RPCs of `udp-retry`, and programs in the network that read them: hosts at one switch, whose links lose, duplicate, damage and reorder
//! packets. The applications of the tests check each result.

mod aggregating;
mod balancing;
mod caching;
mod host;
mod node;
mod retrying;
mod world;
