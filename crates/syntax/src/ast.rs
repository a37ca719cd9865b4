// SPDX-License-Identifier: MIT OR Apache-2.0
//! The syntax tree: what was written, before any name or type is known.
//!
//! Plain data. Every node that a diagnostic may point at has a [`Span`]. Comments are not in the
//! tree: the formatter takes them from the token stream, by position.

use crate::span::Span;

/// A name as written, and where.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Ident {
    pub name: String,
    pub span: Span,
}

/// A whole file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct File {
    /// `import "path";`: the path without its quotes, which the span takes in
    pub imports: Vec<Ident>,
    pub items: Vec<Item>,
    /// what a choice of features has left out: names that only this mentions are of use all the same
    pub left_out: Vec<Span>,
    /// the version of the Internet Protocol that the build chooses, for `net_header inet`
    pub over: Over,
}

/// A version of the Internet Protocol.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Over {
    #[default]
    Ipv4,
    Ipv6,
}

/// One declaration with its doc comment (`///` lines, joined by newlines, without the slashes).
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    pub doc: String,
    pub kind: ItemKind,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ItemKind {
    /// `const T NAME = e;`
    Const { ty: Type, name: Ident, value: Expr },
    /// `const T NAME[n] = { e, ... }`
    ConstArray { ty: Type, name: Ident, len: Expr, values: Vec<Expr> },
    /// `param T name = e in lo..hi;`
    Param { ty: Type, name: Ident, value: Expr, lo: Expr, hi: Expr },
    /// `require cond;`
    Require { cond: Expr },
    /// `enum E : uint8 { A, B = 4 }`
    Enum { name: Ident, repr: Type, variants: Vec<Variant> },
    /// `struct S { fields }`
    Struct { name: Ident, fields: Vec<Field> },
    /// `id K(T a, ...);`
    Id { name: Ident, parts: Vec<Param> },
    /// `event E : kind { fields }`
    Event { name: Ident, kind: Ident, fields: Vec<Field> },
    /// `context C by K { members }`; `by` is `None` where it was forgotten (an error that sema reports)
    /// `global`: where that is written
    Context { name: Ident, global: Option<Span>, by: Option<Ident>, fields: Vec<Field>, timers: Vec<Timer> },
    /// `scratchpad S { fields }`
    Scratchpad { name: Ident, fields: Vec<Field> },
    /// `net_header H { fields }`
    NetHeader { name: Ident, fields: Vec<Field> },
    /// `opt_t O { fields }`
    Opt { name: Ident, fields: Vec<Field> },
    /// `opt_union U { O, ... }`
    OptUnion { name: Ident, members: Vec<Ident> },
    /// `frame_union U { B, ... }`
    FrameUnion { name: Ident, members: Vec<Ident> },
    /// `opt_list L { fields }`
    OptList { name: Ident, fields: Vec<Field> },
    /// `pkt_bp B over H { fields }`
    Blueprint { name: Ident, over: Option<Ident>, fields: Vec<Field> },
    /// `seg_rule r [B::f, first, mid, last];` or, with parameters, `seg_rule r(x) [...]`
    SegRule {
        name: Ident,
        params: Vec<Ident>,
        blueprint: Ident,
        field: Ident,
        first: Expr,
        mid: Expr,
        last: Option<Expr>,
    },
    /// `coalescing_rule r [B, when];` or, with what is taken over, `coalescing_rule r [B, when, f, ...];`
    CoalescingRule { name: Ident, blueprint: Ident, when: Expr, takes: Vec<Ident> },
    /// `T f(params) { body }`
    Function { ret: Type, name: Ident, params: Vec<Param>, body: Block },
    /// `dispatch D { arms }`
    Dispatch { name: Ident, arms: Vec<Arm> },
    /// `machine M for C c { states, and what happens in all of them }`
    Machine { name: Ident, context: Param, states: Vec<State>, anywhere: Vec<Reaction> },
    /// `interface I { calls }`
    Interface { name: Ident, calls: Vec<InterfaceCall> },
    /// `deploy { calls }`: each is `register_...(...)`
    Deploy { calls: Vec<Expr> },
    /// `layout B { entries }`
    Layout { blueprint: Ident, entries: Vec<LayoutEntry> },
    /// `feature F(option, ...) default { requires G; excludes H; declarations }`, or `feature F = option { ... }`
    Feature(Feature),
    /// `extend f.p { body }`: what runs at the point `p` of the function `f`
    Extension { function: Ident, point: Ident, body: Block },
}

