//! `carrick build`

use std::process::ExitCode;

use carrick_driver::{Failure, build, targets};

use crate::args::Build;
use crate::output;

pub fn run(args: &Build) -> Result<ExitCode, Failure> {
    let target = targets::find(&args.target)?;
    let source = &args.source;
    let program = super::load_for(&source.file, &source.features.choice(), Some(&target))?;
    let progress = output::progress("compiling the generated C and the host");
    let built = build::for_target(&target.name, &program, &args.output);
    progress.finish_and_clear();
    println!("{}", built?);
    Ok(ExitCode::SUCCESS)
}
