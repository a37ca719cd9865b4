// SPDX-License-Identifier: MIT OR Apache-2.0
//! What people and programs see.

use std::any::Any;
use std::fs::File;
use std::io::{BufWriter, IsTerminal};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use carrick_driver::render::{self, Colour};
use carrick_driver::written::unwritten;
use carrick_driver::{Compiled, Failure};
use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::Value;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// for people
    Pretty,
    /// for programs
    Json,
}

/// Colours go to a terminal only, and not where `NO_COLOR` is set (no-color.org).
fn colour() -> Colour {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
    if std::io::stderr().is_terminal() && !refused { Colour::Yes } else { Colour::No }
}

/// The diagnostics of a file, on standard error.
pub fn diagnostics(compiled: &Compiled) {
    eprint!("{}", render::pretty(compiled, colour()));
}

/// Why a command could not do its work, on standard error.
pub fn failure(failure: &Failure) {
    eprintln!("carrick: {failure}");
}

/// What a command leaves out, and goes on, on standard error.
pub fn note(what: &str) {
    eprintln!("carrick: {what}");
}

/// `stream.mtp: 2 errors, 1 warning`.
pub fn summary(compiled: &Compiled) -> String {
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    format!(
        "{}: {}, {}",
        compiled.file,
        count(compiled.errors(), "error"),
        count(compiled.warnings(), "warning")
    )
}

/// A file to write, if one is wanted.
pub fn create(path: Option<&Path>) -> Result<Option<BufWriter<File>>, Failure> {
    path.map(create_file).transpose()
}

/// A file to write.
pub fn create_file(path: &Path) -> Result<BufWriter<File>, Failure> {
    File::create(path).map(BufWriter::new).map_err(|e| Failure::Usage(unwritten(path, &e)))
}

/// What a file that is written while a command runs ended with.
pub fn written(path: Option<&Path>, ended: std::io::Result<()>) -> Result<(), Failure> {
    let path = path.unwrap_or_else(|| Path::new("standard output"));
    ended.map_err(|e| Failure::Failed(unwritten(path, &e)))
}

/// A value on standard output.
pub fn json(value: &Value) {
    println!("{value:#}");
}

/// Nobody wants to see progress.
static QUIET: AtomicBool = AtomicBool::new(false);

/// From now on no progress is shown.
pub fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Where progress is drawn: nowhere, if standard error is not a terminal.
fn canvas() -> ProgressDrawTarget {
    if is_quiet() { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() }
}

/// A sign of life for work of unknown length; nothing where standard error is not a terminal.
pub fn progress(what: &str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, canvas()).with_style(ProgressStyle::default_spinner());
    let bar = bar.with_message(what.to_owned());
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}

/// A step of compiling, until what it returns is dropped: a live line on a terminal, else a line of its own.
pub fn step(what: &str) -> Box<dyn Any> {
    if std::io::stderr().is_terminal() {
        return Box::new(Busy(progress(what)));
    }
    if !is_quiet() {
        eprintln!("carrick: {what} ...");
    }
    Box::new(())
}

/// A sign of life, until it is dropped.
struct Busy(ProgressBar);

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// A bar for `count` steps.
pub fn progress_bar(count: u64, what: &str) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len}, {per_sec}, {eta} left")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::with_draw_target(Some(count), canvas()).with_style(style).with_message(what.to_owned())
}

/// Bits per second, in a unit that leaves a few digits.
pub fn rate(bps: f64) -> String {
    match bps {
        1e9.. => format!("{:.3} Gbit/s", bps / 1e9),
        1e6.. => format!("{:.3} Mbit/s", bps / 1e6),
        _ => format!("{:.3} kbit/s", bps / 1e3),
    }
}

#[cfg(test)]
mod tests {
    use super::rate;

    #[test]
    fn rates_have_a_unit_that_fits() {
        assert_eq!([2.5e9, 1e6, 999.0].map(rate), ["2.500 Gbit/s", "1.000 Mbit/s", "0.999 kbit/s"]);
    }
}
