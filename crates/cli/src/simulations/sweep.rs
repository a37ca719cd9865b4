// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sweeps whose runs another program makes.

use carrick_sim::stop::Stop;

use super::session::{Error, Session};
use crate::commands::sweep::Runs;
use crate::load::Texts;

/// All runs of a sweep, checked.
pub struct Sweep(Runs);

impl Sweep {
    /// The runs that these words of `carrick sweep` ask for, behind its name.
    ///
    /// # Errors
    /// What is wrong with the words, or with a program.
    pub fn of(words: &[String], texts: &Texts) -> Result<Sweep, Error> {
        let session = Session::new();
        let builds = |compiled| session.builds(compiled, texts.clone(), Stop::default());
        Runs::of(words, builds).map(Sweep).map_err(|failure| session.error(failure))
    }

    /// The first line of the table.
    pub fn head(&self) -> &str {
        &self.0.head
    }

    /// What each run is known by, in their order: two runs with the same key are the same.
    pub fn keys(&self) -> &[u64] {
        self.0.keys()
    }

    /// Makes the run with this number: its lines of the table, and why it failed, if it did.
    pub fn make(&self, number: usize) -> (String, Vec<String>) {
        let made = self.0.make(number);
        (made.rows, made.failures)
    }

    /// Ends the runs that are being made.
    pub fn stop(&self) {
        self.0.stop();
    }
}
