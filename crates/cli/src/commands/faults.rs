// SPDX-License-Identifier: MIT OR Apache-2.0
//! Faults of links, as the command line says them, and their counts in results.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use carrick_driver::{Failure, quantity};
use carrick_sim::faults::{BurstLoss, FOREVER, FaultCounters, FaultSchedule, LinkFaults};
use carrick_sim::limits::{self, at_most};
use carrick_sim::rate_trace::RateTrace;
use clap::Args;
use serde_json::Value;

use super::rate_trace;

/// Faults of all links.
#[derive(Debug, Args)]
pub struct FaultArgs {
    /// Rate over time, in place of --rate: a table (CSV, `time,rate`) or a packet-delivery trace of Mahimahi. It repeats when it ends. Each
    /// direction of a link has it by itself
    #[arg(long, value_name = "FILE")]
    pub rate_trace: Option<PathBuf>,
    /// Queue length, in packets, from which a link marks ECN-capable packets (RFC 3168). Omit to disable
    #[arg(long, value_name = "PACKETS")]
    pub ecn_threshold: Option<usize>,
    /// Share of packets lost
    #[arg(long, value_name = "SHARE", default_value = "0%")]
    pub loss: String,
    /// Loss in bursts, by shares of packets (Gilbert and Elliott): BEGIN of a burst, its END, those lost in it (100% if omitted) and
    /// outside of it (0%). 1%/25% is a burst after each 100 packets, 4 packets long
    #[arg(long, value_name = "BEGIN/END[/BAD[/GOOD]]")]
    pub burst_loss: Option<String>,
    /// Share of packets delivered twice
    #[arg(long, value_name = "SHARE", default_value = "0%")]
    pub duplicate: String,
    /// Share of packets delivered out of order
    #[arg(long, value_name = "SHARE", default_value = "0%")]
    pub reorder: String,
    /// Share of packets delivered with one bit flipped
    #[arg(long, value_name = "SHARE", default_value = "0%")]
    pub corrupt: String,
    /// Longest additional delay of a packet. Each packet gets one from 0 to this, and the order stays
    #[arg(long, value_name = "TIME")]
    pub jitter: Option<String>,
    /// Times between which all packets are lost: 2s..3s, or 2s.. without an end
    #[arg(long, value_name = "FROM..TO")]
    pub down: Option<String>,
    /// Time from which all packets are lost, as if the peer had died, for example 20ms
    #[arg(long, value_name = "TIME")]
    pub cut: Option<String>,
    /// Largest IP packet that a link carries, in bytes. A router drops a longer one and reports this to its sender (RFC 1191). Omit for the size of `--mtu`
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(68..=65535))]
    pub path_mtu: Option<u32>,
    /// Let the router of `--path-mtu` drop packets without a report
    #[arg(long, requires = "path_mtu")]
    pub black_hole: bool,
}

type Change = Box<dyn Fn(&mut LinkFaults)>;

/// Faults that links have from a time until another one.
pub struct TimedFaults {
    from: u64,
    until: u64,
    changes: Vec<Change>,
    /// in the whole run
    rate: Option<Arc<RateTrace>>,
}

/// The fault of this name is a file.
const RATE_TRACE: &str = "rate-trace";

/// Links and their faults, of `s0:s1: loss=1% @ 2s..3s`.
pub fn of_links(text: &str) -> Option<(&str, &str)> {
    text.rsplit_once(':')
}

/// The files that faults name, of a text that [`TimedFaults::read`] takes.
pub fn files(text: &str) -> impl Iterator<Item = &str> {
    let rates = named(text).filter(|(name, _)| *name == RATE_TRACE);
    rates.filter_map(|(_, file)| file)
}

/// Names and values of faults, or of other settings, without their times.
pub fn named(text: &str) -> impl Iterator<Item = (&str, Option<&str>)> {
    let faults = text.split_once('@').map_or(text, |(faults, _)| faults);
    faults.split(',').map(|fault| match fault.split_once('=') {
        Some((name, value)) => (name.trim(), Some(value.trim())),
        None => (fault.trim(), None),
    })
}

