// SPDX-License-Identifier: MIT OR Apache-2.0
//! Curves between two axes, as a drawing (SVG 1.1) that needs no other file.

use std::fmt::Write as _;

use carrick_doc::escape;

use super::scale::{Scale, Unit};

/// Colours that people with any sight tell apart, in this order (Okabe and Ito, "Color Universal Design", 2008).
const COLOURS: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8a7a00"];
const WIDTH: f64 = 760.0;
/// Around the curves.
const LEFT: f64 = 92.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 44.0;
const CURVES_HEIGHT: f64 = 340.0;
/// Below them, to the first line of the legend, and from one to the next.
const TO_LEGEND: f64 = 68.0;
const LINE: f64 = 20.0;

/// What stands in a drawing before and behind the manifest.
pub const METADATA: (&str, &str) = ("<metadata>", "</metadata>");

/// What an axis tells.
#[derive(Debug, Clone, Copy)]
pub struct Axis {
    pub title: &'static str,
    pub unit: Unit,
    pub log: bool,
}

impl Axis {
    fn scale(&self, values: impl Iterator<Item = f64>) -> Scale {
        if self.log { Scale::log(values) } else { Scale::linear(values) }
    }

    fn words(&self, value: f64, scale: &Scale) -> String {
        self.unit.words(value, if scale.is_log() { value } else { scale.hi() })
    }
}

/// A line through points, in their order.
#[derive(Debug, Clone)]
pub struct Curve {
    pub label: String,
    pub points: Vec<(f64, f64)>,
    /// by number, so that curves of one thing have the same
    pub colour: usize,
    pub dashed: bool,
    /// a mark at each point
    pub marked: bool,
}

/// Curves between axes.
#[derive(Debug, Clone)]
pub struct Chart {
    pub title: String,
    pub x: Axis,
    pub y: Axis,
    pub curves: Vec<Curve>,
    /// what else is to be known of it
    pub note: Option<String>,
    /// a point that is within the axes too, though no curve goes there
    pub reach: Option<(f64, f64)>,
}

impl Chart {
    /// A chart for each colour, all between the same axes.
    pub fn panels(self) -> Vec<Chart> {
        let points = || self.curves.iter().flat_map(|curve| &curve.points);
        let most = |of: fn(&(f64, f64)) -> f64| points().map(of).fold(0.0, f64::max);
        let reach = Some((most(|p| p.0), most(|p| p.1)));
        let panel = |curves: &[Curve]| Chart { curves: curves.to_vec(), reach, ..self.clone() };
        self.curves.chunk_by(|a, b| a.colour == b.colour).map(panel).collect()
    }

    /// The drawing; `manifest`, lines that say what makes it again, stands in it.
    pub fn svg(&self, manifest: &str) -> String {
        let points = || self.curves.iter().flat_map(|curve| &curve.points).chain(&self.reach);
        let (x, y) = (self.x.scale(points().map(|p| p.0)), self.y.scale(points().map(|p| p.1)));
        let lines = self.curves.len() + usize::from(self.note.is_some());
        let height = TOP + CURVES_HEIGHT + TO_LEGEND + lines as f64 * LINE;
        let (open, close) = METADATA;
        let (manifest, title) = (escape(manifest), escape(&self.title));
        let mut out = format!(
            r##"<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" font-family="Helvetica, Arial, sans-serif" font-size="13" fill="#222">
{open}{manifest}{close}
<title>{title}</title>
<rect width="{WIDTH}" height="{height}" fill="#fff"/>
"##
        );
        text(&mut out, (WIDTH / 2.0, 26.0), "middle", " font-size=\"16\"", &self.title);
        self.axes(&mut out, &x, &y);
        self.curves.iter().for_each(|c| curve(&mut out, c, &x, &y));
        if self.curves.iter().all(|curve| curve.points.is_empty()) {
            let middle = (LEFT + WIDTH - RIGHT) / 2.0;
            text(&mut out, (middle, TOP + CURVES_HEIGHT / 2.0), "middle", "", "there is nothing to draw");
        }
        self.legend(&mut out);
        out.push_str("</svg>\n");
        out
    }

