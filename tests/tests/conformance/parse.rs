// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reading packetdrill's language: a script becomes lines with times, packets, calls and commands.

use carrick_tests::tcp_segment::{Opt, Segment};

use crate::report::Report;

/// A line of a script.
#[derive(Debug)]
pub struct Line {
    pub number: usize,
    pub when: When,
    /// when a call that blocks returns, since the line before
    pub until: Option<u64>,
    pub event: Event,
}

/// When a line happens, in nanoseconds.
#[derive(Debug, Clone, Copy)]
pub enum When {
    /// after the line before
    After(u64),
    /// since the beginning
    At(u64),
    /// not before and not after, since the line before
    Between(u64, u64),
    /// whenever it does
    Any,
}

#[derive(Debug)]
pub enum Event {
    In(Segment),
    Report(Report),
    /// `None`: options are not compared
    Out(Segment),
    Call {
        name: String,
        args: Vec<String>,
        /// what it returns, and its error
        result: i64,
        error: Option<String>,
    },
    Shell(String),
    /// assertions about what the kernel under test reports of its socket
    Assertion(String),
}

/// A script that was read, or the line that cannot be played and why.
pub struct Script {
    pub options: Vec<(String, String)>,
    pub lines: Vec<Result<Line, (usize, String)>>,
}

/// What scripts that differ by system call one that does what RFCs say.
const SYSTEM: &str = "STANDARD";

/// Reads a script.
pub fn parse(text: &str) -> Script {
    let mut script = Script { options: Vec::new(), lines: Vec::new() };
    for (number, line) in logical_lines(&chosen(&without_comments(text))) {
        if let Some(option) = line.strip_prefix("--") {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            script.options.push((name.trim().to_owned(), value.trim().to_owned()));
            continue;
        }
        let line = line.strip_prefix("+ ").map_or(line.clone(), |rest| format!("+{}", rest.trim_start()));
        script.lines.push(read(number, &line).map_err(|why| (number, why)));
    }
    script
}

fn read(number: usize, line: &str) -> Result<Line, String> {
    let Some((begin, rest)) = line.split_once("...").filter(|(begin, _)| nanoseconds(begin.trim()).is_some())
    else {
        let (when, rest) = when(line)?;
        return Ok(Line { number, when, until: None, event: event(rest)? });
    };
    let (end, rest) = rest.split_once(char::is_whitespace).ok_or_else(|| format!("the line `{line}`"))?;
    let until = nanoseconds(end).ok_or_else(|| format!("the time `{end}`"))?;
    let (when, _) = when(begin.trim())?;
    match when {
        When::After(_) => Ok(Line { number, when, until: Some(until), event: event(rest.trim())? }),
        _ => Err("a call that blocks at a fixed time".to_owned()),
    }
}

/// Comments become spaces, so that lines keep their numbers.
fn without_comments(text: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(at) = rest.find("//").into_iter().chain(rest.find("/*")).min() {
        out.push_str(&rest[..at]);
        let line_only = rest[at..].starts_with("//");
        let end = if line_only { rest[at..].find('\n') } else { rest[at..].find("*/").map(|e| e + 2) };
        let end = at + end.unwrap_or(rest.len() - at);
        out.extend(rest[at..end].chars().filter(|c| *c == '\n'));
        rest = &rest[end..];
    }
    out + rest
}

/// Lines that are for other systems become empty.
pub fn chosen(text: &str) -> String {
    let mut left_out = false;
    let mut keep = |line: &str| {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("#ifdef") => left_out = words.next() != Some(SYSTEM),
            Some("#endif") => left_out = false,
            _ => return !left_out,
        }
        false
    };
    text.lines().map(|line| if keep(line) { format!("{line}\n") } else { "\n".to_owned() }).collect()
}

/// Lines whose brackets are closed, each with the number of its first.
fn logical_lines(text: &str) -> Vec<(usize, String)> {
    let (mut lines, mut open): (Vec<(usize, String)>, bool) = (Vec::new(), false);
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        match lines.last_mut() {
            Some((_, last)) if open => {
                last.push(if last.contains('`') { '\n' } else { ' ' });
                last.push_str(line);
            }
            _ if line.is_empty() => continue,
            _ => lines.push((at + 1, line.to_owned())),
        }
        open = lines.last().is_some_and(|(_, line)| !is_closed(line));
    }
    lines
}

