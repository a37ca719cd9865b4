// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lists and ranges of values: `0%,1%`, `1ms..50ms:log5`; and their units, which name columns.

use carrick_driver::{Failure, quantity};
use clap::{Arg, ArgMatches, Command};

/// What a value measures. A column has it in its name, and integers of it in its cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Nanoseconds,
    BitsPerSecond,
    Bytes,
    Packets,
    PartsPerMillion,
}

use Unit::{BitsPerSecond, Bytes, Nanoseconds, Packets, PartsPerMillion};

/// Values of a range at most.
const POINTS: usize = 10_000;

impl Unit {
    /// Of the one value of an option, by what its help calls it.
    pub fn of(arg: &Arg) -> Option<Unit> {
        let [name] = arg.get_value_names().filter(|_| arg.get_value_delimiter().is_none())? else {
            return None;
        };
        match name.as_str() {
            "TIME" => Some(Nanoseconds),
            "RATE" => Some(BitsPerSecond),
            "BYTES" => Some(Bytes),
            "PACKETS" => Some(Packets),
            "SHARE" => Some(PartsPerMillion),
            _ => None,
        }
    }

    /// Of values that are all written with a unit of the same kind, or are 0.
    pub fn of_values(values: &[String]) -> Option<Unit> {
        let written: Vec<&String> = values.iter().filter(|text| *text != "0").collect();
        let plain = |text: &&&String| text.bytes().all(|c| c.is_ascii_digit());
        if written.is_empty() || written.iter().any(|text| plain(&text)) {
            return None;
        }
        let all = |unit: &Unit| written.iter().all(|text| unit.number(text).is_ok());
        [Nanoseconds, BitsPerSecond, Bytes].into_iter().find(all)
    }

    /// A value as a number.
    ///
    /// # Errors
    /// [`Failure::Usage`] with an example.
    pub fn number(self, text: &str) -> Result<u64, Failure> {
        match self {
            Nanoseconds => quantity::duration(text),
            BitsPerSecond => quantity::rate(text),
            Bytes => quantity::bytes(text),
            PartsPerMillion => quantity::share(text).map(u64::from),
            Packets => {
                text.parse().map_err(|_| Failure::Usage(format!("{text:?} is not a number of packets")))
            }
        }
    }

    /// A number as a value that the command line takes.
    fn text(self, number: u64) -> String {
        match self {
            Nanoseconds => format!("{number}ns"),
            BitsPerSecond => format!("{number}bps"),
            Bytes => format!("{number}B"),
            Packets => number.to_string(),
            PartsPerMillion => format!("{}.{:04}%", number / 10_000, number % 10_000),
        }
    }

    /// A column of such values.
    pub fn column(self, name: &str) -> String {
        let unit = match self {
            Nanoseconds => "ns",
            BitsPerSecond => "bps",
            Bytes => "bytes",
            Packets => "packets",
            PartsPerMillion => "ppm",
        };
        if name == unit { name.to_owned() } else { format!("{name}_{unit}") }
    }
}

/// The values of an option: those of a list, with its ranges expanded. `said` is the option with this text, for messages.
///
/// # Errors
/// [`Failure::Usage`] naming option and value.
pub fn list(text: &str, unit: Option<Unit>, commas: bool, said: &str) -> Result<Vec<String>, Failure> {
    let wrong = |why: &str| Failure::Usage(format!("{said}: {why}"));
    let mut values: Vec<String> = Vec::new();
    for piece in pieces(text, commas) {
        if piece.is_empty() {
            return Err(wrong("a value is missing"));
        }
        match range(&piece, unit).map_err(|why| wrong(&why))? {
            Some(points) => values.extend(points),
            None => values.push(piece),
        }
    }
    let twice = values.iter().enumerate().find(|(place, value)| values[..*place].contains(value));
    match twice {
        Some((_, value)) => Err(wrong(&format!("{value} is there twice"))),
        None => Ok(values),
    }
}

