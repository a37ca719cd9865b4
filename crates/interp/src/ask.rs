// SPDX-License-Identifier: MIT OR Apache-2.0
//! Questions that are asked of a core, or of what a trace tells of one: functions that are not the program's own.

use carrick_ir::{Function, Loc, Ty};

use crate::api::{Fact, Record, TraceKind};
use crate::code::Question;
use crate::contexts::Handle;
use crate::core::Core;
use crate::layout::{ADDR_CELLS, CTX_ID, EVENT_ID, TIMER_CELLS};
use crate::linked::Linked;
use crate::machine::Machine;

/// What the words of a trace are put to: cells, one after the other.
struct Words<'a>(std::slice::Iter<'a, u64>);

impl Words<'_> {
    /// 0 where there are too few.
    fn next(&mut self) -> u64 {
        self.0.next().copied().unwrap_or(0)
    }
}

impl Core {
    /// Makes a function that is not the program's own executable. It must have no effect but its result, or else be one to
    /// [`change`](Core::change) a context with.
    ///
    /// # Errors
    /// What of it no core can do.
    pub fn question(&self, function: &Function) -> Result<Question, String> {
        self.linked.ready(function)
    }

    /// Answers a question about what a trace has told, as at this time: the words of the result. There is a fact for each
    /// parameter; nothing of this core's own state has a part in it.
    pub fn answer(&mut self, question: &Question, facts: &[Fact<'_>], now: u64) -> Vec<u64> {
        let (p, m) = (&self.linked, &mut self.machine);
        let (begin, before) = (m.mem.len(), std::mem::replace(&mut m.now, now));
        let places: Vec<usize> =
            question.params.iter().zip(facts).map(|(ty, fact)| m.put_fact(p, ty, fact)).collect();
        let words = m.answer(p, question, &places);
        m.mem.truncate(begin);
        m.now = before;
        words
    }

    /// Runs a change, a question whose only parameter is a context, on the instance with this handle: the record of its new
    /// state. `None` if there is no such instance.
    pub fn change(&mut self, change: &Question, handle: u64, now: u64) -> Option<Record> {
        let (p, m) = (&self.linked, &mut self.machine);
        let ctx = Handle::of(handle)?.ctx;
        let at = m
            .instance(handle)
            .filter(|_| matches!(change.params[..], [Ty::Context(c)] if c.index() == ctx))?;
        m.now = m.now.max(now);
        m.answer(p, change, &[at]);
        let mut words = Vec::new();
        m.context_words(p, ctx, at, &mut words);
        Some(Record { kind: TraceKind::Context as u32, number: ctx as u32, words, at: Loc::default() })
    }

    /// Handle, fields and deadlines of the only instance of each global context, with its number.
    pub fn global_contexts(&self) -> Vec<(usize, Vec<u64>)> {
        let globals = self.linked.contexts.iter().enumerate().filter(|(_, code)| code.global.is_some());
        let words = globals.map(|(ctx, _)| {
            let mut words = Vec::new();
            let at = self.machine.instances[ctx].address(0);
            self.machine.context_words(&self.linked, ctx, at, &mut words);
            (ctx, words)
        });
        words.collect()
    }
}

impl Machine {
    /// Runs a question behind all that the memory holds. Its parameters are, or are copied from, what is at these places.
    pub(crate) fn answer(&mut self, p: &Linked, question: &Question, places: &[usize]) -> Vec<u64> {
        let fp = self.mem.len();
        let deepest = (p.map.end - p.map.frames) as usize;
        self.mem.resize(fp + question.func.frame as usize + deepest, 0);
        for ((ty, cell), at) in question.params.iter().zip(&question.func.params).zip(places) {
            let to = fp + *cell as usize;
            if ty.is_by_ref() {
                self.mem[to] = *at as u64;
            } else {
                self.mem.copy_within(*at..*at + p.layout.size(ty) as usize, to);
            }
        }
        self.run_func(p, &question.func, fp);
        let mut words = Vec::new();
        self.words(p, &question.ret, fp, &mut words);
        self.mem.truncate(fp);
        words
    }

