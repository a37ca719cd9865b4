// SPDX-License-Identifier: MIT OR Apache-2.0
//! Playing a script against a core, in virtual time.

use carrick_driver::{Over, params};
use carrick_tests::tcp_segment::{Opt, Segment};

use crate::calls::{Not, Sockets};
use crate::info::{Compared, SEGMENT, compared};
use crate::parse::{Event, Line, When, parse};
use crate::settings::Settings;
use crate::stack::{Sent, Stack};
use crate::under_test::UnderTest;

/// How a script went.
#[derive(Debug, PartialEq, Eq)]
pub enum Outcome {
    /// with so many lines left out that change nothing
    Passed { left_out: usize },
    /// at this line, and why
    Failed(usize, String),
    /// for this line
    Unsupported(usize, String),
}

/// Packetdrill's own tolerance, and how late a timer of ours may be besides.
const TOLERANCE: u64 = 10_000_000;
const TICK: u64 = 1_000_000;
/// Bytes of a packet, unless the script says otherwise.
const MTU: u32 = 1500;
/// Of the DiffServ byte scripts know the ECN bits (RFC 3168 §5).
const ECN: u8 = 3;
/// PSH: when it is set is the sender's affair.
const PSH: u8 = 8;

/// Plays the text of a script.
pub fn play(text: &str, under_test: &UnderTest) -> Outcome {
    let script = parse(text);
    let option = |name: &str| script.options.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str());
    let tolerance = option("tolerance_usecs").and_then(|t| t.parse::<u64>().ok());
    let lines: Vec<Line> = match script.lines.into_iter().collect() {
        Ok(lines) => lines,
        Err((number, why)) => return Outcome::Unsupported(number, why),
    };
    let stack = match Settings::of(&lines) {
        Ok(mut settings) => {
            if option("ip_version") == Some("ipv6") || under_test.always_ipv6 {
                settings.choice.over = Over::Ipv6;
            }
            let mtu = option("mtu").and_then(|mtu| mtu.parse().ok()).unwrap_or(MTU);
            stack(under_test, &settings, mtu + under_test.longer(), &lines)
        }
        Err((number, why)) => return Outcome::Unsupported(number, why),
    };
    let mut player = match stack {
        Ok(stack) => Player {
            stack,
            sockets: Sockets::default(),
            last: 0,
            blocked: None,
            tolerance: tolerance.map_or(TOLERANCE, |t| t * 1000) + TICK,
        },
        Err(why) => return Outcome::Unsupported(0, why),
    };
    let mut left_out = 0;
    for line in &lines {
        match player.line(line) {
            Ok(()) => {}
            Err(Not::Needed) => left_out += 1,
            Err(Not::Supported(what)) => return Outcome::Unsupported(line.number, what),
            Err(Not::Possible(what)) => return Outcome::Failed(line.number, what),
        }
    }
    let ended = player.unblock().err().map(|not| match not {
        Not::Possible(what) | Not::Supported(what) => what,
        Not::Needed => String::new(),
    });
    match ended.or_else(|| player.stack.failed_claim()) {
        Some(what) => Outcome::Failed(0, what),
        None => Outcome::Passed { left_out },
    }
}

fn stack(under_test: &UnderTest, settings: &Settings, mtu: u32, lines: &[Line]) -> Result<Stack, String> {
    let made = under_test.made(settings)?;
    let arriving = lines.iter().filter_map(|line| match &line.event {
        Event::In(segment) => Some(segment.packet(made.program.net_header.layer, (0, 0), (0, 0)).len()),
        _ => None,
    });
    if arriving.max().unwrap_or(0).max(mtu as usize) > made.longest as usize {
        return Err(format!("packets of more than {} bytes", made.longest));
    }
    let values = params::values(&made.program, &settings.params).map_err(|e| e.to_string())?;
    Stack::new(&made.program, &made.engine, values, mtu)
}

struct Player {
    stack: Stack,
    sockets: Sockets,
    /// when the line before happened, as the script says
    last: u64,
    /// the call that blocks, and when it has to return
    blocked: Option<(u64, Called)>,
    tolerance: u64,
}

/// A call, and what it has to return.
struct Called {
    name: String,
    args: Vec<String>,
    result: i64,
    error: String,
}

impl Player {
    fn line(&mut self, line: &Line) -> Result<(), Not> {
        let (from, to) = match line.when {
            When::After(time) => (self.last + time, self.last + time),
            When::At(time) => (time, time),
            When::Between(from, to) => (self.last + from, self.last + to),
            When::Any => (self.last, u64::MAX / 4),
        };
        let before = self.last;
        match &line.event {
            Event::Out(wanted) => {
                let at = self.expect(from, to, wanted)?;
                self.last = if from == to { from } else { at };
                return Ok(());
            }
            Event::Shell(_) | Event::In(_) | Event::Report(_) | Event::Call { .. } | Event::Assertion(_) => {}
        }
        self.last = from;
        let calls = matches!(line.event, Event::Call { .. });
        if self.blocked.as_ref().is_some_and(|(until, _)| calls || *until < from) {
            self.unblock()?;
        }
        self.stack.pass(from)?;
        match &line.event {
            Event::In(segment) => Ok(self.stack.arrive(segment)?),
            Event::Report(report) => self.stack.report(report),
            Event::Assertion(text) => self.check_info(text),
            Event::Call { error: Some(error), .. } if error == "EFAULT" => {
                Err(Not::Supported("memory that an application does not have".to_owned()))
            }
            Event::Call { name, args, result, error } => {
                let error = match error.as_deref() {
                    Some("EWOULDBLOCK") => "EAGAIN",
                    other => other.unwrap_or(""),
                };
                let call = Called {
                    name: name.clone(),
                    args: args.clone(),
                    result: *result,
                    error: error.to_owned(),
                };
                match line.until {
                    None => self.call(&call),
                    Some(until) => self.block(call, before + until),
                }
            }
            _ => Ok(()),
        }
    }

