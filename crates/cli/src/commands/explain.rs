// SPDX-License-Identifier: MIT OR Apache-2.0
//! `carrick explain`

use std::process::ExitCode;

use carrick_driver::{Failure, explain, render};

use crate::args::Explain;

pub fn run(args: &Explain) -> Result<ExitCode, Failure> {
    match &args.code {
        Some(name) => print!("{}", explain::explain(name)?.explain),
        None => {
            for code in explain::codes() {
                println!("{}  {}", render::code_name(code.number), code.title);
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}
