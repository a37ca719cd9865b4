// SPDX-License-Identifier: MIT OR Apache-2.0
//! `carrick._carrick`: what the Python package does in Rust. Its classes for people are in `python/carrick`.

mod arrow;
mod columns;
mod core;
mod errors;
mod running;
mod runs;
mod traces;

use pyo3::prelude::*;

#[pymodule]
mod _carrick {
    #[pymodule_export]
    use crate::columns::{Columns, table};
    #[pymodule_export]
    use crate::core::Core;
    #[pymodule_export]
    use crate::runs::{Plan, Simulated, load, page, shipped, simulate, words};
    #[pymodule_export]
    use crate::traces::Records;
}
