// SPDX-License-Identifier: MIT OR Apache-2.0
//! The declarations of all files in the editor's folders.

use std::path::Path;

use carrick_driver::compile::read_import;
use lsp_types::{Location, SymbolInformation, Uri};
use walkdir::{DirEntry, WalkDir};

use crate::document::Document;
use crate::index::Index;
use crate::outline::symbol_kind;
use crate::paths;
use crate::positions::Lines;

/// So many files are read at most, and so many declarations shown.
const MOST_FILES: usize = 4096;
const MOST_SHOWN: usize = 512;

/// The declarations whose names have the letters of the query in this order. What is open is as the editor shows it.
pub fn symbols<'a>(
    folders: &[String],
    open: impl Iterator<Item = (&'a Uri, &'a Document)>,
    query: &str,
) -> Vec<SymbolInformation> {
    let mut found = Vec::new();
    let mut names = Vec::new();
    for (uri, document) in open {
        names.push(document.name());
        declared(document.text(), uri, query, &mut found);
    }
    let is_program = |path: &Path| path.extension().is_some_and(|extension| extension == "mtp");
    let walk = |folder| WalkDir::new(folder).sort_by_file_name().into_iter().filter_entry(is_looked_at);
    let files = folders.iter().flat_map(walk).flatten().map(DirEntry::into_path);
    for path in files.filter(|path| is_program(path)).take(MOST_FILES) {
        let name = path.display().to_string();
        let text = if names.contains(&name.as_str()) { None } else { read_import(&name).ok() };
        if let (Some(text), Some(uri)) = (text, paths::uri(&name)) {
            declared(&text, &uri, query, &mut found);
        }
    }
    found.truncate(MOST_SHOWN);
    found
}

/// Hidden folders and what builds leave are not.
fn is_looked_at(entry: &DirEntry) -> bool {
    let name = entry.file_name().to_string_lossy();
    entry.depth() == 0 || !(name.starts_with('.') || name == "target" || name == "node_modules")
}

#[expect(deprecated, reason = "the protocol's type has a field that nobody may leave out or use")]
fn declared(text: &str, uri: &Uri, query: &str, found: &mut Vec<SymbolInformation>) {
    let (tree, _) = carrick_syntax::parse(text);
    let (index, lines) = (Index::new(&tree, text), Lines::new(text));
    let known = index.symbols.iter().filter(|s| s.owner.is_none() && s.scope.is_none());
    found.extend(known.filter(|s| has_letters(&s.name, query)).map(|symbol| SymbolInformation {
        name: symbol.name.clone(),
        kind: symbol_kind(symbol.kind),
        tags: None,
        deprecated: None,
        location: Location::new(uri.clone(), lines.range(text, symbol.span)),
        container_name: None,
    }));
}

fn has_letters(name: &str, query: &str) -> bool {
    let mut letters = name.chars().map(|c| c.to_ascii_lowercase());
    query.chars().all(|wanted| letters.any(|c| c == wanted.to_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::has_letters;

    #[test]
    fn letters_count_in_their_order() {
        for query in ["", "snd_una", "SU", "sdna"] {
            assert!(has_letters("snd_una", query), "{query}");
        }
        for query in ["us", "snd_unaa", "x"] {
            assert!(!has_letters("snd_una", query), "{query}");
        }
    }
}
