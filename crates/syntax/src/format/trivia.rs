// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tokens with the comments and empty lines around them.

use crate::lexer::{TokenKind, lex};

/// A comment, as written but without blanks at its end.
#[derive(Debug, Clone)]
pub(super) struct Comment {
    pub text: String,
    /// an empty line stood before it
    pub blank_before: bool,
    /// runs to the end of its line
    pub is_line: bool,
}

/// A token that is not a comment.
#[derive(Debug, Clone)]
pub(super) struct Piece<'a> {
    pub text: &'a str,
    pub kind: TokenKind,
    pub start: usize,
    /// comments on lines of their own before it
    pub leading: Vec<Comment>,
    /// comments after it on its line
    pub trailing: Vec<Comment>,
    /// an empty line stood before it (after its leading comments)
    pub blank_before: bool,
}

/// The tokens of `text` in order, the end of the file last; each comment belongs to exactly one of them.
pub(super) fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces: Vec<Piece<'_>> = Vec::new();
    let mut leading = Vec::new();
    let mut end = 0;
    let mut on_line_of_token = false;
    let (tokens, _) = lex(text);
    for token in &tokens {
        let gap = &text[end..token.span.start as usize];
        let newlines = gap.matches('\n').count();
        end = token.span.end as usize;
        on_line_of_token &= newlines == 0;
        if !is_comment(token.kind) {
            let start = token.span.start as usize;
            let blank_before = newlines > 1;
            let leading = std::mem::take(&mut leading);
            let text = &text[start..end];
            pieces.push(Piece { text, kind: token.kind, start, leading, trailing: Vec::new(), blank_before });
            on_line_of_token = true;
            continue;
        }
        let comment = Comment {
            text: text[token.span.start as usize..end].trim_end().to_owned(),
            blank_before: newlines > 1,
            is_line: token.kind != TokenKind::BlockComment,
        };
        match pieces.last_mut() {
            Some(piece) if on_line_of_token => piece.trailing.push(comment),
            _ => leading.push(comment),
        }
    }
    pieces
}

fn is_comment(kind: TokenKind) -> bool {
    kind.is_comment() || kind == TokenKind::DocComment
}
