//! `carrick targets`

use std::collections::BTreeSet;
use std::process::ExitCode;

use carrick_driver::{Failure, targets};
use serde_json::json;

use crate::args::Targets;
use crate::output::{self, Format};

pub fn run(args: &Targets) -> Result<ExitCode, Failure> {
    let all = targets::all();
    if args.format == Format::Json {
        output::json(&json!(all));
        return Ok(ExitCode::SUCCESS);
    }
    for target in &all {
        println!("{:<8} {}", target.name, target.description);
    }
    println!();
    let names: BTreeSet<&String> = all.iter().flat_map(|t| &t.instructions).collect();
    print!("{:<24}", "instruction");
    all.iter().for_each(|t| print!("{:<8}", t.name));
    println!();
    for name in names {
        print!("{name:<24}");
        all.iter().for_each(|t| print!("{:<8}", if t.instructions.contains(name) { "yes" } else { "-" }));
        println!();
    }
    Ok(ExitCode::SUCCESS)
}
