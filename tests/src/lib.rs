// SPDX-License-Identifier: MIT OR Apache-2.0
//! What tests against real peers stand on: two network namespaces joined by a veth pair, and processes in
//! them that are driven a line at a time. Everything made here is removed again when it is dropped, also when a test fails.
#![warn(missing_docs)]

pub mod bare;
pub mod build;
pub mod capture;
pub mod cargo;
pub mod command;
pub mod document;
pub mod end;
pub mod in_kernel;
pub mod middle;
pub mod mutants;
pub mod net;
pub mod node;
pub mod other_targets;
pub mod pattern;
pub mod places;
pub mod programs;
pub mod recorded;
pub mod running;
pub mod scripted;
pub mod seeds;
pub mod simulated;
pub mod tcp_segment;
pub mod tier;
