// SPDX-License-Identifier: MIT OR Apache-2.0
//! What must hold at statements, and values with which it does not.

use carrick_ir::{BinOp, Loc, Ty};
use carrick_solve::Model;
use rustc_hash::{FxHashMap, FxHashSet};

/// What a check is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// The condition of an `assert`, by number.
    Claim(u32),
    /// A divisor is not zero.
    Division,
    /// A shift is by fewer bits than its operand has.
    Shift,
    /// A list that gets an element is not full.
    List,
    /// Two serial numbers that are compared are not 2^31 apart.
    Serial,
    /// A value fits its field of a header.
    Cut,
}

impl Kind {
    /// The word for all checks of the kind.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Claim(_) => "assert",
            Kind::Division => "division",
            Kind::Shift => "shift",
            Kind::List => "list",
            Kind::Serial => "serial",
            Kind::Cut => "cut",
        }
    }

    /// What must hold, in words; a claim has its own.
    pub fn rule(self) -> &'static str {
        match self {
            Kind::Claim(_) => "the claim holds",
            Kind::Division => "the divisor is not 0",
            Kind::Shift => "the shift is by fewer bits than the operand has",
            Kind::List => "the list is not full",
            Kind::Serial => "the two serial numbers are not exactly 2^31 apart",
            Kind::Cut => "the value fits the field",
        }
    }

    /// The words of all kinds.
    pub const WORDS: [&'static str; 6] = ["assert", "division", "shift", "list", "serial", "cut"];
}

/// A check, and where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Site {
    /// Where.
    pub loc: Loc,
    /// What about.
    pub kind: Kind,
}

/// What the statements that run are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doing {
    Running,
    /// claims hold
    Assuming,
    /// claims are checked
    Proving,
}

/// Values with which a check fails, as the first path that found some had them.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    pub model: Model,
    /// of the variables that the path and the check depend on
    pub variables: Vec<u32>,
    /// whether it is of an instance that was just made
    pub new: bool,
}

/// The checks of one unit.
#[derive(Debug, Default)]
pub(crate) struct Checks {
    /// those that count; absent: all
    pub wanted: Option<FxHashSet<Site>>,
    pub failed: FxHashMap<Site, Failure>,
    pub undecided: FxHashSet<Site>,
    /// of the path's conditions, those that were assumed before the statements began
    pub assumed: usize,
    /// an instance that was just made is looked at
    pub new: bool,
    /// the questions that were asked, in SMT-LIB 2
    pub smt: Vec<(Site, String)>,
}

/// The check that a binary operator has.
pub(crate) fn kind_of(op: BinOp, left: &Ty) -> Option<Kind> {
    match op {
        BinOp::Div | BinOp::Rem | BinOp::FixedDiv | BinOp::BytesPerRate | BinOp::BytesPerDuration => {
            Some(Kind::Division)
        }
        BinOp::Shl | BinOp::Shr => Some(Kind::Shift),
        BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge if *left == Ty::Seq32 => Some(Kind::Serial),
        _ => None,
    }
}
