// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs, runs and sweeps.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use carrick_cli::simulations::{self, Asker, Error, Given, Stop, Sweep, Texts};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyList, PyString};
use serde_json::Value;

use crate::columns::Columns;
use crate::errors::exception;
use crate::running::beside;

/// The programs of this repository, and their parts, by their names below `protocols`.
const SHIPPED: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/shipped.rs"));

/// A program among others, with the names of its files and their texts; and its diagnostics (JSON).
type Program = (BTreeMap<String, String>, String);

/// The programs that the package holds, and their parts: a text for each name.
#[pyfunction]
pub fn shipped() -> BTreeMap<&'static str, &'static str> {
    SHIPPED.iter().copied().collect()
}

/// Reads and checks a program, from a file or from texts.
#[pyfunction]
#[pyo3(signature = (file, texts=None))]
pub fn load(py: Python<'_>, file: &str, texts: Option<Texts>) -> PyResult<Program> {
    let loaded = beside(py, || simulations::load(file, texts.as_ref()), || ())?;
    let loaded = loaded.map_err(|e| exception(py, &e))?;
    Ok((loaded.texts, Value::from(loaded.diagnostics.all).to_string()))
}

/// A value of an option, which Python has brought down to booleans, texts, lists and dictionaries.
fn given(value: &Bound<'_, PyAny>) -> PyResult<Given> {
    if let Ok(switch) = value.cast::<PyBool>() {
        Ok(Given::Switch(switch.is_true()))
    } else if let Ok(text) = value.cast::<PyString>() {
        Ok(Given::Text(text.to_string()))
    } else if let Ok(list) = value.cast::<PyList>() {
        list.iter().map(|one| given(&one)).collect::<PyResult<_>>().map(Given::List)
    } else if let Ok(pairs) = value.cast::<PyDict>() {
        let pair =
            |(name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| Ok((name.extract()?, given(&value)?));
        pairs.iter().map(pair).collect::<PyResult<_>>().map(Given::Pairs)
    } else {
        Err(PyTypeError::new_err("an option is a boolean, a text, a list or a dictionary"))
    }
}

/// The words of a command line with these options, for a simulation or a sweep.
#[pyfunction]
pub fn words(py: Python<'_>, sweep: bool, options: &Bound<'_, PyDict>) -> PyResult<Vec<String>> {
    let asker = if sweep { Asker::Sweep } else { Asker::Simulate };
    let option = |(name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| Ok((name.extract()?, given(&value)?));
    let options: Vec<(String, Given)> = options.iter().map(option).collect::<PyResult<_>>()?;
    simulations::words(asker, &options).map_err(|e| exception(py, &Error::Failure(e)))
}

/// A run that is over.
#[pyclass(frozen, get_all, module = "carrick._carrick")]
pub struct Simulated {
    /// as `carrick sim --format json` prints it
    results: String,
    totals: Py<Columns>,
    flows: Py<Columns>,
    failures: Vec<String>,
    /// of a topology
    tables: BTreeMap<&'static str, Py<Columns>>,
}

/// Makes the run that these words of `carrick sim` ask for, of these texts of programs.
#[pyfunction]
pub fn simulate(py: Python<'_>, words: Vec<String>, texts: Texts) -> PyResult<Simulated> {
    let stop = Stop::default();
    let done = beside(py, || simulations::simulate(&words, &texts, &stop), || stop.now())?;
    let done = done.map_err(|e| exception(py, &e))?;
    let tables = done.tables.into_iter().map(|(name, table)| Ok((name, Py::new(py, Columns::from(table))?)));
    Ok(Simulated {
        results: done.results.to_string(),
        totals: Py::new(py, Columns::from(done.totals))?,
        flows: Py::new(py, Columns::from(done.flows))?,
        failures: done.failures,
        tables: tables.collect::<PyResult<_>>()?,
    })
}

/// Draws a recorded run as a page of HTML.
#[pyfunction]
pub fn page(py: Python<'_>, trace: PathBuf, texts: Texts, fields: Vec<String>) -> PyResult<String> {
    let drawn = beside(py, || simulations::page(&trace, &texts, &fields), || ())?;
    drawn.map_err(|e| exception(py, &e))
}

/// The runs of a sweep.
#[pyclass(frozen, module = "carrick._carrick")]
pub struct Plan(Arc<Sweep>);

#[pymethods]
impl Plan {
    /// Of these words of `carrick sweep`.
    #[new]
    fn new(py: Python<'_>, words: Vec<String>, texts: Texts) -> PyResult<Plan> {
        let plan = beside(py, || Sweep::of(&words, &texts), || ())?;
        plan.map(|plan| Plan(Arc::new(plan))).map_err(|e| exception(py, &e))
    }

    /// The first line of the table.
    #[getter]
    fn head(&self) -> &str {
        self.0.head()
    }

    fn __len__(&self) -> usize {
        self.0.keys().len()
    }

    /// What each run is known by.
    fn keys(&self) -> Vec<String> {
        self.0.keys().iter().map(|key| format!("{key:016x}")).collect()
    }

    /// Makes a run: its lines of the table, and why it failed.
    fn make(&self, py: Python<'_>, number: usize) -> PyResult<(String, Vec<String>)> {
        beside(py, || self.0.make(number), || self.0.stop())
    }

    /// Ends the runs that are being made.
    fn stop(&self) {
        self.0.stop();
    }
}