/// A pattern for each kind of declaration that has fields.
macro_rules! with_fields {
    ($fields:ident) => {
        ItemKind::Struct { $fields, .. }
            | ItemKind::Event { $fields, .. }
            | ItemKind::Context { $fields, .. }
            | ItemKind::Scratchpad { $fields, .. }
            | ItemKind::NetHeader { $fields, .. }
            | ItemKind::Opt { $fields, .. }
            | ItemKind::OptList { $fields, .. }
            | ItemKind::Blueprint { $fields, .. }
    };
}

impl ItemKind {
    /// Returns the fields of a declaration; none for a kind that has no fields.
    pub fn fields(&self) -> &[Field] {
        match self {
            with_fields!(fields) => fields,
            _ => &[],
        }
    }

    /// Returns the fields of a declaration, to change them; `None` for a kind that has no fields.
    pub fn fields_mut(&mut self) -> Option<&mut Vec<Field>> {
        match self {
            with_fields!(fields) => Some(fields),
            _ => None,
        }
    }
}

/// What a build may choose.
#[derive(Debug, Clone, PartialEq)]
pub struct Feature {
    pub name: Ident,
    /// what follows belongs to this option of a feature that is declared elsewhere
    pub of_option: Option<Ident>,
    /// the first is what a choice of the feature alone means
    pub options: Vec<Ident>,
    /// where it says that it is chosen unless a build says otherwise
    pub default: Option<Span>,
    /// where it says that every build has it, with one of its options
    pub always: Option<Span>,
    pub requires: Vec<FeatureUse>,
    pub excludes: Vec<FeatureUse>,
    /// what it adds; a declaration with the name of one that is there extends that
    pub items: Vec<Item>,
}

/// `F`, or `F = option`.
#[derive(Debug, Clone, PartialEq)]
pub struct FeatureUse {
    pub feature: Ident,
    pub option: Option<Ident>,
}

/// How some fields of a blueprint lie in a packet.
#[derive(Debug, Clone, PartialEq)]
pub enum LayoutEntry {
    /// `group g { f, ... }`, `group g as ethernet { f, ... }`, or `pack g { f, ... }`
    Group { doc: String, name: Ident, packed: bool, shape: Option<Ident>, fields: Vec<Ident> },
    /// `range f in lo..hi;`
    Range { field: Ident, lo: Expr, hi: Expr },
    /// `align f = bits;`
    Align { field: Ident, bits: Expr },
}

#[derive(Debug, Clone, PartialEq)]
pub struct Variant {
    pub name: Ident,
    pub value: Option<Expr>,
}

/// `optional T name[N] : bits in lo..hi = init;` (the word, array, bits, range and init may be missing)
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    pub doc: String,
    pub ty: Type,
    pub name: Ident,
    pub array: Option<Expr>,
    pub bits: Option<Expr>,
    /// `align n`, of a blueprint's payload
    pub align: Option<Expr>,
    /// `in lo..hi`, in a blueprint: both are possible
    pub range: Option<(Expr, Expr)>,
    pub init: Option<Expr>,
    /// in a blueprint: what must hold for the field to be there, the outermost first
    pub presence: Vec<Presence>,
    /// in an event, `optional`: where it is written. Of an assembled program, the field before it says whether it is there
    pub optional: Option<Span>,
    /// `..name;`: the fields of the declaration of this name
    pub spread: bool,
    pub span: Span,
}

impl Field {
    /// One with a type and a name, and nothing else.
    pub fn plain(ty: Type, name: Ident) -> Field {
        let span = ty.span.to(name.span);
        Field {
            doc: String::new(),
            ty,
            name,
            array: None,
            bits: None,
            align: None,
            range: None,
            init: None,
            presence: Vec::new(),
            optional: None,
            spread: false,
            span,
        }
    }
}

