// SPDX-License-Identifier: MIT OR Apache-2.0
//! What all parts of the elaboration of one body work on.

use std::collections::{BTreeMap, BTreeSet};

use carrick_ir::{self as ir, ExprKind, LocalId, StmtKind, Ty};
use carrick_syntax::Span;
use carrick_syntax::ast;
use carrick_syntax::diag::Diagnostic;

use crate::{Checker, codes};

/// Optional fields of events, by the variable of the event and their number in it.
pub(super) type Present = BTreeSet<(LocalId, u32)>;

/// What names an expression may use beside the top-level ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// initialisers and constants: nothing more
    Declaration,
    /// computed fields: the blueprint's fields, `header_len`, `payload_len`
    Header(ir::BpId),
    /// segmentation rules: `bp.f`, `prev.f`, `prev.payload.len`
    SegRule(ir::BpId),
    /// coalescing rules: the same, and `bp.payload.len`
    Coalescing(ir::BpId),
    /// interface calls: the event's fields
    Call(ir::EventId),
    /// locals and statements
    Function,
    /// the same, with `extract`, and events that are net events
    Parser,
}

/// A local name.
#[derive(Debug, Clone)]
pub(crate) enum Binding {
    Local(LocalId),
    /// a part of a local variable, without the name of the variable
    Part(LocalId),
    /// an instruction that was made and is not added yet
    Instr(Box<ir::Instr>),
    InstrList,
    EventList,
    /// its declaration was reported: nothing more is said of it
    Wrong,
}

/// The value of an expression before its surroundings have said what type a literal has.
#[derive(Debug, Clone)]
pub(crate) enum Val {
    Typed(ir::Expr),
    Int(i128),
    None,
}

/// The elaboration of one function's body, or of one expression outside any.
pub(crate) struct Body<'c, 'a> {
    pub(super) cx: &'c mut Checker<'a>,
    pub(super) scope: Scope,
    pub(super) locals: Vec<ir::Local>,
    pub(super) names: Vec<BTreeMap<String, (Binding, Span)>>,
    pub(super) used: Vec<bool>,
    /// the variables and where they are declared
    pub(super) declared: Vec<(LocalId, Span)>,
    /// the packets that get a payload, its length, and where that is written
    pub(super) payloads: Vec<(LocalId, ir::Expr, Span)>,
    pub(super) out: Vec<ir::Stmt>,
    pub(super) ret: Ty,
    /// the machine whose reactions these are, by number
    pub(super) machine: Option<u32>,
    /// where `goto`s lead, as numbers of states
    pub(super) gotos: Vec<u32>,
    /// returns `list<instr_t>` or `list<event_t>`
    pub(super) collects: bool,
    pub(super) loops: u32,
    /// the optional fields that are there
    pub(super) present: Present,
    /// it answers a debugger, which may look at fields that are not there
    pub(super) asked: bool,
    /// locals that only keep a value: they never change once they were read
    pub(super) temporaries: Vec<LocalId>,
    /// how many there were so far
    pub(super) temporaries_made: u32,
    /// how many of the locals are parameters
    pub(super) parameters: usize,
    pub(super) at: ir::Loc,
}

impl<'c, 'a> Body<'c, 'a> {
    pub(crate) fn new(cx: &'c mut Checker<'a>, scope: Scope) -> Self {
        Body {
            cx,
            scope,
            locals: Vec::new(),
            names: vec![BTreeMap::new()],
            used: Vec::new(),
            declared: Vec::new(),
            payloads: Vec::new(),
            out: Vec::new(),
            ret: Ty::Void,
            machine: None,
            gotos: Vec::new(),
            collects: false,
            loops: 0,
            present: Present::new(),
            asked: false,
            temporaries: Vec::new(),
            temporaries_made: 0,
            parameters: 0,
            at: ir::Loc::default(),
        }
    }

    pub(crate) fn for_declaration(cx: &'c mut Checker<'a>) -> Self {
        Body::new(cx, Scope::Declaration)
    }

