// SPDX-License-Identifier: MIT OR Apache-2.0
//! The options of `carrick plot`.

use std::fmt::{self, Display, Formatter};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;

use carrick_driver::{Failure, quantity};
use carrick_report::plot::{Axis, Choice, Figure, Unit, shown};
use clap::Args as ClapArgs;

/// The greatest width and height, in pixels: a picture of this size has 256 MiB in memory.
const MOST: u32 = 8192;

#[derive(Debug, ClapArgs)]
pub struct Plot {
    /// Tables of `carrick sim --csv`, `--timeline`, `--rates` or `--samples`; each curve is named after its file
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Drawing to write; the ending is its format: .svg, .png or .pdf
    #[arg(short, long, default_value = "plot.svg")]
    pub output: PathBuf,
    /// Figure: slowdown or completion (of --csv); queues, goodput or utilisation (of --timeline); rates (of --rates); samples (of --samples). Omit for the first that the tables have
    #[arg(long, value_name = "FIGURE")]
    pub what: Option<What>,
    /// Hosts whose contexts are drawn, of samples: h0, or several: h0..h3,h7 (default: all)
    #[arg(long, value_name = "HOSTS", value_delimiter = ',', value_parser = hosts)]
    pub host: Vec<Numbers>,
    /// Flows to draw, of rates: 0, or several: 0..3,7 (default: all)
    #[arg(long, value_name = "FLOWS", value_delimiter = ',', value_parser = numbers)]
    pub flow: Vec<Numbers>,
    /// Contexts to draw, of samples, by their number at their host: 1, or several: 1..3,7 (default: all)
    #[arg(long, value_name = "CONTEXTS", value_delimiter = ',', value_parser = numbers)]
    pub context: Vec<Numbers>,
    /// Title, in place of the figure's own
    #[arg(long, value_name = "TEXT", value_parser = title)]
    pub title: Option<String>,
    /// Limits of the horizontal axis, in its unit, for example 1s..3s (default: all values)
    #[arg(long, value_name = "FROM..TO")]
    pub x: Option<Range>,
    /// Limits of the vertical axis, in its unit, for example 0..64KiB, 0..20Mbps or 0..100% (default: all values)
    #[arg(long, value_name = "FROM..TO")]
    pub y: Option<Range>,
    /// Width and height of the drawing, in pixels (PDF: points) (default: 760 by what the curves and their names need)
    #[arg(long, value_name = "WxH", value_parser = size)]
    pub size: Option<(u32, u32)>,
}

impl Plot {
    /// The curves to draw.
    pub fn choice(&self) -> Choice {
        let all = |numbers: &[Numbers]| numbers.iter().map(|some| some.0.clone()).collect();
        Choice { hosts: all(&self.host), flows: all(&self.flow), contexts: all(&self.context) }
    }

    /// The words that draw a figure so again, behind `plot`. A value is in one word with its option, as it may begin with `-`.
    pub fn words(&self, figure: Figure) -> Vec<String> {
        let mut words = vec!["--what".to_owned(), figure.name().to_owned()];
        let numbers = [("host", &self.host), ("flow", &self.flow), ("context", &self.context)];
        let numbers = numbers.into_iter().flat_map(|(name, all)| all.iter().map(move |some| (name, some)));
        words.extend(numbers.map(|(name, some)| format!("--{name}={some}")));
        words.extend(self.title.iter().map(|title| format!("--title={title}")));
        words.extend(self.x.iter().map(|range| format!("--x={range}")));
        words.extend(self.y.iter().map(|range| format!("--y={range}")));
        words.extend(self.size.iter().map(|(width, height)| format!("--size={width}x{height}")));
        words
    }
}

/// Which drawing.
#[derive(Debug, Clone, Copy)]
pub struct What(pub Figure);

impl FromStr for What {
    type Err = String;

    fn from_str(text: &str) -> Result<What, String> {
        let known = Figure::ALL.into_iter().find(|figure| figure.name() == text);
        known.map(What).ok_or_else(|| format!("say one of {}", Figure::ALL.map(Figure::name).join(", ")))
    }
}

/// Numbers of hosts, flows or contexts, both ends included.
#[derive(Debug, Clone)]
pub struct Numbers(RangeInclusive<u32>);

impl Display for Numbers {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&shown(&self.0))
    }
}

/// `3`, or `0..3`
fn numbers(text: &str) -> Result<Numbers, String> {
    some(text, "").ok_or_else(|| "expected a number, or two: 3 or 0..3".to_owned())
}

/// `h3`, or `h0..h3`; also without `h`, as in tables
fn hosts(text: &str) -> Result<Numbers, String> {
    let known = some(text, "h").or_else(|| some(text, ""));
    known.ok_or_else(|| "expected a host, or several: h3 or h0..h3".to_owned())
}

