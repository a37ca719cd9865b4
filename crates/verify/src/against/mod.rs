// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two versions of a program: whether the new one does what the old one does.
//!
//! What has the same text, down to all that it names, is the same. Every other processor is run in both versions, one after the other on
//! one path, from the same values. Then all that another processor, a packet or an application could see of it is compared.

mod given;
mod names;
mod outcome;
mod pairs;
mod report;
mod texts;
mod twice;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use carrick_ir::Program;

pub use names::Names;
use pairs::Pair;
pub use report::{Comparison, Declared, Difference, PairReport, Unlike, Verdict};

use crate::bounds::Bounds;
use crate::report::on_threads;

/// Compares two versions of a program on this many threads; `done` gets each comparison when it is done. The bounds' parameters are those
/// of the old version.
///
/// # Errors
/// A sentence, if they have nothing in common that could be compared.
pub fn compare(
    old: &Program,
    new: &Program,
    names: &Names,
    bounds: &Bounds,
    threads: usize,
    cancelled: &Arc<AtomicBool>,
    done: &(dyn Fn(&PairReport) + Sync),
) -> Result<Comparison, String> {
    if old.net_header.layer != new.net_header.layer {
        return Err("one is over another network header than the other".to_owned());
    }
    names.check(old, new)?;
    let texts = texts::Texts::of(old, new, names);
    let (pairs, mut declared) = pairs::all(old, new, names, &texts);
    declared.extend(texts.declared);
    let pairs = on_threads(threads, pairs.len(), &|at| {
        let report = report(old, new, names, bounds, &pairs[at], cancelled);
        done(&report);
        report
    })?;
    Ok(Comparison { declared, pairs })
}

fn report(
    old: &Program,
    new: &Program,
    names: &Names,
    bounds: &Bounds,
    pair: &Pair,
    cancelled: &Arc<AtomicBool>,
) -> PairReport {
    let (mut paths, mut time, mut verdict) = (0, Duration::ZERO, Verdict::SameText);
    if !(bounds.texts && pair.same_text) {
        let found = twice::explore(old, new, names, bounds, pair, cancelled);
        (paths, time, verdict) = (found.paths, found.time, found.verdict);
    }
    PairReport { name: pair.name.clone(), events: pair.events.clone(), paths, time, verdict }
}