/// Refuses a setting that is said twice: only one of its values would count.
///
/// # Errors
/// A sentence that names it.
pub fn said_once(text: &str) -> Result<(), String> {
    let mut names = BTreeSet::new();
    match named(text).find(|(name, _)| !names.insert(*name)) {
        Some((name, _)) => Err(format!("`{name}` is said twice: leave out one of them")),
        None => Ok(()),
    }
}

impl TimedFaults {
    /// Gives a link these faults.
    pub fn apply(&self, schedule: &mut FaultSchedule) {
        self.changes.iter().for_each(|change| schedule.during(self.from, self.until, change));
        self.rate.iter().for_each(|rate| schedule.set_rate(rate.clone()));
    }

    /// `loss=1%,down @ 2s..3s`; files are relative to a folder.
    ///
    /// # Errors
    /// [`Failure::Usage`] naming what is wrong.
    pub fn read(text: &str, folder: &Path) -> Result<TimedFaults, Failure> {
        let times = text.split_once('@').map(|(_, times)| times);
        let (from, until) = times.map_or(Ok((0, FOREVER)), interval)?;
        said_once(text).map_err(Failure::Usage)?;
        let mut all = TimedFaults { from, until, changes: Vec::new(), rate: None };
        for (name, value) in named(text) {
            match value.filter(|_| name == RATE_TRACE) {
                Some(_) if times.is_some() => {
                    return Err(Failure::Usage(format!(
                        "`{RATE_TRACE}` is for the whole run: leave out the times, and say other faults of \
                         these times by themselves"
                    )));
                }
                Some(file) => all.rate = Some(rate_trace::read(&folder.join(file))?),
                None => all.changes.push(change(name, value)?),
            }
        }
        Ok(all)
    }

    fn new(from: u64, until: u64, fault: Change) -> TimedFaults {
        TimedFaults { from, until, changes: vec![fault], rate: None }
    }
}

impl FaultArgs {
    /// The counts that results between two hosts show although they are 0.
    pub fn usual(&self) -> &'static [&'static str] {
        let all = &["duplicated", "reordered", "corrupted", "too_long"];
        if self.path_mtu.is_some() { all } else { &all[..3] }
    }

    /// The faults that all links have, each with the name of its option.
    ///
    /// # Errors
    /// [`Failure::Usage`] naming option and value.
    pub fn all(&self) -> Result<Vec<(&'static str, TimedFaults)>, Failure> {
        let always = |name: &'static str, value: Option<&str>| {
            let wrong = |e: Failure| Failure::Usage(format!("--{name}: {e}"));
            Ok::<_, Failure>((name, TimedFaults::new(0, FOREVER, change(name, value).map_err(wrong)?)))
        };
        let mut all = Vec::new();
        if let Some(file) = &self.rate_trace {
            let rate = Some(rate_trace::read(file)?);
            all.push((RATE_TRACE, TimedFaults { from: 0, until: FOREVER, changes: Vec::new(), rate }));
        }
        let shares = [
            ("loss", &self.loss),
            ("duplicate", &self.duplicate),
            ("reorder", &self.reorder),
            ("corrupt", &self.corrupt),
        ];
        for (name, share) in shares {
            // Links whose file says otherwise keep what it says.
            if quantity::share(share)? > 0 {
                all.push(always(name, Some(share))?);
            }
        }
        let ecn_threshold = self.ecn_threshold.map(|packets| packets.to_string());
        let path_mtu = self.path_mtu.map(|mtu| mtu.to_string());
        let others = [
            ("ecn-threshold", &ecn_threshold),
            ("burst-loss", &self.burst_loss),
            ("jitter", &self.jitter),
            ("path-mtu", &path_mtu),
        ];
        for (name, value) in others {
            if let Some(value) = value {
                all.push(always(name, Some(value))?);
            }
        }
        if self.black_hole {
            all.push(always("black-hole", None)?);
        }
        if let Some(times) = &self.down {
            let wrong = |e: Failure| Failure::Usage(format!("--down {times}: {e}"));
            let (from, until) = interval(times).map_err(wrong)?;
            all.push(("down", TimedFaults::new(from, until, change("down", None)?)));
        }
        if let Some(from) = &self.cut {
            let from = quantity::duration(from)?;
            all.push(("cut", TimedFaults::new(from, FOREVER, change("down", None)?)));
        }
        Ok(all)
    }
}

