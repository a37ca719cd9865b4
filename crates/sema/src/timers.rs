// SPDX-License-Identifier: MIT OR Apache-2.0
//! Timers of contexts.

use carrick_ir::{self as ir, MOST_TIMERS, Ty};
use carrick_syntax::ast::{ItemKind, Timer};
use carrick_syntax::diag::Diagnostic;

use crate::checker::Checker;
use crate::codes;
use crate::env::Def;

impl Checker<'_> {
    /// A timer, or each of several under one name.
    pub(crate) fn timer(&mut self, timer: &Timer) -> Vec<ir::TimerDef> {
        let event =
            self.lookup("event", &timer.event, |d| if let Def::Event(e) = d { Some(e) } else { None });
        let declared_kind = event.and_then(|e| self.written_kind(e));
        if declared_kind.is_some_and(|k| !matches!(k.as_str(), "timer_event" | "TIMER_EVENT")) {
            self.report(
                Diagnostic::error(
                    codes::TIMER_EVENT,
                    format!("`{}` is not a timer event", timer.event.name),
                    timer.event.span,
                    "raised by a timer",
                )
                .mend("declare it as `: timer_event`"),
            );
        }
        let of = timer.array.as_ref().and_then(|length| self.length(length));
        let one = |element: Option<ir::TimerElement>| ir::TimerDef {
            name: element.map_or(timer.name.name.clone(), |e| format!("{}[{}]", timer.name.name, e.at)),
            doc: timer.doc.as_str().into(),
            event: event.unwrap_or(ir::EventId(0)),
            element,
            says: Vec::new(),
        };
        match of {
            Some(of) if of as usize <= MOST_TIMERS => {
                (0..of).map(|at| one(Some(ir::TimerElement { at, of }))).collect()
            }
            Some(_) => {
                self.too_many(timer);
                Vec::new()
            }
            None => vec![one(None)],
        }
    }

    fn too_many(&mut self, timer: &Timer) {
        self.report(
            Diagnostic::error(
                codes::ARRAY_LENGTH,
                "too many timers",
                timer.array.as_ref().map_or(timer.span, |length| length.span),
                "here",
            )
            .note(format!("all timers of a context together are at most {MOST_TIMERS}"))
            .mend("keep the deadlines in a list, and start one timer for the first of them"),
        );
    }

    /// The kind as written: events may be declared after the context.
    fn written_kind(&self, event: ir::EventId) -> Option<String> {
        let mut events = self.file.items.iter().filter_map(|i| match &i.kind {
            ItemKind::Event { kind, .. } => Some(kind.name.clone()),
            _ => None,
        });
        events.nth(event.index())
    }

    /// Contexts get a field for each field that the event of a timer has, now that all events are known.
    pub(crate) fn timer_fields(&mut self) {
        let file = self.file;
        let declared = file.items.iter().filter_map(|item| match &item.kind {
            ItemKind::Context { timers, .. } => Some(timers),
            _ => None,
        });
        for (context, timers) in declared.enumerate() {
            let Some(def) = self.program.contexts.get_mut(context) else { continue };
            let firsts: Vec<usize> = def.timer_rows().map(|(number, _)| number).collect();
            for first in firsts {
                let timer = &def.timers[first];
                let event = self.program.events.get(timer.event.index());
                let event = event.filter(|event| event.kind == ir::EventKind::Timer);
                let mut says = Vec::new();
                for field in event.iter().flat_map(|event| &event.fields) {
                    says.push(def.fields.len() as u32);
                    let ty = match timer.element {
                        Some(element) => Ty::Array(Box::new(field.ty.clone()), element.of),
                        None => field.ty.clone(),
                    };
                    let name = format!("{}_{}__", timer.base(), field.name);
                    def.fields.push(ir::FieldDef { name, doc: field.doc.clone(), ty, init: None });
                }
                let count = timer.count() as usize;
                def.timers[first..first + count].iter_mut().for_each(|timer| timer.says.clone_from(&says));
            }
            if self.program.contexts[context].timers.len() > MOST_TIMERS
                && let Some(last) = timers.last()
            {
                self.too_many(last);
            }
        }
    }
}
