// SPDX-License-Identifier: MIT OR Apache-2.0
//! `feature F = option { }` in a file that imports the file of `F`: whoever builds on a program adds an option to its features
//! without changing it.
//!
//! In the file of the feature, and in files that it imports itself, an option must be in the feature's list: a name that is
//! not is a slip. A feature without options stays without: its first option would be in every build that has the feature.

use super::codes;
use crate::ast::{Feature, File, Ident, ItemKind};
use crate::diag::Diagnostic;
use crate::sources::Sources;

/// Which files each file imports.
pub(super) type Edges = Vec<(usize, usize)>;

/// Adds the options that files declare for features of what they import.
pub(super) fn add(tree: &mut File, sources: &Sources, edges: &Edges) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    let mut added: Vec<(usize, Ident)> = Vec::new();
    for block in features(tree) {
        let Some(option) = &block.of_option else { continue };
        let declares = |f: &Feature| f.of_option.is_none() && f.name.name == block.name.name;
        let Some(feature) = tree.items.iter().position(|i| feature(&i.kind).is_some_and(declares)) else {
            continue;
        };
        let file = |span: crate::Span| sources.file_of(span.start);
        let known = |f: &Feature| f.options.iter().any(|o| o.name == option.name);
        let open = feature_at(tree, feature).is_some_and(|f| !f.options.is_empty() && !known(f));
        let outside = imports(edges, file(block.name.span), file(tree.items[feature].span));
        if !open || !outside {
            continue;
        }
        let first = added.iter().find(|(of, first)| *of == feature && first.name == option.name);
        match first {
            // A file may give an option in several parts.
            Some((_, first)) if file(first.span) == file(option.span) => {}
            Some((_, first)) => diagnostics.push(twice(first, option)),
            None => added.push((feature, option.clone())),
        }
    }
    for (feature, option) in added {
        if let ItemKind::Feature(feature) = &mut tree.items[feature].kind {
            feature.options.push(option);
        }
    }
    diagnostics
}

fn twice(first: &Ident, again: &Ident) -> Diagnostic {
    Diagnostic::error(
        codes::FEATURE_TWICE,
        format!("the option `{}` is declared twice", again.name),
        again.span,
        "again here",
    )
    .cause(first.span, "declared first here")
    .mend("give one of them another name")
}

fn feature(kind: &ItemKind) -> Option<&Feature> {
    if let ItemKind::Feature(feature) = kind { Some(feature) } else { None }
}

fn feature_at(tree: &File, at: usize) -> Option<&Feature> {
    feature(&tree.items[at].kind)
}

fn features(tree: &File) -> impl Iterator<Item = &Feature> {
    tree.items.iter().filter_map(|item| feature(&item.kind))
}

/// Whether a file imports another, directly or not.
fn imports(edges: &Edges, from: usize, to: usize) -> bool {
    let mut seen = vec![from];
    let mut next = 0;
    while let Some(&file) = seen.get(next) {
        next += 1;
        for &(_, imported) in edges.iter().filter(|(importer, _)| *importer == file) {
            if imported == to {
                return true;
            }
            if !seen.contains(&imported) {
                seen.push(imported);
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use crate::assemble::features::{Choice, configure, features};
    use crate::assemble::{Assembled, assemble};

    const BASE: &str = "import \"own.mtp\"; feature way(a, b) always; feature way = a { const uint8 A = 1; }";

    fn assembled(main: &str, more: &[(&str, &str)]) -> Assembled {
        let mut texts =
            HashMap::from([("base.mtp", BASE), ("own.mtp", "feature way = b { const uint8 B = 2; }")]);
        texts.extend(more.iter().copied());
        assemble("main.mtp", main, &mut |name| {
            texts.get(name).map(|text| (*text).to_owned()).ok_or_else(|| "no such file".into())
        })
    }

    fn options(of: &Assembled) -> Vec<&str> {
        features(&of.tree).flat_map(|f| &f.options).map(|o| o.name.as_str()).collect()
    }

    /// The codes of what is wrong.
    fn said(of: &Assembled) -> Vec<u16> {
        let configured = configure(&of.tree, &Choice::default());
        of.diagnostics.iter().chain(&configured.diagnostics).map(|d| d.code).collect()
    }

    #[test]
    fn a_file_adds_an_option_to_a_feature_that_it_imports() {
        let program = assembled("import \"base.mtp\"; feature way = c { const uint8 C = 3; }", &[]);
        assert_eq!((options(&program), said(&program)), (vec!["a", "b", "c"], vec![]));
        let mut choice = Choice::default();
        choice.add("c");
        let chosen = configure(&program.tree, &choice).chosen;
        assert_eq!(chosen[0].option.as_deref(), Some("c"));
    }

    #[test]
    fn so_does_a_file_beside_the_main_one() {
        let more = [("c.mtp", "import \"base.mtp\"; feature way = c;")];
        let program = assembled("import \"base.mtp\"; import \"c.mtp\";", &more);
        assert_eq!((options(&program), said(&program)), (vec!["a", "b", "c"], vec![]));
    }

    #[test]
    fn a_slip_in_the_files_of_the_feature_is_no_new_option() {
        let program = assembled("import \"base.mtp\";", &[("own.mtp", "feature way = bb;")]);
        assert_eq!((options(&program), said(&program)), (vec!["a", "b"], vec![504]));
        let unrelated = assembled("import \"base.mtp\"; import \"c.mtp\";", &[("c.mtp", "feature way = c;")]);
        assert_eq!((options(&unrelated), said(&unrelated)), (vec!["a", "b"], vec![504]));
    }

    #[test]
    fn two_files_that_add_one_option_are_told() {
        let more = [("c.mtp", "import \"base.mtp\"; feature way = c;")];
        let program = assembled("import \"base.mtp\"; import \"c.mtp\"; feature way = c;", &more);
        assert_eq!((options(&program), said(&program)), (vec!["a", "b", "c"], vec![502]));
        let parts = assembled("import \"base.mtp\"; feature way = c; feature way = c;", &[]);
        assert_eq!((options(&parts), said(&parts)), (vec!["a", "b", "c"], vec![]));
        let unknown = assembled("import \"base.mtp\"; feature ways = c;", &[]);
        assert_eq!(said(&unknown), vec![503]);
        let closed = assembled(
            "import \"base.mtp\"; import \"d.mtp\"; feature one = c;",
            &[("d.mtp", "feature one;")],
        );
        assert_eq!((options(&closed), said(&closed)), (vec!["a", "b"], vec![504]));
    }
}
