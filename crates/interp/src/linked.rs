// SPDX-License-Identifier: MIT OR Apache-2.0
//! A program in its executable form, and where in memory its parts lie.

use std::sync::Arc;

use carrick_ir::samples::sampled_fields;
use carrick_ir::{KeyPart, Program, Ty};

use crate::api::RecordSet;
use crate::code::{Ex, Func, Init};
use crate::layout::Layout;
use crate::wire::{Blueprint, NetCells};

/// Cells at the memory's beginning, for what is evaluated outside functions.
pub(crate) const HEADER_LEN_CELL: u32 = 0;
pub(crate) const PAYLOAD_LEN_CELL: u32 = 1;
pub(crate) const PREV_PAYLOAD_LEN_CELL: u32 = 2;
/// Where the blueprint that is read or built lies.
pub(crate) const WORK: u32 = 3;

/// Most entries of the blueprint queue.
pub(crate) const QUEUE: u32 = 1024;

/// A program in its executable form, for one configuration.
#[derive(Debug)]
pub(crate) struct Linked {
    pub program: Arc<Program>,
    pub layout: Layout,
    pub funcs: Vec<Func>,
    pub chains: Vec<Option<Chain>>,
    pub event_inits: Vec<Init>,
    pub contexts: Vec<CtxCode>,
    pub calls: Vec<CallCode>,
    pub blueprints: Vec<Blueprint>,
    pub rules: Vec<RuleCode>,
    pub coalescing: Vec<CoalesceCode>,
    /// the rules of each `pkt_gen`
    pub rule_lists: Vec<Vec<usize>>,
    /// what the network header's fields are at first
    pub net_init: Init,
    pub net: NetCells,
    pub map: Map,
    pub mtu: u32,
    /// a value for each of the program's parameters
    pub params: Vec<u64>,
    pub address: u128,
    /// bytes of the network header that is sent
    pub net_len: usize,
    /// bytes of the longest one
    pub net_longest: u32,
    pub max_blueprints: u32,
    /// the quanta and rates of each scheduling block, for packets and for events
    pub shares: Vec<Vec<u64>>,
    pub event_shares: Vec<Vec<u64>>,
    /// queues that a block with one for each flow has, and how many instances there can be of the contexts before each
    pub flows: u32,
    pub flow_base: Vec<u32>,
    /// of a program in the network: how many packets it keeps
    pub packets: Option<u32>,
}

/// Where in memory things lie that have one place.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Map {
    /// the packet before, of the blueprint that is being segmented
    pub prev: u32,
    /// that blueprint
    pub given: u32,
    /// the received packet's network header
    pub net: u32,
    /// the event whose chain runs; scratchpads and frames follow
    pub stack: u32,
    pub scratch: u32,
    pub frames: u32,
    pub end: u32,
}

/// What happens for an event.
#[derive(Debug)]
pub(crate) struct Chain {
    pub context: Option<usize>,
    /// the id by which it is found if it has not the event's; empty: there is none
    pub fallback: Vec<KeyPart>,
    pub present: Vec<Processor>,
    pub absent: Option<Vec<Processor>>,
    pub scratch: Vec<(u32, Init)>,
    /// of the context
    pub invariants: Vec<Processor>,
    /// the contexts that are found by parts of the id of its own one, and which parts these are
    pub shared: Vec<(usize, Vec<usize>)>,
    pub globals: Vec<usize>,
    /// of the shared contexts, and of the global ones
    pub other_invariants: Vec<Processor>,
}

#[derive(Debug)]
pub(crate) struct Processor {
    pub func: usize,
    pub args: Vec<Given>,
}

/// What a processor's parameter is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Given {
    Event,
    Context,
    /// the only instance of a global context
    Global(usize),
    /// of the chain's shared contexts
    Shared(usize),
    /// at this address
    Fixed(u32),
}

#[derive(Debug)]
pub(crate) struct CtxCode {
    /// of a global context: what its instance is at first
    pub global: Option<Init>,
    pub capacity: u32,
    pub tx_capacity: usize,
    pub rx_capacity: usize,
    /// bytes that an RX unit grows to, and that all of them grow by
    pub rx_most: usize,
    pub rx_pool: u64,
    /// out-of-order ranges that an RX unit keeps
    pub rx_ranges: usize,
}

#[derive(Debug)]
pub(crate) struct CallCode {
    pub event: usize,
    pub target: Target,
    /// cell and type of each argument
    pub args: Vec<(u32, Ty)>,
    /// the cell of the `addr_t` field
    pub data: Option<u32>,
}

#[derive(Debug)]
pub(crate) enum Target {
    At(Vec<Ex>),
    /// for the context whose handle the request has
    On,
    Nowhere,
}

/// A segmentation rule.
#[derive(Debug)]
pub(crate) struct RuleCode {
    pub bp: usize,
    pub cell: u32,
    pub ty: Ty,
    pub first: Ex,
    pub mid: Ex,
    pub last: Ex,
}

/// A coalescing rule.
#[derive(Debug)]
pub(crate) struct CoalesceCode {
    pub bp: usize,
    /// over the blueprint as given and the one that waits
    pub when: Ex,
    /// cells that the one that waits takes over; none: it is replaced
    pub takes: Vec<u32>,
}

impl Linked {
    /// The context type of which a field is sampled, and the cell of that field in an instance.
    pub(crate) fn sampled(&self, wanted: RecordSet) -> Option<(usize, usize)> {
        let (ctx, number) = wanted.sampled()?;
        let (ctx, number) = (ctx as usize, number as usize);
        let def = self.program.contexts.get(ctx)?;
        let field = sampled_fields(&self.program, def).into_iter().nth(number)?;
        let mut offsets = &self.layout.contexts[ctx].fields;
        let mut cell = 0;
        for (part, place) in field.path.iter().zip(&field.places) {
            cell += offsets[*place] as usize;
            if let Ty::Struct(id) = part.ty {
                offsets = &self.layout.struct_fields(id).fields;
            }
        }
        Some((ctx, cell))
    }
}
