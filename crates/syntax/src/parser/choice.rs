// SPDX-License-Identifier: MIT OR Apache-2.0
//! Choices over a value.

use super::cursor::{Parsed, Parser};
use crate::ast::*;
use crate::codes;
use crate::diag::Diagnostic;
use crate::lexer::TokenKind;

impl Parser<'_> {
    /// Whether `choose` begins a choice here: `choose(x);` calls a function of this name, and `choose x;` declares a variable.
    pub(super) fn choice_ahead(&self) -> bool {
        if !self.is_at(1, "(") {
            return self.is_ident_at(1) && (self.is_at(2, "{") || self.is_at(2, "."));
        }
        let mut open = 0_u32;
        for n in 1.. {
            open += u32::from(self.is_at(n, "("));
            open -= u32::from(self.is_at(n, ")"));
            if open == 0 {
                return self.is_at(n + 1, "{");
            }
            if self.is_at(n, ";") || self.ahead(n).kind == TokenKind::Eof {
                break;
            }
        }
        false
    }

    pub(super) fn choose_stmt(&mut self) -> Parsed<StmtKind> {
        self.advance();
        let value = self.in_parentheses(("the value of a choice needs parentheses", "the value"))?;
        let open = self.open_brace()?;
        if self.is("}") || self.is_word("else") {
            self.expected("a branch like `1 -> stop;`");
        }
        let depth = self.depth;
        let branches = self.braced(open, |p| {
            let branch = p.nested(Self::branch)?;
            // The next one is tested where this one is not taken, as with `else if`.
            p.depth += 1;
            Ok(branch)
        });
        self.depth = depth;
        let branches = branches?;
        for pair in branches.windows(2) {
            self.last_is_else(&pair[0], &pair[1]);
        }
        Ok(StmtKind::Choose { value, branches })
    }

    fn branch(&mut self) -> Parsed<Branch> {
        self.doc();
        let start = self.span();
        let mut cases = Vec::new();
        if !self.eat_word("else") {
            cases.push(self.case()?);
            while self.eat(",") {
                self.link()?;
                cases.push(self.case()?);
            }
        }
        let head = self.span_from(start);
        self.expect("->")?;
        Ok(Branch { cases, head, body: self.body()? })
    }

    fn case(&mut self) -> Parsed<Case> {
        let before = std::mem::replace(&mut self.arrow_ends, true);
        let ends = self.case_ends();
        self.arrow_ends = before;
        ends
    }

    fn case_ends(&mut self) -> Parsed<Case> {
        let first = self.expr()?;
        let last = if self.eat("..") { Some(self.expr()?) } else { None };
        Ok(Case { first, last })
    }

    fn last_is_else(&mut self, branch: &Branch, next: &Branch) {
        if branch.cases.is_empty() {
            let message = "a branch follows `else`";
            self.report(
                Diagnostic::error(codes::BRANCH_AFTER_ELSE, message, next.head, "never tested")
                    .cause(branch.head, "for all values without a branch")
                    .mend("put `else` last"),
            );
        }
    }
}
