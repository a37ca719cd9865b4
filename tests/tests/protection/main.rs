// SPDX-License-Identifier: MIT OR Apache-2.0
//! What programs in the kernel leave alone, and what must leave them alone: the kernel's own stack beside them on the device, packets
//! that nobody honest sends, and applications that may use them and nothing else.
//!
//! Also what one client can hold of a server, on every target.
//!
//! Each test that cannot run here says so.

mod coexistence;
mod holding;
mod packets;
mod pinned;
mod programs;
mod rates;
mod setting;
mod shares;
