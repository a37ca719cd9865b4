// SPDX-License-Identifier: MIT OR Apache-2.0
//! What tshark makes of a capture with a script, as PDML.

use std::path::Path;
use std::process::Command;

/// A field of the tree that is shown of a packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    pub depth: usize,
    pub name: String,
    pub value: String,
}

/// A packet as it is shown: what stands under the protocol's own line.
pub type Packet = Vec<Shown>;

/// As [`dissect`], where packets are judged as a core does it: also those whose checksum nobody computed.
pub fn dissect_strictly(capture: &Path, script: &Path, protocol: &str) -> Vec<Packet> {
    // A program without checksums has no such preference.
    let text = std::fs::read_to_string(script).expect("readable");
    let all = format!("{protocol}.checksums:all");
    let preferences: &[&str] = if text.contains("prefs.checksums") { &["-o", &all] } else { &[] };
    dissect(capture, script, protocol, preferences)
}

/// Reads a capture; what is shown under `protocol` of each packet, nothing where it is not there.
///
/// # Panics
/// If the script has an error, at loading or for any packet.
pub fn dissect(capture: &Path, script: &Path, protocol: &str, preferences: &[&str]) -> Vec<Packet> {
    let packets = trees(capture, script, preferences);
    packets.iter().map(|packet| of_protocol(packet, protocol)).collect()
}

/// All that is shown of each packet.
pub fn trees(capture: &Path, script: &Path, preferences: &[&str]) -> Vec<Packet> {
    let output = Command::new("tshark")
        .args(["-n", "-T", "pdml", "-r"])
        .arg(capture)
        .arg("-X")
        .arg(format!("lua_script:{}", script.display()))
        .args(preferences)
        .output()
        .expect("tshark runs");
    let (text, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}");
    for said in [&text, &said] {
        let error = said.lines().find(|l| l.contains("Lua Error") || l.contains("Lua: Error"));
        assert_eq!(error, None, "{}", said.lines().take(20).collect::<Vec<_>>().join("\n"));
    }
    text.split("<packet>").skip(1).map(tree).collect()
}

fn of_protocol(all: &[Shown], protocol: &str) -> Packet {
    let Some(at) = all.iter().position(|s| s.name == protocol) else { return Vec::new() };
    all[at + 1..].iter().take_while(|s| s.depth > all[at].depth).cloned().collect()
}

/// Each tag is a line.
fn tree(packet: &str) -> Packet {
    let mut found = Vec::new();
    let mut depth: usize = 0;
    for line in packet.lines().map(str::trim) {
        if line.starts_with("</") {
            depth = depth.saturating_sub(1);
        } else if line.starts_with("<field ") || line.starts_with("<proto ") {
            let value = attribute(line, "show");
            found.push(Shown { depth, name: attribute(line, "name"), value });
            depth += usize::from(!line.ends_with("/>"));
        }
    }
    found
}

fn attribute(line: &str, name: &str) -> String {
    let begin = format!(" {name}=\"");
    let value = line.split(&begin).nth(1).and_then(|rest| rest.split('"').next());
    value.unwrap_or_default().to_owned()
}

/// A number as tshark shows it: decimal, hexadecimal, or the name of a truth.
pub fn number(shown: &str) -> Option<i128> {
    match (shown, shown.strip_prefix("0x")) {
        ("True", _) => Some(1),
        ("False", _) => Some(0),
        (_, Some(hex)) => i128::from_str_radix(hex, 16).ok(),
        _ => shown.parse().ok(),
    }
}

/// The children of the node at `at`, with all below them.
pub fn below(packet: &[Shown], at: usize) -> &[Shown] {
    let rest = &packet[at + 1..];
    let len = rest.iter().take_while(|s| s.depth > packet[at].depth).count();
    &rest[..len]
}
