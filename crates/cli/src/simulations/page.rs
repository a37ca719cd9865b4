// SPDX-License-Identifier: MIT OR Apache-2.0
//! A recorded run as a page.

use std::path::Path;

use carrick_driver::{Choice, Failure, compile_choice, compile_texts_choice};

use super::session::Error;
use crate::command_line;
use crate::commands::report;
use crate::load::{Texts, reader};
use crate::manifest::Manifest;
use crate::recorded::{self, Recorded};

/// Opens the trace in a file, to read its records.
///
/// # Errors
/// [`Failure::Usage`] if it is no trace.
pub fn recording(trace: &Path) -> Result<Recorded, Error> {
    let none = || Failure::Usage(format!("{}: it is a table, not a trace", trace.display()));
    Ok(recorded::open(trace)?.ok_or_else(none)?)
}

/// Draws the trace in a file, as `carrick report` does, with curves of these fields.
///
/// # Errors
/// [`Failure::Usage`] if it is no trace of one program, or the program has no such field.
pub fn page(trace: &Path, texts: &Texts, fields: &[String]) -> Result<String, Error> {
    let wrong = |why: String| Failure::Usage(format!("{}: {why}", trace.display()));
    let recorded = recording(trace)?;
    let header = &recorded.header;
    if header.at.is_none() && command_line::has_different_hosts(&header.run) {
        return Err(Error::Failure(Failure::Usage(
            "hosts of this run have different programs or features, and a page draws one program".into(),
        )));
    }
    let features = command_line::features(&header.run).filter(|_| header.at.is_none());
    let choice = features.map_or(Choice::default(), |features| features.choice());
    let compiled = match texts.get(&header.program) {
        Some(text) => compile_texts_choice(&header.program, text, &mut reader(texts), &choice)?,
        None => compile_choice(Path::new(&header.program), &choice)?,
    };
    let program = compiled.program.clone();
    let program = program.filter(|it| format!("{:016x}", it.source_hash) == header.source_hash);
    let program = program.ok_or_else(|| wrong("the program is not as it was in the run".into()))?;
    let manifest = Manifest::of_trace(header);
    let (page, _) = report::drawn(recorded, (&program, &compiled), fields, &manifest)?;
    Ok(page)
}
