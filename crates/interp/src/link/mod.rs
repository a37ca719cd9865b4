// SPDX-License-Identifier: MIT OR Apache-2.0
//! From the IR to the executable form.

mod expr;
mod func;
mod init;
mod place;
mod question;
mod wire;

use std::iter::Enumerate;
use std::ops::RangeInclusive;
use std::sync::Arc;

use carrick_ir::{
    CallTarget, CtxId, EVENT_QUANTUM, EventKind, FuncId, KeyPart, LocalId, Policy, Program, QUANTUM,
    Schedule, ScratchId, TOP_RATE, Ty,
};

use crate::api::Config;
use crate::coalesce::CoalesceCode;
use crate::code::*;
use crate::debug::{Site, sites};
use crate::layout::*;
pub(crate) use wire::{Blueprint, ElementsCode, FieldKind, NetCells, OptCode, OptionList, WireField};

/// Cells at the memory's beginning, for what is evaluated outside functions.
pub(crate) const HEADER_LEN_CELL: u32 = 0;
pub(crate) const PAYLOAD_LEN_CELL: u32 = 1;
pub(crate) const PREV_PAYLOAD_LEN_CELL: u32 = 2;
/// Where the blueprint that is read or built lies.
pub(crate) const WORK: u32 = 3;

/// Most entries of the blueprint queue.
pub(crate) const QUEUE: u32 = 1024;
/// Packets that are kept at most.
const PACKETS_MAX: u64 = 65_536;
/// Cells of all contexts together at most.
const MAX_CONTEXT_CELLS: u64 = 1 << 30;

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

/// What linking needs to know everywhere.
pub(crate) struct Linker<'a> {
    pub program: &'a Program,
    pub layout: &'a Layout,
    pub params: &'a [u64],
    pub mtu: u32,
    pub address: u128,
    pub map: Map,
    pub rule_lists: Vec<Vec<usize>>,
    /// of a core that stops at statements: which come next
    pub sites: Option<Enumerate<std::vec::IntoIter<Site>>>,
}

/// What the names of an expression outside functions stand for.
#[derive(Clone, Copy)]
pub(crate) enum Outside {
    None,
    /// over the fields of the blueprint in [`WORK`]
    Header(usize),
    /// over those of the blueprint as given and of the packet before
    Rule(usize),
    /// over the fields of the event at the stack's beginning
    Call(usize),
}

impl Linked {
    pub(crate) fn new(program: Arc<Program>, config: &Config, debugged: bool) -> Result<Linked, String> {
        let params = parameters(&program, config)?;
        let layout = Layout::new(&program)?;
        let map = map(&program, &layout);
        let mut linker = Linker {
            program: &program,
            layout: &layout,
            params: &params,
            mtu: config.mtu,
            address: config.address,
            map,
            rule_lists: Vec::new(),
            sites: debugged.then(|| sites(&program).into_iter().enumerate()),
        };
        let funcs = linker.functions()?;
        let chains = linker.chains()?;
        let contexts = linker.contexts()?;
        let calls = linker.calls()?;
        let blueprints = linker.blueprints()?;
        let rules = linker.rules()?;
        let coalescing = linker.coalescing()?;
        let event_inits = linker.event_inits()?;
        let shares = linker.shares(&program.schedule, QUANTUM)?;
        let event_shares = match &program.event_schedule {
            Some(events) => linker.shares(&events.schedule, EVENT_QUANTUM)?,
            None => Vec::new(),
        };
        let (flows, flow_base) = flows(&contexts);
        let net_init = linker.net_init()?;
        let net = linker.net_cells();
        let packets = linker.packets()?;
        let rule_lists = std::mem::take(&mut linker.rule_lists);
        let mut map = linker.map;
        map.end = map.frames + deepest(&program, &funcs);
        let size = |(i, c): (usize, &CtxCode)| u64::from(layout.contexts[i].size) * u64::from(c.capacity);
        if contexts.iter().enumerate().map(size).sum::<u64>() > MAX_CONTEXT_CELLS {
            return Err("the contexts take too much room".to_owned());
        }
        if program.max_blueprints > QUEUE {
            return Err(format!("one event can issue more than the {QUEUE} blueprints that a core holds"));
        }
        let (mtu, max_blueprints) = (config.mtu, program.max_blueprints);
        Ok(Linked {
            layout,
            funcs,
            chains,
            event_inits,
            contexts,
            calls,
            blueprints,
            rules,
            coalescing,
            rule_lists,
            net_init,
            net,
            map,
            mtu,
            params,
            address: config.address,
            net_len: program.net_header.layer.header_len() as usize,
            max_blueprints,
            shares,
            event_shares,
            flows,
            flow_base,
            packets,
            program,
        })
    }
}

