// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files of a crate use each other in one direction: a reader can read them one after the other, from the bottom up.
//!
//! A call of a method is seen only by the path of its type, so methods spread over files make no circle by themselves.

mod graph;
mod source;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use carrick_tests::build::root;
use graph::Graph;

/// A set of files that use each other, by their paths below the root.
type Circle = BTreeSet<String>;

#[test]
fn files_use_each_other_in_one_direction() {
    let words = |circle: Circle| circle.into_iter().collect::<Vec<_>>().join(" ");
    let found: Vec<String> = circles(&root()).into_iter().map(words).collect();
    assert!(found.is_empty(), "circles of files:\n{}", found.join("\n"));
}

#[test]
fn circles_are_found() {
    let modules = "mod a;\nmod b;\npub use b::B;\n";
    let b = "pub struct B;\n";
    assert_eq!(circle_of(&[("lib.rs", modules), ("a.rs", "use crate::B;\n"), ("b.rs", b)]), [""; 0]);
    let back = "pub struct B;\nfn f() -> crate::a::A { super::a::A }\n";
    assert_eq!(circle_of(&[("lib.rs", modules), ("a.rs", "use super::B;\n"), ("b.rs", back)]), ["a.rs b.rs"]);
    let nested =
        [("lib.rs", "mod a;\n"), ("a/mod.rs", "mod b;\nenum E { X }\n"), ("a/b.rs", "use super::*;\n")];
    assert_eq!(circle_of(&nested), ["a/b.rs a/mod.rs"]);
    let beside =
        [("lib.rs", "mod a;\n"), ("a.rs", "mod b;\nenum E { X }\n"), ("a/b.rs", "use super::E::X;\n")];
    assert_eq!(circle_of(&beside), ["a/b.rs a.rs"]);
    let through = "mod a;\nmod b;\nmod c;\n";
    let aliased = [
        ("lib.rs", through),
        ("a.rs", "use crate::b::{self as x, y::Z};\nfn f() { x::g(); }\n"),
        ("b.rs", "pub use crate::c::*;\npub mod y {}\npub fn g() {}\n"),
        ("c.rs", "pub fn h(_: &'static str) -> char { 'x' }\nfn i() { crate::a::f(); }\n"),
    ];
    assert_eq!(circle_of(&aliased), ["a.rs b.rs c.rs"]);
    let made = "macro_rules! ids { ($($n:ident),*) => {} }\nids!(X, Y);\n";
    let files = [("lib.rs", "mod a;\nmod b;\npub use a::*;\n"), ("a.rs", made), ("b.rs", "use crate::Y;\n")];
    assert_eq!(circle_of(&files), [""; 0]);
}

#[test]
fn comments_literals_and_tests_use_nothing() {
    let modules = "mod a;\nmod b;\n";
    let a = r##"
        //! [`crate::b::B`]
        const S: &str = "crate::b::B \" crate::b::B";
        const R: &str = r#"crate::b::B " crate::b::B"#;
        const C: [char; 2] = ['"', '\''];
        #[cfg(test)]
        mod tests {
            fn f() { use crate::b::B; }
        }
        fn g<'a>(_: &'a str) -> impl Sized + use<'a> {}
    "##;
    assert_eq!(circle_of(&[("lib.rs", modules), ("a.rs", a), ("b.rs", "use crate::a::S;\n")]), [""; 0]);
    let uses = format!("{a}\nfn h() -> crate::b::B {{}}\n");
    assert_eq!(
        circle_of(&[("lib.rs", modules), ("a.rs", &uses), ("b.rs", "use crate::a::S;\n")]),
        ["a.rs b.rs"]
    );
}

/// The circles of all crates below a root.
fn circles(root: &Path) -> Vec<Circle> {
    let mut sources: Vec<PathBuf> =
        ["crates", "targets"].iter().flat_map(|place| packages(&root.join(place))).collect();
    sources.sort();
    assert!(!sources.is_empty(), "there are crates");
    let found = sources.iter().flat_map(|src| Graph::of(src).circles());
    found.map(|circle| circle.iter().map(|file| shown(file, root)).collect()).collect()
}

/// The sources of the packages in a folder and those below it.
fn packages(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries.map(|entry| entry.path()).filter(|path| path.is_dir());
    let inner = folders.flat_map(|folder| packages(&folder));
    let own = folder.join("Cargo.toml").is_file().then(|| folder.join("src"));
    own.into_iter().chain(inner).collect()
}

fn shown(file: &Path, root: &Path) -> String {
    file.strip_prefix(root).unwrap_or(file).display().to_string()
}

/// The circles of a crate of these files.
fn circle_of(files: &[(&str, &str)]) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
    }
    let circles = Graph::of(folder.path()).circles();
    let line = |circle: &BTreeSet<PathBuf>| -> String {
        let files: Vec<_> = circle.iter().map(|file| shown(file, folder.path())).collect();
        files.join(" ")
    };
    circles.iter().map(line).collect()
}
