//! Expressions and statements: from trees without types to trees with them.
//!
//! Whatever has an effect inside an expression is hoisted into a statement of its own before it, in the
//! order of evaluation (left to right); operands that were evaluated earlier are kept in temporaries.

mod advice;
mod call;
mod collected;
mod expr;
mod fraction;
pub(crate) mod instr;
mod loops;
mod machine;
mod methods;
mod mixed;
mod operators;
mod packet;
mod place;
mod probe;
mod stmt;
mod temporary;

use std::collections::BTreeMap;

use carrick_ir::{self as ir, ExprKind, LocalId, StmtKind, Ty};
use carrick_syntax::Span;
use carrick_syntax::ast;
use carrick_syntax::diag::Diagnostic;

use crate::{Checker, codes};

/// What names an expression may use beside the top-level ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
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
enum Binding {
    Local(LocalId),
    /// a part of a local, which goes without its name here
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
enum Val {
    Typed(ir::Expr),
    Int(i128),
    None,
}

/// The elaboration of one function's body, or of one expression outside any.
pub(crate) struct Body<'c, 'a> {
    cx: &'c mut Checker<'a>,
    scope: Scope,
    locals: Vec<ir::Local>,
    names: Vec<BTreeMap<String, (Binding, Span)>>,
    used: Vec<bool>,
    /// the variables and where they are declared
    declared: Vec<(LocalId, Span)>,
    out: Vec<ir::Stmt>,
    ret: Ty,
    /// the machine whose reactions these are, by number
    machine: Option<u32>,
    /// where `goto`s lead, as numbers of states
    gotos: Vec<u32>,
    /// returns `list<instr_t>` or `list<event_t>`
    collects: bool,
    loops: u32,
    /// locals that only keep a value: they never change once they were read
    temporaries: Vec<LocalId>,
    /// how many there were so far
    temporaries_made: u32,
    /// how many of the locals are parameters
    parameters: usize,
    at: ir::Loc,
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
            out: Vec::new(),
            ret: Ty::Void,
            machine: None,
            gotos: Vec::new(),
            collects: false,
            loops: 0,
            temporaries: Vec::new(),
            temporaries_made: 0,
            parameters: 0,
            at: ir::Loc::default(),
        }
    }

    pub(crate) fn for_declaration(cx: &'c mut Checker<'a>) -> Self {
        Body::new(cx, Scope::Declaration)
    }

    fn report<T>(&mut self, diagnostic: Diagnostic) -> Option<T> {
        self.cx.report(diagnostic);
        None
    }

    fn name(&self, ty: &Ty) -> String {
        self.cx.name(ty)
    }

    fn make(&self, kind: ExprKind, ty: Ty, span: Span) -> ir::Expr {
        ir::Expr { kind, ty, loc: self.cx.loc(span) }
    }

    fn emit(&mut self, kind: StmtKind) {
        self.out.push(ir::Stmt { kind, loc: self.at });
    }

    fn new_local(&mut self, name: String, ty: Ty) -> LocalId {
        self.locals.push(ir::Local { name, ty });
        self.used.push(true);
        LocalId(self.locals.len() as u32 - 1)
    }

    fn local_place(&self, local: LocalId) -> ir::Place {
        ir::Place { root: local, path: Vec::new(), ty: self.locals[local.index()].ty.clone() }
    }

    fn load(&self, local: LocalId, span: Span) -> ir::Expr {
        let place = self.local_place(local);
        let ty = place.ty.clone();
        self.make(ExprKind::Load(place), ty, span)
    }

    fn bind(&mut self, name: &ast::Ident, binding: Binding) {
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

    fn declare(&mut self, name: &ast::Ident, ty: Ty) -> LocalId {
        let local = self.new_local(name.name.clone(), ty);
        self.used[local.index()] = false;
        self.declared.push((local, name.span));
        self.bind(name, Binding::Local(local));
        local
    }

    fn find(&mut self, name: &str) -> Option<Binding> {
        let found = self.names.iter().rev().find_map(|scope| scope.get(name)).map(|(b, _)| b.clone());
        if let Some(Binding::Local(local)) = found {
            self.used[local.index()] = true;
        }
        found
    }

    /// Closes the innermost scope and warns of what it declared in vain.
    fn close_scope(&mut self) {
        for (name, (binding, span)) in self.names.pop().unwrap_or_default() {
            let Binding::Local(local) = binding else { continue };
            if !self.used[local.index()] {
                let code =
                    if self.is_parameter(local) { codes::UNUSED_PARAMETER } else { codes::UNUSED_LOCAL };
                self.advise(code, &format!("`{name}` is never used"), span, "declared here", "remove it");
            }
        }
    }

    /// A value of a type that does not become another one by itself.
    fn mismatch<T>(&mut self, found: &str, wanted: &Ty, span: Span) -> Option<T> {
        let wanted = self.name(wanted);
        self.report(
            Diagnostic::error(
                codes::TYPE_MISMATCH,
                format!("expected a `{wanted}`, found {found}"),
                span,
                format!("should be a `{wanted}`"),
            )
            .mend(format!("if it is meant, convert it: `{wanted}(...)`")),
        )
    }
}

impl Checker<'_> {
    pub(crate) fn check_bodies(&mut self) {
        let file = self.file;
        let mut index = 0;
        for item in &file.items {
            if let ast::ItemKind::Function { ret, params, body, name } = &item.kind {
                let params: Vec<&ast::Ident> = params.iter().map(|p| &p.name).collect();
                Body::new(self, Scope::Function).function(index, (name, ret), &params, body);
                index += 1;
            }
        }
        self.check_reactions();
    }
}
