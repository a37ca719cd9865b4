// SPDX-License-Identifier: MIT OR Apache-2.0
//! Second lookups: `E else at id(0, part) -> { ... }`.

use carrick_ir::{EventKind, FieldDef, IdId, KeyPart};
use carrick_syntax::Span;
use carrick_syntax::ast::{Expr, ExprKind, Fallback, ItemKind};
use carrick_syntax::diag::Diagnostic;

use crate::env::Def;
use crate::{Checker, codes};

impl Checker<'_> {
    /// The ids by which chains look for their contexts again.
    pub(crate) fn second_lookups(&mut self) {
        let file = self.file;
        let arms = file.items.iter().filter_map(|item| match &item.kind {
            ItemKind::Dispatch { arms, .. } => Some(arms),
            _ => None,
        });
        for arm in arms.flatten() {
            let Some(fallback) = &arm.fallback else { continue };
            let Some(Def::Event(event)) = self.env.get(&arm.event.name) else { continue };
            if let Some(id) = self.id_of_lookup(event.index(), fallback)
                && let Some(parts) = self.key_parts(id, fallback)
                && let Some(chain) = &mut self.program.chains[event.index()]
            {
                chain.fallback = parts;
            }
        }
    }

    fn no_lookup(&mut self, message: String, span: Span, mend: &str) {
        self.report(Diagnostic::error(codes::FALLBACK, message, span, "a second lookup").mend(mend));
    }

    /// The id of the chain's context, if events are looked up by it and a second one can be.
    fn id_of_lookup(&mut self, event: usize, fallback: &Fallback) -> Option<IdId> {
        let named = self.lookup("id", &fallback.id, |d| if let Def::Id(i) = d { Some(i) } else { None })?;
        let chain = self.program.chains[event].as_ref()?;
        let (own, shares) = (chain.context, !chain.shared.is_empty());
        let def = &self.program.events[event];
        let (name, by_id) = (def.name.clone(), matches!(def.kind, EventKind::Net | EventKind::Flow));
        let Some(own) = own else {
            let message = format!("the processors of `{name}` take no context");
            self.no_lookup(message, fallback.span, "remove this, or take the context in a processor");
            return None;
        };
        let wanted = self.program.contexts[own.index()].id;
        if !by_id {
            let message = format!("the context of `{name}` is not looked up by an id");
            self.no_lookup(message, fallback.span, "raise a flow event, and let its chain look twice");
        } else if shares {
            let message = format!("the chain of `{name}` takes several contexts");
            self.no_lookup(message, fallback.span, "raise a flow event to the one that is looked up twice");
        } else if wanted != named {
            let message = format!("the context of `{name}` is not found by `{}`", fallback.id.name);
            self.no_lookup(message, fallback.span, "use the id of the context that its processors take");
        } else {
            return Some(named);
        }
        None
    }

    fn key_parts(&mut self, id: IdId, fallback: &Fallback) -> Option<Vec<KeyPart>> {
        let parts = self.program.ids[id.index()].parts.clone();
        if fallback.args.len() != parts.len() {
            let message =
                format!("`{}` has {} parts, not {}", fallback.id.name, parts.len(), fallback.args.len());
            self.no_lookup(message, fallback.span, "give each part a value");
            return None;
        }
        let made = fallback.args.iter().zip(&parts).map(|(arg, part)| self.key_part(arg, part, &parts));
        // All mistakes are reported.
        let made = made.collect::<Vec<_>>().into_iter().collect::<Option<Vec<_>>>()?;
        if made.iter().zip(0..).all(|(part, at)| *part == KeyPart::Same(at)) {
            self.no_lookup(
                "this looks up the same id again".into(),
                fallback.span,
                "give a part another value",
            );
            return None;
        }
        Some(made)
    }

    /// A part of the event's id, by its name, or a constant.
    fn key_part(&mut self, arg: &Expr, part: &FieldDef, parts: &[FieldDef]) -> Option<KeyPart> {
        if let ExprKind::Name(name) = &arg.kind
            && let Some(at) = parts.iter().position(|p| p.name == *name)
        {
            if parts[at].ty == part.ty {
                return Some(KeyPart::Same(at as u32));
            }
            let message = format!("`{name}` has another type than `{}`", part.name);
            self.no_lookup(message, arg.span, "use a part of the same type, or a constant");
            return None;
        }
        self.constant(arg, &part.ty).map(KeyPart::Const)
    }
}
