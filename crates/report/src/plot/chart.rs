// SPDX-License-Identifier: MIT OR Apache-2.0
//! Curves between two axes, as a drawing (SVG 1.1) that needs no other file.

use std::fmt::Write as _;

use carrick_doc::escape;

use super::legend;
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
/// A given size leaves at least so much for the curves.
const LEAST: (f64, f64) = (200.0, 100.0);
/// Below them, to the first line of the legend, and from one to the next.
const TO_LEGEND: f64 = 68.0;
const LINE: f64 = 20.0;
/// From the left of a legend's line to its text.
const KEY: f64 = 46.0;
/// Of text, and of the title.
const LETTERS: f64 = 13.0;
const TITLE: f64 = 16.0;

/// What stands in a drawing before and behind the manifest.
pub const METADATA: (&str, &str) = ("<metadata>", "</metadata>");

/// What an axis shows.
#[derive(Debug, Clone)]
pub struct Axis {
    pub title: String,
    pub unit: Unit,
    pub log: bool,
    /// its limits, in place of those that fit the values
    pub range: Option<(f64, f64)>,
}

impl Axis {
    /// With limits that fit.
    pub fn new(title: &str, unit: Unit, log: bool) -> Axis {
        Axis { title: title.to_owned(), unit, log, range: None }
    }

    fn scale(&self, values: impl Iterator<Item = f64>) -> Scale {
        match self.range {
            Some(range) => Scale::between(range, self.log),
            None if self.log => Scale::log(values),
            None => Scale::linear(values),
        }
    }

    /// A value at it: with its unit at a logarithmic one, whose values differ much.
    fn words(&self, value: f64, scale: &Scale) -> String {
        if self.log { self.unit.words(value) } else { self.unit.number(value, scale.hi()) }
    }

    /// Its name, with the unit of its values.
    fn name(&self, scale: &Scale) -> String {
        match self.unit.name(scale.hi()) {
            _ if self.log => format!("{} (log scale)", self.title),
            Some(unit) => format!("{}, {unit}", self.title),
            None => self.title.clone(),
        }
    }

    /// Whether values between these two are within the limits.
    fn has(&self, a: f64, b: f64) -> bool {
        self.range.is_none_or(|(from, to)| a.min(b) <= to && a.max(b) >= from)
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
    /// of the whole drawing, in pixels; else it is as high as it needs
    pub size: Option<(u32, u32)>,
}

/// Where the curves are.
struct Area {
    x: Scale,
    y: Scale,
    right: f64,
    bottom: f64,
}

impl Area {
    fn across(&self, value: f64) -> f64 {
        LEFT + self.x.place(value) * (self.right - LEFT)
    }

    fn up(&self, value: f64) -> f64 {
        TOP + (1.0 - self.y.place(value)) * (self.bottom - TOP)
    }
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

    /// Checks what a user can choose.
    ///
    /// # Errors
    /// A sentence, if an axis cannot have its limits, nothing is between them, or the size is too small.
    pub fn check(&self) -> Result<(), String> {
        for (option, axis) in [("--x", &self.x), ("--y", &self.y)] {
            if axis.log && axis.range.is_some_and(|(from, _)| from <= 0.0) {
                return Err(format!("{option} begins at 0, and this axis has a log scale: begin above 0"));
            }
        }
        let points: usize = self.curves.iter().map(|curve| self.visible(curve).len()).sum();
        if points == 0 {
            return Err("no curve is within --x and --y".to_owned());
        }
        let (width, height) = self.dimensions();
        let (least, low) = (LEFT + LEAST.0 + RIGHT, height - self.curves_height() + LEAST.1);
        if width < least || height < low {
            return Err(format!("--size is too small: this drawing needs at least {least}x{low} pixels"));
        }
        Ok(())
    }

    /// The points of a curve that lines within the limits have: each line between two points is in or out.
    fn visible(&self, curve: &Curve) -> Vec<(f64, f64)> {
        let has = |a: &(f64, f64), b: &(f64, f64)| self.x.has(a.0, b.0) && self.y.has(a.1, b.1);
        if let [only] = &curve.points[..] {
            return if has(only, only) { vec![*only] } else { Vec::new() };
        }
        curve.points.windows(2).filter(|pair| has(&pair[0], &pair[1])).flatten().copied().collect()
    }

    /// The lines of the legend: of each curve, and of the note.
    fn texts(&self) -> Vec<Vec<String>> {
        let width = self.size.map_or(WIDTH, |(width, _)| f64::from(width)) - LEFT - RIGHT;
        let of = |curve: &Curve| legend::lines(&curve.label, LETTERS, width - KEY);
        let note = self.note.iter().map(|note| legend::lines(note, LETTERS, width));
        self.curves.iter().map(of).chain(note).collect()
    }

