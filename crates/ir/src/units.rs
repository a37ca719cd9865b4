// SPDX-License-Identifier: MIT OR Apache-2.0
//! How much the RX units of a program keep.

use crate::{ContextDef, Expr, ParamId, Program, Ty, fold};

/// How many out-of-order ranges an RX unit keeps, a power of two: as many as the windows beside units remember.
pub fn ranges(p: &Program) -> u32 {
    const LEAST: u32 = 16;
    let beside = p.contexts.iter().filter(|ctx| ctx.rx_capacity.is_some()).flat_map(|ctx| &ctx.fields);
    let ranges = beside.filter_map(|field| match field.ty {
        Ty::Wnd { runs, .. } => runs,
        _ => None,
    });
    ranges.fold(LEAST, u32::max).next_power_of_two()
}

/// In the kernel: bytes of a block of what the RX units of a context hold, and those of the largest unit, with these values of the
/// parameters; `None` if no unit grows.
pub fn blocks(p: &Program, ctx: &ContextDef, of: &dyn Fn(ParamId) -> Option<u64>) -> Option<(u64, u64)> {
    const LEAST: u64 = 16 << 10;
    const MOST: u64 = 64 << 10;
    const MANY: u64 = 128;
    let value = |e: &Expr| fold::fold(p, e, of).unwrap_or(1).max(1).next_power_of_two();
    let (least, most) = (value(ctx.rx_capacity.as_ref()?), value(&ctx.rx_growth.as_ref()?.most));
    (most > least).then(|| (least.max(most / MANY).clamp(LEAST, MOST), most))
}
