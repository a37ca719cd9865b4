// SPDX-License-Identifier: MIT OR Apache-2.0
//! How much one event may cause: whatever it is, a target has room for it.

use carrick_ir::bounds::{BLUEPRINTS_MANY, BLUEPRINTS_MAX, RAISED_MAX, costs};
use carrick_ir::{EventKind, Ty};
use carrick_syntax::Span;
use carrick_syntax::ast::{Ident, ItemKind};
use carrick_syntax::diag::Diagnostic;

use crate::{Checker, codes};

impl Checker<'_> {
    /// The bounds are there only for a program without errors.
    pub(crate) fn check_limits(&mut self) {
        if self.has_errors() {
            return;
        }
        let (functions, chains) = costs(&self.program);
        let file = self.file;
        let names =
            |pick: fn(&ItemKind) -> Option<&Ident>| file.items.iter().filter_map(move |i| pick(&i.kind));
        let mut issued = Vec::new();
        let events = names(|k| if let ItemKind::Event { name, .. } = k { Some(name) } else { None });
        for ((name, cost), def) in events.zip(chains).zip(self.program.events.clone()) {
            self.check_limit(
                &name.name,
                name.span,
                &format!("raise {} events", cost.raised),
                cost.raised,
                RAISED_MAX,
            );
            // A packet's events are counted together, at the parser.
            if def.kind != EventKind::Net && def.kind != EventKind::Flow {
                issued.push((name, cost.blueprints));
            }
        }
        let functions_named =
            names(|k| if let ItemKind::Function { name, .. } = k { Some(name) } else { None });
        for (at, (name, cost)) in functions_named.zip(functions).enumerate() {
            if self.program.functions[at].locals.first().is_some_and(|l| l.ty == Ty::Packet) {
                self.check_limit(
                    &name.name,
                    name.span,
                    &format!("raise {} events", cost.raised),
                    cost.raised,
                    RAISED_MAX,
                );
                issued.push((name, cost.blueprints));
            }
        }
        self.check_blueprints(&issued);
    }

    /// Of all that an input can cause, what issues most blueprints says how much room every input waits for.
    fn check_blueprints(&mut self, issued: &[(&Ident, u32)]) {
        for (name, count) in issued {
            self.check_limit(
                &name.name,
                name.span,
                &format!("issue {count} blueprints"),
                *count,
                BLUEPRINTS_MAX,
            );
        }
        let Some((name, count)) = issued.iter().max_by_key(|(_, count)| *count) else { return };
        if (BLUEPRINTS_MANY + 1..=BLUEPRINTS_MAX).contains(count) {
            self.report(
                Diagnostic::warning(
                    codes::MANY_BLUEPRINTS,
                    format!("one input can need {count} of the {BLUEPRINTS_MAX} entries of the blueprint queue"),
                    name.span,
                    format!("`{}` can issue this many at once", name.name),
                )
                .note(format!(
                    "while {} or more entries are in use, the core takes no input until packets have been sent",
                    BLUEPRINTS_MAX - count + 1
                ))
                .mend("lower the bounds of the loops, or go on in a timer event"),
            );
        }
    }

    fn check_limit(&mut self, name: &str, span: Span, does: &str, count: u32, most: u32) {
        if count > most {
            self.report(
                Diagnostic::error(
                    codes::TOO_MUCH,
                    format!("`{name}` can {does} at once"),
                    span,
                    format!("more than {most}"),
                )
                .note(
                    "loops count with all their iterations, calls and raised events with all that they cause",
                )
                .mend("lower the bounds of the loops, or go on in a timer event"),
            );
        }
    }
}
