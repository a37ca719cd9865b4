// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packet scheduling: blocks of queues, composed to a tree.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::expr::Expr;

/// Events that an input of deficit round robin may have handled a turn, at least and at most.
pub const EVENT_QUANTUM: std::ops::RangeInclusive<u64> = 1..=1 << 16;
/// Events that wait at most, and received packets that they are of.
pub const MOST_WAITING: u32 = 256;
/// Bytes that a queue of deficit round robin may send a turn, at least and at most.
pub const QUANTUM: std::ops::RangeInclusive<u64> = 64..=1 << 30;
/// The highest rate that a rate limiter knows, in bits per second; above it a queue is not held back at all.
pub const TOP_RATE: u64 = 1_000_000_000_000_000;
/// How long a rate limiter makes good that a packet went out later than it might have, in nanoseconds.
pub const LATENESS: u64 = 1_000_000;
/// Inputs of a block, and blocks of a program, at most.
pub const MOST_INPUTS: usize = 16;
pub const MOST_BLOCKS: usize = 16;

/// How blueprints wait for being made into packets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct Schedule {
    /// how many queues a program can name; those of one block for all flows count as one
    pub queues: u32,
    /// of how many users each has those queues for itself, since rates of users are held ([`Schedule::limited`]); 0: of none
    pub owners: u32,
    /// each before those that feed it, the outermost first; none: a single queue
    pub blocks: Vec<SchedBlock>,
    /// numbers of those that hold rates of users
    pub held: Vec<u32>,
}

impl Schedule {
    /// A single queue, first in, first out.
    pub fn fifo() -> Schedule {
        Schedule { queues: 1, owners: 0, blocks: Vec::new(), held: Vec::new() }
    }

    /// Of the queues, how many the program itself can name.
    pub fn own_queues(&self) -> u32 {
        self.queues / self.owners.max(1)
    }

    /// The block that queue `number` belongs to, and which of its inputs it is; that of the first flow if it has one for
    /// each.
    pub fn place(&self, number: u32) -> Option<(usize, usize)> {
        self.blocks.iter().enumerate().find_map(|(at, block)| match &block.inputs {
            SchedInputs::PerFlow(queue) => (*queue == number).then_some((at, 0)),
            SchedInputs::Each(inputs) => {
                let input = inputs.iter().position(|i| *i == SchedInput::Queue(number))?;
                Some((at, input))
            }
        })
    }

    /// The block that a block feeds, and which of its inputs it is.
    pub fn parent(&self, block: usize) -> Option<(usize, usize)> {
        self.blocks.iter().enumerate().find_map(|(at, parent)| match &parent.inputs {
            SchedInputs::PerFlow(_) => None,
            SchedInputs::Each(inputs) => {
                let input = inputs.iter().position(|i| *i == SchedInput::Block(block as u32))?;
                Some((at, input))
            }
        })
    }

    /// The nearest block that the packets of queue `number` pass and that is wanted, and which of its inputs they come by.
    pub fn nearest(&self, number: u32, wanted: impl Fn(&Policy) -> bool) -> Option<(usize, usize)> {
        let mut place = self.place(number);
        while let Some((block, _)) = place
            && !wanted(&self.blocks[block].policy)
        {
            place = self.parent(block);
        }
        place
    }

    /// Whether it has a queue for each flow.
    pub fn per_flow(&self) -> bool {
        self.blocks.iter().any(|b| matches!(b.inputs, SchedInputs::PerFlow(_)))
    }
}

/// Which of the events that wait is handled next.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct EventSchedule {
    pub schedule: Schedule,
    /// for each event the queue in which it waits; `None`: it never waits
    pub queues: Vec<Option<u32>>,
    /// the queue that stands for the timers that are due; `None`: they go before everything else
    pub timers: Option<u32>,
}

/// Several inputs, and how one stream of packets is made of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct SchedBlock {
    pub policy: Policy,
    pub inputs: SchedInputs,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Policy {
    StrictPriority,
    /// the quantum of each input, or of every flow; type `Bytes`, `U64` for events; known when the stack starts
    Drr(Vec<Expr>),
    /// the rate of each input, or of every flow; type `Rate`, known when the stack starts
    RateLimiter(Vec<Expr>),
}

impl Policy {
    /// Its name in the language.
    pub fn name(&self) -> &'static str {
        match self {
            Policy::StrictPriority => "strict_priority",
            Policy::Drr(_) => "drr",
            Policy::RateLimiter(_) => "rate_limiter",
        }
    }

    /// The quanta or rates.
    pub fn shares(&self) -> &[Expr] {
        match self {
            Policy::StrictPriority => &[],
            Policy::Drr(shares) | Policy::RateLimiter(shares) => shares,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum SchedInputs {
    Each(Vec<SchedInput>),
    /// a queue for each context, and one for what is issued on none, which go by one number
    PerFlow(u32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum SchedInput {
    Queue(u32),
    Block(u32),
}
