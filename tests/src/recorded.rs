// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files of this repository that a test makes: it compares them, and with `CARRICK_RECORD=1` writes them.

use std::fs;
use std::path::Path;

/// Compares a file with what it should be, or writes it.
///
/// # Panics
/// If it differs, with the first line that does; if it cannot be written.
pub fn file(path: &Path, wanted: &str) {
    let found = fs::read_to_string(path).unwrap_or_default();
    if std::env::var_os("CARRICK_RECORD").is_some() {
        let made = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(path, wanted));
        made.unwrap_or_else(|e| panic!("cannot write {}: {e}", path.display()));
    } else if found != wanted {
        let difference = first_difference(&found, wanted);
        panic!("{} is not up to date; CARRICK_RECORD=1 writes it\n{difference}", path.display());
    }
}

/// The same of the part of a file that is between the lines `<!-- NAME -->` and `<!-- end of NAME -->`.
///
/// # Panics
/// As [`file`]; if there is no such part.
pub fn part(path: &Path, name: &str, wanted: &str) {
    let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->\n"));
    let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("cannot read {}: {e}", path.display()));
    let around = text.split_once(&begin).and_then(|(before, rest)| Some((before, rest.split_once(&end)?.1)));
    let (before, after) = around.unwrap_or_else(|| panic!("{} has no part `{name}`", path.display()));
    file(path, &format!("{before}{begin}{wanted}{end}{after}"));
}

fn first_difference(found: &str, wanted: &str) -> String {
    let mut lines = (1..).zip(found.lines().zip(wanted.lines()));
    match lines.find(|(_, (a, b))| a != b) {
        Some((at, (a, b))) => format!("line {at}\n- {a}\n+ {b}"),
        None => format!("it has {} lines, and should have {}", found.lines().count(), wanted.lines().count()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::catch_unwind;

    #[test]
    fn what_differs_is_shown_by_its_first_line() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("page.md");
        fs::write(&path, "a\n<!-- b -->\nc\n<!-- end of b -->\nd\n").expect("writable");
        file(&path, "a\n<!-- b -->\nc\n<!-- end of b -->\nd\n");
        part(&path, "b", "c\n");
        if std::env::var_os("CARRICK_RECORD").is_some() {
            return;
        }
        let said = |wrong: &(dyn Fn() + std::panic::RefUnwindSafe)| {
            let panic = catch_unwind(wrong).expect_err("it differs");
            *panic.downcast::<String>().expect("a message")
        };
        assert!(said(&|| part(&path, "b", "e\n")).ends_with("line 3\n- c\n+ e"));
        assert!(said(&|| part(&path, "x", "e\n")).ends_with("has no part `x`"));
        assert!(said(&|| file(&path, "a\n")).ends_with("it has 5 lines, and should have 1"));
        assert!(
            said(&|| file(&dir.path().join("none"), "a\n")).ends_with("it has 0 lines, and should have 1")
        );
    }
}
