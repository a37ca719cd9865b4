// SPDX-License-Identifier: MIT OR Apache-2.0
//! Simulations for other programs than a command line: the same options, results as data, nothing on the terminal.
#![allow(missing_docs, reason = "fields and variants are named for what they hold")]

mod options;
mod page;
mod session;
mod stepped;
mod sweep;
mod table;

pub use carrick_driver::Failure;
use carrick_driver::{Choice, compile_choice, compile_texts_choice};
pub use carrick_sim::stop::Stop;
use serde_json::Value;

pub use crate::load::Texts;
pub use options::{Asker, Given, words};
pub use page::{page, recording};

pub use crate::recorded::{Recorded, line_text};
use session::Session;
pub use session::{Diagnostics, Error};
pub use stepped::{Brought, Stepped};
pub use sweep::Sweep;
pub use table::{Cells, Column, Table};

use crate::args::SimArgs;
use crate::commands::fabric::{self, Network};
use crate::commands::sim;
use crate::commands::sweep::outcome::{self, Outcome};
use crate::load::{Builds, reader};
use crate::manifest::Manifest;

/// A program with all files that it is made of.
#[derive(Debug)]
pub struct Loaded {
    pub texts: Texts,
    /// warnings
    pub diagnostics: Diagnostics,
}

/// Reads and checks the program in a file, or among these texts.
///
/// # Errors
/// [`Error::Program`] if it has errors, [`Failure::Usage`] if it cannot be read.
pub fn load(file: &str, texts: Option<&Texts>) -> Result<Loaded, Error> {
    let choice = Choice::default();
    let compiled = match texts {
        Some(texts) => {
            let text = texts.get(file).map_or("", String::as_str);
            compile_texts_choice(file, text, &mut reader(texts), &choice)?
        }
        None => compile_choice(file.as_ref(), &choice)?,
    };
    let mut diagnostics = Diagnostics::default();
    diagnostics.add(&compiled);
    if diagnostics.errors > 0 {
        return Err(Error::Program(diagnostics));
    }
    let all = &compiled.sources;
    let text = |n: usize| (all.name(n).to_owned(), all.text()[all.range(n)].to_owned());
    // A table is read from its file: its texts are of what it was made from.
    let is_table = file.ends_with(".json");
    let texts = if is_table { Texts::new() } else { (0..all.count()).map(text).collect() };
    Ok(Loaded { texts, diagnostics })
}

/// A run that is over.
#[derive(Debug, Default)]
pub struct Simulated {
    /// as `carrick sim --format json` prints it
    pub results: Value,
    /// a line of the table of `carrick sweep`
    pub totals: Table,
    /// as in `carrick sweep --rows flows`
    pub flows: Table,
    /// a sentence for each thing that failed
    pub failures: Vec<String>,
    /// of a topology, by the name of their option: `timeline`, and `rates` and `samples` where the words ask for them
    pub tables: Vec<(&'static str, Table)>,
}

/// Makes the run that these words of `carrick sim` ask for, behind its name.
///
/// # Errors
/// Whatever ends it without a result. What fails in a run is part of the result.
pub fn simulate(words: &[String], texts: &Texts, stop: &Stop) -> Result<Simulated, Error> {
    let args = options::parse(words)?;
    let session = Session::new();
    let builds = session.builds(args.compiled.then(|| args.tracing()), texts.clone(), stop.clone());
    made(&args, words, &builds).map_err(|failure| session.error(failure))
}

fn made(args: &SimArgs, words: &[String], builds: &Builds) -> Result<Simulated, Failure> {
    let said: Vec<String> = ["sim".to_owned()].into_iter().chain(words.iter().cloned()).collect();
    let build = builds.get(&args.source.file, &args.source.features.choice())?;
    let Some(name) = &args.fabric.topology else {
        let pair = sim::pair(args, &said, &build.program, builds)?;
        pair.written.clone()?;
        let results = pair.json();
        let outcome = outcome::of_pair(pair.report, build.program.file.raw(), pair.metrics.as_ref());
        return Ok(simulated(results, outcome, Vec::new()));
    };
    let network = Network::of(args, &build.program, name, builds)?;
    if network.runs.count() != 1 {
        return Err(Failure::Usage(
            "these options are of several runs, and simulate() makes one: leave out seeds, or_with and lists of values, or take Sweep"
                .into(),
        ));
    }
    let manifest = Manifest::of(args, &said, &build.program, network.programs())?;
    let run = network.one(args, Some(&manifest), network.runs.get(0))?;
    let tables = fabric::texts(&args.fabric, &run);
    let outcome = outcome::of_network(&run);
    let mut results = fabric::json(&[run], &manifest);
    let results = results["runs"][0].take();
    Ok(simulated(results, outcome, tables))
}

fn simulated(results: Value, outcome: Outcome, tables: Vec<(&'static str, String)>) -> Simulated {
    Simulated {
        results,
        totals: Table::read(&outcome.totals_csv()),
        flows: Table::read(&outcome.flows_csv()),
        failures: outcome.failures,
        tables: tables.into_iter().map(|(name, text)| (name, Table::read(&text))).collect(),
    }
}
