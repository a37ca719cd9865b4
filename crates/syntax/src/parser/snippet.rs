// SPDX-License-Identifier: MIT OR Apache-2.0
//! Expressions and statements that stand by themselves: what a debugger is asked.

use std::ops::Range;

use super::cursor::{Parsed, Parser};
use crate::ast::{Expr, Stmt};
use crate::diag::Diagnostic;
use crate::lexer::TokenKind;

/// Parses expressions with commas between them, from a part of a text; spans count in the whole. They are not to be taken
/// further if there is a diagnostic.
pub fn parse_exprs(text: &str, part: Range<usize>) -> (Vec<Expr>, Vec<Diagnostic>) {
    whole(text, part, |p| {
        let mut all = vec![p.expr()?];
        while p.eat(",") {
            all.push(p.expr()?);
        }
        Ok(all)
    })
}

/// Parses one statement, as [`parse_exprs`].
pub fn parse_stmt(text: &str, part: Range<usize>) -> (Option<Stmt>, Vec<Diagnostic>) {
    whole(text, part, |p| p.stmt().map(Some))
}

/// What `read` makes of the part, which must leave nothing of it.
fn whole<T: Default>(
    text: &str,
    part: Range<usize>,
    read: impl Fn(&mut Parser<'_>) -> Parsed<T>,
) -> (T, Vec<Diagnostic>) {
    let mut parser = Parser::new(text, part);
    let read = read(&mut parser);
    if read.is_ok() && parser.token().kind != TokenKind::Eof {
        parser.expected("the end");
    }
    (read.unwrap_or_default(), parser.diagnostics.into_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_may_be_left() {
        assert_eq!(parse_exprs("a.b, c + 1", 0..10).0.len(), 2);
        let (all, wrong) = parse_exprs("x = 1; a b", 7..10);
        assert_eq!((all.len(), wrong.len()), (1, 1));
        assert_eq!(wrong[0].primary.span.start, 9);
        assert!(parse_stmt("c.f = 1;", 0..8).0.is_some());
        assert_eq!(parse_stmt("c.f = ;", 0..7).1.len(), 1);
    }

    #[test]
    fn nothing_is_no_expression() {
        let (all, wrong) = parse_exprs("", 0..0);
        assert!(all.is_empty() && wrong.len() == 1);
    }
}
