// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sites, and what is decided of them: which chains, packets and contexts are where.

use std::collections::BTreeMap;

use carrick_ir::{BpId, CtxId, EventId, EventKind, FuncId, Loc};

/// A place of a target where code can run.
#[derive(Debug, Clone)]
pub struct Site {
    /// as the target file has it
    pub name: String,
    /// what it is, as part of a sentence
    pub description: String,
    /// the kinds of event that arise there; flow events run where they are raised
    pub begins: Vec<EventKind>,
    /// the instructions that can be issued there, by their names in the language; `None`: all
    pub instructions: Option<Vec<String>>,
    /// whether it hands out memory for units of data
    pub memory: bool,
    /// whether the bytes of units are at hand there, to make packets of
    pub payload: bool,
    /// whether events can wait there for their turn
    pub waits: bool,
    /// the most blueprints that one event can issue there
    pub blueprints: Option<u32>,
    /// the most statements that one run of a chain can come by there
    pub statements: Option<u32>,
}

/// One reason, and the place of the program that it comes from; line 0 if from none in particular.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Why {
    /// a clause, without a full stop
    pub text: String,
    /// where
    pub loc: Loc,
}

/// Where one chain runs, for one origin of its event.
#[derive(Debug, Clone)]
pub struct Placed {
    /// whose chain it is
    pub event: EventId,
    /// whether it is what happens without a context
    pub absent: bool,
    /// the processors, in order
    pub processors: Vec<FuncId>,
    /// the site, by its number
    pub site: usize,
    /// where its event arises; for a flow event the site that raises it
    pub origin: usize,
    /// what keeps it from running where its event arises; empty if it does
    pub obstacles: Vec<Why>,
    /// the packets that it issues, and where they are made
    pub packets: Vec<Made>,
}

/// Where everything runs and lies.
#[derive(Debug, Clone)]
pub struct Placement {
    /// events in their order; a flow event once for each site that raises it
    pub chains: Vec<Placed>,
    /// the contexts in their order
    pub contexts: Vec<Held>,
}

/// A `pkt_gen` of a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    /// the function that issues it
    pub function: FuncId,
    /// of this blueprint
    pub blueprint: BpId,
    /// whether there can be payload in it
    pub payload: bool,
    /// the site where its packets are made, by its number
    pub site: usize,
    /// where it is issued
    pub loc: Loc,
}

/// A context, and who works on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// which
    pub context: CtxId,
    /// the sites whose chains take it, by number, and the fields that they use, in the order of declaration
    pub sites: BTreeMap<usize, Vec<u32>>,
}
