// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files that are recorded traces, by how they begin.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use carrick_sim::trace::MAGIC;
use serde::Deserialize;

/// Bytes of a line at most: a longer one is none of a trace.
const MOST_LINE: u64 = 1 << 26;

/// Whether a file is a trace. What is not a file is none: it can be read only once.
pub fn is_trace(path: &Path) -> bool {
    #[derive(Deserialize)]
    struct First {
        schema: String,
    }
    let Some(file) = path.metadata().ok().filter(|is| is.is_file()).and_then(|_| File::open(path).ok())
    else {
        return false;
    };
    let mut file = BufReader::new(file);
    match file.fill_buf() {
        Ok([first, ..]) if *first == MAGIC[0] => return true,
        Ok([b'{', ..]) => {}
        _ => return false,
    }
    let first = line(&mut file, 1).ok().and_then(|line| serde_json::from_str(&line).ok());
    first.is_some_and(|First { schema }| schema.starts_with("carrick-trace-"))
}

/// The next line; empty at the end.
pub fn line(from: &mut impl BufRead, number: u64) -> Result<String, String> {
    let mut text = String::new();
    from.take(MOST_LINE).read_line(&mut text).map_err(|e| e.to_string())?;
    if text.len() as u64 == MOST_LINE && !text.ends_with('\n') {
        return Err(format!("line {number} is longer than any of a trace"));
    }
    Ok(text)
}
