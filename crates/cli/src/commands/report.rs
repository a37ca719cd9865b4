// SPDX-License-Identifier: MIT OR Apache-2.0
//! `carrick report`

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use carrick_driver::{Compiled, Failure, compile_choice, written::replace};
use carrick_ir::Program;
use carrick_report::{Header, Reader, Source};

use super::plot;
use crate::args::Report;
use crate::command_line;
use crate::manifest::Manifest;
use crate::output;

/// The first line of a table begins so.
const TABLE: &str = "# carrick ";

pub fn run(args: &Report) -> Result<ExitCode, Failure> {
    let page = match &args.runs[..] {
        [run] => of_run(args, run)?,
        tables => of_tables(tables)?,
    };
    replace(&args.output, page.as_bytes())?;
    println!("{}", args.output.display());
    Ok(ExitCode::SUCCESS)
}

fn of_tables(files: &[PathBuf]) -> Result<String, Failure> {
    let drawn = files.iter().map(|file| plot::read(file)).collect::<Result<Vec<_>, Failure>>()?;
    let manifest = plot::manifests(&drawn, "report");
    let tables: Vec<_> = drawn.into_iter().map(|(_, table)| table).collect();
    Ok(carrick_report::tables_page(&tables, &manifest))
}

fn of_run(args: &Report, run: &Path) -> Result<String, Failure> {
    let shown = run.display();
    let wrong = |why: String| Failure::Usage(format!("{shown}: {why}"));
    let file = File::open(run).map_err(|e| {
        Failure::Usage(format!("cannot read {shown}: {e}; `carrick sim FILE.mtp --trace RUN` records a run"))
    })?;
    let mut lines = BufReader::new(file).lines().map(|line| line.map_err(|e| wrong(e.to_string())));
    let first = lines.next().unwrap_or(Ok(String::new()))?;
    if first.starts_with(TABLE) {
        return of_tables(&[run.to_owned()]);
    }
    let header = Header::read(&first).map_err(wrong)?;
    if header.at.is_none() && command_line::has_different_hosts(&header.run) {
        return Err(wrong(
            "its hosts run different programs or features, and a page draws one program; record tables with --samples and --rates instead"
                .into(),
        ));
    }
    let path = args.program.clone().unwrap_or_else(|| PathBuf::from(&header.program));
    // What is said here goes before what the run was made with.
    let recorded = Some(&args.features)
        .filter(|given| given.with.is_empty() && given.without.is_empty() && given.over.is_none());
    // Those of the command are of the program at the hosts.
    let recorded = recorded.filter(|_| header.at.is_none()).and_then(|_| command_line::features(&header.run));
    let features = recorded.as_ref().unwrap_or(&args.features);
    let compiled = compile_choice(&path, &features.choice()).map_err(|e| match args.program {
        None => Failure::Usage(format!("{e}; or say with --program where the program of this run is")),
        Some(_) => e,
    })?;
    let program = compiled.program.clone().ok_or_else(|| {
        output::diagnostics(&compiled);
        Failure::Failed(output::summary(&compiled))
    })?;
    if format!("{:016x}", program.source_hash) != header.source_hash {
        return Err(changed(&path, &header));
    }
    let progress = output::progress("reading the run");
    let manifest = Manifest::of_trace(&header).drawn_by(args);
    let page = drawn(&header, lines, (&program, &compiled), &args.plot, &manifest, &wrong);
    progress.finish_and_clear();
    page
}

/// Draws the lines of a trace behind its header, which is of this program.
///
/// # Errors
/// Those of the lines; `wrong` if one is none of a trace, and [`Failure::Usage`] if the program has no such field.
pub fn drawn(
    header: &Header,
    lines: impl Iterator<Item = Result<String, Failure>>,
    (program, compiled): (&Program, &Compiled),
    fields: &[String],
    manifest: &Manifest,
    wrong: &dyn Fn(String) -> Failure,
) -> Result<String, Failure> {
    let mut reader = Reader::new(header, program, fields).map_err(Failure::Usage)?;
    for line in lines {
        reader.line(&line?).map_err(wrong)?;
    }
    Ok(carrick_report::page(&reader.finish(sources(compiled)), &manifest.to_string()))
}

/// Lines of a text that is not that of the run would point nowhere.
fn changed(path: &Path, header: &Header) -> Failure {
    Failure::Usage(format!(
        "{} is not as it was in the run; record it again ({} --trace RUN), or name the old text with --program",
        path.display(),
        header.run
    ))
}

fn sources(compiled: &Compiled) -> Vec<Source> {
    let all = &compiled.sources;
    let source =
        |n: usize| Source { name: all.name(n).to_owned(), text: all.text()[all.range(n)].to_owned() };
    (0..all.count()).map(source).collect()
}
