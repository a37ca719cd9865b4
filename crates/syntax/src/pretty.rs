// SPDX-License-Identifier: MIT OR Apache-2.0
//! A small pretty-printer: groups that stand on one line if they fit, and break at all their lines if not.

/// What is to be laid out.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Doc {
    Text(String),
    /// A comment: takes no part in the decision what fits, neither itself nor as what stands before others.
    Comment(String),
    /// One blank, but not at the beginning or the end of a line.
    Space,
    /// A blank, or a new line where the group is broken.
    Line,
    /// Nothing, or a new line where the group is broken.
    SoftLine,
    /// A new line that breaks the groups around it.
    HardLine,
    /// A hard line with an empty line before it.
    Blank,
    /// A new line that leaves the groups around it alone.
    LocalLine,
    /// Only where the group is broken.
    IfBroken(&'static str),
    Concat(Vec<Doc>),
    Indent(Box<Doc>),
    Group {
        doc: Box<Doc>,
        broken: bool,
    },
}

impl Doc {
    pub(crate) fn text(text: impl Into<String>) -> Doc {
        Doc::Text(text.into())
    }

    pub(crate) fn indent(self) -> Doc {
        Doc::Indent(Box::new(self))
    }

    /// A group, broken if it is told to be or if it holds a hard line.
    pub(crate) fn group(self, broken: bool) -> Doc {
        let broken = broken || self.has_hard_line();
        Doc::Group { doc: Box::new(self), broken }
    }

    fn has_hard_line(&self) -> bool {
        match self {
            Doc::HardLine | Doc::Blank => true,
            Doc::Concat(docs) => docs.iter().any(Doc::has_hard_line),
            Doc::Indent(doc) => doc.has_hard_line(),
            Doc::Group { broken, .. } => *broken,
            _ => false,
        }
    }
}

const INDENT: usize = 4;

/// Lays `doc` out within `width` columns where that is possible; the result ends with a newline unless it is empty.
pub(crate) fn render(doc: &Doc, width: usize) -> String {
    let mut printer =
        Printer { out: String::new(), column: 0, gap: Gap::None, width, todo: vec![(0, true, doc)] };
    while let Some((indent, broken, doc)) = printer.todo.pop() {
        printer.print(indent, broken, doc);
    }
    if !printer.out.is_empty() {
        printer.out.push('\n');
    }
    printer.out
}

/// White space that is owed before the next text; several requests make one.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Gap {
    None,
    Space,
    Line(usize),
    Blank(usize),
}

struct Printer<'a> {
    out: String,
    column: usize,
    gap: Gap,
    width: usize,
    /// what is still to be printed, the next one last: indentation, whether its group is broken
    todo: Vec<(usize, bool, &'a Doc)>,
}

impl<'a> Printer<'a> {
    fn print(&mut self, indent: usize, broken: bool, doc: &'a Doc) {
        match doc {
            Doc::Text(text) => {
                self.put(text);
                self.column += text.chars().count();
            }
            Doc::Comment(text) => self.put(text),
            Doc::IfBroken(text) if broken => self.put(text),
            Doc::IfBroken(_) => {}
            Doc::Line if !broken => self.space(),
            Doc::SoftLine if !broken => {}
            Doc::Space => self.space(),
            Doc::Line | Doc::SoftLine | Doc::HardLine | Doc::LocalLine => {
                let blank = matches!(self.gap, Gap::Blank(_));
                self.gap = if blank { Gap::Blank(indent) } else { Gap::Line(indent) };
            }
            Doc::Blank => self.gap = Gap::Blank(indent),
            Doc::Concat(docs) => self.todo.extend(docs.iter().rev().map(|d| (indent, broken, d))),
            Doc::Indent(doc) => self.todo.push((indent + INDENT, broken, doc)),
            Doc::Group { doc, broken } => {
                let broken = *broken || !self.fits(doc);
                self.todo.push((indent, broken, doc));
            }
        }
    }

