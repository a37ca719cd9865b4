// SPDX-License-Identifier: MIT OR Apache-2.0
//! How many cells each type takes, and which cell each field is.

use carrick_ir::{BlueprintDef, FieldDef, IdId, OptId, Program, Ty};

use crate::code::WndShape;

/// Cells of an `addr_t`: region, offset in it, bytes left, token (of a packet: which).
pub(crate) const ADDR_CELLS: u32 = 4;
/// A context's first cell is its handle (0 in the initial values of one), its id follows.
pub(crate) const CTX_ID: u32 = 1;
/// An event's first cell is its token, its flow id follows.
pub(crate) const EVENT_ID: u32 = 1;
/// Cells of a timer: deadline, order of starting (0: stopped).
pub(crate) const TIMER_CELLS: u32 = 2;

/// The payload's cells of a blueprint: handle of the context that has the unit (0: none), offset,
pub(crate) const PAYLOAD_CTX: u32 = 0;
pub(crate) const PAYLOAD_OFFSET: u32 = 1;
/// bytes (also of a received one), bytes a packet (0 too: what fits), and where the received one, or one of a request's memory, is.
pub(crate) const PAYLOAD_LEN: u32 = 2;
pub(crate) const PAYLOAD_MSS: u32 = 3;
pub(crate) const PAYLOAD_ADDR: u32 = 4;
/// In place of a context's handle: the payload is memory of a request, at the payload's address.
pub(crate) const PAYLOAD_OF_REQUEST: u64 = u64::MAX;
const PAYLOAD_CELLS: u32 = PAYLOAD_ADDR + ADDR_CELLS;

/// No value takes more cells.
const MAX_CELLS: u64 = 1 << 24;

#[derive(Debug)]
pub(crate) struct Fields {
    pub size: u32,
    pub fields: Vec<u32>,
    /// where what follows the fields begins (a context's timers)
    pub end: u32,
}

#[derive(Debug)]
pub(crate) struct BpLayout {
    pub fields: u32,
    /// each option's first cell: whether it is there; its fields follow
    pub options: Vec<(OptId, u32)>,
    /// how many frames there are; they follow
    pub frames: u32,
    /// cells of a frame, the first of which is its blueprint
    pub frame_cells: u32,
    pub payload: u32,
    pub size: u32,
}

impl BpLayout {
    pub(crate) fn option(&self, opt: OptId) -> Result<u32, String> {
        let found = self.options.iter().find(|(o, _)| *o == opt);
        found.map(|(_, cell)| *cell).ok_or_else(|| "an option that the blueprint cannot hold".to_owned())
    }
}

#[derive(Debug, Default)]
pub(crate) struct Layout {
    structs: Vec<Fields>,
    ids: Vec<u32>,
    pub events: Vec<Fields>,
    pub contexts: Vec<Fields>,
    pub scratch: Vec<Fields>,
    pub blueprints: Vec<BpLayout>,
    /// cells of the network header, and each field's first
    pub net: u32,
    pub net_fields: Vec<u32>,
}

impl Layout {
    pub(crate) fn new(program: &Program) -> Result<Layout, String> {
        let net_fields = net_fields(program);
        let mut l = Layout { net: net_fields.size, net_fields: net_fields.fields, ..Layout::default() };
        l.ids = (0..program.ids.len()).map(|id| program.words_of_id(IdId(id as u32)) as u32).collect();
        for def in &program.structs {
            l.structs.push(fields(program, 0, &def.fields, 0)?);
        }
        for def in &program.scratchpads {
            l.scratch.push(fields(program, 0, &def.fields, 0)?);
        }
        for def in &program.events {
            let id = def.id.map_or(0, |id| l.ids[id.index()]);
            l.events.push(fields(program, EVENT_ID + id, &def.fields, 0)?);
        }
        for def in &program.contexts {
            let id = l.ids[def.id.index()];
            l.contexts.push(fields(
                program,
                CTX_ID + id,
                &def.fields,
                def.timers.len() as u32 * TIMER_CELLS,
            )?);
        }
        l.blueprints = program.blueprints.iter().map(|bp| blueprint(program, bp)).collect();
        Ok(l)
    }

    /// Cells of a value; a reference is not one.
    pub(crate) fn size(&self, ty: &Ty) -> u32 {
        match ty {
            Ty::Void | Ty::Packet => 0,
            Ty::Addr => ADDR_CELLS,
            Ty::Struct(s) => self.structs[s.index()].size,
            Ty::Id(id) => self.ids[id.index()],
            Ty::Array(of, n) => self.size(of) * n,
            Ty::List(of, n, _) => 1 + self.size(of) * n,
            Ty::Wnd { .. } => 2 + 2 * (wnd_shape(ty).runs + 1),
            Ty::Event(e) => self.events[e.index()].size,
            Ty::Context(c) => self.contexts[c.index()].size,
            Ty::Scratch(s) => self.scratch[s.index()].size,
            Ty::Blueprint(b) => self.blueprints[b.index()].size,
            Ty::NetHeader => self.net,
            _ => 1,
        }
    }

