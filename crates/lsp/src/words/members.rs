// SPDX-License-Identifier: MIT OR Apache-2.0
//! What stands behind a `.` without having been declared.

use super::word::{Word, word};

pub const CONTEXT: &[Word] = &[word("id", "id", "The id of the instance; read only.")];
pub const APP_EVENT: &[Word] = &[word("token", "token_t token", "Names the application's request.")];
pub const NET_EVENT: &[Word] = &[word(
    "pkt",
    "e.pkt",
    "In a program in the network: the packet, for `forward`, `pkt_copy`, `drop` and `pkt_store`.",
)];
pub const BLUEPRINT: &[Word] = &[word("net", "net", "The fields of the network header.")];
pub const OPTION: &[Word] =
    &[word("valid", "valid() -> bool", "True if the received packet has the option.")];
pub const TIMER: &[Word] = &[word("armed", "armed() -> bool", "True if the timer runs.")];

pub const REQUEST: &[Word] = &[word("take", "take()", "Returns the value, and leaves `none` in its place.")];

pub const PAYLOAD: &[Word] = &[
    word("len", "bytes len", "Bytes of the payload."),
    word("addr", "addr_t addr", "Where the payload of a received packet is."),
];
pub const FRAMES: &[Word] =
    &[word("add", "add(frame)", "Appends a copy of the frame; nothing if the list is full.")];
pub const OPTIONS: &[Word] = &[word(
    "add",
    "add(option(value, ...))",
    "Adds an option; a second option of the same kind replaces the first.",
)];
pub const PACKET: &[Word] = &[
    word(
        "extract",
        "extract(blueprint bp)",
        "Reads the header. The parser ends if the packet is too short or wrong; `e.pkt.extract(h)` leaves h as it was.",
    ),
    word("left", "left() -> bytes", "Bytes of the packet that are not extracted yet."),
    word("peek", "peek() -> uint8", "The next byte that is not extracted yet; 0 if there is none."),
];

pub const ANY_LIST: &[Word] = &[
    word("len", "len() -> uint32", "The number of elements."),
    word("full", "full() -> bool", "True if the list has no free slot."),
    word("add", "add(x)", "Adds an element; nothing if the list is full."),
    word("get", "get(uint32 i)", "The element i; zero if there is none."),
    word("remove", "remove(uint32 i)", "Removes the element i."),
    word("pop", "pop()", "Removes and returns the first element; zero if there is none."),
    word("clear", "clear()", "Removes all elements."),
];
pub const LIST: &[Word] = &[
    word("set", "set(uint32 i, x)", "Replaces the element i."),
    word(
        "insert",
        "insert(uint32 i, x)",
        "Puts x before the element i, or at the end; nothing if the list is full.",
    ),
];
pub const SORTED_LIST: &[Word] = &[word(
    "find",
    "find(key) -> uint32",
    "The number of elements with a lesser key: the index of the first element with this key.",
)];
pub const WINDOW: &[Word] = &[
    word("reset", "reset(seq32 s)", "Empties the window and puts its head at s."),
    word("head", "head() -> seq32", "The first number of the window."),
    word(
        "set",
        "set(seq32 a, seq32 b) -> bool",
        "Sets the flags of [a, b). False, and nothing set, if that needs too many ranges.",
    ),
    word(
        "unset",
        "unset(seq32 a, seq32 b) -> bool",
        "Clears the flags of [a, b). False, and nothing cleared, if that needs too many ranges.",
    ),
    word("test", "test(seq32 a) -> bool", "True if the flag of a is set."),
    word(
        "first_set",
        "first_set() -> seq32",
        "The first number whose flag is set; the end of the window if there is none.",
    ),
    word("first_unset", "first_unset() -> seq32", "The first number whose flag is not set."),
    word("slide", "slide([seq32 s])", "Moves the head forward to `first_unset()`, or to s."),
];
