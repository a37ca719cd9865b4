// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the emitter knows of a program, and what it has written so far.

use std::collections::{BTreeMap, BTreeSet};

use carrick_driver::targets::Unsupported;
use carrick_ir::{BpId, CtxId, FuncId, Instr, Loc, ParamId, Program, Ty};

use super::body::Places;
use super::effects::Effects;
use super::shape::{Leaf, Shapes};

/// What the emitter cannot make a circuit of.
pub type Emitted<T> = Result<T, Unsupported>;

/// Something from outside that chains read, beside event and context.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Input {
    Now,
    Handle,
    Mtu,
    LocalIp,
    TxRoom,
    RxSize,
    Param(ParamId),
    /// as many numbers
    Random(u32),
    /// the packet's header, read as this blueprint
    Header(BpId),
}

impl Input {
    /// The field that it is.
    pub fn name(&self, program: &Program) -> String {
        match self {
            Input::Now => "now".into(),
            Input::Handle => "handle".into(),
            Input::Mtu => "mtu".into(),
            Input::LocalIp => "local_ip".into(),
            Input::TxRoom => "tx_room".into(),
            Input::RxSize => "rx_size".into(),
            Input::Param(id) => format!("param_{}", program.params[id.index()].name),
            Input::Random(_) => "random".into(),
            Input::Header(id) => format!("header_{}", program.blueprints[id.index()].name),
        }
    }

    /// What it is.
    pub fn ty(&self, program: &Program) -> Ty {
        match self {
            Input::LocalIp => Ty::U32,
            Input::Param(id) => program.params[id.index()].ty.clone(),
            Input::Random(n) => Ty::Array(Box::new(Ty::U32), *n),
            Input::Header(id) => Ty::Blueprint(*id),
            _ => Ty::U64,
        }
    }

    /// The scalars that it is made of. A parameter has as many bits as the greatest value of its range, unless that range begins
    /// below 0.
    pub fn leaves(&self, program: &Program, shapes: &Shapes<'_>) -> Vec<Leaf> {
        let mut leaves = shapes.leaves(&self.ty(program));
        if let (Input::Param(id), [leaf]) = (self, leaves.as_mut_slice()) {
            let range = &program.params[id.index()];
            if !leaf.signed || range.lo <= range.hi {
                *leaf = Leaf { bits: (u64::BITS - range.hi.leading_zeros()).max(1), signed: false, ..*leaf };
            }
        }
        leaves
    }

    /// How wide it is.
    pub fn bits(&self, program: &Program, shapes: &Shapes<'_>) -> u32 {
        self.leaves(program, shapes).iter().map(|leaf| leaf.bits).sum()
    }
}

/// A statement that issues an instruction.
#[derive(Debug, Clone)]
pub struct Site {
    pub instr: Instr,
    pub loc: Loc,
    /// the types of the values that it sends out, from the most significant bits on
    pub args: Vec<Ty>,
    /// how many bits they are, and whether a slot has no space for them
    pub bits: u32,
    pub wide: bool,
    /// the types of the function's locals where it stands, by which operands are named
    pub locals: Vec<carrick_ir::Local>,
}

impl Site {
    /// The field with its operands, in DSLX.
    pub fn place(&self) -> &'static str {
        if self.wide { "wide" } else { "args" }
    }
}

/// The emitter of one program.
pub struct Emitter<'p> {
    pub program: &'p Program,
    /// of operands in a slot, at most
    pub slot_bits: u32,
    pub shapes: Shapes<'p>,
    pub effects: Vec<Effects>,
    /// types that are declared, and their declarations in order
    pub declared: BTreeSet<String>,
    pub types: String,
    /// helper functions that are there, and their text in order
    pub helpers: BTreeMap<String, ()>,
    pub helper_text: String,
    pub inputs: BTreeSet<Input>,
    pub sites: Vec<Site>,
    /// the context that the program makes instances of
    pub made: Option<CtxId>,
    /// functions that read how much space a unit of data has
    pub reads_space: BTreeSet<FuncId>,
    /// functions that go on after an instruction
    pub issues: BTreeSet<FuncId>,
    /// the places of what each function issues
    pub places: BTreeMap<FuncId, Places>,
    /// the blueprint whose fields expressions name, where it is read and written
    pub reading: Option<BpId>,
}

impl<'p> Emitter<'p> {
    pub fn new(program: &'p Program, slot_bits: u32) -> Self {
        Emitter {
            program,
            slot_bits,
            shapes: Shapes::new(program),
            effects: Effects::of(program),
            declared: BTreeSet::new(),
            types: String::new(),
            helpers: BTreeMap::new(),
            helper_text: String::new(),
            inputs: BTreeSet::new(),
            sites: Vec::new(),
            made: None,
            reads_space: BTreeSet::new(),
            issues: BTreeSet::new(),
            places: BTreeMap::new(),
            reading: None,
        }
    }

    /// Adds a helper function unless it is there.
    pub fn helper(&mut self, name: &str, text: impl FnOnce() -> String) {
        if self.helpers.insert(name.to_owned(), ()).is_none() {
            let text = text();
            self.helper_text.push_str(&text);
            self.helper_text.push('\n');
        }
    }
}

/// A refusal at a place.
pub fn unsupported<T>(what: impl Into<String>, loc: Loc) -> Emitted<T> {
    Err(Unsupported { what: what.into(), declared: None, loc })
}
