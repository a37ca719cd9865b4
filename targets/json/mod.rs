// SPDX-License-Identifier: MIT OR Apache-2.0
//! The table: a program's IR as JSON, which other tools and all commands of this one read in place of the text.

use std::path::Path;

use carrick_driver::targets::{Target, TargetFile};
use carrick_driver::{Failure, build, table};
use carrick_ir::Program;

/// The target; whoever reads a table is its host.
pub struct Json;

/// As it is listed.
pub static TARGET: Json = Json;

/// What tables are like, for tools that check them.
const SCHEMA: &str = "table.schema.json";

impl Target for Json {
    fn file(&self) -> &'static str {
        include_str!("target.toml")
    }

    fn emit(&self, _file: &TargetFile, program: &Program, dir: &Path) -> Result<String, Failure> {
        let name = table::file_name(program);
        build::write(&dir.join(&name), table::write(program).as_bytes())?;
        build::write(&dir.join(SCHEMA), table::schema().as_bytes())?;
        Ok(format!("{}: {name}, {SCHEMA}", dir.display()))
    }
}
