// SPDX-License-Identifier: MIT OR Apache-2.0
//! Statements.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ty::*;
use crate::{Expr, Instr, Place};

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct Block {
    pub stmts: Vec<Stmt>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct Stmt {
    pub kind: StmtKind,
    pub loc: Loc,
}

/// An argument of a call: by value, or the caller's own local passed on by reference.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Arg {
    Value(Expr),
    Ref(LocalId),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum StmtKind {
    /// the local begins to live here: with the value, or with its type's initial value
    Let {
        local: LocalId,
        init: Option<Expr>,
    },
    Assign {
        place: Place,
        value: Expr,
    },
    /// if the callee stops, so does the caller
    Call {
        dest: Option<LocalId>,
        func: FuncId,
        args: Vec<Arg>,
    },
    Random {
        dest: LocalId,
    },
    /// at the end; to a sorted list: behind those that are not greater. Nothing if the list is full
    ListAdd {
        list: Place,
        value: Expr,
    },
    /// before the element with this index, or at the end
    ListInsert {
        list: Place,
        index: Expr,
        value: Expr,
    },
    ListRemove {
        list: Place,
        index: Expr,
    },
    ListPop {
        dest: Option<LocalId>,
        list: Place,
    },
    ListClear {
        list: Place,
    },
    WndReset {
        wnd: Place,
        at: Expr,
    },
    /// makes the flags of `from` up to `to` this value; false, and nothing done, if the runs do not suffice
    WndSet {
        dest: Option<LocalId>,
        wnd: Place,
        value: bool,
        from: Expr,
        to: Expr,
    },
    /// to the first unset number, or forward to `to`
    WndSlide {
        wnd: Place,
        to: Option<Expr>,
    },
    If {
        cond: Expr,
        then: Block,
        otherwise: Block,
    },
    /// a plain nested block
    Block(Block),
    /// `from` and `to` are of the variable's type, evaluated once; at most `max` turns
    ForRange {
        var: LocalId,
        from: Expr,
        to: Expr,
        max: u64,
        body: Block,
    },
    ForEach {
        var: LocalId,
        list: Place,
        body: Block,
    },
    Break,
    Continue,
    Return(Option<Expr>),
    Stop,
    /// a claim that `cond` holds here; no effect on what the program does
    Assert {
        claim: u32,
        cond: Expr,
    },
    SetFlowId {
        event: LocalId,
        id: Expr,
    },
    /// parser: read the packet into the blueprint, or drop the packet and end the parser
    Extract {
        bp: LocalId,
    },
    /// `bp.payload = data(ctx.id, offset, len, mss)`
    SetPayload {
        bp: LocalId,
        ctx: LocalId,
        offset: Expr,
        len: Expr,
        mss: Option<Expr>,
    },
    /// `bp.payload = data(id, offset, len, mss)`: of the unit of the instance that is found by the id now, if there is one
    SetPayloadOf {
        bp: LocalId,
        ctx: CtxId,
        id: Expr,
        offset: Expr,
        len: Expr,
        mss: Option<Expr>,
    },
    /// `bp.payload = data(addr, len, mss)`: memory of a request
    SetPayloadAt {
        bp: LocalId,
        addr: Expr,
        len: Expr,
        mss: Option<Expr>,
    },
    /// `bp.frames.add(frame)`: a copy, unless there are as many as can be
    FrameAdd {
        bp: LocalId,
        frame: LocalId,
    },
    /// `args` for the option's fields that are not fixed, in order, then for its list; with fewer elements than the option
    /// needs, the blueprint then has no such option
    OptAdd {
        bp: LocalId,
        opt: OptId,
        args: Vec<Expr>,
    },
    Instr(Instr),
}
