// SPDX-License-Identifier: MIT OR Apache-2.0
//! A deterministic network simulator: hosts with one core each, links with faults, applications, virtual time.
//!
//! A run is a pure function of program, scenario and seed. Cores are the interpreter or a compiled
//! program, and both give the same trace.
//!
//! *Architecture invariant:* no clock and no randomness but its own; the only I/O is loading a
//! compiled core. Nothing here knows a protocol: applications speak the `stream` interface.
#![allow(missing_docs, reason = "fields and variants are named for what they hold")]

pub mod app;
pub mod calls;
pub mod compiled;
pub mod core;
pub mod diff;
pub mod edges;
mod event_queue;
pub mod fabric;
pub mod faults;
mod fit;
mod forge;
pub mod globals;
pub mod icmp;
pub mod interface;
pub mod interpreted;
pub mod ip;
mod joined;
pub mod judge;
pub mod limits;
pub mod link;
pub mod metrics;
pub mod middlebox;
pub mod net;
pub mod observe;
pub mod pattern;
pub mod pcapng;
mod random;
mod random_ops;
pub mod random_source;
pub mod rate_trace;
pub mod records;
pub mod rng;
mod run;
pub mod samples;
pub mod scenario;
pub mod show;
mod status;
pub mod stop;
pub mod trace;
mod transit;
mod two_hosts;
pub mod watch;

pub use random::Faults;
pub use run::goes_between;
pub use scenario::{Report, Scenario, Way};
pub use two_hosts::{run, run_through};
