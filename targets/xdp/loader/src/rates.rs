// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rates that users of a program in the kernel may send at: as people write them, as programs are built for them, and how
//! much of them was used.

use std::collections::BTreeMap;
use std::fmt;

use carrick_driver::{Failure, quantity};
use carrick_ir::{Limit, Limits, Program, TOP_RATE};
use serde::{Deserialize, Serialize};

/// The lowest rate that anybody is held to: a packet of 1500 bytes takes 12 s.
const LEAST: u64 = 1_000;

/// A rate to hold somebody to, in bits per second, from `100Mbps`.
///
/// # Errors
/// [`Failure::Usage`] with an example.
pub fn read(text: &str) -> Result<u64, Failure> {
    let rate = quantity::rate(text)?;
    if !(LEAST..=TOP_RATE).contains(&rate) {
        return Err(Failure::Usage(format!(
            "{text:?} is a rate that cannot be held; write one from 1Kbps to 1000000Gbps, like 100Mbps"
        )));
    }
    Ok(rate)
}

/// The program for the kernel, with these limits held.
///
/// # Errors
/// [`Failure::Usage`] if it can have none like these.
pub fn limited(program: &Program, limits: &Limits) -> Result<Program, Failure> {
    let limits = Limits { flows: program.contexts.iter().any(|ctx| !ctx.global), ..limits.clone() };
    let schedule = program.schedule.limited(&limits);
    let schedule = schedule.map_err(|why| Failure::Usage(format!("{}: {why}", program.name)))?;
    Ok(Program { schedule, ..program.clone() })
}

/// The rates of a program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rates {
    /// what it is built for; the first owner is for all users that have no rate of their own
    pub limits: Limits,
    /// the users with one: the owners behind the first
    pub users: Vec<u32>,
}

/// A rate and one of each connection, as they are written.
pub type Written<'w> = (&'w Option<String>, &'w Option<String>);

fn maybe(rate: &Option<String>) -> Result<Option<u64>, String> {
    rate.as_deref().map(read).transpose().map_err(|e| e.to_string())
}

impl Rates {
    /// Reads those of a program as a whole and of its users.
    ///
    /// # Errors
    /// What is no rate, or a user that has two.
    pub fn new<'w>(
        all: Written<'w>,
        users: impl Iterator<Item = (u32, Written<'w>)>,
    ) -> Result<Rates, String> {
        let (rate, flow_rate) = (maybe(all.0)?, maybe(all.1)?);
        let limits = Limits { rate, owners: vec![Limit { rate: None, flow_rate }], flows: true };
        let mut rates = Rates { limits, users: Vec::new() };
        for (uid, written) in users.filter(|(_, written)| written.0.is_some() || written.1.is_some()) {
            if rates.users.contains(&uid) {
                return Err(format!("user {uid} has two rates; write them in one [[program.allow]]"));
            }
            let own = Limit { rate: maybe(written.0)?, flow_rate: maybe(written.1)?.or(flow_rate) };
            rates.users.push(uid);
            rates.limits.owners.push(own);
        }
        Ok(rates)
    }

    /// As `sockets:PATH` reads it, with a comma before each: which owner a user is.
    pub fn rules(&self) -> String {
        let owners = self.users.iter().enumerate();
        owners.map(|(before, uid)| format!(",{uid}={}", before + 1)).collect()
    }

    /// How much of them was used: of each owner packets, bytes, what was delayed, what was refused.
    pub fn used(&self, owned: &[[u64; 4]]) -> Vec<OfRate> {
        let users = std::iter::once(None).chain(self.users.iter().map(|uid| Some(*uid)));
        let owners = users.zip(&self.limits.owners).zip(owned);
        owners
            .map(|((user, limit), [packets, octets, delayed, refused])| OfRate {
                user,
                rate: limit.rate,
                flow_rate: limit.flow_rate,
                packets: *packets,
                bytes: *octets,
                delayed: *delayed,
                refused: *refused,
            })
            .collect()
    }
}

/// Rates on a command line: `100Mbps` for all, `33:100Mbps` for user 33.
#[derive(Debug, Default)]
pub struct Options {
    all: [Option<String>; 2],
    users: BTreeMap<u32, [Option<String>; 2]>,
}