/// `2s..3s`, `2s..` or `..3s`, in nanoseconds.
pub fn interval(text: &str) -> Result<(u64, u64), Failure> {
    let text = text.trim();
    let wrong = |why: &str| Failure::Usage(format!("{text:?} is not an interval: {why}"));
    let (from, until) =
        text.split_once("..").ok_or_else(|| wrong("write it like 2s..3s, or 2s.. without an end"))?;
    let from = if from.is_empty() { 0 } else { quantity::duration(from)? };
    let until = if until.is_empty() { FOREVER } else { quantity::duration(until)? };
    if from >= until {
        return Err(wrong("its end is not after its beginning"));
    }
    Ok((from, until))
}

/// A fault by its name: that of its option.
fn change(name: &str, value: Option<&str>) -> Result<Change, Failure> {
    Ok(match (name, value) {
        ("down", None) => Box::new(|faults| faults.down = true),
        ("black-hole", None) => Box::new(|faults| faults.silent = true),
        ("down" | "black-hole", Some(_)) => return Err(Failure::Usage(format!("`{name}` has no value"))),
        ("loss", Some(value)) => {
            let ppm = quantity::share(value)?;
            Box::new(move |faults| faults.loss_ppm = ppm)
        }
        ("burst-loss", Some(value)) => {
            let burst = burst_loss(value)?;
            Box::new(move |faults| faults.burst_loss = Some(burst))
        }
        ("duplicate", Some(value)) => {
            let ppm = quantity::share(value)?;
            Box::new(move |faults| faults.duplicate_ppm = ppm)
        }
        ("reorder", Some(value)) => {
            let ppm = quantity::share(value)?;
            Box::new(move |faults| faults.reorder_ppm = ppm)
        }
        ("corrupt", Some(value)) => {
            let ppm = quantity::share(value)?;
            Box::new(move |faults| faults.corrupt_ppm = ppm)
        }
        ("jitter", Some(value)) => {
            let ns = quantity::duration(value)?;
            at_most("nanoseconds of jitter", ns, limits::DELAY_NS).map_err(Failure::Usage)?;
            Box::new(move |faults| faults.jitter_ns = ns)
        }
        ("ecn-threshold", Some(value)) => {
            let packets = value.parse().map_err(|_| number(value, "packets", "20"))?;
            Box::new(move |faults| faults.ecn_threshold = Some(packets))
        }
        ("path-mtu", Some(value)) => {
            let known = value.parse().ok().filter(|mtu| (68..=65_535).contains(mtu));
            let mtu = known.ok_or_else(|| number(value, "bytes from 68 to 65535", "1400"))?;
            Box::new(move |faults| faults.path_mtu = Some(mtu))
        }
        _ => return Err(unknown(name, value)),
    })
}

fn number(value: &str, of: &str, example: &str) -> Failure {
    Failure::Usage(format!("{value:?} is not a number of {of}; write it like {example}"))
}

/// The faults of a link that have a value, and those that have none.
const WITH_VALUE: [&str; 9] = [
    "loss",
    "burst-loss",
    "duplicate",
    "reorder",
    "corrupt",
    "jitter",
    "ecn-threshold",
    "path-mtu",
    RATE_TRACE,
];
const WITHOUT_VALUE: [&str; 2] = ["black-hole", "down"];

fn unknown(name: &str, value: Option<&str>) -> Failure {
    if value.is_none() && WITH_VALUE.contains(&name) {
        return Failure::Usage(format!("`{name}` needs a value: write `{name}=VALUE`"));
    }
    let names = WITH_VALUE.join("=, ");
    Failure::Usage(format!(
        "`{name}` is not a fault of a link; these are: {names}=, {}",
        WITHOUT_VALUE.join(", ")
    ))
}

/// `BEGIN/END[/BAD[/GOOD]]`
fn burst_loss(text: &str) -> Result<BurstLoss, Failure> {
    let shares = text.split('/').map(quantity::share).collect::<Result<Vec<_>, _>>()?;
    let wrong = |why: &str| Failure::Usage(format!("{text:?} is not a loss in bursts: {why}"));
    let (begin_ppm, end_ppm, bad_ppm, good_ppm) = match shares[..] {
        [begin, end] => (begin, end, 1_000_000, 0),
        [begin, end, bad] => (begin, end, bad, 0),
        [begin, end, bad, good] => (begin, end, bad, good),
        _ => return Err(wrong("write BEGIN/END, BEGIN/END/BAD or BEGIN/END/BAD/GOOD, such as 1%/25%")),
    };
    if end_ppm == 0 {
        return Err(wrong("with 0% as END a burst never ends"));
    }
    Ok(BurstLoss { begin_ppm, end_ppm, bad_ppm, good_ppm })
}

