// SPDX-License-Identifier: MIT OR Apache-2.0
//! The runs of a sweep: what they depend on, checked before the first is made, and how one is made.

use std::panic::{AssertUnwindSafe, catch_unwind};

use carrick_driver::Failure;
use carrick_driver::cc::Tracing;
use clap::{Args as _, Command, FromArgMatches};

use super::args::{Rows, SweepArgs};
use super::outcome::{self, FIRST, Made};
use super::plan::{Plan, Planned};
use crate::load::Builds;

/// All runs of a sweep, by number from 0.
pub struct Runs {
    plan: Plan,
    builds: Builds,
    keys: Vec<u64>,
    rows: Rows,
    /// the first line of the table
    pub head: String,
}

impl Runs {
    /// The runs that these words of a command line ask for.
    ///
    /// # Errors
    /// [`Failure::Usage`] with what is wrong with them, [`Failure::Failed`] if a program has errors.
    pub fn of(words: &[String], builds: impl FnOnce(Option<Tracing>) -> Builds) -> Result<Runs, Failure> {
        let mut parser = SweepArgs::augment_args(Command::new("sweep"));
        let given = outcome::matches(&mut parser, words)?;
        let args = SweepArgs::from_arg_matches(&given).map_err(|e| outcome::wrong(&e))?;
        let plan = Plan::of(&args)?;
        let rows = args.table.rows;
        let head = head(&plan, rows);
        let (builds, keys) = checked(&plan, builds)?;
        Ok(Runs { plan, builds, keys, rows, head })
    }

    /// What each run is known by, in their order.
    pub fn keys(&self) -> &[u64] {
        &self.keys
    }

    /// Makes a run, whatever comes of it: its rows, and why it failed, if it did.
    pub fn make(&self, number: usize) -> Made {
        one(&mut outcome::parser(), &self.plan.get(number as u64), self.keys[number], self.rows, &self.builds)
    }

    /// Ends the runs that are being made.
    pub fn stop(&self) {
        self.builds.stop.now();
    }
}

/// The first line of the table.
pub fn head(plan: &Plan, rows: Rows) -> String {
    let others = outcome::columns(rows);
    let taken = [&FIRST[..], others].concat();
    let columns = plan.columns(&taken);
    let all = FIRST.iter().copied().chain(columns.iter().map(String::as_str)).chain(others.iter().copied());
    let mut head = String::new();
    outcome::line(&all.map(str::to_owned).collect::<Vec<_>>(), &mut head);
    head
}

/// Checks each combination of values; returns the key of each run.
pub fn checked(
    plan: &Plan,
    builds: impl FnOnce(Option<Tracing>) -> Builds,
) -> Result<(Builds, Vec<u64>), Failure> {
    let mut parser = outcome::parser();
    let (count, each) = (plan.count()?, plan.of_combination());
    let named = |planned: &Planned, e: Failure| {
        let cells =
            plan.columns(&[]).into_iter().zip(&planned.cells).map(|(name, cell)| format!("{name} {cell}"));
        let cells = cells.collect::<Vec<_>>().join(", ");
        match e {
            Failure::Usage(why) if !cells.is_empty() => {
                Failure::Usage(format!("the run with {cells}: {why}"))
            }
            other => other,
        }
    };
    let first = plan.get(0);
    let usual = outcome::parse(&mut parser, &first.words).map_err(|e| named(&first, e))?;
    let builds = builds(usual.compiled.then(|| usual.tracing()));
    let mut keys = Vec::with_capacity(count as usize);
    for begin in (0..count).step_by(each as usize) {
        let planned = plan.get(begin);
        let args = outcome::parse(&mut parser, &planned.words).map_err(|e| named(&planned, e))?;
        let files = outcome::depends_on(&args, &builds).map_err(|e| named(&planned, e))?;
        keys.extend((begin..begin + each).map(|number| outcome::key(&plan.get(number), &files)));
    }
    Ok((builds, keys))
}

/// Makes a run, whatever comes of it.
pub fn one(parser: &mut Command, planned: &Planned, key: u64, rows: Rows, builds: &Builds) -> Made {
    // A bug in one run does not end the others: its message was printed, and its row says so.
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let args = outcome::parse(parser, &planned.words)?;
        outcome::make(&args, builds)
    }));
    let outcome = outcome.unwrap_or_else(|_| Err(Failure::Failed("the simulator panicked".into())));
    outcome::rows(rows, key, planned, outcome)
}
