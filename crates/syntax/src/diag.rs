// SPDX-License-Identifier: MIT OR Apache-2.0
//! Diagnostics as data: one value feeds the terminal, JSON and the editor.

use crate::span::Span;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    Error,
    Warning,
}

/// A place and what is to be said of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    pub span: Span,
    pub text: String,
}

/// Replace the text at `span` by `replacement`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    pub span: Span,
    pub replacement: String,
}

/// A mend: a sentence and, where it can be applied by a tool, the edits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mend {
    pub text: String,
    pub edits: Vec<Edit>,
}

/// One thing that is wrong with a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// the number in `MTP0123`
    pub code: u16,
    pub severity: Severity,
    /// one sentence, lower case, no full stop
    pub message: String,
    /// where: the first label is what is wrong
    pub primary: Label,
    /// what caused it
    pub causes: Vec<Label>,
    /// why it is so
    pub note: Option<String>,
    pub mend: Option<Mend>,
    /// how many this stands for: 1, but where the rest of many are only counted
    pub count: usize,
}

impl Diagnostic {
    /// An error with its primary label; the rest is added by the builder methods.
    pub fn error(code: u16, message: impl Into<String>, span: Span, label: impl Into<String>) -> Self {
        Diagnostic {
            code,
            severity: Severity::Error,
            message: message.into(),
            primary: Label { span, text: label.into() },
            causes: Vec::new(),
            note: None,
            mend: None,
            count: 1,
        }
    }

    /// A warning with its primary label.
    pub fn warning(code: u16, message: impl Into<String>, span: Span, label: impl Into<String>) -> Self {
        Diagnostic { severity: Severity::Warning, ..Self::error(code, message, span, label) }
    }

    #[must_use]
    pub fn cause(mut self, span: Span, text: impl Into<String>) -> Self {
        self.causes.push(Label { span, text: text.into() });
        self
    }

    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.note = Some(text.into());
        self
    }

    /// A mend that a person carries out.
    #[must_use]
    pub fn mend(mut self, text: impl Into<String>) -> Self {
        self.mend = Some(Mend { text: text.into(), edits: Vec::new() });
        self
    }

    /// A mend that a tool can carry out.
    #[must_use]
    pub fn fix(mut self, text: impl Into<String>, span: Span, replacement: impl Into<String>) -> Self {
        let edit = Edit { span, replacement: replacement.into() };
        self.mend = Some(Mend { text: text.into(), edits: vec![edit] });
        self
    }
}

/// One kind of diagnostic: its number, what it is about, and its page for `carrick explain`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Code {
    pub number: u16,
    pub title: &'static str,
    /// Markdown: what it means, a program that provokes it, the mend
    pub explain: &'static str,
}

/// Declares the constants of a range of codes and the table `CODES` of them, in ascending order; each
/// takes its page from `docs/errors`.
#[macro_export]
macro_rules! code_table_ {
    ($($name:ident = $number:literal, $title:literal, $page:literal;)*) => {
        $(#[doc = $title] pub const $name: u16 = $number;)*
        /// All of them, ascending.
        pub const CODES: &[Code] = &[$(Code {
            number: $number,
            title: $title,
            explain: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/errors/MTP", $page, ".md")),
        }),*];
    };
}
pub use code_table_ as code_table;
