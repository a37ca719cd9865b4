//! `carrick repro`

use std::path::Path;
use std::process::{Command, ExitCode, Output};

use carrick_driver::Failure;

use crate::args::Repro;
use crate::manifest::{Form, Manifest, VERSION, words};

/// Letters of a line that are shown where two differ.
const SHOWN: usize = 160;
/// What a result tells of the machine that made it.
const OF_THE_MACHINE: &str = "  \"wall_seconds\": ";

pub fn run(args: &Repro) -> Result<ExitCode, Failure> {
    let mut same = true;
    for file in &args.files {
        same &= one(file)?;
    }
    Ok(ExitCode::from(u8::from(!same)))
}

/// Whether a file comes out again as it is; says so.
fn one(file: &Path) -> Result<bool, Failure> {
    let shown = file.display().to_string();
    let before = std::fs::read(file).map_err(|e| Failure::Usage(format!("cannot read {shown}: {e}")))?;
    let (form, manifest) = Manifest::read(&before, &shown)?;
    if !manifest.arguments.starts_with("sim ") {
        let why = format!(
            "{shown} is of `carrick {}`, and only a simulation can be made again",
            manifest.arguments
        );
        return Err(Failure::Usage(why));
    }
    if manifest.version != VERSION {
        eprintln!("{shown} was made by carrick {}, and this is {VERSION}", manifest.version);
    }
    let after = again(form, &manifest)?;
    match difference(form, &before, &after) {
        None => println!("{shown}: the same"),
        Some(difference) => {
            println!("{shown}: not as it was\n{difference}");
            return Ok(false);
        }
    }
    Ok(true)
}

/// Makes it.
fn again(form: Form, manifest: &Manifest) -> Result<Vec<u8>, Failure> {
    let folder = tempfile::tempdir().map_err(|e| Failure::Failed(format!("no folder to work in: {e}")))?;
    let place = folder.path().join("again").display().to_string();
    let mut arguments = words::split(&manifest.arguments);
    if let Some((shard, _)) = manifest.shard.as_deref().and_then(|shard| shard.split_once(" of ")) {
        arguments.extend(["--shard".to_owned(), shard.to_owned()]);
    }
    let wanted = match form {
        Form::Csv => ["--csv", &place],
        Form::Rates => ["--rates", &place],
        Form::Json => ["--format", "json"],
        Form::Trace | Form::Page => ["--trace", &place],
        Form::Pcap => ["--pcap", &place],
    };
    arguments.extend(wanted.map(str::to_owned));
    let output = carrick(&arguments)?;
    if form == Form::Json {
        return Ok(output.stdout);
    }
    let mut made = place;
    if form == Form::Page {
        let page = format!("{made}.html");
        let mut arguments = ["report", &made, "-o", &page].map(str::to_owned).to_vec();
        arguments.extend(words::split(manifest.report.as_deref().unwrap_or_default()));
        carrick(&arguments)?;
        made = page;
    }
    std::fs::read(&made).map_err(|e| Failure::Failed(format!("cannot read what was made again: {e}")))
}

/// Runs this command. What failed in a simulation is part of its result.
fn carrick(arguments: &[String]) -> Result<Output, Failure> {
    let cannot = |e: std::io::Error| Failure::Failed(format!("cannot start carrick again: {e}"));
    let output =
        Command::new(std::env::current_exe().map_err(cannot)?).args(arguments).output().map_err(cannot)?;
    let said = String::from_utf8_lossy(&output.stderr);
    let told = || format!("`carrick {}`: {}", words::join(arguments.to_vec()), said.trim_end());
    match output.status.code() {
        Some(0) => Ok(output),
        // A run in which something failed is told of on standard output; where none was made, there is nothing.
        Some(1) if !output.stdout.is_empty() => Ok(output),
        Some(2) => Err(Failure::Usage(told())),
        Some(3) => Err(Failure::Missing(told())),
        _ => Err(Failure::Failed(told())),
    }
}

/// The first place where two artefacts differ, in words.
fn difference(form: Form, before: &[u8], after: &[u8]) -> Option<String> {
    if before == after {
        return None;
    }
    if form == Form::Pcap {
        let at = before.iter().zip(after).take_while(|(a, b)| a == b).count();
        let (old, new) = (before.len(), after.len());
        return Some(format!("octet {at} is the first that differs; it had {old} octets and has {new}"));
    }
    let [old, new] = [before, after].map(String::from_utf8_lossy);
    let lines = |text| str::lines(text).filter(|line| !line.starts_with(OF_THE_MACHINE));
    let (mut old, mut new) = (lines(&old), lines(&new));
    for number in 1_usize.. {
        match (old.next(), new.next()) {
            (None, None) => return None,
            (a, b) if a != b => {
                let line = |sign, line: Option<&str>| {
                    let line = line.unwrap_or("(the end)");
                    format!("{sign} {}", line.chars().take(SHOWN).collect::<String>())
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
