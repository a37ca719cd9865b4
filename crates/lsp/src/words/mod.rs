// SPDX-License-Identifier: MIT OR Apache-2.0
//! The words that have a meaning before any declaration: what the editor says of each.

mod functions;
pub mod members;
mod plain;
mod word;

pub use functions::{FORMS, FUNCTIONS, INSTRUCTIONS, REGISTRATIONS};
pub use plain::{DECLARATIONS, EVENT_FIELDS, EVENT_KINDS, LITERALS, REPORTS, STATEMENTS, STATUSES, TYPES};
pub use word::Word;

/// What kind of word it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// of declarations and statements
    Keyword,
    /// built in
    Type,
    /// that gives a value, or registers something
    Function,
    /// that has an effect
    Instruction,
    /// `true`, `none`, a status, a kind of report
    Value,
}

/// Each class with its words.
pub const ALL: [(Class, &[Word]); 12] = [
    (Class::Keyword, DECLARATIONS),
    (Class::Keyword, STATEMENTS),
    (Class::Keyword, EVENT_KINDS),
    (Class::Keyword, EVENT_FIELDS),
    (Class::Type, TYPES),
    (Class::Function, FUNCTIONS),
    (Class::Function, FORMS),
    (Class::Instruction, INSTRUCTIONS),
    (Class::Function, REGISTRATIONS),
    (Class::Value, LITERALS),
    (Class::Value, STATUSES),
    (Class::Value, REPORTS),
];

/// The word of this name. Kinds of events may be written in capitals.
pub fn find(name: &str) -> Option<(Class, &'static Word)> {
    let mut classes = ALL.iter();
    let kind = || EVENT_KINDS.iter().find(|w| w.name.eq_ignore_ascii_case(name)).map(|w| (Class::Keyword, w));
    classes
        .find_map(|(class, words)| words.iter().find(|w| w.name == name).map(|w| (*class, w)))
        .or_else(kind)
}

/// All words that a grammar for an editor has to know, by their class.
pub fn names() -> impl Iterator<Item = (Class, &'static str)> {
    ALL.iter().flat_map(|(class, words)| words.iter().map(|w| (*class, w.name)))
}
