// SPDX-License-Identifier: MIT OR Apache-2.0
//! `carrick report`

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use carrick_driver::{Compiled, Failure, compile_choice, written::replace};
use carrick_ir::Program;
use carrick_report::{Reader, Source};

use super::plot;
use crate::args::{Features, Report};
use crate::command_line;
use crate::manifest::Manifest;
use crate::output;
use crate::recorded::{self, Recorded, line_text};

pub fn run(args: &Report) -> Result<ExitCode, Failure> {
    let recorded = match &args.runs[..] {
        [run] => recorded::open(run)?,
        _ => None,
    };
    let wants_lines = args.output.extension().is_some_and(|ending| ending == "jsonl");
    if let Some(option) = of_program(args).filter(|_| wants_lines || recorded.is_none()) {
        let (with, why) = match wants_lines {
            true => (&args.output, "records are written as they are"),
            false => (&args.runs[0], "only the page of one trace draws a program"),
        };
        return Err(Failure::Usage(format!("--{option} says nothing with {}: {why}", with.display())));
    }
    match recorded {
        Some(recorded) if wants_lines => as_lines(recorded, &args.output)?,
        None if wants_lines => {
            return Err(Failure::Usage(format!(
                "{}: only the records of one trace can be JSON lines; name a page that ends in .html",
                args.output.display()
            )));
        }
        Some(recorded) => replace(&args.output, of_run(args, recorded)?.as_bytes())?,
        None => replace(&args.output, of_tables(&args.runs)?.as_bytes())?,
    }
    println!("{}", args.output.display());
    Ok(ExitCode::SUCCESS)
}

/// An option about the program that is given.
fn of_program(args: &Report) -> Option<&'static str> {
    let Features { with, without, over } = &args.features;
    let given = [
        (!args.plot.is_empty(), "plot"),
        (args.program.is_some(), "program"),
        (!with.is_empty(), "with"),
        (!without.is_empty(), "without"),
        (over.is_some(), "over"),
    ];
    given.into_iter().find(|(given, _)| *given).map(|(_, option)| option)
}

fn of_tables(files: &[PathBuf]) -> Result<String, Failure> {
    let drawn = files.iter().map(|file| plot::read(file)).collect::<Result<Vec<_>, Failure>>()?;
    let manifest = plot::manifests(&drawn, "report");
    let tables: Vec<_> = drawn.into_iter().map(|(_, table)| table).collect();
    Ok(carrick_report::tables_page(&tables, &manifest))
}

fn of_run(args: &Report, recorded: Recorded) -> Result<String, Failure> {
    let shown = recorded.shown.clone();
    let wrong = |why: String| Failure::Usage(format!("{shown}: {why}"));
    let header = &recorded.header;
    if header.at.is_none() && command_line::has_different_hosts(&header.run) {
        return Err(wrong(
            "its hosts run different programs or features, and a page draws one program; record tables with --samples and --rates instead"
                .into(),
        ));
    }
    let (path, features) = recorded.made_with(args.program.as_deref(), &args.features);
    let compiled = compile_choice(&path, &features.choice()).map_err(|e| match args.program {
        None => Failure::Usage(format!("{e}; or say with --program where the program of this run is")),
        Some(_) => e,
    })?;
    let program = compiled.program.clone().ok_or_else(|| {
        output::diagnostics(&compiled);
        Failure::Failed(output::summary(&compiled))
    })?;
    if let Some(changed) = recorded.changed(&program, &path) {
        return Err(changed);
    }
    let progress = output::progress("reading the run");
    let manifest = Manifest::of_trace(header).drawn_by(args);
    let page = drawn(recorded, (&program, &compiled), &args.plot, &manifest);
    progress.finish_and_clear();
    let (page, cut) = page?;
    cut.iter().for_each(|cut| eprintln!("carrick: {cut}"));
    Ok(page)
}

/// Draws the records of a trace, which is of this program; with a sentence about where it ends, if it is not whole.
///
/// # Errors
/// [`Failure::Usage`] if a record is none of a trace, or the program has no such field.
pub fn drawn(
    mut recorded: Recorded,
    (program, compiled): (&Program, &Compiled),
    fields: &[String],
    manifest: &Manifest,
) -> Result<(String, Option<String>), Failure> {
    let mut reader = Reader::new(&recorded.header, program, fields).map_err(Failure::Usage)?;
    while let Some(line) = recorded.read()? {
        reader.record(&line).map_err(|why| Failure::Usage(format!("{}: {why}", recorded.shown)))?;
    }
    let page = carrick_report::page(&reader.finish(sources(compiled)), &manifest.to_string());
    Ok((page, recorded.cut()))
}

/// Writes the records of a trace as lines.
fn as_lines(mut recorded: Recorded, output: &Path) -> Result<(), Failure> {
    let mut out = output::create_file(output)?;
    let mut written = writeln!(out, "{}", recorded.first_line());
    while let Some(line) = recorded.read()? {
        written = written.and_then(|()| writeln!(out, "{}", line_text(&line)));
    }
    output::written(Some(output), written.and_then(|()| out.flush()))?;
    recorded.cut().iter().for_each(|cut| eprintln!("carrick: {cut}"));
    Ok(())
}

fn sources(compiled: &Compiled) -> Vec<Source> {
    let all = &compiled.sources;
    let source =
        |n: usize| Source { name: all.name(n).to_owned(), text: all.text()[all.range(n)].to_owned() };
    (0..all.count()).map(source).collect()
}
