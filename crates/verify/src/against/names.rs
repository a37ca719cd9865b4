// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which name of the new version stands for which one of the old version.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use carrick_ir::{Program, print};

/// New names by old ones; all others stay.
#[derive(Debug, Clone, Default)]
pub struct Names(Arc<BTreeMap<String, String>>);

/// The words of a text, and what stands between them.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let end = rest.find(|c| is_word(c) != is_word(first)).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end);
        rest = behind;
        Some(word)
    })
}

/// Whether a text names one of these.
pub(super) fn mentions(text: &str, wanted: &dyn Fn(&str) -> bool) -> bool {
    words(text).any(wanted)
}

impl Names {
    /// Of words `OLD=NEW`.
    ///
    /// # Errors
    /// A sentence about the one that is not of this form, or that comes twice.
    pub fn of(given: &[String]) -> Result<Names, String> {
        let mut names = BTreeMap::new();
        for word in given {
            let (old, new) =
                word.split_once('=').filter(|(old, new)| !old.is_empty() && !new.is_empty()).ok_or_else(
                    || format!("`{word}`: write OLD=NEW, the name in the old version and the one in the new"),
                )?;
            if names.insert(old.to_owned(), new.to_owned()).is_some() {
                return Err(format!("`{old}` has two new names"));
            }
        }
        Ok(Names(Arc::new(names)))
    }

    /// The new version's name.
    pub(super) fn new_name<'n>(&'n self, old: &'n str) -> &'n str {
        self.0.get(old).map_or(old, String::as_str)
    }

    /// New names by old ones.
    pub(super) fn all(&self) -> Arc<BTreeMap<String, String>> {
        self.0.clone()
    }

    /// A text of the old version with the names of the new one.
    pub(super) fn translate(&self, text: &str) -> String {
        if self.0.is_empty() {
            text.to_owned()
        } else {
            words(text).map(|word| self.new_name(word)).collect()
        }
    }

    /// Every old name is declared in the old version and every new one in the new version, and no two names become one.
    pub(super) fn check(&self, old: &Program, new: &Program) -> Result<(), String> {
        if self.0.is_empty() {
            return Ok(());
        }
        let (all, others) = (declared(old), declared(new));
        let reserved = reserved();
        for (name, now) in &*self.0 {
            if let Some(word) = [name, now].into_iter().find(|word| reserved.contains(word.as_str())) {
                return Err(format!(
                    "`{word}` is a word of the language, too: what is called so cannot be mapped"
                ));
            }
            if !all.contains(name) {
                return Err(format!("the old version has no name `{name}`"));
            }
            if !others.contains(now) {
                return Err(format!("the new version has no name `{now}`"));
            }
            if all.contains(now) && !self.0.contains_key(now) {
                return Err(format!(
                    "the old version has `{name}` and `{now}`: give `{now}` another name too"
                ));
            }
        }
        let unique: BTreeSet<&String> = self.0.values().collect();
        if unique.len() == self.0.len() { Ok(()) } else { Err("two names have the same new name".to_owned()) }
    }
}

/// Words that stand for something of the language in a printed program, too.
fn reserved() -> BTreeSet<&'static str> {
    const WORDS: &str = "a absent add addr_t align all an and another armed array as at behind block blueprint bool bp break bytes \
        checksum clear coalescing_rule computed const context continue count crc32 data drop duration each else enum event extract false \
        find fixed flow_id fn for found frame frames from full gives global group grows handle head header header_len id if in inet infinity \
        insert instance int16 int32 int64 int8 interface invariant ipv4 ipv6 kind kinds left len length less let list local local_ip max \
        memory most mss mtu multiple net net_header none notify nothing now octets of offset ones on opt opt_list options packed param parser \
        payload payload_len peek pool pop prev pseudo queue raise raises random rate ratio remove report require reset retain return rx \
        rx_size scratchpad seg_rule segments seq32 set sharing slide sliding_wnd sorted_list status_t stop struct take test then time timer timer_t \
        to token_t true tx tx_room uint16 uint32 uint64 uint8 unit unset valid variable void waits which wide with";
    let mut words: BTreeSet<&str> = WORDS.split_whitespace().collect();
    words.extend(carrick_ir::Opcode::ALL.iter().map(|op| op.name()));
    words.extend(carrick_ir::Builtin::ALL.iter().map(|builtin| builtin.name()));
    words.extend(carrick_ir::STATUS_NAMES);
    words.extend(carrick_ir::Query::ALL.iter().map(|query| query.name()));
    words.extend(carrick_ir::Change::ALL.iter().map(|change| change.name()));
    words
}

/// The names that a program declares: of declarations, and of what is in them.
fn declared(program: &Program) -> BTreeSet<String> {
    let is_name = |word: &str| {
        word.starts_with(|c: char| c.is_alphabetic()) && word.chars().all(|c| c.is_alphanumeric() || c == '_')
    };
    let mut found = BTreeSet::new();
    for item in print::items(program) {
        let is_code = item.head.starts_with("fn ");
        found.extend(item.head.split(' ').nth(1).map(str::to_owned));
        for line in item.text.lines().map(str::trim).filter(|_| !is_code) {
            // `NAME: TYPE`, `timer NAME -> EVENT`, `CALL -> EVENT`; of an enum `NAME = VALUE`
            let marks: &[&str] = if item.head.starts_with("enum ") { &[" = "] } else { &[": ", " -> "] };
            for (mark, _) in marks.iter().flat_map(|mark| line.match_indices(mark)) {
                found.extend(line[..mark].rsplit([' ', '(', '{', ',']).next().map(str::to_owned));
            }
        }
    }
    found.retain(|word| is_name(word));
    found
}
