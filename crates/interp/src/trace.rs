// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values as the words of trace records.

use carrick_ir::{FieldDef, Ty};

use crate::api::TraceKind;
use crate::layout::{PAYLOAD_LEN, TIMER_CELLS};
use crate::linked::Linked;
use crate::machine::Machine;
use crate::wnd;

impl Machine {
    /// Adds the record of the instance at `at`, or a sample of it.
    pub(crate) fn record_context(&mut self, p: &Linked, ctx: usize, at: usize) {
        let Some(trace) = &self.trace else { return };
        match trace.sampled {
            None => self.record(TraceKind::Context, ctx, |m, out| m.context_words(p, ctx, at, out)),
            Some((of, cell)) if of == ctx => {
                self.record(TraceKind::Sample, ctx, |m, out| out.extend([m.mem[at], m.mem[at + cell]]));
            }
            Some(_) => {}
        }
    }

    /// An event's fields.
    pub(crate) fn event_words(&self, p: &Linked, event: usize, at: usize, out: &mut Vec<u64>) {
        let offsets = &p.layout.events[event].fields;
        self.field_words(p, &p.program.events[event].fields, offsets, at, out);
    }

    /// Handle, fields, deadlines of the instance at `at`.
    pub(crate) fn context_words(&self, p: &Linked, ctx: usize, at: usize, out: &mut Vec<u64>) {
        out.push(self.mem[at]);
        let (def, layout) = (&p.program.contexts[ctx], &p.layout.contexts[ctx]);
        self.field_words(p, &def.fields, &layout.fields, at, out);
        let timers = at + layout.end as usize;
        out.extend((0..def.timers.len()).map(|i| self.mem[timers + i * TIMER_CELLS as usize]));
    }

    /// Network header, fields, for each option that there can be whether it is there and its fields, bytes of the payload.
    fn blueprint_words(&self, p: &Linked, bp: usize, at: usize, out: &mut Vec<u64>) {
        let layout = &p.layout.blueprints[bp];
        let fixed = layout.options.first().map_or(layout.frames, |(_, cell)| *cell) as usize;
        out.extend_from_slice(&self.mem[at..at + fixed]);
        for (opt, cell) in &layout.options {
            let (def, first) = (&p.program.opts[opt.index()], at + *cell as usize);
            let list = first + 1 + def.fields.len();
            out.extend_from_slice(&self.mem[first..list]);
            if let Some(elements) = &def.list {
                self.words(p, &elements.ty(), list, out);
            }
        }
        out.push(self.mem[at + (layout.payload + PAYLOAD_LEN) as usize]);
    }

    fn field_words(&self, p: &Linked, defs: &[FieldDef], offsets: &[u32], at: usize, out: &mut Vec<u64>) {
        for (def, offset) in defs.iter().zip(offsets) {
            self.words(p, &def.ty, at + *offset as usize, out);
        }
    }

    /// A value of any type.
    pub(crate) fn words(&self, p: &Linked, ty: &Ty, at: usize, out: &mut Vec<u64>) {
        let elements = |of: &Ty, first: usize, n: usize, out: &mut Vec<u64>| {
            let stride = p.layout.size(of) as usize;
            (0..n).for_each(|i| self.words(p, of, first + i * stride, out));
        };
        match ty {
            Ty::Void | Ty::Packet => {}
            Ty::NetHeader => out.extend_from_slice(&self.mem[at..at + p.layout.net as usize]),
            Ty::Blueprint(b) => self.blueprint_words(p, b.index(), at, out),
            Ty::Event(e) => self.event_words(p, e.index(), at, out),
            Ty::Context(c) => self.context_words(p, c.index(), at, out),
            Ty::Scratch(s) => {
                let offsets = &p.layout.scratch[s.index()].fields;
                self.field_words(p, &p.program.scratchpads[s.index()].fields, offsets, at, out);
            }
            Ty::Struct(s) => {
                let offsets = &p.layout.struct_fields(*s).fields;
                self.field_words(p, &p.program.structs[s.index()].fields, offsets, at, out);
            }
            Ty::Id(id) => {
                let parts = p.program.words_of_id(*id);
                out.extend_from_slice(&self.mem[at..at + parts]);
            }
            Ty::Array(of, n) => elements(of, at, *n as usize, out),
            Ty::List(of, _, _) => {
                out.push(self.mem[at]);
                elements(of, at + 1, self.mem[at] as usize, out);
            }
            Ty::Wnd { .. } => wnd::words(&self.mem[at..], out),
            Ty::Addr => out.push(if self.mem[at] == 0 { u64::MAX } else { self.mem[at + 2] }),
            _ => out.push(self.mem[at]),
        }
    }
}
