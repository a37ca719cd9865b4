// SPDX-License-Identifier: MIT OR Apache-2.0
//! Changes of a stack that runs elsewhere: it takes them as requests, and its trace says what became of each.

use super::live::Context;

/// The event of a program that takes changes, and its call: its fields number the change and the process that asks for it.
pub const EVENT: &str = "change_context";

/// What the requests complete with has this in its upper half, so that nothing else in a trace is taken for it.
const MARK: u64 = 0x6368_616e << 32;
/// The request completes with this: the change was made.
pub const MADE: u64 = MARK | 0xffff_ffff;
/// The context is gone.
pub const GONE: u64 = MARK | 0xffff_fffe;
/// The change was undone: this and the number of the claim that it would have broken.
pub const BREAKS: u64 = MARK;

/// A change whose chain runs.
#[derive(Debug)]
pub struct Change {
    pub handle: u64,
    /// which one
    pub item: usize,
    /// the process that asked for it
    pub by: u64,
    /// the context as it was
    pub before: Option<Context>,
    /// the claim for which it was undone, once that is known
    pub outcome: Option<Outcome>,
}

/// What became of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Made,
    Gone,
    Breaks { claim: usize },
}

impl Outcome {
    /// What a request completed with, if it asked for a change.
    pub fn of(value: u64) -> Option<Outcome> {
        match value {
            MADE => Some(Outcome::Made),
            GONE => Some(Outcome::Gone),
            _ if value >> 32 == MARK >> 32 => Some(Outcome::Breaks { claim: value as u32 as usize }),
            _ => None,
        }
    }
}
