// SPDX-License-Identifier: MIT OR Apache-2.0
//! `carrick doc`

use std::path::Path;
use std::process::ExitCode;

use carrick_doc::{Feature, Requirement};
use carrick_driver::compile::{features_of, read};
use carrick_driver::{Failure, written::replace};
use carrick_ir::{Program, Text};
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
    let requirements = requirements(&args.source.file.with_file_name("requirements.toml"))?;
    let page = carrick_doc::page(&program, &features(&program), &requirements);
    let output = args.output.clone().unwrap_or_else(|| format!("{}.html", program.name).into());
    replace(&output, page.as_bytes())?;
    println!("{}", output.display());
    Ok(ExitCode::SUCCESS)
}

/// All that builds may choose, in the order of the text.
fn features(program: &Program) -> Vec<Feature> {
    let chosen = |name: &str| {
        program.features.iter().map(Text::raw).find_map(|chosen| match chosen.split_once('=') {
            Some((feature, option)) => (feature == name).then_some(option),
            None => (chosen == name).then_some("yes"),
        })
    };
    let described = features_of(program).into_iter().map(|(feature, doc)| Feature {
        chosen: chosen(&feature.name.name).unwrap_or_default().to_owned(),
        name: feature.name.name,
        options: feature.options.into_iter().map(|option| option.name).collect(),
        builds: match (feature.always, feature.default) {
            (Some(_), _) => "always",
            (None, Some(_)) => "by default",
            (None, None) => "if chosen",
        },
        doc: doc.into(),
    });
    described.collect()
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
