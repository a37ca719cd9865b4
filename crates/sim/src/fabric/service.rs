// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hosts that take time for each packet that arrives, one after another, with a queue before them.

use std::collections::VecDeque;

use super::real::{ln, unit};
use super::topology::{Node, Topology};
use crate::limits::{self, at_most};
use crate::rng::Rng;

/// How long a packet takes, in nanoseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServiceTime {
    Constant(u64),
    /// with this mean
    Exponential(u64),
    /// parts per million of packets, and the time that these take
    Mixture(Vec<(u32, u64)>),
}

/// What all shares of a mixture are together.
const WHOLE: u64 = 1_000_000;

impl ServiceTime {
    /// Whether it can be drawn.
    ///
    /// # Errors
    /// A sentence about what is wrong.
    pub(super) fn check(&self) -> Result<(), String> {
        let longest = match self {
            ServiceTime::Constant(ns) | ServiceTime::Exponential(ns) => *ns,
            ServiceTime::Mixture(parts) => {
                let shares: u64 = parts.iter().map(|(share, _)| u64::from(*share)).sum();
                if shares != WHOLE {
                    return Err(format!(
                        "the shares of a service time are 100 % together, not {} %",
                        shares as f64 / 1e4
                    ));
                }
                parts.iter().map(|(_, ns)| *ns).max().unwrap_or(0)
            }
        };
        at_most("nanoseconds of a service time", longest, limits::DELAY_NS)
    }

    pub(super) fn draw(&self, rng: &mut Rng) -> u64 {
        match self {
            ServiceTime::Constant(ns) => *ns,
            ServiceTime::Exponential(mean) => (-ln(1.0 - unit(rng)) * *mean as f64) as u64,
            ServiceTime::Mixture(parts) => {
                let mut place = rng.below(WHOLE);
                let part = parts.iter().find(|(share, _)| {
                    let here = place < u64::from(*share);
                    place = place.saturating_sub(u64::from(*share));
                    here
                });
                part.map_or(0, |(_, ns)| *ns)
            }
        }
    }
}

/// The service of a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Service {
    pub host: Node,
    pub time: ServiceTime,
    /// packets that wait at most, beside the one that is served
    pub queue: u32,
}

/// What a service did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ServiceCounters {
    pub served: u64,
    /// that found the queue full
    pub dropped: u64,
    /// nanoseconds in which it served
    pub busy_ns: u64,
    /// packets that waited at once
    pub longest: u32,
}

/// A service at work.
pub struct Server {
    time: ServiceTime,
    rng: Rng,
    queue: VecDeque<u32>,
    most: u32,
    serving: Option<u32>,
    pub counters: ServiceCounters,
}

/// The stream of random numbers for the service of host 0; those of others follow.
const STREAM_SERVICE: u64 = 1 << 32;

/// The packet finds the queue full.
#[derive(Debug, PartialEq, Eq)]
pub struct Full;

impl Server {
    /// The service of a host.
    ///
    /// # Errors
    /// A sentence, if there is no such host, it has several services, or a time cannot be drawn.
    pub fn of(all: &[Service], host: Node, seed: u64) -> Result<Option<Server>, String> {
        let mut own = all.iter().filter(|service| service.host == host);
        let Some(service) = own.next() else { return Ok(None) };
        if own.next().is_some() {
            return Err(format!("h{host} has several service times: give it one"));
        }
        service.time.check()?;
        Ok(Some(Server {
            time: service.time.clone(),
            rng: Rng::new(seed, STREAM_SERVICE + u64::from(host)),
            queue: VecDeque::new(),
            most: service.queue,
            serving: None,
            counters: ServiceCounters::default(),
        }))
    }

