// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which features a build has.

use std::fmt;

use crate::assemble::codes;
use crate::ast::{Feature, FeatureUse, File, Ident, ItemKind, Over};
use crate::diag::Diagnostic;
use crate::suggest::nearest;

/// What a build says of a program's features.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Choice {
    /// chosen, with an option or the first one
    pub with: Vec<(String, Option<String>)>,
    /// not chosen, even if the program has it by default: features, and options of features
    pub without: Vec<String>,
    /// of a program over `inet`
    pub over: Over,
}

impl Choice {
    /// Adds what stands behind `--with`: `reliable` or `inorder=hold`.
    pub fn add(&mut self, text: &str) {
        self.with.push(split(text));
    }
}

fn split(text: &str) -> (String, Option<String>) {
    let (name, option) = text.split_once('=').map_or((text, None), |(n, o)| (n, Some(o.to_owned())));
    (name.to_owned(), option)
}

/// A feature that a build has.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Chosen {
    pub name: String,
    /// of a feature that has some
    pub option: Option<String>,
}

impl fmt::Display for Chosen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.option {
            Some(option) => write!(f, "{}={option}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

impl Chosen {
    /// Whether the block is what this adds.
    pub(super) fn has(&self, block: &Feature) -> bool {
        let option = |o: &Ident| self.option.as_ref() == Some(&o.name);
        self.name == block.name.name && block.of_option.as_ref().is_none_or(option)
    }

    /// Whether this is what is named, if with an option then with that.
    pub(super) fn is(&self, used: &FeatureUse) -> bool {
        let same = |option: &Ident| self.option.as_ref() == Some(&option.name);
        self.name == used.feature.name && used.option.as_ref().is_none_or(same)
    }
}

/// Whether the program leaves this version of the Internet Protocol to the build.
pub(super) fn check_over(tree: &File, over: Over) -> Result<(), String> {
    let headers = tree.items.iter().filter_map(|item| match &item.kind {
        ItemKind::NetHeader { name, .. } => Some(name.name.as_str()),
        _ => None,
    });
    let named: Vec<&str> = headers.collect();
    match named[..] {
        _ if over == Over::Ipv4 || named.iter().any(|name| matches!(*name, "inet" | "ipv6")) => Ok(()),
        [] => Err("the program has no network header to be IPv6".to_owned()),
        [name, ..] => Err(format!(
            "the program runs over `{name}` only; a program over `inet`, with addresses of type `ip_t`, runs over both versions"
        )),
    }
}

/// What a choice names that is not there.
pub(super) fn check_choice(declared: &[&Feature], choice: &Choice) -> Result<(), String> {
    let without: Vec<_> = choice.without.iter().map(|said| split(said)).collect();
    for (name, option) in choice.with.iter().chain(&without) {
        let Some(feature) = declared.iter().find(|f| f.name.name == *name) else {
            match (option, with_option(declared, name).as_slice()) {
                (None, [_]) => continue,
                (None, several @ [_, _, ..]) => return Err(ambiguous(several, name)),
                (None, []) => return Err(no_such(declared, "feature or option", name)),
                (Some(_), _) => return Err(no_such(declared, "feature", name)),
            }
        };
        if let Some(option) = option
            && !feature.options.iter().any(|o| o.name == *option)
        {
            return Err(no_such_option(feature, option));
        }
    }
    let none_left = |f: &Feature| {
        !f.options.is_empty() && f.options.iter().all(|o| leaves_out(declared, choice, f, &o.name))
    };
    let left_out =
        |f: &&&Feature| f.always.is_some() && (choice.without.contains(&f.name.name) || none_left(f));
    if let Some(feature) = declared.iter().find(left_out) {
        return Err(format!("the feature `{}` cannot be left out", feature.name.name));
    }
    let both = declared.iter().find_map(|feature| {
        let of = |said: &(String, Option<String>)| {
            let option = option_said(declared, feature, said)?;
            Some((feature.name.name.clone(), option.map(str::to_owned)))
        };
        let said: Vec<_> = choice.with.iter().filter_map(of).collect();
        let (name, option) = without
            .iter()
            .filter_map(of)
            .find(|out| said.contains(out) || (out.1.is_none() && !said.is_empty()))?;
        Some(option.unwrap_or(name))
    });
    match both {
        Some(both) => Err(format!("`{both}` is both chosen and left out; say one of the two")),
        None => Ok(()),
    }
}

/// What a word behind `--with` says of a feature: nothing, that it is chosen, or with which option.
pub(super) fn option_said<'c>(
    declared: &[&Feature],
    feature: &Feature,
    (name, option): &'c (String, Option<String>),
) -> Option<Option<&'c str>> {
    if feature.name.name == *name {
        return Some(option.as_deref());
    }
    let is_feature = declared.iter().any(|f| f.name.name == *name);
    let of = with_option(declared, name);
    let is_its_option =
        option.is_none() && !is_feature && of.len() == 1 && of[0].name.name == feature.name.name;
    is_its_option.then_some(Some(name.as_str()))
}

