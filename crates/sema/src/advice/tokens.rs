// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tokens that a context keeps when their request is complete: their next use completes it again.

use std::collections::{BTreeMap, BTreeSet};

use carrick_ir::{
    Arg, Block, CtxId, ExprKind, FuncId, Function, Instr, Loc, LocalId, Program, Proj, Stmt, StmtKind, Ty,
    walk,
};
use carrick_syntax::Span;
use carrick_syntax::diag::Diagnostic;

use crate::{Checker, codes};

/// What a function may set: a field of a context, or all of them (`None`).
type Sets = BTreeSet<(CtxId, Option<u32>)>;

/// A field of a context that a function was given, whose token is complete when the function ends, and where it was completed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Kept {
    local: LocalId,
    field: u32,
    loc: Loc,
}

impl Checker<'_> {
    pub(super) fn advise_tokens(&mut self) {
        let mut found = BTreeSet::new();
        let all = Tokens::of(&self.program);
        for chain in self.program.chains.iter().flatten() {
            for processors in [Some(&chain.present), chain.absent.as_ref()].into_iter().flatten() {
                for (at, func) in processors.iter().enumerate() {
                    let function = &self.program.functions[func.index()];
                    let kept = all.kept.get(func).into_iter().flatten().filter(|kept| {
                        let Ty::Context(ctx) = function.locals[kept.local.index()].ty else { return false };
                        !processors[at + 1..].iter().any(|later| all.may_set(*later, ctx, kept.field))
                    });
                    found.extend(kept.map(|kept| kept.loc));
                }
            }
        }
        for span in std::mem::take(&mut self.notified) {
            if found.contains(&self.loc(span)) {
                let token = self.written(span);
                let message = format!("`{token}` is kept after its request completes");
                let label = "its next use completes the request again";
                let end = Span::new(span.end, span.end);
                let warning = Diagnostic::warning(codes::TOKEN_KEPT, message, span, label);
                self.report(warning.fix("forget it", end, ".take()"));
            }
        }
    }
}

/// What the functions of a program do with the tokens of contexts.
struct Tokens {
    sets: BTreeMap<FuncId, Sets>,
    kept: BTreeMap<FuncId, BTreeSet<Kept>>,
}

impl Tokens {
    fn of(program: &Program) -> Tokens {
        let mut tokens = Tokens { sets: BTreeMap::new(), kept: BTreeMap::new() };
        let functions = || (0..).map(FuncId).zip(&program.functions);
        // Functions do not call each other in circles: after as many rounds as calls are deep, nothing is new.
        loop {
            let before = tokens.sets.values().map(BTreeSet::len).sum::<usize>();
            for (id, function) in functions() {
                let sets = tokens.sets_of(function);
                tokens.sets.insert(id, sets);
            }
            if tokens.sets.values().map(BTreeSet::len).sum::<usize>() == before {
                break;
            }
        }
        loop {
            let before = tokens.kept.values().map(BTreeSet::len).sum::<usize>();
            for (id, function) in functions() {
                let mut kept = BTreeSet::new();
                tokens.walk(function, &function.body, &|_, _| false, &mut kept);
                tokens.kept.insert(id, kept);
            }
            if tokens.kept.values().map(BTreeSet::len).sum::<usize>() == before {
                return tokens;
            }
        }
    }

    fn may_set(&self, func: FuncId, ctx: CtxId, field: u32) -> bool {
        let sets = self.sets.get(&func);
        sets.is_some_and(|sets| sets.contains(&(ctx, Some(field))) || sets.contains(&(ctx, None)))
    }

    fn sets_of(&self, function: &Function) -> Sets {
        let mut sets = Sets::new();
        walk::statements(&function.body, &mut |stmt| match &stmt.kind {
            StmtKind::Assign { place, .. } => {
                if let Ty::Context(ctx) = function.locals[place.root.index()].ty {
                    let field = match place.path.first() {
                        Some(Proj::Field(field)) => Some(*field),
                        _ => None,
                    };
                    sets.insert((ctx, field));
                }
            }
            StmtKind::Instr(Instr::DelCtx { ctx }) => {
                if let Ty::Context(ctx) = function.locals[ctx.index()].ty {
                    sets.insert((ctx, None));
                }
            }
            StmtKind::Call { func, .. } => sets.extend(self.sets.get(func).into_iter().flatten()),
            _ => {}
        });
        sets
    }

    /// Notes the tokens that are complete at the end of the block; `later`: whether a field may be set behind it.
    fn walk(
        &self,
        function: &Function,
        block: &Block,
        later: &dyn Fn(LocalId, u32) -> bool,
        kept: &mut BTreeSet<Kept>,
    ) {
        for (at, stmt) in block.stmts.iter().enumerate() {
            let rest = &block.stmts[at + 1..];
            let returns = rest.iter().any(|stmt| matches!(stmt.kind, StmtKind::Return(_) | StmtKind::Stop));
            let is_set = |local: LocalId, field: u32| {
                rest.iter().any(|stmt| self.sets_field(function, stmt, local, field))
                    || !returns && later(local, field)
            };
            for found in self.completed(stmt) {
                let is_context = matches!(function.locals[found.local.index()].ty, Ty::Context(_));
                let is_marked = block.stmts.iter().any(|stmt| marks(stmt, found.local));
                if is_context && !is_marked && !is_set(found.local, found.field) {
                    kept.insert(found);
                }
            }
            for inner in walk::children(stmt) {
                self.walk(function, inner, &is_set, kept);
            }
        }
    }

    /// Whether a statement, or one in it, may set the field.
    fn sets_field(&self, function: &Function, stmt: &Stmt, local: LocalId, field: u32) -> bool {
        let Ty::Context(ctx) = function.locals[local.index()].ty else { return true };
        let here = match &stmt.kind {
            StmtKind::Assign { place, .. } => {
                place.root == local
                    && matches!(place.path.first(), None | Some(Proj::Field(_)))
                    && !matches!(place.path.first(), Some(Proj::Field(other)) if *other != field)
            }
            StmtKind::Instr(Instr::DelCtx { ctx }) => *ctx == local,
            StmtKind::Call { func, .. } => self.may_set(*func, ctx, field),
            _ => false,
        };
        here || walk::children(stmt)
            .any(|block| block.stmts.iter().any(|stmt| self.sets_field(function, stmt, local, field)))
    }

    /// The tokens that a statement itself completes.
    fn completed(&self, stmt: &Stmt) -> Vec<Kept> {
        match &stmt.kind {
            StmtKind::Instr(Instr::Notify { token, .. }) => match &token.kind {
                ExprKind::Load(place) => match place.path[..] {
                    [Proj::Field(field)] => vec![Kept { local: place.root, field, loc: token.loc }],
                    _ => Vec::new(),
                },
                _ => Vec::new(),
            },
            StmtKind::Call { func, args, .. } => {
                let of = |kept: &Kept| match args.get(kept.local.index()) {
                    Some(Arg::Ref(local)) => Some(Kept { local: *local, ..*kept }),
                    _ => None,
                };
                self.kept.get(func).into_iter().flatten().filter_map(of).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// Whether a statement notes in the context what happened: a flag or a state may say that the token is not used again.
fn marks(stmt: &Stmt, local: LocalId) -> bool {
    matches!(&stmt.kind, StmtKind::Assign { place, .. }
        if place.root == local && matches!(place.ty, Ty::Bool | Ty::Enum(_)))
}
