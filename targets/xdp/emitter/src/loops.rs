// SPDX-License-Identifier: MIT OR Apache-2.0
//! Loops, where the verifier would follow every turn: it forgets what it knew of numbers at each, and of loops of many turns it
//! follows only so many as tell it something new.

use carrick_emit_c::Emitter;
use carrick_ir::{self as ir, Stmt, Ty};

use crate::{crossing, frames};

/// At the beginning of the body of a loop that may turn often: the verifier does not know which turn it is.
pub(crate) fn forget_count(e: &mut Emitter<'_>, stmt: &Stmt, counts: &[(&str, &str)]) {
    if !crossing::is_long(stmt) {
        return;
    }
    for (c, name) in counts {
        e.line(stmt, format!("{name} = ({c})({name} ^ ({c})CARRICK_READ(core->zero));"));
    }
}

/// At the beginning of a loop's body: what the verifier knows of numbers that the body changes, or asks for, is
/// forgotten, else it would follow every way through all turns.
pub(crate) fn forget_numbers(e: &mut Emitter<'_>, stmt: &Stmt, body: &ir::Block) {
    if e.function.is_some_and(frames::has_frame) {
        // Else the compiler finds all addresses before the loop, and keeps them on the stack.
        e.line(stmt, "CARRICK_BARRIER_VAR(f__);");
    }
    for local in crossing::crossing(stmt, body) {
        let (ty, name) = (e.local_type(local).clone(), e.local(local));
        if !ty.is_scalar() || ty == Ty::Addr || e.in_frame(local) {
            continue;
        }
        if ty == Ty::Bool {
            // Converting a number to a bool is a branch, behind which the verifier knows it.
            e.line(stmt, format!("*(volatile bool *)&core->told = {name};"));
            e.line(stmt, format!("{name} = CARRICK_READ(core->told);"));
            continue;
        }
        let c = e.names.ctype(&ty);
        e.line(stmt, format!("{name} = ({c})({name} ^ ({c})CARRICK_READ(core->zero));"));
    }
}
