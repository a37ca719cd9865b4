// SPDX-License-Identifier: MIT OR Apache-2.0
//! Chains that run elsewhere, in a circuit for example. The core hands over what a chain is given, takes back the context, and
//! carries out the instructions that the chain issued.

use std::sync::Arc;

use carrick_ir::{BpId, Program, Ty};

use crate::api::Config;
use crate::core::Core;
use crate::handover::{ChainInput, Chains, Outside, OutsideArg, OutsideInstr};
use crate::layout::CTX_ID;
use crate::linked::Linked;
use crate::machine::Machine;

impl Core {
    /// Makes a core whose chains run elsewhere.
    ///
    /// # Errors
    /// As [`Core::new`].
    pub fn with_chains(
        program: Arc<Program>,
        config: &Config,
        chains: Box<dyn Chains>,
    ) -> Result<Core, String> {
        let mut core = Core::new(program, config)?;
        let values = core.machine.mem.len();
        let layout = &core.linked.layout;
        let contexts = layout.contexts.iter().map(|c| c.size).sum::<u32>();
        let others = layout.events.iter().chain(&layout.scratch).map(|e| e.size).sum::<u32>();
        let headers = layout.blueprints.iter().map(|b| b.size).sum::<u32>();
        core.machine.mem.resize(values + (contexts + others + headers) as usize, 0);
        core.machine.outside = Some(Outside { chains, timer: None, values });
        Ok(core)
    }
}

impl Machine {
    /// Runs the chain of the event at the stack's beginning on the context at `at`; false if chains run here.
    pub(crate) fn run_outside(&mut self, p: &Linked, event: usize, at: Option<usize>) -> bool {
        let Some(mut outside) = self.outside.take() else { return false };
        let headers =
            outside.chains.headers().iter().map(|bp| self.header_as(p, *bp, outside.values)).collect();
        let handle = at.map_or(0, |at| self.mem[at]);
        let mut numbers = self.random.clone();
        let (stack, size) = (p.map.stack as usize, p.layout.events[event].size as usize);
        let spaces = self.instances.iter();
        let given = ChainInput {
            event,
            timer: outside.timer.take(),
            fields: &self.mem[stack..stack + size],
            id: self.id_of(p, event, at),
            found: at.is_some(),
            handle,
            now: self.now,
            mtu: u64::from(p.mtu.saturating_sub(p.net_longest)),
            address: p.address,
            params: &p.params,
            tx_room: self.tx_room(handle),
            rx_size: self.rx_size(handle),
            random: std::array::from_fn(|_| u64::from(numbers.next())),
            headers,
            space: spaces.map(|instances| instances.has_free_slot()).collect(),
        };
        let done = outside.chains.run(&given);
        if let (Some(at), Some(cells)) = (at, &done.context) {
            let first = at + CTX_ID as usize;
            self.mem[first..first + cells.len()].copy_from_slice(cells);
        }
        (0..done.drawn).for_each(|_| _ = self.random.next());
        done.issued.iter().for_each(|instr| self.carry_out(p, instr, at, outside.values));
        self.outside = Some(outside);
        true
    }

    /// The parts of the id of the context that an event is for, unless it has a handle that is stale.
    fn id_of(&self, p: &Linked, event: usize, at: Option<usize>) -> Option<Vec<u64>> {
        let ctx = self.chain_context(p, event)?;
        let ids = p.layout.size(&Ty::Id(p.program.contexts[ctx].id)) as usize;
        if let Some(at) = at {
            let first = at + CTX_ID as usize;
            return Some(self.mem[first..first + ids].to_vec());
        }
        let named = p.program.events[event].id == Some(p.program.contexts[ctx].id);
        if !named || self.by_id(p, event, ctx).is_some() {
            return None;
        }
        let first = (p.map.stack + crate::layout::EVENT_ID) as usize;
        Some(self.mem[first..first + ids].to_vec())
    }

    /// The cells of the received packet, read as a blueprint; zeros if it is none.
    fn header_as(&mut self, p: &Linked, bp: BpId, at: usize) -> Vec<u64> {
        let size = p.layout.blueprints[bp.index()].size as usize;
        self.mem[at..at + size].fill(0);
        let rest = self.packet_rest.clone();
        if !self.packet.is_empty() && self.extract(p, bp.index(), at).is_ok() {
            let (net, fields) = (p.map.net as usize, p.layout.net as usize);
            self.mem.copy_within(net..net + fields, at);
        }
        self.packet_rest = rest;
        self.mem[at..at + size].to_vec()
    }

    /// Carries out an instruction.
    fn carry_out(&mut self, p: &Linked, instr: &OutsideInstr, at: Option<usize>, mut values: usize) {
        let (func, def) = (&p.funcs[instr.function.index()], &p.program.functions[instr.function.index()]);
        let fp = p.map.frames as usize;
        for ((arg, cell), local) in instr.args.iter().zip(&func.params).zip(&def.locals) {
            let to = fp + *cell as usize;
            match arg {
                OutsideArg::Own => self.mem[to] = at.unwrap_or(0) as u64,
                OutsideArg::Cells(cells) if local.ty.is_by_ref() => {
                    self.mem[values..values + cells.len()].copy_from_slice(cells);
                    self.mem[to] = values as u64;
                    values += cells.len();
                }
                OutsideArg::Cells(cells) => self.mem[to..to + cells.len()].copy_from_slice(cells),
            }
        }
        self.run_func(p, func, fp);
    }
}
