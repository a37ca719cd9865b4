// SPDX-License-Identifier: MIT OR Apache-2.0
//! Functions that are not the program's own.

use carrick_ir::{FuncId, Function};

use super::linker::Linker;
use crate::code::Question;
use crate::linked::Linked;

impl Linked {
    /// Makes a function executable that is not the program's own.
    pub(crate) fn ready(&self, function: &Function) -> Result<Question, String> {
        let func = self.linker().function(function)?;
        let params = function.locals[..function.params as usize].iter().map(|l| l.ty.clone()).collect();
        Ok(Question { func, ret: function.ret.clone(), params })
    }

    /// The cell of each local of a function in its frame, and whether that has only the address.
    pub(crate) fn local_cells(&self, func: FuncId) -> Vec<(u32, bool)> {
        let (frame, _) = self.linker().frame(&self.program.functions[func.index()]);
        frame.locals.iter().map(|l| (l.cell, l.by_ref)).collect()
    }

    fn linker(&self) -> Linker<'_> {
        Linker {
            program: &self.program,
            layout: &self.layout,
            params: &self.params,
            mtu: self.mtu,
            address: self.address,
            map: self.map,
            rule_lists: Vec::new(),
            sites: None,
        }
    }
}
