//! `carrick check`

use std::process::ExitCode;

use std::path::Path;

use carrick_driver::compile::{combinations_of, compile_assembled};
use carrick_driver::{Choice, Compiled, Failure, compile_choice, render, targets};
use serde_json::{Value, json};

use crate::args::Check;
use crate::output::{self, Format};

pub fn run(args: &Check) -> Result<ExitCode, Failure> {
    let target = args.target.as_deref().map(targets::find).transpose()?;
    let mut failed = false;
    let mut reports: Vec<Value> = Vec::new();
    for file in &args.files {
        if args.combinations {
            let (right, report) = combinations(file, args.format)?;
            failed |= !right;
            reports.push(report);
            continue;
        }
        let compiled = compile_choice(file, &args.features.choice())?;
        let lacks = match (&target, &compiled.program) {
            (Some(target), Some(program)) => targets::lacks(target, program),
            _ => Vec::new(),
        };
        failed |= compiled.program.is_none() || !lacks.is_empty();
        match args.format {
            Format::Json => {
                let mut report = render::json(&compiled);
                report["lacks"] = json!(lacks);
                reports.push(report);
            }
            Format::Pretty => pretty(args, &compiled, &lacks),
        }
    }
    if args.format == Format::Json {
        output::json(&Value::Array(reports));
    }
    Ok(ExitCode::from(u8::from(failed)))
}

/// Compiles every combination of features; whether all are right, and what is to be said of them.
fn combinations(file: &Path, format: Format) -> Result<(bool, Value), Failure> {
    let (assembled, choices) = combinations_of(file)?;
    let name = file.display().to_string();
    let (mut wrong, mut reports, mut said) = (0, Vec::new(), Vec::new());
    let bar = output::progress_bar(choices.len() as u64, "checking");
    for choice in &choices {
        let mut compiled = compile_assembled(&name, &assembled, choice);
        bar.inc(1);
        wrong += usize::from(compiled.program.is_none());
        if format == Format::Json {
            let mut report = render::json(&compiled);
            report["with"] = json!(choice.with.iter().map(with).collect::<Vec<_>>());
            reports.push(report);
            continue;
        }
        // What is wrong with many combinations is said with the first of them.
        compiled.diagnostics.retain(|d| !said.contains(d));
        said.extend(compiled.diagnostics.iter().cloned());
        if !compiled.diagnostics.is_empty() {
            bar.suspend(|| {
                output::diagnostics(&compiled);
                eprintln!("{} {}\n", output::summary(&compiled), written(choice));
            });
        }
    }
    bar.finish_and_clear();
    if format == Format::Pretty {
        eprintln!("{name}: {} combinations of features, {wrong} with errors", choices.len());
    }
    Ok((wrong == 0, json!({ "file": name, "combinations": reports })))
}

fn with((name, option): &(String, Option<String>)) -> String {
    option.as_ref().map_or_else(|| name.clone(), |option| format!("{name}={option}"))
}

/// As the command line takes it.
fn written(choice: &Choice) -> String {
    let with: Vec<String> = choice.with.iter().map(with).collect();
    let say = |flag: &str, names: &[String]| match names {
        [] => String::new(),
        names => format!(" {flag} {}", names.join(",")),
    };
    format!("(check{}{})", say("--with", &with), say("--without", &choice.without))
}

fn pretty(args: &Check, compiled: &Compiled, lacks: &[String]) {
    output::diagnostics(compiled);
    for lack in lacks {
        eprintln!("error: {lack}");
    }
    match &compiled.program {
        Some(program) if args.ir => print!("{}", carrick_ir::print::print(program)),
        _ => eprintln!("{}", output::summary(compiled)),
    }
}