    fn space(&mut self) {
        if self.gap == Gap::None {
            self.gap = Gap::Space;
        }
    }

    /// Writes `text` behind the white space that is owed; a text takes columns, a comment none.
    fn put(&mut self, text: &str) {
        match std::mem::replace(&mut self.gap, Gap::None) {
            _ if self.out.is_empty() => {}
            Gap::None => {}
            Gap::Space => {
                self.out.push(' ');
                self.column += 1;
            }
            Gap::Line(indent) => self.new_line("\n", indent),
            Gap::Blank(indent) => self.new_line("\n\n", indent),
        }
        self.out.push_str(text);
    }

    fn new_line(&mut self, newlines: &str, indent: usize) {
        self.out.push_str(newlines);
        self.out.extend(std::iter::repeat_n(' ', indent));
        self.column = indent;
    }

    /// Whether `doc` on one line, and what follows it up to the next possible new line, fits.
    fn fits(&self, doc: &'a Doc) -> bool {
        let mut column = match self.gap {
            Gap::None => self.column,
            Gap::Space => self.column + 1,
            Gap::Line(indent) | Gap::Blank(indent) => indent,
        };
        let mut inner = vec![(false, doc)];
        let mut outer = self.todo.iter().rev();
        loop {
            let (may_break, doc) = match inner.pop() {
                Some(next) => next,
                None => match outer.next() {
                    Some((_, broken, doc)) => (*broken, *doc),
                    None => return true,
                },
            };
            match doc {
                Doc::Text(text) => column += text.chars().count(),
                Doc::Space => column += 1,
                Doc::Line | Doc::SoftLine if may_break => return true,
                Doc::Line => column += 1,
                Doc::HardLine | Doc::Blank | Doc::LocalLine => return true,
                Doc::Comment(_) | Doc::SoftLine | Doc::IfBroken(_) => {}
                Doc::Concat(docs) => inner.extend(docs.iter().rev().map(|d| (may_break, d))),
                Doc::Indent(doc) | Doc::Group { doc, .. } => inner.push((may_break, doc)),
            }
            if column > self.width {
                return false;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Doc, render};

    fn call() -> Doc {
        let arguments = vec![Doc::SoftLine, Doc::text("aa,"), Doc::Line, Doc::text("bb"), Doc::IfBroken(",")];
        Doc::Concat(vec![Doc::text("f("), Doc::Concat(arguments).indent(), Doc::SoftLine, Doc::text(")")])
            .group(false)
    }

    #[test]
    fn a_group_that_fits_stands_on_one_line() {
        assert_eq!(render(&call(), 9), "f(aa, bb)\n");
    }

    #[test]
    fn a_group_that_does_not_fit_breaks_at_all_its_lines() {
        assert_eq!(render(&call(), 8), "f(\n    aa,\n    bb,\n)\n");
    }

    #[test]
    fn what_follows_a_group_counts() {
        let doc = Doc::Concat(vec![call(), Doc::text(";")]);
        assert_eq!(render(&doc, 9), "f(\n    aa,\n    bb,\n);\n");
    }

    #[test]
    fn a_comment_takes_no_columns_from_what_follows() {
        let comment = Doc::Concat(vec![Doc::Comment("/* aside */".into()), call()]).group(false);
        assert_eq!(render(&comment, 9), "/* aside */f(aa, bb)\n");
    }

    #[test]
    fn white_space_requests_are_joined_and_never_trail() {
        let doc = Doc::Concat(vec![
            Doc::HardLine,
            Doc::text("a"),
            Doc::Space,
            Doc::Blank,
            Doc::HardLine,
            Doc::text("b"),
            Doc::Blank,
        ]);
        assert_eq!(render(&doc, 80), "a\n\nb\n");
    }

    #[test]
    fn nothing_renders_to_nothing() {
        assert_eq!(render(&Doc::Concat(Vec::new()), 80), "");
    }
}