    /// Puts what a trace tells behind all that the memory holds; returns where it is.
    fn put_fact(&mut self, p: &Linked, ty: &Ty, fact: &Fact<'_>) -> usize {
        let at = self.mem.len();
        self.mem.resize(at + p.layout.size(ty) as usize, 0);
        let mut words = Words(fact.words.iter());
        match ty {
            Ty::Context(c) => {
                let (def, layout) = (&p.program.contexts[c.index()], &p.layout.contexts[c.index()]);
                self.mem[at] = fact.handle;
                let first = at + CTX_ID as usize;
                let ids = fact.id.len().min(p.program.words_of_id(def.id));
                self.mem[first..first + ids].copy_from_slice(&fact.id[..ids]);
                for (field, offset) in def.fields.iter().zip(&layout.fields) {
                    self.put_words(p, &field.ty, at + *offset as usize, &mut words);
                }
                for timer in 0..def.timers.len() {
                    let (cell, deadline) =
                        (at + layout.end as usize + timer * TIMER_CELLS as usize, words.next());
                    // The order of starting is not told: it is not 0 of one that runs.
                    (self.mem[cell], self.mem[cell + 1]) = (deadline, u64::from(deadline != 0));
                }
            }
            Ty::Event(e) => {
                let (def, layout) = (&p.program.events[e.index()], &p.layout.events[e.index()]);
                if let Some(id) = def.id {
                    let first = at + EVENT_ID as usize;
                    let ids = fact.id.len().min(p.program.words_of_id(id));
                    self.mem[first..first + ids].copy_from_slice(&fact.id[..ids]);
                }
                for (field, offset) in def.fields.iter().zip(&layout.fields) {
                    self.put_words(p, &field.ty, at + *offset as usize, &mut words);
                }
            }
            ty => self.put_words(p, ty, at, &mut words),
        }
        at
    }

    /// The reverse of [`words`](Machine::words).
    fn put_words(&mut self, p: &Linked, ty: &Ty, at: usize, words: &mut Words<'_>) {
        match ty {
            Ty::Struct(s) => {
                let offsets = &p.layout.struct_fields(*s).fields;
                for (field, offset) in p.program.structs[s.index()].fields.iter().zip(offsets) {
                    self.put_words(p, &field.ty, at + *offset as usize, words);
                }
            }
            Ty::Id(id) => {
                (0..p.program.words_of_id(*id)).for_each(|i| self.mem[at + i] = words.next());
            }
            Ty::Array(of, n) => {
                let stride = p.layout.size(of) as usize;
                (0..*n as usize).for_each(|i| self.put_words(p, of, at + i * stride, words));
            }
            Ty::List(of, n, _) => {
                let (len, stride) = (words.next().min(u64::from(*n)), p.layout.size(of) as usize);
                self.mem[at] = len;
                (0..len as usize).for_each(|i| self.put_words(p, of, at + 1 + i * stride, words));
            }
            Ty::Wnd { .. } => {
                let most = (p.layout.size(ty) as usize - 2) / 2;
                (self.mem[at], self.mem[at + 1]) = (words.next(), words.next().min(most as u64));
                let (head, runs) = (self.mem[at] as u32, self.mem[at + 1] as usize);
                for i in 0..2 * runs {
                    // Told as serial numbers, kept as distances from the head.
                    self.mem[at + 2 + i] = u64::from((words.next() as u32).wrapping_sub(head));
                }
            }
            Ty::Addr => {
                // The region is not told, nor where in it: it is one, of so many bytes.
                let len = words.next();
                if len != u64::MAX {
                    (self.mem[at], self.mem[at + ADDR_CELLS as usize - 2]) = (1, len);
                }
            }
            _ => self.mem[at] = words.next(),
        }
    }
}
