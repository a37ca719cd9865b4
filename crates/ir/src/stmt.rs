// SPDX-License-Identifier: MIT OR Apache-2.0
//! Statements.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ty::*;
use crate::{Change, Expr, Instr, Place};

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

/// The values that the variable of a loop takes.
#[expect(clippy::large_enum_variant, reason = "a program has few loops")]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Over {
    /// `from` and `to` are of the variable's type, evaluated once; at most `max` turns
    Range { from: Expr, to: Expr, max: u64 },
    /// of a list or an array
    EachOf(Place),
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
    /// a method that changes a list or a window, with its operands and the local that begins to live with its result
    Change {
        what: Change,
        dest: Option<LocalId>,
        on: Place,
        args: Vec<Expr>,
    },
    If {
        cond: Expr,
        then: Block,
        otherwise: Block,
    },
    /// a plain nested block
    Block(Block),
    For {
        var: LocalId,
        over: Over,
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

impl Stmt {
    /// The local that begins to live with it: a variable, or what a call gives.
    pub fn begins(&self) -> Option<LocalId> {
        match &self.kind {
            StmtKind::Let { local, .. } | StmtKind::Random { dest: local } => Some(*local),
            StmtKind::Call { dest, .. } | StmtKind::Change { dest, .. } => *dest,
            _ => None,
        }
    }

    /// The place that it changes, or goes through.
    pub fn works_on(&self) -> Option<&Place> {
        match &self.kind {
            StmtKind::For { over: Over::EachOf(list), .. } => Some(list),
            _ => self.changes(),
        }
    }

    /// The place that it changes.
    pub fn changes(&self) -> Option<&Place> {
        match &self.kind {
            StmtKind::Assign { place, .. } | StmtKind::Change { on: place, .. } => Some(place),
            _ => None,
        }
    }
}

impl Block {
    /// Calls `visit` for every statement of the block, each after those in it.
    pub fn statements_mut(&mut self, visit: &mut dyn FnMut(&mut Stmt)) {
        for stmt in &mut self.stmts {
            match &mut stmt.kind {
                StmtKind::If { then, otherwise, .. } => {
                    then.statements_mut(visit);
                    otherwise.statements_mut(visit);
                }
                StmtKind::Block(body) | StmtKind::For { body, .. } => body.statements_mut(visit),
                _ => {}
            }
            visit(stmt);
        }
    }
}
