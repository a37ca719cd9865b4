// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lines with levels on standard error; the journal of systemd reads the levels too.

use std::any::Any;
use std::io::Write;
use std::sync::OnceLock;

use clap::ValueEnum;

/// How much a line matters, most first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Level {
    /// something failed
    Error,
    /// something is unexpected
    Warn,
    /// begin and end of programs and applications
    Info,
    /// each step
    Debug,
}

static LEAST: OnceLock<Level> = OnceLock::new();

/// From now on nothing below this is told. The first call counts.
pub fn set(level: Level) {
    let _ = LEAST.set(level);
}

fn shown(level: Level, journal: bool) -> &'static str {
    // sd-daemon(3): the numbers are those of syslog.
    match (level, journal) {
        (Level::Error, true) => "<3>",
        (Level::Warn, true) => "<4>",
        (Level::Info, true) => "<6>",
        (Level::Debug, true) => "<7>",
        (Level::Error, false) => "error: ",
        (Level::Warn, false) => "warn: ",
        (Level::Info, false) => "info: ",
        (Level::Debug, false) => "debug: ",
    }
}

/// Tells a line, if its level is worth it.
pub fn line(level: Level, text: &str) {
    if level > *LEAST.get().unwrap_or(&Level::Info) {
        return;
    }
    let journal = std::env::var_os("JOURNAL_STREAM").is_some();
    // Nobody is left to tell if this fails.
    let _ = writeln!(std::io::stderr(), "{}{text}", shown(level, journal));
}

/// As [`line`], for what begins and ends.
pub fn info(text: &str) {
    line(Level::Info, text);
}

/// As [`line`], for what is not as one would expect.
pub fn warn(text: &str) {
    line(Level::Warn, text);
}

/// As [`line`], for a step of a build.
pub fn step(what: &str) -> Box<dyn Any> {
    info(what);
    Box::new(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_matters_most_comes_first() {
        assert!(Level::Error < Level::Warn && Level::Warn < Level::Info && Level::Info < Level::Debug);
        assert_eq!(shown(Level::Warn, true), "<4>");
        assert_eq!(shown(Level::Warn, false), "warn: ");
    }
}
