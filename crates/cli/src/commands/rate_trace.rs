// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files with a link's rate over time: tables, and packet-delivery traces of Mahimahi.

use std::path::Path;
use std::sync::Arc;

use carrick_driver::{Failure, files, quantity};
use carrick_sim::rate_trace::{LONGEST, RateTrace};

/// The first line of a table.
const HEADER: &str = "time,rate";
const MILLISECOND: u64 = 1_000_000;
/// The period of a table with one rate, which says nothing.
const SECOND: u64 = 1_000_000_000;

/// A line, counted from 1, and what is wrong there.
type Wrong = (usize, String);

/// Reads one of either kind.
///
/// # Errors
/// [`Failure::Usage`] with file, line, what is wrong there and what to do.
pub fn read(path: &Path) -> Result<Arc<RateTrace>, Failure> {
    let file = path.display();
    let text = files::data(path).map_err(|e| Failure::Usage(format!("cannot read {file}: {e}")))?;
    let wrong = |(line, why)| Failure::Usage(format!("{file}:{line}: {why}"));
    parse(&text).map(Arc::new).map_err(wrong)
}

fn parse(text: &str) -> Result<RateTrace, Wrong> {
    match text.lines().next() {
        None => Err((
            1,
            format!("the file is empty: write a table with the header `{HEADER}`, or a trace of Mahimahi"),
        )),
        Some(first) if first.trim() == HEADER => table(text),
        Some(_) => trace(text),
    }
}

/// `time,rate`, then lines such as `0s,5Mbps`. A last line without a rate says when it ends.
fn table(text: &str) -> Result<RateTrace, Wrong> {
    let mut steps: Vec<(u64, u64)> = Vec::new();
    let mut end = None;
    for (line, row) in (1..).zip(text.lines()).skip(1) {
        let wrong = |why: String| Err((line, why));
        let Some((time, rate)) = row.split_once(',') else {
            return wrong(format!("{row:?} is not a time and a rate: write a line like 10ms,5Mbps"));
        };
        if end.is_some() {
            return wrong("the line before has no rate, and only the last line may have none".into());
        }
        let at = quantity::duration(time.trim()).map_err(|e| (line, e.to_string()))?;
        if steps.is_empty() && at > 0 {
            return wrong(format!("the first time is {time}: begin with a line for 0s"));
        }
        if steps.last().is_some_and(|(before, _)| *before >= at) {
            return wrong(format!("{time} is not after the time of the line before: sort the lines by time"));
        }
        in_a_day(at, line)?;
        match rate.trim() {
            "" if steps.is_empty() => {
                return wrong("the first line has no rate: write one like 0s,5Mbps".into());
            }
            "" => end = Some(at),
            rate => steps.push((at, quantity::rate(rate).map_err(|e| (line, e.to_string()))?)),
        }
    }
    let last = text.lines().count();
    let usual = match steps[..] {
        [] => return Err((last, "the table has no rates: write lines like 0s,5Mbps".into())),
        [_] => SECOND,
        [.., (before, _), (from, _)] => from + (from - before),
    };
    let end = end.unwrap_or(usual.min(LONGEST));
    let none = || (last, "all rates are 0, so no packet would ever leave: write a rate above 0".into());
    RateTrace::steps(steps, end).ok_or_else(none)
}

/// A millisecond on each line, at which 1504 bytes may be delivered.
fn trace(text: &str) -> Result<RateTrace, Wrong> {
    let mut times: Vec<u64> = Vec::new();
    for (line, row) in (1..).zip(text.lines()) {
        let at = row.trim().parse::<u64>().ok().and_then(|ms| ms.checked_mul(MILLISECOND));
        let Some(at) = at else {
            let else_table =
                if line == 1 { format!(", or the header `{HEADER}` of a table") } else { String::new() };
            return Err((
                line,
                format!("{row:?} is not a time of a trace: write a whole number of milliseconds{else_table}"),
            ));
        };
        if times.last().is_some_and(|before| *before > at) {
            let why = format!("{row} ms is before the time of the line before: sort the lines by time");
            return Err((line, why));
        }
        in_a_day(at, line)?;
        times.push(at);
    }
    let last = times.len();
    let none = || {
        let why = "all opportunities are at 0 ms, so the trace has no length: it repeats after its last time, \
                   which must be 1 or more";
        (last, why.into())
    };
    RateTrace::opportunities(times).ok_or_else(none)
}

fn in_a_day(at: u64, line: usize) -> Result<(), Wrong> {
    if at < LONGEST {
        return Ok(());
    }
    Err((line, "times are below 24h: leave out the rest, since a recording repeats".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_and_traces_are_read() {
        let s = SECOND;
        for (text, steps, end) in [
            ("time,rate\n0s,5Mbps\n", vec![(0, 5_000_000)], s),
            ("time,rate\n0s,5Mbps\n1s,0\n3s,1Gbps", vec![(0, 5_000_000), (s, 0), (3 * s, s)], 5 * s),
            ("time,rate\r\n0, 1Gbps\r\n1s, 2Gbps\r\n4s,\r\n", vec![(0, s), (s, 2 * s)], 4 * s),
        ] {
            assert_eq!(parse(text).ok(), RateTrace::steps(steps, end), "{text}");
        }
        let wanted = RateTrace::opportunities([0, 7, 7, 20].map(|ms| ms * MILLISECOND).into());
        assert_eq!(parse("0\n7\n7\n20\n").ok(), wanted);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        for (text, line, wanted) in [
            ("", 1, "the file is empty: write a table"),
            ("time,rate\n", 1, "the table has no rates"),
            ("time,rate\n1s,5Mbps\n", 2, "the first time is 1s: begin with a line for 0s"),
            ("time,rate\n0s,5Mbps\n2s,1Mbps\n1s,1Mbps\n", 4, "1s is not after the time of the line before"),
            ("time,rate\n0s,5Mbps\n0s,1Mbps\n", 3, "sort the lines"),
            ("time,rate\n0s,5\n", 2, "\"5\" is not a rate; write it like 100Mbps"),
            ("time,rate\n0s,5Mbps\n10,5Mbps\n", 3, "\"10\" is not a duration"),
            ("time,rate\n0s,\n", 2, "the first line has no rate"),
            ("time,rate\n0s,5Mbps\n1s,\n2s,5Mbps\n", 4, "only the last line may have none"),
            ("time,rate\n0s,5Mbps\n\n", 3, "\"\" is not a time and a rate"),
            ("time,rate\n0s,0\n1s,0\n", 3, "all rates are 0"),
            ("time,rate\n0s,1Mbps\n25h,1Mbps\n", 3, "times are below 24h"),
            ("seconds,mbps\n", 1, "or the header `time,rate` of a table"),
            ("5\n4\n", 2, "4 ms is before the time of the line before: sort"),
            ("5\n\n", 2, "\"\" is not a time of a trace: write a whole number of milliseconds"),
            ("1.5\n", 1, "\"1.5\" is not a time"),
            ("0\n0\n", 2, "all opportunities are at 0 ms"),
            ("99999999999999999999\n", 1, "is not a time of a trace"),
            ("86400001\n", 1, "times are below 24h"),
        ] {
            let (found, said) = parse(text).expect_err(text);
            assert!(found == line && said.contains(wanted), "{text}: {found}: {said}");
        }
    }
}
