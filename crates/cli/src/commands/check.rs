//! `carrick check`

use std::process::ExitCode;

use carrick_driver::{Compiled, Failure, compile_file, render, targets};
use serde_json::{Value, json};

use crate::args::Check;
use crate::output::{self, Format};

pub fn run(args: &Check) -> Result<ExitCode, Failure> {
    let target = args.target.as_deref().map(targets::find).transpose()?;
    let mut failed = false;
    let mut reports: Vec<Value> = Vec::new();
    for file in &args.files {
        let compiled = compile_file(file)?;
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
