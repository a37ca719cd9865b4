// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors as exceptions of `carrick._errors`.

use carrick_cli::simulations::{Error, Failure};
use pyo3::prelude::*;
use serde_json::Value;

/// The exception for an error.
pub fn exception(py: Python<'_>, error: &Error) -> PyErr {
    let class = match error {
        Error::Program(_) => "ProgramError",
        Error::Failure(Failure::Usage(_)) => "OptionError",
        Error::Failure(Failure::Missing(_)) => "MissingError",
        Error::Failure(Failure::Failed(_)) => "RunError",
    };
    let made =
        py.import("carrick._errors").and_then(|errors| errors.getattr(class)).and_then(|class| match error {
            Error::Program(found) => {
                class.call1((&found.rendered, Value::from(found.all.clone()).to_string()))
            }
            Error::Failure(failure) => class.call1((failure.to_string(),)),
        });
    made.map_or_else(|e| e, PyErr::from_value)
}
