//! Advice on a whole program: what is declared and can never happen, or hardly be meant. Warnings, of programs
//! without errors.

use crate::Checker;

impl Checker<'_> {
    pub(crate) fn give_advice(&mut self) {
        if self.has_errors() {
            return;
        }
        let advice = std::mem::take(&mut self.advice);
        self.diagnostics.extend(advice);
    }
}
