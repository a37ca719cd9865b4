// SPDX-License-Identifier: MIT OR Apache-2.0
//! Headers as RFCs draw them, 32 bits a row, as pictures.

use std::borrow::Cow;

use carrick_ir::BpField;

use crate::html::escape;

const BIT: u32 = 22;
const ROW_BITS: u32 = 32;
const ROW: u32 = 30;
const RULER: u32 = 18;
/// of a letter, at the size that the style sheet gives
const LETTER: u32 = 7;
const SMALL_LETTER: u32 = 6;

/// A picture that grows row by row.
pub struct Picture {
    svg: String,
    height: u32,
}

/// A part of a field that lies in one row.
struct Piece<'a> {
    field: &'a BpField,
    from: u32,
    bits: u32,
    /// whether the field ends in it, and begins in it
    whole: bool,
}

impl Picture {
    pub fn new() -> Self {
        let mut svg = String::new();
        for bit in 0..ROW_BITS {
            let x = bit * BIT + BIT / 2;
            svg.push_str(&format!("<text class=\"bit\" x=\"{x}\" y=\"{}\">{bit}</text>", RULER - 5));
        }
        Picture { svg, height: RULER }
    }

    /// Fields that stand together from the beginning of a row, perhaps with when they are there.
    pub fn fields(&mut self, fields: &[BpField], when: Option<&str>) {
        if let Some(when) = when {
            self.caption(when);
        }
        let mut rows: Vec<Vec<Piece<'_>>> = Vec::new();
        for field in fields {
            for piece in pieces(field) {
                let row = (piece.from / ROW_BITS) as usize;
                rows.resize_with(rows.len().max(row + 1), Vec::new);
                rows[row].push(piece);
            }
        }
        for row in rows {
            let needed = row.iter().map(|p| turned(&label(p.field), p.bits)).max().unwrap_or(0);
            let height = ROW.max(needed);
            for piece in &row {
                self.cell(piece, height, when.is_some());
            }
            self.height += height;
        }
    }

    fn cell(&mut self, piece: &Piece<'_>, height: u32, optional: bool) {
        let (x, width) = (piece.from % ROW_BITS * BIT, piece.bits * BIT);
        let name = escape(&label(piece.field));
        let class = if optional { "field optional" } else { "field" };
        let bits = piece.field.bits;
        self.svg.push_str(&format!(
            "<g><title>{name}: {bits} bit{}</title><rect class=\"{class}\" x=\"{x}\" y=\"{}\" width=\"{width}\" height=\"{height}\"/>",
            if bits == 1 { "" } else { "s" },
            self.height,
        ));
        let (cx, cy) = (x + width / 2, self.height + height / 2);
        let more = if piece.whole { "" } else { " …" };
        if turned(&label(piece.field), piece.bits) == 0 {
            self.svg.push_str(&format!("<text x=\"{cx}\" y=\"{cy}\">{name}{more}</text></g>"));
        } else {
            self.svg.push_str(&format!(
                "<text class=\"small\" transform=\"rotate(-90 {cx} {cy})\" x=\"{cx}\" y=\"{cy}\">{name}</text></g>"
            ));
        }
    }

    /// A row of something whose length depends on the packet.
    pub fn open(&mut self, text: &str, when: Option<&str>) {
        if let Some(when) = when {
            self.caption(when);
        }
        let (width, y) = (ROW_BITS * BIT, self.height);
        self.svg.push_str(&format!(
            "<rect class=\"field open\" x=\"0\" y=\"{y}\" width=\"{width}\" height=\"{ROW}\"/><text x=\"{}\" y=\"{}\">{}</text>",
            width / 2,
            y + ROW / 2,
            escape(text),
        ));
        self.height += ROW;
    }

    fn caption(&mut self, when: &str) {
        self.height += RULER;
        let y = self.height - 6;
        self.svg.push_str(&format!("<text class=\"when\" x=\"2\" y=\"{y}\">if {}</text>", escape(when)));
    }

    pub fn finish(self, name: &str) -> String {
        let (width, height) = (ROW_BITS * BIT + 2, self.height + 2);
        format!(
            "<svg class=\"header\" role=\"img\" aria-label=\"the header {}\" viewBox=\"-1 -1 {width} {height}\" width=\"{width}\">{}</svg>\n",
            escape(name),
            self.svg
        )
    }
}

/// A field cut where rows end.
fn pieces(field: &BpField) -> Vec<Piece<'_>> {
    let mut found = Vec::new();
    let end = field.bit_offset + field.bits;
    let mut from = field.bit_offset;
    while from < end {
        let to = end.min((from / ROW_BITS + 1) * ROW_BITS);
        found.push(Piece { field, from, bits: to - from, whole: to - from == field.bits });
        from = to;
    }
    found
}

/// The height that a row needs for a name that has to stand upright; 0 if it fits as it is.
fn turned(name: &str, bits: u32) -> u32 {
    let letters = name.chars().count() as u32;
    if letters * LETTER + 4 <= bits * BIT { 0 } else { letters * SMALL_LETTER + 8 }
}

fn label(field: &BpField) -> Cow<'_, str> {
    if field.is_padding() { Cow::Borrowed("0") } else { field.written() }
}
