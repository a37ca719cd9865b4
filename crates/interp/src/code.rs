// SPDX-License-Identifier: MIT OR Apache-2.0
//! The executable form of a program: names resolved to cells, types to sizes.
//!
//! Every value lies in cells of 64 bits in one memory. A function's locals lie in its frame; what it has by
//! reference is a cell with an address.

use std::rc::Rc;

use carrick_ir::{BinOp, Loc, Ty, UnOp};

/// An expression with a scalar value.
#[derive(Debug, Clone)]
pub(crate) enum Ex {
    Lit(u64),
    /// a cell of the frame
    Cell(u32),
    /// a cell at an offset from the address in a cell of the frame
    Deref(u32, u32),
    Load(Box<Place>),
    /// of a constant array
    Element(Box<(Rc<[u64]>, Ex)>),
    Unary(UnOp, Box<(Ty, Ex)>),
    Binary(BinOp, Box<Operation>),
    /// wrapping and not narrower than 64 bits, or cut to the mask
    Add(u64, Box<(Ex, Ex)>),
    Sub(u64, Box<(Ex, Ex)>),
    Equal(Box<(Ex, Ex)>),
    /// equal to a number, or not
    Is(u64, Box<Ex>),
    IsNot(u64, Box<Ex>),
    /// plus a number, cut like [`Ex::Add`]
    Plus(u64, Box<(Ex, u64)>),
    /// as unsigned numbers
    Below(Box<(Ex, Ex)>),
    And(Box<(Ex, Ex)>),
    Or(Box<(Ex, Ex)>),
    Mask(u64, Box<Ex>),
    Cast(Box<(Ty, Ex)>),
    Cond(Box<(Ex, Ex, Ex)>),
    /// a function of one number of this type, or of two
    One(fn(&Ty, u64) -> u64, Box<(Ty, Ex)>),
    Two(fn(&Ty, u64, u64) -> u64, Box<(Ty, Ex, Ex)>),
    Now,
    Hash(Box<[Ex]>),
    WndTest(Box<(Place, Ex)>),
    /// and how many numbers the window has
    WndFirstSet(Box<(Place, u64)>),
    WndFirstUnset(Box<Place>),
    /// of the context with this handle: the room in its TX unit
    TxRoom(Box<Ex>),
    RxSize(Box<Ex>),
    /// how many elements of a sorted list have a lesser key
    ListFind(Box<(Place, Ex, SortKey)>),
    PacketLeft,
    PacketPeek,
}

/// A binary operator on operands of one type.
#[derive(Debug, Clone)]
pub(crate) struct Operation {
    pub ty: Ty,
    pub to: Ty,
    pub left: Ex,
    pub right: Ex,
}

/// Where something lies.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub root: Root,
    pub offset: u32,
    pub indices: Vec<Index>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Root {
    /// from the frame's beginning
    Frame,
    /// from the address in this cell of the frame
    Ref(u32),
}

/// An element of the array or list that a place has led to so far.
#[derive(Debug, Clone)]
pub(crate) struct Index {
    pub at: Ex,
    pub bound: Bound,
    pub stride: u32,
    /// from the element's beginning
    pub then: u32,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Bound {
    Fixed(u32),
    /// a list: its length is its first cell, its elements follow
    Len,
}

/// A value of any type.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    Scalar(Ex),
    /// so many cells from there, zeros if there is no such place
    Copy(Place, u32),
    /// cell by cell; at most [`MAX_PARTS`]
    Parts(Box<[Ex]>),
    Choose(Box<(Ex, Value, Value)>),
}

pub(crate) const MAX_PARTS: usize = 64;

/// What a value of a type is at first.
#[derive(Debug, Clone)]
pub(crate) struct Init {
    pub size: u32,
    /// absent: zeros
    pub cells: Option<Box<[u64]>>,
    /// then what depends on the moment
    pub dynamic: Vec<(u32, Value)>,
}

pub(crate) type Code = Box<[St]>;

/// A statement.
#[derive(Debug, Clone)]
pub(crate) enum St {
    Init(u32, Box<Init>),
    /// a scalar to a cell of the frame
    Set(u32, Ex),
    SetAt(Box<(Place, Ex)>),
    Put(Box<(Place, Value)>),
    Call(Box<CallSt>),
    Random(u32),
    ListAdd(Box<ListAdd>),
    /// index of the element before which it goes
    ListInsert(Box<(ListAdd, Ex)>),
    ListRemove(Box<(Place, Ex, u32)>),
    ListPop(Box<ListPop>),
    ListClear(Box<Place>),
    WndReset(Box<(Place, Ex)>),
    WndSet(Box<WndSet>),
    WndSlide(Box<(Place, Option<Ex>)>),
    If(Box<(Ex, Code, Code)>),
    Range(Box<Range>),
    Each(Box<Each>),
    Break,
    Continue,
    Return(Option<Box<Value>>),
    Stop,
    /// a claim, and its number
    Assert(Box<Ex>, u32),
    /// blueprint, cell of the frame
    Extract(u32, u32),
    SetPayload(Box<SetPayload>),
    SetPayloadOf(Box<SetPayloadOf>),
    SetPayloadAt(Box<SetPayloadAt>),
    FrameAdd(Box<FrameAdd>),
    OptAdd(Box<OptAdd>),
    /// a statement of a core that stops at them
    At(Box<At>),
    /// and where it stands
    Instr(Box<In>, Loc),
}

