// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs step by step.

use carrick_cli::simulations::{Brought, Stepped, Texts};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::errors::exception;

/// One core on the interpreter.
#[pyclass(unsendable, module = "carrick._carrick")]
pub struct Core(Stepped);

/// Token, status, value, and the bytes that were delivered.
type Completion<'py> = (u64, &'static str, u64, Option<Bound<'py, PyBytes>>);

#[pymethods]
impl Core {
    /// Of a program and options that these words of `carrick sim` have.
    #[new]
    fn new(py: Python<'_>, words: Vec<String>, texts: Texts, address: &str) -> PyResult<Core> {
        Stepped::new(&words, &texts, address).map(Core).map_err(|e| exception(py, &e))
    }

    fn rx(
        &mut self,
        py: Python<'_>,
        packet: &[u8],
        interface: u32,
        now: u64,
    ) -> PyResult<Option<&'static str>> {
        self.0.rx(packet, interface, now).map_err(|e| exception(py, &e))
    }

    /// `memory` is bytes, or space for so many.
    fn call(
        &mut self,
        py: Python<'_>,
        name: &str,
        context: u64,
        fields: Vec<(String, String)>,
        memory: (Option<PyBackedBytes>, Option<u64>),
        now: u64,
    ) -> PyResult<u64> {
        let brought = match &memory {
            (Some(octets), _) => Brought::Octets(octets),
            (None, Some(octets)) => Brought::Room(*octets),
            (None, None) => Brought::Nothing,
        };
        self.0.call(name, context, &fields, &brought, now).map_err(|e| exception(py, &e))
    }

    fn advance(&mut self, py: Python<'_>, now: u64) -> PyResult<()> {
        self.0.advance(now).map_err(|e| exception(py, &e))
    }

    fn tx<'py>(&mut self, py: Python<'py>, now: u64) -> Option<Bound<'py, PyBytes>> {
        self.0.tx(now).map(|packet| PyBytes::new(py, &packet))
    }

    fn completion<'py>(&mut self, py: Python<'py>) -> Option<Completion<'py>> {
        let (token, status, value, data) = self.0.completion()?;
        Some((token, status, value, data.map(|octets| PyBytes::new(py, &octets))))
    }

    #[getter]
    fn deadline(&self) -> Option<u64> {
        self.0.deadline()
    }

    fn contexts(&self) -> String {
        self.0.contexts().to_string()
    }

    fn records(&mut self) -> String {
        self.0.take_records().to_string()
    }

    fn counters(&self) -> String {
        self.0.counters().to_string()
    }
}