    fn axes(&self, out: &mut String, x: &Scale, y: &Scale) {
        let (bottom, right) = (TOP + CURVES_HEIGHT, WIDTH - RIGHT);
        for value in x.ticks() {
            let at = across(x, value);
            line(out, (at, TOP), (at, bottom));
            text(out, (at, bottom + 18.0), "middle", "", &self.x.words(value, x));
        }
        for value in y.ticks() {
            let at = up(y, value);
            line(out, (LEFT, at), (right, at));
            text(out, (LEFT - 8.0, at + 4.0), "end", "", &self.y.words(value, y));
        }
        let _ = writeln!(
            out,
            "<path d=\"M{LEFT} {TOP}V{bottom}H{right}\" fill=\"none\" stroke=\"#222\" stroke-width=\"1.2\"/>"
        );
        text(out, ((LEFT + right) / 2.0, bottom + 40.0), "middle", "", self.x.title);
        let middle = TOP + CURVES_HEIGHT / 2.0;
        let turned = format!(" transform=\"rotate(-90 16 {middle})\"");
        text(out, (16.0, middle), "middle", &turned, self.y.title);
    }

    fn legend(&self, out: &mut String) {
        let mut at = TOP + CURVES_HEIGHT + TO_LEGEND;
        for c in &self.curves {
            let key = Curve { points: Vec::new(), ..c.clone() };
            stroke(out, &key, &format!("M{LEFT} {}h36", at - 4.0));
            if c.marked {
                mark(out, c, (LEFT + 18.0, at - 4.0));
            }
            text(out, (LEFT + 46.0, at), "start", "", &c.label);
            at += LINE;
        }
        if let Some(note) = &self.note {
            text(out, (LEFT, at), "start", " fill=\"#666\"", note);
        }
    }
}

fn across(x: &Scale, value: f64) -> f64 {
    LEFT + x.place(value) * (WIDTH - LEFT - RIGHT)
}

fn up(y: &Scale, value: f64) -> f64 {
    TOP + (1.0 - y.place(value)) * CURVES_HEIGHT
}

fn text(out: &mut String, (x, y): (f64, f64), anchor: &str, more: &str, words: &str) {
    let words = escape(words);
    let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\"{more}>{words}</text>");
}

fn line(out: &mut String, from: (f64, f64), to: (f64, f64)) {
    let _ = writeln!(
        out,
        "<path d=\"M{:.1} {:.1}L{:.1} {:.1}\" stroke=\"#ddd\" stroke-width=\"1\"/>",
        from.0, from.1, to.0, to.1
    );
}

/// A dashed curve has rings.
fn mark(out: &mut String, curve: &Curve, (x, y): (f64, f64)) {
    let colour = COLOURS[curve.colour % COLOURS.len()];
    let fill = if curve.dashed { "#fff" } else { colour };
    let _ = writeln!(
        out,
        "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{fill}\" stroke=\"{colour}\" stroke-width=\"1.4\"/>"
    );
}

fn stroke(out: &mut String, curve: &Curve, path: &str) {
    let colour = COLOURS[curve.colour % COLOURS.len()];
    let dashes = if curve.dashed { " stroke-dasharray=\"6 4\"" } else { "" };
    let _ = writeln!(
        out,
        "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.8\" stroke-linejoin=\"round\"{dashes}/>"
    );
}

fn curve(out: &mut String, curve: &Curve, x: &Scale, y: &Scale) {
    let mut path = String::new();
    let mut last = None;
    for (number, (px, py)) in curve.points.iter().enumerate() {
        let place = format!("{:.1} {:.1}", across(x, *px), up(y, *py));
        // Points that fall together are one.
        if last.as_ref() != Some(&place) {
            let _ = write!(path, "{}{place}", if number == 0 { "M" } else { "L" });
            last = Some(place);
        }
    }
    if path.is_empty() {
        return;
    }
    stroke(out, curve, &path);
    if curve.marked {
        curve.points.iter().for_each(|(px, py)| mark(out, curve, (across(x, *px), up(y, *py))));
    }
}
