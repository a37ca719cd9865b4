// SPDX-License-Identifier: MIT OR Apache-2.0
//! Breaks JSON as somebody who wants to do harm would: one value somewhere.

use serde_json::{Value, json};

use crate::random::Random;

/// Numbers at the ends of ranges.
const NUMBERS: [u64; 14] = [
    0,
    1,
    2,
    255,
    256,
    65_535,
    65_536,
    1 << 29,
    1 << 31,
    u32::MAX as u64,
    1 << 40,
    1 << 56,
    i64::MAX as u64,
    u64::MAX,
];

const TEXTS: [&str; 8] = ["", "x\"; y", "*/ int", "\n#error", "main", "</script>", "\u{1b}[2J", "if"];

/// Changes one value somewhere below.
pub fn mutate(value: &mut Value, random: &mut Random) {
    match value {
        Value::Array(all) if !all.is_empty() => {
            let at = random.below(all.len());
            match random.below(12) {
                0 => drop(all.remove(at)),
                1 => all.push(all[at].clone()),
                2 => all.swap(at, 0),
                _ => mutate(&mut all[at], random),
            }
        }
        Value::Object(all) if !all.is_empty() => {
            let at = random.below(all.len());
            if let Some(part) = all.values_mut().nth(at) {
                mutate(part, random);
            }
        }
        Value::Number(number) => {
            let old = number.as_u64().unwrap_or_default();
            let near = [old.wrapping_add(1), old.wrapping_sub(1), old ^ 1 << random.below(64)];
            let all = [&NUMBERS[..], &near].concat();
            *value = json!(random.pick(&all));
        }
        Value::Bool(flag) => *flag = !*flag,
        Value::String(text) => *text = random.pick(&TEXTS).copied().unwrap_or_default().to_owned(),
        other => *other = json!(random.below(4)),
    }
}
