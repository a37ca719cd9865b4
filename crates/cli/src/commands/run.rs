// SPDX-License-Identifier: MIT OR Apache-2.0
//! `carrick run`

use std::path::Path;
use std::process::ExitCode;

use carrick_driver::targets::{self, Host, Targets};
use carrick_driver::{Failure, params};
use carrick_sim::trace::{Form, Head, Writer};
use carrick_syntax::suggest::nearest;
use clap::{Command, CommandFactory};

use crate::args::{Args, Run};
use crate::load::load_for;
use crate::manifest::words;
use crate::output;

pub fn run(args: &Run, targets: Targets) -> Result<ExitCode, Failure> {
    let (target, host) = (targets.find(&args.target)?, host(targets, &args.target)?);
    let (file, choice) = (&args.source.file, args.source.features.choice());
    known(host, &args.stack)?;
    let program = load_for(file, &choice, Some(&targets.against(target)))?;
    let settings = args.stack.windows(2).filter(|words| words[0] == "--set").map(|words| words[1].clone());
    params::values(&program, &settings.collect::<Vec<_>>())?;
    let run = targets::Run { program: &program, words: &args.stack, verbose: args.verbose, changes: false };
    match &args.trace {
        Some(file) => traced(host, &run, file, args.trace_format.into()),
        None => host.run(&run),
    }
}

/// Checks the names of the stack's options, before a stack is compiled.
fn known(host: &dyn Host, words: &[String]) -> Result<(), Failure> {
    let names = option_names(host.options());
    let unknown =
        words.iter().find(|word| word.starts_with("--") && *word != "--help" && !names.contains(&&***word));
    let Some(unknown) = unknown else { return Ok(()) };
    let own = Args::command();
    let own = own.find_subcommand("run").into_iter().flat_map(Command::get_arguments);
    let own: Vec<String> = own.filter_map(|arg| Some(format!("--{}", arg.get_long()?))).collect();
    let near = nearest(unknown, names.into_iter().chain(own.iter().map(|name| &**name)));
    let hint =
        near.map_or_else(|| "`carrick run --help` lists them".to_owned(), |n| format!("did you mean `{n}`?"));
    Err(Failure::Usage(format!("`carrick run` has no option `{unknown}`; {hint}")))
}

/// Returns the options that a text names, each once or more.
pub fn option_names(text: &str) -> Vec<&str> {
    let words = text.split(|c: char| c != '-' && !c.is_ascii_lowercase());
    words.filter(|word| word.starts_with("--")).collect()
}

/// How programs run on the target with this name.
///
/// # Errors
/// [`Failure::Usage`] if others run what is built for it.
pub fn host(targets: Targets, name: &str) -> Result<&'static dyn Host, Failure> {
    targets.find(name)?.host().ok_or_else(|| {
        Failure::Usage(format!("`carrick run` does not run programs on {name}; choose another --target"))
    })
}

/// Runs, and writes what the stack tells.
fn traced(host: &dyn Host, run: &targets::Run<'_>, file: &Path, form: Form) -> Result<ExitCode, Failure> {
    let out = output::create_file(file)?;
    let (stack, mut records) = host.run_telling(run)?;
    let program = run.program;
    let seed = records.configs.first().map_or(0, |config| config.seed);
    let run = words::command_line();
    let head = Head { cores: &records.configs, ..Head::new(program, seed, &run) };
    let mut trace = Writer::new(form, out, &head);
    let told = records.tell(&mut trace);
    // Whoever is no longer listened to is not to wait for that.
    drop(records);
    let ended = stack.wait();
    output::written(Some(file), trace.finish())?;
    told.map_err(Failure::Failed)?;
    Ok(ended)
}
