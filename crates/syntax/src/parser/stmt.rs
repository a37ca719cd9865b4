// SPDX-License-Identifier: MIT OR Apache-2.0
//! Statements.

use super::cursor::{Parsed, Parser, Reported};
use crate::ast::*;
use crate::codes;
use crate::diag::Diagnostic;
use crate::lexer::TokenKind;
use crate::span::Span;

impl Parser<'_> {
    pub(super) fn block(&mut self) -> Parsed<Block> {
        let open = self.span();
        if !self.is("{") {
            return Err(self.expected("`{`"));
        }
        self.advance();
        let stmts = self.nested(|p| p.braced(open, Self::stmt))?;
        Ok(Block { stmts, span: self.span_from(open) })
    }

    pub(super) fn stmt(&mut self) -> Parsed<Stmt> {
        self.doc();
        let start = self.span();
        let kind = self.nested(Self::stmt_kind)?;
        Ok(Stmt { kind, span: self.span_from(start) })
    }

    fn stmt_kind(&mut self) -> Parsed<StmtKind> {
        if self.is("{") {
            return Ok(StmtKind::Block(self.block()?));
        }
        if self.token().kind == TokenKind::Ident && !self.is_at(1, "=") && !self.is_at(1, ".") {
            let word = self.text_of(self.span()).to_owned();
            match word.as_str() {
                "if" => return self.if_stmt(),
                "for" => return self.for_stmt(),
                "break" => return self.word(StmtKind::Break),
                "continue" => return self.word(StmtKind::Continue),
                "stop" if self.is_at(1, ";") => return self.word(StmtKind::Stop),
                "return" => return self.return_stmt(),
                "raise" => return self.raise_stmt(),
                "while" => return self.while_stmt(),
                "do" => return self.do_stmt(),
                "choose" if self.choice_ahead() => return self.choose_stmt(),
                "goto" => return self.goto_stmt(),
                "point" if self.is_ident_at(1) && self.is_at(2, "(") => return self.point_stmt(),
                "switch" | "case" | "default" => return Err(self.not_in_the_language(&word)),
                "else" => return Err(self.stray_else()),
                "struct" | "enum" | "event" | "context" | "const" | "optional"
                    if self.is_ident_at(1) && self.is_ident_at(2) =>
                {
                    self.keyword_before_type(&word);
                    return self.let_stmt();
                }
                _ => {}
            }
        }
        if self.declaration_ahead() { self.let_stmt() } else { self.expr_stmt() }
    }

    fn word(&mut self, kind: StmtKind) -> Parsed<StmtKind> {
        self.advance();
        self.semicolon()?;
        Ok(kind)
    }

    /// `T x`, `list<`, `sliding_wnd(..) x`: a declaration; all else is an expression.
    fn declaration_ahead(&self) -> bool {
        if !self.is_ident_at(0) {
            return false;
        }
        self.is_ident_at(1)
            || ((self.is_word("list") || self.is_word("sorted_list")) && self.is_at(1, "<"))
            || (self.is_word("sliding_wnd") && self.is_at(1, "("))
            || (self.is_at(1, "[") && self.is_at(3, "]") && self.is_ident_at(4))
            || (self.is_at(1, "*") && self.is_ident_at(2) && (self.is_at(3, ";") || self.is_at(3, "=")))
    }

    fn let_stmt(&mut self) -> Parsed<StmtKind> {
        let ty = self.ty()?;
        self.no_array_behind_type()?;
        let name = self.ident("a variable's name")?;
        let array = self.array_suffix()?;
        let init = if self.eat("=") {
            LetInit::Value(self.value()?)
        } else if self.eat("(") {
            LetInit::Args(self.comma_list(")", Self::value)?)
        } else {
            LetInit::None
        };
        self.semicolon()?;
        Ok(StmtKind::Let { ty, name, array, init })
    }

    fn expr_stmt(&mut self) -> Parsed<StmtKind> {
        let place = self.expr_no_assignment()?;
        let here = self.span();
        for step in ["++", "--"] {
            if self.eat(step) {
                let op = if step == "++" { BinOp::Add } else { BinOp::Sub };
                let one = Expr { kind: ExprKind::Int { value: 1, text: "1".into() }, span: here };
                self.semicolon()?;
                return Ok(StmtKind::Assign { place, op: Some(op), value: one, incdec: true });
            }
        }
        let Some(op) = self.assignment_operator() else {
            self.semicolon()?;
            return Ok(retained(place).unwrap_or_else(StmtKind::Expr));
        };
        self.advance();
        let value = self.value()?;
        self.semicolon()?;
        Ok(StmtKind::Assign { place, op, value, incdec: false })
    }

    /// The operator that `=`, `+=` ... apply, if one of them is here.
    fn assignment_operator(&self) -> Option<Option<BinOp>> {
        let TokenKind::Punct(punct) = self.token().kind else { return None };
        Some(match punct {
            "=" => None,
            "+=" => Some(BinOp::Add),
            "-=" => Some(BinOp::Sub),
            "*=" => Some(BinOp::Mul),
            "/=" => Some(BinOp::Div),
            "%=" => Some(BinOp::Rem),
            "&=" => Some(BinOp::BitAnd),
            "|=" => Some(BinOp::BitOr),
            "^=" => Some(BinOp::BitXor),
            "<<=" => Some(BinOp::Shl),
            ">>=" => Some(BinOp::Shr),
            _ => return None,
        })
    }

    /// `struct sample s;`: the name of a type says what it is.
    fn keyword_before_type(&mut self, word: &str) {
        let here = self.advance().span;
        let message = format!("unexpected `{word}` before a variable's type");
        let label = "the name of the type is enough";
        let behind = Span::new(here.start, self.span().start);
        self.report(Diagnostic::error(codes::KEYWORD_BEFORE_TYPE, message, here, label).fix(
            "remove it",
            behind,
            "",
        ));
    }

    pub(super) fn condition(&mut self) -> Parsed<Expr> {
        self.in_parentheses(("a condition needs parentheses", "the condition"))
    }

    /// `( expr )`; `missing` is message and label if it has no parentheses.
    pub(super) fn in_parentheses(&mut self, missing: (&str, &str)) -> Parsed<Expr> {
        if self.is_ident_at(0) || self.is("!") {
            return self.without_parentheses(missing);
        }
        self.expect("(")?;
        let inner = self.expr()?;
        self.expect(")")?;
        Ok(inner)
    }

    /// `if x == 1 { }`
    fn without_parentheses(&mut self, (message, label): (&str, &str)) -> Parsed<Expr> {
        let bare = self.expr()?;
        let text = self.text_of(bare.span).to_owned();
        self.report(Diagnostic::error(codes::CONDITION_PARENTHESES, message, bare.span, label).fix(
            "add them",
            bare.span,
            format!("({text})"),
        ));
        Ok(bare)
    }

    /// A block, or one statement, which then stands for a block.
    pub(super) fn body(&mut self) -> Parsed<Block> {
        if self.is("{") {
            return self.block();
        }
        let stmt = self.stmt()?;
        let span = stmt.span;
        Ok(Block { stmts: vec![stmt], span })
    }

    fn if_stmt(&mut self) -> Parsed<StmtKind> {
        self.advance();
        let cond = self.condition()?;
        let then = self.body()?;
        // In a choice, `else ->` is a branch.
        let otherwise = if self.is_word("else") && !self.is_at(1, "->") {
            self.advance();
            if self.is_word("if") {
                Some(Box::new(self.stmt()?))
            } else {
                let block = self.body()?;
                let span = block.span;
                Some(Box::new(Stmt { kind: StmtKind::Block(block), span }))
            }
        } else {
            None
        };
        Ok(StmtKind::If { cond, then, otherwise })
    }

    fn for_stmt(&mut self) -> Parsed<StmtKind> {
        let start = self.advance().span;
        self.expect("(")?;
        if self.is(";") || self.is_at(1, "=") {
            return self.c_style_for(start);
        }
        if self.is_word_at(1, "in") && !self.is_word_at(2, "in") {
            return Err(self.loop_without_type());
        }
        let ty = self.ty()?;
        let var = self.ident("the loop's variable")?;
        if self.is("=") || self.is(";") {
            return self.c_style_for(start);
        }
        if !self.eat_word("in") {
            return Err(self.expected("`in` and what the loop runs over"));
        }
        let from = self.expr()?;
        if !self.eat("..") {
            self.expect(")")?;
            return Ok(StmtKind::For { ty, var, over: Turns::EachOf(from), body: self.body()? });
        }
        let to = self.expr()?;
        let max = if self.eat_word("max") { Some(self.expr()?) } else { None };
        self.expect(")")?;
        Ok(StmtKind::For { ty, var, over: Turns::Range { from, to, max }, body: self.body()? })
    }

    fn loop_without_type(&mut self) -> Reported {
        let here = self.span();
        let start = Span::new(here.start, here.start);
        self.report(
            Diagnostic::error(
                codes::LOOP_WITHOUT_TYPE,
                "the variable of a loop needs a type",
                here,
                "no type",
            )
            .fix("declare it", start, "uint32 "),
        )
    }

    /// Reads the loop to its end, for the mistakes in its body.
    fn c_style_for(&mut self, start: Span) -> Parsed<StmtKind> {
        let mut open = 1_u32;
        while open > 0 && !self.is("{") && !self.is("}") && self.token().kind != TokenKind::Eof {
            open += u32::from(self.is("("));
            open -= u32::from(self.is(")"));
            self.advance();
        }
        let here = self.span_from(start);
        self.report(
            Diagnostic::error(codes::C_STYLE_FOR, "this loop has no visible bound", here, "a C-style for")
                .note("a loop runs over a range or a list, so that every target can bound it")
                .mend("write `for (uint32 i in 0..n max 16) { }`, or `for (T x in a_list) { }`"),
        );
        self.body()?;
        Ok(StmtKind::Error)
    }

    fn while_stmt(&mut self) -> Parsed<StmtKind> {
        let here = self.advance().span;
        if !self.is("(") {
            // What that says to write has parentheses.
            self.no_loop(here);
            self.expr()?;
            self.body()?;
            return Ok(StmtKind::Error);
        }
        self.advance();
        let cond = self.expr()?;
        let max = if self.eat_word("max") { Some(self.expr()?) } else { None };
        self.expect(")")?;
        let Some(max) = max else {
            self.no_loop(here);
            self.body()?;
            return Ok(StmtKind::Error);
        };
        Ok(StmtKind::While { cond, max, body: self.body()? })
    }

    fn do_stmt(&mut self) -> Parsed<StmtKind> {
        let here = self.advance().span;
        self.no_loop(here);
        self.body()?;
        if self.eat_word("while") {
            self.condition()?;
            self.semicolon()?;
        }
        Ok(StmtKind::Error)
    }

    fn no_loop(&mut self, here: Span) -> Reported {
        self.report(
            Diagnostic::error(codes::NO_LOOP, "there are no unbounded loops", here, "may never end")
                .note("a chain of event processors is one bounded step on every target")
                .mend("state how often it runs at most: `while (cond max 16) { }`"),
        )
    }

    fn not_in_the_language(&mut self, word: &str) -> Reported {
        let here = self.span();
        self.report(
            Diagnostic::error(
                codes::NOT_IN_THE_LANGUAGE,
                format!("there is no `{word}`"),
                here,
                "not a statement of the language",
            )
            .mend("write `choose (x) { 1 -> f(); 2, 3 -> { } else -> g(); }`"),
        )
    }

    fn stray_else(&mut self) -> Reported {
        let here = self.span();
        self.report(
            Diagnostic::error(codes::ELSE_WITHOUT_IF, "this `else` has no `if`", here, "here")
                .mend("put it right after the block of its `if`"),
        )
    }

    fn return_stmt(&mut self) -> Parsed<StmtKind> {
        self.advance();
        let value = if self.is(";") || self.is("}") { None } else { Some(self.value()?) };
        self.semicolon()?;
        Ok(StmtKind::Return(value))
    }

    fn goto_stmt(&mut self) -> Parsed<StmtKind> {
        self.advance();
        let state = self.ident("a state of the machine")?;
        self.semicolon()?;
        Ok(StmtKind::Goto(state))
    }

    fn point_stmt(&mut self) -> Parsed<StmtKind> {
        self.advance();
        let name = self.ident("the point's name")?;
        self.expect("(")?;
        let passed = self.comma_list(")", |p| p.ident("a variable"))?;
        self.semicolon()?;
        Ok(StmtKind::Point { name, passed })
    }

    fn raise_stmt(&mut self) -> Parsed<StmtKind> {
        self.advance();
        let event = self.expr()?;
        let at = if self.eat_word("at") { Some(self.expr()?) } else { None };
        let record = if self.is("{") { Some(self.value()?) } else { None };
        self.semicolon()?;
        Ok(StmtKind::Raise { event, at, record })
    }
}

/// `list.retain(x, keep)`, which gives the element a name; another expression comes back.
fn retained(e: Expr) -> Result<StmtKind, Expr> {
    let ExprKind::Call(callee, args) = &e.kind else { return Err(e) };
    let (ExprKind::Field(list, method), [Expr { kind: ExprKind::Name(name), span }, keep]) =
        (&callee.kind, &args[..])
    else {
        return Err(e);
    };
    if method.name != "retain" {
        return Err(e);
    }
    let var = Ident { name: name.clone(), span: *span };
    Ok(StmtKind::Retain { list: (**list).clone(), word: method.span, var, keep: keep.clone() })
}
