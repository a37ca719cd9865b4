// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names of a program as DSLX has them.

/// Words that no variable or field can have as its name: keywords, built-in functions, and the emitter's own variables.
const TAKEN: [&str; 60] = [
    "and_reduce",
    "array_rev",
    "array_size",
    "array_slice",
    "as",
    "assert",
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
    "else",
    "encode",
    "enum",
    "enumerate",
    "env",
    "fail",
    "fn",
    "for",
    "if",
    "impl",
    "import",
    "in",
    "io",
    "left",
    "let",
    "map",
    "match",
    "next",
    "one_hot",
    "or_reduce",
    "out",
    "priority_sel",
    "proc",
    "pub",
    "range",
    "recv",
    "rev",
    "send",
    "signex",
    "spawn",
    "sel",
    "struct",
    "token",
    "trace",
    "type",
    "unroll_for",
    "update",
    "width",
    "xor_reduce",
    "zip",
];

/// Types that the emitter makes itself.
const OWN_TYPES: [&str; 6] = ["Addr", "Payload", "Env", "Issued", "Slot", "Params"];

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