/// The instances of all contexts that are not global stand in one row, behind what belongs to none.
fn flows(contexts: &[CtxCode]) -> (u32, Vec<u32>) {
    let mut all = 0;
    let base = contexts.iter().map(|c| {
        let before = all;
        all += if c.global.is_some() { 0 } else { c.capacity };
        before
    });
    let base = base.collect();
    (1 + all, base)
}

fn parameters(program: &Program, config: &Config) -> Result<Vec<u64>, String> {
    if config.params.is_empty() {
        return Ok(program.params.iter().map(|p| p.default).collect());
    }
    if config.params.len() != program.params.len() {
        return Err(format!("{} parameters given, {} declared", config.params.len(), program.params.len()));
    }
    for (def, &value) in program.params.iter().zip(&config.params) {
        let below = |a, b| carrick_ir::arith::less(&def.ty, a, b);
        let fits = carrick_ir::arith::canonical(&def.ty, value) == value;
        if !fits || below(value, def.lo) || below(def.hi, value) {
            return Err(format!("parameter `{}` is outside its range", def.name));
        }
    }
    match program.unmet(&config.params) {
        Some(unmet) => Err(format!("the parameters do not meet `{}`", unmet.text)),
        None => Ok(config.params.clone()),
    }
}

/// Everything but the end, which only the functions tell; `frames` moves up with the scratchpads.
fn map(program: &Program, layout: &Layout) -> Map {
    let bp = layout.blueprints.iter().map(|b| b.size).max().unwrap_or(0);
    let event = layout.events.iter().map(|e| e.size).max().unwrap_or(0);
    let prev = WORK + bp;
    let given = prev + bp;
    let net = given + bp;
    let stack = net + layout.net;
    let scratch = stack + event;
    let pads = |chain: &carrick_ir::Chain| {
        chain.scratchpads.iter().map(|s| layout.scratch[s.index()].size).sum::<u32>()
    };
    let frames = scratch + program.chains.iter().flatten().map(pads).max().unwrap_or(0);
    Map { prev, given, net, stack, scratch, frames, end: frames }
}

/// Cells that the frames of the deepest nest of calls take.
fn deepest(program: &Program, funcs: &[Func]) -> u32 {
    let mut depth: Vec<u32> = Vec::with_capacity(funcs.len());
    for (func, def) in funcs.iter().zip(&program.functions) {
        let mut below = 0;
        func::callees(&def.body, &mut |callee: FuncId| {
            below = below.max(depth.get(callee.index()).copied().unwrap_or(0));
        });
        depth.push(func.frame + below);
    }
    depth.into_iter().max().unwrap_or(0)
}