/// The counts of faults beside that of all losses, by their names in results.
fn counts(c: &FaultCounters) -> [(&'static str, u64); 6] {
    [
        ("duplicated", c.duplicated),
        ("reordered", c.reordered),
        ("corrupted", c.corrupted),
        ("too_long", c.too_long),
        ("lost_in_bursts", c.lost_in_bursts),
        ("lost_down", c.lost_down),
    ]
}

/// Adds all counts to an object.
pub fn with_counts(c: &FaultCounters, mut object: Value) -> Value {
    for (name, count) in [("lost", c.lost)].into_iter().chain(counts(c)) {
        object[name] = count.into();
    }
    object
}

/// Those counts that are not 0, and those of `always`, behind other words: `, 3 duplicated, 1 lost in bursts`.
pub fn words(c: &FaultCounters, always: &[&str]) -> String {
    let shown = counts(c).into_iter().filter(|(name, count)| *count > 0 || always.contains(name));
    shown.map(|(name, count)| format!(", {count} {}", name.replace('_', " "))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<FaultSchedule, String> {
        let mut schedule = FaultSchedule::default();
        TimedFaults::read(text, Path::new("")).map_err(|e| e.to_string())?.apply(&mut schedule);
        Ok(schedule)
    }

    #[test]
    fn faults_are_read_with_their_times() {
        let mut wanted = FaultSchedule::default();
        wanted.during(2_000_000_000, FOREVER, |faults| {
            *faults = LinkFaults { loss_ppm: 10_000, down: true, path_mtu: Some(576), ..*faults };
        });
        assert_eq!(read("loss=1%, path-mtu=576,down @ 2s.."), Ok(wanted));
        let burst = |begin_ppm, end_ppm, bad_ppm, good_ppm| {
            LinkFaults {
                burst_loss: Some(BurstLoss { begin_ppm, end_ppm, bad_ppm, good_ppm }),
                ..LinkFaults::default()
            }
            .into()
        };
        assert_eq!(read("burst-loss=1%/25%"), Ok(burst(10_000, 250_000, 1_000_000, 0)));
        assert_eq!(read("burst-loss=1%/25%/50%/0.1%"), Ok(burst(10_000, 250_000, 500_000, 1_000)));
    }

    #[test]
    fn files_are_found_in_faults() {
        let found = |text| files(text).collect::<Vec<_>>().join(" ");
        assert_eq!(found("loss=1%, rate-trace = a/b.csv,rate-trace=../c @ 2s.."), "a/b.csv ../c");
        assert_eq!(found("loss=1%,rate-trace"), "");
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, wanted) in [
            ("", "`` is not a fault of a link"),
            ("lost=1%", "`lost` is not a fault of a link; these are: loss="),
            ("loss", "`loss` needs a value"),
            ("loss=2", "write 2%"),
            ("loss=1%,loss=2%", "`loss` is said twice"),
            ("down=1", "`down` has no value"),
            ("path-mtu=60", "\"60\" is not a number of bytes from 68 to 65535"),
            ("ecn-threshold=x", "\"x\" is not a number of packets"),
            ("jitter=5", "\"5\" is not a duration"),
            ("jitter=2h", "above the limit"),
            ("burst-loss=1%", "write BEGIN/END"),
            ("burst-loss=1%/0%", "never ends"),
            ("rate-trace", "`rate-trace` needs a value"),
            ("rate-trace=a.csv @ 1s..", "`rate-trace` is for the whole run"),
            ("rate-trace=no.csv", "cannot read no.csv"),
            ("down @ 2s", "\"2s\" is not an interval: write it like 2s..3s"),
            ("down @ 3s..2s", "its end is not after its beginning"),
        ] {
            let said = read(text).expect_err(text);
            assert!(said.contains(wanted), "{text}: {said}");
        }
    }
}