    /// The cells of an id's part.
    pub(crate) fn part_of_id(&self, program: &Program, id: IdId, part: usize) -> std::ops::Range<u32> {
        let mut sizes = program.ids[id.index()].parts.iter().map(|part| self.size(&part.ty));
        let first = sizes.by_ref().take(part).sum();
        first..first + sizes.next().unwrap_or(0)
    }

    pub(crate) fn struct_fields(&self, id: carrick_ir::StructId) -> &Fields {
        &self.structs[id.index()]
    }
}

/// The cells of the network header's fields.
fn net_fields(program: &Program) -> Fields {
    let mut size = 0;
    let fields = program.net_header.fields.iter().map(|def| {
        let first = size;
        size += cells(program, &def.ty) as u32;
        first
    });
    let fields = fields.collect();
    Fields { size, fields, end: size }
}

/// An address as the cells of its type.
pub(crate) fn words_of(ty: &Ty, address: u128) -> impl Iterator<Item = u64> {
    let unused = if matches!(ty, Ty::Id(_)) { 0 } else { 1 };
    [(address >> 64) as u64, address as u64].into_iter().skip(unused)
}

/// The address in the cells of its type.
pub(crate) fn address_in(ty: &Ty, cells: &[u64]) -> u128 {
    match (ty, cells) {
        (Ty::Id(_), [high, low, ..]) => u128::from(*high) << 64 | u128::from(*low),
        _ => cells.first().copied().unwrap_or(0).into(),
    }
}

/// A window without a limit needs a run for every other number at worst.
pub(crate) fn wnd_shape(ty: &Ty) -> WndShape {
    match ty {
        Ty::Wnd { size, runs } => {
            let most = size.div_ceil(2).min(MAX_CELLS / 4) as u32;
            WndShape { size: *size, runs: runs.unwrap_or(most).min(most) }
        }
        _ => WndShape { size: 0, runs: 0 },
    }
}

fn fields(program: &Program, first: u32, defs: &[FieldDef], timers: u32) -> Result<Fields, String> {
    let mut at = u64::from(first);
    let mut offsets = Vec::with_capacity(defs.len());
    for def in defs {
        offsets.push(at as u32);
        at += cells(program, &def.ty);
        if at > MAX_CELLS {
            return Err(format!("`{}` and the fields before it take too much room", def.name));
        }
    }
    Ok(Fields { size: at as u32 + timers, fields: offsets, end: at as u32 })
}

/// As [`Layout::size`], for types whose declarations are not laid out yet.
fn cells(program: &Program, ty: &Ty) -> u64 {
    match ty {
        Ty::Struct(s) => program.structs[s.index()].fields.iter().map(|f| cells(program, &f.ty)).sum(),
        Ty::Id(id) => program.words_of_id(*id) as u64,
        Ty::Array(of, n) => cells(program, of).saturating_mul(u64::from(*n)),
        Ty::List(of, n, _) => cells(program, of).saturating_mul(u64::from(*n)).saturating_add(1),
        Ty::Wnd { .. } => 2 + 2 * (u64::from(wnd_shape(ty).runs) + 1),
        Ty::Addr => u64::from(ADDR_CELLS),
        Ty::Blueprint(b) => u64::from(blueprint(program, &program.blueprints[b.index()]).size),
        _ => 1,
    }
}

fn blueprint(program: &Program, def: &BlueprintDef) -> BpLayout {
    let fields = net_fields(program).size;
    let mut at = fields + def.fields.len() as u32;
    let mut options = Vec::new();
    for &opt in def.options.iter().flat_map(|list| &program.opt_lists[list.index()].members) {
        options.push((opt, at));
        let def = &program.opts[opt.index()];
        let list = def.list.as_ref().map_or(0, |list| cells(program, &list.ty()) as u32);
        at += 1 + def.fields.len() as u32 + list;
    }
    let frames = at;
    let mut frame_cells = 0;
    if let Some(of) = &def.frames {
        let sizes = of.members.iter().map(|m| blueprint(program, &program.blueprints[m.index()]).size);
        frame_cells = 1 + sizes.max().unwrap_or(0);
        at += 1 + of.most * frame_cells;
    }
    BpLayout { fields, options, frames, frame_cells, payload: at, size: at + PAYLOAD_CELLS }
}
