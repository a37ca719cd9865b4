// SPDX-License-Identifier: MIT OR Apache-2.0
//! Groups of instructions: the words for them in target files.

use carrick_ir::{Needs, Opcode};

use super::file::{ANY, TargetFile};

/// Puts the names of instructions in place of the words of groups, in alphabetical order.
///
/// # Errors
/// Which word is neither.
pub fn expand(target: &mut TargetFile) -> Result<(), String> {
    let sites = target.sites.iter_mut().filter_map(|site| site.instructions.as_mut());
    for words in sites.chain([&mut target.instructions]) {
        let mut names = Vec::new();
        for word in words.iter() {
            match Needs::ALL.into_iter().find(|needs| needs.word() == word) {
                Some(needs) => names.extend(members(needs)),
                None if word == ANY || Opcode::named(word).is_some() => names.push(word.clone()),
                None => return Err(format!("`{word}` is no instruction, and no group of instructions")),
            }
        }
        names.sort_unstable();
        names.dedup();
        *words = names;
    }
    Ok(())
}

fn members(needs: Needs) -> impl Iterator<Item = String> {
    let all = Opcode::ALL.iter().filter(move |op| op.declaration().needs == needs);
    all.map(|op| op.name().to_owned())
}