/// A statement, in the executable form of a core with a debugger.
#[derive(Debug, Clone)]
pub(crate) struct At {
    /// its number among the [`sites`](crate::debug::sites)
    pub site: u32,
    pub head: bool,
    pub code: Code,
}

#[derive(Debug, Clone)]
pub(crate) struct CallSt {
    pub func: usize,
    /// cell in the callee's frame, value
    pub args: Vec<(u32, Arg)>,
    pub dest: Option<u32>,
}

#[derive(Debug, Clone)]
pub(crate) enum Arg {
    Value(Value),
    Address(Place),
}

#[derive(Debug, Clone)]
pub(crate) struct SortKey {
    pub ty: Ty,
    /// from the element's beginning
    pub offset: u32,
    pub stride: u32,
}

#[derive(Debug, Clone)]
pub(crate) struct ListAdd {
    /// of a sorted list
    pub key: Option<SortKey>,
    pub list: Place,
    pub capacity: u32,
    pub stride: u32,
    pub value: Value,
}

#[derive(Debug, Clone)]
pub(crate) struct ListPop {
    pub dest: Option<u32>,
    pub list: Place,
    pub stride: u32,
}

#[derive(Debug, Clone)]
pub(crate) struct WndSet {
    pub dest: Option<u32>,
    pub wnd: Place,
    pub shape: WndShape,
    pub value: bool,
    pub from: Ex,
    pub to: Ex,
}

/// Numbers from the head, and runs at most.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WndShape {
    pub size: u64,
    pub runs: u32,
}

#[derive(Debug, Clone)]
pub(crate) struct Range {
    pub var: u32,
    pub ty: Ty,
    pub from: Ex,
    pub to: Ex,
    pub max: u64,
    pub body: Code,
}

#[derive(Debug, Clone)]
pub(crate) struct Each {
    pub var: u32,
    pub list: Place,
    pub bound: Bound,
    pub stride: u32,
    pub body: Code,
}

/// Adds an option that ends with a list.
#[derive(Debug, Clone)]
pub(crate) struct OptAdd {
    /// whether the option is there; cells of the frame
    pub cell: u32,
    /// that cell and the fields behind it
    pub parts: Value,
    pub elements: u32,
    pub list: Value,
    pub least: u32,
}

/// Puts a blueprint into a packet's list of frames.
#[derive(Debug, Clone)]
pub(crate) struct FrameAdd {
    /// of the frame, how many there are
    pub list: u32,
    pub most: u32,
    pub stride: u32,
    pub bp: usize,
    pub frame: u32,
    pub size: u32,
}

#[derive(Debug, Clone)]
pub(crate) struct SetPayload {
    /// the payload's cells in the frame
    pub cell: u32,
    pub ctx: Place,
    pub offset: Ex,
    pub len: Ex,
    pub mss: Option<Ex>,
}

#[derive(Debug, Clone)]
pub(crate) struct SetPayloadOf {
    /// the payload's cells in the frame
    pub cell: u32,
    pub ctx: usize,
    pub id: Value,
    pub offset: Ex,
    pub len: Ex,
    pub mss: Option<Ex>,
}

#[derive(Debug, Clone)]
pub(crate) struct SetPayloadAt {
    /// the payload's cells in the frame
    pub cell: u32,
    pub addr: Value,
    pub len: Ex,
    pub mss: Option<Ex>,
}

/// What an operand of each kind is when it is linked.
pub(crate) mod operand {
    use crate::code::{Ex, Place, Value};

    pub(crate) type ContextType = usize;
    pub(crate) type Initial = Place;
    pub(crate) type Context = Place;
    pub(crate) type OwnContext = Place;
    pub(crate) type Timer = u32;
    pub(crate) type Which = Option<Ex>;
    pub(crate) type Id = Value;
    pub(crate) type Addr = Value;
    pub(crate) type Bytes = Ex;
    pub(crate) type U32 = Ex;
    pub(crate) type U64 = Ex;
    pub(crate) type Rate = Ex;
    pub(crate) type Duration = Ex;
    pub(crate) type Token = Ex;
    pub(crate) type Status = Ex;
    pub(crate) type Answer = Option<Ex>;
    pub(crate) type Queue = Option<Ex>;
    /// the blueprint, and the frame's cell at which it is
    pub(crate) type Packet = (usize, u32);
    pub(crate) type Header = Option<Packet>;
    /// an index into [`Linked::rule_lists`](crate::linked::Linked::rule_lists)
    pub(crate) type Rules = usize;
    /// the event, and where it is
    pub(crate) type Event = (usize, Place);
    pub(crate) type Sent = Option<Event>;
}

macro_rules! linked {
    ($($Name:ident = $number:literal $({ $($operand:ident: $Kind:ident),* })? => $declaration:expr,)*) => {
        /// An instruction.
        #[derive(Debug, Clone)]
        pub(crate) enum In {
            $($Name $({ $($operand: operand::$Kind),* })?,)*
        }
    };
}

carrick_ir::for_each_instruction!(linked);

/// A function.
#[derive(Debug, Clone)]
pub(crate) struct Func {
    pub code: Code,
    /// cells of its frame
    pub frame: u32,
    /// cells of its result, the frame's first
    pub ret: u32,
    /// the cell of each parameter
    pub params: Vec<u32>,
}

/// A question in its executable form, for cores of one program and configuration.
#[derive(Debug)]
pub struct Question {
    pub(crate) func: Func,
    pub(crate) ret: Ty,
    pub(crate) params: Vec<Ty>,
}
