// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is heard of programs while work goes on, and how it ends without a result.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use carrick_driver::cc::Tracing;
use carrick_driver::{Compiled, Failure, render};
use carrick_sim::stop::Stop;
use serde_json::Value;

use crate::load::{Builds, Texts};

/// The diagnostics of a program.
#[derive(Debug, Clone, Default)]
pub struct Diagnostics {
    /// one object for each, as `carrick check --format json` prints them
    pub all: Vec<Value>,
    /// as a person reads them
    pub rendered: String,
    pub errors: usize,
}

impl Diagnostics {
    pub(super) fn add(&mut self, compiled: &Compiled) {
        if let Value::Array(all) = render::json(compiled)["diagnostics"].take() {
            self.all.extend(all);
        }
        self.rendered.push_str(&render::pretty(compiled, render::Colour::No));
        self.errors += compiled.errors();
    }
}

/// Why there is no result.
#[derive(Debug)]
pub enum Error {
    /// a program has errors
    Program(Diagnostics),
    Failure(Failure),
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Error {
        Error::Failure(failure)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Program(diagnostics) => f.write_str(&diagnostics.rendered),
            Error::Failure(failure) => failure.fmt(f),
        }
    }
}

/// What programs are built from, and what is heard of them.
pub(super) struct Session {
    heard: Arc<Mutex<Diagnostics>>,
}

impl Session {
    pub fn new() -> Session {
        Session { heard: Arc::default() }
    }

    pub fn builds(&self, compiled: Option<Tracing>, texts: Texts, stop: Stop) -> Builds {
        let heard = self.heard.clone();
        let hear =
            move |compiled: &Compiled| heard.lock().unwrap_or_else(PoisonError::into_inner).add(compiled);
        Builds::of(compiled, texts, Box::new(hear), stop)
    }

    /// The diagnostics in place of a failure that only counts them.
    pub fn error(&self, failure: Failure) -> Error {
        let heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        if heard.errors > 0 { Error::Program(heard.clone()) } else { Error::Failure(failure) }
    }
}
