// SPDX-License-Identifier: MIT OR Apache-2.0
//! `import "file.mtp";`

use super::added_options::{self, Edges};
use super::codes;
use crate::ast::{File, Ident};
use crate::diag::{Diagnostic, Severity};
use crate::diagnostics::Diagnostics;
use crate::parse_part;
use crate::sources::Sources;
use crate::span::Span;

/// A program that has been read whole.
#[derive(Debug)]
pub struct Assembled {
    /// the declarations of all files, in the order in which the files were first imported
    pub tree: File,
    pub sources: Sources,
    pub diagnostics: Vec<Diagnostic>,
}

/// Each file once, however many import it.
pub(super) fn follow(
    name: &str,
    text: &str,
    program: Option<&str>,
    read: &mut dyn FnMut(&str) -> Result<String, String>,
) -> Assembled {
    let sources = Sources::new(name, text);
    let mut follower = Follower {
        tree: File::default(),
        sources,
        diagnostics: Diagnostics::default(),
        read,
        open: Vec::new(),
        edges: Edges::new(),
    };
    follower.open(0, None);
    follower.imports();
    if let Some((program, text)) = program.and_then(|name| Some((name, (follower.read)(name).ok()?))) {
        let file = follower.sources.add(program.to_owned(), &text);
        follower.open(file, None);
        follower.imports();
    }
    let Follower { mut tree, sources, mut diagnostics, edges, .. } = follower;
    diagnostics.extend(added_options::add(&mut tree, &sources, &edges));
    Assembled { tree, sources, diagnostics: diagnostics.into_vec() }
}

/// How many bytes a program has at most, with all that it imports.
pub const TEXT_MAX: usize = 4 << 20;

/// How many files of a circle of imports a message names.
const NAMED_MAX: usize = 8;

/// A file whose imports are being followed.
struct Open {
    file: usize,
    imports: std::vec::IntoIter<Ident>,
}

struct Follower<'a> {
    tree: File,
    sources: Sources,
    diagnostics: Diagnostics,
    read: &'a mut dyn FnMut(&str) -> Result<String, String>,
    /// each imported by the one before it; a list of its own, as a chain of files may be longer than the stack is deep
    open: Vec<Open>,
    /// which file imports which
    edges: Edges,
}

impl Follower<'_> {
    /// Parses a file; `path` is where it is imported.
    fn open(&mut self, file: usize, path: Option<&Ident>) {
        let range = self.sources.range(file);
        if range.end > TEXT_MAX {
            return self.too_long(Span::new(0, 0));
        }
        let (tree, mut diagnostics) = parse_part(self.sources.text(), range);
        if let Some(path) = path.filter(|_| tree.items.is_empty() && tree.imports.is_empty())
            && diagnostics.iter().any(|d| d.severity == Severity::Error)
        {
            diagnostics = vec![no_program(path)];
        }
        self.diagnostics.extend(diagnostics);
        self.tree.items.extend(tree.items);
        self.tree.imports.extend(tree.imports.iter().cloned());
        self.open.push(Open { file, imports: tree.imports.into_iter() });
    }

    /// Reads what the open files import.
    fn imports(&mut self) {
        while let Some(last) = self.open.last_mut() {
            match last.imports.next() {
                Some(path) => {
                    let from = last.file;
                    self.import(from, &path);
                }
                None => drop(self.open.pop()),
            }
        }
    }

    fn import(&mut self, from: usize, path: &Ident) {
        let name = resolve(self.sources.name(from), &path.name);
        if let Some(file) = self.sources.find(&name) {
            self.edges.push((from, file));
            if let Some(first) = self.open.iter().position(|open| open.file == file) {
                self.cycle(first, path);
            }
            return;
        }
        match (self.read)(&name) {
            Ok(text) if self.sources.text().len() + text.len() >= TEXT_MAX => self.too_long(path.span),
            Ok(text) => {
                let file = self.sources.add(name, &text);
                self.edges.push((from, file));
                self.open(file, Some(path));
            }
            Err(why) => self.diagnostics.push(
                Diagnostic::error(
                    codes::IMPORT_MISSING,
                    format!("cannot import `{}`: {why}", if name.is_empty() { &path.name } else { &name }),
                    path.span,
                    "this leads to no transport program",
                )
                .note("the path of an import is relative to the folder of the importing file")
                .mend("name a file that ends in .mtp"),
            ),
        }
    }

    /// Reads nothing more.
    fn too_long(&mut self, here: Span) {
        self.open.clear();
        let message = format!("a program has at most {} MiB", TEXT_MAX >> 20);
        self.diagnostics.push(
            Diagnostic::error(codes::TOO_LONG, message, here, "this is longer")
                .note("all files count together")
                .mend("shorten the program"),
        );
    }

    fn cycle(&mut self, first: usize, path: &Ident) {
        let names = self.open[first..].iter().chain([&self.open[first]]);
        let mut names: Vec<&str> =
            names.map(|open| self.sources.name(open.file)).take(NAMED_MAX + 1).collect();
        if names.len() > NAMED_MAX {
            names[NAMED_MAX] = "and so on";
        }
        self.diagnostics.push(
            Diagnostic::error(
                codes::IMPORT_CYCLE,
                "this import leads back to its own file",
                path.span,
                "leads back",
            )
            .note(format!("each imports the next: {}", names.join(", ")))
            .mend("remove it: a program sees the declarations of all its files"),
        );
    }
}

