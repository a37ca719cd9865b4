// SPDX-License-Identifier: MIT OR Apache-2.0
//! `carrick doc`

use std::path::Path;
use std::process::ExitCode;

use carrick_doc::Requirement;
use carrick_driver::{Failure, compile::read, written::replace};
use serde::Deserialize;

use crate::args::Doc;
use crate::load::load;

/// What stands in a `requirements.toml`, as far as a page needs it.
#[derive(Deserialize)]
struct Requirements {
    #[serde(default)]
    requirement: Vec<Requirement>,
}

pub fn run(args: &Doc) -> Result<ExitCode, Failure> {
    let program = load(&args.source)?;
    let page =
        carrick_doc::page(&program, &requirements(&args.source.file.with_file_name("requirements.toml"))?);
    let output = args.output.clone().unwrap_or_else(|| format!("{}.html", program.name).into());
    replace(&output, page.as_bytes())?;
    println!("{}", output.display());
    Ok(ExitCode::SUCCESS)
}

/// None where there is no such file.
fn requirements(path: &Path) -> Result<Vec<Requirement>, Failure> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let parsed: Result<Requirements, _> = toml::from_str(&read(path)?);
    let all = parsed.map_err(|e| Failure::Usage(format!("{}: {e}", path.display())))?;
    Ok(all.requirement)
}
