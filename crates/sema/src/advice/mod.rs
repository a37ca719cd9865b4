// SPDX-License-Identifier: MIT OR Apache-2.0
//! Advice on a whole program: what is declared and can never happen, or is hardly meant. Warnings, of programs
//! without errors.

mod data;
mod facts;
mod flow;
mod sequences;
mod tokens;
mod units;

use carrick_syntax::Span;
use carrick_syntax::diag::Diagnostic;

use crate::Checker;
use facts::Facts;

impl Checker<'_> {
    pub(crate) fn give_advice(&mut self) {
        if self.has_errors() {
            return;
        }
        self.check_units();
        let advice = std::mem::take(&mut self.advice);
        self.diagnostics.extend(advice);
        let facts = Facts::of(&self.program);
        self.advise_timers(&facts);
        self.advise_contexts(&facts);
        self.advise_events(&facts);
        self.advise_chains();
        self.advise_requests();
        self.advise_tokens();
        self.advise_sequences();
        self.advise_rules(&facts);
        self.advise_functions();
        self.advise_units(&facts);
        self.advise_windows();
        self.advise_fields();
        self.advise_values();
    }

    /// A warning about a declaration, unless a feature that this build leaves out may be why.
    fn advise_of(&mut self, code: u16, (name, span): (&str, Span), what: (String, &str), mend: &str) {
        if !self.is_left_out(name) {
            let (message, label) = what;
            self.report(Diagnostic::warning(code, message, span, label).mend(mend));
        }
    }

    /// Where a name is declared.
    fn declared_at(&self, name: &str) -> Span {
        self.env.span(name).unwrap_or_default()
    }
}
