// SPDX-License-Identifier: MIT OR Apache-2.0
//! Headers as RFCs draw them, in characters, 32 bits a row.

use std::fmt::Write;

use carrick_ir::{BlueprintDef, BpField, Program, print};

const ROW_BITS: u32 = 32;

/// The headers of a program's packets and frames, drawn, with what there is to say of each field.
pub fn layout(program: &Program) -> String {
    let drawn: Vec<String> = program.blueprints.iter().map(|bp| blueprint(program, bp)).collect();
    drawn.join("\n")
}

fn blueprint(program: &Program, bp: &BlueprintDef) -> String {
    let mut out = String::new();
    let kind = if bp.frame { "frame" } else { "packet" };
    let more = if bp.max_header_len > bp.fixed_len {
        format!(", at most {} with what is not always there", bp.max_header_len)
    } else {
        String::new()
    };
    let _ = writeln!(out, "{} ({kind}): a header of {} bytes{more}\n", bp.name, bp.fixed_len);
    let mut keys = Keys::default();
    out.push_str(&picture(bp.fixed_fields(), &mut keys));
    for (key, name) in keys.0.iter().enumerate().map(|(at, name)| (letter(at), name)) {
        let _ = writeln!(out, "  {key} = {name}");
    }
    out.push('\n');
    let rows: Vec<[String; 5]> =
        bp.header_fields().iter().filter(|f| !f.is_padding()).map(|f| row(program, bp, f)).collect();
    out.push_str(&table(&rows));
    out
}

/// Names that do not fit into their boxes have letters there.
#[derive(Default)]
struct Keys(Vec<String>);

impl Keys {
    fn of(&mut self, name: &str) -> String {
        let at = self.0.iter().position(|n| n == name).unwrap_or_else(|| {
            self.0.push(name.to_owned());
            self.0.len() - 1
        });
        letter(at)
    }
}

/// a, b, ... z, a1, b1, ...
fn letter(at: usize) -> String {
    let letter = char::from(b'a' + (at % 26) as u8);
    if at < 26 { letter.to_string() } else { format!("{letter}{}", at / 26) }
}

fn picture(fields: &[BpField], keys: &mut Keys) -> String {
    let end = fields.iter().map(|f| f.bit_offset + f.bits).max().unwrap_or(0);
    let width = end.min(ROW_BITS);
    let mut out = ruler(width);
    for first in (0..end).step_by(ROW_BITS as usize) {
        let last = end.min(first + ROW_BITS);
        // The line under a row is the one over the next, if that is not shorter.
        let _ = writeln!(out, "+{}", "-+".repeat(if first > 0 { width } else { last - first } as usize));
        out.push('|');
        for field in fields.iter().filter(|f| f.bits > 0) {
            let (from, to) = (field.bit_offset.max(first), (field.bit_offset + field.bits).min(last));
            if from < to {
                let _ = write!(out, "{}|", boxed(field, from, to, keys));
            }
        }
        out.push('\n');
    }
    let last = if end.is_multiple_of(ROW_BITS) { width } else { end % ROW_BITS };
    let _ = writeln!(out, "+{}", "-+".repeat(last as usize));
    out
}

fn ruler(width: u32) -> String {
    let line = |digit: &dyn Fn(u32) -> String| {
        let digits: Vec<String> = (0..width).map(digit).collect();
        format!(" {}\n", digits.join(" ").trim_end())
    };
    let tens = line(&|bit| if bit % 10 == 0 { (bit / 10).to_string() } else { " ".to_owned() });
    tens + &line(&|bit| (bit % 10).to_string())
}

/// Where the name of a field stands: in the row that has the most of it.
fn named_from(field: &BpField) -> u32 {
    let end = field.bit_offset + field.bits;
    let rows = (field.bit_offset / ROW_BITS..end.div_ceil(ROW_BITS)).map(|row| {
        let from = field.bit_offset.max(row * ROW_BITS);
        (end.min((row + 1) * ROW_BITS) - from, std::cmp::Reverse(from))
    });
    rows.max().map_or(field.bit_offset, |(_, from)| from.0)
}

