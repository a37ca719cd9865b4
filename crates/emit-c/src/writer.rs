// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lines with indentation, and where they come from.

use std::collections::BTreeMap;

use carrick_ir::{Loc, Text};

use crate::layout::{folded, mark_unused};
use crate::text;

/// Collects the text of one file.
#[derive(Debug)]
pub struct Writer {
    lines: Vec<String>,
    /// the lines at which the generated file goes on as its own: their numbers are known when all others are there
    own: Vec<usize>,
    /// the lines that come from the program's text, and what the compiler believes of each
    from_program: BTreeMap<usize, (u32, u32)>,
    /// the program's files by their numbers, as `#line` names them
    files: BTreeMap<u32, String>,
    depth: usize,
    /// the generated file's own name, as `#line` names it
    own_name: String,
    /// what the compiler believes of the next line: the file and line of the program, if it believes that
    believed: Option<(u32, u32)>,
}

impl Writer {
    /// Nothing is written yet; `own_name` is that of the file.
    pub fn new(own_name: &str) -> Self {
        Writer {
            lines: Vec::new(),
            own: Vec::new(),
            from_program: BTreeMap::new(),
            files: BTreeMap::new(),
            depth: 0,
            own_name: text::quoted(own_name),
            believed: None,
        }
    }

    /// A line, or some, with the indentation of the block.
    pub fn line(&mut self, line: impl AsRef<str>) {
        let line = line.as_ref();
        for part in line.split('\n') {
            let indent = if part.is_empty() || part.starts_with('#') { 0 } else { self.depth };
            if let Some(believed) = self.believed {
                self.from_program.insert(self.lines.len(), believed);
            }
            self.lines.push(format!("{:width$}{part}", "", width = indent * 4));
            self.believed = self.believed.map(|(file, line)| (file, line + 1));
        }
    }

    /// Some lines, or none.
    pub fn lines(&mut self, lines: &str) {
        if !lines.is_empty() {
            self.line(lines);
        }
    }

    /// A blank line, unless the last one is.
    pub fn blank(&mut self) {
        if self.lines.last().is_none_or(|line| !line.is_empty()) {
            self.line("");
        }
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

    /// The end of a function.
    pub fn end(&mut self) {
        self.close("}");
        self.blank();
    }

    /// The same, behind its last line.
    pub fn end_with(&mut self, line: impl AsRef<str>) {
        self.line(line);
        self.end();
    }

    /// The end of a struct.
    pub fn end_type(&mut self) {
        self.close("};");
        self.blank();
    }

    /// The end of a `switch`, in which other cases do nothing.
    pub fn close_switch(&mut self) {
        self.line("default:\n    break;");
        self.close("}");
    }

    /// The last line of a `case`.
    pub fn close_case(&mut self, line: &str) {
        self.line(line);
        self.depth = self.depth.saturating_sub(1);
    }

    /// After a line that closed one block and opened another.
    pub fn open_again(&mut self) {
        self.depth += 1;
    }

    /// The next line comes from this place of the program.
    pub fn at(&mut self, loc: Loc, file: &Text) {
        if loc.line != 0 && self.believed != Some((loc.file, loc.line)) {
            self.believed = None;
            let file = self.files.entry(loc.file).or_insert_with(|| text::string(file));
            let directive = directive(loc.line, file);
            self.line(directive);
            self.believed = Some((loc.file, loc.line));
        }
    }

    /// The lines from here on are the generated file's own.
    pub fn own(&mut self) {
        if self.believed.is_some() {
            self.believed = None;
            self.own.push(self.lines.len());
            self.line("#line");
        }
    }

    /// The text of the file.
    pub fn finish(self) -> String {
        let mut own = self.own.iter().peekable();
        let mut all: Vec<String> = Vec::with_capacity(self.lines.len());
        for (at, line) in mark_unused(&self.lines).iter().enumerate() {
            if own.next_if_eq(&&at).is_some() {
                all.push(directive(all.len() as u32 + 2, &self.own_name));
                continue;
            }
            let before = all.len();
            all.extend(folded(line));
            // The compiler counts the lines that a statement has become; the next one has its number again.
            if let (true, Some((file, line))) = (all.len() > before + 1, self.from_program.get(&(at + 1))) {
                all.push(directive(*line, &self.files[file]));
            }
        }
        all.push(String::new());
        all.join("\n")
    }
}

/// `file` is a string of C.
fn directive(line: u32, file: &str) -> String {
    format!("#line {line} {file}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_directives_are_written_only_where_the_compiler_would_guess_wrong() {
        let mut w = Writer::new("a.c");
        w.open("void f(void) {");
        for (file, line) in [(0, 7), (0, 8), (0, 20), (1, 21)] {
            w.at(Loc { file, line, col: 1 }, &["a.mtp", "b.mtp"][file as usize].into());
            w.line("x;");
        }
        w.own();
        w.close("}");
        let expected = "void f(void) {\n#line 7 \"a.mtp\"\n    x;\n    x;\n#line 20 \"a.mtp\"\n    x;\n#line 21 \"b.mtp\"\n    x;\n#line 10 \"a.c\"\n}\n";
        assert_eq!(w.finish(), expected);
    }

    #[test]
    fn a_line_after_a_folded_one_has_its_number() {
        let mut w = Writer::new("a.c");
        let argument = "a_rather_long_argument_of_a_call(with, some)";
        w.at(Loc { file: 0, line: 7, col: 1 }, &"a.mtp".into());
        w.line(format!("f({argument}, {argument}, {argument});"));
        w.line("x;");
        let lines = format!("f({argument}, {argument},\n  {argument});");
        assert_eq!(w.finish(), format!("#line 7 \"a.mtp\"\n{lines}\n#line 8 \"a.mtp\"\nx;\n"));
    }
}
