// SPDX-License-Identifier: MIT OR Apache-2.0
//! The pages behind `carrick explain`.

use carrick_syntax::diag::Code;

use crate::Failure;

/// Every code, in ascending order.
pub fn codes() -> impl Iterator<Item = &'static Code> {
    carrick_syntax::codes::CODES
        .iter()
        .chain(carrick_sema::codes::CODES)
        .chain(carrick_syntax::assemble::codes::CODES)
        .chain(crate::targets::codes::CODES)
}

/// The page of a code given as `MTP0123`, `mtp123` or `123`.
///
/// # Errors
/// [`Failure::Usage`] if there is no such code.
pub fn explain(name: &str) -> Result<&'static Code, Failure> {
    let digits = name.trim().trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let wrong = || Failure::Usage(format!("there is no diagnostic {name}; `carrick explain` lists them all"));
    let number: u16 = digits.parse().map_err(|_| wrong())?;
    codes().find(|c| c.number == number).ok_or_else(wrong)
}