/// Says that an option of a command that makes one run has several values, if one has: `given` are its options, `known` the
/// parser's.
pub fn where_one_is_needed(given: &ArgMatches, known: &Command) -> Option<String> {
    let several = |arg: &&Arg| {
        let unit = Unit::of(arg);
        let lists = unit.is_some() || ["topology", "workload", "sizes"].contains(&arg.get_id().as_str());
        let text = one(given, arg).filter(|text| lists && !text.starts_with("trace:"));
        text.is_some_and(|text| list(text, unit, false, "").map_or(true, |all| all.len() > 1))
    };
    let arg = known.get_arguments().find(several)?;
    Some(format!(
        "--{} {}: `carrick {}` makes one run, with one value; `carrick sweep` takes lists and ranges",
        arg.get_long()?,
        one(given, arg)?,
        known.get_name()
    ))
}

/// The first text that is given for an option.
fn one<'a>(given: &'a ArgMatches, arg: &Arg) -> Option<&'a str> {
    given.try_get_raw(arg.get_id().as_str()).ok().flatten()?.next()?.to_str()
}

/// The pieces of a list. A piece of digits belongs to a topology before it: `leaf-spine:4,2,2`.
fn pieces(text: &str, commas: bool) -> Vec<String> {
    if commas || text.contains(';') {
        return text.split(';').map(str::to_owned).collect();
    }
    let mut pieces: Vec<String> = Vec::new();
    for piece in text.split(',') {
        let is_digits = !piece.is_empty() && piece.bytes().all(|c| c.is_ascii_digit());
        match pieces.last_mut().filter(|last| is_digits && last.starts_with("leaf-spine:")) {
            Some(last) => last.extend([",", piece]),
            None => pieces.push(piece.to_owned()),
        }
    }
    pieces
}

/// The points of `1ms..50ms:log5` or `0..40:lin5`; `None` for what is no range.
fn range(text: &str, unit: Option<Unit>) -> Result<Option<Vec<String>>, String> {
    let Some((first, rest)) = text.split_once("..") else { return Ok(None) };
    let scaled = rest.rsplit_once(':').and_then(|(last, scale)| {
        let count = scale.strip_prefix("lin").or_else(|| scale.strip_prefix("log"))?;
        Some((last, scale.starts_with("log"), count.parse::<usize>().ok()?))
    });
    let Some((last, log, count)) = scaled else {
        // Other options have values of their own that look so: `--sizes 1KB..1MB`.
        let Some(_) = unit else { return Ok(None) };
        return Err(format!("a range says how many values it has: {text}:lin5, or {text}:log5"));
    };
    if !(2..=POINTS).contains(&count) {
        return Err(format!("a range has 2 to {POINTS} values"));
    }
    let ends = [first.to_owned(), last.to_owned()];
    let unit = unit.or_else(|| Unit::of_values(&ends));
    let number = |text: &str| match unit {
        Some(unit) => unit.number(text).map_err(|e| e.to_string()),
        None => text.parse().map_err(|_| format!("{text:?} is not a number that a range may have")),
    };
    let (first, last) = (number(first)?, number(last)?);
    if first >= last {
        return Err("a range goes from the lesser value to the greater one".into());
    }
    if log && first == 0 {
        return Err("a logarithmic range cannot begin at 0".into());
    }
    let said = |number: u64| unit.map_or_else(|| number.to_string(), |unit| unit.text(number));
    Ok(Some((0..count).map(|place| said(point([first, last], place, count, log))).collect()))
}

