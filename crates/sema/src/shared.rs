// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a chain cannot do to a context that it shares with other flows.

use carrick_ir::{self as ir, Arg, Expr, ExprKind, FuncId, LocalId, Operand, Stmt, StmtKind, Ty, walk};
use carrick_syntax::ast::{ItemKind, Step};
use carrick_syntax::diag::Diagnostic;

use crate::env::Def;
use crate::{Checker, codes};

impl Checker<'_> {
    /// Data units, and the end of an instance, are of the context that a chain's event is for.
    pub(crate) fn check_shared_contexts(&mut self) {
        let file = self.file;
        for item in &file.items {
            let ItemKind::Dispatch { arms, .. } = &item.kind else { continue };
            for arm in arms {
                let Some(Def::Event(event)) = self.env.get(&arm.event.name) else { continue };
                let Some(chain) = &self.program.chains[event.index()] else { continue };
                let shared: Vec<ir::CtxId> = chain.shared.iter().map(|s| s.context).collect();
                for Step { name, .. } in arm.chain.iter().filter(|_| !shared.is_empty()) {
                    if let Some(Def::Function(func)) = self.env.get(&name.name) {
                        self.check_shared(func, &shared, name);
                    }
                }
            }
        }
    }

    fn check_shared(&mut self, func: FuncId, shared: &[ir::CtxId], name: &carrick_syntax::ast::Ident) {
        let def = &self.program.functions[func.index()];
        let params = def.locals.iter().take(def.params as usize).zip(0..);
        let wrong = params.filter_map(|(local, at)| match local.ty {
            Ty::Context(c) if shared.contains(&c) => self.done_to_own(func, LocalId(at), 0).then_some(c),
            _ => None,
        });
        for context in wrong.collect::<Vec<_>>() {
            let context = self.program.contexts[context.index()].name.clone();
            self.report(
                Diagnostic::error(
                    codes::SHARED,
                    format!("`{}` changes `{context}`, which this chain only shares", name.name),
                    name.span,
                    "deletes or rebinds it, or changes its data units",
                )
                .note("the chain is for another context, which shares this one with other flows")
                .mend(format!("raise a flow event with the id of the `{context}`, and do it in its chain")),
            );
        }
    }

    /// Whether a function, or one that it calls, deletes or rebinds this parameter or works on its data units.
    fn done_to_own(&self, func: FuncId, param: LocalId, depth: usize) -> bool {
        // Calls do not recurse in a program that is right.
        if depth > self.program.functions.len() {
            return false;
        }
        let mut found = false;
        walk::statements(&self.program.functions[func.index()].body, &mut |stmt| {
            found |= done_here(stmt, param);
            if let StmtKind::Call { func, args, .. } = &stmt.kind {
                let given = args.iter().zip(0..).filter(|(arg, _)| matches!(arg, Arg::Ref(l) if *l == param));
                for (_, at) in given {
                    found |= self.done_to_own(*func, LocalId(at), depth + 1);
                }
            }
        });
        found
    }
}

fn done_here(stmt: &Stmt, param: LocalId) -> bool {
    let instr = match &stmt.kind {
        StmtKind::Instr(instr) => {
            let own = |operand| matches!(operand, Operand::OwnContext(ctx) if *ctx == param);
            instr.operands().into_iter().any(|(_, operand)| own(operand))
        }
        _ => false,
    };
    let mut room = false;
    walk::of_statement(stmt, &mut |whole| {
        walk::expressions(whole, &mut |e: &Expr| {
            room |= matches!(e.kind, ExprKind::TxRoom(c) | ExprKind::RxSize(c) if c == param);
        });
    });
    instr || room
}
