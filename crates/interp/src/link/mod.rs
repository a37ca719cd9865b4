// SPDX-License-Identifier: MIT OR Apache-2.0
//! From the IR to the executable form.

mod expr;
mod func;
mod init;
mod linker;
mod place;
mod question;
mod wire;

use std::ops::RangeInclusive;
use std::sync::Arc;

use carrick_ir::{
    CallTarget, CtxId, EVENT_QUANTUM, EventKind, FuncId, KeyPart, LocalId, Policy, Program, QUANTUM,
    Schedule, ScratchId, StmtKind, TOP_RATE, Ty, walk,
};

use crate::api::Config;
use crate::code::*;
use crate::debug::sites;
use crate::layout::*;
use crate::linked::*;
use linker::{Linker, Outside};

/// Packets that are kept at most.
const PACKETS_MAX: u64 = 65_536;
/// Cells of all contexts together at most.
const MAX_CONTEXT_CELLS: u64 = 1 << 30;

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
        let contexts = linker.contexts(config.instances)?;
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
            net_longest: program.net_header.longest(),
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
        Some(unmet) => Err(format!("the parameters do not meet `{}`", unmet.text.raw())),
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
        walk::statements(&def.body, &mut |stmt| {
            if let StmtKind::Call { func, .. } = &stmt.kind {
                below = below.max(depth.get(func.index()).copied().unwrap_or(0));
            }
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

    /// `most`: instances of each, if the program allows more; 0: no fewer.
    fn contexts(&self, most: u32) -> Result<Vec<CtxCode>, String> {
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
            let capacity = if most == 0 { capacity as u32 } else { most.min(capacity as u32) };
            let rx_ranges = carrick_ir::units::ranges(self.program) as usize;
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
