// SPDX-License-Identifier: MIT OR Apache-2.0
//! `carrick merge`

use std::path::Path;
use std::process::ExitCode;

use carrick_driver::{Failure, written::replace};
use serde_json::Value;

use crate::args::Merge;
use crate::commands::fabric::{RUN, Shard};
use crate::commands::sweep;
use crate::manifest::{Form, Manifest};

/// What one shard made.
struct Part {
    shown: String,
    manifest: Manifest,
    shard: Shard,
    /// runs of all shards together
    total: u64,
    runs: Runs,
}

/// Its runs, in their order.
enum Runs {
    /// lines of a table, behind what names its columns
    Csv {
        head: String,
        runs: Vec<String>,
    },
    Json(Vec<Value>),
}

impl Runs {
    /// Both of tables with the same columns, or of none. A shard without a run does not tell them.
    fn like(&self, other: &Runs) -> bool {
        match (self, other) {
            (Runs::Csv { head, .. }, Runs::Csv { head: others, .. }) => head.is_empty() || head == others,
            (Runs::Json(_), Runs::Json(_)) => true,
            _ => false,
        }
    }

    fn len(&self) -> usize {
        match self {
            Runs::Csv { runs, .. } => runs.len(),
            Runs::Json(runs) => runs.len(),
        }
    }
}

pub fn run(args: &Merge) -> Result<ExitCode, Failure> {
    let mut parts: Vec<Part> = args.files.iter().map(|file| part(file)).collect::<Result<_, _>>()?;
    parts.sort_by_key(|part| part.shard.number);
    belong_together(&parts)?;
    let text = woven(parts)?;
    match &args.output {
        Some(file) => replace(file, text.as_bytes())?,
        None => print!("{text}"),
    }
    Ok(ExitCode::SUCCESS)
}

fn part(file: &Path) -> Result<Part, Failure> {
    let shown = file.display().to_string();
    let octets = std::fs::read(file).map_err(|e| Failure::Usage(format!("cannot read {shown}: {e}")))?;
    if octets.starts_with(sweep::outcome::FIRST.join(",").as_bytes()) {
        return Err(Failure::Usage(format!(
            "{shown} is a table of `carrick sweep`: say the sweep again, with --from {shown} for each of its parts in place of --shard"
        )));
    }
    let (form, all) = Manifest::read(&octets, &shown)?;
    let none = || Failure::Usage(format!("{shown} is not what one of several `carrick sim --shard` made"));
    let manifest = all.into_iter().next().ok_or_else(none)?;
    let shard = manifest.shard.as_deref().and_then(|shard| shard.split_once(" of "));
    let shard = shard.and_then(|(shard, runs)| Some((shard.parse().ok()?, runs.parse().ok()?)));
    let (shard, total) = shard.ok_or_else(none)?;
    let text = String::from_utf8(octets).map_err(|_| none())?;
    let runs = match form {
        Form::Table(_) => table(&text),
        Form::Json => {
            let mut all: Value = serde_json::from_str(&text).map_err(|_| none())?;
            match all["runs"].take() {
                Value::Array(runs) => Runs::Json(runs),
                _ => return Err(none()),
            }
        }
        Form::Trace | Form::TraceLines | Form::Pcap | Form::Page | Form::Drawing | Form::Picture => {
            return Err(none());
        }
    };
    Ok(Part { shown, manifest, shard, total, runs })
}

/// The runs of a table of a shard: a line stands before each.
fn table(text: &str) -> Runs {
    let mut lines = text.lines().skip_while(|line| line.starts_with('#'));
    let head = lines.next().unwrap_or_default().to_owned();
    let mut runs: Vec<String> = Vec::new();
    for line in lines {
        if line.starts_with(RUN) {
            runs.push(String::new());
        } else if let Some(run) = runs.last_mut() {
            run.extend([line, "\n"]);
        }
    }
    Runs::Csv { head, runs }
}

/// All shards of the same runs, each once; `parts` are in their order.
fn belong_together(parts: &[Part]) -> Result<(), Failure> {
    let [first, others @ ..] = parts else { return Ok(()) };
    let plain = |part: &Part| Manifest { shard: None, ..part.manifest.clone() };
    let stranger = others.iter().find(|part| {
        plain(part) != plain(first)
            || (part.shard.of, part.total) != (first.shard.of, first.total)
            || !part.runs.like(&first.runs)
    });
    if let Some(part) = stranger {
        return Err(Failure::Failed(format!(
            "{} and {} are not shards of the same runs",
            first.shown, part.shown
        )));
    }
    let of = first.shard.of;
    if let Some(twice) = parts.windows(2).find(|pair| pair[0].shard == pair[1].shard) {
        let [a, b] = [&twice[0].shown, &twice[1].shown];
        return Err(Failure::Failed(format!("{a} and {b} are the same shard ({})", twice[0].shard)));
    }
    let missing = (1..=of).zip(parts.iter().map(Some).chain(std::iter::repeat(None)));
    let missing = missing.into_iter().find(|(n, part)| part.is_none_or(|part| part.shard.number != *n));
    if let Some((n, _)) = missing {
        return Err(Failure::Failed(format!("shard {n}/{of} is missing")));
    }
    if let Some(cut) = parts.iter().find(|part| part.runs.len() as u64 != part.shard.share(part.total)) {
        return Err(Failure::Failed(format!("{} has not all of its runs", cut.shown)));
    }
    Ok(())
}

/// The artefact of all runs.
fn woven(parts: Vec<Part>) -> Result<String, Failure> {
    let Some(first) = parts.first() else { return Ok(String::new()) };
    let manifest = Manifest { shard: None, ..first.manifest.clone() };
    let rounds = first.runs.len();
    let mut text = String::new();
    if let Runs::Csv { head, .. } = &first.runs {
        manifest.to_string().lines().for_each(|line| text.extend(["# ", line, "\n"]));
        text.extend([head, "\n"]);
    }
    let mut objects = Vec::new();
    for round in 0..rounds {
        for part in &parts {
            match &part.runs {
                Runs::Csv { runs, .. } => text.extend(runs.get(round).map(String::as_str)),
                Runs::Json(runs) => objects.extend(runs.get(round).cloned()),
            }
        }
    }
    if matches!(first.runs, Runs::Csv { .. }) {
        return Ok(text);
    }
    let mut all = manifest.json();
    all["runs"] = Value::Array(objects);
    Ok(format!("{all:#}\n"))
}
