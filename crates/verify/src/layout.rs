// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which parts the records of events, contexts and blueprints have behind their fields.

use carrick_ir::{BpId, CtxId, EventId, FieldDef, OptId, Program, Ty, arith};

/// Width in bits of a scalar, and whether it has a sign.
pub(crate) fn shape(program: &Program, ty: &Ty) -> (u8, bool) {
    match ty {
        Ty::Enum(e) => shape(program, &program.enums[e.index()].repr),
        Ty::Status => (8, false),
        ty => {
            let (bits, signed) = arith::shape(ty);
            (bits as u8, signed)
        }
    }
}

/// Of an event: its token.
pub(crate) fn token(program: &Program, event: EventId) -> usize {
    program.events[event.index()].fields.len()
}

/// Of an event: the id of the context that it is for.
pub(crate) fn flow_id(program: &Program, event: EventId) -> usize {
    token(program, event) + 1
}

/// Of a context: its id.
pub(crate) fn id(program: &Program, context: CtxId) -> usize {
    program.contexts[context.index()].fields.len()
}

pub(crate) fn handle(program: &Program, context: CtxId) -> usize {
    id(program, context) + 1
}

/// Of a context: free space in its TX unit.
pub(crate) fn tx_room(program: &Program, context: CtxId) -> usize {
    id(program, context) + 2
}

/// Of a context: the size of its RX unit.
pub(crate) fn rx_size(program: &Program, context: CtxId) -> usize {
    id(program, context) + 3
}

/// Of a context: whether its first timer runs; the others follow.
pub(crate) fn timers(program: &Program, context: CtxId) -> usize {
    id(program, context) + 4
}

/// Of a blueprint: its options, each whether it is there, its fields, and its list.
pub(crate) fn options(program: &Program, bp: BpId) -> usize {
    program.blueprints[bp.index()].fields.len()
}

/// Of a blueprint: the network header.
pub(crate) fn net(program: &Program, bp: BpId) -> usize {
    options(program, bp) + 1
}

/// Of a blueprint: the length of its payload, and its address.
pub(crate) fn payload(program: &Program, bp: BpId) -> usize {
    options(program, bp) + 2
}

/// The options that a blueprint can have.
pub(crate) fn members(program: &Program, bp: BpId) -> &[OptId] {
    program.blueprints[bp.index()].options.map_or(&[], |list| &program.opt_lists[list.index()].members)
}

/// Which of a blueprint's options that is.
pub(crate) fn member(program: &Program, bp: BpId, opt: OptId) -> Option<usize> {
    members(program, bp).iter().position(|member| *member == opt)
}

/// The parts of a value that has some by name, in their order in [`Value::Record`]; empty: it has none.
pub(crate) fn parts_of(program: &Program, ty: &Ty) -> Vec<(String, Ty)> {
    let fields = |of: &[FieldDef]| of.iter().map(|f| (f.name.clone(), f.ty.clone())).collect::<Vec<_>>();
    match ty {
        Ty::Struct(s) => fields(&program.structs[s.index()].fields),
        Ty::Scratch(s) => fields(&program.scratchpads[s.index()].fields),
        Ty::Id(id) => fields(&program.ids[id.index()].parts),
        Ty::Event(event) => {
            let def = &program.events[event.index()];
            let mut parts = fields(&def.fields);
            parts.push(("token of its request".to_owned(), Ty::Token));
            parts.push(("id of its context".to_owned(), def.id.map_or(Ty::Void, Ty::Id)));
            parts
        }
        Ty::Context(context) => {
            let def = &program.contexts[context.index()];
            let mut parts = fields(&def.fields);
            parts.push(("its id".to_owned(), Ty::Id(def.id)));
            parts.push(("its handle".to_owned(), Ty::Handle));
            parts.push(("space to send".to_owned(), Ty::Bytes));
            parts.push(("space to receive".to_owned(), Ty::Bytes));
            parts.extend(def.timers.iter().map(|timer| (format!("{} runs", timer.name), Ty::Bool)));
            parts
        }
        Ty::NetHeader => program.net_header.fields.iter().map(|f| (f.name.clone(), f.ty.clone())).collect(),
        _ => Vec::new(),
    }
}
