// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a build names decides: it brings what it requires, and a default that contradicts it is left out, or gets another option.

use super::choose::{Choice, Chosen, leaves_out, option_said};
use crate::ast::{Feature, FeatureUse, Ident};

/// A feature that a build may have.
struct Pick<'a> {
    name: &'a str,
    /// the build names it, or every build has it
    named: bool,
    /// what it may be: the first, and what takes its place; a single one if the build names it
    options: Vec<&'a str>,
    option_named: bool,
    there: bool,
    /// the build does not want it, or has it not although the program has it by default
    left_out: bool,
}

impl<'a> Pick<'a> {
    fn chosen(&self) -> Chosen {
        let option = self.options.first().map(|&o| o.to_owned());
        Chosen { name: self.name.to_owned(), option }
    }

    fn has(&self, used: &FeatureUse) -> bool {
        self.there && self.chosen().is(used)
    }

    /// Whether the build itself names the feature, or, if that matters, its option.
    fn wants(&self, about_option: bool) -> bool {
        if about_option { self.option_named } else { self.named }
    }

    /// Leaves the feature out or, if the build wants it, takes the next option; false if it can do neither.
    fn give_way(&mut self, about_option: bool) -> bool {
        if !self.named {
            (self.there, self.left_out) = (false, true);
            return true;
        }
        let another = about_option && !self.option_named && self.options.len() > 1;
        if another {
            self.options.remove(0);
        }
        another
    }

    /// Whether what another feature requires is not there because the build does not want it.
    fn lacks(&self, used: &FeatureUse) -> bool {
        let other_option = |o: &str| self.there && (self.option_named || !self.options.contains(&o));
        self.left_out || used.option.as_ref().is_some_and(|o| other_option(&o.name))
    }
}

/// The features of a build, in the order of the file.
pub(super) fn choose(declared: &[&Feature], blocks: &[&Feature], choice: &Choice) -> Vec<Chosen> {
    let mut picks: Vec<Pick> = Vec::new();
    for feature in declared {
        if !picks.iter().any(|p| p.name == feature.name.name) {
            picks.push(pick(declared, feature, choice));
        }
    }
    // Each step takes an option or a default away, or makes a feature or an option named, which stays.
    while blocks.iter().any(|block| settle(&mut picks, block)) {}
    picks.iter().filter(|p| p.there).map(Pick::chosen).collect()
}

fn pick<'a>(declared: &[&'a Feature], feature: &'a Feature, choice: &'a Choice) -> Pick<'a> {
    // Who says it twice means the last.
    let said = choice.with.iter().rev().find_map(|said| option_said(declared, feature, said));
    let options = feature.options.iter().map(|o| o.name.as_str());
    let named_option = said.flatten().filter(|named| options.clone().any(|o| o == *named));
    let options: Vec<&str> = match named_option {
        Some(option) => vec![option],
        None => options.filter(|option| !leaves_out(declared, choice, feature, option)).collect(),
    };
    let by_default = feature.default.is_some();
    let named = said.is_some() || feature.always.is_some();
    let possible = feature.options.is_empty() || !options.is_empty();
    // Without its first option, the build does not want a default at all.
    let first = feature.options.first().is_none_or(|first| options.first() == Some(&first.name.as_str()));
    let left_out = !named && (choice.without.contains(&feature.name.name) || by_default && !first);
    let only_one = named && options.len() == 1;
    Pick {
        name: &feature.name.name,
        named,
        options,
        option_named: named_option.is_some() || only_one,
        there: (named || by_default) && possible && !left_out,
        left_out,
    }
}

/// Brings what this part of a feature requires, or lets a default give way, if the part is in the build and does not go with another.
fn settle(picks: &mut [Pick], block: &Feature) -> bool {
    let Some(own) = picks.iter().position(|p| p.there && p.chosen().has(block)) else { return false };
    let about_option = block.of_option.is_some();
    let wanted = picks[own].wants(about_option);
    let requires = block.requires.iter().map(|used| (used, true));
    for (used, required) in requires.chain(block.excludes.iter().map(|used| (used, false))) {
        let Some(other) = picks.iter().position(|p| p.name == used.feature.name) else { continue };
        if picks[other].has(used) == required {
            continue;
        }
        let changed = match (wanted, required) {
            (true, true) => bring(&mut picks[other], used) || take_option(&mut picks[other], used),
            (true, false) => picks[other].give_way(used.option.is_some()),
            (false, true) => picks[other].lacks(used) && picks[own].give_way(about_option),
            (false, false) => picks[other].wants(used.option.is_some()) && picks[own].give_way(about_option),
        };
        if changed {
            return true;
        }
    }
    false
}

/// Puts a feature that another requires into the build, unless the build does not want it.
fn bring(pick: &mut Pick, used: &FeatureUse) -> bool {
    let may_be = |o: &Ident| pick.options.contains(&o.name.as_str());
    let possible = !pick.left_out && used.option.as_ref().is_none_or(may_be);
    if pick.there || !possible {
        return false;
    }
    (pick.there, pick.named) = (true, true);
    true
}

/// Gives a feature the option that another requires, if it is one of those that it may have.
fn take_option(pick: &mut Pick, used: &FeatureUse) -> bool {
    let Some(option) = used.option.as_ref().filter(|_| pick.there && !pick.option_named) else {
        return false;
    };
    let Some(&option) = pick.options.iter().find(|o| **o == option.name) else { return false };
    (pick.options, pick.option_named) = (vec![option], true);
    true
}
