// SPDX-License-Identifier: MIT OR Apache-2.0
//! From files to one tree: what stands below knows nothing of imports, or of features that are not chosen.

mod added_options;
pub mod codes;
pub mod features;
mod imports;

pub use imports::{Assembled, TEXT_MAX};

/// Reads the main file, named `name` with text `text`, and all that it imports.
///
/// `read` gives the text of the file with a name (that of the importing file with its last part replaced by what is
/// imported), or says why there is none.
pub fn assemble(name: &str, text: &str, read: &mut dyn FnMut(&str) -> Result<String, String>) -> Assembled {
    imports::follow(name, text, None, read)
}

/// As [`assemble`], of a file that the program with the name `program` imports: the rest of the program is read after it.
pub fn assemble_part(
    name: &str,
    text: &str,
    program: &str,
    read: &mut dyn FnMut(&str) -> Result<String, String>,
) -> Assembled {
    imports::follow(name, text, Some(program), read)
}
