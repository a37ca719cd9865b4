// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lines with indentation.

use carrick_ir::Text;

use crate::text;

/// Columns that a line of tables takes at most, if its parts let it.
const WIDTH: usize = 110;

/// Collects the text of a part of the script.
#[derive(Debug, Default)]
pub struct Writer {
    text: String,
    depth: usize,
}

impl Writer {
    pub fn line(&mut self, line: impl AsRef<str>) {
        let line = line.as_ref();
        if !line.is_empty() {
            self.text.push_str(&"  ".repeat(self.depth));
            self.text.push_str(line);
        }
        self.text.push('\n');
    }

    /// A line that opens a block.
    pub fn open(&mut self, line: impl AsRef<str>) {
        self.line(line);
        self.depth += 1;
    }

    /// The line that closes it.
    pub fn close(&mut self, line: impl AsRef<str>) {
        self.depth = self.depth.saturating_sub(1);
        self.line(line);
    }

    /// A line that closes one block and opens another.
    pub fn turn(&mut self, line: impl AsRef<str>) {
        self.close(line);
        self.depth += 1;
    }

    /// Lines of comment; none for an empty text.
    pub fn comment(&mut self, text: &Text) {
        text::comment(text).for_each(|line| self.line(line));
    }

    /// `before { part, part, ... }after`, in as many lines as it takes.
    pub fn table(&mut self, before: &str, parts: &[String], after: &str) {
        let whole = format!("{before}{}{after}", braces(parts));
        if whole.len() + 2 * self.depth <= WIDTH {
            return self.line(whole);
        }
        self.open(format!("{before}{{"));
        for part in parts {
            self.line(format!("{part},"));
        }
        self.close(format!("}}{after}"));
    }

    pub fn finish(self) -> String {
        self.text
    }
}

/// A table in one line.
pub fn braces(parts: &[String]) -> String {
    if parts.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", parts.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_break_where_they_are_too_long() {
        let mut w = Writer::default();
        w.open("do");
        w.table("a = ", &["b = 1".to_owned(), "c = 2".to_owned()], "");
        w.table("a = ", &["b".repeat(60), "c".repeat(60)], "");
        w.close("end");
        let long = format!("  a = {{\n    {},\n    {},\n  }}\n", "b".repeat(60), "c".repeat(60));
        assert_eq!(w.finish(), format!("do\n  a = {{ b = 1, c = 2 }}\n{long}end\n"));
    }
}
