// SPDX-License-Identifier: MIT OR Apache-2.0
//! Expressions.

use super::cursor::{Parsed, Parser};
use crate::ast::*;
use crate::codes;
use crate::diag::Diagnostic;
use crate::lexer::{Token, TokenKind};
use crate::span::Span;
use crate::suggest::is_conversion;

/// Binding strengths, loosest first; see the reference's list of operators.
const COND: u8 = 0;
const OR: u8 = 1;
const ADDITIVE: u8 = 9;

fn binary_operator(punct: &str) -> Option<(BinOp, u8)> {
    Some(match punct {
        "||" => (BinOp::Or, OR),
        "&&" => (BinOp::And, 2),
        "|" => (BinOp::BitOr, 3),
        "^" => (BinOp::BitXor, 4),
        "&" => (BinOp::BitAnd, 5),
        "==" => (BinOp::Eq, 6),
        "!=" => (BinOp::Ne, 6),
        "<" => (BinOp::Lt, 7),
        "<=" => (BinOp::Le, 7),
        ">" => (BinOp::Gt, 7),
        ">=" => (BinOp::Ge, 7),
        "<<" => (BinOp::Shl, 8),
        ">>" => (BinOp::Shr, 8),
        "+" => (BinOp::Add, ADDITIVE),
        "-" => (BinOp::Sub, ADDITIVE),
        "*" => (BinOp::Mul, 10),
        "/" => (BinOp::Div, 10),
        "%" => (BinOp::Rem, 10),
        _ => return None,
    })
}

