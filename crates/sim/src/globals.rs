// SPDX-License-Identifier: MIT OR Apache-2.0
//! The last state of the global contexts of programs in the network: what these programs count.

use std::collections::BTreeMap;

use carrick_ir::{ContextDef, Program, Ty};
use serde_json::{Map, Value};

use crate::core::{Record, RecordSet, TraceKind};
use crate::observe::Observer;
use crate::trace;

const TRACE_CONTEXT: u32 = TraceKind::Context as u32;

/// Keeps the last record of each global context.
#[derive(Debug)]
pub struct Globals {
    /// by station and context, the words behind the handle
    last: BTreeMap<(usize, u32), Vec<u64>>,
    /// by station, whether its contexts are global
    global: Vec<Vec<bool>>,
}

impl Globals {
    /// Of these programs, in the order of their stations.
    pub fn new<'p>(programs: impl Iterator<Item = &'p Program>) -> Globals {
        let global = |program: &Program| program.contexts.iter().map(|ctx| ctx.global).collect();
        Globals { last: BTreeMap::new(), global: programs.map(global).collect() }
    }

    /// The numbers in the global contexts of a station's program: by context, by field. What was never used has none.
    pub fn of(&self, station: usize, program: &Program) -> Map<String, Value> {
        let state = |(_, number): &(usize, u32), words: &Vec<u64>| {
            let ctx = &program.contexts[*number as usize];
            (ctx.name.clone(), Value::Object(numbers(program, ctx, words)))
        };
        let range = (station, 0)..(station + 1, 0);
        self.last.range(range).map(|(key, words)| state(key, words)).collect()
    }
}

fn numbers(program: &Program, ctx: &ContextDef, words: &[u64]) -> Map<String, Value> {
    let mut words = words.iter().copied();
    let all = ctx.fields.iter().map(|field| (field, trace::value(program, &field.ty, &mut words)));
    let counts = |ty: &Ty| ty.is_scalar() && !matches!(ty, Ty::Token | Ty::Handle | Ty::Addr);
    // Each value is read, as the words follow each other.
    all.filter(|(field, _)| counts(&field.ty)).map(|(field, value)| (field.name.clone(), value)).collect()
}

impl Observer for Globals {
    fn reads(&self) -> RecordSet {
        RecordSet::NONE
    }

    fn reads_at(&self) -> RecordSet {
        RecordSet::of(TraceKind::Context)
    }

    fn record_at(&mut self, _: u64, station: usize, record: &Record) {
        let global = self.global.get(station).and_then(|all| all.get(record.number as usize));
        if record.kind == TRACE_CONTEXT && global == Some(&true) {
            let last = self.last.entry((station, record.number)).or_default();
            last.clear();
            last.extend_from_slice(record.words.get(1..).unwrap_or_default());
        }
    }
}
