// SPDX-License-Identifier: MIT OR Apache-2.0
//! The files of a crate, and which of them uses which: a module that declares another uses it, and a path uses the
//! file that declares what it names. A name that is re-exported counts where it is declared.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::source::{self, Source};

/// Imports followed for one path. More than any honest path needs; imports that name each other end here.
const IMPORTS_MAX: usize = 20;

/// The index of a file.
type File = usize;

pub struct Graph {
    modules: Vec<Module>,
}

struct Module {
    file: PathBuf,
    parent: Option<File>,
    children: BTreeMap<String, File>,
    source: Source,
}

impl Graph {
    /// Reads the files of a crate, beginning with `lib.rs` and `main.rs` of its folder `src`.
    pub fn of(src: &Path) -> Self {
        let mut graph = Graph { modules: Vec::new() };
        for root in ["lib.rs", "main.rs"].map(|name| src.join(name)) {
            if root.is_file() {
                graph.add(&root, src, None);
            }
        }
        graph
    }

    /// Adds a file and those of its modules, which are in `folder`.
    fn add(&mut self, path: &Path, folder: &Path, parent: Option<File>) -> File {
        let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let source = source::read(&text);
        let names = source.modules.clone();
        let file = self.modules.len();
        self.modules.push(Module { file: path.to_path_buf(), parent, children: BTreeMap::new(), source });
        for name in names {
            let inner = folder.join(&name);
            let (beside, within) = (inner.with_extension("rs"), inner.join("mod.rs"));
            let path = if beside.is_file() { beside } else { within };
            let child = self.add(&path, &inner, Some(file));
            self.modules[file].children.insert(name, child);
        }
        file
    }

    /// The circles: each a set of files of which every one uses, directly or not, every other.
    pub fn circles(&self) -> Vec<BTreeSet<PathBuf>> {
        let uses: Vec<_> = (0..self.modules.len()).map(|file| self.uses(file)).collect();
        let reached: Vec<_> = (0..uses.len()).map(|file| reached(&uses, file)).collect();
        let circle = |file: File| -> BTreeSet<File> {
            reached[file].iter().copied().filter(|&other| reached[other].contains(&file)).collect()
        };
        let circles: BTreeSet<_> = (0..uses.len()).map(circle).filter(|circle| !circle.is_empty()).collect();
        let named =
            |circle: BTreeSet<File>| circle.into_iter().map(|f| self.modules[f].file.clone()).collect();
        circles.into_iter().map(named).collect()
    }

    /// The files that a file uses, itself excepted.
    fn uses(&self, file: File) -> BTreeSet<File> {
        let Module { children, source, .. } = &self.modules[file];
        let imports = source.imports.iter().map(|import| &import.path);
        let paths = imports.chain(&source.paths).filter_map(|path| self.declares(file, path, 0));
        children.values().copied().chain(paths).filter(|&used| used != file).collect()
    }

    /// The file that declares what a path names; none for what is outside the crate.
    fn declares(&self, file: File, path: &[String], imports: usize) -> Option<File> {
        let Module { children, source, .. } = &self.modules[file];
        match path[0].as_str() {
            "crate" => Some(self.within(self.root(file), &path[1..], imports)),
            "self" => Some(self.within(file, &path[1..], imports)),
            "super" => {
                let parent = self.modules[file].parent.unwrap_or(file);
                match path[1..].first() {
                    Some(next) if next == "super" => self.declares(parent, &path[1..], imports),
                    _ => Some(self.within(parent, &path[1..], imports)),
                }
            }
            name if children.contains_key(name) || source.items.contains(name) => {
                Some(self.within(file, path, imports))
            }
            name => {
                let import =
                    source.imports.iter().find(|import| import.name == name && import.path != path)?;
                self.imported(file, &import.path, &path[1..], imports)
            }
        }
    }

    /// The file that declares what a path below a module names; the module's own if nothing else does.
    fn within(&self, file: File, path: &[String], imports: usize) -> File {
        let Some(name) = path.first() else { return file };
        let Module { children, source, .. } = &self.modules[file];
        if let Some(&child) = children.get(name) {
            return self.within(child, &path[1..], imports);
        }
        if source.items.contains(name) {
            return file;
        }
        let named = source.imports.iter().find(|import| import.name == *name && name != "*");
        if let Some(import) = named {
            return self.imported(file, &import.path, &path[1..], imports).unwrap_or(file);
        }
        let globs = source.imports.iter().filter(|import| import.name == "*");
        let through = |import: &source::Import| {
            let module = &import.path[..import.path.len() - 1];
            let found = self.imported(file, module, path, imports)?;
            self.modules[found].source.items.contains(name).then_some(found)
        };
        globs.filter_map(through).next().unwrap_or(file)
    }

    fn imported(&self, file: File, import: &[String], rest: &[String], imports: usize) -> Option<File> {
        let path = [import, rest].concat();
        (imports < IMPORTS_MAX && !path.is_empty()).then(|| self.declares(file, &path, imports + 1))?
    }

    fn root(&self, file: File) -> File {
        self.modules[file].parent.map_or(file, |parent| self.root(parent))
    }
}

/// The files that a file uses, directly or through others.
fn reached(uses: &[BTreeSet<File>], file: File) -> BTreeSet<File> {
    let mut reached = BTreeSet::new();
    let mut next = vec![file];
    while let Some(file) = next.pop() {
        next.extend(uses[file].iter().copied().filter(|&used| reached.insert(used)));
    }
    reached
}
