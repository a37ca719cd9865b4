// SPDX-License-Identifier: MIT OR Apache-2.0
//! What stands behind a `.` without having been declared.

use carrick_ir::methods::On;
use carrick_ir::{Change, Query};

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

pub const OPTIONAL: &[Word] =
    &[word("present", "present", "True if the event has this optional field. Only then is the field read.")];

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

pub const ANY_LIST: &[Word] = &methods::<7>(
    On::AnyList,
    word("get", "get(uint32 i)", "The element i; the zero value if there is none. Also written `l[i]`."),
);
pub const RETAIN: &[Word] =
    &[word("retain", "retain(x, condition)", "Keeps only the elements x for which the condition holds.")];
pub const LIST: &[Word] = &methods::<2>(On::List, word("set", "set(uint32 i, x)", "Replaces the element i."));
pub const SORTED_LIST: &[Word] = &methods::<1>(On::SortedList, NONE);
pub const WINDOW: &[Word] = &methods::<8>(On::Window, NONE);

const NONE: Word = word("", "", "");

/// The methods that are declared for these collections, and another one if it has a name.
const fn methods<const N: usize>(on: On, other: Word) -> [Word; N] {
    let mut words = [other; N];
    let (mut at, mut next) = (0, 0);
    while next < Query::ALL.len() + Change::ALL.len() {
        let declared = if next < Query::ALL.len() {
            Query::ALL[next].declaration()
        } else {
            Change::ALL[next - Query::ALL.len()].declaration()
        };
        if declared.on as u8 == on as u8 {
            words[at] = word(declared.name, declared.form, declared.meaning);
            at += 1;
        }
        next += 1;
    }
    assert!(at + !other.name.is_empty() as usize == N);
    words
}
