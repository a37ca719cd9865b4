// SPDX-License-Identifier: MIT OR Apache-2.0
//! The symbols of a program, and where each is used.

use std::collections::BTreeSet;

use carrick_syntax::{Span, ast};
use rustc_hash::FxHashMap;

/// A symbol's number, in the order in which symbols are declared.
pub type SymbolId = usize;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Const,
    Param,
    Enum,
    Variant,
    Struct,
    Id,
    Event,
    Context,
    Scratchpad,
    NetHeader,
    Opt,
    OptUnion,
    FrameUnion,
    OptList,
    Blueprint,
    Feature,
    /// of a feature
    FeatureOption,
    /// of fields, in a layout
    Group,
    SegRule,
    CoalescingRule,
    Function,
    /// of a function
    Point,
    Machine,
    /// of a machine
    State,
    Dispatch,
    Interface,
    /// a call of an interface
    Call,
    Field,
    Timer,
    /// of a function or a rule
    Parameter,
    Variable,
}

/// Something that has a name.
#[derive(Debug)]
pub struct Symbol {
    pub name: String,
    pub kind: Kind,
    /// of the name where it is declared
    pub span: Span,
    /// of the whole declaration
    pub whole: Span,
    /// what its declaration reads as, up to a body
    pub head: Span,
    pub doc: String,
    /// its type, or what it returns
    pub ty: Option<ast::Type>,
    pub is_array: bool,
    /// a field that an event need not have
    pub optional: bool,
    /// what it is a part of
    pub owner: Option<SymbolId>,
    /// of a local name: where it is known
    pub scope: Option<Span>,
}

/// A place where a symbol is named; its declaration is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reference {
    pub span: Span,
    pub symbol: SymbolId,
}

/// What a value is, as far as it matters for what may stand behind its `.`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shape {
    /// a value of a declared type
    Of(SymbolId),
    /// elements, and no members
    Array(Box<Shape>),
    /// a field of an event that it need not have
    Optional(Box<Shape>),
    List(Box<Shape>),
    SortedList(Box<Shape>),
    Window,
    /// of this event
    Timer(Option<SymbolId>),
    Payload,
    Frames,
    Options,
    Packet,
    /// a request, its memory or an instance; or none
    Request,
    /// without members, or not known
    Plain,
}

impl Shape {
    /// What it is where it is there.
    pub fn value(&self) -> &Shape {
        if let Shape::Optional(of) = self { of } else { self }
    }
}

#[derive(Debug, Default)]
pub struct Index {
    pub symbols: Vec<Symbol>,
    /// in the order of the text
    pub references: Vec<Reference>,
    pub(super) globals: FxHashMap<String, SymbolId>,
    /// features have names of their own
    pub(super) features: FxHashMap<String, SymbolId>,
    /// the parts of each symbol, in order
    pub(super) members: FxHashMap<SymbolId, Vec<SymbolId>>,
    /// the id of a context, the header under a blueprint: what its declaration is made with
    pub(super) made_with: FxHashMap<SymbolId, SymbolId>,
    /// app events have a token
    pub(super) app_events: Vec<SymbolId>,
    /// net events have a packet
    pub(super) net_events: Vec<SymbolId>,
    /// what takes the fields of which other, while declarations are read
    pub(super) taken: Vec<(SymbolId, ast::Ident)>,
    /// fields that a spread takes over, by their names
    pub spread: BTreeSet<SymbolId>,
    /// what stands in front of each `.`, by the span of what is behind it
    pub(super) accesses: FxHashMap<Span, Shape>,
    /// the variables that an extension sees in its body
    pub(super) passed: Vec<(Span, Vec<SymbolId>)>,
}

impl Index {
    /// The reference that an offset touches; of two that it lies between, the one that begins there.
    pub fn at(&self, offset: u32) -> Option<Reference> {
        let after = self.references.partition_point(|r| r.span.start <= offset);
        let last = self.references[..after].last()?;
        (offset <= last.span.end).then_some(*last)
    }

    /// What is declared elsewhere, or here, and named at an offset.
    pub fn definition(&self, offset: u32) -> Option<Span> {
        Some(self.symbols[self.at(offset)?.symbol].span)
    }

    pub fn uses(&self, symbol: SymbolId) -> impl Iterator<Item = Span> {
        self.references.iter().filter(move |r| r.symbol == symbol).map(|r| r.span)
    }

    pub fn global(&self, name: &str) -> Option<SymbolId> {
        self.globals.get(name).copied()
    }

    pub fn feature(&self, name: &str) -> Option<SymbolId> {
        self.features.get(name).copied()
    }

    pub fn members(&self, symbol: SymbolId) -> &[SymbolId] {
        self.members.get(&symbol).map_or(&[], Vec::as_slice)
    }

    pub fn member(&self, symbol: SymbolId, name: &str) -> Option<SymbolId> {
        self.members(symbol).iter().copied().find(|m| self.symbols[*m].name == name)
    }

    pub fn is_app_event(&self, symbol: SymbolId) -> bool {
        self.app_events.contains(&symbol)
    }

    /// What stands in front of the `.` before this name.
    pub fn in_front_of(&self, name: Span) -> Option<&Shape> {
        self.accesses.get(&name)
    }

    /// All symbols that can be named at an offset without a `.`: locals that are declared before it, and globals.
    pub fn in_scope(&self, offset: u32) -> impl Iterator<Item = &Symbol> {
        let around = move |scope: Span| scope.start <= offset && offset <= scope.end;
        let passed = self.passed.iter().filter(move |(body, _)| around(*body)).flat_map(|(_, all)| all);
        let known = self.symbols.iter().filter(move |s| match s.scope {
            Some(scope) => around(scope),
            None => {
                (s.owner.is_none() && s.kind != Kind::Feature)
                    || matches!(s.kind, Kind::Variant | Kind::State)
            }
        });
        known.chain(passed.map(|id| &self.symbols[*id]))
    }
}
