// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random scenarios: networks, applications and faults from a seed alone.

use carrick_ir::{NetLayer, Program, uses};

use crate::app::{Plan, Side};
use crate::faults::{FOREVER, LinkFaults};
use crate::link::LinkConfig;
use crate::rng::Rng;
use crate::scenario::{DEAF_PORT, SECOND, Scenario, plan};

/// The stream of random numbers for faults, apart from that of networks and applications.
const STREAM_FAULTS: u64 = 2;
/// That for the MTU of the path.
const STREAM_PATH: u64 = 3;
/// What every IPv4 host accepts (RFC 791 §3.1).
const NARROWEST: u32 = 576;
/// As [`NARROWEST`], over IPv6: what every link carries (RFC 8200 §5).
const IPV6_LEAST: u32 = 1280;
/// Share of packets that meet each fault at least, where every fault is wanted, in parts per million.
const SOME_PPM: u32 = 5_000;

/// What goes wrong in a random network, beside what its seed alone draws.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Faults {
    /// each fault in half of the networks
    Drawn,
    /// every fault; packets are corrupted only if the program has a checksum over its payload
    Every,
    /// none, but for queues of a few packets that drop the rest
    Queues,
    /// as [`Faults::Every`], and from some time on nothing arrives
    Cut,
}

impl Scenario {
    /// A random network with random applications, from the seed alone.
    pub fn random(seed: u64) -> Scenario {
        let mut rng = Rng::new(seed, 1);
        let fault = |rng: &mut Rng| if rng.chance(500_000) { rng.below(50_000) as u32 } else { 0 };
        let link = LinkConfig {
            rate_bps: [1_000_000, 10_000_000, 100_000_000, 1_000_000_000][rng.below(4) as usize],
            delay_ns: rng.between(10_000, 50_000_000),
            queue_packets: rng.between(4, 200) as usize,
            faults: LinkFaults {
                loss_ppm: fault(&mut rng),
                duplicate_ppm: fault(&mut rng),
                reorder_ppm: fault(&mut rng),
                corrupt_ppm: fault(&mut rng),
                ..LinkFaults::default()
            }
            .into(),
        };
        let plans = (1..=rng.between(1, 4)).map(|number| random_plan(number, &mut rng)).collect();
        Scenario {
            mtu: [576, 1280, 1500, 9000][rng.below(4) as usize],
            plans,
            limit: 4 * 3600 * SECOND,
            drain: 300 * SECOND,
            ..Scenario::bulk(seed, link, 8)
        }
    }

    /// With an MTU that every link of the network layer has.
    #[must_use]
    pub fn over(self, layer: NetLayer) -> Scenario {
        Scenario { mtu: self.mtu.max(least_mtu(layer)), ..self }
    }

    /// A random network in which these faults happen, for this program.
    pub fn with_faults(seed: u64, faults: Faults, program: &Program) -> Scenario {
        let layer = program.net_header.layer;
        let mut scenario = Scenario::random(seed).over(layer);
        let mut rng = Rng::new(seed, STREAM_FAULTS);
        let link = &mut scenario.link;
        match faults {
            Faults::Drawn => {}
            Faults::Every | Faults::Cut => {
                let has_checksum = uses::without_checksum(program).is_none();
                link.faults.always(|faults| {
                    let shares = [&mut faults.loss_ppm, &mut faults.duplicate_ppm, &mut faults.reorder_ppm];
                    shares.into_iter().for_each(|ppm| *ppm = (*ppm).max(SOME_PPM));
                    faults.corrupt_ppm = if has_checksum { faults.corrupt_ppm.max(SOME_PPM) } else { 0 };
                });
                if faults == Faults::Cut {
                    link.faults.during(rng.below(3 * SECOND), FOREVER, |faults| faults.down = true);
                }
            }
            Faults::Queues => {
                *link = LinkConfig {
                    rate_bps: link.rate_bps,
                    delay_ns: link.delay_ns,
                    queue_packets: rng.between(1, 12) as usize,
                    ..LinkConfig::default()
                };
            }
        }
        if program.report_parser.is_some() {
            narrow(&mut scenario, least_mtu(layer).into());
        }
        scenario
    }
}

fn least_mtu(layer: NetLayer) -> u32 {
    match layer {
        NetLayer::Ipv6 => IPV6_LEAST,
        NetLayer::Ipv4 | NetLayer::Link => NARROWEST,
    }
}

/// Half of the paths have a link that carries no more than smaller packets; some are silent about it.
fn narrow(scenario: &mut Scenario, least: u64) {
    let mut rng = Rng::new(scenario.seed, STREAM_PATH);
    if rng.chance(500_000) {
        let path_mtu = Some(rng.between(least, scenario.mtu.into()) as u32);
        let silent = rng.chance(250_000);
        scenario.link.faults.always(|faults| (faults.path_mtu, faults.silent) = (path_mtu, silent));
    }
}

fn random_side(rng: &mut Rng, lo: u64) -> Side {
    let size = [200, 5_000, 100_000, 400_000][rng.below(4) as usize];
    let pause = |rng: &mut Rng, ppm, most| if rng.chance(ppm) { rng.below(most) } else { 0 };
    Side {
        to_send: if lo == 0 && rng.chance(300_000) { 0 } else { rng.between(8, size) },
        send_chunk: rng.between(1, 40_000) as u32,
        recv_chunk: rng.between(1, 40_000) as u32,
        pause_first: pause(rng, 300_000, 3 * SECOND),
        pause: pause(rng, 200_000, SECOND / 50),
        abort_at: rng.chance(80_000).then(|| rng.below(size)),
    }
}

fn random_plan(number: u64, rng: &mut Rng) -> Plan {
    let mut plan = plan(number, random_side(rng, 8), random_side(rng, 0));
    plan.start = rng.below(SECOND);
    plan.outstanding = 1 << ((number + plan.start) % 4);
    plan.connection = number.div_ceil(2);
    if plan.client.send_chunk < 200 || plan.server.send_chunk < 200 || plan.client.recv_chunk < 200 {
        // Many small requests: keep the run short.
        plan.client.to_send = plan.client.to_send.min(20_000);
        plan.server.to_send = plan.server.to_send.min(20_000);
    }
    // Nobody listens there.
    if rng.chance(30_000) {
        plan.port = DEAF_PORT;
    }
    plan
}
