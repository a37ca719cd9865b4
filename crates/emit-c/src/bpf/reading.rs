// SPDX-License-Identifier: MIT OR Apache-2.0
//! Frames of a packet: what is read next lies where all headers are read from, at its beginning.

use carrick_ir::BlueprintDef;

use crate::Emitter;

impl Emitter<'_> {
    /// Whether an extract function is verified apart: where many fields can be otherwise, or where there are many of them.
    pub(crate) fn is_read_apart(&self, bp: &BlueprintDef) -> bool {
        bp.frame || !bp.parts.is_empty()
    }

    /// Whether what is read from moves over the packet.
    pub(super) fn looks_further(&self) -> bool {
        self.has_frames() || self.p.opts.iter().any(|opt| opt.wide.is_some())
    }
}
