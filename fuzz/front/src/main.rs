// SPDX-License-Identifier: MIT OR Apache-2.0
//! Feeds what reads files of others with broken ones for a while: programs, tables and traces. Nothing may ever panic, spans must lie
//! in the text, what is accepted must be a valid IR, and no text may become code.
//!
//! `carrick-fuzz-front [tables|texts|traces] SECONDS [SEED]` mutates the `.mtp` files of the tree and the programs in the reference, their
//! tables (`texts`: puts hostile text into them), or traces of their runs. `carrick-fuzz-front --replay FILE` reads one file (`.mtp`, `.json` or `.run`). A finding is
//! written to `fuzz/findings`, and the exit code is 1.

mod corpus;
mod hostile;
mod json;
mod judge;
mod mutate;
mod random;
mod subject;
mod tables;
mod traces;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use subject::{Subject, of_file};

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
        [kind @ ("tables" | "texts" | "traces"), seconds] => fuzz(kind, seconds, "1"),
        [kind @ ("tables" | "texts" | "traces"), seconds, seed] => fuzz(kind, seconds, seed),
        [seconds] => fuzz("programs", seconds, "1"),
        [seconds, seed] => fuzz("programs", seconds, seed),
        _ => usage(),
    }
}

fn usage() -> ExitCode {
    eprintln!("usage: carrick-fuzz-front [tables|texts|traces] SECONDS [SEED] | --replay FILE");
    ExitCode::from(2)
}

fn replay(file: &str) -> ExitCode {
    match std::fs::read(file) {
        Ok(octets) => {
            of_file(file, &root()).judge(&String::from_utf8_lossy(&octets));
            eprintln!("{file}: nothing wrong");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{file}: {error}");
            ExitCode::from(2)
        }
    }
}

fn fuzz(kind: &str, seconds: &str, seed: &str) -> ExitCode {
    let (Ok(seconds), Ok(seed)) = (seconds.parse(), seed.parse()) else { return usage() };
    let mut subject = Subject::new(kind, &root(), seed);
    eprintln!("fuzzing {kind} for {seconds} s, seed {seed}");
    let end = Instant::now() + Duration::from_secs(seconds);
    let last = root().join("fuzz/findings").join(format!("front-last.{}", subject.ending()));
    let mut tries = 0_u64;
    while Instant::now() < end {
        let text = subject.next();
        // Written first: a stack that overflows takes the process with it.
        let deep = text.len() > DEEP_AFTER && kind == "programs";
        if deep {
            save(&last, &text);
        }
        if std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| subject.judge(&text))).is_err() {
            save(&last, &text);
            eprintln!("found after {tries} tries: carrick-fuzz-front --replay {}", last.display());
            return ExitCode::FAILURE;
        }
        tries += 1;
    }
    // No finding: what was kept in case of one is of no use.
    let _ = std::fs::remove_file(&last);
    eprintln!("{tries} {kind}, nothing found");
    ExitCode::SUCCESS
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

    fn a_brief_run(kind: &str, seed: u64, count: usize) {
        let mut subject = Subject::new(kind, &root(), seed);
        for _ in 0..count {
            let text = subject.next();
            subject.judge(&text);
        }
    }

    #[test]
    fn programs_of_others_are_read() {
        a_brief_run("programs", 20, 2000);
    }

    #[test]
    fn tables_of_others_are_read() {
        a_brief_run("tables", 20, 60);
    }

    #[test]
    fn hostile_texts_become_no_code() {
        let (texts, mut drawn) =
            (hostile::Hostile::new(&root().join("tests/programs")), random::Random::new(20));
        let accepted = (0..60).filter(|_| hostile::judge(&texts.next(&mut drawn))).count();
        assert!(accepted > 5 && accepted < 60, "{accepted} tables are accepted");
    }

    #[test]
    fn traces_of_others_are_read() {
        a_brief_run("traces", 20, 200);
    }
}
