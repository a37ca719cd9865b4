// SPDX-License-Identifier: MIT OR Apache-2.0
//! What scripts have in common, in Lua; a script gets what it uses of it.

/// What stands before what is written for the program, and what stands behind it.
const BEFORE: [&str; 6] = [
    include_str!("lua/numbers.lua"),
    include_str!("lua/values.lua"),
    include_str!("lua/packet.lua"),
    include_str!("lua/ipv6.lua"),
    include_str!("lua/options.lua"),
    include_str!("lua/checks.lua"),
];
const SHOW: &str = include_str!("lua/show.lua");

/// Where the program's packets stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Over {
    Ipv4,
    Ipv6,
    /// the same, of a program that reads segment routing headers
    Ipv6Routed,
    Ethernet,
    /// nothing that Wireshark knows
    Link,
}

impl Over {
    const ALL: [Over; 5] = [Over::Ipv4, Over::Ipv6, Over::Ipv6Routed, Over::Ethernet, Over::Link];

    /// How Wireshark comes to show them.
    fn script(self) -> &'static str {
        match self {
            Over::Ipv4 => include_str!("lua/over_ipv4.lua"),
            Over::Ipv6 => include_str!("lua/over_ipv6.lua"),
            Over::Ipv6Routed => include_str!("lua/over_ipv6_routed.lua"),
            Over::Ethernet => include_str!("lua/over_ethernet.lua"),
            Over::Link => include_str!("lua/over_link.lua"),
        }
    }
}

/// A declaration with the comment before it.
struct Chunk {
    text: &'static str,
    /// as other code uses it; none: it is always there
    used_as: Option<Name>,
}

enum Name {
    Local(&'static str),
    /// of readers
    Method(&'static str),
}

impl Name {
    /// Whether some Lua uses it.
    fn is_in(&self, lua: &str) -> bool {
        let mut lines = lua.lines().filter(|l| !l.trim_start().starts_with("--"));
        lines.any(|line| match self {
            Name::Local(name) => has_word(line, name),
            Name::Method(name) => {
                line.contains(&format!(":{name}(")) || has_word(line, &format!("Reader.{name}"))
            }
        })
    }
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let (before, after) = (line[..at].chars().next_back(), line[at + word.len()..].chars().next());
        !before.is_some_and(|c| is_of_name(c) || c == '.' || c == ':') && !after.is_some_and(is_of_name)
    })
}

fn chunks(text: &'static str) -> impl Iterator<Item = Chunk> {
    text.split("\n\n").map(|text| {
        let first = text.lines().find(|l| !l.starts_with("--")).unwrap_or_default();
        let end_of = |rest: &'static str| rest.split(|c| !is_of_name(c)).next().unwrap_or_default();
        let used_as = if let Some(rest) = first.strip_prefix("function Reader:") {
            Some(Name::Method(end_of(rest)))
        } else if let Some(rest) = first.strip_prefix("local function ") {
            Some(Name::Local(end_of(rest)))
        } else {
            first.strip_prefix("local ").map(|rest| Name::Local(end_of(rest)))
        };
        Chunk { text: text.trim_end(), used_as }
    })
}

/// The names of the library's own locals.
pub fn names() -> Vec<&'static str> {
    let all = BEFORE.into_iter().chain([SHOW]).chain(Over::ALL.map(Over::script)).flat_map(chunks);
    let name = |chunk: Chunk| if let Some(Name::Local(name)) = chunk.used_as { Some(name) } else { None };
    all.filter_map(name).collect()
}

/// The library that a program's own part of the script needs: what stands before it, and what behind.
pub fn linked(own: &str, over: Over) -> (String, String) {
    let last = [SHOW, over.script()];
    let all: Vec<Chunk> = BEFORE.into_iter().chain(last).flat_map(chunks).collect();
    let behind = all.len() - last.into_iter().flat_map(chunks).count();
    let mut needed: Vec<bool> = all.iter().map(|c| c.used_as.is_none()).collect();
    loop {
        let users = || all.iter().zip(&needed).filter(|(_, needed)| **needed).map(|(c, _)| c.text);
        let found: Vec<usize> = (0..all.len())
            .filter(|i| !needed[*i])
            .filter(|i| {
                all[*i].used_as.as_ref().is_some_and(|name| users().chain([own]).any(|lua| name.is_in(lua)))
            })
            .collect();
        if found.is_empty() {
            break;
        }
        found.into_iter().for_each(|i| needed[i] = true);
    }
    let text = |range: std::ops::Range<usize>| -> String {
        range.filter(|i| needed[*i]).map(|i| format!("{}\n\n", all[i].text)).collect()
    };
    (text(0..behind), text(behind..all.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_gets_what_it_uses_and_what_that_uses() {
        let (before, behind) = linked("local y = sdiv(rem64s(a, b), 1)", Over::Ipv4);
        for there in ["function rem64s(", "function rem64(", "function abs64s(", "u64 ="] {
            assert!(before.contains(there), "{there}");
        }
        assert!(!before.contains("function crc32") && !before.contains("Reader:varint"));
        assert!(behind.contains("DissectorTable"));
    }

    #[test]
    fn every_declaration_has_its_own_name() {
        let mut names = names();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all);
        assert!(all > 20);
    }
}