/// Whether a build leaves out an option: `cubic`, or `congestion=cubic`.
pub(super) fn leaves_out(declared: &[&Feature], choice: &Choice, feature: &Feature, option: &str) -> bool {
    choice.without.iter().any(|said| {
        let said = split(said);
        let named = option_said(declared, feature, &said);
        named.flatten() == Some(option)
    })
}

/// The features that have an option of this name.
fn with_option<'a>(declared: &[&'a Feature], option: &str) -> Vec<&'a Feature> {
    declared.iter().filter(|f| f.options.iter().any(|o| o.name == *option)).copied().collect()
}

fn ambiguous(features: &[&Feature], option: &str) -> String {
    let ways: Vec<String> = features.iter().map(|f| format!("`{}={option}`", f.name.name)).collect();
    format!("several features have an option `{option}`; say which: {}", ways.join(" or "))
}

fn no_such(declared: &[&Feature], what: &str, name: &str) -> String {
    let names = declared.iter().flat_map(|f| std::iter::once(&f.name).chain(&f.options));
    let mend = match nearest(name, names.map(|n| n.name.as_str())) {
        Some(near) => format!("did you mean `{near}`?"),
        None if declared.is_empty() => "it has none".to_owned(),
        None => format!("it has {}", declared.iter().map(|f| listed(f)).collect::<Vec<_>>().join(", ")),
    };
    format!("the program has no {what} `{name}`; {mend}")
}

/// A feature as its declaration begins: `inorder(hold, drop)`.
fn listed(feature: &Feature) -> String {
    let options: Vec<&str> = feature.options.iter().map(|o| o.name.as_str()).collect();
    let options = if options.is_empty() { String::new() } else { format!("({})", options.join(", ")) };
    format!("{}{options}", feature.name.name)
}

fn no_such_option(feature: &Feature, option: &str) -> String {
    let names: Vec<&str> = feature.options.iter().map(|o| o.name.as_str()).collect();
    let name = &feature.name.name;
    match names.as_slice() {
        [] => format!("the feature `{name}` has no options; write `{name}` alone"),
        _ => format!("the feature `{name}` has no option `{option}`; it has {}", names.join(", ")),
    }
}

/// What is wrong with the declarations whatever is chosen.
pub(super) fn check_declarations(
    declared: &[&Feature],
    blocks: &[&Feature],
    diagnostics: &mut Vec<Diagnostic>,
) {
    for (at, feature) in declared.iter().enumerate() {
        twins(declared[..at].iter().map(|f| &f.name), &feature.name, "feature", diagnostics);
    }
    for feature in blocks {
        if let Some(option) = &feature.of_option {
            let used = FeatureUse { feature: feature.name.clone(), option: Some(option.clone()) };
            if find(declared, &used, diagnostics).is_none()
                && let Some(found) = diagnostics.pop_if(|found| found.code == codes::FEATURE_OPTION)
            {
                let open = declared.iter().any(|f| f.name.name == feature.name.name && !f.options.is_empty());
                diagnostics.push(found.note(match open {
                    true => "only a file that imports the file of the feature adds an option to it",
                    false => "a file adds options only to a feature that has a list of them",
                }));
            }
        }
        for (at, option) in feature.options.iter().enumerate() {
            twins(feature.options[..at].iter(), option, "option", diagnostics);
        }
        for used in feature.requires.iter().chain(&feature.excludes) {
            find(declared, used, diagnostics);
            if used.feature.name == feature.name.name {
                diagnostics.push(
                    Diagnostic::error(
                        codes::FEATURE_OF_ITSELF,
                        format!("`{}` requires or excludes itself", used.feature.name),
                        used.feature.span,
                        "the feature itself",
                    )
                    .mend("name another feature, or remove it"),
                );
            }
        }
    }
}

fn twins<'a>(
    mut before: impl Iterator<Item = &'a Ident>,
    name: &Ident,
    what: &str,
    to: &mut Vec<Diagnostic>,
) {
    if let Some(first) = before.find(|n| n.name == name.name) {
        let mend = match what {
            "feature" => format!(
                "give one of them another name; an option is added by `feature {} = an_option {{ }}`",
                name.name
            ),
            _ => "give one of them another name, or make one of the two".to_owned(),
        };
        to.push(
            Diagnostic::error(
                codes::FEATURE_TWICE,
                format!("the {what} `{}` is declared twice", name.name),
                name.span,
                "again here",
            )
            .cause(first.span, "declared first here")
            .mend(mend),
        );
    }
}

