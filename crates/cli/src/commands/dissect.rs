// SPDX-License-Identifier: MIT OR Apache-2.0
//! `carrick dissect`

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use carrick_driver::{Failure, params, written::replace};

use crate::args::Dissect;
use crate::load::load;

pub fn run(args: &Dissect) -> Result<ExitCode, Failure> {
    let program = load(&args.source)?;
    let values = params::values(&program, &args.set)?;
    let script = carrick_dissect::dissector(&program, &values)
        .map_err(|what| Failure::Failed(format!("{}: {what}", args.source.file.display())))?;
    if args.output.as_deref() == Some(Path::new("-")) {
        print!("{script}");
        return Ok(ExitCode::SUCCESS);
    }
    let output = args.output.clone().unwrap_or_else(|| PathBuf::from(format!("{}.lua", program.name)));
    replace(&output, script.as_bytes())?;
    println!("{}", output.display());
    Ok(ExitCode::SUCCESS)
}
