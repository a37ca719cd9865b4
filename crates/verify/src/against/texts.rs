// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which declarations and functions have the same text in both versions, with all that they name.

use std::collections::{BTreeMap, BTreeSet};

use carrick_ir::{Program, print};

use super::names::{Names, mentions};
use super::report::Declared;

/// What they change shows in processors, which are compared.
const SEEN_ELSEWHERE: [&str; 7] = ["const", "array", "struct", "enum", "scratchpad", "fn", "chain"];
/// They say nothing that the program does.
const NOTHING: [&str; 5] = ["with", "machine", "invariant", "parser", "report"];
/// Other declarations can name such a one, and mean its value.
const VALUES: [&str; 3] = ["const", "array", "enum"];
/// Their names are those of other declarations.
const WITHOUT_NAME: [&str; 5] = ["chain", "interface", "block", "require", "in"];
/// What packets and the network make of them no processor sees.
const BEHIND: [&str; 2] = ["seg_rule", "coalescing_rule"];

#[derive(Debug, Default)]
pub(super) struct Texts {
    /// names that do not stand for the same in both versions
    changed: BTreeSet<String>,
    pub declared: Vec<Declared>,
}

/// The texts by what they are of.
fn texts(program: &Program, names: &Names) -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for item in print::items(program) {
        if NOTHING.contains(&kind(&item.head)) {
            continue;
        }
        let (head, text) = (names.translate(&item.head), names.translate(&item.text));
        found.entry(head).or_default().push(text);
    }
    found.values_mut().for_each(|texts| texts.sort());
    found
}

fn kind(head: &str) -> &str {
    head.split(' ').next().unwrap_or(head)
}

fn name(head: &str) -> Option<&str> {
    (!WITHOUT_NAME.contains(&kind(head)) && !BEHIND.contains(&kind(head)))
        .then(|| head.split(' ').nth(1))
        .flatten()
}

/// A parameter's text without its default: a proof is about all values of the range.
fn without_default(head: &str, texts: Option<&Vec<String>>) -> Option<Vec<String>> {
    let cut = |text: &String| match (kind(head), text.split_once(" = "), text.rsplit_once(" in ")) {
        ("param", Some((before, _)), Some((_, range))) => format!("{before} in {range}"),
        _ => text.clone(),
    };
    texts.map(|texts| texts.iter().map(cut).collect())
}

/// Whether two texts differ in more than fields of a context, or of an event of the program's own, that only one of them has.
fn is_outside(head: &str, old: &str, new: &str) -> bool {
    let inner = match kind(head) {
        "context" => true,
        "event" => !old.contains(": app_event") && !new.contains(": app_event"),
        _ => false,
    };
    if !inner || old.is_empty() || new.is_empty() {
        return !inner;
    }
    let field = |line: &str| line.trim().split_once(": ").map(|(name, _)| name.to_owned());
    let names = |text: &str| text.lines().skip(1).filter_map(field).collect::<BTreeSet<String>>();
    let (names, others) = (names(old), names(new));
    let both = |text: &str| {
        let lines = text.lines().enumerate();
        let kept = lines.filter(|(at, line)| {
            *at == 0 || field(line).is_none_or(|name| names.contains(&name) && others.contains(&name))
        });
        let mut kept: Vec<String> = kept.map(|(_, line)| line.to_owned()).collect();
        kept.sort();
        kept
    };
    both(old) != both(new)
}

impl Texts {
    pub(super) fn of(old: &Program, new: &Program, names: &Names) -> Texts {
        let (old, new) = (texts(old, names), texts(new, &Names::default()));
        let heads: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
        let mut changed: BTreeSet<String> = BTreeSet::new();
        for head in &heads {
            if without_default(head, old.get(*head)) != without_default(head, new.get(*head)) {
                changed.extend(name(head).map(str::to_owned));
            }
        }
        let values: BTreeSet<String> = heads
            .iter()
            .filter(|head| VALUES.contains(&kind(head)))
            .filter_map(|head| name(head))
            .map(str::to_owned)
            .collect();
        let values: BTreeSet<String> = values.intersection(&changed).cloned().collect();
        let declared = heads
            .iter()
            .filter(|head| !SEEN_ELSEWHERE.contains(&kind(head)))
            .filter(|head| {
                let means = |text: &String| mentions(text, &|word| values.contains(word));
                old.get(**head) != new.get(**head)
                    || new.get(**head).is_some_and(|texts| texts.iter().any(means))
            })
            .map(|head| {
                let joined = |texts: Option<&Vec<String>>| texts.map(|texts| texts.join("\n"));
                let (old, new) = (joined(old.get(*head)), joined(new.get(*head)));
                let outside = is_outside(head, old.as_deref().unwrap_or(""), new.as_deref().unwrap_or(""));
                Declared { head: (*head).clone(), old, new, outside }
            })
            .collect();
        // What names something that is not the same is not the same.
        loop {
            let before = changed.len();
            for (head, texts) in old.iter().chain(&new) {
                let names_changed = |text: &String| mentions(text, &|word| changed.contains(word));
                if let Some(name) = name(head)
                    && !changed.contains(name)
                    && texts.iter().any(names_changed)
                {
                    changed.insert(name.to_owned());
                }
            }
            if changed.len() == before {
                return Texts { changed, declared };
            }
        }
    }

    /// Whether a function has the same text in both versions, by its name in the new one.
    pub(super) fn is_same(&self, function: &str) -> bool {
        !self.changed.contains(function)
    }
}
