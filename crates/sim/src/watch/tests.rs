// SPDX-License-Identifier: MIT OR Apache-2.0
//! A program for the tests of what watches contexts.

use carrick_ir::Program;

/// One context, with an id of one part, a field and a timer.
pub fn program() -> Program {
    let text = include_str!("test.mtp");
    let (file, wrong) = carrick_syntax::parse(text);
    assert_eq!(wrong, []);
    let (program, wrong) = carrick_sema::check(&file, "test", "test.mtp", text);
    carrick_lower::lower(program.unwrap_or_else(|| panic!("{wrong:#?}")))
}