    /// A packet arrives; how long it takes, if its service begins.
    ///
    /// # Errors
    /// [`Full`].
    pub fn arrive(&mut self, packet: u32) -> Result<Option<u64>, Full> {
        if self.serving.is_none() {
            return Ok(Some(self.begin(packet)));
        }
        if self.queue.len() as u64 >= u64::from(self.most) {
            self.counters.dropped += 1;
            return Err(Full);
        }
        self.queue.push_back(packet);
        self.counters.longest = self.counters.longest.max(self.queue.len() as u32);
        Ok(None)
    }

    /// The packet that was served, and how long the next one takes.
    pub fn finish(&mut self) -> (Option<u32>, Option<u64>) {
        let done = self.serving.take();
        let next = self.queue.pop_front();
        (done, next.map(|packet| self.begin(packet)))
    }

    fn begin(&mut self, packet: u32) -> u64 {
        let takes = self.time.draw(&mut self.rng);
        self.serving = Some(packet);
        self.counters.served += 1;
        self.counters.busy_ns += takes;
        takes
    }
}

/// Whether each service is that of a host.
///
/// # Errors
/// A sentence with the name of one that is none.
pub fn check(all: &[Service], topology: &Topology) -> Result<(), String> {
    match all.iter().find(|service| service.host >= topology.hosts) {
        Some(service) => Err(format!(
            "a service time is for h{}, and the topology has {} hosts",
            service.host, topology.hosts
        )),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(time: ServiceTime, queue: u32) -> Server {
        Server::of(&[Service { host: 3, time, queue }], 3, 1).expect("valid").expect("its own")
    }

    /// The mean of many, in nanoseconds.
    fn mean(time: ServiceTime) -> f64 {
        let mut server = server(time, 0);
        for packet in 0..50_000 {
            assert!(server.arrive(packet).is_ok_and(|takes| takes.is_some()));
            assert_eq!(server.finish(), (Some(packet), None));
        }
        server.counters.busy_ns as f64 / server.counters.served as f64
    }

    #[test]
    fn times_have_their_means() {
        let near = |time, wanted: f64| assert!((mean(time) / wanted - 1.0).abs() < 0.02, "{wanted}");
        near(ServiceTime::Constant(10_000), 10_000.0);
        near(ServiceTime::Exponential(12_000), 12_000.0);
        near(ServiceTime::Mixture(vec![(950_000, 6_000), (50_000, 120_000)]), 11_700.0);
    }

    #[test]
    fn packets_are_served_in_order_and_the_queue_has_an_end() {
        let mut server = server(ServiceTime::Constant(5), 2);
        assert_eq!([server.arrive(1), server.arrive(2), server.arrive(3)], [Ok(Some(5)), Ok(None), Ok(None)]);
        assert_eq!(server.arrive(4), Err(Full));
        assert_eq!(server.finish(), (Some(1), Some(5)));
        assert_eq!(server.finish(), (Some(2), Some(5)));
        assert_eq!(server.finish(), (Some(3), None));
        assert_eq!(server.finish(), (None, None));
        let counted = ServiceCounters { served: 3, dropped: 1, busy_ns: 15, longest: 2 };
        assert_eq!(server.counters, counted);
    }

    #[test]
    fn what_is_no_service_is_refused() {
        let service = |host, time| Service { host, time, queue: 1 };
        let constant = || ServiceTime::Constant(1);
        let twice = [service(0, constant()), service(0, constant())];
        assert!(Server::of(&twice, 0, 1).is_err_and(|e| e.contains("several")));
        assert!(Server::of(&twice, 1, 1).is_ok_and(|none| none.is_none()));
        let short = [service(0, ServiceTime::Mixture(vec![(500_000, 1), (400_000, 2)]))];
        assert!(Server::of(&short, 0, 1).is_err_and(|e| e.contains("not 90 %")));
        let long = [service(0, ServiceTime::Exponential(u64::MAX))];
        assert!(Server::of(&long, 0, 1).is_err_and(|e| e.contains("limit")));
        let pair = Topology { hosts: 2, ..Topology::default() };
        assert!(check(&[service(2, constant())], &pair).is_err_and(|e| e.contains("h2")));
    }
}
