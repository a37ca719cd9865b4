// SPDX-License-Identifier: MIT OR Apache-2.0
//! The stack under test: a core of a target in virtual time, and the packets that it sends.

use std::collections::VecDeque;
use std::sync::Arc;

use carrick_interp::Config;
use carrick_ir::{NetLayer, Program, STATUS_NAMES, Ty};
use carrick_sim::core::{Completion, Core, Data, Request};
use carrick_sim::scenario::Engine;
use carrick_sim::{icmp, ip};
use carrick_tests::tcp_segment::{CORE, Opt, PEER, Segment, quoted};

use crate::calls::Not;
use crate::report::Report;

/// The port that the core listens on, or connects from.
pub const OWN_PORT: u16 = 8080;
/// The peer's initial sequence number is 0 in scripts, and this on the wire.
const PEER_ISN: u32 = 0xffff_ff00;
/// When scripts begin.
const BEGIN: u64 = 10_000_000_000;

/// A segment that the core sent.
pub struct Sent {
    pub at: u64,
    pub segment: Segment,
}

pub struct Stack {
    core: Box<dyn Core>,
    program: Arc<Program>,
    layer: NetLayer,
    /// since the script began
    pub now: u64,
    /// the core's initial sequence number, once it was seen
    isn: u32,
    /// the core's timestamp, and what the script calls it
    stamps: Option<(u32, u32)>,
    /// the peer's port in the connection that the script is about
    pub peer: u16,
    pub sent: VecDeque<Sent>,
    done: Vec<Completion>,
    tokens: u64,
}

impl Stack {
    pub fn new(program: &Arc<Program>, engine: &Engine, params: Vec<u64>, mtu: u32) -> Result<Stack, String> {
        let layer = program.net_header.layer;
        let address = ip::address(layer, CORE);
        let config = Config { seed: 7, address, mtu, params, ..Config::default() };
        Ok(Stack {
            core: engine.core(program, &config, 0)?,
            program: program.clone(),
            layer,
            now: 0,
            isn: 0,
            stamps: None,
            peer: 5000,
            sent: VecDeque::new(),
            done: Vec::new(),
            tokens: 0,
        })
    }

    /// Makes a call, `number` for what only the call knows, and returns its token.
    pub fn call(&mut self, name: &str, handle: u64, number: u64, data: Data<'_>) -> Result<u64, String> {
        let program = self.program.clone();
        let calls = program.interface.as_ref().map_or(&[][..], |i| &i.calls);
        let at = calls.iter().position(|c| c.name == name).ok_or(format!("there is no call `{name}`"))?;
        let event = &program.events[calls[at].event.index()];
        let value = |field: &str| match field {
            "local_ip" => ip::address(self.layer, CORE),
            "local_port" => OWN_PORT.into(),
            "remote_ip" => ip::address(self.layer, PEER),
            "remote_port" => self.peer.into(),
            _ => number.into(),
        };
        let mut args = Vec::new();
        for field in &event.fields {
            match field.ty {
                Ty::Addr => {}
                Ty::Id(_) => args.extend([(value(&field.name) >> 64) as u64, value(&field.name) as u64]),
                _ => args.push(value(&field.name) as u64),
            }
        }
        self.tokens += 1;
        let request = Request { handle, token: self.tokens, args: &args, data };
        self.core.call(at, request, BEGIN + self.now).map_err(|e| format!("`{name}` is refused: {e:?}"))?;
        self.drain()?;
        Ok(self.tokens)
    }

    /// How a request ended, if it did: its status and value.
    pub fn ended(&mut self, token: u64) -> Option<(&'static str, u64)> {
        let at = self.done.iter().position(|done| done.token == token)?;
        let done = self.done.swap_remove(at);
        Some((STATUS_NAMES.get(usize::from(done.status)).copied().unwrap_or("?"), done.value))
    }

    /// A segment of the script arrives.
    pub fn arrive(&mut self, segment: &Segment) -> Result<(), String> {
        let mut segment = segment.clone();
        for option in segment.options.iter_mut().flatten() {
            if let (Opt::Stamps(_, Some(echo)), Some((core, script))) = (option, self.stamps) {
                *echo = echo.wrapping_sub(script).wrapping_add(core);
            }
        }
        let packet = segment.packet(self.layer, (self.peer, OWN_PORT), (PEER_ISN, self.isn));
        // Whether it is refused shows in what follows.
        let _ = self.core.rx(&packet, BEGIN + self.now);
        self.drain()
    }

    /// A report about a segment of the core arrives.
    pub fn report(&mut self, report: &Report) -> Result<(), Not> {
        let kind =
            report.kind(self.layer).ok_or(Not::Supported("an error with an unknown name".to_owned()))?;
        let seq = self.isn.wrapping_add(report.seq);
        let about = quoted(self.layer, (OWN_PORT, self.peer), seq, report.len);
        let packet = match self.layer {
            NetLayer::Ipv6 => icmp::report_v6(kind, report.mtu, &about),
            NetLayer::Ipv4 | NetLayer::Link => icmp::report(kind, report.mtu, icmp::ROUTER, &about),
        };
        let _ = self.core.rx(&packet.ok_or("no report".to_owned())?, BEGIN + self.now);
        Ok(self.drain()?)
    }

    /// Lets time pass, with the timers that fire until then.
    pub fn pass(&mut self, until: u64) -> Result<(), String> {
        while let Some(deadline) = self.deadline().filter(|d| *d <= until) {
            self.now = self.now.max(deadline);
            let _ = self.core.advance(BEGIN + self.now);
            self.drain()?;
        }
        self.now = self.now.max(until);
        Ok(())
    }

    /// Lets time pass until something is sent, but not beyond this.
    pub fn pass_until_sent(&mut self, limit: u64) -> Result<(), String> {
        while self.sent.is_empty() {
            let Some(deadline) = self.deadline().filter(|d| *d <= limit) else { return Ok(()) };
            self.pass(deadline)?;
        }
        Ok(())
    }

    fn deadline(&self) -> Option<u64> {
        self.core.next_deadline().map(|d| d.saturating_sub(BEGIN))
    }

    /// Takes out what the core sends and completes.
    fn drain(&mut self) -> Result<(), String> {
        let mut packet = Vec::new();
        while self.core.tx(&mut packet, BEGIN + self.now) {
            let (mut segment, _) = Segment::of_packet(&packet)?;
            if segment.is_syn() {
                self.isn = segment.seq;
            }
            segment.seq = segment.seq.wrapping_sub(self.isn);
            segment.relative_blocks(PEER_ISN);
            let has_ack = segment.has_ack();
            segment.ack = segment.ack.filter(|_| has_ack).map(|a| a.wrapping_sub(PEER_ISN));
            self.sent.push_back(Sent { at: self.now, segment });
        }
        while let Some(done) = self.core.next_completion() {
            self.done.push(done);
        }
        Ok(())
    }

    /// What a script calls the timestamp of a segment that it expected.
    pub fn name_stamp(&mut self, found: &Segment, wanted: &Segment) {
        let value = |segment: &Segment| {
            segment.options.iter().flatten().find_map(|o| match o {
                Opt::Stamps(value, _) => *value,
                _ => None,
            })
        };
        if let (None, Some(core), Some(script)) = (self.stamps, value(found), value(wanted)) {
            self.stamps = Some((core, script));
        }
    }

    /// The first claim of the program that does not hold.
    pub fn failed_claim(&self) -> Option<String> {
        self.core.failed_claims().first().map(|c| format!("claim {} does not hold", c.claim))
    }
}