/// One of so many points between two numbers, and these.
fn point([first, last]: [u64; 2], place: usize, count: usize, log: bool) -> u64 {
    if place + 1 == count {
        return last;
    }
    let (a, b) = (first as f64, last as f64);
    let share = place as f64 / (count - 1) as f64;
    if log { (a * (b / a).powf(share)).round() as u64 } else { (a + (b - a) * share).round() as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::SimArgs;

    fn sim() -> Command {
        <SimArgs as clap::Args>::augment_args(Command::new("sim"))
    }

    fn unit_of(id: &str) -> Option<Unit> {
        sim().get_arguments().find(|arg| arg.get_id() == id).and_then(Unit::of)
    }

    fn all(text: &str, id: &str) -> Result<String, String> {
        list(text, unit_of(id), false, "--x").map(|all| all.join(" ")).map_err(|e| e.to_string())
    }

    #[test]
    fn lists_and_ranges_are_values() {
        for (text, id, values) in [
            ("0%,1%,2%", "loss", "0% 1% 2%"),
            ("1ms..100ms:log3", "delay", "1000000ns 10000000ns 100000000ns"),
            ("0..40ms:lin3", "delay", "0ns 20000000ns 40000000ns"),
            ("0%,1%..2%:lin2", "loss", "0% 1.0000% 2.0000%"),
            ("1..1000:log4", "queue", "1 10 100 1000"),
            ("4..16:lin4", "count", "4 8 12 16"),
            ("star:8,leaf-spine:4,2,2,pair", "topology", "star:8 leaf-spine:4,2,2 pair"),
            ("1KB..1MB,w1", "sizes", "1KB..1MB w1"),
            ("64KiB..128KiB:lin2", "window", "65536B 131072B"),
        ] {
            assert_eq!(all(text, id).as_deref(), Ok(values), "{text}");
        }
        let features = list("a,b=c;d", None, true, "--with");
        assert_eq!(features, Ok(vec!["a,b=c".to_owned(), "d".to_owned()]));
    }

    #[test]
    fn wrong_ones_are_named() {
        for (text, id, why) in [
            ("1%,", "loss", "a value is missing"),
            ("1%,1%", "loss", "1% is there twice"),
            ("1ms..50ms", "delay", "1ms..50ms:lin5, or 1ms..50ms:log5"),
            ("50ms..1ms:lin3", "delay", "from the lesser value"),
            ("0..1ms:log3", "delay", "cannot begin at 0"),
            ("1ms..2ms:log1", "delay", "2 to 10000 values"),
            ("1..2:lin9", "queue", "1 is there twice"),
            ("a..b:lin2", "count", "\"a\" is not a number"),
        ] {
            let said = all(text, id).expect_err(text);
            assert!(said.starts_with("--x: ") && said.contains(why), "{text}: {said}");
        }
    }

    #[test]
    fn one_run_takes_one_value() {
        let found = |line: &str| {
            let given = sim().try_get_matches_from(line.split(' ')).expect("it is a command line");
            where_one_is_needed(&given, &sim())
        };
        for (line, named) in [
            ("sim a.mtp --loss 0%,1%", "--loss 0%,1%: `carrick sim` makes one run"),
            ("sim a.mtp --ecn-threshold 5 --delay 1ms..5ms:lin3", "--delay 1ms..5ms:lin3: "),
            ("sim a.mtp --core-rate 1Gbps,2Gbps --topology star:2", "--core-rate 1Gbps,2Gbps: "),
            ("sim a.mtp --topology star:2,star:4", "--topology star:2,star:4: "),
        ] {
            let said = found(line).unwrap_or_default();
            assert!(said.starts_with(named), "{line}: {said}");
        }
        for line in [
            "sim a.mtp --loss 1% --streams 1KB,2KB --with a,b",
            "sim a.mtp --topology leaf-spine:4,2,2 --sizes 1KB..1MB --set a=1,2 --workload trace:a,b.csv",
        ] {
            assert_eq!(found(line), None, "{line}");
        }
    }

    #[test]
    fn units_are_those_of_options_and_values() {
        let of = |values: &[&str]| {
            Unit::of_values(&values.iter().map(|&text| text.to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(of(&["0", "10ms"]), Some(Nanoseconds));
        assert_eq!(of(&["64KiB", "1MB"]), Some(Bytes));
        assert_eq!((of(&["1", "2"]), of(&["a", "1ms"]), of(&["0"])), (None, None, None));
        assert_eq!((Bytes.column("bytes"), Nanoseconds.column("delay")), ("bytes".into(), "delay_ns".into()));
        assert_eq!(
            (unit_of("loss"), unit_of("streams"), unit_of("count")),
            (Some(PartsPerMillion), None, None)
        );
    }

    /// A quantity is called by its unit in the help, so that it has its unit in tables.
    #[test]
    fn options_with_a_quantity_have_a_unit() {
        for arg in sim().get_arguments().filter(|arg| arg.get_id() != "every") {
            let defaults = arg.get_default_values().iter().map(|text| text.to_string_lossy().into_owned());
            let defaults: Vec<String> = defaults.collect();
            if Unit::of_values(&defaults).is_some() || defaults.iter().any(|text| text.ends_with('%')) {
                assert!(
                    Unit::of(arg).is_some_and(|unit| unit.number(&defaults[0]).is_ok()),
                    "{}",
                    arg.get_id()
                );
            }
        }
    }
}
