// SPDX-License-Identifier: MIT OR Apache-2.0
//! `--watch`: the work is done again whenever a file of the program changes.

use std::collections::BTreeSet;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use carrick_driver::Failure;
use carrick_driver::snapshot::Snapshot;
use notify::{RecommendedWatcher, RecursiveMode, Watcher};

use crate::args::Watching;
use crate::output;

/// Empties the screen, and what has scrolled out of it (ECMA-48 ED and CUP; 3 is xterm's).
const CLEAR: &str = "\x1b[2J\x1b[3J\x1b[H";
/// An editor writes a file in several steps: it has done when nothing happens for so long.
const SETTLED: Duration = Duration::from_millis(50);

/// Does the work once, or with `--watch` until the process is ended.
///
/// # Errors
/// What the work says if it is done once; else [`Failure::Failed`] if the system does not tell of changes.
pub fn run(
    watching: &Watching,
    programs: &[PathBuf],
    work: impl Fn() -> Result<ExitCode, Failure>,
) -> Result<ExitCode, Failure> {
    if !watching.watch {
        return work();
    }
    loop {
        clear();
        // Taken before the work: what changes while it is done is seen after it.
        let seen = Snapshot::take(programs);
        if let Err(failure) = work() {
            output::failure(&failure);
        }
        let (watcher, changes) = watcher()?;
        eprintln!("watching {} {}, Ctrl-C ends", seen.len(), if seen.len() == 1 { "file" } else { "files" });
        wait(&seen, programs, watcher, &changes)?;
        while changes.recv_timeout(SETTLED).is_ok() {}
    }
}

/// Until the files have changed. The folders that they are in are watched, as a file itself may be replaced by another, or not be
/// there yet; and where there is no such folder yet, the one that it is to be in.
fn wait(
    seen: &Snapshot,
    programs: &[PathBuf],
    mut watcher: RecommendedWatcher,
    changes: &Receiver<()>,
) -> Result<(), Failure> {
    let mut watched = BTreeSet::new();
    loop {
        watched.retain(|folder: &PathBuf| folder.is_dir());
        for folder in seen.folders() {
            let there = folder.ancestors().find(|f| f.is_dir()).unwrap_or(Path::new("."));
            if watched.insert(there.to_path_buf()) {
                watcher.watch(there, RecursiveMode::NonRecursive).map_err(failed)?;
            }
        }
        if seen.is_stale(programs) {
            return Ok(());
        }
        changes.recv().map_err(|e| Failure::Failed(format!("cannot watch any longer: {e}")))?;
    }
}

/// Tells of whatever happens in the folders that it is given.
fn watcher() -> Result<(RecommendedWatcher, Receiver<()>), Failure> {
    let (tell, changes) = mpsc::channel();
    let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        // That a file was read is no change, and we read them ourselves. Nobody listens when we are about to go on.
        if !event.is_ok_and(|e| e.kind.is_access()) {
            let _ = tell.send(());
        }
    });
    Ok((watcher.map_err(failed)?, changes))
}

fn failed(error: notify::Error) -> Failure {
    Failure::Failed(format!("cannot watch for changes: {error}"))
}

/// Makes the next output stand alone, where somebody looks.
fn clear() {
    if io::stderr().is_terminal() {
        // A terminal that is gone ends us by itself.
        let _ = io::stderr().write_all(CLEAR.as_bytes());
    }
}
