// SPDX-License-Identifier: MIT OR Apache-2.0
//! A program as a table: its IR as JSON, which other tools can read and make.

use std::path::Path;

use carrick_ir::{self as ir, Program};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use crate::Failure;
use crate::hash::Hash;

/// What files with tables are called, behind the last dot.
const ENDING: &str = "json";
/// The form of tables that this compiler writes, and the only one that it reads.
const VERSION: u32 = 3;
/// Objects and arrays in each other: more than any program has that the parser accepts.
const DEPTH_MAX: usize = 2560;
/// Room for a reader that calls itself for each of them, in bytes.
const STACK: usize = 256 << 20;
/// Mistakes that one message lists.
const LISTED: usize = 3;

/// A transport program as a table.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Table<P> {
    /// the form of the table: 3
    version: u32,
    /// FNV-1a 64 of `program` as this file would have it without white space, in 16 hexadecimal digits. A table without it is not
    /// compared
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hash: Option<String>,
    program: P,
}

/// Whether a file has a table, by its name.
pub fn is_table(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == ENDING)
}

/// Returns the name of a program's table.
pub fn file_name(program: &Program) -> String {
    format!("{}.{ENDING}", program.name)
}

/// Returns a program as a table.
///
/// # Panics
/// Never: every program has a form in JSON.
pub fn write(program: &Program) -> String {
    let program = json(program);
    let table = Table { version: VERSION, hash: Some(hash(&program)), program };
    serde_json::to_string(&table).expect("a program has a form in JSON") + "\n"
}

/// Returns the JSON Schema of tables.
///
/// # Panics
/// Never: a schema has a form in JSON.
pub fn schema() -> String {
    let schema = schemars::schema_for!(Table<Program>);
    serde_json::to_string_pretty(&schema).expect("a schema has a form in JSON") + "\n"
}

/// Returns the program in a table; `file` names it in messages.
///
/// # Errors
/// [`Failure::Failed`] for a text that is no table, a table that was changed since its hash was made, and a program that breaks a
/// rule of the IR.
pub fn read(file: &str, text: &str) -> Result<Program, Failure> {
    let wrong = |why: String| Failure::Failed(format!("{file}: {why}"));
    if depth(text) > DEPTH_MAX {
        return Err(wrong(format!("objects and arrays nest deeper than {DEPTH_MAX} levels")));
    }
    // Its own stack: the reader calls itself for each level.
    let checked = std::thread::scope(|scope| {
        let reader = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, || checked(text));
        reader
            .map_err(|e| format!("cannot start a thread: {e}"))?
            .join()
            .unwrap_or_else(|e| std::panic::resume_unwind(e))
    });
    checked.map_err(wrong)
}

fn checked(text: &str) -> Result<Program, String> {
    let table = parse(text)?;
    if table.version != VERSION {
        return Err(format!(
            "the table has version {}, and this compiler reads version {VERSION}; build it again with `--target json`",
            table.version
        ));
    }
    let program = table.program;
    if table.hash.is_some_and(|told| told != hash(&json(&program))) {
        return Err("the program does not have the hash that the table says; leave `hash` out of a table that you change".into());
    }
    ir::validate::validate(&program).map_err(|errors| {
        let more = errors.len().saturating_sub(LISTED);
        let listed = errors[..errors.len() - more].join("; ");
        let more = if more > 0 { format!("; and {more} more") } else { String::new() };
        format!("the program breaks rules of the IR: {listed}{more}")
    })?;
    // What the compiler derives of a whole program (bounds, effects, the order of functions) is not taken on trust.
    if carrick_lower::lower(program.clone()) != program {
        return Err("a derived number of the program is wrong: `max_raised`, `max_blueprints`, `max_parsed`, `pure`, `may_stop` or \
                    the order of the functions"
            .into());
    }
    Ok(program)
}

fn parse(text: &str) -> Result<Table<Program>, String> {
    let mut reader = serde_json::Deserializer::from_str(text);
    reader.disable_recursion_limit();
    let parsed = Table::deserialize(&mut reader).and_then(|table| reader.end().map(|()| table));
    parsed.map_err(|e| format!("{e}; `carrick build --target json` makes tables, and their schema"))
}

/// The hash of a program, by its form in JSON.
fn hash(program: &RawValue) -> String {
    let mut hash = Hash::new();
    hash.add(program.get().as_bytes());
    format!("{:016x}", hash.value())
}

/// A program in the form that tables have it in, without white space.
fn json(program: &Program) -> Box<RawValue> {
    to_raw_value(program).expect("a program has a form in JSON")
}

/// How deep objects and arrays nest at most.
fn depth(text: &str) -> usize {
    let (mut now, mut most, mut quoted, mut escaped) = (0_usize, 0, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'{' | b'[' if !quoted => {
                now += 1;
                most = most.max(now);
            }
            b'}' | b']' if !quoted => now = now.saturating_sub(1),
            _ => {}
        }
    }
    most
}
