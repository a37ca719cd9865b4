// SPDX-License-Identifier: MIT OR Apache-2.0
//! `carrick repro`

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, ExitCode, Output};

use carrick_driver::{Failure, files};
use carrick_report::Input;

use crate::args::Repro;
use crate::manifest::allowed::{Request, printable, table_file};
use crate::manifest::{Form, Manifest, VERSION, words};
use crate::recorded;

/// Letters of a line that are shown where two differ.
const SHOWN: usize = 160;
/// What a result tells of the machine that made it.
const OF_THE_MACHINE: &str = "  \"wall_seconds\": ";

pub fn run(args: &Repro) -> Result<ExitCode, Failure> {
    let mut same = true;
    for file in &args.files {
        same &= one(file, args)?;
    }
    Ok(ExitCode::from(u8::from(!same)))
}

/// Whether a file comes out again as it is; says so.
fn one(file: &Path, args: &Repro) -> Result<bool, Failure> {
    let shown = file.display().to_string();
    let before = std::fs::read(file).map_err(|e| Failure::Usage(format!("cannot read {shown}: {e}")))?;
    let (form, all) = Manifest::read(&before, &shown)?;
    for manifest in &all {
        if manifest.version != VERSION {
            let version = printable(&manifest.version);
            eprintln!("{shown} was made by carrick {version}, and this is {VERSION}");
        }
    }
    let after = Again { shown: &shown, args, form }.made(&all)?;
    match difference(form, &before, &after) {
        None => println!("{shown}: the same"),
        Some(difference) => {
            println!("{shown}: not as it was");
            let now = Manifest::read(&after, &shown).map_or(Vec::new(), |(_, now)| now);
            for file in changed(&all, &now) {
                println!("{} has changed", printable(file));
            }
            println!("{difference}");
            return Ok(false);
        }
    }
    Ok(true)
}

/// The files that have other hashes now.
fn changed<'a>(before: &'a [Manifest], now: &[Manifest]) -> BTreeSet<&'a str> {
    let mut changed = BTreeSet::new();
    for (was, is) in before.iter().zip(now) {
        if was.source_hash != is.source_hash {
            changed.insert(was.program.as_str());
        }
        let same = |input: &&Input| is.inputs.iter().any(|i| i == *input);
        changed.extend(was.inputs.iter().filter(|input| !same(input)).map(|input| input.file.as_str()));
    }
    changed
}

/// An artefact that is made again.
struct Again<'a> {
    shown: &'a str,
    args: &'a Repro,
    form: Form,
}

impl Again<'_> {
    fn made(&self, all: &[Manifest]) -> Result<Vec<u8>, Failure> {
        let folder = tempfile::tempdir().map_err(cannot_work)?;
        let mut files = Vec::new();
        for (number, manifest) in all.iter().enumerate() {
            // Files are called as they were: drawings tell their names.
            let place = folder.path().join(number.to_string());
            std::fs::create_dir(&place).map_err(cannot_work)?;
            let name = manifest.table.as_ref().map(|table| table_file(self.shown, table)).transpose()?;
            let file = place.join(name.as_deref().unwrap_or("again")).display().to_string();
            let output = self.simulated(manifest, &place, &file)?;
            if self.form == Form::Json {
                return Ok(output.stdout);
            }
            files.push(file);
        }
        let drawn = all.first().and_then(|manifest| manifest.drawn.as_deref());
        let made = match drawn {
            None => files.pop().unwrap_or_default(),
            Some(command) => {
                let name = match self.form {
                    Form::Drawing => "drawn.svg",
                    Form::Picture => "drawn.png",
                    _ => "drawn",
                };
                let made = folder.path().join(name).display().to_string();
                let (held, to) = (words::split(command), vec![("output", made.clone())]);
                carrick(
                    &Request { shown: self.shown, permitted: self.args, held, to, files }.drawing()?,
                    self.args,
                )?;
                made
            }
        };
        std::fs::read(&made).map_err(|e| Failure::Failed(format!("cannot read what was made again: {e}")))
    }

    /// Makes a run again, with its result in a file; what else a run writes goes into the same folder.
    fn simulated(&self, manifest: &Manifest, place: &Path, file: &str) -> Result<Output, Failure> {
        let wanted = match (self.form, manifest.table.as_ref().map(|(kind, _)| *kind)) {
            (Form::Table(kind), _) | (_, Some(kind)) => kind.option(),
            (Form::Json, _) => "format",
            (Form::Pcap, _) => "pcap",
            _ => "trace",
        };
        let held = words::split(&manifest.arguments);
        let value = if wanted == "format" { "json" } else { file };
        let mut to = vec![(wanted, value.to_owned())];
        if self.form == Form::TraceLines {
            to.push(("trace-format", "json".to_owned()));
        }
        let shard = manifest.shard.as_deref().and_then(|shard| shard.split_once(" of "));
        to.extend(shard.map(|(shard, _)| ("shard", shard.to_owned())));
        // It says whose trace is written, and the parser wants a file with it.
        let says_whose = held.iter().any(|word| word == "--trace-at" || word.starts_with("--trace-at="));
        if says_whose && wanted != "trace" {
            to.push(("trace", place.join("trace").display().to_string()));
        }
        // The interval and the field of tables are of no use without one.
        let says = |option: &str| held.iter().any(|word| word.split('=').next() == Some(option));
        if says("--sample") && wanted != "samples" {
            to.push(("samples", place.join("samples").display().to_string()));
        } else if says("--every") && wanted != "rates" && !says("--sample") {
            to.push(("rates", place.join("rates").display().to_string()));
        }
        let request = Request { shown: self.shown, permitted: self.args, held, to, files: Vec::new() };
        carrick(&request.simulation()?, self.args)
    }
}

