// SPDX-License-Identifier: MIT OR Apache-2.0
//! What dependencies may be: `deny.toml` says it, for `cargo deny` and for this test, which needs no tool and no network.

use carrick_tests::build::root;
use carrick_tests::cargo::metadata;
use serde_json::Value;

/// The strings of a list in `deny.toml`.
fn allowed(section: &str, list: &str) -> Vec<String> {
    let text = std::fs::read_to_string(root().join("deny.toml")).expect("readable");
    let rules: toml::Table = text.parse().expect("TOML");
    let words = rules[section][list].as_array().expect("a list");
    words.iter().map(|word| word.as_str().expect("a string").to_owned()).collect()
}

/// All packages of the workspace on this platform, as cargo knows them.
fn packages() -> Vec<Value> {
    metadata()["packages"].as_array().expect("a list").clone()
}

/// Whether an SPDX expression can be met with these licences. Older packages write `/` for `OR`.
fn permits(expression: &str, allowed: &[String]) -> bool {
    let text = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let mut words = text.split_whitespace().collect::<Vec<_>>();
    words.reverse();
    let met = any_of(&mut words, allowed);
    met && words.is_empty()
}

fn any_of(words: &mut Vec<&str>, allowed: &[String]) -> bool {
    let mut met = all_of(words, allowed);
    while words.pop_if(|word| *word == "OR").is_some() {
        met |= all_of(words, allowed);
    }
    met
}

fn all_of(words: &mut Vec<&str>, allowed: &[String]) -> bool {
    let mut met = one(words, allowed);
    while words.pop_if(|word| *word == "AND").is_some() {
        met &= one(words, allowed);
    }
    met
}

fn one(words: &mut Vec<&str>, allowed: &[String]) -> bool {
    let Some(word) = words.pop() else { return false };
    if word == "(" {
        return any_of(words, allowed) & (words.pop() == Some(")"));
    }
    let licence = match words.pop_if(|word| *word == "WITH") {
        Some(_) => format!("{word} WITH {}", words.pop().unwrap_or_default()),
        None => word.to_owned(),
    };
    allowed.contains(&licence)
}

#[test]
fn dependencies_have_licences_and_sources_that_are_allowed() {
    let (licences, registries) = (allowed("licenses", "allow"), allowed("sources", "allow-registry"));
    let mut wrong = Vec::new();
    let packages = packages();
    for package in &packages {
        let name = package["name"].as_str().expect("a name");
        let licence = package["license"].as_str().unwrap_or_default();
        if !permits(licence, &licences) {
            wrong.push(format!("{name}: licence {licence:?}"));
        }
        // Those of the workspace have no source.
        let source = package["source"].as_str().unwrap_or_default();
        let registry = source.strip_prefix("registry+").unwrap_or(source);
        if !source.is_empty() && !registries.iter().any(|known| known == registry) {
            wrong.push(format!("{name}: source {source}"));
        }
    }
    assert!(wrong.is_empty(), "deny.toml does not allow:\n{}", wrong.join("\n"));
    assert!(packages.len() > 50, "only {} packages were found", packages.len());
}

#[test]
fn licences_are_read_as_spdx_says() {
    let allowed = ["MIT", "ISC", "Apache-2.0 WITH LLVM-exception"].map(str::to_owned);
    let cases = [
        ("MIT", true),
        ("GPL-3.0", false),
        ("GPL-3.0 OR MIT", true),
        ("GPL-3.0/MIT", true),
        ("GPL-3.0 AND MIT", false),
        ("MIT AND (GPL-3.0 OR ISC)", true),
        ("(MIT AND GPL-3.0) OR Zlib", false),
        ("Apache-2.0 WITH LLVM-exception", true),
        ("Apache-2.0", false),
        ("MIT)", false),
        ("(MIT", false),
        ("", false),
    ];
    for (expression, met) in cases {
        assert_eq!(permits(expression, &allowed), met, "{expression}");
    }
}
