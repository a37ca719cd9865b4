// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connections open whatever the MTU is, in datagrams as long as RFC 9000 §14.1 wants them.

use std::sync::Arc;

use carrick_driver::compile::compile_choice;
use carrick_driver::{Choice, Over};
use carrick_ir::Program;
use carrick_sim::link::LinkConfig;
use carrick_sim::observe::Observer;
use carrick_sim::scenario::Engine;
use carrick_sim::{Scenario, run};
use carrick_tests::build::root;

/// Length of the first packet of the client, with its network header.
#[derive(Default)]
struct First(Option<usize>);

impl Observer for First {
    fn sent(&mut self, _: u64, _: usize, _: u64, packet: &[u8]) {
        self.0.get_or_insert(packet.len());
    }
}

fn program(over: Over) -> Arc<Program> {
    let path = root().join("protocols/quic-lite/quic-lite.mtp");
    let compiled = compile_choice(&path, &Choice { over, ..Choice::default() }).expect("readable");
    compiled.program.expect("no errors")
}

/// The length of the first datagram's payload, where headers of the network and of UDP take `headers` bytes.
fn first_datagram(program: &Arc<Program>, mtu: u32, headers: usize, retry: u64) -> usize {
    let mut scenario = Scenario::streams(1, LinkConfig::default(), &[3_000]);
    scenario.mtu = mtu;
    scenario.params =
        program.params.iter().map(|p| if p.name == "retry" { retry } else { p.default }).collect();
    let mut first = First::default();
    let report = run(program, &Engine::Interpreter, &scenario, &mut first, false).expect("it runs");
    assert_eq!(report.failures, Vec::<String>::new(), "MTU {mtu}");
    first.0.expect("a packet") - headers
}

#[test]
fn every_mtu_from_the_least_of_ipv6_carries_a_first_datagram_of_1200_bytes() {
    let program = program(Over::Ipv6);
    for mtu in (1280..=1330).chain([1500, 9000]) {
        assert_eq!(first_datagram(&program, mtu, 48, u64::from(mtu % 2)), 1200, "MTU {mtu}");
    }
}

#[test]
fn over_ipv4_a_first_datagram_has_1200_bytes_or_what_fits() {
    let program = program(Over::Ipv4);
    for mtu in (620..=690).step_by(3).chain(1190..=1280).chain([200, 1500]) {
        // The computed length of a packet counts as eight bytes, and has two.
        let fits = mtu as usize - 28 - 6;
        assert_eq!(first_datagram(&program, mtu, 28, u64::from(mtu % 2)), fits.min(1200), "MTU {mtu}");
    }
}