/// The feature that is named, if it and its option are there; otherwise that is reported.
pub(super) fn find<'a>(
    declared: &[&'a Feature],
    used: &FeatureUse,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<&'a Feature> {
    let unknown = |code, what: String, name: &Ident, known: Vec<&str>| {
        let found = Diagnostic::error(code, format!("{what} `{}`", name.name), name.span, "not declared");
        match nearest(&name.name, known.iter().copied()) {
            Some(near) => found.fix(format!("did you mean `{near}`?"), name.span, near),
            None if known.is_empty() => found.mend("declare it, or remove this"),
            None => found.mend(format!("use one of {}", known.join(", "))),
        }
    };
    let has =
        |f: &&&Feature| used.option.as_ref().is_none_or(|o| f.options.iter().any(|own| own.name == o.name));
    let named = || declared.iter().filter(|f| f.name.name == used.feature.name);
    // Of a feature that is declared twice, either may have the option: the second declaration is reported.
    let Some(feature) = named().find(has).or_else(|| named().next()) else {
        let known = declared.iter().map(|f| f.name.name.as_str()).collect();
        let what = "there is no feature".to_owned();
        diagnostics.push(unknown(codes::FEATURE_UNKNOWN, what, &used.feature, known));
        return None;
    };
    if let Some(option) = &used.option
        && !feature.options.iter().any(|o| o.name == option.name)
    {
        let known = feature.options.iter().map(|o| o.name.as_str()).collect();
        let what = format!("the feature `{}` has no option", feature.name.name);
        let found = unknown(codes::FEATURE_OPTION, what, option, known);
        diagnostics.push(found.cause(feature.name.span, "the feature"));
        return None;
    }
    Some(feature)
}

/// Whether the chosen features go together.
pub(super) fn check_combination(blocks: &[&Feature], chosen: &[Chosen], to: &mut Vec<Diagnostic>) {
    let has = |used: &FeatureUse| chosen.iter().any(|c| c.is(used));
    // Of a feature that every build has, another option can be chosen.
    let leave = |name: &str| {
        let options = |block: &&&Feature| block.name.name == name && block.always.is_some();
        match blocks.iter().find(options) {
            Some(_) => format!("another option of `{name}`"),
            None => format!("`--without {name}`"),
        }
    };
    for feature in blocks.iter().filter(|block| chosen.iter().any(|c| c.has(block))) {
        let name = &feature.name.name;
        for needed in feature.requires.iter().filter(|used| !has(used)) {
            let wanted = written(needed);
            to.push(
                Diagnostic::error(
                    codes::FEATURE_REQUIRES,
                    format!("`{name}` is chosen without `{wanted}`, which it requires"),
                    needed.feature.span,
                    "not chosen",
                )
                .mend(format!(
                    "build with `--with {}` too, or {}",
                    missing(blocks, chosen, needed),
                    leave(name)
                )),
            );
        }
        for other in feature.excludes.iter().filter(|used| has(used)) {
            let unwanted = written(other);
            to.push(
                Diagnostic::error(
                    codes::FEATURE_EXCLUDES,
                    format!("`{name}` and `{unwanted}` are both chosen, and cannot be"),
                    other.feature.span,
                    "chosen too",
                )
                .mend(format!(
                    "build with {}, or {}",
                    leave(&other.feature.name),
                    leave(name)
                )),
            );
        }
    }
}

/// What a build adds to have this feature: the feature, and what that requires in turn.
fn missing(blocks: &[&Feature], chosen: &[Chosen], needed: &FeatureUse) -> String {
    let mut added: Vec<Chosen> = Vec::new();
    let mut wanted = vec![needed];
    while let Some(used) = wanted.pop() {
        if chosen.iter().chain(&added).any(|c| c.is(used)) {
            continue;
        }
        let name = &used.feature.name;
        let first =
            || blocks.iter().filter(|block| block.name.name == *name).find_map(|block| block.options.first());
        let option = used.option.as_ref().or_else(first).map(|option| option.name.clone());
        let new = Chosen { name: name.clone(), option };
        let required = blocks.iter().filter(|block| new.has(block)).flat_map(|block| &block.requires);
        wanted.extend(required);
        added.push(new);
    }
    added.iter().map(Chosen::to_string).collect::<Vec<_>>().join(",")
}

fn written(used: &FeatureUse) -> String {
    let option = used.option.as_ref().map_or_else(String::new, |o| format!("={}", o.name));
    format!("{}{option}", used.feature.name)
}
