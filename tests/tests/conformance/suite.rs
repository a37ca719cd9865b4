// SPDX-License-Identifier: MIT OR Apache-2.0
//! A public suite: each of its scripts on the program and, where packetdrill is there, on this machine's
//! kernel.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::linux::{self, Linux};
use crate::play::Outcome;
use crate::under_test::UnderTest;
use crate::{played, scripts};

/// Reasons that the table names.
const REASONS: usize = 12;

/// How a script went here, and on Linux if it was played there.
pub struct Played {
    name: String,
    ours: Outcome,
    linux: Option<linux::Outcome>,
}

impl Played {
    /// Linux passes, and the program does not.
    fn only_linux(&self) -> bool {
        matches!(self.linux, Some(Ok(()))) && !matches!(self.ours, Outcome::Passed { .. })
    }

    /// A line of the whole report.
    fn line(&self) -> String {
        let Played { name, ours, linux } = self;
        let (word, rest) = match ours {
            Outcome::Passed { left_out } => ("passed", format!("{name} (lines left out: {left_out})")),
            Outcome::Failed(line, why) => ("FAILED", format!("{name}:{line}: {why}")),
            Outcome::Unsupported(line, why) => ("unsupported", format!("{name}:{line}: {why}")),
        };
        match linux {
            None => format!("{word} {rest}\n"),
            Some(Ok(())) => format!("{word} | passed | {rest}\n"),
            Some(Err(why)) => format!("{word} | FAILED | {rest} | {why}\n"),
        }
    }
}

/// Plays the scripts of a folder.
pub fn play(folder: &Path, under_test: &UnderTest, linux: Option<&Linux>) -> Vec<Played> {
    let scripts: Vec<PathBuf> = scripts(folder);
    assert!(!scripts.is_empty(), "{} has no scripts (*.pkt)", folder.display());
    let ours: Vec<Outcome> = scripts.iter().map(|path| played(path, under_test)).collect();
    let mut theirs = linux.map(|linux| linux.play(&scripts).into_iter());
    let named = |path: &Path| path.strip_prefix(folder).unwrap_or(path).display().to_string();
    std::iter::zip(scripts, ours)
        .map(|(path, ours)| Played {
            name: named(&path),
            ours,
            linux: theirs.as_mut().and_then(Iterator::next),
        })
        .collect()
}

/// One line for each script, with its reason.
pub fn whole(all: &[Played]) -> String {
    all.iter().map(Played::line).collect()
}

/// How many scripts of each folder passed, those that only Linux passes, and why others were not played.
pub fn table(all: &[Played]) -> String {
    let mut text = counts(all);
    let (unsupported, failed): (Vec<_>, Vec<_>) =
        all.iter().filter(|p| p.only_linux()).partition(|p| matches!(p.ours, Outcome::Unsupported(..)));
    if all.iter().any(|p| p.linux.is_some()) {
        let _ = writeln!(text, "Linux passes {} scripts that are unsupported here", unsupported.len());
        let _ = writeln!(text, "Linux passes {} scripts that failed here", failed.len());
        failed.iter().for_each(|p| text.push_str(&p.line()));
        text.push('\n');
    }
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for played in all {
        if let Outcome::Unsupported(_, why) = &played.ours {
            *reasons.entry(why).or_default() += 1;
        }
    }
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    for (why, count) in reasons.iter().take(REASONS) {
        let _ = writeln!(text, "unsupported {count} times: {why}");
    }
    text
}

/// Passed, failed, unsupported; on Linux passed and failed.
fn counts(all: &[Played]) -> String {
    let compared = all.iter().any(|p| p.linux.is_some());
    let mut folders: BTreeMap<&str, [usize; 5]> = BTreeMap::new();
    let mut sum = [0; 5];
    for Played { name, ours, linux } in all {
        let folder = name.rsplit_once('/').map_or(".", |(folder, _)| folder);
        let column = match ours {
            Outcome::Passed { .. } => 0,
            Outcome::Failed(..) => 1,
            Outcome::Unsupported(..) => 2,
        };
        for counts in [folders.entry(folder).or_default(), &mut sum] {
            counts[column] += 1;
            if let Some(outcome) = linux {
                counts[if outcome.is_ok() { 3 } else { 4 }] += 1;
            }
        }
    }
    let columns = if compared { 5 } else { 3 };
    let row = |name: &str, cells: &[String]| format!("| {name} | {} |\n", cells[..columns].join(" | "));
    let heads = ["passed", "failed", "unsupported", "Linux passed", "Linux failed"].map(str::to_owned);
    let mut text = row("folder", &heads) + &row("---", &["---"; 5].map(str::to_owned));
    for (folder, counts) in &folders {
        text.push_str(&row(folder, &counts.map(|n| n.to_string())));
    }
    text + &row("all", &sum.map(|n| n.to_string())) + "\n"
}
