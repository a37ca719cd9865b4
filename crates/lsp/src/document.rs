// SPDX-License-Identifier: MIT OR Apache-2.0
//! One open file: its text, and what is known of it as long as the text stays.

use std::cell::OnceCell;
use std::path::Path;

use carrick_driver::compile::compile_assembled;
use carrick_driver::{Choice, Compiled, parts};
use carrick_syntax::assemble::{Assembled, assemble, assemble_part, features};
use carrick_syntax::ast::{self, Feature, ItemKind};
use carrick_syntax::diag::Severity;
use carrick_syntax::{Sources, Span};
use lsp_types::{Location, Range, TextDocumentContentChangeEvent, TextEdit, Uri};

use crate::index::Index;
use crate::paths;
use crate::positions::Lines;
use crate::texts::Texts;

/// A text with its tree and the names in it, and with what it imports.
#[derive(Debug)]
pub struct Analysis {
    /// the document, whose lines are `lines`, what it imports, and the rest of its program if it is a part
    assembled: Assembled,
    /// the files that it imports, those that are not there too
    imports: Vec<String>,
    /// whether a program imports the document, and is known too
    pub is_part: bool,
    /// where their texts are from
    pub texts: Texts,
    pub lines: Lines,
    pub index: Index,
}

impl Analysis {
    /// Of a document with this name, where its imports begin.
    pub fn new(name: &str, text: &str, texts: &Texts) -> Self {
        let mut imports = Vec::new();
        let mut read = |import: &str| {
            imports.push(import.to_owned());
            texts.read(import)
        };
        let mut assembled = assemble(name, text, &mut read);
        let is_whole = assembled.tree.items.iter().any(|item| matches!(item.kind, ItemKind::Deploy { .. }));
        let program = if is_whole { None } else { parts::program_of(Path::new(name)) };
        let program = program.map(|path| path.display().to_string());
        if let Some(program) = &program {
            assembled = assemble_part(name, text, program, &mut read);
        }
        let index = Index::new(&assembled.tree, assembled.sources.text());
        let is_part = program.is_some();
        Analysis { lines: Lines::new(text), assembled, imports, is_part, texts: texts.clone(), index }
    }

    /// The text of the document itself.
    pub fn text(&self) -> &str {
        &self.sources().text()[self.sources().range(0)]
    }

    /// The texts of all files, the document's first.
    pub fn sources(&self) -> &Sources {
        &self.assembled.sources
    }

    /// The declarations of all files.
    pub fn tree(&self) -> &ast::File {
        &self.assembled.tree
    }

    /// Whether a span lies in the document itself.
    pub fn is_own(&self, span: Span) -> bool {
        self.sources().file_of(span.start) == 0
    }

    /// Of a span in the document itself.
    pub fn range(&self, span: Span) -> Range {
        self.lines.range(self.text(), span)
    }

    /// Where a span is: in the document, or in a file that it imports.
    pub fn location(&self, uri: &Uri, span: Span) -> Location {
        let file = self.sources().file_of(span.start);
        match paths::uri(self.sources().name(file)) {
            Some(imported) if file > 0 => {
                let text = &self.sources().text()[self.sources().range(file)];
                Location::new(imported, Lines::new(text).range(text, self.sources().within(span)))
            }
            _ => Location::new(uri.clone(), self.range(span)),
        }
    }

    /// The features with which the document is checked: those that the editor chose, its own if it is a part, and options that it adds
    /// to features of what it imports.
    fn choice(&self, editor: &Choice) -> Choice {
        let blocks = || {
            self.tree().items.iter().filter_map(|item| match &item.kind {
                ItemKind::Feature(feature) => Some((self.is_own(item.span), feature)),
                _ => None,
            })
        };
        let declares = |own: bool, f: &Feature, of: &Feature| {
            own && f.of_option.is_none() && f.name.name == of.name.name
        };
        let added = |of: &Feature| of.of_option.is_some() && !blocks().any(|(own, f)| declares(own, f, of));
        let own = blocks().filter(|(own, f)| *own && (self.is_part || added(f)));
        let own = own.map(|(_, f)| (f.name.name.clone(), f.of_option.as_ref().map(|o| o.name.clone())));
        let mut choice = Choice { with: Vec::new(), ..editor.clone() };
        for (name, option) in own.chain(editor.with.iter().cloned()) {
            if choice.with.iter().all(|(chosen, _)| *chosen != name) {
                choice.with.push((name, option));
            }
        }
        let configured = features::configure(self.tree(), &choice);
        let fits = configured.diagnostics.iter().all(|d| d.severity != Severity::Error);
        if fits { choice } else { editor.clone() }
    }

    pub fn text_of(&self, span: Span) -> &str {
        self.sources().text().get(span.start as usize..span.end as usize).unwrap_or_default()
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
    /// of all open documents
    texts: Texts,
    /// that the editor chose
    features: Choice,
    analysis: OnceCell<Analysis>,
    compiled: OnceCell<Compiled>,
    /// whether the editor has the diagnostics of this text
    pub published: bool,
}

impl Document {
    pub fn new(name: String, version: i32, text: String, texts: &Texts, features: &Choice) -> Self {
        Document {
            name,
            version,
            text,
            texts: texts.clone(),
            features: features.clone(),
            analysis: OnceCell::new(),
            compiled: OnceCell::new(),
            published: false,
        }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether what is known of it depends on another file.
    pub fn imports(&self, name: &str) -> bool {
        self.analysis.get().is_some_and(|a| a.imports.iter().any(|import| import == name))
    }

    /// Something that it imports has changed.
    pub fn forget(&mut self) {
        (self.analysis, self.compiled, self.published) = (OnceCell::new(), OnceCell::new(), false);
    }

    pub fn analysis(&self) -> &Analysis {
        self.analysis.get_or_init(|| Analysis::new(&self.name, &self.text, &self.texts))
    }

    pub fn compiled(&self) -> &Compiled {
        self.compiled.get_or_init(|| {
            let analysis = self.analysis();
            compile_assembled(&self.name, &analysis.assembled, &analysis.choice(&self.features), None)
        })
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
        self.version = version;
        self.forget();
    }
}
