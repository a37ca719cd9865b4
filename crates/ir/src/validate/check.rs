// SPDX-License-Identifier: MIT OR Apache-2.0
//! The state of a check, and what all parts of it look up: locals, and types that agree.

use crate::print::type_name;
use crate::{
    BlueprintDef, BpId, ContextDef, EventDef, EventId, Expr, Function, Loc, LocalId, Order, Program, Ty,
};

/// Lines of a text, and columns of a line.
const PLACE_MAX: u32 = 1 << 24;

/// What an expression may mention beside constants, parameters and built-ins.
#[derive(Clone, Copy)]
pub(super) enum Scope<'p> {
    Constant,
    /// a computed field of a blueprint, or the length of its options
    Header(BpId),
    /// a segmentation rule
    SegRule(BpId),
    /// a coalescing rule
    Coalescing(BpId),
    /// the id of an interface call
    Call(EventId),
    /// the locals; which function it is
    Function(&'p Function, usize),
}

pub(super) struct Check<'p> {
    pub(super) program: &'p Program,
    /// where the check is, for messages
    pub(super) place: String,
    pub(super) scope: Scope<'p>,
    /// which locals have begun to live here
    pub(super) live: Vec<bool>,
    pub(super) errors: Vec<String>,
}

impl<'p> Check<'p> {
    pub(super) fn fail(&mut self, what: impl AsRef<str>) {
        self.errors.push(format!("{}: {}", self.place, what.as_ref()));
    }

    /// Reports `what` unless it holds.
    pub(super) fn must(&mut self, holds: bool, what: &str) {
        if !holds {
            self.fail(what);
        }
    }

    /// A place lies in a file of the program, or is none.
    pub(super) fn loc(&mut self, loc: Loc) {
        let most = loc.line.max(loc.col);
        self.must(
            loc.file as usize <= self.program.imports.len() && most <= PLACE_MAX,
            "there is no such place",
        );
    }

    pub(super) fn ty_name(&self, ty: &Ty) -> String {
        type_name(self.program, ty)
    }

    pub(super) fn same(&mut self, found: &Ty, wanted: &Ty, what: &str) {
        if found != wanted {
            let (found, wanted) = (self.ty_name(found), self.ty_name(wanted));
            self.fail(format!("{what} is a {found}, not a {wanted}"));
        }
    }

    /// A right expression of this type.
    pub(super) fn expr_of(&mut self, e: &Expr, ty: &Ty, what: &str) {
        self.expr(e);
        self.same(&e.ty, ty, what);
    }

    /// An expression over what a scope other than a function's knows.
    pub(super) fn scoped(&mut self, scope: Scope<'p>, e: &Expr, ty: &Ty, what: &str) {
        let outer = std::mem::replace(&mut self.scope, scope);
        self.expr_of(e, ty, what);
        self.scope = outer;
    }

    /// The type's ids are in range, and its elements are values.
    pub(super) fn ty(&mut self, ty: &Ty) {
        let p = self.program;
        let known = match ty {
            Ty::Int { bits, .. } => matches!(bits, 8 | 16 | 32 | 64),
            Ty::Enum(id) => id.index() < p.enums.len(),
            Ty::Struct(id) => id.index() < p.structs.len(),
            Ty::Id(id) => id.index() < p.ids.len(),
            Ty::Event(id) => id.index() < p.events.len(),
            Ty::Context(id) => id.index() < p.contexts.len(),
            Ty::Scratch(id) => id.index() < p.scratchpads.len(),
            Ty::Blueprint(id) => id.index() < p.blueprints.len(),
            Ty::Array(element, n) => self.elements(element, *n),
            Ty::List(element, n, order) => {
                let key = p.sort_key(element, *order);
                let sorted = *order == Order::Given || key.is_some_and(|key| key.is_ordered());
                self.elements(element, *n) && sorted
            }
            Ty::Wnd { size, runs } => *size > 0 && *runs != Some(0),
            _ => true,
        };
        if !known {
            self.fail(format!("there is no type {ty:?}"));
        }
    }

    pub(super) fn elements(&mut self, element: &Ty, n: u32) -> bool {
        self.ty(element);
        n > 0 && element.is_element()
    }

    /// The type of a local; nothing is reported.
    pub(super) fn local_ty(&self, local: LocalId) -> Option<&'p Ty> {
        let Scope::Function(function, _) = self.scope else { return None };
        function.locals.get(local.index()).map(|l| &l.ty)
    }

    /// The type of a local that is used: it is there, and lives.
    pub(super) fn local(&mut self, local: LocalId) -> Option<&'p Ty> {
        let Scope::Function(function, _) = self.scope else {
            self.fail("a local outside of functions");
            return None;
        };
        let Some(found) = function.locals.get(local.index()) else {
            self.fail(format!("there is no local {}", local.0));
            return None;
        };
        if !self.live.get(local.index()).copied().unwrap_or(false) {
            self.fail(format!("`{}` is used where it does not live", found.name));
        }
        Some(&found.ty)
    }

    pub(super) fn context_local(&mut self, local: LocalId) -> Option<&'p ContextDef> {
        match self.local(local)? {
            Ty::Context(id) => self.program.contexts.get(id.index()),
            _ => {
                self.fail("a context is wanted");
                None
            }
        }
    }

    pub(super) fn blueprint_local(&mut self, local: LocalId) -> Option<(BpId, &'p BlueprintDef)> {
        match self.local(local)? {
            Ty::Blueprint(id) => Some((*id, self.program.blueprints.get(id.index())?)),
            _ => {
                self.fail("a blueprint is wanted");
                None
            }
        }
    }

    pub(super) fn event_local(&mut self, local: LocalId) -> Option<&'p EventDef> {
        match self.local(local)? {
            Ty::Event(id) => self.program.events.get(id.index()),
            _ => {
                self.fail("an event is wanted");
                None
            }
        }
    }
}
