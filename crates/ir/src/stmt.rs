//! Statements, expressions and instructions.

use crate::ty::*;

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Block {
    pub stmts: Vec<Stmt>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Stmt {
    pub kind: StmtKind,
    pub loc: Loc,
}

/// An argument of a call: by value, or the caller's own local passed on by reference.
#[derive(Debug, Clone, PartialEq)]
pub enum Arg {
    Value(Expr),
    Ref(LocalId),
}

#[derive(Debug, Clone, PartialEq)]
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
    /// `args` for the option's fields that are not fixed, in order
    OptAdd {
        bp: LocalId,
        opt: OptId,
        args: Vec<Expr>,
    },
    Instr(Instr),
}

/// The transport instructions.
#[derive(Debug, Clone, PartialEq)]
pub enum Instr {
    NewCtx {
        ctx: CtxId,
        value: LocalId,
        id: Expr,
    },
    DelCtx {
        ctx: LocalId,
    },
    /// the packet of the chain's net event leaves by this interface (type `U32`)
    Forward {
        interface: Expr,
        /// a blueprint that stands for its network header and header, with the payload that was read into it
        header: Option<LocalId>,
    },
    /// the packet of the chain's net event goes nowhere
    Drop,
    /// the packet of the chain's net event is kept under this key (type `U64`)
    PktStore {
        key: Expr,
    },
    /// the packets kept under this key leave by this interface, the oldest first
    PktRelease {
        key: Expr,
        interface: Expr,
    },
    /// the packets kept under this key are forgotten
    PktDiscard {
        key: Expr,
    },
    /// the chain's context is found by another id from now on
    RebindCtx {
        ctx: LocalId,
        id: Expr,
    },
    NewTxOrderedData {
        ctx: LocalId,
        size: Expr,
    },
    NewRxOrderedData {
        ctx: LocalId,
        size: Expr,
    },
    AddTxData {
        ctx: LocalId,
        addr: Expr,
        len: Expr,
    },
    TxFlushAndNotify {
        ctx: LocalId,
        len: Expr,
    },
    AddRxDataSeg {
        ctx: LocalId,
        addr: Expr,
        len: Expr,
        offset: Expr,
    },
    RxFlushAndNotify {
        ctx: LocalId,
        len: Expr,
        addr: Expr,
    },
    /// octets at one address, of a packet or a request, are put at another, of a request
    PutData {
        from: Expr,
        len: Expr,
        to: Expr,
    },
    PktGen {
        bp: LocalId,
        rules: Vec<RuleId>,
        sent: Option<LocalId>,
        /// which queue, the last one if there are not as many; absent: the first
        queue: Option<Expr>,
    },
    TimerStart {
        ctx: LocalId,
        timer: TimerId,
        after: Expr,
    },
    TimerRestart {
        ctx: LocalId,
        timer: TimerId,
        after: Expr,
    },
    TimerStop {
        ctx: LocalId,
        timer: TimerId,
    },
    Notify {
        token: Expr,
        status: Expr,
        value: Option<Expr>,
    },
    /// in a parser the event is a net event
    Raise {
        event: LocalId,
    },
    /// of the nearest rate limiter that the queue's packets pass; the queue as of `PktGen`
    SetQueueRate {
        queue: Expr,
        rate: Expr,
    },
    /// of the nearest block with priorities that the queue's packets pass; the least goes first
    SetQueuePrio {
        queue: Expr,
        prio: Expr,
    },
}

/// Something that can be read, and mostly written.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    pub root: LocalId,
    pub path: Vec<Proj>,
    /// of the place as a whole
    pub ty: Ty,
}

#[derive(Debug, Clone, PartialEq)]
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
    /// a received option's field: (option, index in its `fields`) (read only)
    OptField(OptId, u32),
    /// read only
    PayloadLen,
    /// read only
    PayloadAddr,
}

/// Index into [`NetHeaderDef::fields`](crate::NetHeaderDef::fields).
pub type NetFieldIndex = u32;

#[derive(Debug, Clone, PartialEq)]
pub struct Expr {
    pub kind: ExprKind,
    pub ty: Ty,
    pub loc: Loc,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ExprKind {
    /// any scalar type, or `none` of `Addr` (0)
    Lit(u64),
    Const(ConstId),
    Param(ParamId),
    Load(Place),
    Unary(UnOp, Box<Expr>),
    Binary(BinOp, Box<Expr>, Box<Expr>),
    /// between scalar types: keeps the value's bits, truncates or extends by the source's sign; to `Bool`: not zero
    Cast(Box<Expr>),
    Cond(Box<Expr>, Box<Expr>, Box<Expr>),
    MakeId(IdId, Vec<Expr>),
    Builtin(Builtin, Vec<Expr>),
    ListLen(Place),
    ListFull(Place),
    /// of a sorted list: how many elements have a lesser key
    ListFind(Place, Box<Expr>),
    WndHead(Place),
    WndTest(Place, Box<Expr>),
    /// the end of the window if none is
    WndFirstSet(Place),
    WndFirstUnset(Place),
    TimerArmed(LocalId, TimerId),
    /// of a context: how many octets `add_tx_data` would take now; type `Bytes`
    TxRoom(LocalId),
    Handle(LocalId),
    /// the local is a blueprint
    OptPresent(LocalId, OptId),
    /// in parsers: the octets behind what was extracted so far; type `Bytes`
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Builtin {
    Now,
    Min,
    Max,
    Abs,
    SeqMin,
    SeqMax,
    /// arguments: scalars and ids
    KeyedHash,
    Mtu,
    /// the core's address, `uint32`
    LocalIp,
    /// (addr, n as uint64)
    AddrSkip,
    /// (addr) -> bool
    AddrIsNone,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnOp {
    Neg,
    Not,
    BitNot,
    /// of `Fixed`, rounded down; of a negative number 0
    Sqrt,
    /// of `Fixed`, rounded toward zero
    Cbrt,
}

/// On operands of one type; the result has that type, `Bool` for comparisons, or what is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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
    /// two integers or units of one type -> `Fixed`: their quotient through 128 bits, rounded toward zero; by 0: 0
    Ratio,
    /// rate * duration -> bytes: (rate * duration) / (8 * 10^9) through 128 bits; a negative duration counts as 0
    RateTimesDuration,
}
