// SPDX-License-Identifier: MIT OR Apache-2.0
//! Feeds the front end with broken programs for a while. It must never panic, its spans must lie in the text, and
//! what it accepts must be a valid IR.
//!
//! `carrick-fuzz-front SECONDS [SEED]` mutates every `.mtp` file of the tree and the programs in the reference, and now and then makes a
//! table with hostile text, of which no text may become code.
//! `carrick-fuzz-front --replay FILE` runs one file. A finding is written to `fuzz/findings`, and the exit code is 1.

mod corpus;
mod hostile;
mod judge;
mod mutate;
mod random;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use hostile::Hostile;
use mutate::Mutator;
use random::Random;

/// Where the tree is, unless the working directory has it.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["--replay", file] => replay(file),
        [seconds] => fuzz(seconds, "1"),
        [seconds, seed] => fuzz(seconds, seed),
        _ => usage(),
    }
}

fn usage() -> ExitCode {
    eprintln!("usage: carrick-fuzz-front SECONDS [SEED] | --replay FILE");
    ExitCode::from(2)
}

fn replay(file: &str) -> ExitCode {
    match std::fs::read(file) {
        Ok(octets) => {
            let text = String::from_utf8_lossy(&octets);
            if file.ends_with(".json") {
                hostile::judge(&text);
            } else {
                judge::judge(&text);
            }
            eprintln!("{file}: nothing wrong");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{file}: {error}");
            ExitCode::from(2)
        }
    }
}

fn fuzz(seconds: &str, seed: &str) -> ExitCode {
    let (Ok(seconds), Ok(seed)) = (seconds.parse(), seed.parse()) else { return usage() };
    let seeds = corpus::gather(&root());
    eprintln!("fuzzing the front end for {seconds} s from {} programs, seed {seed}", seeds.len());
    let mut mutator = Mutator::new(seeds, Random::new(seed));
    let end = Instant::now() + Duration::from_secs(seconds);
    let last = root().join("fuzz/findings/front-last.mtp");
    let mut tries = 0_u64;
    let tables = Hostile::new(&root().join(TABLES));
    let mut drawn = Random::new(seed);
    while Instant::now() < end {
        if tries.is_multiple_of(EACH_TABLE) && !tried(&tables.next(&mut drawn)) {
            return ExitCode::FAILURE;
        }
        let text = mutator.next();
        // Written first: a stack that overflows takes the process with it.
        let deep = text.len() > DEEP_AFTER;
        if deep {
            save(&last, &text);
        }
        if std::panic::catch_unwind(|| judge::judge(&text)).is_err() {
            save(&last, &text);
            eprintln!("found after {tries} tries: carrick-fuzz-front --replay {}", last.display());
            return ExitCode::FAILURE;
        }
        tries += 1;
    }
    // No finding: what was kept in case of one is of no use.
    let _ = std::fs::remove_file(&last);
    eprintln!("{tries} programs, nothing found");
    ExitCode::SUCCESS
}

/// The programs whose tables get hostile text, and after how many broken programs there is another one.
const TABLES: &str = "tests/programs";
const EACH_TABLE: u64 = 32;

/// Whether nothing is wrong with a table.
fn tried(table: &str) -> bool {
    let right = std::panic::catch_unwind(|| hostile::judge(table)).is_ok();
    if !right {
        let file = root().join("fuzz/findings/front-last.json");
        save(&file, table);
        eprintln!("found: carrick-fuzz-front --replay {}", file.display());
    }
    right
}

/// From this length on, in bytes, a text may be nested deeply.
const DEEP_AFTER: usize = 4096;

fn save(path: &Path, text: &str) {
    let made = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    if let Err(error) = made.and_then(|()| std::fs::write(path, text)) {
        eprintln!("{}: {error}", path.display());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_brief_run() {
        let mut mutator = Mutator::new(corpus::gather(&root()), Random::new(20));
        for _ in 0..2000 {
            judge::judge(&mutator.next());
        }
        let (tables, mut drawn) = (Hostile::new(&root().join(TABLES)), Random::new(20));
        let accepted = (0..60).filter(|_| hostile::judge(&tables.next(&mut drawn))).count();
        assert!(accepted > 5 && accepted < 60, "{accepted} tables are accepted");
    }
}
