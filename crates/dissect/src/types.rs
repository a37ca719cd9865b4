// SPDX-License-Identifier: MIT OR Apache-2.0
//! How values of a type are held in Lua.

use carrick_ir::{Program, Ty, arith};

/// What a value is in Lua.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rep {
    Bool,
    /// a number of 8, 16 or 32 bits
    Narrow {
        bits: u32,
        signed: bool,
    },
    /// UInt64, in two's complement if it is signed
    Wide {
        signed: bool,
    },
    /// a table of `at` and `len`, or false
    Addr,
    Table,
}

pub fn rep(program: &Program, ty: &Ty) -> Rep {
    match ty {
        Ty::Bool => Rep::Bool,
        Ty::Enum(id) => program.enums.get(id.index()).map_or(Rep::Table, |e| rep(program, &e.repr)),
        Ty::Addr => Rep::Addr,
        ty if ty.is_scalar() => match arith::shape(ty) {
            (64, signed) => Rep::Wide { signed },
            (bits, signed) => Rep::Narrow { bits, signed },
        },
        _ => Rep::Table,
    }
}

/// How many numbers so many bits tell apart.
pub fn power(bits: u32) -> String {
    format!("{:#x}", 1_u64 << bits)
}

/// A value of a scalar type; `none` of an address.
pub fn literal(rep: Rep, value: u64) -> String {
    match rep {
        Rep::Bool => (value != 0).to_string(),
        Rep::Narrow { signed: true, .. } => {
            let value = value as i64;
            if value < 0 { format!("({value})") } else { value.to_string() }
        }
        Rep::Narrow { .. } => value.to_string(),
        Rep::Wide { .. } if value < 1 << 32 => format!("u64({value})"),
        Rep::Wide { .. } => format!("u64({:#x}, {:#x})", value & 0xffff_ffff, value >> 32),
        Rep::Addr | Rep::Table => "false".to_owned(),
    }
}
