// SPDX-License-Identifier: MIT OR Apache-2.0
//! The lines of a script.

use carrick_driver::Choice;

use carrick_tests::tcp_segment::Segment;

/// A line, and its number.
pub struct Line {
    pub number: usize,
    pub action: Action,
}

pub enum Action {
    /// features of the program: `cubic,ecn`
    With(String),
    Without(String),
    /// `name=value`
    Set(String),
    /// a call of the interface, with a number if it takes one
    Call {
        name: String,
        argument: Option<u64>,
    },
    Peer(u16),
    In(Segment),
    /// the network reports an error about what was sent
    Reported(Reported),
    /// comes in, and before the core sends anything so does what follows
    InBurst(Segment),
    /// sent now, or so many nanoseconds from now and nothing before
    Out {
        after: Option<u64>,
        segment: Segment,
    },
    /// a request ended with this value or status
    Done {
        name: String,
        how: String,
    },
    Wait(u64),
    Quiet(u64),
}

/// A report: type and code of ICMP, the next hop's MTU, and which bytes the quoted segment had.
pub struct Reported {
    pub kind: (u8, u8),
    pub mtu: u32,
    pub seq: u32,
    pub len: u32,
}

/// Reads a script.
pub fn parse(text: &str) -> Result<Vec<Line>, String> {
    let mut lines = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let action = action(line).ok_or_else(|| format!("{}: cannot read `{line}`", at + 1))?;
        lines.push(Line { number: at + 1, action });
    }
    Ok(lines)
}

/// The features that a script is about.
pub fn choice(script: &[Line]) -> Choice {
    let mut choice = Choice::default();
    for line in script {
        match &line.action {
            Action::With(features) => features.split(',').for_each(|feature| choice.add(feature.trim())),
            Action::Without(features) => {
                choice.without.extend(features.split(',').map(|f| f.trim().to_owned()))
            }
            _ => {}
        }
    }
    choice
}

fn action(line: &str) -> Option<Action> {
    let (word, rest) = line.split_once(' ').map_or((line, ""), |(word, rest)| (word, rest.trim()));
    Some(match word {
        "with" => Action::With(rest.to_owned()),
        "without" => Action::Without(rest.to_owned()),
        "set" => Action::Set(rest.to_owned()),
        "peer" => Action::Peer(rest.parse().ok()?),
        "<" => Action::In(Segment::read(rest)?),
        "<!" => Action::Reported(reported(rest)?),
        "<&" => Action::InBurst(Segment::read(rest)?),
        ">" => Action::Out { after: None, segment: Segment::read(rest)? },
        "after" => {
            let (after, segment) = rest.split_once('>')?;
            Action::Out { after: Some(duration(after)?), segment: Segment::read(segment)? }
        }
        "=" => {
            let (name, how) = rest.split_once(' ')?;
            Action::Done { name: name.to_owned(), how: how.trim().to_owned() }
        }
        "wait" => Action::Wait(duration(rest)?),
        "quiet" => Action::Quiet(duration(rest)?),
        "listen" | "accept" | "connect" | "send" | "recv" | "shutdown" | "close" | "abort" | "unlisten"
        | "send_urgent" | "urgent" | "set_nodelay" | "set_keepalive" | "set_retries" | "set_user_timeout"
        | "set_linger" | "drain" | "orphan" | "set_tos" | "info" => {
            let argument = if rest.is_empty() { None } else { Some(rest.parse().ok()?) };
            Action::Call { name: word.to_owned(), argument }
        }
        _ => return None,
    })
}

/// `3.4 mtu 1000 about 1:1461`
fn reported(text: &str) -> Option<Reported> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let [kind, "mtu", mtu, "about", octets] = words[..] else { return None };
    let ((kind, code), (seq, end)) = (kind.split_once('.')?, octets.split_once(':')?);
    let (seq, end): (u32, u32) = (seq.parse().ok()?, end.parse().ok()?);
    let kind = (kind.parse().ok()?, code.parse().ok()?);
    Some(Reported { kind, mtu: mtu.parse().ok()?, seq, len: end.checked_sub(seq)? })
}

/// `200ms`, `1s`, `2min`.
fn duration(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let number: u64 = text[..digits].parse().ok()?;
    let unit = match &text[digits..] {
        "us" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "min" => 60_000_000_000,
        _ => return None,
    };
    number.checked_mul(unit)
}
