//! `carrick run`

use std::process::{Command, ExitCode};

use carrick_driver::{Failure, build};

use crate::args::Run;
use crate::output;

pub fn run(args: &Run) -> Result<ExitCode, Failure> {
    let program = super::load(&args.source)?;
    let dir = tempfile::Builder::new()
        .prefix("carrick-run-")
        .tempdir()
        .map_err(|e| Failure::Missing(format!("cannot make a temporary folder: {e}; set TMPDIR")))?;
    let progress = output::progress("compiling the generated C and the host");
    let built = build::native(&program, dir.path());
    progress.finish_and_clear();
    built?;
    let host = dir.path().join(format!("{}-host", program.name));
    let status = Command::new(&host)
        .args(&args.stack)
        .status()
        .map_err(|e| Failure::Missing(format!("cannot start {}: {e}", host.display())))?;
    let code = status.code().and_then(|c| u8::try_from(c).ok()).unwrap_or(1);
    Ok(ExitCode::from(code))
}
