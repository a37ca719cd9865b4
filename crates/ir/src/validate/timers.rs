// SPDX-License-Identifier: MIT OR Apache-2.0
//! Timers of contexts, and what names them.

use super::check::Check;
use crate::{ContextDef, EventKind, Expr, LocalId, MOST_TIMERS, TimerDef, TimerId, Ty};

impl Check<'_> {
    /// Each raises a timer event, and the context has room for what that says.
    pub(super) fn timers(&mut self, context: &ContextDef) {
        self.must(context.timers.len() <= MOST_TIMERS, "too many timers");
        let mut before: Option<&TimerDef> = None;
        for timer in &context.timers {
            let event = self.program.events.get(timer.event.index());
            let Some(event) = event.filter(|event| event.kind == EventKind::Timer) else {
                return self.fail("a timer of no timer event");
            };
            let kept = |field: u32| context.fields.get(field as usize).map(|field| &field.ty);
            let fits = |(says, field): (&u32, &crate::FieldDef)| match timer.element {
                Some(element) => kept(*says) == Some(&Ty::Array(Box::new(field.ty.clone()), element.of)),
                None => kept(*says) == Some(&field.ty),
            };
            let all =
                timer.says.len() == event.fields.len() && timer.says.iter().zip(&event.fields).all(fits);
            self.must(all, "a timer that keeps something else than its event says");
            self.must(in_row(before, timer), "timers of one name that do not follow each other");
            before = Some(timer);
        }
        self.must(
            before.is_none_or(|last| last.count() == 1),
            "timers of one name that do not follow each other",
        );
    }

    pub(super) fn timer(&mut self, ctx: LocalId, timer: TimerId, which: Option<&Expr>) {
        let Some(context) = self.context_local(ctx) else { return };
        let Some(timer) = context.timers.get(timer.index()) else {
            return self.fail("there is no such timer");
        };
        self.must(timer.is_first() && timer.element.is_some() == which.is_some(), "not one of the timers");
        if let Some(which) = which {
            self.expr_of(which, &Ty::U64, "which timer");
        }
    }
}

/// Whether a timer stands where it may behind another.
fn in_row(before: Option<&TimerDef>, timer: &TimerDef) -> bool {
    match timer.element {
        Some(element) if element.at >= element.of => false,
        Some(element) if element.at > 0 => before.is_some_and(|before| {
            let same =
                before.base() == timer.base() && before.event == timer.event && before.says == timer.says;
            same && before.element.is_some_and(|b| b.at + 1 == element.at && b.of == element.of)
        }),
        _ => before.is_none_or(|before| before.count() == 1),
    }
}