/// A group of fields that is not in every packet: `if (cond) { fields }`, or an arm of `union (cond) { arm -> { fields } }`.
#[derive(Debug, Clone, PartialEq)]
pub struct Presence {
    pub cond: Expr,
    pub arm: Option<Expr>,
    /// of the group, so that two groups with the same condition can be told apart
    pub span: Span,
}

/// `timer_t name -> event;` or `timer_t name[8] -> event;`
#[derive(Debug, Clone, PartialEq)]
pub struct Timer {
    pub doc: String,
    pub name: Ident,
    pub array: Option<Expr>,
    pub event: Ident,
    pub span: Span,
}

/// `else at id(0, part)`: where an event without a context looks for one again
#[derive(Debug, Clone, PartialEq)]
pub struct Fallback {
    pub id: Ident,
    pub args: Vec<Expr>,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Param {
    pub ty: Type,
    pub name: Ident,
}

/// `E else at id(0, part) -> { a, b } absent { c };`
#[derive(Debug, Clone, PartialEq)]
pub struct Arm {
    pub event: Ident,
    pub fallback: Option<Fallback>,
    pub chain: Vec<Step>,
    pub absent: Option<Vec<Step>>,
    pub span: Span,
}

/// `state S { reactions }`
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    pub doc: String,
    pub name: Ident,
    pub reactions: Vec<Reaction>,
    pub span: Span,
}

/// `on E e with T x, ... if (cond) { body }` (name, further parameters and condition optional)
#[derive(Debug, Clone, PartialEq)]
pub struct Reaction {
    pub event: Ident,
    pub name: Option<Ident>,
    pub with: Vec<Param>,
    pub cond: Option<Expr>,
    pub body: Block,
    /// up to the body
    pub head: Span,
}

/// A processor in a chain: `p`, `p after q`, `p before q`.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    pub name: Ident,
    pub place: Option<Place>,
}

/// Where in a chain a processor stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    pub side: Side,
    pub of: Ident,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Before,
    After,
}

