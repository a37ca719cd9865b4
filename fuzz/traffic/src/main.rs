// SPDX-License-Identifier: MIT OR Apache-2.0
//! Writes what the fuzzer of compiled cores is made of: the core of a program in C, and `traffic.h`, what packets of it look
//! like: packets that runs in the simulator made, and where fields are in them.
//!
//! `carrick-fuzz-traffic PROGRAM.mtp FOLDER [ENDS.mtp...]`; the runs of a program in the network are those of ENDS through it.

mod header;
mod record;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use carrick_driver::{build, compile_file};
use carrick_ir::Program;

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(program), Some(dir)) = (words.next(), words.next()) else {
        eprintln!("say a program, the folder to write, and programs of ends");
        return ExitCode::from(2);
    };
    match write(&program, &dir, &words.collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{}: {why}", program.display());
            ExitCode::FAILURE
        }
    }
}

fn write(program: &Path, dir: &Path, ends: &[PathBuf]) -> Result<(), String> {
    let program = load(program)?;
    build::write_core(&program, dir).map_err(|e| e.to_string())?;
    let ends = match program.in_network {
        Some(_) => ends.iter().map(|file| load(file)).collect::<Result<_, _>>()?,
        None => vec![program.clone()],
    };
    let packets = record::packets(&program, &ends)?;
    let text = header::text(&program, &packets);
    let out = dir.join("traffic.h");
    std::fs::write(&out, text).map_err(|e| format!("cannot write {}: {e}", out.display()))
}

fn load(file: &Path) -> Result<Arc<Program>, String> {
    let compiled = compile_file(file).map_err(|e| e.to_string())?;
    compiled.program.ok_or_else(|| format!("{} is wrong: look at it with `carrick check`", file.display()))
}
