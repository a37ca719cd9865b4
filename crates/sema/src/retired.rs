// SPDX-License-Identifier: MIT OR Apache-2.0
//! That a chain does not create an instance for which one of its own could be deleted.

use std::collections::BTreeSet;

use carrick_ir::{self as ir, FuncId, Instr, StmtKind, walk};
use carrick_syntax::ast::{ItemKind, Step};
use carrick_syntax::diag::Diagnostic;

use crate::env::Def;
use crate::{Checker, codes};

impl Checker<'_> {
    /// Where all instances are in use, `new_ctx` deletes the one that was retired first: it must not be the chain's.
    pub(crate) fn check_retired(&mut self) {
        let (file, retired) = (self.file, ir::uses::retired(&self.program));
        for item in &file.items {
            let ItemKind::Dispatch { arms, .. } = &item.kind else { continue };
            for arm in arms {
                let Some(Def::Event(event)) = self.env.get(&arm.event.name) else { continue };
                let Some(chain) = &self.program.chains[event.index()] else { continue };
                let own = chain.context.into_iter().chain(chain.shared.iter().map(|s| s.context));
                let own: BTreeSet<ir::CtxId> = own.filter(|ctx| retired.contains(ctx)).collect();
                for Step { name, .. } in arm.chain.iter().filter(|_| !own.is_empty()) {
                    if let Some(Def::Function(func)) = self.env.get(&name.name) {
                        self.check_creates(func, &own, name);
                    }
                }
            }
        }
    }

    fn check_creates(&mut self, func: FuncId, own: &BTreeSet<ir::CtxId>, name: &carrick_syntax::ast::Ident) {
        let (mut seen, mut created) = (BTreeSet::new(), BTreeSet::new());
        self.created(func, &mut seen, &mut created);
        let Some(ctx) = created.intersection(own).next().copied() else { return };
        let context = self.program.contexts[ctx.index()].name.clone();
        self.report(
            Diagnostic::error(
                codes::OWN_RECLAIMED,
                format!("`{}` creates a `{context}`, which could delete that of its chain", name.name),
                name.span,
                format!("issues `new_ctx` for a `{context}`"),
            )
            .note(format!("`retire_ctx` lets `new_ctx` delete a `{context}` when all are in use"))
            .mend(format!("raise a flow event, and create the `{context}` in a chain that has none")),
        );
    }

    /// The contexts that a function, or one that it calls and that was not seen yet, creates instances of.
    fn created(&self, func: FuncId, seen: &mut BTreeSet<usize>, found: &mut BTreeSet<ir::CtxId>) {
        if !seen.insert(func.index()) {
            return;
        }
        walk::statements(&self.program.functions[func.index()].body, &mut |stmt| match &stmt.kind {
            StmtKind::Instr(Instr::NewCtx { ctx, .. }) => {
                found.insert(*ctx);
            }
            StmtKind::Call { func, .. } => self.created(*func, seen, found),
            _ => {}
        });
    }
}
