// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names and literals as Lua has them.

use carrick_ir::NetField;

const KEYWORDS: [&str; 22] = [
    "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if", "in", "local",
    "nil", "not", "or", "repeat", "return", "then", "true", "until", "while",
];

/// What a function of the script uses besides its own locals and the library.
const OUTER: [&str; 30] = [
    "Dissector",
    "DissectorTable",
    "Field",
    "Int64",
    "PROTOCOL",
    "SEGMENTS",
    "Proto",
    "ProtoExpert",
    "ProtoField",
    "UInt64",
    "_ENV",
    "bit32",
    "const",
    "enums",
    "extract",
    "f",
    "fn",
    "ipairs",
    "load",
    "math",
    "new",
    "pairs",
    "param",
    "parse",
    "proto",
    "table",
    "telling",
    "tostring",
    "type",
    "x",
];

fn is_keyword(name: &str) -> bool {
    KEYWORDS.contains(&name)
}

/// `base.name`, whatever the name is.
pub fn field(base: &str, name: &str) -> String {
    if is_keyword(name) { format!("{base}[\"{name}\"]") } else { format!("{base}.{name}") }
}

/// `name = value` in a table.
pub fn entry(name: &str, value: &str) -> String {
    if is_keyword(name) { format!("[\"{name}\"] = {value}") } else { format!("{name} = {value}") }
}

/// The line that begins a function in a table.
pub fn function(table: &str, name: &str, params: &str) -> String {
    if is_keyword(name) {
        format!("{table}[\"{name}\"] = function({params})")
    } else {
        format!("function {table}.{name}({params})")
    }
}

/// What the script calls a field of the network header.
pub fn net_field(field: NetField) -> &'static str {
    match field {
        NetField::SrcIp => "src_ip",
        NetField::DstIp => "dst_ip",
        NetField::Protocol => "protocol",
        NetField::Ttl => "ttl",
        NetField::Tos => "tos",
        NetField::PayloadLen => "payload_len",
        NetField::Interface => "interface",
        NetField::Segments => "segments",
        NetField::SegmentCount => "segment_count",
        NetField::SegmentsLeft => "segments_left",
        NetField::SegmentFlags => "segment_flags",
        NetField::SegmentTag => "segment_tag",
    }
}

/// An option's field in the option's table, where `valid` says whether the option is there.
pub fn option_field(name: &str) -> &str {
    if name == "valid" { "valid_" } else { name }
}

/// Names for the locals of a function that hide nothing which the script needs; one for each local.
pub fn locals<'a>(names: impl Iterator<Item = &'a str> + Clone, library: &[&str]) -> Vec<String> {
    let taken = |name: &str| is_keyword(name) || OUTER.contains(&name) || library.contains(&name);
    names
        .clone()
        .map(|name| {
            let mut own = name.to_owned();
            while taken(&own) || (own != name && names.clone().any(|other| other == own)) {
                own.push('_');
            }
            own
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_local_hides_what_the_script_needs() {
        let names = ["f", "f_", "end", "len", "show"];
        assert_eq!(locals(names.into_iter(), &["show"]), ["f__", "f_", "end_", "len", "show_"]);
    }

    #[test]
    fn keywords_are_quoted() {
        assert_eq!(field("h", "end"), "h[\"end\"]");
        assert_eq!(entry("last", "1"), "last = 1");
    }
}
