// SPDX-License-Identifier: MIT OR Apache-2.0
//! Offsets in bytes to positions in UTF-16 code units, as the protocol counts, and back.

use carrick_syntax::Span;
use lsp_types::{Position, Range};

/// Where each line of a text begins.
#[derive(Debug)]
pub struct Lines {
    starts: Vec<u32>,
    /// where each character ends that has more bytes than code units, and how many more these and those before it have
    extra: Vec<(u32, u32)>,
}

impl Lines {
    pub fn new(text: &str) -> Self {
        let newlines = text.bytes().enumerate().filter(|(_, b)| *b == b'\n');
        let starts = std::iter::once(0).chain(newlines.map(|(i, _)| i as u32 + 1)).collect();
        let wide = text.char_indices().filter(|(_, c)| c.len_utf8() > c.len_utf16());
        let extra = wide.scan(0, |sum, (at, c)| {
            *sum += (c.len_utf8() - c.len_utf16()) as u32;
            Some(((at + c.len_utf8()) as u32, *sum))
        });
        Lines { starts, extra: extra.collect() }
    }

    /// How many more bytes than code units there are before an offset.
    fn extra_before(&self, offset: u32) -> u32 {
        let count = self.extra.partition_point(|(end, _)| *end <= offset);
        count.checked_sub(1).map_or(0, |last| self.extra[last].1)
    }

    /// The position of an offset; one past the end counts as the end, one inside a character as its beginning.
    pub fn position(&self, text: &str, offset: u32) -> Position {
        let mut offset = (offset as usize).min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.starts.partition_point(|s| *s as usize <= offset) - 1;
        let (start, offset) = (self.starts[line], offset as u32);
        let extra = self.extra_before(offset) - self.extra_before(start);
        Position::new(line as u32, offset - start - extra)
    }

    pub fn range(&self, text: &str, span: Span) -> Range {
        Range::new(self.position(text, span.start), self.position(text, span.end))
    }

    /// The offset of a position; one behind the end of its line counts as that end.
    pub fn offset(&self, text: &str, position: Position) -> u32 {
        let Some(&start) = self.starts.get(position.line as usize) else { return text.len() as u32 };
        let rest = &text[start as usize..];
        let line = rest.find('\n').map_or(rest, |end| &rest[..end]);
        let line = line.strip_suffix('\r').unwrap_or(line);
        let mut units = 0;
        for (at, c) in line.char_indices() {
            if units + c.len_utf16() as u32 > position.character {
                return start + at as u32;
            }
            units += c.len_utf16() as u32;
        }
        start + line.len() as u32
    }

    pub fn span(&self, text: &str, range: Range) -> Span {
        let start = self.offset(text, range.start);
        Span::new(start, self.offset(text, range.end).max(start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_utf16_units() {
        let text = "a𝄞é\r\nb\n";
        let lines = Lines::new(text);
        for (offset, line, character) in [(0, 0, 0), (1, 0, 1), (5, 0, 3), (7, 0, 4), (9, 1, 0), (11, 2, 0)] {
            let position = Position::new(line, character);
            assert_eq!(lines.position(text, offset), position);
            assert_eq!(lines.offset(text, position), offset);
        }
        // Inside of the surrogate pair, behind the line, behind the text.
        assert_eq!(lines.offset(text, Position::new(0, 2)), 1);
        assert_eq!(lines.position(text, 3), Position::new(0, 1));
        assert_eq!(lines.offset(text, Position::new(0, 99)), 7);
        assert_eq!(lines.offset(text, Position::new(99, 0)), 11);
        assert_eq!(lines.position(text, 99), Position::new(2, 0));
    }
}