    /// The width and height of the drawing.
    fn dimensions(&self) -> (f64, f64) {
        let fits = TOP + CURVES_HEIGHT + TO_LEGEND + self.legend_height();
        self.size.map_or((WIDTH, fits), |(width, height)| (f64::from(width), f64::from(height)))
    }

    fn curves_height(&self) -> f64 {
        self.dimensions().1 - TOP - TO_LEGEND - self.legend_height()
    }

    fn legend_height(&self) -> f64 {
        self.texts().iter().map(Vec::len).sum::<usize>() as f64 * LINE
    }

    fn area(&self) -> Area {
        let visible: Vec<(f64, f64)> = self.curves.iter().flat_map(|curve| self.visible(curve)).collect();
        let points = || visible.iter().chain(&self.reach);
        Area {
            x: self.x.scale(points().map(|p| p.0)),
            y: self.y.scale(points().map(|p| p.1)),
            right: self.dimensions().0 - RIGHT,
            bottom: TOP + self.curves_height(),
        }
    }

    /// The drawing; `manifest`, lines that say what makes it again, stands in it.
    pub fn svg(&self, manifest: &str) -> String {
        let area = self.area();
        let (width, height) = self.dimensions();
        let (open, close) = METADATA;
        let (manifest, title) = (escape(manifest), escape(&self.title));
        let mut out = format!(
            r##"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" font-family="Helvetica, Arial, sans-serif" font-size="{LETTERS}" fill="#222">
{open}{manifest}{close}
<title>{title}</title>
<rect width="{width}" height="{height}" fill="#fff"/>
"##
        );
        // A long title is in smaller letters.
        let size = TITLE.min(TITLE * (width - 16.0) / legend::width(&self.title, TITLE));
        text(&mut out, (width / 2.0, 26.0), "middle", &format!(" font-size=\"{size:.1}\""), &self.title);
        self.axes(&mut out, &area);
        let cut = self.x.range.or(self.y.range).is_some();
        if cut {
            let (w, h) = (area.right - LEFT, area.bottom - TOP);
            let _ = writeln!(
                out,
                "<clipPath id=\"within\"><rect x=\"{LEFT}\" y=\"{TOP}\" width=\"{w}\" height=\"{h}\"/></clipPath>\n<g clip-path=\"url(#within)\">"
            );
        }
        self.curves.iter().for_each(|c| curve(&mut out, c, &area));
        out.push_str(if cut { "</g>\n" } else { "" });
        self.legend(&mut out, &area);
        out.push_str("</svg>\n");
        out
    }

    fn axes(&self, out: &mut String, area: &Area) {
        let Area { x, y, right, bottom } = area;
        let mut free = 0.0;
        for value in x.ticks() {
            let at = area.across(value);
            line(out, (at, TOP), (at, *bottom));
            let words = self.x.words(value, x);
            let half = legend::width(&words, LETTERS) / 2.0;
            // One that would cover the last one is left out.
            if at - half >= free {
                let within = at.min(right + RIGHT - half);
                text(out, (within, bottom + 18.0), "middle", "", &words);
                free = at + half + 4.0;
            }
        }
        for value in y.ticks() {
            let at = area.up(value);
            line(out, (LEFT, at), (*right, at));
            text(out, (LEFT - 8.0, at + 4.0), "end", "", &self.y.words(value, y));
        }
        let _ = writeln!(
            out,
            "<path d=\"M{LEFT} {TOP}V{bottom}H{right}\" fill=\"none\" stroke=\"#222\" stroke-width=\"1.2\"/>"
        );
        text(out, ((LEFT + right) / 2.0, bottom + 40.0), "middle", "", &self.x.name(x));
        let middle = (TOP + bottom) / 2.0;
        let turned = format!(" transform=\"rotate(-90 16 {middle})\"");
        text(out, (16.0, middle), "middle", &turned, &self.y.name(y));
    }

    fn legend(&self, out: &mut String, area: &Area) {
        let mut at = area.bottom + TO_LEGEND;
        for (number, lines) in self.texts().iter().enumerate() {
            let curve = self.curves.get(number);
            if let Some(c) = curve {
                stroke(out, c, &format!("M{LEFT} {}h36", at - 4.0));
                if c.marked {
                    mark(out, c, (LEFT + 18.0, at - 4.0));
                }
            }
            let (left, grey) = if curve.is_some() { (LEFT + KEY, "") } else { (LEFT, " fill=\"#666\"") };
            for words in lines {
                text(out, (left, at), "start", grey, words);
                at += LINE;
            }
        }
    }
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

fn curve(out: &mut String, curve: &Curve, area: &Area) {
    let mut path = String::new();
    let mut last = None;
    for (number, (px, py)) in curve.points.iter().enumerate() {
        let place = format!("{:.1} {:.1}", area.across(*px), area.up(*py));
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
    // A line of one point has no length.
    if curve.marked || curve.points.len() == 1 {
        curve.points.iter().for_each(|(px, py)| mark(out, curve, (area.across(*px), area.up(*py))));
    }
}
