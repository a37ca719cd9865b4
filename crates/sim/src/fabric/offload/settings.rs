// SPDX-License-Identifier: MIT OR Apache-2.0
//! What an offload does to messages, as a description.

use crate::fabric::real::{exp, ln};
use crate::fabric::service::ServiceTime;
use crate::fabric::topology::Node;
use crate::limits::at_most;

/// One, in parts per million.
pub(super) const WHOLE: u32 = 1_000_000;
/// A message grows by this factor at most.
const GROWTH: u32 = 16;
/// Messages that an offload works on at once, at most.
const WORKERS: u64 = 65_536;
/// Keys of a cache at most: a table has a number for each.
const KEYS: u64 = 10_000_000;
/// The greatest exponent of a distribution of keys: above, nearly all messages have the first one.
const EXPONENT: f64 = 10.0;

/// A cache: the messages with its keys are intercepted.
#[derive(Debug, Clone, PartialEq)]
pub struct Cache {
    /// the share of messages that it answers
    pub hits_ppm: u32,
    pub keys: u32,
    /// of the keys' Zipf distribution
    pub exponent: f64,
}

impl Cache {
    /// How many keys it has, which are the most frequent ones, and the share of messages that have them.
    pub(super) fn hottest(&self) -> (u32, f64) {
        let weight = |rank: u32| exp(-self.exponent * ln(f64::from(rank)));
        let all: f64 = (1..=self.keys).map(weight).sum();
        let wanted = all * f64::from(self.hits_ppm) / f64::from(WHOLE);
        let (mut count, mut share) = (0, 0.0);
        while share < wanted && count < self.keys {
            count += 1;
            share += weight(count);
        }
        (count, share / all)
    }
}

/// Offloads that answer as none should, to see what becomes of that: shares of messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Misdeeds {
    /// answered again
    pub twice_ppm: u32,
    /// never answered
    pub never_ppm: u32,
    /// answered with more bytes than are there
    pub beyond_ppm: u32,
}

/// The offload at a node.
#[derive(Debug, Clone, PartialEq)]
pub struct Offload {
    pub node: Node,
    /// of a message
    pub time: ServiceTime,
    /// messages that it works on at once
    pub workers: u32,
    /// bytes of messages that its program may hold
    pub buffer: u64,
    /// the least and the greatest size of a message behind it, of the size before it
    pub ratio_ppm: [u32; 2],
    pub intercept_ppm: u32,
    pub cache: Option<Cache>,
    pub misdeeds: Misdeeds,
}

impl Offload {
    /// One that lets every message through as it is, at once.
    pub fn at(node: Node) -> Offload {
        Offload {
            node,
            time: ServiceTime::Constant(0),
            workers: 1,
            buffer: 64 << 10,
            ratio_ppm: [WHOLE; 2],
            intercept_ppm: 0,
            cache: None,
            misdeeds: Misdeeds::default(),
        }
    }

    /// Whether it can be simulated.
    ///
    /// # Errors
    /// A sentence about what is wrong.
    pub(super) fn check(&self) -> Result<(), String> {
        self.time.check()?;
        at_most("workers of an offload", self.workers.into(), WORKERS)?;
        at_most("bytes of an offload's buffer", self.buffer, u32::MAX.into())?;
        if self.workers == 0 {
            return Err("an offload without workers takes no message: give it one".into());
        }
        let [least, greatest] = self.ratio_ppm;
        if least > greatest || greatest > GROWTH * WHOLE {
            return Err(format!(
                "sizes from {} to {} of what they were: say the lesser one first, and at most {GROWTH}",
                f64::from(least) / f64::from(WHOLE),
                f64::from(greatest) / f64::from(WHOLE)
            ));
        }
        let Some(cache) = &self.cache else { return Ok(()) };
        at_most("keys", cache.keys.into(), KEYS)?;
        if cache.keys == 0 || !(0.0..=EXPONENT).contains(&cache.exponent) {
            return Err(format!(
                "{} keys with an exponent of {}: say one key or more, and an exponent from 0 to {EXPONENT}",
                cache.keys, cache.exponent
            ));
        }
        Ok(())
    }
}

/// Bytes of a message at most when it has passed all offloads.
pub fn longest(message: u32, offloads: &[Offload]) -> u32 {
    let grown = |octets: u64, offload: &Offload| {
        let greatest = offload.ratio_ppm[1].max(WHOLE);
        (octets * u64::from(greatest) / u64::from(WHOLE)).min(u32::MAX.into())
    };
    offloads.iter().fold(message.into(), grown) as u32
}
