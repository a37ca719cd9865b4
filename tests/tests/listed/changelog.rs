// SPDX-License-Identifier: MIT OR Apache-2.0
//! Changelogs: a page for each version, short, and in the words that users look for.

use std::fs;
use std::path::PathBuf;

use carrick_tests::build::root;

/// Bytes of a page: what a user reads before an update.
const BYTES_MAX: usize = 8192;
/// The headings of a version, in the order in which they may be there.
const HEADINGS: [&str; 6] = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"];

/// The page of what is no version yet, and one for each version.
fn pages() -> Vec<PathBuf> {
    let versions = fs::read_dir(root().join("changelog")).expect("a folder").flatten();
    [root().join("CHANGELOG.md")].into_iter().chain(versions.map(|entry| entry.path())).collect()
}

/// The headings of changes in a page: all but its title and the version.
fn headings(text: &str) -> Vec<&str> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let words = headings.map(|line| line.trim_start_matches('#').trim());
    let title = |word: &str| word == "Changelog" || word == "Unreleased";
    words.filter(|word| !title(word) && !word.starts_with(|c: char| c.is_ascii_digit())).collect()
}

#[test]
fn a_page_is_short_and_has_the_usual_headings() {
    for page in pages() {
        let text = fs::read_to_string(&page).expect("UTF-8");
        let shown = page.display();
        assert!(text.len() <= BYTES_MAX, "{shown} has {} bytes, and may have {BYTES_MAX}", text.len());
        let changes = headings(&text);
        let places: Vec<_> = changes.iter().map(|h| HEADINGS.iter().position(|known| known == h)).collect();
        assert!(places.iter().all(Option::is_some), "{shown}: {changes:?} are not all of {HEADINGS:?}");
        assert!(
            places.is_sorted_by(|a, b| a < b),
            "{shown}: {changes:?} are not in the order of {HEADINGS:?}"
        );
    }
}

#[test]
fn the_version_has_a_page() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("it is there");
    let manifest: toml::Table = manifest.parse().expect("well-formed TOML");
    let version = manifest["workspace"]["package"]["version"].as_str().expect("a string");
    let page = root().join(format!("changelog/{version}.md"));
    let text = fs::read_to_string(&page).unwrap_or_else(|e| panic!("{}: {e}", page.display()));
    assert!(text.starts_with(&format!("# {version} (")), "{} begins with its version", page.display());
    let list = fs::read_to_string(root().join("CHANGELOG.md")).expect("it is there");
    assert!(list.contains(&format!("](changelog/{version}.md)")), "CHANGELOG.md links to {version}");
}
