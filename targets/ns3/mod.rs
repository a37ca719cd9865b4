// SPDX-License-Identifier: MIT OR Apache-2.0
//! The network simulator ns-3: a program as a protocol of its nodes, with sockets for its applications.

mod cores;
mod types;

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use carrick_driver::targets::{Cores, Target, TargetFile};
use carrick_driver::{Failure, build, cc};
use carrick_ir::Program;
use include_dir::{Dir, include_dir};

static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/ns3");

/// How Debian brings what is needed.
const INSTALL: &str = "apt-get install libns3-dev cmake pkg-config g++";

/// What CMake takes for more than a part of a path, also in the projects with which it tries compilers.
const MEANT_BY_CMAKE: [&str; 11] = ["\"", "\\", ";", "|", "[", "]", ":", "${", "$<", "$ENV{", "$CACHE{"];

/// The target.
pub struct Ns3;

/// As it is listed.
pub static TARGET: Ns3 = Ns3;

impl Target for Ns3 {
    fn file(&self) -> &'static str {
        include_str!("target.toml")
    }

    fn emit(&self, _file: &TargetFile, program: &Program, dir: &Path) -> Result<String, Failure> {
        build::write_core(program, dir)?;
        write_host(dir)?;
        for (name, text) in types::of(program) {
            build::write(&dir.join(name), text.as_bytes())?;
        }
        make(dir)?;
        let (name, at) = (&program.name, dir.display());
        Ok(format!(
            "{at}: {name}.c, {name}.h, {name}-type.cc, CMakeLists.txt, model, helper, examples; build has the examples"
        ))
    }

    fn cores(
        &self,
        _file: &TargetFile,
        program: &Arc<Program>,
        _verbose: bool,
    ) -> Result<Box<dyn Cores>, Failure> {
        cores::of(program)
    }
}

/// Writes the host, which knows no program.
fn write_host(dir: &Path) -> Result<(), Failure> {
    build::write_tree(&FILES, dir)
}

/// Builds what was written, in the folder `build`.
fn make(dir: &Path) -> Result<(), Failure> {
    let at = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
    if let Some(meant) = MEANT_BY_CMAKE.iter().find(|meant| at.to_string_lossy().contains(**meant)) {
        let dir = dir.display();
        return Err(Failure::Usage(format!(
            "CMake cannot build in {dir}: it takes `{meant}` in a path for something else; choose another folder with -o"
        )));
    }
    let run = |words: &[&str], what: &str| {
        let mut command = Command::new("cmake");
        command.current_dir(dir).args(words);
        cc::run_with(&mut command, what, INSTALL, "PATH")
    };
    run(&["-S", ".", "-B", "build"], "configuring the project for ns-3")?;
    run(&["--build", "build", "--parallel", "2"], "compiling the program for ns-3")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cmake_is_not_given_a_folder_that_it_misreads() {
        for name in ["a;b", "a:b", "a[1]", "${a}", "$<1:a>", "a\\b", "a\"b"] {
            let dir = tempfile::tempdir().expect("a folder");
            let place = dir.path().join(name);
            std::fs::create_dir(&place).expect("a folder");
            let refused = make(&place);
            assert!(
                matches!(&refused, Err(Failure::Usage(why)) if why.contains("-o")),
                "{name}: {refused:?}"
            );
        }
    }
}
