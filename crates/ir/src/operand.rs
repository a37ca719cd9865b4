// SPDX-License-Identifier: MIT OR Apache-2.0
//! The kinds of operands that instructions have.

use crate::{CtxId, Expr, LocalId, RuleId, TimerId, Ty};

/// Declares each kind once: its type in the IR (`kind::NAME`), and the variant of [`Operand`] that refers to one.
macro_rules! kinds {
    ($($(#[$doc:meta])* $Kind:ident: $Type:ty,)*) => {
        /// The type that an operand of each kind has in the IR.
        pub mod kind {
            use crate::{CtxId, Expr, LocalId, RuleId, TimerId};

            $($(#[$doc])* pub type $Kind = $Type;)*
        }

        /// An operand of an instruction.
        #[derive(Debug, Clone, Copy)]
        pub enum Operand<'a> {
            $($(#[$doc])* $Kind(&'a $Type),)*
        }

        impl<'a> Operand<'a> {
            /// The expression that it is, if it is one and is there.
            pub fn expr(self) -> Option<&'a Expr> {
                match self {
                    $(Operand::$Kind(it) => it.expr(),)*
                }
            }
        }
    };
}

kinds! {
    /// a type of context
    ContextType: CtxId,
    /// a local of the context type before it: the field values of a new instance
    Initial: LocalId,
    /// a context of the chain: its own, or one that it shares with other flows
    Context: LocalId,
    /// the chain's own context, never one that it shares
    OwnContext: LocalId,
    /// a timer of the context before it
    Timer: TimerId,
    /// which one of several timers under one name, of type `U64`; absent: there is one
    Which: Option<Expr>,
    /// an id of the context before it
    Id: Expr,
    Addr: Expr,
    Bytes: Expr,
    U32: Expr,
    U64: Expr,
    Rate: Expr,
    Duration: Expr,
    Token: Expr,
    Status: Expr,
    /// what a request completes with: a handle or a `U64`
    Answer: Option<Expr>,
    /// the number of a queue, of type `U32`; the last queue if there are not as many; absent: the first
    Queue: Option<Expr>,
    /// a blueprint that is a packet
    Packet: LocalId,
    /// a blueprint without frames, in place of a packet's network header and header
    Header: Option<LocalId>,
    /// segmentation rules of the blueprint before them, or of its frames
    Rules: Vec<RuleId>,
    /// a sent event
    Sent: Option<LocalId>,
    /// a flow event; in a parser, a net event
    Event: LocalId,
}

impl Operand<'_> {
    /// The type of an operand that is an expression, if it depends on nothing else.
    pub fn ty(self) -> Option<Ty> {
        Some(match self {
            Operand::Addr(_) => Ty::Addr,
            Operand::Bytes(_) => Ty::Bytes,
            Operand::U32(_) | Operand::Queue(_) => Ty::U32,
            Operand::U64(_) | Operand::Which(_) => Ty::U64,
            Operand::Rate(_) => Ty::Rate,
            Operand::Duration(_) => Ty::Duration,
            Operand::Token(_) => Ty::Token,
            Operand::Status(_) => Ty::Status,
            _ => return None,
        })
    }
}

/// The expression that an operand is, if it is one and is there.
pub(crate) trait MaybeExpr {
    fn expr(&self) -> Option<&Expr> {
        None
    }

    fn expr_mut(&mut self) -> Option<&mut Expr> {
        None
    }
}

impl MaybeExpr for Expr {
    fn expr(&self) -> Option<&Expr> {
        Some(self)
    }

    fn expr_mut(&mut self) -> Option<&mut Expr> {
        Some(self)
    }
}

impl MaybeExpr for Option<Expr> {
    fn expr(&self) -> Option<&Expr> {
        self.as_ref()
    }

    fn expr_mut(&mut self) -> Option<&mut Expr> {
        self.as_mut()
    }
}

impl MaybeExpr for CtxId {}
impl MaybeExpr for LocalId {}
impl MaybeExpr for TimerId {}
impl MaybeExpr for Option<LocalId> {}
impl MaybeExpr for Vec<RuleId> {}
