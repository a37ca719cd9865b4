// SPDX-License-Identifier: MIT OR Apache-2.0
//! `carrick plot`

use std::path::Path;
use std::process::ExitCode;

use carrick_driver::{Failure, written::replace};
use carrick_report::plot::{Chart, Figure, Kind, Table};

use super::picture::Format;
use crate::args::Plot;
use crate::manifest::{Form, Manifest, words};
use crate::output;

pub fn run(args: &Plot) -> Result<ExitCode, Failure> {
    let format = Format::of(&args.output)?;
    let drawn = args.files.iter().map(|file| read(file)).collect::<Result<Vec<_>, Failure>>()?;
    let usual = match drawn.first().map(|(_, table)| table.kind) {
        Some(Kind::Timeline) => Figure::Queues,
        Some(Kind::Rates) => Figure::Rates,
        Some(Kind::Samples) => Figure::Samples,
        _ => Figure::Slowdown,
    };
    let figure = args.what.map_or(usual, |what| what.0);
    for (file, (_, table)) in args.files.iter().zip(&drawn) {
        drawable(figure, file, table)?;
    }
    let tables: Vec<Table> = drawn.iter().map(|(_, table)| table.clone()).collect();
    one_field(figure, &tables)?;
    let chart = chart(args, figure, &tables)?;
    let by = words::join(["plot".to_owned()].into_iter().chain(args.words(figure)));
    let manifest = manifests(&drawn, &by);
    replace(&args.output, &format.bytes(&chart.svg(&manifest), &manifest)?)?;
    println!("{}", args.output.display());
    Ok(ExitCode::SUCCESS)
}

/// Refuses a table of which nothing can be drawn.
fn drawable(figure: Figure, file: &Path, table: &Table) -> Result<(), Failure> {
    let (name, shown) = (figure.name(), file.display());
    if table.kind != figure.of() {
        let option = figure.of().option();
        return Err(Failure::Usage(format!(
            "{name} is drawn of tables of `carrick sim --{option}`, and {shown} is another one"
        )));
    }
    let lack = figure.lack(table);
    lack.map_or(Ok(()), |why| {
        Err(Failure::Usage(format!("{shown}: there is nothing to draw for {name}: {why}")))
    })
}

/// One axis has the values of one field.
fn one_field(figure: Figure, tables: &[Table]) -> Result<(), Failure> {
    let fields = tables.iter().filter_map(|table| Some((&table.label, &table.groups.first()?.texts)));
    let fields: Vec<_> = if figure == Figure::Samples { fields.collect() } else { Vec::new() };
    let Some((first, field)) = fields.first() else { return Ok(()) };
    match fields.iter().find(|(_, other)| other != field) {
        Some((label, other)) => Err(Failure::Usage(format!(
            "{first} has samples of {}, and {label} of {}: draw each field by itself",
            field.join(" in "),
            other.join(" in ")
        ))),
        None => Ok(()),
    }
}

fn chart(args: &Plot, figure: Figure, tables: &[Table]) -> Result<Chart, Failure> {
    let choice = args.choice();
    figure.check(tables, &choice).map_err(Failure::Usage)?;
    let mut chart = figure.chosen(tables, &choice);
    if let Some(title) = &args.title {
        chart.title.clone_from(title);
    }
    chart.x.range = args.x.as_ref().map(|range| range.on("--x", &chart.x)).transpose()?;
    chart.y.range = args.y.as_ref().map(|range| range.on("--y", &chart.y)).transpose()?;
    chart.size = args.size;
    chart.check().map_err(Failure::Usage)?;
    Ok(chart)
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

/// What makes a drawing of tables again, which a command drew.
pub fn manifests(drawn: &[Drawn], by: &str) -> String {
    let known = drawn.iter().filter_map(|(manifest, table)| Some((manifest.clone()?, table)));
    let all = known.map(|(manifest, table)| manifest.drawn_of(table, by).to_string());
    all.collect::<Vec<_>>().join("\n\n")
}

/// Every drawing that there is of these tables (their text), each of another kind, into a folder.
pub fn all(folder: &Path, tables: &[String], label: &str) -> Result<(), Failure> {
    let drawn = tables.iter().map(|text| taken(text, label)).collect::<Result<Vec<_>, _>>();
    let drawn = drawn.map_err(Failure::Failed)?;
    for figure in Figure::ALL {
        for it in drawn.iter().filter(|(_, table)| table.kind == figure.of()) {
            let name = figure.name();
            if let Some(why) = figure.lack(&it.1) {
                output::note(&format!("no drawing of {name}: {why}"));
                continue;
            }
            let by = format!("plot --what {name}");
            let of = std::slice::from_ref(it);
            let svg = figure.chart(std::slice::from_ref(&it.1)).svg(&manifests(of, &by));
            replace(&folder.join(format!("{name}.svg")), svg.as_bytes())?;
        }
    }
    Ok(())
}
