// SPDX-License-Identifier: MIT OR Apache-2.0
//! How much room values take, in bytes: each as wide as its type, without what a target puts between and around them.

use crate::{BlueprintDef, CtxId, EventId, FieldDef, Function, Program, StmtKind, Ty, walk};

/// A reference to a region with its length and its request, and a payload that stands for one.
const ADDR: u64 = 24;
/// What a function gets by reference.
const REFERENCE: u64 = 8;
/// The moment at which a timer fires.
const TIMER: u64 = 8;
/// How many elements a list has, and the number that a window begins with.
const COUNT: u64 = 4;

/// The largest struct, and how many structs lie within each other at most.
pub const STRUCT_MAX: u64 = 1 << 20;
pub const STRUCT_DEPTH_MAX: usize = 64;

/// The sizes of a program's types. Sums saturate.
#[derive(Debug)]
pub struct Sizes<'p> {
    program: &'p Program,
    /// those that are known already, by the struct's number: each is looked at once, however often it is used
    structs: Vec<Option<u64>>,
}

impl<'p> Sizes<'p> {
    pub fn new(program: &'p Program) -> Self {
        Sizes { program, structs: vec![None; program.structs.len()] }
    }

    /// Bytes of a value of this type.
    pub fn value(&mut self, ty: &Ty) -> u64 {
        let program = self.program;
        match ty {
            Ty::Void | Ty::Packet | Ty::NetHeader => 0,
            Ty::Bool | Ty::Status => 1,
            Ty::Int { bits, .. } => u64::from(*bits) / 8,
            Ty::Seq32 => 4,
            Ty::Fixed | Ty::Duration | Ty::Time | Ty::Rate | Ty::Bytes | Ty::Token | Ty::Handle => 8,
            Ty::Addr => ADDR,
            Ty::Enum(id) => self.value(&program.enums[id.index()].repr),
            Ty::Struct(id) => {
                if let Some(known) = self.structs[id.index()] {
                    return known;
                }
                let size = self.fields(&program.structs[id.index()].fields);
                self.structs[id.index()] = Some(size);
                size
            }
            Ty::Scratch(id) => self.fields(&program.scratchpads[id.index()].fields),
            Ty::Id(id) => self.fields(&program.ids[id.index()].parts),
            Ty::Array(element, n) => self.value(element).saturating_mul(u64::from(*n)),
            Ty::List(element, n, _) => {
                self.value(element).saturating_mul(u64::from(*n)).saturating_add(COUNT)
            }
            // A bit for each number, or begin and end of each run, that at the head too, and how many there are.
            Ty::Wnd { size, runs: None } => COUNT + size.div_ceil(64).saturating_mul(8),
            Ty::Wnd { runs: Some(runs), .. } => 2 * COUNT + 8 * (u64::from(*runs) + 1),
            Ty::Event(id) => self.event(*id),
            Ty::Context(id) => self.context(*id),
            Ty::Blueprint(id) => self.blueprint(&program.blueprints[id.index()]),
        }
    }

    /// Bytes of an instance: its fields, its id, its timers; not its data units.
    pub fn context(&mut self, id: CtxId) -> u64 {
        let def = &self.program.contexts[id.index()];
        let timers = TIMER * def.timers.len() as u64;
        self.fields(&def.fields).saturating_add(self.value(&Ty::Id(def.id))).saturating_add(timers)
    }

    /// For each function the bytes of its variables and of those of the functions that it calls, on the deepest path.
    /// Callees come before callers.
    pub fn stacks(&mut self) -> Vec<u64> {
        let mut stacks: Vec<u64> = Vec::with_capacity(self.program.functions.len());
        for def in &self.program.functions {
            let mut callees = 0;
            walk::statements(&def.body, &mut |stmt| {
                if let StmtKind::Call { func, .. } = &stmt.kind {
                    callees = callees.max(stacks.get(func.index()).copied().unwrap_or_default());
                }
            });
            stacks.push(self.variables(def).saturating_add(callees));
        }
        stacks
    }

    fn variables(&mut self, def: &Function) -> u64 {
        let mut all = 0_u64;
        for (at, local) in def.locals.iter().enumerate() {
            let referred = at < def.params as usize && local.ty.is_by_ref();
            all = all.saturating_add(if referred { REFERENCE } else { self.value(&local.ty) });
        }
        all
    }

    fn fields(&mut self, fields: &[FieldDef]) -> u64 {
        fields.iter().fold(0, |all: u64, f| all.saturating_add(self.value(&f.ty)))
    }

    fn event(&mut self, id: EventId) -> u64 {
        let def = &self.program.events[id.index()];
        let id = def.id.map_or(0, |id| self.value(&Ty::Id(id)));
        self.fields(&def.fields).saturating_add(id)
    }

    /// The longest header, and a reference to the payload; of frames as many as there can be.
    fn blueprint(&mut self, def: &BlueprintDef) -> u64 {
        let own = u64::from(def.max_header_len) + if def.payload_name.is_some() { ADDR } else { 0 };
        let program = self.program;
        let frames = def.frames.as_ref().map_or(0, |frames| {
            let each = frames.members.iter().map(|f| self.blueprint(&program.blueprints[f.index()]));
            each.max().unwrap_or(0).saturating_mul(u64::from(frames.most)).saturating_add(COUNT)
        });
        own.saturating_add(frames)
    }
}
