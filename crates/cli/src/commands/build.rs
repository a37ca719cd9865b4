// SPDX-License-Identifier: MIT OR Apache-2.0
//! `carrick build`

use std::process::ExitCode;

use carrick_driver::Failure;
use carrick_driver::explain_offloads::Offloads;
use carrick_driver::explain_placement::Explained;
use carrick_driver::targets::{Against, Targets};
use serde_json::Value;

use crate::args::Build;
use crate::load::load;
use crate::load::load_for;
use crate::output::{self, Format};

pub fn run(args: &Build, targets: Targets) -> Result<ExitCode, Failure> {
    let against = targets.named(&args.target)?;
    let Some(dir) = &args.output else { return explain(args, &against) };
    let source = &args.source;
    let program = load_for(&source.file, &source.features.choice(), Some(&against))?;
    println!("{}", against.emit(&program, dir)?);
    Ok(ExitCode::SUCCESS)
}

/// Also of what the target lacks something for: where it would run is a question of its own.
fn explain(args: &Build, against: &Against) -> Result<ExitCode, Failure> {
    let program = load(&args.source)?;
    if args.explain_offloads {
        let offloads = Offloads::new(&program, &against.file)?;
        say(args.format, || offloads.pretty(), || offloads.json());
    } else {
        let explained = Explained::new(&program, &against.file);
        say(args.format, || explained.pretty(), || explained.json());
    }
    Ok(ExitCode::SUCCESS)
}

fn say(format: Format, pretty: impl Fn() -> String, json: impl Fn() -> Value) {
    match format {
        Format::Pretty => print!("{}", pretty()),
        Format::Json => output::json(&json()),
    }
}
