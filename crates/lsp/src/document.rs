//! One open file: its text, and what is known of it as long as the text stays.

use std::cell::OnceCell;

use carrick_driver::{Compiled, compile_text};
use carrick_syntax::{Span, ast};
use lsp_types::{Range, TextDocumentContentChangeEvent, TextEdit};

use crate::index::Index;
use crate::positions::Lines;

/// A text with its tree and the names in it.
#[derive(Debug)]
pub struct Analysis {
    pub text: String,
    pub lines: Lines,
    pub tree: ast::File,
    pub index: Index,
}

impl Analysis {
    pub fn new(text: String) -> Self {
        let (tree, _) = carrick_syntax::parse(&text);
        let index = Index::new(&tree, &text);
        Analysis { lines: Lines::new(&text), tree, index, text }
    }

    pub fn range(&self, span: Span) -> Range {
        self.lines.range(&self.text, span)
    }

    pub fn text_of(&self, span: Span) -> &str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or_default()
    }

    pub fn edit(&self, span: Span, new_text: String) -> TextEdit {
        TextEdit { range: self.range(span), new_text }
    }
}

/// An open file. What is computed of its text is computed once.
#[derive(Debug)]
pub struct Document {
    /// as the diagnostics name it
    name: String,
    pub version: i32,
    text: String,
    analysis: OnceCell<Analysis>,
    compiled: OnceCell<Compiled>,
    /// whether the editor has the diagnostics of this text
    pub published: bool,
}

impl Document {
    pub fn new(name: String, version: i32, text: String) -> Self {
        Document {
            name,
            version,
            text,
            analysis: OnceCell::new(),
            compiled: OnceCell::new(),
            published: false,
        }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn analysis(&self) -> &Analysis {
        self.analysis.get_or_init(|| Analysis::new(self.text.clone()))
    }

    pub fn compiled(&self) -> &Compiled {
        self.compiled.get_or_init(|| compile_text(&self.name, self.text.clone()))
    }

    /// Applies changes in their order: each a part of the text, or all of it.
    pub fn change(&mut self, version: i32, changes: Vec<TextDocumentContentChangeEvent>) {
        for change in changes {
            match change.range {
                None => self.text = change.text,
                Some(range) => {
                    let span = Lines::new(&self.text).span(&self.text, range);
                    self.text.replace_range(span.start as usize..span.end as usize, &change.text);
                }
            }
        }
        let text = std::mem::take(&mut self.text);
        *self = Document::new(std::mem::take(&mut self.name), version, text);
    }
}
