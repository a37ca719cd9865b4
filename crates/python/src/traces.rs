// SPDX-License-Identifier: MIT OR Apache-2.0
//! Recorded runs.

use std::path::PathBuf;

use carrick_cli::simulations::{Error, Recorded, line_text, recording};
use pyo3::prelude::*;

use crate::errors::exception;

/// The records of a trace in a file, one after another, each as JSON.
#[pyclass(unsendable, module = "carrick._carrick")]
pub struct Records(Recorded);

#[pymethods]
impl Records {
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Records> {
        recording(&path).map(Records).map_err(|e| exception(py, &e))
    }

    /// What the trace is of (JSON).
    #[getter]
    fn header(&self) -> &str {
        self.0.first_line()
    }

    /// Where a trace ends that is not whole; once all records were taken.
    #[getter]
    fn cut(&self) -> Option<String> {
        self.0.cut()
    }

    fn __iter__(this: Bound<'_, Self>) -> Bound<'_, Self> {
        this
    }

    fn __next__(&mut self, py: Python<'_>) -> PyResult<Option<String>> {
        let next = self.0.read().map_err(|e| exception(py, &Error::Failure(e)))?;
        Ok(next.as_ref().map(line_text))
    }
}
