// SPDX-License-Identifier: MIT OR Apache-2.0
//! Text of a program stays text in whatever is made of it, whoever wrote the program.
//!
//! Hostile text is put wherever text can be: in a table where its schema has a string, in a program between all tokens. What is
//! generated then has the same code as with harmless text of the same length, and compiles.

mod languages;
mod written;

use std::collections::BTreeSet;
use std::path::Path;

use carrick_driver::{compile_file, table};
use carrick_ir::Program;
use carrick_tests::places::{Place, Schema};
use carrick_tests::programs;
use serde_json::Value;

use languages::same_code;

/// It ends strings, comments, lines, tags and commands of each language that is written.
const TEXT: &str = "hostile */ hostile_marker(); /* ??/\n\
    \"; hostile_marker(); // \\\n\
    */ hostile_marker();\n\
    #error hostile_marker\n\
    */\n#error hostile_marker\n\
    \"\"\\\"??/\"; hostile_marker(); /*/ hostile_marker(); //*/ hostile_marker();\n\
    -- ]] hostile_marker() --[[ hostile_marker() ]==] \r hostile_marker() \r\n hostile_marker()\n\
    '; hostile_marker(); \u{2028} hostile_marker() \u{85} \u{0} \u{1b}[0m \u{c} \u{202e} \u{feff} \u{e9}\n\n\
    </script></style></title></code><img src=x onerror=hostile_marker()> ' onload=hostile_marker() \" onload='hostile_marker()\n\
    ]]> --> `$(hostile_marker)` ${hostile_marker} $(shell hostile_marker) {0} %s %n \\x41 \\101 \\";

/// The same, as one line.
fn line() -> String {
    TEXT.replace(char::is_control, " ")
}

/// Harmless text with as many lines, paragraphs and pieces of code.
pub fn harmless(text: &str) -> String {
    text.chars().map(|c| if c == '\n' || c == '`' { c } else { 'w' }).collect()
}

/// The tables of the programs of this tree.
fn tables() -> impl Iterator<Item = Value> {
    let files = [programs::of("tests/programs"), programs::protocols(), programs::of("tests/paper")].concat();
    files.into_iter().map(|file| {
        let program = compile_file(&file).expect("readable").program.expect("right");
        let mut table: Value = serde_json::from_str(&table::write(&program)).expect("JSON");
        table.as_object_mut().expect("an object").remove("hash");
        table
    })
}

fn read(table: &Value) -> Option<Program> {
    table::read("hostile.json", &table.to_string()).ok()
}

/// The table with another string in the first of such places.
fn replaced(schema: &Schema, table: &Value, at: &Place, text: &str) -> Value {
    let mut table = table.clone();
    let mut first = true;
    schema.each(&mut table, &mut |place, value| {
        if place == at && std::mem::take(&mut first) {
            *value = text.into();
        }
    });
    table
}

fn places_in(schema: &Schema, table: &Value) -> BTreeSet<Place> {
    let mut found = BTreeSet::new();
    schema.each(&mut table.clone(), &mut |place, _| _ = found.insert(place.clone()));
    found
}

#[test]
fn a_name_in_a_table_is_an_identifier() {
    let schema = Schema::new();
    let mut left: BTreeSet<Place> = schema.places().into_iter().filter(|place| !place.text).collect();
    assert!(left.len() > 20, "{left:?}");
    for table in tables() {
        for place in places_in(&schema, &table).into_iter().filter(|place| left.remove(place)) {
            for name in
                ["x[1]; int hostile_marker", "x\ny", "x\"", "x-y", "x.y", "1x", "", "\u{e9}", "x[0] y[1]"]
            {
                assert!(read(&replaced(&schema, &table, &place, name)).is_none(), "{place:?} takes {name:?}");
            }
        }
    }
    assert!(left.is_empty(), "no program of this tree has {left:?}");
}

#[test]
fn text_in_a_table_stays_text() {
    let schema = Schema::new();
    let mut left: BTreeSet<Place> = schema.places().into_iter().filter(|place| place.text).collect();
    assert!(left.len() > 15, "{left:?}");
    let dir = tempfile::tempdir().expect("a folder");
    let all: Vec<_> = tables().map(|table| (places_in(&schema, &table), table)).collect();
    // As few programs as have all places.
    while let Some((places, table)) = all.iter().max_by_key(|(places, _)| places.intersection(&left).count())
        && !places.is_disjoint(&left)
    {
        left.retain(|place| !places.contains(place));
        let (hostile, harmless) = both(&schema, table);
        same_code(&hostile, &harmless, dir.path());
    }
    assert!(left.is_empty(), "no program of this tree has {left:?}");
}

/// The program with hostile text in all places, and with harmless text.
fn both(schema: &Schema, table: &Value) -> (Program, Program) {
    let (mut hostile, mut tame) = (table.clone(), table.clone());
    // What messages quote is one line.
    let taken = |place: &Place| read(&replaced(schema, table, place, TEXT)).is_some();
    let lines: BTreeSet<Place> =
        places_in(schema, table).into_iter().filter(|place| place.text && !taken(place)).collect();
    let text = |place: &Place| if lines.contains(place) { line() } else { TEXT.to_owned() };
    schema.each(&mut hostile, &mut |place, value| {
        if place.text {
            *value = text(place).into();
        }
    });
    schema.each(&mut tame, &mut |place, value| {
        if place.text {
            *value = harmless(&text(place)).into();
        }
    });
    let program = |table: &Value| {
        let read = table::read("hostile.json", &table.to_string());
        read.unwrap_or_else(|why| panic!("text is refused: {why:?}"))
    };
    (program(&hostile), program(&tame))
}

/// Whether something of this name is anywhere below a folder.
pub fn is_below(folder: &Path, name: &str) -> bool {
    std::fs::read_dir(folder).into_iter().flatten().flatten().any(|entry| {
        entry.file_name().to_string_lossy() == name
            || (entry.path().is_dir() && is_below(&entry.path(), name))
    })
}
