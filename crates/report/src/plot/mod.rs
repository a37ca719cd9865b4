// SPDX-License-Identifier: MIT OR Apache-2.0
//! Drawings of tables of results: curves of one or several of them between axes with units.

mod chart;
mod choice;
mod figure;
mod legend;
mod scale;
mod table;
#[cfg(test)]
mod tests;

pub use chart::{Axis, Chart, Curve, METADATA};
pub use choice::{By, Choice, shown};
pub use figure::Figure;
pub use scale::Unit;
pub use table::{Group, Kind, Table};