/// What stands between the lines of a box: the name, a letter, or that the field goes on.
fn boxed(field: &BpField, from: u32, to: u32, keys: &mut Keys) -> String {
    let room = (2 * (to - from) - 1) as usize;
    let name = if field.is_padding() {
        "0".to_owned()
    } else if named_from(field) != from {
        "...".to_owned()
    } else if field.written().len() <= room {
        field.written().into_owned()
    } else {
        keys.of(&field.written())
    };
    let name = if name.len() <= room { name } else { ".".repeat(room.min(3)) };
    format!("{name:^room$}")
}

/// Bits, name, type, what values it has in a packet, its group.
fn row(program: &Program, bp: &BlueprintDef, field: &BpField) -> [String; 5] {
    let bits = match field.bits {
        0 => "none".to_owned(),
        1 => format!("bit {}", field.bit_offset),
        n => format!("{}..{}", field.bit_offset, field.bit_offset + n - 1),
    };
    let values = match field.range {
        Some((lo, hi)) if lo == hi => format!("always {}", number(lo)),
        Some((lo, hi)) if field.base > 0 => {
            format!("{}..{}, less {}", number(lo), number(hi), number(field.base))
        }
        Some((lo, hi)) => format!("{}..{}", number(lo), number(hi)),
        None => String::new(),
    };
    let group = bp.groups.iter().find(|g| {
        let at = bp.fields.iter().position(|f| std::ptr::eq(f, field)).unwrap_or(usize::MAX);
        (g.first as usize..(g.first + g.count) as usize).contains(&at)
    });
    let group = group.map_or_else(String::new, |g| match (&g.shape, g.packed) {
        (Some(shape), _) => format!("{} as {shape}", g.name),
        (None, true) => format!("{}, packed", g.name),
        (None, false) => g.name.clone(),
    });
    [bits, field.written().into_owned(), print::type_name(program, &field.ty), values, group]
}

/// Large numbers are addresses: they read better in hexadecimal.
fn number(value: u64) -> String {
    if value > u64::from(u16::MAX) { format!("{value:#x}") } else { value.to_string() }
}

fn table(rows: &[[String; 5]]) -> String {
    let mut out = String::new();
    let width = |column: usize| rows.iter().map(|r| r[column].len()).max().unwrap_or(0);
    let widths = [0, 1, 2, 3, 4].map(width);
    for row in rows {
        let cells: Vec<String> = row.iter().zip(widths).map(|(cell, w)| format!("{cell:w$}")).collect();
        let _ = writeln!(out, "  {}", cells.join("  ").trim_end());
    }
    out
}

#[cfg(test)]
mod tests {
    use carrick_ir::{BpFieldKind, Text, Ty};

    use super::*;

    fn field(name: &str, bit_offset: u32, bits: u32) -> BpField {
        let kind = BpFieldKind::Plain { init: None };
        BpField {
            name: name.into(),
            doc: Text::default(),
            ty: Ty::U64,
            bits,
            bit_offset,
            base: 0,
            range: None,
            kind,
            element: None,
        }
    }

    #[test]
    fn rows_have_the_widths_of_their_bits() {
        let fields = [
            field("kind", 0, 4),
            field("flag", 4, 1),
            field("pad_2__", 5, 3),
            field("address", 8, 48),
            field("end", 56, 8),
        ];
        let mut keys = Keys::default();
        let drawn = picture(&fields, &mut keys);
        let lines: Vec<&str> = drawn.lines().collect();
        assert_eq!(lines[3], format!("|{:^7}|{:^1}|{:^5}|{:^47}|", "kind", "a", "0", "address"));
        assert_eq!(lines[5], format!("|{:^47}|{:^15}|", "...", "end"));
        assert_eq!(keys.0, ["flag"]);
        assert!(lines.iter().skip(2).all(|l| l.len() == 65), "{drawn}");
    }
}
