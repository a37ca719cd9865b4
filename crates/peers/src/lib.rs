// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two ends over a hostile channel: every order of what can happen, from the beginning, as far as the bounds allow.
//!
//! Both ends are cores of the interpreter with the simulator's applications, and so is a program in the network between them, if there is
//! one. Between all of them is a channel that loses, duplicates, reorders, corrupts and holds back a few packets. A *state* is all of
//! them, what is on its way, and the faults that are left; the search
//! goes through all states breadth first, so that what it finds is short.
//!
//! *Architecture invariant:* knows no protocol, no file and no device: programs come in, states and the way to them go out.

mod action;
mod channel;
mod end;
mod goal;
mod judge;
mod memo;
mod replay;
mod search;
mod setup;
mod state;
mod store;
mod threads;
mod visited;

pub use action::{Action, Faults, VIA, Way};
pub use goal::Goal;
pub use judge::{Broken, NAMES};
pub use replay::{Step, replay};
pub use search::{Outcome, Progress, explore};
pub use setup::{Bounds, DAY_NS, Promise, Setup, Via};