impl Linker<'_> {
    fn chains(&self) -> Result<Vec<Option<Chain>>, String> {
        self.program.chains.iter().map(|c| c.as_ref().map(|c| self.chain(c)).transpose()).collect()
    }

    fn chain(&self, chain: &carrick_ir::Chain) -> Result<Chain, String> {
        let mut at = self.map.scratch;
        let mut scratch = Vec::new();
        let mut pads = Vec::new();
        for &pad in &chain.scratchpads {
            let init = self.init(&Ty::Scratch(pad))?;
            pads.push((pad, at));
            let size = init.size;
            scratch.push((at, init));
            at += size;
        }
        let invariants = |ctx: Option<CtxId>| {
            let claims = |f: &FuncId| {
                let local = self.program.functions[f.index()].locals.first();
                ctx.is_some_and(|ctx| local.is_some_and(|l| l.ty == Ty::Context(ctx)))
            };
            let all: Vec<FuncId> = self.program.invariants.iter().copied().filter(claims).collect();
            self.processors(&all, &pads, chain)
        };
        let mut other_invariants = Vec::new();
        for other in chain.shared.iter().map(|s| s.context).chain(chain.globals.iter().copied()) {
            other_invariants.extend(invariants(Some(other))?);
        }
        let shared = chain.shared.iter();
        let shared = shared.map(|s| {
            let parts = s.parts.iter().flat_map(|part| self.cells_of_key(chain, *part));
            (s.context.index(), parts.map(|cell| cell as usize).collect())
        });
        let absent = chain.absent.as_ref().map(|a| self.processors(a, &pads, chain)).transpose()?;
        Ok(Chain {
            context: chain.context.map(|c| c.index()),
            fallback: self.fallback(chain),
            present: self.processors(&chain.present, &pads, chain)?,
            absent,
            scratch,
            invariants: invariants(chain.context)?,
            shared: shared.collect(),
            globals: chain.globals.iter().map(|c| c.index()).collect(),
            other_invariants,
        })
    }

    /// The cells of a part of the id of a chain's context.
    fn cells_of_key(&self, chain: &carrick_ir::Chain, part: u32) -> std::ops::Range<u32> {
        let id = chain.context.map(|c| self.program.contexts[c.index()].id);
        id.map_or(0..0, |id| self.layout.part_of_id(self.program, id, part as usize))
    }

    /// The second lookup of a chain, cell by cell.
    fn fallback(&self, chain: &carrick_ir::Chain) -> Vec<KeyPart> {
        let cells = (0..).zip(&chain.fallback).flat_map(|(at, part)| match part {
            KeyPart::Same(part) => self.cells_of_key(chain, *part).map(KeyPart::Same).collect::<Vec<_>>(),
            constant => self.cells_of_key(chain, at).map(|_| *constant).collect(),
        });
        cells.collect()
    }

    fn processors(
        &self,
        funcs: &[FuncId],
        pads: &[(ScratchId, u32)],
        chain: &carrick_ir::Chain,
    ) -> Result<Vec<Processor>, String> {
        let mut out = Vec::new();
        for &func in funcs {
            let def = &self.program.functions[func.index()];
            let given = |param: u32| match &def.locals[LocalId(param).index()].ty {
                Ty::Event(_) => Ok(Given::Event),
                Ty::Context(c) if self.program.contexts[c.index()].global => Ok(Given::Global(c.index())),
                Ty::Context(c) => match chain.shared.iter().position(|s| s.context == *c) {
                    Some(at) => Ok(Given::Shared(at)),
                    None => Ok(Given::Context),
                },
                Ty::Scratch(s) => match pads.iter().find(|(pad, _)| pad == s) {
                    Some((_, at)) => Ok(Given::Fixed(*at)),
                    None => Err(format!("`{}` takes a scratchpad that its chain does not have", def.name)),
                },
                _ => Err(format!("`{}` is not an event processor", def.name)),
            };
            let args = (0..def.params).map(given).collect::<Result<_, _>>()?;
            out.push(Processor { func: func.index(), args });
        }
        Ok(out)
    }

    fn contexts(&self) -> Result<Vec<CtxCode>, String> {
        let mut out = Vec::new();
        for (index, def) in self.program.contexts.iter().enumerate() {
            let number = |e: &carrick_ir::Expr| match self.expr(e, Outside::None)? {
                Ex::Lit(n) => Ok(n),
                _ => Err(format!("a capacity of `{}` is not a constant", def.name)),
            };
            let octets = |e: &Option<carrick_ir::Expr>| match e {
                None => Ok(0),
                Some(e) => match number(e)? {
                    n @ 0..=0x1_0000_0000 => Ok(n.max(1).next_power_of_two() as usize),
                    _ => Err(format!("the data units of `{}` are too large", def.name)),
                },
            };
            let capacity = number(&def.capacity)?;
            if capacity > 1 << 24 {
                return Err(format!("`{}` has room for too many instances", def.name));
            }
            let (tx_capacity, rx_capacity) = (octets(&def.tx_capacity)?, octets(&def.rx_capacity)?);
            let ty = Ty::Context(CtxId(index as u32));
            let global = def.global.then(|| self.init(&ty)).transpose()?;
            let growth = def.rx_growth.as_ref();
            let rx_most = octets(&growth.map(|g| g.most.clone()))?.max(rx_capacity);
            let rx_pool = growth.map_or(Ok(0), |g| number(&g.pool))?;
            let (capacity, rx_ranges) = (capacity as u32, carrick_ir::units::ranges(self.program) as usize);
            out.push(CtxCode { global, capacity, tx_capacity, rx_capacity, rx_most, rx_pool, rx_ranges });
        }
        Ok(out)
    }

    /// How many packets are kept, if the program runs in the network.
    fn packets(&self) -> Result<Option<u32>, String> {
        let Some(packets) = &self.program.in_network else { return Ok(None) };
        match self.expr(packets, Outside::None)? {
            Ex::Lit(n @ 0..=PACKETS_MAX) => Ok(Some(n as u32)),
            _ => Err(format!("a program in the network keeps at most {PACKETS_MAX} packets")),
        }
    }

    fn calls(&self) -> Result<Vec<CallCode>, String> {
        let mut out = Vec::new();
        for call in self.program.interface.iter().flat_map(|i| &i.calls) {
            let event = call.event.index();
            let offsets = &self.layout.events[event].fields;
            let fields = || offsets.iter().copied().zip(self.program.events[event].fields.iter());

            let width = |ty: &Ty| match ty {
                Ty::Enum(id) => self.program.enums[id.index()].repr.clone(),
                ty => ty.clone(),
            };
            let args = fields().flat_map(|(at, f)| match &f.ty {
                ty @ Ty::Id(_) => (at..at + self.layout.size(ty)).map(|cell| (cell, Ty::U64)).collect(),
                ty if ty.is_scalar() => vec![(at, width(ty))],
                _ => Vec::new(),
            });
            let args = args.collect();
            let data = fields().find(|(_, f)| f.ty == Ty::Addr).map(|(at, _)| at);
            let target = match &call.target {
                CallTarget::At { parts, .. } => {
                    let cells = parts.iter().map(|e| self.cells(e, Outside::Call(event)));
                    Target::At(cells.collect::<Result<Vec<_>, _>>()?.concat())
                }
                CallTarget::On(_) => Target::On,
                CallTarget::Nowhere => Target::Nowhere,
            };
            if self.program.events[event].kind != EventKind::App {
                return Err(format!("the call `{}` does not lead to an app event", call.name));
            }
            out.push(CallCode { event, target, args, data });
        }
        Ok(out)
    }

    /// What each block gives its inputs, within what it can.
    fn shares(&self, schedule: &Schedule, quantum: RangeInclusive<u64>) -> Result<Vec<Vec<u64>>, String> {
        let share = |policy: &Policy, e: &carrick_ir::Expr| match self.expr(e, Outside::None)? {
            Ex::Lit(n) if matches!(policy, Policy::Drr(_)) => Ok(n.clamp(*quantum.start(), *quantum.end())),
            Ex::Lit(n) => Ok(n.min(TOP_RATE)),
            _ => Err("a quantum or a rate is not a constant".to_owned()),
        };
        let of = |policy: &Policy| policy.shares().iter().map(|e| share(policy, e)).collect();
        schedule.blocks.iter().map(|block| of(&block.policy)).collect()
    }

    fn coalescing(&self) -> Result<Vec<CoalesceCode>, String> {
        let rules = self.program.coalescing.iter().map(|rule| {
            let bp = rule.blueprint.index();
            let first = self.layout.blueprints[bp].fields;
            let takes = rule.takes.iter().map(|field| first + field).collect();
            Ok(CoalesceCode { bp, when: self.expr(&rule.when, Outside::Rule(bp))?, takes })
        });
        rules.collect()
    }

    fn rules(&self) -> Result<Vec<RuleCode>, String> {
        let mut out = Vec::new();
        for rule in &self.program.seg_rules {
            let bp = rule.blueprint.index();
            let value = |e| self.expr(e, Outside::Rule(bp));
            let field = rule.field as usize;
            out.push(RuleCode {
                bp,
                cell: self.layout.blueprints[bp].fields + rule.field,
                ty: self.program.blueprints[bp].fields[field].ty.clone(),
                first: value(&rule.first)?,
                mid: value(&rule.mid)?,
                last: value(&rule.last)?,
            });
        }
        Ok(out)
    }
}