    fn call(&mut self, call: &Called) -> Result<(), Not> {
        let Called { name, args, result, error } = call;
        let (value, why) = match self.sockets.call(&mut self.stack, name, args, *result)? {
            // One that blocked has begun before.
            (_, Some("EISCONN")) if *result == 0 => (0, None),
            returned => returned,
        };
        let why = why.unwrap_or("");
        if value == *result && (value >= 0 || why == error) {
            return Ok(());
        }
        Err(Not::Possible(format!("`{name}` returns {value} {why}, not {result} {error}")))
    }

    /// Begins a call that blocks. What it returns is looked at when it has to.
    fn block(&mut self, call: Called, until: u64) -> Result<(), Not> {
        match (call.name.as_str(), call.args.as_slice()) {
            ("accept", _) => {}
            ("connect", args) => {
                self.sockets.call(&mut self.stack, "connect", args, -1)?;
            }
            ("read", [fd, to, len]) => {
                let args = [fd.clone(), to.clone(), len.clone(), "MSG_PEEK".to_owned()];
                self.sockets.call(&mut self.stack, "recv", &args, -1)?;
            }
            (name, _) => return Err(Not::Supported(format!("a `{name}` that blocks"))),
        }
        self.blocked = Some((until, call));
        Ok(())
    }

    /// Ends the call that blocks, at its time.
    fn unblock(&mut self) -> Result<(), Not> {
        let Some((until, call)) = self.blocked.take() else { return Ok(()) };
        self.stack.pass(until)?;
        self.call(&call)
    }

    fn check_info(&mut self, text: &str) -> Result<(), Not> {
        let mut left_out = true;
        for Compared { name, item, in_segments, wanted } in compared(text) {
            let Some(found) = self.sockets.info(&mut self.stack, item)? else { continue };
            left_out = false;
            let segment = self.sockets.info(&mut self.stack, SEGMENT)?.filter(|_| in_segments).unwrap_or(1);
            if found / segment != wanted {
                return Err(Not::Possible(format!("{name} is {}, not {wanted}", found / segment)));
            }
        }
        if left_out { Err(Not::Needed) } else { Ok(()) }
    }

    /// Expects a segment in this time, and returns when it was sent.
    fn expect(&mut self, from: u64, to: u64, wanted: &Segment) -> Result<u64, Not> {
        let limit = to.saturating_add(self.tolerance);
        self.stack.pass_until_sent(limit)?;
        let shown = show(wanted);
        let Some(Sent { at, mut segment }) = self.stack.sent.pop_front() else {
            return Err(Not::Possible(format!("{shown} is not sent; nothing is")));
        };
        // What a script expects as one may be sent as several.
        while segment.len < wanted.len && segment.seq == wanted.seq {
            let end = segment.seq.wrapping_add(segment.len);
            let Some(next) = self.stack.sent.front().filter(|n| n.segment.seq == end && n.segment.len > 0)
            else {
                break;
            };
            segment.len += next.segment.len;
            segment.flags |= next.segment.flags;
            self.stack.sent.pop_front();
        }
        if let Some(what) = differs(&segment, wanted) {
            return Err(Not::Possible(format!("{what}: {shown} is expected, {} is sent", show(&segment))));
        }
        if at + self.tolerance < from || at > limit {
            let (at, from) = (at as f64 / 1e9, from as f64 / 1e9);
            return Err(Not::Possible(format!("{shown} is sent at {at:.3} s, not at {from:.3} s")));
        }
        self.stack.name_stamp(&segment, wanted);
        Ok(at)
    }
}

/// A segment without what is not compared.
fn show(segment: &Segment) -> String {
    segment.to_string().replace(" win 0", "")
}

/// What of a segment that was sent is not as wanted. How long a window is, but whether there is one, the order of options
/// and their padding are not compared: they are the sender's affair.
fn differs(found: &Segment, wanted: &Segment) -> Option<&'static str> {
    let shut = |segment: &Segment| segment.window.map(|w| w == 0);
    if (found.flags | PSH) != (wanted.flags | PSH) {
        Some("other flags")
    } else if (found.seq, found.len) != (wanted.seq, wanted.len) {
        Some("other sequence numbers")
    } else if wanted.has_ack() && found.ack != wanted.ack {
        Some("another acknowledgement")
    } else if wanted.window.is_some() && shut(found) != shut(wanted) {
        Some("another window")
    } else if wanted.urgent.is_some() && found.urgent != wanted.urgent {
        Some("another urgent pointer")
    } else if wanted.tos.is_some_and(|wanted| found.tos.is_some_and(|found| found & ECN != wanted)) {
        Some("another ECN codepoint")
    } else if wanted.options.as_ref().is_some_and(|w| !same_options(found.options.as_deref(), w)) {
        Some("other options")
    } else {
        None
    }
}

fn same_options(found: Option<&[Opt]>, wanted: &[Opt]) -> bool {
    let found = found.unwrap_or_default();
    let same = |found: &Opt, wanted: &Opt| match (found, wanted) {
        (Opt::Stamps(_, found), Opt::Stamps(_, wanted)) => found == wanted,
        (Opt::Scale(_), Opt::Scale(_)) => true,
        _ => found == wanted,
    };
    found.len() == wanted.len() && wanted.iter().all(|w| found.iter().any(|f| same(f, w)))
}
