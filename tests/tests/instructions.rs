// SPDX-License-Identifier: MIT OR Apache-2.0
//! What derives from the declarations of instructions, functions and methods, in files: the tables of the reference, and the constants in C.
//!
//! `CARRICK_RECORD=1 cargo test -p carrick-tests --test instructions` writes it anew.

use std::fmt::Write;
use std::fs;

use carrick_driver::targets::TargetFile;
use carrick_ir::instructions::Section;
use carrick_ir::methods::On;
use carrick_ir::{Builtin, Change, Needs, Opcode, Query};
use carrick_targets::ALL;
use carrick_tests::build::root;
use carrick_tests::document::tables;
use carrick_tests::recorded;

/// Compares the file with what it should be, or writes it.
fn keep(path: &str, wanted: impl FnOnce(String) -> String) {
    let file = root().join(path);
    recorded::file(&file, &wanted(fs::read_to_string(&file).unwrap_or_default()));
}

/// The page with another table, the first one below this heading.
fn with_table(page: &str, heading: &str, table: &str) -> String {
    let at = page.find(&format!("\n## {heading}\n")).unwrap_or_else(|| panic!("no heading {heading:?}"));
    let from = at + page[at..].find("\n|").expect("a table") + 1;
    let rows = page[from..].split_inclusive('\n').take_while(|line| line.starts_with('|'));
    let len: usize = rows.map(str::len).sum();
    format!("{}{table}{}", &page[..from], &page[from + len..])
}

/// A row; an empty cell is one space.
fn row(cells: &[&str]) -> String {
    let cells: String =
        cells.iter().map(|c| if c.is_empty() { " |".into() } else { format!(" {c} |") }).collect();
    format!("|{cells}\n")
}

/// The instructions of a section, and which targets have them.
fn table(section: Section) -> String {
    let mut targets = ALL.files();
    targets.retain(|target| !target.takes_any());
    targets.sort_by(|a, b| a.name.cmp(&b.name));
    let names: Vec<&str> = targets.iter().map(|t| t.name.as_str()).collect();
    let head = [&["instruction", "meaning", "what can go wrong", "group"], names.as_slice()].concat();
    let mut out = row(&head) + &row(&vec!["---"; head.len()]);
    for op in Opcode::ALL.iter().filter(|op| op.declaration().section == section) {
        let declared = op.declaration();
        let form = format!("`{}`", declared.form);
        let mut cells = vec![form.as_str(), declared.meaning, declared.fails, declared.needs.word()];
        let has = |t: &TargetFile| t.instructions.iter().any(|name| name == declared.name);
        cells.extend(targets.iter().map(|t| if has(t) { "yes" } else { "-" }));
        out += &row(&cells);
    }
    out
}

fn numbered() -> Vec<Opcode> {
    let mut all = Opcode::ALL.to_vec();
    all.sort_by_key(|op| op.number());
    all
}

#[test]
fn the_reference_has_what_is_declared() {
    keep("docs/reference/instructions.md", |mut page| {
        for section in Section::ALL {
            page = with_table(&page, section.title(), &table(section));
        }
        let mut records = row(&["number", "instruction", "words"]) + &row(&["---"; 3]);
        for op in numbered() {
            let (number, name) = (op.number().to_string(), format!("`{}`", op.name()));
            records += &row(&[&number, &name, op.declaration().record]);
        }
        with_table(&page, "In traces", &records)
    });
}

/// The functions that a program can call.
fn functions() -> String {
    let mut table = row(&["function", "type", "result"]) + &row(&["---"; 3]);
    for function in Builtin::callable() {
        let declared = function.declaration();
        let (form, ty) = declared.form.split_once(" -> ").unwrap_or((declared.form, ""));
        let ty = if ty.is_empty() { "the operands'".to_owned() } else { format!("`{ty}`") };
        table += &row(&[&format!("`{form}`"), &ty, declared.meaning]);
    }
    table
}

/// The methods of these collections, and rows of others.
fn methods(on: &[On], more: &[(&str, &str)]) -> String {
    let declared =
        Query::ALL.iter().map(|m| m.declaration()).chain(Change::ALL.iter().map(|m| m.declaration()));
    let of = declared.filter(|declared| on.contains(&declared.on));
    let rows = of.map(|declared| (declared.form, declared.meaning)).chain(more.iter().copied());
    let rows: String = rows.map(|(form, meaning)| row(&[&format!("`{form}`"), meaning])).collect();
    row(&["method", "meaning"]) + &row(&["---"; 2]) + &rows
}

#[test]
fn the_reference_has_each_function_and_method() {
    let elements = [
        ("get(uint32 i)", "The element i. Also written `l[i]`."),
        ("set(uint32 i, x)", "Replaces the element i."),
        (
            "retain(x, condition)",
            "A statement. Keeps only the elements for which the condition holds, in their order. x is a new name: that of the element, in the condition.",
        ),
    ];
    keep("docs/reference/language.md", |page| {
        let page = with_table(&page, "Built-in functions", &functions());
        let lists = methods(&[On::AnyList, On::List, On::SortedList], &elements);
        let page = with_table(&page, "Methods of lists", &lists);
        with_table(&page, "Methods of windows", &methods(&[On::Window], &[]))
    });
}

#[test]
fn c_has_a_constant_for_each_number() {
    let mut text = String::from(
        "/* SPDX-License-Identifier: MIT */\n\
         /* The numbers of the instructions in trace records (CARRICK_TRACE_INSTR). Generated from their declarations:\n \
         * CARRICK_RECORD=1 cargo test -p carrick-tests --test instructions */\n\
         #ifndef CARRICK_INSTR_H\n#define CARRICK_INSTR_H\n\nenum carrick_instr {\n",
    );
    for op in numbered() {
        let _ = writeln!(text, "    {} = {},", op.c_name(), op.number());
    }
    text += "};\n\n#endif\n";
    keep("runtime/include/carrick/instr.h", |_| text);
}

#[test]
fn each_group_is_explained() {
    let page = fs::read_to_string(root().join("docs/writing-a-target.md")).expect("readable");
    let words: Vec<&str> = Needs::ALL.iter().map(|needs| needs.word()).collect();
    let table = tables(&page).into_iter().find(|table| table[0][0] == "group").expect("a table of them");
    let explained: Vec<&str> = table[1..].iter().map(|row| row[0].trim_matches('`')).collect();
    assert_eq!(explained, words);
}
