// SPDX-License-Identifier: MIT OR Apache-2.0
//! From written types to types.

use carrick_ir::{self as ir, Order, Ty};
use carrick_syntax::Span;
use carrick_syntax::ast::{Expr, Ident, ItemKind, Type, TypeKind};
use carrick_syntax::diag::Diagnostic;

use crate::env::Def;
use crate::{Checker, codes};

/// The most elements of an array or a list.
const LENGTH_MAX: u64 = ir::validate::numbers::LENGTH_MAX;

/// The built-in types that have values of their own.
pub const BUILT_IN_TYPES: [(&str, Ty); 19] = [
    ("bool", Ty::Bool),
    ("uint8", Ty::U8),
    ("uint16", Ty::U16),
    ("uint32", Ty::U32),
    ("uint64", Ty::U64),
    ("int8", Ty::Int { bits: 8, signed: true }),
    ("int16", Ty::Int { bits: 16, signed: true }),
    ("int32", Ty::Int { bits: 32, signed: true }),
    ("int64", Ty::I64),
    ("seq32", Ty::Seq32),
    ("fixed", Ty::Fixed),
    ("duration", Ty::Duration),
    ("time", Ty::Time),
    ("rate", Ty::Rate),
    ("bytes", Ty::Bytes),
    ("addr_t", Ty::Addr),
    ("token_t", Ty::Token),
    ("handle_t", Ty::Handle),
    ("status_t", Ty::Status),
];

/// The built-in type with this name.
pub fn built_in(name: &str) -> Option<Ty> {
    BUILT_IN_TYPES.iter().find(|(n, _)| *n == name).map(|(_, ty)| ty.clone())
}

/// What only fields of packets are.
const HEADER_TYPES: [&str; 4] = ["data_t", "varint_t", "checksum16_t", "crc32_t"];

