//! Lines with indentation, and where they come from.

use std::fmt::Write;

use carrick_ir::Loc;

/// Collects the text of one file.
#[derive(Debug)]
pub struct Writer {
    text: String,
    depth: usize,
    /// the generated file's own name, for `#line`
    own_name: String,
    /// the number of the next line of the generated file
    next_line: u32,
    /// what the compiler believes of the next line: the file and line of the program, if it believes that
    believed: Option<(u32, u32)>,
}

impl Writer {
    pub fn new(own_name: String) -> Self {
        Writer { text: String::new(), depth: 0, own_name, next_line: 1, believed: None }
    }

    pub fn line(&mut self, line: impl AsRef<str>) {
        let line = line.as_ref();
        for part in line.split('\n') {
            if !part.is_empty() {
                let indent = if part.starts_with('#') { 0 } else { self.depth };
                let _ = write!(self.text, "{:width$}{part}", "", width = indent * 4);
            }
            self.text.push('\n');
            self.next_line += 1;
            self.believed = self.believed.map(|(file, line)| (file, line + 1));
        }
    }

    pub fn blank(&mut self) {
        if !self.text.ends_with("\n\n") {
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
    pub fn at(&mut self, loc: Loc, file: &str) {
        if loc.line != 0 && self.believed != Some((loc.file, loc.line)) {
            self.line(format!("#line {} \"{}\"", loc.line, escape(file)));
            self.believed = Some((loc.file, loc.line));
        }
    }

    /// The lines from here on are the generated file's own.
    pub fn own(&mut self) {
        if self.believed.is_some() {
            let line = self.next_line + 1;
            let name = self.own_name.clone();
            self.line(format!("#line {line} \"{name}\""));
            self.believed = None;
        }
    }

    pub fn finish(self) -> String {
        self.text
    }
}

fn escape(path: &str) -> String {
    path.replace('\\', "\\\\").replace('"', "\\\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_directives_are_written_only_where_the_compiler_would_guess_wrong() {
        let mut w = Writer::new("a.c".into());
        w.open("void f(void) {");
        for (file, line) in [(0, 7), (0, 8), (0, 20), (1, 21)] {
            w.at(Loc { file, line, col: 1 }, ["a.mtp", "b.mtp"][file as usize]);
            w.line("x;");
        }
        w.own();
        w.close("}");
        let expected = "void f(void) {\n#line 7 \"a.mtp\"\n    x;\n    x;\n#line 20 \"a.mtp\"\n    x;\n#line 21 \"b.mtp\"\n    x;\n#line 10 \"a.c\"\n}\n";
        assert_eq!(w.finish(), expected);
    }
}
