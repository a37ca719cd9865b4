// SPDX-License-Identifier: MIT OR Apache-2.0
//! The methods of lists and windows. Each is declared here, once: what it works on, its operands, its result.
//!
//! [`Query`] and [`Change`] come from the declarations. So do the checks of operands, walking, printing, validation, the words of
//! editors, the tables of `docs/reference/language.md`, and the passes that ask what a statement reads, changes or gives. What a method does is written in each engine.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Order, Ty};

/// What is declared of a method.
#[derive(Debug)]
pub struct Declaration {
    /// its name in the language
    pub name: &'static str,
    pub on: On,
    pub takes: &'static [Operand],
    pub gives: Gives,
    /// nested calls of its implementation in C, where each call is a frame of its own
    pub depth: u32,
    /// how it is written, with the type of its result
    pub form: &'static str,
    /// what it does: sentences, in Markdown
    pub meaning: &'static str,
}

/// The collections that have a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum On {
    /// lists, sorted or not
    AnyList,
    /// lists whose order the program chooses
    List,
    SortedList,
    Window,
}

/// An operand of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operand {
    /// a value of the type of the list's elements
    Element,
    /// an integer: the position of an element
    Index,
    /// a value of the type by which the list is sorted
    Key,
    /// a number of the window: `seq32`
    Number,
    /// such a number, or nothing
    MaybeNumber,
}

/// The result of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gives {
    Nothing,
    Bool,
    /// a length or an index: `uint32`
    Count,
    /// a number of the window
    Number,
    /// an element of the list
    Element,
}

impl On {
    /// Whether a value of the type has such methods.
    pub fn has(self, ty: &Ty) -> bool {
        match (self, ty) {
            (On::AnyList, Ty::List(..)) | (On::Window, Ty::Wnd { .. }) => true,
            (On::List, Ty::List(_, _, order)) => *order == Order::Given,
            (On::SortedList, Ty::List(_, _, order)) => *order != Order::Given,
            _ => false,
        }
    }
}

impl Gives {
    /// The type of the result of a method on a value of this type; `Void` if it has none.
    pub fn ty(self, on: &Ty) -> Ty {
        match (self, on) {
            (Gives::Bool, _) => Ty::Bool,
            (Gives::Count, _) => Ty::U32,
            (Gives::Number, _) => Ty::Seq32,
            (Gives::Element, Ty::List(element, ..)) => (**element).clone(),
            _ => Ty::Void,
        }
    }
}

impl Declaration {
    /// The least and the greatest number of operands.
    pub fn operands(&self) -> (usize, usize) {
        let optional = self.takes.iter().filter(|operand| **operand == Operand::MaybeNumber).count();
        (self.takes.len() - optional, self.takes.len())
    }
}

macro_rules! declare {
    ($(#[$doc:meta])* $Methods:ident: $($Name:ident = $name:literal, $on:ident [$($operand:ident),*] -> $gives:ident, $depth:literal, $form:literal, $meaning:literal;)*) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case", deny_unknown_fields)]
        pub enum $Methods {
            $($Name,)*
        }

        impl $Methods {
            pub const ALL: &'static [$Methods] = &[$($Methods::$Name),*];

            /// What is declared of it.
            pub const fn declaration(self) -> &'static Declaration {
                match self {
                    $($Methods::$Name => &Declaration {
                        name: $name,
                        on: On::$on,
                        takes: &[$(Operand::$operand),*],
                        gives: Gives::$gives,
                        depth: $depth,
                        form: $form,
                        meaning: $meaning,
                    },)*
                }
            }

            /// The name in the language.
            pub const fn name(self) -> &'static str {
                self.declaration().name
            }

            /// The method with this name of values of the type.
            pub fn named(name: &str, on: &Ty) -> Option<$Methods> {
                $Methods::ALL.iter().copied().find(|m| m.name() == name && m.declaration().on.has(on))
            }
        }
    };
}

declare! {
    /// A method that only reads: an expression.
    Query:
    ListLen = "len", AnyList [] -> Count, 0,
        "len() -> uint32",
        "The number of elements.";
    ListFull = "full", AnyList [] -> Bool, 0,
        "full() -> bool",
        "Whether the list has no free slot: there are N elements.";
    ListFind = "find", SortedList [Key] -> Count, 1,
        "find(key) -> uint32",
        "The number of elements with a lesser key: the index of the first element with this key, if there is one.";
    WndHead = "head", Window [] -> Number, 0,
        "head() -> seq32",
        "The first number of the window.";
    WndTest = "test", Window [Number] -> Bool, 1,
        "test(seq32 a) -> bool",
        "Whether the flag of a is set.";
    WndFirstSet = "first_set", Window [] -> Number, 1,
        "first_set() -> seq32",
        "The first number with a set flag; if there is none, the number after the window's last.";
    WndFirstUnset = "first_unset", Window [] -> Number, 1,
        "first_unset() -> seq32",
        "The first number without a set flag.";
}

declare! {
    /// A method that changes what it works on: a statement.
    Change:
    ListAdd = "add", AnyList [Element] -> Nothing, 1,
        "add(x)",
        "Appends x, in a sorted list after the elements that are not greater; nothing if the list is full.";
    ListInsert = "insert", List [Index, Element] -> Nothing, 1,
        "insert(uint32 i, x)",
        "Inserts x before the element i, or at the end; nothing if the list is full.";
    ListRemove = "remove", AnyList [Index] -> Nothing, 1,
        "remove(uint32 i)",
        "Removes the element i.";
    ListPop = "pop", AnyList [] -> Element, 1,
        "pop()",
        "Removes and returns the first element; the zero value if the list is empty.";
    ListClear = "clear", AnyList [] -> Nothing, 0,
        "clear()",
        "Removes all elements.";
    WndReset = "reset", Window [Number] -> Nothing, 1,
        "reset(seq32 s)",
        "Clears all flags and sets the head to s.";
    WndSet = "set", Window [Number, Number] -> Bool, 1,
        "set(seq32 a, seq32 b) -> bool",
        "Sets the flags of [a, b) that are within the window. False, and nothing is set, if this would need more than R ranges.";
    WndUnset = "unset", Window [Number, Number] -> Bool, 1,
        "unset(seq32 a, seq32 b) -> bool",
        "Clears the flags of [a, b). False, and nothing is cleared, if this would split a range and need more than R ranges.";
    WndSlide = "slide", Window [MaybeNumber] -> Nothing, 1,
        "slide([seq32 s])",
        "Moves the head forward to s, or to `first_unset()`.";
}
