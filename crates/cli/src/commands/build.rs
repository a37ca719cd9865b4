//! `carrick build`

use std::process::ExitCode;

use carrick_driver::explain_placement::Explained;
use carrick_driver::targets::Target;
use carrick_driver::{Failure, build, targets};

use crate::args::Build;
use crate::output::{self, Format};

pub fn run(args: &Build) -> Result<ExitCode, Failure> {
    let target = targets::find(&args.target)?;
    let Some(dir) = &args.output else { return explain(args, &target) };
    let source = &args.source;
    let program = super::load_for(&source.file, &source.features.choice(), Some(&target))?;
    let progress = output::progress("compiling what was generated");
    let built = build::for_target(&target.name, &program, dir);
    progress.finish_and_clear();
    println!("{}", built?);
    if target.linux.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    let object = dir.join(format!("{}.bpf.o", program.name));
    let need = carrick_kernel::needs::of(&object).map_err(Failure::Failed)?;
    println!("it needs Linux {need}, or a later one");
    Ok(ExitCode::SUCCESS)
}

/// Also of what the target lacks something for: where it would run is a question of its own.
fn explain(args: &Build, target: &Target) -> Result<ExitCode, Failure> {
    let program = super::load(&args.source)?;
    let explained = Explained::new(&program, target);
    match args.format {
        Format::Pretty => print!("{}", explained.pretty()),
        Format::Json => output::json(&explained.json()),
    }
    Ok(ExitCode::SUCCESS)
}