fn is_closed(line: &str) -> bool {
    let count = |c: char| line.matches(c).count();
    let commands = count('`') % 2 == 0;
    commands
        && (count('`') > 0
            || [('(', ')'), ('{', '}'), ('[', ']')].iter().all(|(a, b)| count(*a) <= count(*b)))
}

/// The time of a line, and the rest of it.
fn when(line: &str) -> Result<(When, &str), String> {
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    let after = word.starts_with('+');
    let times: Option<Vec<u64>> = word.split('~').map(nanoseconds).collect();
    match (times.as_deref(), after) {
        _ if word == "*" => Ok((When::Any, rest)),
        (Some([from]), true) => Ok((When::After(*from), rest)),
        (Some([at]), false) => Ok((When::At(*at), rest)),
        (Some([from, to]), true) => Ok((When::Between(*from, *to), rest)),
        (Some(_), _) => Err(format!("the time `{word}`")),
        (None, _) => Ok((When::After(0), line)),
    }
}

/// `0.1`, `.1`, `2` seconds, or `+.1` after another moment.
fn nanoseconds(text: &str) -> Option<u64> {
    let text = text.trim_start_matches('+');
    let number =
        text.chars().all(|c| c.is_ascii_digit() || c == '.') && text.contains(|c: char| c.is_ascii_digit());
    let seconds: f64 = if number { text.parse().ok()? } else { return None };
    Some((seconds * 1e9).round() as u64)
}

fn event(text: &str) -> Result<Event, String> {
    if let Some(command) = text.strip_prefix('`') {
        return Ok(Event::Shell(command.trim_end_matches('`').trim().to_owned()));
    }
    if text.starts_with("%{") {
        return Ok(Event::Assertion(text.to_owned()));
    }
    match text.split_at_checked(1) {
        Some(("<", packet)) if packet.trim().starts_with("icmp ") => {
            let report = Report::read(packet.trim().trim_start_matches("icmp "));
            Ok(Event::Report(report.ok_or_else(|| format!("the packet `{}`", packet.trim()))?))
        }
        Some(("<", packet)) => Ok(Event::In(segment(packet.trim())?)),
        Some((">", packet)) => match segment(packet.trim())? {
            first if first.is_syn() && first.seq != 0 => Err("a SYN with another number than 0".to_owned()),
            segment => Ok(Event::Out(segment)),
        },
        _ => call(text),
    }
}

/// `name(a, b) = 3`, perhaps with an error.
fn call(text: &str) -> Result<Event, String> {
    let unreadable = || format!("the line `{text}`");
    let (name, rest) = text.split_once('(').ok_or_else(unreadable)?;
    let (args, result) = rest.rsplit_once(" = ").or_else(|| rest.rsplit_once('=')).ok_or_else(unreadable)?;
    let args = args.trim().strip_suffix(')').ok_or_else(unreadable)?;
    let mut words = result.split_whitespace();
    let number = words.next().ok_or_else(unreadable)?;
    let result = match number.strip_prefix("0x") {
        Some(hex) => i64::from_str_radix(hex, 16).ok(),
        None => number.parse().ok(),
    };
    let error = words.next().filter(|w| w.starts_with('E')).map(str::to_owned);
    let result = result.ok_or_else(|| format!("the result `{number}`"))?;
    Ok(Event::Call { name: name.trim().to_owned(), args: arguments(args), result, error })
}

/// Splits at commas that no bracket holds.
fn arguments(text: &str) -> Vec<String> {
    let (mut args, mut depth) = (vec![String::new()], 0);
    for c in text.chars() {
        depth += i32::from(matches!(c, '(' | '[' | '{')) - i32::from(matches!(c, ')' | ']' | '}'));
        if c == ',' && depth == 0 {
            args.push(String::new());
        } else if let Some(last) = args.last_mut() {
            last.push(c);
        }
    }
    args.into_iter().map(|a| a.trim().to_owned()).collect()
}