impl Checker<'_> {
    /// The type, or `None` if it is wrong (which has been reported).
    pub(crate) fn resolve(&mut self, ty: &Type) -> Option<Ty> {
        match &ty.kind {
            TypeKind::Name(name) => self.resolve_name(name, ty.span),
            TypeKind::List(element, bound) => {
                let element = self.resolve(element)?;
                let Some(bound) = bound else { return self.unbounded_list(ty.span, "list<T, N>") };
                Some(Ty::List(Box::new(element), self.length(bound)?, Order::Given))
            }
            TypeKind::SortedList(element, bound, key) => self.sorted_list(ty, element, bound, key.as_ref()),
            TypeKind::SlidingWnd(size, runs) => self.window(ty.span, size.as_deref(), runs.as_deref()),
        }
    }

    fn unbounded_list<T>(&mut self, span: Span, mend: &str) -> Option<T> {
        self.report(
            Diagnostic::error(
                codes::LIST_BOUND,
                "this list has no bound",
                span,
                "no maximum number of elements",
            )
            .note("every data structure is bounded, so that any target can hold it")
            .mend(format!("write `{mend}`")),
        );
        None
    }

    fn sorted_list(
        &mut self,
        ty: &Type,
        element: &Type,
        bound: &Option<Box<Expr>>,
        key: Option<&Ident>,
    ) -> Option<Ty> {
        let resolved = self.resolve(element)?;
        let Some(bound) = bound else { return self.unbounded_list(ty.span, "sorted_list<T, N>") };
        let bound = self.length(bound)?;
        let (order, sorted_by) = match (key, &resolved) {
            (None, _) => (Order::Sorted, resolved.clone()),
            (Some(key), Ty::Struct(_)) => {
                let (at, ty) = self.struct_field(element, key)?;
                (Order::SortedBy(at), ty)
            }
            (Some(key), _) => {
                let found = self.name(&resolved);
                return self.no_order(key.span, &format!("`{found}` has no fields to sort by"));
            }
        };
        if !sorted_by.is_ordered() {
            let found = self.name(&sorted_by);
            let span = key.map_or(element.span, |k| k.span);
            return self.no_order(span, &format!("`{found}` has no total order"));
        }
        Some(Ty::List(Box::new(resolved), bound, order))
    }

    fn no_order<T>(&mut self, span: Span, label: &str) -> Option<T> {
        self.report(
            Diagnostic::error(codes::SORT_KEY, "this list has no sort key", span, label.to_owned())
                .note("lists are sorted by integers, durations, times, rates, bytes and enums; of three `seq32`, each can be before the next")
                .mend("write `sorted_list<T, N, key>` with a field of the struct T"),
        );
        None
    }

    /// A field of a struct, which may be declared later.
    fn struct_field(&mut self, of: &Type, field: &Ident) -> Option<(u32, Ty)> {
        let file = self.file;
        let TypeKind::Name(of) = &of.kind else { return None };
        let fields = file.items.iter().find_map(|item| match &item.kind {
            ItemKind::Struct { name, fields } if name.name == *of => Some(fields),
            _ => None,
        })?;
        let Some(at) = fields.iter().position(|f| f.name.name == field.name) else {
            let names: Vec<&str> = fields.iter().map(|f| f.name.name.as_str()).collect();
            self.unknown(codes::UNKNOWN_FIELD, "field", field, &names);
            return None;
        };
        match &fields[at].ty.kind {
            TypeKind::Name(_) if fields[at].array.is_none() => {
                Some((at as u32, self.resolve(&fields[at].ty)?))
            }
            _ => self.no_order(field.span, "has many values"),
        }
    }

    fn resolve_name(&mut self, name: &str, span: Span) -> Option<Ty> {
        if let Some(ty) = built_in(name) {
            return Some(ty);
        }
        if name == ir::ADDRESS {
            return Some(self.program.address_ty());
        }
        let ty = match self.env.get(name) {
            Some(Def::Enum(id) | Def::Machine(id, _)) => Ty::Enum(id),
            Some(Def::Struct(id)) => Ty::Struct(id),
            Some(Def::Id(id)) => Ty::Id(id),
            Some(Def::Event(id)) => Ty::Event(id),
            Some(Def::Context(id)) => Ty::Context(id),
            Some(Def::Scratchpad(id)) => Ty::Scratch(id),
            Some(Def::Blueprint(id)) => Ty::Blueprint(id),
            Some(Def::NetHeader) => Ty::NetHeader,
            _ if name == "pkt_t" => Ty::Packet,
            _ if name == "void" => Ty::Void,
            None if HEADER_TYPES.contains(&name) => return self.header_type_elsewhere(name, span),
            _ => {
                let mut candidates: Vec<String> =
                    BUILT_IN_TYPES.iter().map(|(n, _)| (*n).to_owned()).collect();
                candidates.extend(self.names_to_suggest().map(str::to_owned));
                let candidates: Vec<&str> = candidates.iter().map(String::as_str).collect();
                let ident = Ident { name: name.to_owned(), span };
                self.unknown(codes::UNKNOWN_TYPE, "type", &ident, &candidates);
                return None;
            }
        };
        self.usage.mark(name);
        Some(ty)
    }

    fn header_type_elsewhere<T>(&mut self, name: &str, span: Span) -> Option<T> {
        self.report(
            Diagnostic::error(
                codes::HEADER_TYPE,
                format!("`{name}` is a type of fields in a packet"),
                span,
                "not in a packet",
            )
            .note("it is the encoding of a field; elsewhere a `varint_t` is a `uint64`, and data stays in its unit")
            .mend("use an integer type, or `addr_t` for data"),
        );
        None
    }

    /// The length of an array or the bound of a list: a constant in 1..=65536.
    pub(crate) fn length(&mut self, expr: &Expr) -> Option<u32> {
        let value = self.count_of(expr)?;
        if (1..=LENGTH_MAX).contains(&value) {
            return Some(value as u32);
        }
        self.report(
            Diagnostic::error(
                codes::ARRAY_LENGTH,
                format!("{value} is not a possible length"),
                expr.span,
                "here",
            )
            .note(format!("arrays and lists hold 1 to {LENGTH_MAX} elements"))
            .mend("choose a length in this range"),
        );
        None
    }

    fn window(&mut self, span: Span, size: Option<&Expr>, runs: Option<&Expr>) -> Option<Ty> {
        let impossible = |label: &str| {
            Diagnostic::error(codes::WINDOW_SIZE, "this sliding window has an impossible size", span, label.to_owned())
                .note("a window has 1 to 2^31 numbers and 1 to 256 ranges; without a number of ranges, at most 65536 numbers")
                .mend("write `sliding_wnd(N)`, or `sliding_wnd(N, R)` for many numbers in few ranges")
        };
        let Some(size) = size else {
            self.report(impossible("how many numbers?"));
            return None;
        };
        let size = self.count_of(size)?;
        let runs = match runs {
            Some(runs) => Some(self.count_of(runs)?),
            None => None,
        };
        let possible = match runs {
            None => (1..=LENGTH_MAX).contains(&size),
            Some(runs) => {
                (1..=ir::validate::numbers::WND_MAX).contains(&size)
                    && (1..=ir::validate::numbers::RUNS_MAX.into()).contains(&runs)
            }
        };
        if !possible {
            self.report(impossible("here"));
            return None;
        }
        Some(Ty::Wnd { size, runs: runs.map(|r| r as u32) })
    }

    /// The type as it is written in a program.
    pub(crate) fn name(&self, ty: &Ty) -> String {
        if let Some((name, _)) = BUILT_IN_TYPES.iter().find(|(_, t)| t == ty) {
            return (*name).to_owned();
        }
        let p = &self.program;
        match ty {
            Ty::Void => "void".into(),
            Ty::Packet => "pkt_t".into(),
            Ty::NetHeader => p.net_header.name.clone(),
            Ty::Array(element, n) => format!("{}[{n}]", self.name(element)),
            Ty::List(element, n, order) => {
                let element_name = self.name(element);
                match (order, &**element) {
                    (Order::Given, _) => format!("list<{element_name}, {n}>"),
                    (Order::SortedBy(at), Ty::Struct(id)) => {
                        let fields = p.structs.get(id.index()).map_or(&[][..], |s| &s.fields);
                        let key = fields.get(*at as usize).map_or("?", |f| &f.name);
                        format!("sorted_list<{element_name}, {n}, {key}>")
                    }
                    _ => format!("sorted_list<{element_name}, {n}>"),
                }
            }
            Ty::Wnd { size, runs: None } => format!("sliding_wnd({size})"),
            Ty::Wnd { size, runs: Some(runs) } => format!("sliding_wnd({size}, {runs})"),
            other => self.declared_name(other).unwrap_or("?").to_owned(),
        }
    }

    fn declared_name(&self, ty: &Ty) -> Option<&str> {
        let wanted = match ty {
            Ty::Enum(id) => Def::Enum(*id),
            Ty::Struct(id) => Def::Struct(*id),
            Ty::Id(id) => Def::Id(*id),
            Ty::Event(id) => Def::Event(*id),
            Ty::Context(id) => Def::Context(*id),
            Ty::Scratch(id) => Def::Scratchpad(*id),
            Ty::Blueprint(id) => Def::Blueprint(*id),
            _ => return None,
        };
        self.env.names().find(|n| match (self.env.get(n), wanted) {
            (Some(Def::Machine(states, _)), Def::Enum(id)) => states == id,
            (found, wanted) => found == Some(wanted),
        })
    }
}

/// Whether a value of `from` is a value of `to` without being asked.
pub fn converts(from: &Ty, to: &Ty) -> bool {
    match (from, to) {
        _ if from == to => true,
        (Ty::Int { bits: a, signed: false }, Ty::Int { bits: b, .. }) => a < b,
        (Ty::Int { bits: a, signed: true }, Ty::Int { bits: b, signed: true }) => a < b,
        (Ty::Int { signed: false, .. }, Ty::Bytes) => true,
        _ => false,
    }
}

/// Integer types.
pub fn is_int(ty: &Ty) -> bool {
    matches!(ty, Ty::Int { .. })
}

/// Types whose values carry a unit: they scale by integers.
pub fn is_unit(ty: &Ty) -> bool {
    matches!(ty, Ty::Fixed | Ty::Duration | Ty::Bytes | Ty::Rate)
}

/// Whether the value (in canonical form as `uint64`, or negative as `int64`) fits the type.
pub fn fits(ty: &Ty, value: i128) -> bool {
    let (bits, signed) = ir::arith::shape(ty);
    let (lo, hi) = if signed {
        (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1)
    } else {
        (0, (1_i128 << bits) - 1)
    };
    (lo..=hi).contains(&value)
}
