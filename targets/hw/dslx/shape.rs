// SPDX-License-Identifier: MIT OR Apache-2.0
//! The bits of values: how wide each type is, and where in those bits each cell of the interpreter's layout lies.

use carrick_ir::{BlueprintDef, EventKind, FieldDef, OptDef, Program, StmtKind, Ty, arith, walk};

/// Bits of a list's length.
pub const LEN_BITS: u32 = 32;

/// A scalar among the bits of a value, with its cell in the interpreter's layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leaf {
    pub cell: u32,
    pub bits: u32,
    pub signed: bool,
}

/// A part of a composed value: a field of a struct in DSLX.
#[derive(Debug, Clone)]
pub struct Part {
    pub name: String,
    pub ty: PartTy,
}

/// What such a part is.
#[derive(Debug, Clone)]
pub enum PartTy {
    Is(Ty),
    Payload,
    /// in the interpreter's layout, but nothing in hardware
    Nothing,
}

/// Width in bits and signedness of a scalar.
pub fn scalar(program: &Program, ty: &Ty) -> (u32, bool) {
    match ty {
        Ty::Enum(id) => arith::shape(&program.enums[id.index()].repr),
        ty => arith::shape(ty),
    }
}

/// Whether the program makes packets with payload from data units or memory.
pub fn sends_payload(program: &Program) -> bool {
    let mut found = false;
    for function in &program.functions {
        walk::statements(&function.body, &mut |stmt| {
            found |= matches!(
                stmt.kind,
                StmtKind::SetPayload { .. } | StmtKind::SetPayloadOf { .. } | StmtKind::SetPayloadAt { .. }
            );
        });
    }
    found
}

/// The options that a blueprint can hold.
pub fn options<'p>(program: &'p Program, bp: &'p BlueprintDef) -> impl Iterator<Item = &'p OptDef> {
    let members = bp.options.iter().flat_map(|list| &program.opt_lists[list.index()].members);
    members.map(|opt| &program.opts[opt.index()])
}

fn of_fields(defs: &[FieldDef]) -> impl Iterator<Item = Part> + '_ {
    defs.iter().map(|def| Part { name: def.name.clone(), ty: PartTy::Is(def.ty.clone()) })
}

fn part(name: impl Into<String>, ty: Ty) -> Part {
    Part { name: name.into(), ty: PartTy::Is(ty) }
}

/// The fields of a composed type in the order of the interpreter's layout; `None` of types that are not composed of fields.
pub fn parts(program: &Program, ty: &Ty) -> Option<Vec<Part>> {
    Some(match ty {
        Ty::Struct(id) => of_fields(&program.structs[id.index()].fields).collect(),
        Ty::Id(id) => of_fields(&program.ids[id.index()].parts).collect(),
        Ty::Scratch(id) => of_fields(&program.scratchpads[id.index()].fields).collect(),
        Ty::Event(id) => {
            let def = &program.events[id.index()];
            let token = match def.kind {
                EventKind::App => PartTy::Is(Ty::Token),
                _ => PartTy::Nothing,
            };
            let id = def.id.map(|id| part("flow_id", Ty::Id(id)));
            let first = Part { name: "token_".into(), ty: token };
            std::iter::once(first).chain(id).chain(of_fields(&def.fields)).collect()
        }
        Ty::Context(id) => {
            let def = &program.contexts[id.index()];
            let first = [Part { name: "handle".into(), ty: PartTy::Nothing }, part("id", Ty::Id(def.id))];
            first.into_iter().chain(of_fields(&def.fields)).collect()
        }
        Ty::NetHeader => {
            let fields = program.net_header.fields.iter();
            fields.map(|f| part(f.name.clone(), f.ty.clone())).collect()
        }
        Ty::Blueprint(id) => of_blueprint(program, &program.blueprints[id.index()]),
        _ => return None,
    })
}

