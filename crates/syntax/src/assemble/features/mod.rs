// SPDX-License-Identifier: MIT OR Apache-2.0
//! `feature`: from a program that can be many to the one that a build chooses.
//!
//! What is not chosen is not in the tree that comes out: no stage below knows that there are features.

mod choose;
mod combinations;
mod declared;
mod defaults;
mod extensions;
mod fold;
mod merge;
mod optional;
mod order;
mod points;
mod spread;

use crate::ast::{Feature, File};
use crate::diag::Diagnostic;

pub use choose::{Choice, Chosen};
use declared::blocks;
pub use declared::features;

/// A program with its features chosen.
#[derive(Debug)]
pub struct Configured {
    pub tree: File,
    /// in the order of the file
    pub chosen: Vec<Chosen>,
    pub diagnostics: Vec<Diagnostic>,
}

/// Whether a choice names features and options that the program has.
///
/// # Errors
/// What it names that is not there, and what is.
pub fn check_choice(tree: &File, choice: &Choice) -> Result<(), String> {
    choose::check_over(tree, choice.over)?;
    choose::check_choice(&features(tree).collect::<Vec<_>>(), choice)
}

/// Every choice of features that `requires` and `excludes` allow; `None` if there are more than 4096, or 2^20 to look at.
pub fn combinations(tree: &File) -> Option<Vec<Choice>> {
    combinations::combinations(&features(tree).collect::<Vec<_>>(), &blocks(tree).collect::<Vec<_>>())
}

/// Chooses the features of a program: those that it has by default and those of `choice`; what it does not have is passed
/// over.
pub fn configure(tree: &File, choice: &Choice) -> Configured {
    let mut diagnostics = Vec::new();
    let declared: Vec<&Feature> = features(tree).collect();
    let blocks: Vec<&Feature> = blocks(tree).collect();
    choose::check_declarations(&declared, &blocks, &mut diagnostics);
    let chosen = defaults::choose(&declared, &blocks, choice);
    choose::check_combination(&blocks, &chosen, &mut diagnostics);
    extensions::check(tree, &mut diagnostics);
    let mut merged = merge::merge(tree, &chosen, &mut diagnostics);
    merged.over = choice.over;
    fold::fold(&mut merged, &declared, &chosen, &mut diagnostics);
    points::expand(&mut merged, &mut diagnostics);
    spread::spread(&mut merged, &mut diagnostics);
    optional::expand(&mut merged);
    order::order(&mut merged, tree, &mut diagnostics);
    Configured { tree: merged, chosen, diagnostics }
}
