// SPDX-License-Identifier: MIT OR Apache-2.0
//! Types and the numbered names of declarations.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// File, and line and column in it, both from 1. Line 0: nowhere in particular.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct Loc {
    /// number of the file: 0 is the main file, 1 the first of `Program::imports`
    pub file: u32,
    pub line: u32,
    pub col: u32,
}

macro_rules! index {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(transparent)]
        pub struct $name(pub u32);

        impl $name {
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

index! {
    /// into [`Program::consts`](crate::Program::consts)
    ConstId,
    /// into [`Program::arrays`](crate::Program::arrays)
    ArrayId,
    ParamId,
    EnumId,
    StructId,
    IdId,
    EventId,
    CtxId,
    ScratchId,
    OptId,
    OptListId,
    BpId,
    RuleId,
    FuncId,
    /// into [`Function::locals`](crate::Function::locals)
    LocalId,
    /// into [`ContextDef::timers`](crate::ContextDef::timers)
    TimerId,
}

/// How the elements of a list stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Order {
    /// as the program puts them
    Given,
    /// ascending, equal ones as they were added
    Sorted,
    /// ascending by this field of the struct that they are
    SortedBy(u32),
}

/// What a value is.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Ty {
    Void,
    Bool,
    /// `bits` is 8, 16, 32 or 64
    Int {
        bits: u8,
        signed: bool,
    },
    Seq32,
    /// signed, 32 bits before and 32 behind the point
    Fixed,
    /// signed 64-bit nanoseconds
    Duration,
    /// unsigned 64-bit nanoseconds
    Time,
    /// unsigned 64-bit bits per second
    Rate,
    /// unsigned 64-bit bytes
    Bytes,
    Addr,
    /// 64 bits; 0 is `none`
    Token,
    /// 64 bits; 0 is `none`
    Handle,
    /// 8 bits; the numbers of [`STATUS_NAMES`]
    Status,
    Enum(EnumId),
    Struct(StructId),
    Id(IdId),
    Array(Box<Ty>, u32),
    /// at most so many elements
    List(Box<Ty>, u32, Order),
    /// a sliding window over `seq32`: how many numbers, and how many runs if that is limited
    Wnd {
        size: u64,
        runs: Option<u32>,
    },
    Event(EventId),
    /// by reference in parameters; by value only as the initial values for `new_ctx`
    Context(CtxId),
    /// by reference
    Scratch(ScratchId),
    Blueprint(BpId),
    /// the packet that a parser reads (a parser's first parameter)
    Packet,
    /// the network header of that packet (a parser's second parameter)
    NetHeader,
}

/// The names of `status_t`, by number.
pub const STATUS_NAMES: [&str; 12] = [
    "OK",
    "END_OF_STREAM",
    "REFUSED",
    "RESET",
    "TIMED_OUT",
    "CLOSED",
    "NO_ROOM",
    "IN_USE",
    "INVALID",
    "UNREACHABLE",
    "BUSY",
    "ABORTED",
];

/// The interface of a program in the network by which a packet goes where its destination leads: `ROUTE`.
pub const ROUTE: u64 = 255;

/// The interface that a number means. All above [`ROUTE`] mean one that no node has.
pub fn interface(number: u64) -> u64 {
    if number > ROUTE { ROUTE - 1 } else { number }
}

/// The variants of `report_t`, by number: what the network reports about a packet (RFC 792, RFC 1812 §5.2.7.1).
pub const REPORT_NAMES: [&str; 10] = [
    "NET_UNREACHABLE",
    "HOST_UNREACHABLE",
    "PROTOCOL_UNREACHABLE",
    "PORT_UNREACHABLE",
    "PACKET_TOO_BIG",
    "SOURCE_ROUTE_FAILED",
    "PROHIBITED",
    "HOPS_EXCEEDED",
    "REASSEMBLY_EXCEEDED",
    "PARAMETER_PROBLEM",
];

impl Ty {
    pub const U8: Ty = Ty::Int { bits: 8, signed: false };
    pub const U16: Ty = Ty::Int { bits: 16, signed: false };
    pub const U32: Ty = Ty::Int { bits: 32, signed: false };
    pub const U64: Ty = Ty::Int { bits: 64, signed: false };
    pub const I64: Ty = Ty::Int { bits: 64, signed: true };

    /// Whether `none` is one of its values.
    pub fn has_none(&self) -> bool {
        matches!(self, Ty::Addr | Ty::Token | Ty::Handle)
    }

    /// Held in one 64-bit cell (everything but aggregates; not [`Ty::Addr`]).
    pub fn is_scalar(&self) -> bool {
        matches!(
            self,
            Ty::Bool
                | Ty::Int { .. }
                | Ty::Seq32
                | Ty::Fixed
                | Ty::Duration
                | Ty::Time
                | Ty::Rate
                | Ty::Bytes
                | Ty::Token
                | Ty::Handle
                | Ty::Status
                | Ty::Enum(_)
        )
    }

    /// Values that have an order of all of them: not `seq32`, in which three can stand in a circle.
    pub fn is_ordered(&self) -> bool {
        matches!(
            self,
            Ty::Int { .. } | Ty::Fixed | Ty::Duration | Ty::Time | Ty::Rate | Ty::Bytes | Ty::Enum(_)
        )
    }

    /// What arrays and lists hold.
    pub fn is_element(&self) -> bool {
        let part = matches!(
            self,
            Ty::Addr
                | Ty::Struct(_)
                | Ty::Id(_)
                | Ty::Array(..)
                | Ty::List(..)
                | Ty::Event(_)
                | Ty::Blueprint(_)
        );
        part || self.is_scalar()
    }

    /// Parameters of these types are references to what the chain works on.
    pub fn is_by_ref(&self) -> bool {
        matches!(self, Ty::Event(_) | Ty::Context(_) | Ty::Scratch(_) | Ty::Packet | Ty::NetHeader)
    }
}