/// Of a file that is something else, nothing is shown.
fn no_program(path: &Ident) -> Diagnostic {
    Diagnostic::error(
        codes::IMPORT_NO_PROGRAM,
        format!("`{}` is no transport program", path.name),
        path.span,
        "nothing in this file is a declaration",
    )
    .mend("name a file that ends in .mtp")
}

/// The name of what `from` imports as `path`, without `.` and without `..` where that can be.
fn resolve(from: &str, path: &str) -> String {
    let folder = from.rfind('/').map_or("", |end| &from[..=end]);
    let whole = if path.starts_with('/') { path.to_owned() } else { format!("{folder}{path}") };
    let mut parts: Vec<&str> = Vec::new();
    for part in whole.split('/') {
        match (part, parts.last()) {
            (".", _) => {}
            ("", Some(_)) => {}
            ("..", Some(last)) if !matches!(*last, ".." | "") => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::{follow, resolve};

    #[test]
    fn a_path_begins_at_the_folder_of_the_importing_file() {
        assert_eq!(resolve("a.mtp", "b.mtp"), "b.mtp");
        assert_eq!(resolve("x/a.mtp", "./b.mtp"), "x/b.mtp");
        assert_eq!(resolve("x/y/a.mtp", "../b//c.mtp"), "x/b/c.mtp");
        assert_eq!(resolve("a.mtp", "../b.mtp"), "../b.mtp");
        assert_eq!(resolve("../a.mtp", "../b.mtp"), "../../b.mtp");
        assert_eq!(resolve("x/a.mtp", "/b.mtp"), "/b.mtp");
    }

    #[test]
    fn a_chain_of_files_may_be_long() {
        const FILES: usize = 20_000;
        let assembled = follow("0.mtp", "import \"1.mtp\";", None, &mut |name| {
            let number: usize = name.trim_end_matches(".mtp").parse().map_err(|_| "no number")?;
            Ok(if number < FILES { format!("import \"{}.mtp\";", number + 1) } else { String::new() })
        });
        assert_eq!(assembled.diagnostics, []);
        assert_eq!(assembled.sources.count(), FILES + 1);
        assert_eq!(assembled.tree.imports[0].name, "1.mtp", "the main file's come first");
    }

    #[test]
    fn a_part_is_read_first_and_once() {
        let texts = HashMap::from([
            ("x/main.mtp", "import \"part.mtp\"; import \"other.mtp\";"),
            ("x/other.mtp", "const uint8 B = 1;"),
        ]);
        let assembled = follow("x/part.mtp", "const uint8 A = 1;", Some("x/main.mtp"), &mut |name| {
            texts.get(name).map(|t| (*t).to_owned()).ok_or_else(|| "no such file".into())
        });
        assert_eq!(assembled.diagnostics, []);
        let names: Vec<&str> = (0..assembled.sources.count()).map(|f| assembled.sources.name(f)).collect();
        assert_eq!(names, ["x/part.mtp", "x/main.mtp", "x/other.mtp"]);
    }

    #[test]
    fn a_file_that_two_import_is_read_once() {
        let texts = HashMap::from([
            ("x/b.mtp", "import \"d.mtp\"; const uint8 B = 1;"),
            ("x/c.mtp", "import \"d.mtp\"; const uint8 C = 1;"),
            ("x/d.mtp", "const uint8 D = 1;"),
        ]);
        let mut read = Vec::new();
        let main = "import \"b.mtp\";\nconst uint8 A = 1;\nimport \"c.mtp\";";
        let assembled = follow("x/a.mtp", main, None, &mut |name| {
            read.push(name.to_owned());
            texts.get(name).map(|t| (*t).to_owned()).ok_or_else(|| "no such file".into())
        });
        assert_eq!(assembled.diagnostics, []);
        assert_eq!(read, ["x/b.mtp", "x/d.mtp", "x/c.mtp"]);
        assert_eq!(assembled.tree.items.len(), 4);
        for item in &assembled.tree.items {
            let sources = &assembled.sources;
            let text = &sources.text()[item.span.start as usize..item.span.end as usize];
            assert!(text.starts_with("const uint8 ") && text.ends_with(" = 1;"), "{text}");
        }
    }
}
