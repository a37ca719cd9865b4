// SPDX-License-Identifier: MIT OR Apache-2.0
//! What proofs of claims and of versions begin with.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use carrick_driver::{Failure, params};
use carrick_ir::Program;
use carrick_verify::Bounds;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::args::VerifyArgs;

/// Some check is not proved.
pub const NOT_DECIDED: u8 = 4;
/// A process that Ctrl-C ends, to a shell.
const INTERRUPTED: i32 = 130;

pub fn bounds(args: &VerifyArgs, program: &Program) -> Result<Bounds, Failure> {
    let values = params::values(program, &args.set)?;
    // Paths are counted for one configuration, and proofs are for all of them.
    let is_set = |name: &str| args.paths || args.set.iter().any(|set| set.split('=').next() == Some(name));
    let params = program.params.iter().zip(values);
    Ok(Bounds {
        k: args.k as usize,
        paths: args.budget,
        time: Duration::from_secs(args.seconds),
        params: params.map(|(param, value)| is_set(&param.name).then_some(value)).collect(),
        texts: true,
        count: args.paths,
        dump: args.dump_smt.is_some(),
    })
}

/// Exit code 1 says that something was found in programs that could be read.
pub fn unusable(failure: Failure) -> Failure {
    match failure {
        Failure::Failed(why) => Failure::Usage(why),
        other => other,
    }
}

/// The first signal ends the exploration, and what was decided is printed. The second ends the process.
pub fn stop_at_signals(cancelled: &Arc<AtomicBool>) -> Result<(), Failure> {
    let cannot = |e: std::io::Error| Failure::Failed(format!("cannot watch for signals: {e}"));
    let mut signals = Signals::new([SIGINT, SIGTERM]).map_err(cannot)?;
    let cancelled = cancelled.clone();
    std::thread::spawn(move || {
        for _ in signals.forever() {
            if cancelled.swap(true, Ordering::Relaxed) {
                std::process::exit(INTERRUPTED);
            }
        }
    });
    Ok(())
}
