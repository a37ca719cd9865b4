// SPDX-License-Identifier: MIT OR Apache-2.0
//! Places and expressions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::builtins::Builtin;
use crate::methods::Query;
use crate::ty::*;

/// Something that can be read, and mostly written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct Place {
    pub root: LocalId,
    pub path: Vec<Proj>,
    /// of the place as a whole
    pub ty: Ty,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Proj {
    /// of a struct, id, event, context, scratchpad or blueprint (declared order; not options, payload)
    Field(u32),
    /// of an array; outside: reads zero, writes nothing
    Index(Expr),
    /// of a list; outside the elements it has: reads zero, writes nothing
    Elem(Expr),
    /// `c.id` of a context reference (read only)
    CtxId,
    /// `e.token` (read only)
    Token,
    /// `get_flow_id(e)` (read only)
    FlowId,
    /// of a blueprint's network header or of the parser's network header parameter
    Net(NetFieldIndex),
    /// a received option's field: (option, index in its `fields`, or their number for its list) (read only)
    OptField(OptId, u32),
    /// read only
    PayloadLen,
    /// read only
    PayloadAddr,
}

/// Index into [`NetHeaderDef::fields`](crate::NetHeaderDef::fields).
pub type NetFieldIndex = u32;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct Expr {
    pub kind: ExprKind,
    pub ty: Ty,
    pub loc: Loc,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ExprKind {
    /// any scalar type, or `none` of `Addr` (0)
    Lit(u64),
    Const(ConstId),
    /// of a constant array, by a `uint64`; outside of it zero
    Element(ArrayId, Box<Expr>),
    Param(ParamId),
    Load(Place),
    Unary(UnOp, Box<Expr>),
    Binary(BinOp, Box<Expr>, Box<Expr>),
    /// between scalar types: keeps the value's bits, truncates or extends by the source's sign; to `Bool`: not zero
    Cast(Box<Expr>),
    Cond(Box<Expr>, Box<Expr>, Box<Expr>),
    MakeId(IdId, Vec<Expr>),
    /// not of an elaborated function, nor of one that takes a name
    Builtin(Builtin, Vec<Expr>),
    /// a method that only reads a list or a window, with its operands
    Query(Query, Place, Vec<Expr>),
    /// of several timers under one name the first, and which of them
    TimerArmed(LocalId, TimerId, Option<Box<Expr>>),
    /// of a context: how many bytes `add_tx_data` would take now; type `Bytes`
    TxRoom(LocalId),
    /// of a context: how many bytes its RX unit has room for, with those that it holds; type `Bytes`
    RxSize(LocalId),
    Handle(LocalId),
    /// the local is a blueprint
    OptPresent(LocalId, OptId),
    /// in parsers: the bytes behind what was extracted so far; type `Bytes`
    PacketLeft,
    /// in parsers: the first of these, 0 if there is none; type `uint8`
    PacketPeek,
    /// in blueprint declarations, option lists and segmentation rules only:
    BpField(u32),
    HeaderLen,
    PayloadLen,
    PrevField(u32),
    PrevPayloadLen,
    /// in interface calls only: field of the event
    CallArg(u32),
}

impl Expr {
    /// The place that it reads itself.
    pub fn reads(&self) -> Option<&Place> {
        match &self.kind {
            ExprKind::Load(place) | ExprKind::Query(_, place, _) => Some(place),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum UnOp {
    Neg,
    Not,
    BitNot,
}

/// On operands of one type; the result has that type, `Bool` for comparisons, or what is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum BinOp {
    /// wraps. With `Seq32` on the left the right is `uint32`; `Time` and `Duration` mix as the language says
    /// (both are 64 bits, the result's type is the expression's)
    Add,
    Sub,
    Mul,
    /// by 0: 0
    Div,
    /// by 0: the left operand
    Rem,
    Shl,
    Shr,
    And,
    Or,
    Xor,
    Eq,
    Ne,
    /// of `Seq32`: serial order
    Lt,
    Le,
    Gt,
    Ge,
    LogicalAnd,
    LogicalOr,
    /// bytes / rate -> duration: (bytes * 8 * 10^9) / rate through 128 bits, truncated to 64; by 0: 0
    BytesPerRate,
    /// bytes / duration -> rate: (bytes * 8 * 10^9) / duration through 128 bits, truncated to 64; by 0 or less: 0
    BytesPerDuration,
    /// of `Fixed`, through 128 bits, rounded down
    FixedMul,
    /// of `Fixed`, through 128 bits, rounded toward zero; by 0: 0
    FixedDiv,
    /// duration, bytes or rate times `Fixed`, through 128 bits, rounded down; of bytes and rate, a negative factor counts as 0
    Scale,
    /// rate * duration -> bytes: (rate * duration) / (8 * 10^9) through 128 bits; a negative duration counts as 0
    RateTimesDuration,
}
