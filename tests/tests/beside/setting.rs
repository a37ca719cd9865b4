// SPDX-License-Identifier: MIT OR Apache-2.0
//! A dumbbell with two programs, and its results.

use std::collections::BTreeMap;
use std::path::Path;

use carrick_tests::build::{copied, root};
use serde_json::Value;

/// From left to right over one link of 100 Mbit/s.
pub const BESIDE: [&str; 12] = [
    "sim",
    "protocols/tcp/tcp.mtp",
    "--topology",
    "dumbbell:2",
    "--workload",
    "all-to-all@h0..h1:h2..h3",
    "--rate",
    "100Mbps",
    "--delay",
    "1ms",
    "--bytes",
    "1MB",
];
/// One host at each end runs another program.
pub const DATAGRAMS: [&str; 4] = ["--host-program", "h1=datagram.mtp", "--host-program", "h3=datagram.mtp"];

/// A folder with the protocols, and with a program whose messages may be lost.
pub fn begun() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    copied(&["protocols"], folder.path());
    let program = root().join("tests/tests/beside/datagram.mtp");
    std::fs::copy(program, folder.path().join("datagram.mtp")).expect("writable");
    folder
}

pub fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

/// Whether two results differ only in what asked for them.
pub fn same_results(a: &Value, b: &Value) -> bool {
    a["runs"] == b["runs"] && !a["runs"].is_null()
}

/// The lines of a table, without its manifest.
pub fn rows(dir: &Path, name: &str) -> Vec<String> {
    let text = std::fs::read_to_string(dir.join(name)).expect("readable");
    text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
}

/// A line of a table, by column.
pub type Row = BTreeMap<String, String>;

pub trait Cell {
    fn number(&self, column: &str) -> u64;
}

impl Cell for Row {
    fn number(&self, column: &str) -> u64 {
        self[column].parse().unwrap_or_else(|_| panic!("{column}: {self:?}"))
    }
}

/// A table.
pub fn table(dir: &Path, name: &str) -> Vec<Row> {
    let rows = rows(dir, name);
    let cells = |row: &String| row.split(',').map(str::to_owned).collect::<Vec<_>>();
    let head = cells(&rows[0]);
    rows[1..].iter().map(|row| head.iter().cloned().zip(cells(row)).collect()).collect()
}