    pub(super) fn report<T>(&mut self, diagnostic: Diagnostic) -> Option<T> {
        self.cx.report(diagnostic);
        None
    }

    pub(super) fn name(&self, ty: &Ty) -> String {
        self.cx.name(ty)
    }

    pub(super) fn make(&self, kind: ExprKind, ty: Ty, span: Span) -> ir::Expr {
        ir::Expr { kind, ty, loc: self.cx.loc(span) }
    }

    pub(super) fn emit(&mut self, kind: StmtKind) {
        self.out.push(ir::Stmt { kind, loc: self.at });
    }

    pub(super) fn new_local(&mut self, name: String, ty: Ty) -> LocalId {
        self.locals.push(ir::Local { name, ty });
        self.used.push(true);
        LocalId(self.locals.len() as u32 - 1)
    }

    pub(super) fn local_place(&self, local: LocalId) -> ir::Place {
        ir::Place { root: local, path: Vec::new(), ty: self.locals[local.index()].ty.clone() }
    }

    pub(super) fn load(&self, local: LocalId, span: Span) -> ir::Expr {
        let place = self.local_place(local);
        let ty = place.ty.clone();
        self.make(ExprKind::Load(place), ty, span)
    }

    pub(super) fn bind(&mut self, name: &ast::Ident, binding: Binding) {
        let first = self.names.iter().find_map(|scope| scope.get(&name.name)).map(|(_, span)| *span);
        let first = first.or_else(|| self.cx.env.span(&name.name));
        if let Some(first) = first {
            self.cx.report(
                Diagnostic::error(
                    codes::LOCAL_NAME,
                    format!("`{}` is declared twice", name.name),
                    name.span,
                    "again here",
                )
                .cause(first, "declared first here")
                .note("a name has one meaning; none hides another")
                .mend("give one of them another name"),
            );
        }
        if let Some(scope) = self.names.last_mut() {
            scope.insert(name.name.clone(), (binding, name.span));
        }
    }

    pub(super) fn declare(&mut self, name: &ast::Ident, ty: Ty) -> LocalId {
        let local = self.new_local(name.name.clone(), ty);
        self.used[local.index()] = false;
        self.declared.push((local, name.span));
        self.bind(name, Binding::Local(local));
        local
    }

    pub(super) fn find(&mut self, name: &str) -> Option<Binding> {
        let found = self.names.iter().rev().find_map(|scope| scope.get(name)).map(|(b, _)| b.clone());
        if let Some(Binding::Local(local)) = found {
            self.used[local.index()] = true;
        }
        found
    }

    /// Closes the innermost scope and warns of what it declared in vain.
    pub(super) fn close_scope(&mut self) {
        for (name, (binding, span)) in self.names.pop().unwrap_or_default() {
            let Binding::Local(local) = binding else { continue };
            if !self.used[local.index()] {
                let code =
                    if self.is_parameter(local) { codes::UNUSED_PARAMETER } else { codes::UNUSED_LOCAL };
                self.advise_later(
                    code,
                    &format!("`{name}` is never used"),
                    span,
                    "declared here",
                    "remove it",
                );
            }
        }
    }

    /// A value of a type that does not become another one by itself.
    pub(super) fn mismatch<T>(&mut self, found: &str, wanted: &Ty, span: Span) -> Option<T> {
        let converted = wanted.is_scalar() && !matches!(wanted, Ty::Token | Ty::Handle);
        let wanted = self.name(wanted);
        // Over IPv4 the type has another name.
        let mend = match [found, &wanted].iter().any(|name| name.trim_matches('`') == ir::ADDRESS) {
            true => {
                "declare variables for addresses as `ip_t`; `0` is the only address that a program can write"
                    .to_owned()
            }
            false if converted => format!("convert it, if that is intended: `{wanted}(...)`"),
            false => format!("use a value of type `{wanted}`"),
        };
        self.report(
            Diagnostic::error(
                codes::TYPE_MISMATCH,
                format!("expected `{wanted}`, found {found}"),
                span,
                format!("expected `{wanted}`"),
            )
            .mend(mend),
        )
    }
}
