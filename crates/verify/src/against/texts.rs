// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which declarations and functions have the same text in both versions, with all that they name.

use std::collections::{BTreeMap, BTreeSet};

use carrick_ir::{Program, print};

use super::names::{Names, mentions};
use super::report::Declared;

/// What they change shows in processors, which are compared.
const SEEN_ELSEWHERE: [&str; 6] = ["const", "array", "struct", "enum", "fn", "chain"];
/// They say nothing that the program does.
const NOTHING: [&str; 5] = ["with", "machine", "invariant", "parser", "report"];
/// Other declarations can name such a one, and mean its value.
const VALUES: [&str; 4] = ["const", "array", "enum", "struct"];
/// Their names are those of other declarations.
const WITHOUT_NAME: [&str; 8] =
    ["chain", "interface", "block", "event_block", "require", "in", "order", "timers"];
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
        // They are tried in order.
        if kind(&head) == "coalescing_rule" {
            found.entry("order of coalescing_rules".to_owned()).or_default().push(head.clone());
        }
        found.entry(head).or_default().push(text);
    }
    found.iter_mut().filter(|(head, _)| !head.starts_with("order ")).for_each(|(_, texts)| texts.sort());
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

/// Whether two texts are not the same. The order of a context's fields is nobody's business.
fn differ(head: &str, old: Option<&Vec<String>>, new: Option<&Vec<String>>) -> bool {
    let lines = |texts: Option<&Vec<String>>| {
        let mut lines: Vec<String> =
            texts.into_iter().flatten().flat_map(|text| text.lines()).map(str::to_owned).collect();
        lines.sort();
        lines
    };
    if kind(head) == "context" { lines(old) != lines(new) } else { old != new }
}

/// Whether two texts differ in more than fields of a context, a scratchpad, or an event of the program's own, that only one of them has.
fn is_outside(head: &str, old: &str, new: &str) -> bool {
    let inner = match kind(head) {
        "context" => !old.starts_with("global ") && !new.starts_with("global "),
        "scratchpad" => true,
        "event" => !old.contains(": app_event") && !new.contains(": app_event"),
        _ => false,
    };
    if !inner || old.is_empty() || new.is_empty() {
        return !inner;
    }
    let field = |line: &str| {
        let name = line.trim().split_once(": ")?.0;
        (!name.contains(' ')).then(|| name.to_owned())
    };
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

/// Whether nothing can depend on it: a scratchpad, or a field of one, that only one version has. Each processor is compared with any values
/// of it.
fn is_nothing(declared: &Declared, names_changed: bool) -> bool {
    kind(&declared.head) == "scratchpad" && !declared.outside && !names_changed
}

/// The names of an enum's variants.
fn variants(text: &str) -> Vec<String> {
    let inside = text.split_once('{').map_or("", |(_, inside)| inside);
    inside.split(',').filter_map(|variant| Some(variant.split_once(" = ")?.0.trim().to_owned())).collect()
}

/// Adds the names of all that names one of these, as far as it `counts`.
fn spread(
    names: &mut BTreeSet<String>,
    texts: [&BTreeMap<String, Vec<String>>; 2],
    counts: &dyn Fn(&str) -> bool,
) {
    loop {
        let before = names.len();
        for (head, texts) in texts.into_iter().flatten().filter(|(head, _)| counts(head)) {
            let names_one = |text: &String| mentions(text, &|word| names.contains(word));
            if let Some(name) = name(head)
                && !names.contains(name)
                && texts.iter().any(names_one)
            {
                names.insert(name.to_owned());
            }
        }
        if names.len() == before {
            return;
        }
    }
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
        // A function may name only a variant.
        let enums = heads.iter().filter(|head| kind(head) == "enum");
        let enums = enums.filter(|head| name(head).is_some_and(|name| changed.contains(name)));
        let both = enums.flat_map(|head| [old.get(*head), new.get(*head)]).flatten().flatten();
        let variants: Vec<String> = both.flat_map(|text| variants(text)).collect();
        changed.extend(variants);
        let mut values: BTreeSet<String> = BTreeSet::new();
        for head in heads.iter().filter(|head| VALUES.contains(&kind(head))) {
            values.extend(name(head).filter(|name| changed.contains(*name)).map(str::to_owned));
        }
        spread(&mut values, [&old, &new], &|head| VALUES.contains(&kind(head)));
        let mut declared = Vec::new();
        for head in heads.iter().filter(|head| !SEEN_ELSEWHERE.contains(&kind(head))) {
            let (texts, others) = (old.get(*head), new.get(*head));
            let means = |text: &String| mentions(text, &|word| values.contains(word));
            let names_changed = others.is_some_and(|texts| texts.iter().any(means));
            if !differ(head, texts, others) && !names_changed {
                continue;
            }
            let joined = |texts: Option<&Vec<String>>| texts.map(|texts| texts.join("\n"));
            let (old, new) = (joined(texts), joined(others));
            let outside = is_outside(head, old.as_deref().unwrap_or(""), new.as_deref().unwrap_or(""));
            let one = Declared { head: (*head).clone(), old, new, outside };
            if !is_nothing(&one, names_changed) {
                declared.push(one);
            }
        }
        // What names something that is not the same is not the same.
        spread(&mut changed, [&old, &new], &|_| true);
        Texts { changed, declared }
    }

    /// Whether a function has the same text in both versions, by its name in the new one.
    pub(super) fn is_same(&self, function: &str) -> bool {
        !self.changed.contains(function)
    }
}