impl Options {
    /// Adds one; `flow` if it is of each connection.
    ///
    /// # Errors
    /// [`Failure::Usage`] if it is repeated, or of no user.
    pub fn add(&mut self, text: &str, flow: bool) -> Result<(), Failure> {
        let (user, rate) = text.split_once(':').map_or((None, text), |(user, rate)| (Some(user), rate));
        let number = user.map(str::parse::<u32>).transpose();
        let number = number.map_err(|_| {
            Failure::Usage(format!("{text:?} is of no user; write the number of one, like 33:100Mbps"))
        })?;
        let all = &mut self.all;
        let rates = number.map_or(all, |uid| self.users.entry(uid).or_default());
        match rates[usize::from(flow)].replace(rate.to_owned()) {
            Some(_) => {
                Err(Failure::Usage(format!("{text:?} comes after another rate for the same; say one")))
            }
            None => Ok(()),
        }
    }

    /// All of them.
    ///
    /// # Errors
    /// [`Failure::Usage`] for what is no rate.
    pub fn read(&self) -> Result<Rates, Failure> {
        let users = self.users.iter().map(|(uid, [rate, each])| (*uid, (rate, each)));
        Rates::new((&self.all[0], &self.all[1]), users).map_err(Failure::Usage)
    }
}

/// A user of a program that holds rates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfRate {
    /// its number; none: all that have no rate of their own
    pub user: Option<u32>,
    /// bits per second
    pub rate: Option<u64>,
    /// of each connection
    pub flow_rate: Option<u64>,
    /// packets that left
    pub packets: u64,
    /// their bytes
    pub bytes: u64,
    /// what waited since the rate was reached
    pub delayed: u64,
    /// what found no place, since too much waited
    pub refused: u64,
}

impl OfRate {
    /// What it is called.
    pub fn who(&self) -> String {
        self.user.map_or("others".into(), |uid| format!("user {uid}"))
    }
}

impl fmt::Display for OfRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<20} ", self.who())?;
        match (self.rate, self.flow_rate) {
            (None, None) => write!(f, "no rate")?,
            (Some(rate), None) => write!(f, "{}", shown(rate))?,
            (None, Some(each)) => write!(f, "{} each connection", shown(each))?,
            (Some(rate), Some(each)) => write!(f, "{}, {} each connection", shown(rate), shown(each))?,
        }
        let OfRate { packets, bytes, delayed, refused, .. } = self;
        write!(f, "; {packets} packets, {bytes} bytes, {delayed} delayed, {refused} refused")
    }
}

/// A rate as it is written.
pub fn shown(rate: u64) -> String {
    let units = [(1_000_000_000, "Gbps"), (1_000_000, "Mbps"), (1_000, "Kbps")];
    let unit = units.iter().find(|(unit, _)| rate.is_multiple_of(*unit));
    unit.map_or_else(|| format!("{rate}bps"), |(unit, name)| format!("{}{name}", rate / unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_of_all_or_of_users() {
        let mut options = Options::default();
        options.add("1Gbps", false).expect("it is right");
        options.add("33:10Mbps", true).expect("it is right");
        let rates = options.read().expect("they are right");
        assert_eq!((rates.limits.rate, rates.rules()), (Some(1_000_000_000), ",33=1".into()));
        assert_eq!(rates.limits.owners[1], Limit { rate: None, flow_rate: Some(10_000_000) });
        assert!(options.add("2Gbps", false).is_err());
        assert!(options.add("root:2Gbps", false).is_err());
    }

    #[test]
    fn a_rate_is_shown_as_it_is_written() {
        assert_eq!(
            [1_000, 2_500_000, 3_000_000_000, 1_001].map(shown),
            ["1Kbps", "2500Kbps", "3Gbps", "1001bps"]
        );
    }

    #[test]
    fn rates_have_units_and_bounds() {
        assert_eq!(read("100Mbps"), Ok(100_000_000));
        for text in ["", "fast", "100 Mbit/s", "-1Mbps", "0Mbps", "999bps", "1000001Gbps", "99999999999Gbps"]
        {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
