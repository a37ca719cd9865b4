// SPDX-License-Identifier: MIT OR Apache-2.0
//! Stopping at statements. A core that is made for it tells a debugger before each statement; others know nothing of it, and
//! have none of this in their code.

mod sites;

use std::sync::Arc;

use carrick_ir::{EventId, FuncId, Function, Program, Ty};

use crate::api::Config;
use crate::code::At;
use crate::core::Core;
use crate::exec::Flow;
use crate::layout::CTX_ID;
use crate::linked::Linked;
use crate::machine::{Debug, Machine};
pub use crate::machine::{Debugger, Hook, Stop};
pub use sites::{Site, sites};

/// A function that runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame {
    /// the statement that is about to run or, of a caller, that runs: its number among the [`sites`]
    pub site: usize,
    /// which function
    pub func: FuncId,
    fp: usize,
}

/// A context that lives in the core that has stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instance {
    /// the number of its type
    pub ctx: usize,
    /// 0 only of none
    pub handle: u64,
    /// the parts of its id
    pub id: Vec<u64>,
    /// its fields, and the deadlines of its timers
    pub words: Vec<u64>,
}

impl Core {
    /// Makes a core that tells `hook` of every statement; `number` is what the debugger knows it by.
    ///
    /// # Errors
    /// As [`Core::new`].
    pub fn debugged(
        program: Arc<Program>,
        config: &Config,
        number: usize,
        hook: Hook,
    ) -> Result<Core, String> {
        let sites = sites(&program).into();
        let mut core = Core::make(program, config, true)?;
        core.machine.debug = Some(Box::new(Debug { hook, core: number, sites, running: Vec::new() }));
        Ok(core)
    }
}

impl Machine {
    /// Runs a statement of a core that has a debugger.
    pub(crate) fn at(&mut self, p: &Linked, at: &At, fp: usize, sp: usize) -> Flow {
        if let Some(debug) = &mut self.debug {
            debug.running.push((at.site, fp));
            if at.head {
                self.stop(p);
            }
        }
        let flow = self.block(p, &at.code, fp, sp);
        if let Some(debug) = &mut self.debug {
            debug.running.pop();
        }
        flow
    }

    fn stop(&mut self, p: &Linked) {
        // What the debugger asks runs without one.
        let Some(debug) = self.debug.take() else { return };
        let hook = debug.hook.clone();
        hook.borrow_mut().reached(&mut Stop { linked: p, machine: self, debug: &debug });
        self.debug = Some(debug);
    }
}

impl Stop<'_> {
    /// Which core this is.
    pub fn core(&self) -> usize {
        self.debug.core
    }

    /// Virtual nanoseconds.
    pub fn now(&self) -> u64 {
        self.machine.now
    }

    /// The number of the statement among the [`sites`].
    pub fn site(&self) -> usize {
        self.debug.running.last().map_or(0, |(site, _)| *site as usize)
    }

    /// How many functions run.
    pub fn depth(&self) -> usize {
        self.frames().len()
    }

    /// The functions that run, the one with the statement first.
    pub fn frames(&self) -> Vec<Frame> {
        let mut frames: Vec<Frame> = Vec::new();
        for (site, fp) in &self.debug.running {
            let (site, fp) = (*site as usize, *fp);
            let func = self.debug.sites[site].func;
            match frames.last_mut() {
                Some(last) if (last.func, last.fp) == (func, fp) => last.site = site,
                _ => frames.push(Frame { site, func, fp }),
            }
        }
        frames.reverse();
        frames
    }

    /// The event whose chain runs, with its fields as words, and the handle of its context (0: none). `None`: the parser runs.
    pub fn event(&self) -> Option<(EventId, Vec<u64>, u64)> {
        let event = self.machine.current_event?;
        let mut words = Vec::new();
        self.machine.event_words(self.linked, event as usize, self.linked.map.stack as usize, &mut words);
        Some((EventId(event), words, self.machine.current))
    }

    /// What can be named in a frame, in the order in which [`ask`](Stop::ask) gives it to a question.
    pub fn names(&self, frame: &Frame) -> Vec<(String, Ty)> {
        let locals = &self.linked.program.functions[frame.func.index()].locals;
        let visible = self.debug.sites[frame.site].visible.iter();
        visible.map(|l| (locals[l.index()].name.clone(), locals[l.index()].ty.clone())).collect()
    }

    /// Asks a question whose parameters are the [`names`](Stop::names) of a frame, or changes something of what these refer to:
    /// the words of the result.
    ///
    /// # Errors
    /// What of it no core can do.
    pub fn ask(&mut self, frame: &Frame, function: &Function) -> Result<Vec<u64>, String> {
        let question = self.linked.ready(function)?;
        let cells = self.linked.local_cells(frame.func);
        let visible = &self.debug.sites[frame.site].visible;
        let place = |(cell, by_ref): (u32, bool)| {
            let at = frame.fp + cell as usize;
            if by_ref { self.machine.mem[at] as usize } else { at }
        };
        let places: Vec<usize> = visible.iter().map(|local| place(cells[local.index()])).collect();
        Ok(self.machine.answer(self.linked, &question, &places))
    }

    /// All contexts that live, by type and slot.
    pub fn contexts(&self) -> Vec<Instance> {
        let (p, m) = (self.linked, &*self.machine);
        let mut all = Vec::new();
        for (ctx, instances) in m.instances.iter().enumerate() {
            let ids = p.program.words_of_id(p.program.contexts[ctx].id);
            for slot in instances.live_slots() {
                let at = instances.address(slot);
                let mut words = Vec::new();
                m.context_words(p, ctx, at, &mut words);
                let first = at + CTX_ID as usize;
                let (handle, id) = (words.remove(0), m.mem[first..first + ids].to_vec());
                all.push(Instance { ctx, handle, id, words });
            }
        }
        all
    }

    /// The words of the answer to a question whose only parameter is this context, if it lives.
    ///
    /// # Errors
    /// What of it no core can do.
    pub fn ask_context(&mut self, handle: u64, function: &Function) -> Result<Option<Vec<u64>>, String> {
        let question = self.linked.ready(function)?;
        let Some(at) = self.machine.instance(handle) else { return Ok(None) };
        Ok(Some(self.machine.answer(self.linked, &question, &[at])))
    }
}
