// SPDX-License-Identifier: MIT OR Apache-2.0
//! `carrick check`

use std::process::ExitCode;

use std::path::Path;

use carrick_driver::compile::{combinations_of, compile_assembled};
use carrick_driver::targets::{Against, Targets};
use carrick_driver::{Choice, Compiled, Failure, Over, compile_for, parts, render};
use serde_json::{Value, json};

use crate::args::Check;
use crate::output::{self, Format};

pub fn run(args: &Check, targets: Targets) -> Result<ExitCode, Failure> {
    let target = args.target.as_deref().map(|name| targets.named(name)).transpose()?;
    let mut failed = false;
    let mut reports: Vec<Value> = Vec::new();
    for file in &args.files {
        if args.combinations {
            let (right, report) =
                combinations(file, args.features.choice().over, target.as_ref(), args.format)?;
            failed |= !right;
            reports.push(report);
            continue;
        }
        let compiled = compile_for(file, &args.features.choice(), target.as_ref())?;
        failed |= compiled.program.is_none();
        match args.format {
            Format::Json => reports.push(render::json(&compiled)),
            Format::Pretty => pretty(args, &compiled),
        }
    }
    if args.format == Format::Json {
        output::json(&Value::Array(reports));
    }
    Ok(ExitCode::from(u8::from(failed)))
}

/// Compiles every combination of features; whether all are right, and what is to be said of them.
fn combinations(
    file: &Path,
    over: Over,
    target: Option<&Against>,
    format: Format,
) -> Result<(bool, Value), Failure> {
    let (assembled, choices) = combinations_of(file, over)?;
    let name = file.display().to_string();
    let (mut wrong, mut reports, mut said) = (0, Vec::new(), Vec::new());
    let bar = output::progress_bar(choices.len() as u64, "checking");
    for choice in &choices {
        let mut compiled = compile_assembled(&name, &assembled, choice, target);
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
    let over = if choice.over == Over::Ipv6 { " --over ipv6" } else { "" };
    format!("(check{}{}{over})", say("--with", &with), say("--without", &choice.without))
}

fn pretty(args: &Check, compiled: &Compiled) {
    output::diagnostics(compiled);
    match &compiled.program {
        Some(program) if args.ir => print!("{}", carrick_ir::print::print(program)),
        _ => eprintln!("{}", output::summary(compiled)),
    }
    if compiled.program.is_none()
        && let Some(program) = parts::program_of(Path::new(&compiled.file))
    {
        eprintln!("{} is a part of {}: check that", compiled.file, program.display());
    }
}
