// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tables with hostile text wherever their schema has a string: what is generated of one that is accepted has it in strings and
//! comments alone.

use std::path::Path;

use carrick_driver::{compile_file, table};
use carrick_ir::Program;
use carrick_tests::bare::{MARKER, bare, bare_c, tags};
use carrick_tests::places::Schema;
use serde_json::Value;

use crate::random::Random;

/// What ends or continues something in a language that is written.
const PIECES: [&str; 32] = [
    "*/",
    "/*",
    "//",
    "*",
    "/",
    "\\",
    "\n",
    "\r",
    "\"",
    "'",
    "?",
    "??/",
    "--",
    "[[",
    "]]",
    "<",
    ">",
    "</script>",
    "&",
    "`",
    "$(",
    "{",
    "}",
    "#error ",
    ";",
    "(",
    ")",
    " ",
    "a",
    "\u{2028}",
    "\0",
    "<hostile_marker>",
];

/// Makes one table after another.
pub struct Hostile {
    schema: Schema,
    tables: Vec<Value>,
}

impl Hostile {
    /// Of the programs in a folder.
    pub fn new(folder: &Path) -> Hostile {
        let files = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let programs = files.filter_map(|file| compile_file(&file).ok()?.program);
        let table = |text: String| {
            let mut table: Value = serde_json::from_str(&text).expect("a table is JSON");
            table.as_object_mut().expect("an object").remove("hash");
            table
        };
        let tables: Vec<Value> = programs.map(|program| table(table::write(&program))).collect();
        assert!(!tables.is_empty(), "{} has no program", folder.display());
        Hostile { schema: Schema::new(), tables }
    }

    /// A table with hostile text in some places of text and, now and then, in a name.
    pub fn next(&self, random: &mut Random) -> String {
        let mut table = random.pick(&self.tables).cloned().unwrap_or_default();
        let mut names = 0;
        self.schema.each(&mut table, &mut |place, _| names += usize::from(!place.text));
        let mut until = if random.below(8) == 0 { random.below(names) } else { names };
        self.schema.each(&mut table, &mut |place, value| {
            if place.text && random.below(2) == 0 {
                *value = text(random).into();
            } else if !place.text {
                if until == 0 {
                    *value = format!("{};", text(random)).into();
                }
                until = until.wrapping_sub(1);
            }
        });
        table.to_string()
    }
}

fn text(random: &mut Random) -> String {
    let mut text = String::new();
    for _ in 0..=random.below(10) {
        text.push_str(random.pick(&PIECES).copied().unwrap_or_default());
        if random.below(3) == 0 {
            text.push_str(MARKER);
        }
    }
    text
}

/// Whether the table is accepted.
///
/// # Panics
/// If text of it is code of what is generated.
pub fn judge(table: &str) -> bool {
    let Ok(program) = table::read("hostile.json", table) else { return false };
    generated(&program);
    true
}

fn generated(program: &Program) {
    for (name, text) in carrick_emit_c::emit(program) {
        match name.as_str() {
            "Makefile" => assert!(!text.contains(MARKER), "text of a program is in the Makefile"),
            _ => drop(bare_c(&text)),
        }
    }
    let params: Vec<u64> = program.params.iter().map(|param| param.default).collect();
    if let Ok(script) = carrick_dissect::dissector(program, &params) {
        bare(&script, "--");
    }
    let page = carrick_doc::page(program, &[], &[]);
    assert!(!tags(&page).iter().any(|tag| tag.contains(MARKER)), "text of a program is a tag");
}
