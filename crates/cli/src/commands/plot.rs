// SPDX-License-Identifier: MIT OR Apache-2.0
//! `carrick plot`

use std::path::Path;
use std::process::ExitCode;

use carrick_driver::{Failure, written::replace};
use carrick_report::plot::{Figure, Kind, Table};

use crate::args::Plot;
use crate::manifest::{Form, Manifest};

pub fn run(args: &Plot) -> Result<ExitCode, Failure> {
    let drawn = args.files.iter().map(|file| read(file)).collect::<Result<Vec<_>, Failure>>()?;
    let usual = match drawn.first().map(|(_, table)| table.kind) {
        Some(Kind::Timeline) => Figure::Queues,
        Some(Kind::Rates) => Figure::Rates,
        Some(Kind::Samples) => Figure::Samples,
        _ => Figure::Slowdown,
    };
    let figure = args.what.map_or(usual, |what| what.0);
    if let Some((_, other)) = drawn.iter().find(|(_, table)| table.kind != figure.of()) {
        let (name, option) = (figure.name(), figure.of().option());
        let why = format!(
            "{name} is drawn of tables of `carrick sim --{option}`, and {} is another one",
            other.label
        );
        return Err(Failure::Usage(why));
    }
    write(&args.output, &draw(figure, &drawn))?;
    println!("{}", args.output.display());
    Ok(ExitCode::SUCCESS)
}

/// What curves of a file are called.
pub fn label(file: &Path) -> String {
    file.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
}

/// A table, and what makes it again, if it says so: other programs write tables with the same columns.
type Drawn = (Option<Manifest>, Table);

/// Reads the table in a file.
pub fn read(file: &Path) -> Result<Drawn, Failure> {
    let shown = file.display();
    let text =
        std::fs::read_to_string(file).map_err(|e| Failure::Usage(format!("cannot read {shown}: {e}")))?;
    taken(&text, &label(file)).map_err(|e| Failure::Usage(format!("{shown}: {e}")))
}

fn taken(text: &str, label: &str) -> Result<Drawn, String> {
    let table = Table::read(label, text)?;
    let manifest = match Manifest::read(text.as_bytes(), label) {
        Ok((Form::Table(_), all)) => all.into_iter().next(),
        _ => None,
    };
    Ok((manifest, table))
}

fn draw(figure: Figure, drawn: &[Drawn]) -> String {
    let by = format!("plot --what {}", figure.name());
    let tables: Vec<Table> = drawn.iter().map(|(_, table)| table.clone()).collect();
    figure.chart(&tables).svg(&manifests(drawn, &by))
}

/// What makes a drawing of tables again, which a command drew.
pub fn manifests(drawn: &[Drawn], by: &str) -> String {
    let known = drawn.iter().filter_map(|(manifest, table)| Some((manifest.clone()?, table)));
    let all = known.map(|(manifest, table)| manifest.drawn_of(table, by).to_string());
    all.collect::<Vec<_>>().join("\n\n")
}

fn write(file: &Path, text: &str) -> Result<(), Failure> {
    replace(file, text.as_bytes())
}

/// Every drawing that there is of these tables (their text), into a folder.
pub fn all(folder: &Path, tables: &[String], label: &str) -> Result<(), Failure> {
    let drawn = tables.iter().map(|text| taken(text, label)).collect::<Result<Vec<_>, _>>();
    let drawn = drawn.map_err(Failure::Failed)?;
    for figure in Figure::ALL {
        let of: Vec<Drawn> = drawn.iter().filter(|(_, table)| table.kind == figure.of()).cloned().collect();
        if !of.is_empty() {
            write(&folder.join(format!("{}.svg", figure.name())), &draw(figure, &of))?;
        }
    }
    Ok(())
}
