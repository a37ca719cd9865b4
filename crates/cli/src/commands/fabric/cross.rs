// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cross traffic between hosts, as the command line says it.

use std::path::Path;

use carrick_driver::{Failure, quantity};
use carrick_sim::fabric::cross::{Bursts, Cross, Pattern, Recorded};
use carrick_sim::fabric::topology::Topology;
use carrick_sim::faults::FOREVER;

use super::file::{self, named_nodes};
use crate::commands::faults::{interval, named, said_once};

const EXAMPLE: &str = "write hosts, a colon and settings, such as 'h2:h0: rate=20Mbps' or 'h2..h5:h0: rate=20Mbps,on=10ms,off=40ms @ 1s..2s'";
const SETTINGS: &str = "rate=RATE, size=BYTES, poisson, on=TIME, off=TIME, shape=NUMBER, trace=FILE";

/// All sources that these texts describe: of each host one.
///
/// # Errors
/// [`Failure::Usage`] naming the text, and what is wrong in it.
pub fn all(texts: &[String], topology: &Topology, mtu: u32) -> Result<Vec<Cross>, Failure> {
    let of = |text: &String| {
        one(text, topology, mtu).map_err(|why| Failure::Usage(format!("--cross {text}: {why}")))
    };
    Ok(texts.iter().map(of).collect::<Result<Vec<_>, _>>()?.concat())
}

/// The files of recordings that a text names.
pub fn files(text: &str) -> impl Iterator<Item = &str> {
    let settings = parts(text).map(|(_, _, settings)| settings);
    let files = settings.into_iter().flat_map(named).filter(|(name, _)| *name == "trace");
    files.filter_map(|(_, file)| file)
}

/// `h2:h0: rate=20Mbps` in its three parts.
fn parts(text: &str) -> Option<(&str, &str, &str)> {
    let (from, rest) = text.split_once(':')?;
    let (to, settings) = rest.split_once(':')?;
    Some((from.trim(), to.trim(), settings.trim()))
}

fn one(text: &str, topology: &Topology, mtu: u32) -> Result<Vec<Cross>, String> {
    let (from, to, settings) = parts(text).ok_or(EXAMPLE)?;
    let (from, to) = (named_nodes(from, topology)?, named_nodes(to, topology)?);
    if to.clone().count() != 1 {
        return Err(EXAMPLE.into());
    }
    let to = *to.start();
    let (begin, end) = settings
        .split_once('@')
        .map_or(Ok((0, FOREVER)), |(_, times)| interval(times))
        .map_err(|e| e.to_string())?;
    let pattern = Settings::read(settings)?.pattern(mtu)?;
    Ok(from.map(|from| Cross { from, to, pattern: pattern.clone(), begin, end }).collect())
}

/// What is said of a source.
#[derive(Default)]
struct Settings {
    rate_bps: Option<u64>,
    octets: Option<u32>,
    poisson: bool,
    on_ns: Option<u64>,
    off_ns: Option<u64>,
    shape: Option<f64>,
    recorded: Option<Vec<Recorded>>,
}

impl Settings {
    fn read(text: &str) -> Result<Settings, String> {
        let mut it = Settings::default();
        said_once(text)?;
        for (name, value) in named(text) {
            let said = |e: Failure| e.to_string();
            match (name, value) {
                ("rate", Some(value)) => it.rate_bps = Some(quantity::rate(value).map_err(said)?),
                ("size", Some(value)) => {
                    let octets = quantity::bytes(value).map_err(said)?;
                    it.octets = Some(u32::try_from(octets).unwrap_or(u32::MAX));
                }
                ("poisson", None) => it.poisson = true,
                ("on", Some(value)) => it.on_ns = Some(quantity::duration(value).map_err(said)?),
                ("off", Some(value)) => it.off_ns = Some(quantity::duration(value).map_err(said)?),
                ("shape", Some(value)) => {
                    let wrong = |_| format!("{value:?} is no shape of a distribution; write it like 1.5");
                    it.shape = Some(value.parse().map_err(wrong)?);
                }
                ("trace", Some(file)) => it.recorded = Some(recorded(Path::new(file)).map_err(said)?),
                ("poisson", Some(_)) => return Err("`poisson` has no value".into()),
                _ => return Err(format!("`{name}` is no setting of cross traffic; these are: {SETTINGS}")),
            }
        }
        Ok(it)
    }

    fn pattern(self, mtu: u32) -> Result<Pattern, String> {
        let Settings { rate_bps, octets, poisson, on_ns, off_ns, shape, recorded } = self;
        if let Some(recorded) = recorded {
            let others = rate_bps.is_some() || octets.is_some() || poisson || on_ns.or(off_ns).is_some();
            return match others || shape.is_some() {
                true => Err("a trace has its own sizes and times: leave out the other settings".into()),
                false => Ok(Pattern::Recorded(recorded.into())),
            };
        }
        let bursts = match (on_ns, off_ns, shape) {
            (None, None, None) => None,
            (Some(on_ns), Some(off_ns), shape) => Some(Bursts { on_ns, off_ns, shape }),
            (None, None, Some(_)) => return Err("`shape` is of bursts: add on=TIME,off=TIME".into()),
            _ => return Err("bursts have both on=TIME and off=TIME".into()),
        };
        let rate_bps = rate_bps.ok_or_else(|| format!("it needs rate=RATE or trace=FILE ({EXAMPLE})"))?;
        Ok(Pattern::Rate { rate_bps, octets: octets.unwrap_or(mtu), poisson, bursts })
    }
}