fn of_blueprint(program: &Program, bp: &BlueprintDef) -> Vec<Part> {
    let net = program.net_header.fields.iter().map(|f| part(format!("net_{}", f.name), f.ty.clone()));
    let mut parts: Vec<Part> = net.collect();
    parts.extend(bp.fields.iter().map(|f| part(f.name.clone(), f.ty.clone())));
    for opt in options(program, bp) {
        parts.push(part(opt.name.clone(), Ty::Bool));
        parts.extend(opt.all_fields().map(|(name, ty)| part(format!("{}_{name}", opt.name), ty)));
    }
    parts.push(Part { name: "payload_".into(), ty: PartTy::Payload });
    parts
}

/// Shapes of one program's types.
pub struct Shapes<'p> {
    program: &'p Program,
    sends_payload: bool,
}

impl<'p> Shapes<'p> {
    pub fn new(program: &'p Program) -> Self {
        Shapes { program, sends_payload: sends_payload(program) }
    }

    /// Width of a value in bits.
    pub fn width(&self, ty: &Ty) -> u32 {
        self.leaves(ty).iter().map(|leaf| leaf.bits).sum()
    }

    /// The scalars of a value, from its most significant bits on: fields of a struct in order, elements of an array from the last.
    pub fn leaves(&self, ty: &Ty) -> Vec<Leaf> {
        let mut leaves = Vec::new();
        self.walk(ty, 0, &mut leaves);
        leaves
    }

    /// Cells that a value has in the interpreter's layout; a context's timers are not among them.
    pub fn cells(&self, ty: &Ty) -> u32 {
        match ty {
            Ty::Void => 0,
            Ty::Addr => 4,
            Ty::Array(of, n) => self.cells(of) * n,
            Ty::List(of, n, _) => 1 + self.cells(of) * n,
            ty => match parts(self.program, ty) {
                Some(parts) => parts.iter().map(|part| self.part_cells(&part.ty)).sum(),
                None => 1,
            },
        }
    }

    fn part_cells(&self, ty: &PartTy) -> u32 {
        match ty {
            PartTy::Is(ty) => self.cells(ty),
            PartTy::Payload => 8,
            PartTy::Nothing => 1,
        }
    }

    fn walk(&self, ty: &Ty, at: u32, out: &mut Vec<Leaf>) {
        let word = |cell, bits| Leaf { cell, bits, signed: false };
        match ty {
            Ty::Void => {}
            Ty::Addr => out.extend((at..at + 4).map(|cell| word(cell, 64))),
            Ty::Array(of, n) => self.elements(of, *n, at, out),
            Ty::List(of, n, _) => {
                out.push(word(at, LEN_BITS));
                self.elements(of, *n, at + 1, out);
            }
            ty => match parts(self.program, ty) {
                None => {
                    let (bits, signed) = scalar(self.program, ty);
                    out.push(Leaf { cell: at, bits, signed });
                }
                Some(parts) => {
                    let mut at = at;
                    for part in parts {
                        match &part.ty {
                            PartTy::Is(ty) => self.walk(ty, at, out),
                            PartTy::Payload => out.extend(self.payload().map(|cell| word(at + cell, 64))),
                            PartTy::Nothing => {}
                        }
                        at += self.part_cells(&part.ty);
                    }
                }
            },
        }
    }

    /// The cells of a payload that there are: with what is sent, what is read of packets.
    fn payload(&self) -> impl Iterator<Item = u32> {
        let sends = self.sends_payload;
        (0..8).filter(move |cell| sends || ![0, 1, 3].contains(cell))
    }

    fn elements(&self, of: &Ty, n: u32, at: u32, out: &mut Vec<Leaf>) {
        let stride = self.cells(of);
        (0..n).rev().for_each(|i| self.walk(of, at + i * stride, out));
    }

    /// Whether payloads are sent.
    pub fn sends(&self) -> bool {
        self.sends_payload
    }
}
