// SPDX-License-Identifier: MIT OR Apache-2.0
//! `carrick fmt`

use std::io::Read;
use std::path::Path;
use std::process::ExitCode;

use carrick_driver::{Compiled, Failure, compile::read, table::is_table, written::replace};

use carrick_syntax::Sources;

use crate::args::Fmt;
use crate::output;

pub fn run(args: &Fmt) -> Result<ExitCode, Failure> {
    let mut failed = false;
    for file in &args.files {
        failed |= !one(file, args.check)?;
    }
    Ok(ExitCode::from(u8::from(failed)))
}

/// False if the file has errors, or with `check` is not in the one layout.
fn one(file: &Path, check: bool) -> Result<bool, Failure> {
    if is_table(file) {
        return Err(Failure::Usage(format!(
            "{} is a table; format the text that it was made from",
            file.display()
        )));
    }
    let standard_input = file.as_os_str() == "-";
    let text = if standard_input { read_standard_input()? } else { read(file)? };
    let formatted = match carrick_syntax::format(&text) {
        Ok(formatted) => formatted,
        Err(diagnostics) => {
            let file = file.display().to_string();
            output::diagnostics(&Compiled {
                sources: Sources::new(&file, text),
                file,
                diagnostics,
                program: None,
            });
            return Ok(false);
        }
    };
    if check {
        let same = formatted == text;
        if !same {
            eprintln!("{} is not formatted; run `carrick fmt {}`", file.display(), file.display());
        }
        return Ok(same);
    }
    if standard_input {
        print!("{formatted}");
    } else if formatted != text {
        replace(file, formatted.as_bytes())?;
    }
    Ok(true)
}

fn read_standard_input() -> Result<String, Failure> {
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .map_err(|e| Failure::Usage(format!("cannot read standard input as UTF-8 text: {e}")))?;
    Ok(text)
}
