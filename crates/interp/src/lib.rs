// SPDX-License-Identifier: MIT OR Apache-2.0
//! The reference semantics: the IR, executed.
//!
//! A [`Core`] links a program to an executable form (`link`), keeps every value in one memory of 64-bit cells (`machine`),
//! and takes packets, requests and time from its host. What it does is docs/reference/execution.md, to the number.
//!
//! *Architecture invariant:* a core does no I/O, knows no clock, and is a function of its inputs and its seed.

mod api;
mod ask;
mod bits;
mod chain;
mod coalesce;
mod code;
mod contexts;
mod core;
mod counters;
mod crc;
pub mod debug;
mod eval;
mod event_queue;
mod exec;
mod frame;
mod handover;
mod header;
mod instr;
mod ip;
mod ipv4;
mod ipv6;
mod layout;
mod link;
mod linked;
mod machine;
mod option_elements;
mod outside;
mod packet_store;
mod part;
mod passing;
mod pending;
mod queue;
mod rand;
mod report;
mod requests;
mod ring;
#[cfg(test)]
mod round_trips;
mod routing;
mod runs;
mod sched;
mod segment;
mod snapshot;
mod timers;
mod tlv;
mod trace;
mod units;
mod varint;
mod wire;
mod wnd;

pub use api::*;
pub use code::Question;
pub use core::Core;
pub use handover::{ChainInput, ChainOutput, Chains, OutsideArg, OutsideInstr, RANDOM_NUMBERS};
pub use ipv6::ipv6_protocol;
pub use rand::{random_start, secret_key};
