// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a core and chains that run elsewhere tell each other.

use std::fmt;

use carrick_ir::{BpId, FuncId};

/// Random numbers that a chain is given: it draws no more.
pub const RANDOM_NUMBERS: usize = 8;

/// What runs chains in place of the interpreter.
pub trait Chains: fmt::Debug {
    /// Returns the blueprints as which chains read the received packet.
    fn headers(&self) -> &[BpId];

    /// Runs a chain.
    fn run(&mut self, given: &ChainInput<'_>) -> ChainOutput;
}

/// What a chain is given. Values are cells of the interpreter's layout.
#[derive(Debug)]
pub struct ChainInput<'a> {
    /// number of the event
    pub event: usize,
    /// number of the timer that fires, if it is the event of one
    pub timer: Option<u32>,
    /// its cells
    pub fields: &'a [u64],
    /// parts of the id of the context that the event is for; `None` if it names none
    pub id: Option<Vec<u64>>,
    /// there is such a context
    pub found: bool,
    /// its handle, or 0
    pub handle: u64,
    /// nanoseconds
    pub now: u64,
    /// bytes of a packet without its network header
    pub mtu: u64,
    /// the core's
    pub address: u128,
    /// a value for each of the program's parameters
    pub params: &'a [u64],
    /// bytes that the context's TX unit would take
    pub tx_room: u64,
    /// bytes that its RX unit has space for, with those that it holds
    pub rx_size: u64,
    /// what `random()` gives next
    pub random: [u64; RANDOM_NUMBERS],
    /// the received packet as each of [`Chains::headers`]
    pub headers: Vec<Vec<u64>>,
    /// another instance of each context can be made
    pub space: Vec<bool>,
}

/// What a chain has done.
#[derive(Debug, Default)]
pub struct ChainOutput {
    /// the cells of its context, from the id on
    pub context: Option<Vec<u64>>,
    /// numbers drawn
    pub drawn: u32,
    /// in order
    pub issued: Vec<OutsideInstr>,
}

/// An instruction that a chain issued: a function of the program that issues it, and what that is given.
#[derive(Debug)]
pub struct OutsideInstr {
    /// issues the instruction, and nothing else
    pub function: FuncId,
    /// one for each of its parameters
    pub args: Vec<OutsideArg>,
}

/// An argument of such a function.
#[derive(Debug)]
pub enum OutsideArg {
    /// the chain's context
    Own,
    /// a value
    Cells(Vec<u64>),
}

/// Chains that run elsewhere, and where in memory their values are put.
#[derive(Debug)]
pub(crate) struct Outside {
    pub chains: Box<dyn Chains>,
    /// the timer that fires next
    pub timer: Option<u32>,
    pub values: usize,
}
