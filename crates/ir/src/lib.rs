// SPDX-License-Identifier: MIT OR Apache-2.0
//! The intermediate representation: a checked program as plain data.
//!
//! Everything below the front end meets here: the interpreter gives it meaning, the emitters
//! translate it, the printer shows it, the validator says what must hold. It is a tree, typed and
//! with every name resolved, close enough to the source that generated code stays readable.
//!
//! *Architecture invariant:* this crate depends on what gives its data a form in JSON alone, does no I/O, and holds no name of a
//! protocol or a target.
//!
//! Rules that every program in this form keeps (the validator checks them):
//! - Expressions have no effects. What may have one (a call of a function, `pop`, `random`) is a statement
//!   with a destination local, in source order.
//! - Conversions are explicit ([`ExprKind::Cast`]). Both operands of a [`BinOp`] have the same type,
//!   but for shifts (any unsigned count) and the two unit operators.
//! - A value of a scalar type is carried in 64 bits: unsigned zero-extended, signed sign-extended.
#![allow(missing_docs, reason = "fields are named for what they hold; types carry the docs")]

pub mod arith;
mod blueprint;
pub mod bounds;
pub mod builtins;
pub mod counters;
pub mod crc;
pub mod effects;
mod engine;
pub mod expr;
mod fixed;
pub mod fold;
pub mod graph;
pub mod header_array;
pub mod identifiers;
pub mod instructions;
mod limits;
pub mod methods;
mod numbers;
pub mod operand;
mod option;
pub mod part;
pub mod print;
pub mod program;
pub mod samples;
pub mod sched;
mod sent_values;
pub mod size;
pub mod stmt;
pub mod text;
pub mod ty;
pub mod units;
pub mod uses;
pub mod validate;
pub mod walk;

pub use builtins::Builtin;
pub use counters::{COUNTERS, REFUSALS, REFUSED, counter};
pub use crc::{CRC_OCTETS, Crc, CrcMask, CrcPart};
pub use engine::{ENGINES, Engine, Joined};
pub use expr::*;
pub use header_array::{ElementPart, FieldArray, FieldElement, MOST_ELEMENTS};
pub use instructions::{Instr, Needs, Opcode};
pub use limits::{CREDIT, Limit, Limits};
pub use methods::{Change, Query};
pub use operand::Operand;
pub use part::BpPart;
pub use program::*;
pub use sched::*;
pub use stmt::*;
pub use text::Text;
pub use ty::*;
