// SPDX-License-Identifier: MIT OR Apache-2.0
//! Documents that show commands: what they show is what is said.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use crate::build::carrick;

/// The fenced blocks of a text: their language, and what is in them.
pub fn blocks(text: &str) -> Vec<(&str, &str)> {
    let pieces = text.split("```").skip(1).step_by(2);
    pieces.filter_map(|block| block.split_once('\n')).collect()
}

/// A link of a page to another place of the repository.
#[derive(Debug)]
pub struct Link {
    /// the line that it is in, from 1
    pub line: usize,
    /// a path relative to the page, perhaps with `#heading` behind it
    pub target: String,
}

/// The lines that are prose: outside of fenced blocks; numbered from 1.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    (1..).zip(text.lines()).filter(move |(_, line)| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fenced && !fence
    })
}

/// The links `[...](target)` of a page, but those to the web.
pub fn links(text: &str) -> Vec<Link> {
    let mut found = Vec::new();
    for (line, text) in prose(text) {
        // Between backquotes stands code.
        let plain: String = text.split('`').step_by(2).collect::<Vec<_>>().join("`");
        let targets = plain.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
        let near = targets.map(|(target, _)| target).filter(|t| !t.contains("://"));
        found.extend(near.map(|target| Link { line, target: target.to_owned() }));
    }
    found
}

/// The anchors of a page's headings, as GitHub and mdBook make them.
pub fn anchors(text: &str) -> BTreeSet<String> {
    let headings = prose(text).filter(|(_, line)| line.starts_with('#'));
    headings.map(|(_, line)| anchor(line.trim_start_matches('#').trim())).collect()
}

fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || "-_ ".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

/// A table of a page.
#[derive(Debug)]
pub struct Table {
    /// the line of its head, from 1
    pub line: usize,
    /// what the comment right before it says (`<!-- how: what -->`), empty without one
    pub comment: String,
    /// its rows, the head first, of which each is its cells
    pub rows: Vec<Vec<String>>,
}

/// The tables of a page, with the comments before them.
pub fn commented_tables(text: &str) -> Vec<Table> {
    let mut tables: Vec<Table> = Vec::new();
    let (mut last, mut comment) = (0, "");
    for (line, text) in prose(text).filter(|(_, text)| !text.is_empty()) {
        if !text.starts_with('|') {
            // Other comments are names of tables.
            match text.strip_prefix("<!-- ").and_then(|c| c.strip_suffix(" -->")) {
                Some(said) if said.contains(": ") => comment = said,
                Some(_) => {}
                None => comment = "",
            }
            continue;
        }
        if line != last + 1 {
            tables.push(Table { line, comment: std::mem::take(&mut comment).to_owned(), rows: Vec::new() });
        }
        last = line;
        let cells = text.trim().trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect();
        if let Some(table) = tables.last_mut().filter(|_| !text.chars().all(|c| "|-: ".contains(c))) {
            table.rows.push(cells);
        }
    }
    tables
}

/// The rows of the tables of a page, the head first, of which each is its cells.
pub fn tables(text: &str) -> Vec<Vec<Vec<String>>> {
    commented_tables(text).into_iter().map(|table| table.rows).collect()
}

/// Runs a line in a shell that finds `carrick`; all that it said.
///
/// # Panics
/// If it fails.
pub fn run(dir: &Path, line: &str) -> String {
    run_with(dir, line, &[])
}

/// As [`run`], with these variables of the environment.
fn run_with(dir: &Path, line: &str, variables: &[(&str, &str)]) -> String {
    run_within(dir, line, variables, &[])
}

/// The same, by a command that is given a command: `nsenter ... sh -c line`.
fn run_within(dir: &Path, line: &str, variables: &[(&str, &str)], within: &[&str]) -> String {
    let path = std::env::var("PATH").unwrap_or_default();
    let found = carrick().parent().expect("it is in a folder").display();
    let words = [within, &["sh", "-c", line]].concat();
    let shell = Command::new(words[0])
        .args(&words[1..])
        .current_dir(dir)
        .env("PATH", format!("{found}:{path}"))
        .envs(variables.iter().copied())
        .output()
        .expect("a shell");
    let said = String::from_utf8_lossy(&shell.stdout).into_owned() + &String::from_utf8_lossy(&shell.stderr);
    assert!(shell.status.success(), "{line}\n{said}");
    said
}

/// Runs the commands of a block (lines that begin with `$ `), and compares what they say with the lines that follow each.
/// Returns how many commands there were.
///
/// # Panics
/// If a command fails, or does not say a line that is shown.
pub fn replay(dir: &Path, block: &str) -> usize {
    replay_with(dir, block, &[])
}

/// As [`replay`], with these variables of the environment.
///
/// # Panics
/// As [`replay`].
pub fn replay_with(dir: &Path, block: &str, variables: &[(&str, &str)]) -> usize {
    replay_by(block, |command| run_with(dir, command, variables))
}

/// As [`replay`], each command by `within`, which is given a command: `nsenter` with a machine that a test has made.
///
/// # Panics
/// As [`replay`].
pub fn replay_within(dir: &Path, block: &str, within: &[&str]) -> usize {
    replay_by(block, |command| run_within(dir, command, &[], within))
}

fn replay_by(block: &str, run: impl Fn(&str) -> String) -> usize {
    let (mut said, mut commands) = (String::new(), 0);
    for line in block.lines() {
        match line.strip_prefix("$ ") {
            Some(command) => {
                said = run(command);
                commands += 1;
            }
            None => assert!(said.lines().any(|l| l == line), "`{line}` is not in:\n{said}"),
        }
    }
    commands
}