/// Marks before a packet, and the bits of its ECN field (RFC 3168 §5).
const ECN: [(&str, u8); 4] = [("[noecn]", 0), ("[ect1]", 1), ("[ect0]", 2), ("[ce]", 3)];

/// `S. 0:0(0) ack 1 win 1000 <mss 1460,nop,wscale 7>`.
fn segment(text: &str) -> Result<Segment, String> {
    if text.contains("/udp(") {
        return Err("TCP in UDP".to_owned());
    }
    let ecn = ECN.iter().find_map(|(word, ecn)| Some((text.strip_prefix(word)?, Some(*ecn))));
    let (text, tos) = ecn.unwrap_or((text, None));
    let (head, options) = match text.split_once('<') {
        Some((head, options)) => (head, Some(options.trim().trim_end_matches('>'))),
        None => (text, None),
    };
    let mut words = head.split_whitespace();
    let flags = words.next().unwrap_or_default();
    if !flags.chars().all(|c| "FSRP.UEWC-".contains(c)) {
        return Err(format!("the packet `{text}`"));
    }
    let short = || format!("the packet `{text}`");
    let range = words.next().ok_or_else(short)?;
    let (range, len) = range.split_once('(').ok_or_else(short)?;
    let (from, _) = range.split_once(':').ok_or_else(short)?;
    let letters = flags.replace('W', "C").replace('-', "");
    // Without flags it has one first, which is cleared below.
    let line = format!("{}. {from}:{from}", letters.replace('.', ""));
    let mut segment = Segment::read(&line).ok_or_else(short)?;
    segment.flags &= if letters.contains('.') { 0xff } else { !0x10 };
    segment.ack = letters.contains('.').then_some(0);
    segment.tos = tos;
    segment.len = len.trim_end_matches(')').parse().map_err(|_| short())?;
    while let Some(word) = words.next() {
        let value = words.next().and_then(|v| v.parse::<u32>().ok()).ok_or_else(short)?;
        match word {
            "ack" => segment.ack = Some(value),
            "win" => segment.window = Some(u16::try_from(value).map_err(|_| short())?),
            "urg" => segment.urgent = Some(u16::try_from(value).map_err(|_| short())?),
            _ => return Err(format!("`{word}` of a packet")),
        }
    }
    segment.options = match options {
        Some(options) if options.trim() == "..." => None,
        Some(options) => Some(read_options(options)?),
        None => Some(Vec::new()),
    };
    Ok(segment)
}

/// Padding is left out.
fn read_options(text: &str) -> Result<Vec<Opt>, String> {
    let number = |word: &str| word.parse::<u32>().map_err(|_| format!("the option `{text}`"));
    let mut all = Vec::new();
    for part in text.split(',').map(str::trim) {
        let words: Vec<&str> = part.split_whitespace().collect();
        match words[..] {
            [] | ["nop" | "eol" | "NOP" | "EOL"] => {}
            ["mss", mss] => all.push(Opt::Mss(number(mss)? as u16)),
            ["wscale", shift] => all.push(Opt::Scale(number(shift)? as u8)),
            ["sackOK"] => all.push(Opt::SackPermitted),
            ["TS", "val", value, "ecr", echo] => {
                all.push(Opt::Stamps(Some(number(value)?), Some(number(echo)?)));
            }
            ["sack", ref ranges @ ..] if (1..=4).contains(&ranges.len()) => {
                let mut blocks = [(0, 0); 4];
                for (block, range) in blocks.iter_mut().zip(ranges) {
                    let (from, to) = range.split_once(':').ok_or(format!("the option `{part}`"))?;
                    *block = (number(from)?, number(to)?);
                }
                all.push(Opt::Sack(blocks, ranges.len()));
            }
            ["FO" | "FOEXP", ..] => return Err("TCP Fast Open".to_owned()),
            _ => return Err(format!("the option `{}`", words.first().unwrap_or(&part))),
        }
    }
    Ok(all)
}
