// SPDX-License-Identifier: MIT OR Apache-2.0
//! Payloads as long as a packet: they leave no bytes for the header.

use std::collections::BTreeSet;

use carrick_ir::{self as ir, BinOp, Builtin, ExprKind, LocalId, StmtKind, Ty, walk};

use super::Body;
use crate::codes;

impl Body<'_, '_> {
    pub(super) fn advise_payloads(&mut self, body: &ir::Block) {
        let whole = whole_packets(body);
        for (bp, len, span) in std::mem::take(&mut self.payloads) {
            let Ty::Blueprint(packet) = self.locals[bp.index()].ty else { continue };
            let has_header = !self.cx.program.blueprints[packet.index()].fields.is_empty();
            if has_header && is_whole_packet(&len, &whole) {
                let message = "a payload of `mtu()` bytes leaves no bytes for its header";
                let mend = format!(
                    "subtract its length: `mtu() - header_len({})`",
                    self.cx.program.blueprints[packet.index()].name
                );
                self.advise_later(
                    codes::PAYLOAD_OF_MTU,
                    message,
                    span,
                    "a second packet carries the rest",
                    &mend,
                );
            }
        }
    }
}

/// Variables that are `mtu()`, or a lesser number.
fn whole_packets(body: &ir::Block) -> BTreeSet<LocalId> {
    let (mut found, mut changed) = (BTreeSet::new(), BTreeSet::new());
    walk::statements(body, &mut |stmt| match &stmt.kind {
        StmtKind::Let { local, init: Some(init) } if is_whole_packet(init, &found) => {
            _ = found.insert(*local)
        }
        StmtKind::Assign { place, .. } => _ = changed.insert(place.root),
        _ => {}
    });
    &found - &changed
}

fn is_whole_packet(e: &ir::Expr, locals: &BTreeSet<LocalId>) -> bool {
    match &e.kind {
        ExprKind::Builtin(Builtin::Mtu, _) => true,
        ExprKind::Builtin(Builtin::Min, args) => args.iter().any(|arg| is_whole_packet(arg, locals)),
        ExprKind::Cast(inner) => is_whole_packet(inner, locals),
        // Without its unit: `mtu() / 1B`.
        ExprKind::Binary(BinOp::Div, a, b) => b.kind == ExprKind::Lit(1) && is_whole_packet(a, locals),
        ExprKind::Load(place) => place.path.is_empty() && locals.contains(&place.root),
        _ => false,
    }
}
