// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names of a program as DSLX has them.

/// Words that no variable or field can have as its name: keywords, built-in functions, and the emitter's own functions and
/// variables.
const TAKEN: [&str; 91] = [
    "alone",
    "and_reduce",
    "array_rev",
    "array_size",
    "array_slice",
    "as",
    "assert",
    "at",
    "before",
    "behind",
    "bit_count",
    "bit_slice_update",
    "bits",
    "bool",
    "brk",
    "chan",
    "clog2",
    "clz",
    "config",
    "const",
    "cont",
    "cover",
    "ctz",
    "decode",
    "earlier",
    "either",
    "else",
    "encode",
    "enum",
    "enumerate",
    "env",
    "fail",
    "first",
    "fn",
    "fold",
    "for",
    "if",
    "impl",
    "import",
    "in",
    "interface_of",
    "io",
    "ipv4",
    "ipv4_header",
    "issue",
    "issue_wide",
    "left",
    "let",
    "map",
    "match",
    "next",
    "next_moment",
    "one_hot",
    "or_reduce",
    "out",
    "packet_in",
    "packet_out",
    "part",
    "plus",
    "priority_sel",
    "proc",
    "product",
    "pseudo",
    "pub",
    "range",
    "recv",
    "rev",
    "scheduled",
    "sel",
    "send",
    "signex",
    "skip",
    "spawn",
    "struct",
    "sum",
    "sum_of",
    "timer_set",
    "timer_start",
    "timer_start_at",
    "timer_stop",
    "timers",
    "token",
    "trace",
    "type",
    "unroll_for",
    "update",
    "width",
    "woken",
    "woken_by",
    "xor_reduce",
    "zip",
];

/// Types that the emitter makes itself.
const OWN_TYPES: [&str; 15] = [
    "Addr", "Arrived", "Env", "Ipv4", "Issued", "Leaving", "Made", "Net", "Params", "Parsed", "Payload",
    "Place", "Slot", "Timer", "Woken",
];

/// A variable, a field or a function.
pub fn variable(name: &str) -> String {
    if TAKEN.contains(&name) { format!("{name}_") } else { name.to_owned() }
}

/// A type: `of_data` is `OfData`.
pub fn type_name(name: &str) -> String {
    let mut out = String::new();
    for word in name.split('_') {
        let mut letters = word.chars();
        out.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        out.extend(letters);
    }
    if OWN_TYPES.contains(&out.as_str()) {
        out.push('_');
    }
    out
}