/// Lines `gap_ns,bytes`; the first one may have their names, and `#` begins a comment.
fn recorded(path: &Path) -> Result<Vec<Recorded>, Failure> {
    const NAMES: &str = "gap_ns,bytes";
    let text = file::read(path)?;
    let line = |line: &str| {
        let (gap, octets) = line.split_once(',')?;
        Some(Recorded { gap_ns: gap.trim().parse().ok()?, octets: octets.trim().parse().ok()? })
    };
    let mut all = Vec::new();
    for (number, content) in (1..).zip(text.lines()) {
        let content = content.trim();
        if content.is_empty() || content.starts_with('#') || all.is_empty() && content == NAMES {
            continue;
        }
        all.push(line(content).ok_or_else(|| {
            let shown = path.display();
            Failure::Usage(format!(
                "{shown}:{number}: {content:?} is no packet: write `{NAMES}`, such as 1000000,1500"
            ))
        })?);
    }
    if all.is_empty() {
        return Err(Failure::Usage(format!(
            "{} has no packets: write a line `{NAMES}` for each",
            path.display()
        )));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use carrick_sim::fabric::topology::Links;

    use super::*;

    fn read(text: &str) -> Result<Vec<Cross>, String> {
        let links = Links { rate_bps: 1, core_rate_bps: 1, delay_ns: 1 };
        let topology = Topology::named("star:6", &links).expect("a topology");
        all(&[text.to_owned()], &topology, 1500).map_err(|e| e.to_string())
    }

    #[test]
    fn sources_are_read_with_their_times() {
        let rate = |bursts| Pattern::Rate { rate_bps: 20_000_000, octets: 1500, poisson: false, bursts };
        let one = |pattern| Cross { from: 2, to: 0, pattern, begin: 0, end: FOREVER };
        assert_eq!(read("h2:h0: rate=20Mbps"), Ok(vec![one(rate(None))]));
        let bursts = Bursts { on_ns: 10_000_000, off_ns: 40_000_000, shape: Some(1.4) };
        assert_eq!(read("h2:h0:rate=20Mbps, on=10ms,off=40ms,shape=1.4"), Ok(vec![one(rate(Some(bursts)))]));
        let both = read("h2..h3:h5: rate=1Mbps,size=100B,poisson @ 1s..2s").expect("two");
        let pattern = Pattern::Rate { rate_bps: 1_000_000, octets: 100, poisson: true, bursts: None };
        let from =
            |from| Cross { from, to: 5, pattern: pattern.clone(), begin: 1_000_000_000, end: 2_000_000_000 };
        assert_eq!(both, [from(2), from(3)]);
    }

    #[test]
    fn what_is_no_source_is_said() {
        for (text, wanted) in [
            ("h2: rate=1Mbps", "write hosts, a colon and settings"),
            ("h9:h0: rate=1Mbps", "\"h9\" is no node of this topology"),
            ("h2..h9:h0: rate=1Mbps", "\"h2..h9\""),
            ("h2:h0..h1: rate=1Mbps", "write hosts, a colon and settings"),
            ("h2:h0: size=100B", "it needs rate=RATE or trace=FILE"),
            ("h2:h0: rate=1Mbps,on=1ms", "both on=TIME and off=TIME"),
            ("h2:h0: rate=1Mbps,shape=1.5", "`shape` is of bursts"),
            ("h2:h0: rate=1Mbps,shape=a,on=1ms,off=1ms", "\"a\" is no shape"),
            ("h2:h0: rate=1Mbps,poisson=1", "`poisson` has no value"),
            ("h2:h0: speed=1Mbps", "`speed` is no setting of cross traffic; these are: rate=RATE"),
            ("h2:h0: rate=1Mbps @ 2s..1s", "its end is not after its beginning"),
            ("h3..h2:h0: rate=1Mbps", "\"h3..h2\" ends before it begins: write h2..h3"),
            ("h2:h0: rate=1Mbps,rate=2Mbps", "`rate` is said twice"),
            ("h2:h0: trace=/nowhere", "/nowhere"),
        ] {
            let said = read(text).expect_err(text);
            assert!(said.starts_with(&format!("--cross {text}: ")) && said.contains(wanted), "{said}");
        }
    }

    #[test]
    fn recordings_are_read_from_a_table() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("gaps.csv");
        let said = |text: &str| {
            std::fs::write(&path, text).expect("writable");
            recorded(&path).map_err(|e| e.to_string())
        };
        let [a, b] = [(5, 100), (7, 1500)].map(|(gap_ns, octets)| Recorded { gap_ns, octets });
        assert_eq!(said("gap_ns,bytes\n# of a link\n5,100\n\n 7, 1500\n"), Ok(vec![a, b]));
        assert!(said("5,100\n5\n").expect_err("a line").contains("gaps.csv:2: \"5\" is no packet"));
        assert!(said("gap_ns,bytes\n").expect_err("none").contains("has no packets"));
    }
}
