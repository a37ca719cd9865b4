// SPDX-License-Identifier: MIT OR Apache-2.0
//! `carrick targets`

use std::collections::BTreeSet;
use std::process::ExitCode;

use carrick_driver::Failure;
use carrick_driver::targets::limits::LIMITS;
use carrick_driver::targets::{ANY, TargetFile, Targets};
use serde_json::json;

use crate::args;
use crate::output::{self, Format};

pub fn run(args: &args::Targets, targets: Targets) -> Result<ExitCode, Failure> {
    let all = targets.files();
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
    table("engine of ports", &all, |t| &t.engines);
    limits(&all);
    Ok(ExitCode::SUCCESS)
}

/// Which numbers programs must not exceed where.
fn limits(all: &[TargetFile]) {
    head("limit", all);
    for limit in LIMITS.iter().filter(|l| all.iter().any(|t| t.limits.contains_key(l.name))) {
        print!("{:<24}", limit.name);
        let said = |t: &TargetFile| t.limits.get(limit.name).map_or_else(|| "-".to_owned(), u64::to_string);
        all.iter().for_each(|t| print!("{:<8}", said(t)));
        println!();
    }
}

fn head(what: &str, all: &[TargetFile]) {
    println!();
    print!("{what:<24}");
    all.iter().for_each(|t| print!("{:<8}", t.name));
    println!();
}

/// Which target has what. One whose list is for any word has every word that another one has.
fn table(what: &str, all: &[TargetFile], of: impl Fn(&TargetFile) -> &Vec<String>) {
    head(what, all);
    let names: BTreeSet<&String> = all.iter().flat_map(&of).filter(|word| *word != ANY).collect();
    for name in names {
        print!("{name:<24}");
        let has = |t: &TargetFile| of(t).iter().any(|word| word == ANY || word == name);
        all.iter().for_each(|t| print!("{:<8}", if has(t) { "yes" } else { "-" }));
        println!();
    }
}
