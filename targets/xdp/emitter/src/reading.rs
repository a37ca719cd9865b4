// SPDX-License-Identifier: MIT OR Apache-2.0
//! What an extract function reads lies in a window on the packet, which begins with its header. It moves over frames, and over lists of
//! options that may end behind it.

use carrick_emit_c::Emitter;
use carrick_ir::{BinOp, BlueprintDef, Expr, ExprKind, OptListDef, Ty, arith};

/// Bytes of the longest header.
pub(crate) const HEADER_MAX: u32 = 256;

/// Whether what is read from moves over the packet.
pub(crate) fn looks_further(e: &Emitter<'_>) -> bool {
    e.has_frames() || e.p.opt_lists.iter().any(|list| is_long(e, list))
}

/// Whether the list of a received packet may end behind the window.
pub(crate) fn is_long(e: &Emitter<'_>, list: &OptListDef) -> bool {
    let lists = &e.p.opt_lists;
    let with_it = |bp: &&BlueprintDef| bp.options.is_some_and(|own| lists[own.index()].name == list.name);
    e.is_wide(list) || e.p.blueprints.iter().filter(with_it).any(|bp| ends_behind(bp, &list.len))
}

/// Whether the whole header of each received packet is in the window.
pub(crate) fn is_in_window(e: &Emitter<'_>, bp: &BlueprintDef) -> bool {
    bp.options.is_none_or(|list| !is_long(e, &e.p.opt_lists[list.index()]))
}

/// Whether a list of this length may do so.
fn ends_behind(bp: &BlueprintDef, len: &Expr) -> bool {
    let before = bp.fixed_len + bp.parts.iter().map(|part| bp.part_len(part)).sum::<u32>();
    greatest_length(len, bp) > u64::from(HEADER_MAX.saturating_sub(before))
}

/// By no more than this, a 64-bit difference wraps to more than the length of any packet.
const SMALL: u64 = u32::MAX as u64;

/// The greatest length of a list that a packet can have: a difference that wraps does not count.
fn greatest_length(len: &Expr, bp: &BlueprintDef) -> u64 {
    match &len.kind {
        ExprKind::Cast(of) if is_word(&of.ty) && is_word(&len.ty) => greatest_length(of, bp),
        ExprKind::Binary(BinOp::Sub, from, less) if is_word(&len.ty) && greatest(less, bp) <= SMALL => {
            greatest(from, bp).saturating_sub(least(less, bp))
        }
        _ => greatest(len, bp),
    }
}

/// The least value of what a length is less by.
fn least(e: &Expr, bp: &BlueprintDef) -> u64 {
    match &e.kind {
        ExprKind::Lit(v) => *v,
        ExprKind::HeaderLen => u64::from(bp.fixed_len),
        ExprKind::Cast(of) if is_word(&of.ty) && is_word(&e.ty) => least(of, bp),
        _ => 0,
    }
}

fn is_word(ty: &Ty) -> bool {
    arith::shape(ty) == (64, false)
}

/// The greatest value of an expression on fields of a header: by its type, unless its operands say less.
fn greatest(e: &Expr, bp: &BlueprintDef) -> u64 {
    let (bits, signed) = arith::shape(&e.ty);
    if signed {
        return u64::MAX;
    }
    let all = u64::MAX >> (64 - bits);
    let of = |e: &Expr| greatest(e, bp);
    let known = match &e.kind {
        ExprKind::Lit(v) => Some(*v),
        ExprKind::BpField(at) => {
            let field = &bp.fields[*at as usize];
            let raw = if field.bits == 0 { 0 } else { u64::MAX >> (64 - field.bits) };
            raw.checked_add(field.base)
        }
        ExprKind::HeaderLen => Some(u64::from(u16::MAX)),
        ExprKind::Cast(value) => Some(of(value)),
        ExprKind::Binary(BinOp::Add, a, b) => of(a).checked_add(of(b)),
        ExprKind::Binary(BinOp::Mul, a, b) => of(a).checked_mul(of(b)),
        _ => None,
    };
    known.filter(|v| *v <= all).unwrap_or(all)
}
