// SPDX-License-Identifier: MIT OR Apache-2.0
//! All builds of a program.

use super::choose::{Choice, check_combination};
use super::defaults::choose;
use crate::ast::Feature;

/// More builds of one program than anybody waits for.
const COMBINATIONS_MAX: usize = 4096;
/// Choices, allowed or not, among which they are looked for at most.
const CANDIDATES_MAX: usize = 1 << 20;

/// Every choice that names all features, one way or the other, and that they allow; `None` if there are too many.
pub(super) fn combinations(declared: &[&Feature], blocks: &[&Feature]) -> Option<Vec<Choice>> {
    let ways = |f: &&Feature| usize::from(f.always.is_none()) + f.options.len().max(1);
    let count = declared.iter().map(ways).try_fold(1_usize, |all, ways| all.checked_mul(ways))?;
    if count > CANDIDATES_MAX {
        return None;
    }
    let nth = |mut n: usize| {
        let mut choice = Choice::default();
        for feature in declared {
            let way = n % ways(feature);
            n /= ways(feature);
            match (way + usize::from(feature.always.is_some())).checked_sub(1) {
                None => choice.without.push(feature.name.name.clone()),
                Some(option) => {
                    let option = feature.options.get(option).map(|o| o.name.clone());
                    choice.with.push((feature.name.name.clone(), option));
                }
            }
        }
        choice
    };
    let allowed = |choice: &Choice| {
        let mut wrong = Vec::new();
        check_combination(blocks, &choose(declared, blocks, choice), &mut wrong);
        wrong.is_empty()
    };
    let found: Vec<Choice> = (0..count).map(nth).filter(allowed).take(COMBINATIONS_MAX + 1).collect();
    (found.len() <= COMBINATIONS_MAX).then_some(found)
}
