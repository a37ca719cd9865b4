// SPDX-License-Identifier: MIT OR Apache-2.0
//! The texts of a program that is spread over several files, laid end to end: an offset says the file too.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::{LineCol, LineIndex, Span};

/// One file of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Part {
    /// as the user named it, or as the import leads to it
    name: String,
    range: Range<usize>,
}

/// All texts of a program, the main file first. There is always at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sources {
    text: String,
    parts: Vec<Part>,
    /// the number of each file
    numbers: BTreeMap<String, usize>,
}

impl Sources {
    /// A program of one file.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        let text = text.into();
        let range = 0..text.len();
        let name = name.into();
        Sources { text, numbers: BTreeMap::from([(name.clone(), 0)]), parts: vec![Part { name, range }] }
    }

    /// Adds a file; returns its number.
    pub fn add(&mut self, name: impl Into<String>, text: &str) -> usize {
        // Whatever looks at the line around a place finds no line of another file.
        self.text.push('\n');
        let start = self.text.len();
        self.text.push_str(text);
        let (name, file) = (name.into(), self.parts.len());
        self.numbers.entry(name.clone()).or_insert(file);
        self.parts.push(Part { name, range: start..self.text.len() });
        file
    }

    /// What spans count in.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// How many files there are.
    pub fn count(&self) -> usize {
        self.parts.len()
    }

    /// The name of a file.
    ///
    /// # Panics
    /// If there is no file with this number.
    pub fn name(&self, file: usize) -> &str {
        &self.parts[file].name
    }

    /// Where a file lies in the text.
    ///
    /// # Panics
    /// If there is no file with this number.
    pub fn range(&self, file: usize) -> Range<usize> {
        self.parts[file].range.clone()
    }

    /// The file with this name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.numbers.get(name).copied()
    }

    /// The file that an offset lies in; an offset past the end counts as in the last.
    pub fn file_of(&self, offset: u32) -> usize {
        self.parts.partition_point(|p| p.range.start <= offset as usize).saturating_sub(1)
    }

    /// The span counted from the beginning of its file, and within that file.
    pub fn within(&self, span: Span) -> Span {
        let range = &self.parts[self.file_of(span.start)].range;
        let local = |offset: u32| (offset as usize).clamp(range.start, range.end) - range.start;
        Span::new(local(span.start) as u32, local(span.end) as u32)
    }
}

/// Where each line of each file begins.
#[derive(Debug, Clone)]
pub struct Places<'a> {
    sources: &'a Sources,
    lines: Vec<LineIndex<'a>>,
}

impl<'a> Places<'a> {
    pub fn new(sources: &'a Sources) -> Self {
        let lines = sources.parts.iter().map(|p| LineIndex::new(&sources.text[p.range.clone()]));
        Places { lines: lines.collect(), sources }
    }

    /// The file, line and column of an offset.
    pub fn at(&self, offset: u32) -> (usize, LineCol) {
        let file = self.sources.file_of(offset);
        let start = self.sources.parts[file].range.start as u32;
        (file, self.lines[file].line_col(offset.saturating_sub(start)))
    }

    /// The offset of a file's line and column; the end of the text if there is no such file.
    pub fn offset(&self, file: usize, at: LineCol) -> u32 {
        match (self.sources.parts.get(file), self.lines.get(file)) {
            (Some(part), Some(lines)) => part.range.start as u32 + lines.offset(at),
            _ => self.sources.text.len() as u32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Places, Sources};
    use crate::{LineCol, Span};

    #[test]
    fn an_offset_says_the_file_too() {
        let mut sources = Sources::new("a.mtp", "a\nb");
        assert_eq!(sources.add("c.mtp", "cé\nd\n"), 1);
        assert_eq!((sources.find("c.mtp"), sources.find("b.mtp")), (Some(1), None));
        let places = Places::new(&sources);
        assert_eq!(places.at(2), (0, LineCol { line: 2, col: 1 }));
        assert_eq!(places.at(4), (1, LineCol { line: 1, col: 1 }));
        assert_eq!(places.at(8), (1, LineCol { line: 2, col: 1 }));
        assert_eq!(places.at(99), (1, LineCol { line: 3, col: 1 }));
        for offset in [0, 2, 4, 5, 8] {
            let (file, at) = places.at(offset);
            assert_eq!(places.offset(file, at), offset);
        }
        assert_eq!(sources.within(Span::new(4, 5)), Span::new(0, 1));
        assert_eq!(sources.within(Span::new(2, 5)), Span::new(2, 3));
    }
}
