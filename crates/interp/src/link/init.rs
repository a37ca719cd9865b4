// SPDX-License-Identifier: MIT OR Apache-2.0
//! Initial values.

use carrick_ir::{BpFieldKind, BpId, Expr, FieldDef, NetField, Ty};

use super::linker::{Linker, Outside};
use crate::code::*;
use crate::ipv4::DEFAULT_TTL;

struct Building {
    cells: Vec<u64>,
    dynamic: Vec<(u32, Value)>,
}

impl Building {
    fn finish(self) -> Init {
        let size = self.cells.len() as u32;
        let cells = self.cells.iter().any(|c| *c != 0).then(|| self.cells.into_boxed_slice());
        Init { size, cells, dynamic: self.dynamic }
    }
}

impl Linker<'_> {
    pub(crate) fn init(&self, ty: &Ty) -> Result<Init, String> {
        let cells = vec![0; self.layout.size(ty) as usize];
        let mut building = Building { cells, dynamic: Vec::new() };
        self.fill(ty, 0, &mut building)?;
        Ok(building.finish())
    }

    pub(crate) fn event_inits(&self) -> Result<Vec<Init>, String> {
        (0..self.program.events.len()).map(|e| self.init(&Ty::Event(carrick_ir::EventId(e as u32)))).collect()
    }

    pub(crate) fn net_init(&self) -> Result<Init, String> {
        let mut building = Building { cells: vec![0; self.layout.net as usize], dynamic: Vec::new() };
        self.net(0, &mut building)?;
        Ok(building.finish())
    }

    fn fill(&self, ty: &Ty, at: u32, out: &mut Building) -> Result<(), String> {
        match ty {
            Ty::Struct(s) => {
                let offsets = &self.layout.struct_fields(*s).fields;
                self.fields(&self.program.structs[s.index()].fields, offsets, at, out)
            }
            Ty::Scratch(s) => {
                let offsets = &self.layout.scratch[s.index()].fields;
                self.fields(&self.program.scratchpads[s.index()].fields, offsets, at, out)
            }
            Ty::Event(e) => {
                let offsets = &self.layout.events[e.index()].fields;
                self.fields(&self.program.events[e.index()].fields, offsets, at, out)
            }
            Ty::Context(c) => {
                let offsets = &self.layout.contexts[c.index()].fields;
                self.fields(&self.program.contexts[c.index()].fields, offsets, at, out)
            }
            Ty::Array(of, n) => {
                let stride = self.layout.size(of);
                (0..*n).try_for_each(|i| self.fill(of, at + i * stride, out))
            }
            Ty::Blueprint(bp) => self.blueprint_init(*bp, at, out),
            _ => Ok(()),
        }
    }

    fn fields(&self, defs: &[FieldDef], offsets: &[u32], at: u32, out: &mut Building) -> Result<(), String> {
        for (def, offset) in defs.iter().zip(offsets) {
            match &def.init {
                Some(init) => self.initial(init, at + offset, out)?,
                None => self.fill(&def.ty, at + offset, out)?,
            }
        }
        Ok(())
    }

    fn initial(&self, init: &Expr, at: u32, out: &mut Building) -> Result<(), String> {
        match self.value(init, Outside::None)? {
            Value::Scalar(Ex::Lit(n)) => out.cells[at as usize] = n,
            value => out.dynamic.push((at, value)),
        }
        Ok(())
    }

    fn blueprint_init(&self, bp: BpId, at: u32, out: &mut Building) -> Result<(), String> {
        self.net(at, out)?;
        let fields = at + self.layout.blueprints[bp.index()].fields;
        for (field, cell) in self.program.blueprints[bp.index()].fields.iter().zip(fields..) {
            if let BpFieldKind::Plain { init: Some(init) } = &field.kind {
                self.initial(init, cell, out)?;
            }
        }
        Ok(())
    }

    fn net(&self, at: u32, out: &mut Building) -> Result<(), String> {
        let cells = self.layout.net_fields.iter().map(|cell| at + cell);
        for (field, cell) in self.program.net_header.fields.iter().zip(cells) {
            match &field.init {
                Some(init) => self.initial(init, cell, out)?,
                None if field.field == NetField::Ttl => out.cells[cell as usize] = DEFAULT_TTL.into(),
                None => {}
            }
        }
        Ok(())
    }
}
