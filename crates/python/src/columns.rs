// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tables for Python.

use std::sync::Arc;

use carrick_cli::simulations::{Cells, Table};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};

use crate::arrow::{self, ArrowArrayStream, Layout};

/// Named columns of the same length.
#[pyclass(frozen, module = "carrick._carrick")]
pub struct Columns {
    table: Table,
    layout: Arc<Layout>,
}

impl From<Table> for Columns {
    fn from(table: Table) -> Columns {
        Columns { layout: Arc::new(Layout::of(&table)), table }
    }
}

fn cells<'py>(py: Python<'py>, cells: &Cells) -> PyResult<Bound<'py, PyList>> {
    match cells {
        Cells::Integers(all) => PyList::new(py, all),
        Cells::Numbers(all) => PyList::new(py, all),
        Cells::Texts(all) => PyList::new(py, all),
    }
}

#[pymethods]
impl Columns {
    /// The names of the columns.
    fn names(&self) -> Vec<&str> {
        self.table.columns.iter().map(|column| &*column.name).collect()
    }

    fn __len__(&self) -> usize {
        self.table.rows
    }

    /// The values of a column.
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        let found = self.table.columns.iter().find(|column| column.name == name);
        let found = found.ok_or_else(|| {
            PyKeyError::new_err(format!("there is no column {name:?}; there are {}", self.names().join(", ")))
        })?;
        cells(py, &found.cells)
    }

    /// A dictionary for each row.
    fn to_dicts<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let rows: Vec<Bound<'_, PyDict>> = (0..self.table.rows).map(|_| PyDict::new(py)).collect();
        for column in &self.table.columns {
            for (row, cell) in rows.iter().zip(cells(py, &column.cells)?) {
                row.set_item(&column.name, cell)?;
            }
        }
        Ok(rows)
    }

    /// The Arrow PyCapsule interface. The one schema that there is is given, whatever is requested, as it allows.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let stream = arrow::stream(self.layout.clone());
        let end = |mut stream: ArrowArrayStream, _| stream.end();
        PyCapsule::new_with_value_and_destructor(py, stream, c"arrow_array_stream", end)
    }
}

/// The table in a text of lines with commas.
#[pyfunction]
pub fn table(csv: &str) -> Columns {
    Table::read(csv).into()
}
