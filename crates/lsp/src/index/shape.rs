// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a value is, as far as it matters for what may stand behind its `.`.

use carrick_syntax::ast::{Type, TypeKind};

use super::symbols::{Index, Kind, Shape, SymbolId};
use crate::words::Word;
use crate::words::members as m;

impl Index {
    /// What a symbol stands for where it is used as a value.
    pub fn shape(&self, symbol: SymbolId) -> Shape {
        let it = &self.symbols[symbol];
        match it.kind {
            Kind::Timer => self.timer_shape(symbol),
            Kind::Id | Kind::Opt => Shape::Of(symbol), // made by a call
            Kind::Field if it.optional => Shape::Optional(Box::new(self.field_shape(symbol))),
            Kind::Field => self.field_shape(symbol),
            _ => it.ty.as_ref().map_or(Shape::Plain, |ty| self.of_type(ty, it.is_array)),
        }
    }

    fn timer_shape(&self, symbol: SymbolId) -> Shape {
        let it = &self.symbols[symbol];
        let event = match it.ty.as_ref().map(|ty| &ty.kind) {
            Some(TypeKind::Name(event)) => self.global(event),
            _ => None,
        };
        let one = Shape::Timer(event);
        if it.is_array { Shape::Array(Box::new(one)) } else { one }
    }

    fn field_shape(&self, symbol: SymbolId) -> Shape {
        let it = &self.symbols[symbol];
        let Some(ty) = &it.ty else { return Shape::Plain };
        match &ty.kind {
            TypeKind::Name(name) if name == "data_t" => Shape::Payload,
            TypeKind::List(element, _) if self.names_a(element, Kind::FrameUnion) => Shape::Frames,
            _ => self.of_type(ty, it.is_array),
        }
    }

    fn names_a(&self, ty: &Type, kind: Kind) -> bool {
        let TypeKind::Name(name) = &ty.kind else { return false };
        self.global(name).is_some_and(|s| self.symbols[s].kind == kind)
    }

    pub(super) fn of_type(&self, ty: &Type, is_array: bool) -> Shape {
        let one = match &ty.kind {
            TypeKind::Name(name) if name == "pkt_t" => Shape::Packet,
            TypeKind::Name(name) if ["token_t", "addr_t", "handle_t"].contains(&name.as_str()) => {
                Shape::Request
            }
            TypeKind::Name(name) => match self.global(name) {
                Some(symbol) if self.symbols[symbol].kind == Kind::OptList => Shape::Options,
                Some(symbol) => Shape::Of(symbol),
                None => Shape::Plain,
            },
            TypeKind::List(element, _) => Shape::List(Box::new(self.of_type(element, false))),
            TypeKind::SortedList(element, ..) => Shape::SortedList(Box::new(self.of_type(element, false))),
            TypeKind::SlidingWnd(..) => Shape::Window,
        };
        if is_array { Shape::Array(Box::new(one)) } else { one }
    }

    /// The declared member of this name, and what it is.
    pub fn member_of(&self, shape: &Shape, name: &str) -> Option<SymbolId> {
        let Shape::Of(symbol) = shape.value() else { return None };
        self.member(*symbol, name)
    }

    /// What a member that is not declared stands for.
    pub(super) fn built_in_shape(&self, shape: &Shape, name: &str) -> Shape {
        match (shape.value(), name) {
            (Shape::Of(it), "id" | "net") => self.made_with.get(it).map_or(Shape::Plain, |w| Shape::Of(*w)),
            (Shape::Of(it), "pkt") if self.net_events.contains(it) => Shape::Packet,
            (Shape::List(of) | Shape::SortedList(of), "get" | "pop") => (**of).clone(),
            _ => Shape::Plain,
        }
    }

    /// The members that need no declaration.
    pub fn built_in_members(&self, shape: &Shape) -> Vec<&'static Word> {
        if let Shape::Optional(of) = shape {
            return m::OPTIONAL.iter().chain(self.built_in_members(of)).collect();
        }
        let words: &[&[Word]] = match shape {
            Shape::Of(symbol) => match self.symbols[*symbol].kind {
                Kind::Context => &[m::CONTEXT],
                Kind::Event if self.app_events.contains(symbol) => &[m::APP_EVENT],
                Kind::Event if self.net_events.contains(symbol) => &[m::NET_EVENT],
                Kind::Blueprint if self.made_with.contains_key(symbol) => &[m::BLUEPRINT],
                Kind::Opt => &[m::OPTION],
                _ => &[],
            },
            Shape::List(_) => &[m::ANY_LIST, m::RETAIN, m::LIST],
            Shape::SortedList(_) => &[m::ANY_LIST, m::RETAIN, m::SORTED_LIST],
            Shape::Window => &[m::WINDOW],
            Shape::Timer(_) => &[m::TIMER],
            Shape::Request => &[m::REQUEST],
            Shape::Payload => &[m::PAYLOAD],
            Shape::Frames => &[m::FRAMES, m::PAYLOAD],
            Shape::Options => &[m::OPTIONS],
            Shape::Packet => &[m::PACKET],
            Shape::Array(_) | Shape::Optional(_) | Shape::Plain => &[],
        };
        words.iter().copied().flatten().collect()
    }
}
