// SPDX-License-Identifier: MIT OR Apache-2.0
//! Offsets to lines and columns.

/// A place as people count: both from 1, columns in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineCol {
    pub line: u32,
    pub col: u32,
}

/// Where each line of a text begins.
#[derive(Debug, Clone)]
pub struct LineIndex<'a> {
    text: &'a str,
    starts: Vec<u32>,
    /// where bytes are that begin no character
    inner: Vec<u32>,
}

impl<'a> LineIndex<'a> {
    pub fn new(text: &'a str) -> Self {
        let newlines = text.bytes().enumerate().filter(|(_, b)| *b == b'\n');
        let starts = std::iter::once(0).chain(newlines.map(|(i, _)| i as u32 + 1)).collect();
        let inner = text.bytes().enumerate().filter(|(_, b)| b & 0xc0 == 0x80).map(|(i, _)| i as u32);
        LineIndex { text, starts, inner: inner.collect() }
    }

    /// The line and column of a byte offset; an offset past the end counts as the end.
    pub fn line_col(&self, offset: u32) -> LineCol {
        let offset = (offset as usize).min(self.text.len());
        let line = self.starts.partition_point(|s| *s as usize <= offset) - 1;
        if !self.text.is_char_boundary(offset) {
            return LineCol { line: line as u32 + 1, col: 1 };
        }
        let start = self.starts[line] as usize;
        let inner_before = |at: usize| self.inner.partition_point(|i| (*i as usize) < at);
        let chars = offset - start - (inner_before(offset) - inner_before(start));
        LineCol { line: line as u32 + 1, col: chars as u32 + 1 }
    }

    /// The byte offset of a line and column; past the end of the text counts as the end.
    pub fn offset(&self, at: LineCol) -> u32 {
        let line = (at.line as usize).checked_sub(1).and_then(|line| self.starts.get(line));
        let Some(start) = line.copied() else { return self.text.len() as u32 };
        let rest = self.text.get(start as usize..).unwrap_or_default();
        let before = rest.char_indices().nth((at.col as usize).saturating_sub(1));
        start + before.map_or(rest.len(), |(octets, _)| octets) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::{LineCol, LineIndex};

    #[test]
    fn lines_and_columns_count_from_one_in_characters() {
        let index = LineIndex::new("aé\nb\n");
        assert_eq!(index.line_col(0), LineCol { line: 1, col: 1 });
        assert_eq!(index.line_col(3), LineCol { line: 1, col: 3 });
        assert_eq!(index.line_col(4), LineCol { line: 2, col: 1 });
        assert_eq!(index.line_col(99), LineCol { line: 3, col: 1 });
        for offset in [0, 1, 3, 4, 5, 6] {
            assert_eq!(index.offset(index.line_col(offset)), offset);
        }
        assert_eq!(index.offset(LineCol { line: 9, col: 1 }), 6);
    }
}
