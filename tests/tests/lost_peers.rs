// SPDX-License-Identifier: MIT OR Apache-2.0
//! A peer that dies, one that is not there and one that gives up: in each protocol, who goes on is told of an error, and
//! nothing that it asked for waits for ever.

use std::sync::Arc;

use carrick_driver::{Choice, compile_choice};
use carrick_ir::{Program, STATUS_NAMES};
use carrick_sim::app::End;
use carrick_sim::core::Completion;
use carrick_sim::faults::FOREVER;
use carrick_sim::link::LinkConfig;
use carrick_sim::observe::Observer;
use carrick_sim::scenario::Engine;
use carrick_sim::{Report, Scenario, run};
use carrick_tests::build::root;

const MILLISECOND: u64 = 1_000_000;
/// Where no server of the simulator listens, or opens an end.
const DEAF_PORT: u16 = 4999;

/// The errors that the client was told of, each once, in order.
#[derive(Default)]
struct Told(Vec<&'static str>);

impl Observer for Told {
    fn completed(&mut self, _now: u64, host: usize, done: &Completion) {
        let status = STATUS_NAMES[usize::from(done.status)];
        if host == 0 && status != "OK" && !self.0.contains(&status) {
            self.0.push(status);
        }
    }
}

fn program(name: &str, features: &[&str]) -> Arc<Program> {
    let mut choice = Choice::default();
    features.iter().for_each(|text| choice.add(text));
    let path = root().join(format!("protocols/{name}/{name}.mtp"));
    compile_choice(&path, &choice).expect("readable").program.expect("right")
}

/// The run, whose client has come to an end, and the errors that it was told of.
#[track_caller]
fn told(program: &Arc<Program>, scenario: &Scenario) -> (Report, Vec<&'static str>) {
    let mut told = Told::default();
    let report = run(program, &Engine::Interpreter, scenario, &mut told, false).expect("it runs");
    let client = &report.connections[0][0];
    assert_ne!(client.end, End::Open, "{}: {client:?}", program.file.raw());
    (report, told.0)
}

fn transfer(link: LinkConfig) -> Scenario {
    Scenario::bulk(1, link, 2_000_000)
}

/// In the midst of a transfer the other end is no more.
#[track_caller]
fn dies(name: &str, features: &[&str], error: &str) -> Report {
    let mut link = LinkConfig::default();
    link.faults.during(20 * MILLISECOND, FOREVER, |faults| faults.down = true);
    let (report, told) = told(&program(name, features), &transfer(link));
    assert!(report.received() > 0, "{name}: it has begun");
    assert!(told.contains(&error), "{name}: {told:?}");
    report
}

#[track_caller]
fn is_not_there(name: &str, features: &[&str], error: &str) {
    let mut scenario = transfer(LinkConfig::default());
    scenario.plans[0].port = DEAF_PORT;
    let (report, told) = told(&program(name, features), &scenario);
    assert_eq!(report.received(), 0, "{name}");
    assert!(told.contains(&error), "{name}: {told:?}");
}

/// The server gives up in the midst of a transfer, and says so.
#[track_caller]
fn gives_up(name: &str, error: &str) {
    let mut scenario = transfer(LinkConfig::default());
    let server = &mut scenario.plans[0].server;
    (server.to_send, server.abort_at) = (2_000_000, Some(200_000));
    let (report, told) = told(&program(name, &[]), &scenario);
    assert!(told.contains(&error), "{name}: {told:?}, {:?}", report.connections);
}

const RELIABLE: [&str; 2] = ["inorder", "reliable"];

#[test]
fn tcp() {
    let report = dies("tcp", &[], "TIMED_OUT");
    // Who only waits for bytes asks nobody whether there is somebody (RFC 9293 §3.8.4): keep-alives are off.
    assert_eq!(report.connections[1][0].end, End::Open);
    is_not_there("tcp", &[], "REFUSED");
    gives_up("tcp", "RESET");
}

#[test]
fn quic_lite() {
    let report = dies("quic-lite", &[], "TIMED_OUT");
    assert_ne!(report.connections[1][0].end, End::Open, "the idle timeout is of both ends");
    is_not_there("quic-lite", &[], "REFUSED");
    gives_up("quic-lite", "RESET");
}

#[test]
fn homa() {
    dies("homa", &[], "TIMED_OUT");
    is_not_there("homa", &[], "TIMED_OUT");
}

#[test]
fn udp_retry() {
    dies("udp-retry", &[], "TIMED_OUT");
    is_not_there("udp-retry", &[], "TIMED_OUT");
}

#[test]
fn ndp() {
    dies("ndp", &[], "TIMED_OUT");
    is_not_there("ndp", &[], "TIMED_OUT");
}

#[test]
fn message_transport() {
    dies("message-transport", &[], "TIMED_OUT");
    is_not_there("message-transport", &[], "TIMED_OUT");
}

#[test]
fn rocev2() {
    dies("rocev2", &[], "TIMED_OUT");
    is_not_there("rocev2", &[], "TIMED_OUT");
}

/// Without `reliable` nobody knows whether a message arrives.
#[test]
fn netblocks() {
    dies("netblocks", &RELIABLE, "TIMED_OUT");
    is_not_there("netblocks", &RELIABLE, "TIMED_OUT");
    is_not_there("netblocks", &["signalling"], "UNREACHABLE");
}
