// SPDX-License-Identifier: MIT OR Apache-2.0
//! The user-space stack: a core in C, and a host for it on Linux devices.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use carrick_driver::built::{self, Built, Recipe};
use carrick_driver::cc::{self, Tracing};
use carrick_driver::stack::{Stack, StackRecords, Telling};
use carrick_driver::targets::{Cores, Host, Run, Target, TargetFile};
use carrick_driver::{Failure, build, cores};
use carrick_ir::Program;
use include_dir::{Dir, include_dir};

static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/native");

/// The target, and its host.
pub struct Native;

/// As it is listed.
pub static TARGET: Native = Native;

impl Target for Native {
    fn file(&self) -> &'static str {
        include_str!("target.toml")
    }

    fn emit(&self, _file: &TargetFile, program: &Program, dir: &Path) -> Result<String, Failure> {
        write(program, dir)?;
        compile(&program.name, dir, Tracing::Off)?;
        let (name, at) = (&program.name, dir.display());
        Ok(format!(
            "{at}: {name}.c, {name}.h, Makefile, lib{name}.a, lib{name}.so, {name}-host, libcarrick-sockets.so"
        ))
    }

    fn host(&self) -> Option<&dyn Host> {
        Some(self)
    }

    fn cores(
        &self,
        _file: &TargetFile,
        program: &Arc<Program>,
        _verbose: bool,
    ) -> Result<Box<dyn Cores>, Failure> {
        cores::compiled(program)
    }
}

impl Host for Native {
    fn options(&self) -> &'static str {
        "--port tun:NAME|packet:DEV|xdp:DEV|udp:LOCAL:PEER|unix:LOCAL:PEER|loop (a program in the network: one for \
         each interface), --addr A/LEN, \
         --app echo|http:DIR|get:URL:FILE|memory:IP|perf:IP:KIND:BYTES:COUNT|offload:SETTINGS, \
         --fault FAULTS, --pcap FILE, --set PARAM=VALUE, --gateway A, --peer A, --seed N, --user UID, --requests N, --spin; \
         `--port help` describes all"
    }

    fn run(&self, run: &Run<'_>) -> Result<ExitCode, Failure> {
        let host = host(run.program, Tracing::Off)?;
        Ok(Stack::start(host, |command| command.args(run.words).spawn())?.wait())
    }

    fn run_telling(&self, run: &Run<'_>) -> Result<(Stack, StackRecords), Failure> {
        let telling = Telling { program: run.program, args: run.words, env: &[], changes: run.changes };
        Stack::start_telling(&telling, || host(run.program, Tracing::On))
    }
}

/// Writes a whole project: generated core, runtime, host and applications.
///
/// # Errors
/// [`Failure::Usage`] if the folder cannot be written.
fn write(program: &Program, dir: &Path) -> Result<(), Failure> {
    build::write_core(program, dir)?;
    write_host(dir)
}

/// Writes the host and its applications to the folder `host` of a project.
///
/// # Errors
/// [`Failure::Usage`] if the folder cannot be written.
pub(crate) fn write_host(dir: &Path) -> Result<(), Failure> {
    build::write_tree(&FILES, &dir.join("host"))
}

/// Builds what [`write`] wrote: afterwards the folder has `libNAME.a`, `libNAME.so` and the executable `NAME-host`.
fn compile(name: &str, dir: &Path, tracing: Tracing) -> Result<(), Failure> {
    cc::make(dir, &["lib"], tracing, &format!("compiling the core of {name}"))?;
    cc::make(dir, &["host"], tracing, &format!("compiling the host of {name}"))
}

/// The host with the program's core within it.
///
/// # Errors
/// As [`Host::run`].
pub(crate) fn host(program: &Program, tracing: Tracing) -> Result<Built, Failure> {
    let kind = if tracing == Tracing::On { "telling" } else { "native" };
    let name = format!("{}-host", program.name);
    built::once(
        &Recipe::of_c(&name, kind),
        |dir| write(program, dir),
        |dir| compile(&program.name, dir, tracing),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `carrick run` accepts only these.
    #[test]
    fn all_options_of_the_stack_are_listed() {
        let text =
            FILES.get_file("apps/options.c").and_then(|file| file.contents_utf8()).expect("it is there");
        let read = text.split("strcmp(name, \"").skip(1).filter_map(|rest| rest.split('"').next());
        let read: Vec<&str> =
            read.filter(|name| !["--help", "-h", "--records", "--changes"].contains(name)).collect();
        assert!(read.len() > 10, "{read:?}");
        for name in read {
            assert!(
                Native.options().contains(&format!("{name} "))
                    || Native.options().contains(&format!("{name};")),
                "{name}"
            );
        }
    }
}