fn cannot_work(error: std::io::Error) -> Failure {
    Failure::Failed(format!("no folder to work in: {error}"))
}

/// Runs this command, which reads what a manifest names only where it may. What failed in a simulation is part of its result.
fn carrick(arguments: &[String], permitted: &Repro) -> Result<Output, Failure> {
    let cannot = |e: std::io::Error| Failure::Failed(format!("cannot start carrick again: {e}"));
    let mut again = Command::new(std::env::current_exe().map_err(cannot)?);
    if !permitted.outside {
        again.env(files::WITHIN, ".");
    }
    let output = again.args(arguments).output().map_err(cannot)?;
    let said = String::from_utf8_lossy(&output.stderr);
    let told = || format!("`carrick {}`: {}", printable(&words::join(arguments.to_vec())), said.trim_end());
    match output.status.code() {
        Some(0) => Ok(output),
        // A run in which something failed is told of on standard output; where none was made, there is nothing.
        Some(1) if !output.stdout.is_empty() => Ok(output),
        Some(2) => Err(Failure::Usage(told())),
        Some(3) => Err(Failure::Missing(told())),
        _ => Err(Failure::Failed(told())),
    }
}

/// The first byte that differs.
fn of_octets(before: &[u8], after: &[u8]) -> String {
    let at = before.iter().zip(after).take_while(|(a, b)| a == b).count();
    let (old, new) = (before.len(), after.len());
    format!("byte {at} is the first that differs; it had {old} bytes and has {new}")
}

/// The first place where two artefacts differ, in words.
fn difference(form: Form, before: &[u8], after: &[u8]) -> Option<String> {
    if before == after {
        return None;
    }
    if matches!(form, Form::Pcap | Form::Picture) {
        return Some(of_octets(before, after));
    }
    let text = |octets| match form {
        Form::Trace => recorded::as_lines(octets).map(Cow::Owned),
        _ => Some(String::from_utf8_lossy(octets)),
    };
    let [Some(old), Some(new)] = [text(before), text(after)] else { return Some(of_octets(before, after)) };
    let lines = |text| str::lines(text).filter(|line| !line.starts_with(OF_THE_MACHINE));
    let (mut old, mut new) = (lines(&old), lines(&new));
    for number in 1_usize.. {
        match (old.next(), new.next()) {
            (None, None) => return None,
            (a, b) if a != b => {
                let line = |sign, line: Option<&str>| {
                    let line = line.unwrap_or("(the end)");
                    format!("{sign} {}", printable(&line.chars().take(SHOWN).collect::<String>()))
                };
                return Some(format!(
                    "line {number} is the first that differs:\n{}\n{}",
                    line('-', a),
                    line('+', b)
                ));
            }
            _ => {}
        }
    }
    None
}