fn some(text: &str, before: &str) -> Option<Numbers> {
    let one = |text: &str| text.strip_prefix(before)?.parse().ok();
    let (first, last) = text.split_once("..").unwrap_or((text, text));
    let some = one(first)?..=one(last)?;
    (!some.is_empty()).then_some(Numbers(some))
}

fn title(text: &str) -> Result<String, String> {
    if text.chars().any(char::is_control) {
        return Err("a title is one line, without control characters".to_owned());
    }
    Ok(text.to_owned())
}

fn size(text: &str) -> Result<(u32, u32), String> {
    let both =
        text.split_once('x').and_then(|(width, height)| Some((width.parse().ok()?, height.parse().ok()?)));
    both.filter(|(width, height)| *width <= MOST && *height <= MOST)
        .ok_or_else(|| format!("expected a width and a height of at most {MOST} pixels, such as 800x600"))
}

/// The limits of an axis, as a user says them: units are those of the axis.
#[derive(Debug, Clone)]
pub struct Range {
    from: String,
    to: String,
}

impl FromStr for Range {
    type Err = String;

    fn from_str(text: &str) -> Result<Range, String> {
        let both = text.split_once("..").filter(|(from, to)| !from.is_empty() && !to.is_empty());
        let (from, to) = both.ok_or("expected FROM..TO, such as 1s..3s")?;
        Ok(Range { from: from.to_owned(), to: to.to_owned() })
    }
}

impl Display for Range {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.from, self.to)
    }
}

impl Range {
    /// The limits in the unit of an axis.
    ///
    /// # Errors
    /// [`Failure::Usage`] naming the option and the axis, if they have another unit, or the first is not below the second.
    pub fn on(&self, option: &str, axis: &Axis) -> Result<(f64, f64), Failure> {
        let wrong =
            |why: &str| Failure::Usage(format!("{option} {self}: {why}; this axis is {}", axis.title));
        let value = |text: &str| match axis.unit {
            Unit::Time => quantity::duration(text).map(|ns| ns as f64),
            Unit::Octets => quantity::bytes(text).map(|octets| octets as f64),
            Unit::Rate => quantity::rate(text).map(|bps| bps as f64),
            Unit::Share => quantity::share(text).map(|ppm| f64::from(ppm) / 1e6),
            Unit::Times => match text.parse::<f64>() {
                Ok(number) if number.is_finite() && number >= 0.0 => Ok(number),
                _ => {
                    Err(Failure::Usage(format!("{text:?} is not a number from 0 on; write it like 5 or 2.5")))
                }
            },
        };
        let value = |text: &str| value(text).map_err(|e| wrong(&e.to_string()));
        let (from, to) = (value(&self.from)?, value(&self.to)?);
        if from < to { Ok((from, to)) } else { Err(wrong("the first limit is not below the second")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_have_the_unit_of_their_axis() {
        let on = |text: &str, unit| {
            let range: Range = text.parse().expect("two limits");
            range.on("--x", &Axis::new("name", unit, false)).map_err(|e| e.to_string())
        };
        assert_eq!(on("1ms..2s", Unit::Time), Ok((1e6, 2e9)));
        assert_eq!(on("0..64KiB", Unit::Octets), Ok((0.0, 65536.0)));
        assert_eq!(on("0..20Mbps", Unit::Rate), Ok((0.0, 2e7)));
        assert_eq!(on("10%..100%", Unit::Share), Ok((0.1, 1.0)));
        assert_eq!(on("1..2.5", Unit::Times), Ok((1.0, 2.5)));
        let said = on("1KB..2KB", Unit::Time).expect_err("bytes are no time");
        assert!(
            said.starts_with("--x 1KB..2KB: \"1KB\" is not a duration")
                && said.ends_with("this axis is name"),
            "{said}"
        );
        assert!(on("2s..1s", Unit::Time).is_err_and(|e| e.contains("not below")));
        assert!(on("nan..1", Unit::Times).is_err() && on("0..inf", Unit::Times).is_err());
        assert!(["", "..", "1s", "1s..", "..2s"].iter().all(|text| text.parse::<Range>().is_err()));
    }

    #[test]
    fn hosts_sizes_and_titles_are_read() {
        let shown = |text: &str| hosts(text).map(|some| some.to_string());
        assert_eq!([shown("h3"), shown("h0..h3"), shown("2")], ["3", "0..3", "2"].map(|t| Ok(t.to_owned())));
        assert!(shown("h3..h0").is_err() && numbers("h1").is_err() && numbers("").is_err());
        assert_eq!(size("800x600"), Ok((800, 600)));
        assert!(["800", "800x", "x", "9000x10", "-1x5"].iter().all(|text| size(text).is_err()));
        assert!(title("a\nb").is_err() && title("a <b>").is_ok());
    }
}