/// `call -> E at K(args);` or `call -> E on C;`
#[derive(Debug, Clone, PartialEq)]
pub struct InterfaceCall {
    pub doc: String,
    pub name: Ident,
    pub event: Ident,
    pub target: CallTarget,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub enum CallTarget {
    At {
        id: Ident,
        args: Vec<Expr>,
    },
    On {
        context: Ident,
    },
    /// neither was written
    None,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Type {
    pub kind: TypeKind,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub enum TypeKind {
    /// built-in or declared
    Name(String),
    /// `list<T>` or `list<T, N>`
    List(Box<Type>, Option<Box<Expr>>),
    /// `sorted_list<T, N>` or `sorted_list<T, N, key>`
    SortedList(Box<Type>, Option<Box<Expr>>, Option<Ident>),
    /// `sliding_wnd`, `sliding_wnd(N)`, `sliding_wnd(N, R)`
    SlidingWnd(Option<Box<Expr>>, Option<Box<Expr>>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    pub stmts: Vec<Stmt>,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Stmt {
    pub kind: StmtKind,
    pub span: Span,
}

/// The values that the variable of a loop takes.
#[derive(Debug, Clone, PartialEq)]
pub enum Turns {
    /// `a..b max N`
    Range { from: Expr, to: Expr, max: Option<Expr> },
    /// of a list or an array
    EachOf(Expr),
}

impl Turns {
    /// The expressions, in the order of the text.
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        let (first, to, max) = match self {
            Turns::Range { from, to, max } => (from, Some(to), max.as_ref()),
            Turns::EachOf(list) => (list, None, None),
        };
        std::iter::once(first).chain(to).chain(max)
    }

    /// The expressions, in the order of the text, to change them.
    pub fn exprs_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        let (first, to, max) = match self {
            Turns::Range { from, to, max } => (from, Some(to), max.as_mut()),
            Turns::EachOf(list) => (list, None, None),
        };
        std::iter::once(first).chain(to).chain(max)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum StmtKind {
    /// `T x;`, `T x = e;`, `T x(args);`, `T x[N];`
    Let {
        ty: Type,
        name: Ident,
        array: Option<Expr>,
        init: LetInit,
    },
    /// `place op= e;` (`op` is `None` for `=`). `x++;` is `x += 1;` with `incdec` set
    Assign {
        place: Expr,
        op: Option<BinOp>,
        value: Expr,
        incdec: bool,
    },
    /// a call for its effect
    Expr(Expr),
    If {
        cond: Expr,
        then: Block,
        otherwise: Option<Box<Stmt>>,
    },
    Block(Block),
    /// `for (T x in over) { }`
    For {
        ty: Type,
        var: Ident,
        over: Turns,
        body: Block,
    },
    /// `while (cond max n) { }`
    While {
        cond: Expr,
        max: Expr,
        body: Block,
    },
    /// `list.retain(x, keep);`: only the elements x stay for which this holds; `word` is where `retain` stands
    Retain {
        list: Expr,
        word: Span,
        var: Ident,
        keep: Expr,
    },
    /// `choose (value) { 1, 2 -> ...; else -> ...; }`
    Choose {
        value: Expr,
        branches: Vec<Branch>,
    },
    Break,
    Continue,
    Return(Option<Expr>),
    Stop,
    /// `raise e;`, `raise e at id;`, or `raise E at id { record };` (id and record optional): the record is an `ExprKind::Record`
    Raise {
        event: Expr,
        at: Option<Expr>,
        record: Option<Expr>,
    },
    /// `goto S;`: in a machine, its next state
    Goto(Ident),
    /// `point p(x, ...);`: where extensions of the function run, which see these variables
    Point {
        name: Ident,
        passed: Vec<Ident>,
    },
    /// what could not be parsed; already reported
    Error,
}

/// `1, 4..7 -> { }`, or `else -> { }`, which is the last of its choice
#[derive(Debug, Clone, PartialEq)]
pub struct Branch {
    /// none for `else`
    pub cases: Vec<Case>,
    /// the cases, or the word `else`
    pub head: Span,
    pub body: Block,
}

/// `1`, or `4..7` with both ends
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    pub first: Expr,
    pub last: Option<Expr>,
}

impl Branch {
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        self.cases.iter().flat_map(|case| [&case.first].into_iter().chain(&case.last))
    }

    pub fn exprs_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        self.cases.iter_mut().flat_map(|case| [&mut case.first].into_iter().chain(&mut case.last))
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum LetInit {
    None,
    Value(Expr),
    /// `flow k(a, b);`
    Args(Vec<Expr>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ExprKind {
    /// value, and how it was written (for the formatter)
    Int {
        value: u64,
        text: String,
    },
    /// `10ms`: the number and the unit, as written
    Unit {
        value: u64,
        unit: String,
        text: String,
    },
    Bool(bool),
    None,
    Inf,
    Name(String),
    /// `e.f`
    Field(Box<Expr>, Ident),
    /// `e[i]`
    Index(Box<Expr>, Box<Expr>),
    /// `f(args)`, where f is a name or a field (`l.add(x)`)
    Call(Box<Expr>, Vec<Expr>),
    Unary(UnOp, Box<Expr>),
    Binary(BinOp, Box<Expr>, Box<Expr>),
    Cond(Box<Expr>, Box<Expr>, Box<Expr>),
    Paren(Box<Expr>),
    /// `{ ..e, f = x }`: of the type that its surroundings want
    Record(Vec<Entry>),
    /// what could not be parsed; already reported
    Error,
}

/// An entry of a record.
#[derive(Debug, Clone, PartialEq)]
pub enum Entry {
    /// `f = value`
    Field { name: Ident, value: Expr },
    /// `..value`: the fields that it has in common with the record
    Spread(Expr),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnOp {
    Neg,
    Not,
    BitNot,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BinOp {
    Mul,
    Div,
    Rem,
    Add,
    Sub,
    Shl,
    Shr,
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
    BitAnd,
    BitXor,
    BitOr,
    And,
    Or,
}
