//! `carrick targets`

use std::collections::BTreeSet;
use std::process::ExitCode;

use carrick_driver::targets::Target;
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
    table("instruction", &all, |t| &t.instructions);
    table("block for packets", &all, |t| &t.blocks);
    table("block for events", &all, |t| &t.event_blocks);
    Ok(ExitCode::SUCCESS)
}

/// Which target has what.
fn table(what: &str, all: &[Target], of: impl Fn(&Target) -> &Vec<String>) {
    println!();
    print!("{what:<24}");
    all.iter().for_each(|t| print!("{:<8}", t.name));
    println!();
    let names: BTreeSet<&String> = all.iter().flat_map(&of).collect();
    for name in names {
        print!("{name:<24}");
        all.iter().for_each(|t| print!("{:<8}", if of(t).contains(name) { "yes" } else { "-" }));
        println!();
    }
}