impl Parser<'_> {
    pub(super) fn expr(&mut self) -> Parsed<Expr> {
        let expr = self.expr_no_assignment()?;
        self.step_in_expression(&expr);
        if !self.is("=") {
            return Ok(expr);
        }
        let here = self.span();
        self.report(
            Diagnostic::error(
                codes::ASSIGNMENT_IN_EXPRESSION,
                "an assignment is a statement, not a value",
                here,
                "assigns",
            )
            .fix("compare with `==`", here, "=="),
        );
        self.advance();
        let right = self.nested(Self::expr)?;
        let span = expr.span.to(right.span);
        Ok(Expr { kind: ExprKind::Binary(BinOp::Eq, Box::new(expr), Box::new(right)), span })
    }

    /// `a = b++;`
    fn step_in_expression(&mut self, changed: &Expr) {
        let Some(step) = ["++", "--"].into_iter().find(|step| self.is(step)) else { return };
        let here = self.advance().span;
        let text = self.text_of(changed.span).to_owned();
        self.report(
            Diagnostic::error(
                codes::ASSIGNMENT_IN_EXPRESSION,
                format!("`{step}` is a statement, not a value"),
                here,
                "changes the variable",
            )
            .mend(format!("write `{text}{step};` as a statement of its own, before or after this one")),
        );
    }

    /// An expression, or a record, where a value of a known type is wanted.
    pub(super) fn value(&mut self) -> Parsed<Expr> {
        if self.is("{") { self.record() } else { self.expr() }
    }

    fn record(&mut self) -> Parsed<Expr> {
        let open = self.advance().span;
        match self.nested(|p| p.comma_list("}", Self::entry)) {
            Ok(entries) => Ok(Expr { kind: ExprKind::Record(entries), span: self.span_from(open) }),
            Err(reported) => {
                self.skip_record();
                Err(reported)
            }
        }
    }

    fn entry(&mut self) -> Parsed<Entry> {
        if self.eat("..") {
            return Ok(Entry::Spread(self.expr()?));
        }
        let name = self.ident("a field")?;
        self.expect("=")?;
        Ok(Entry::Field { name, value: self.value()? })
    }

    /// Past the `}` of a record with a mistake, so that it is not taken for the end of the block.
    fn skip_record(&mut self) {
        let mut open = 1_u32;
        while open > 0 && !self.is(";") && self.token().kind != TokenKind::Eof {
            open += u32::from(self.is("{"));
            open -= u32::from(self.is("}"));
            self.advance();
        }
    }

    pub(super) fn expr_no_assignment(&mut self) -> Parsed<Expr> {
        self.binary(COND)
    }

    /// Without `?:`, for the width of a bit field.
    pub(super) fn expr_above_cond(&mut self) -> Parsed<Expr> {
        self.binary(OR)
    }

    /// Only `+` and tighter, for bounds inside `< >`.
    pub(super) fn expr_additive(&mut self) -> Parsed<Expr> {
        self.binary(ADDITIVE)
    }

    fn binary(&mut self, weakest: u8) -> Parsed<Expr> {
        self.nested(|p| {
            let mut left = p.unary()?;
            p.word_operator();
            while let TokenKind::Punct(punct) = p.token().kind {
                let Some((op, strength)) = binary_operator(punct).filter(|(_, s)| *s >= weakest.max(OR))
                else {
                    break;
                };
                p.link()?;
                p.advance();
                let right = p.binary(strength + 1)?;
                let span = left.span.to(right.span);
                left = Expr { kind: ExprKind::Binary(op, Box::new(left), Box::new(right)), span };
                p.word_operator();
            }
            if weakest == COND && p.eat("?") {
                let then = p.binary(COND)?;
                p.expect(":")?;
                let otherwise = p.binary(COND)?;
                let span = left.span.to(otherwise.span);
                left =
                    Expr { kind: ExprKind::Cond(Box::new(left), Box::new(then), Box::new(otherwise)), span };
            }
            Ok(left)
        })
    }

    /// `and` and `or`, which are read as the operators that they stand for.
    fn word_operator(&mut self) {
        let op = match () {
            () if self.is_word("and") => "&&",
            () if self.is_word("or") => "||",
            () => return,
        };
        let here = self.span();
        let word = self.text_of(here).to_owned();
        self.report(
            Diagnostic::error(
                codes::WORD_OPERATOR,
                format!("`{word}` is not an operator"),
                here,
                format!("written `{op}`"),
            )
            .fix(format!("write `{op}`"), here, op),
        );
        self.tokens[self.at] = Token { kind: TokenKind::Punct(op), span: here };
    }

    /// `++x`, which is a statement of its own, and written behind.
    fn prefix_step(&mut self, step: &str) -> Parsed<Expr> {
        let here = self.advance().span;
        self.report(
            Diagnostic::error(
                codes::PREFIX_STEP,
                format!("`{step}` is only allowed after a variable, as a statement of its own"),
                here,
                "before a value",
            )
            .mend(format!("write `x{step};` before or after this statement")),
        );
        self.nested(Self::unary)
    }

    /// `(T) x`, if T is a type of the language: a conversion as C has it.
    fn c_cast(&mut self, open: Span, ty: &Expr) -> Parsed<Option<Expr>> {
        let ExprKind::Name(name) = &ty.kind else { return Ok(None) };
        let operand_ahead =
            matches!(self.token().kind, TokenKind::Ident | TokenKind::Int(_) | TokenKind::Unit(..));
        if !is_conversion(name) || !(operand_ahead || self.is("(")) {
            return Ok(None);
        }
        let operand = self.nested(Self::unary)?;
        let span = open.to(operand.span);
        let text = self.text_of(operand.span);
        let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
        let text = inner.filter(|_| matches!(operand.kind, ExprKind::Paren(_))).unwrap_or(text).to_owned();
        self.report(
            Diagnostic::error(codes::C_CAST, "a conversion is written as a call", span, "a C-style cast")
                .fix(format!("write `{name}(...)`"), span, format!("{name}({text})")),
        );
        Ok(Some(Expr { kind: ExprKind::Call(Box::new(ty.clone()), vec![operand]), span }))
    }

    fn unary(&mut self) -> Parsed<Expr> {
        let start = self.span();
        let op = match self.token().kind {
            TokenKind::Punct("!") => UnOp::Not,
            TokenKind::Punct("-") => UnOp::Neg,
            TokenKind::Punct("~") => UnOp::BitNot,
            TokenKind::Punct(step @ ("++" | "--")) => return self.prefix_step(step),
            TokenKind::Punct(p @ ("*" | "&")) => {
                self.report(
                    Diagnostic::error(
                        codes::POINTER,
                        "there are no pointers",
                        start,
                        format!("`{p}` before a value"),
                    )
                    .note("contexts, events and scratchpads are passed by reference without being asked to")
                    .mend("remove it"),
                );
                self.advance();
                return self.nested(Self::unary);
            }
            _ => return self.postfix(),
        };
        self.advance();
        let operand = self.nested(Self::unary)?;
        let span = start.to(operand.span);
        Ok(Expr { kind: ExprKind::Unary(op, Box::new(operand)), span })
    }

    fn postfix(&mut self) -> Parsed<Expr> {
        let mut expr = self.primary()?;
        loop {
            let start = expr.span;
            if self.is("->") {
                // The arm of a union, `value -> { }`.
                if self.arrow_ends || self.is_at(1, "{") {
                    return Ok(expr);
                }
                self.arrow();
            }
            let kind = if self.eat(".") || self.eat("->") {
                let name = self.ident("a field or a method")?;
                ExprKind::Field(Box::new(expr), name)
            } else if self.eat("[") {
                let index = self.expr()?;
                self.expect("]")?;
                ExprKind::Index(Box::new(expr), Box::new(index))
            } else if self.eat("(") {
                let args = self.comma_list(")", Self::value)?;
                ExprKind::Call(Box::new(expr), args)
            } else {
                return Ok(expr);
            };
            self.link()?;
            expr = Expr { kind, span: self.span_from(start) };
        }
    }

    fn arrow(&mut self) {
        let here = self.span();
        self.report(
            Diagnostic::error(codes::ARROW, "fields are accessed with `.`", here, "there are no pointers")
                .fix("write `.`", here, "."),
        );
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let token = self.token();
        let text = self.text_of(token.span).to_owned();
        let kind = match token.kind {
            TokenKind::Int(value) => ExprKind::Int { value, text },
            TokenKind::Unit(value, digits) => {
                ExprKind::Unit { value, unit: text[digits as usize..].to_owned(), text }
            }
            TokenKind::Ident => match text.as_str() {
                "true" => ExprKind::Bool(true),
                "false" => ExprKind::Bool(false),
                "none" => ExprKind::None,
                "INF" => ExprKind::Inf,
                _ => ExprKind::Name(text),
            },
            TokenKind::Punct("(") => {
                self.advance();
                let inner = self.nested(Self::expr)?;
                self.expect(")")?;
                if let Some(cast) = self.c_cast(token.span, &inner)? {
                    return Ok(cast);
                }
                let span = self.span_from(token.span);
                return Ok(Expr { kind: ExprKind::Paren(Box::new(inner)), span });
            }
            _ => return Err(self.expected("an expression")),
        };
        self.advance();
        Ok(Expr { kind, span: token.span })
    }
}
