// SPDX-License-Identifier: MIT OR Apache-2.0
//! Playing a script against the interpreter.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use carrick_driver::params;
use carrick_interp::{Completion, Config, Core, Data, Request};
use carrick_ir::{NetLayer, Program, STATUS_NAMES, Ty};

use crate::script::{Action, Line, Reported};
use carrick_sim::icmp;
use carrick_tests::tcp_segment::{CORE, PEER, Segment, quoted};

/// Where the core listens, and where it connects from.
const OWN_PORT: u16 = 80;
const FIRST_PEER: u16 = 5000;
/// The peer's initial sequence number.
const PEER_ISN: u32 = 0xffff_ff00;
/// How late a timer may be: the wheel's tick.
const TICK: u64 = 1_000_000;

/// One connection, by the peer's port.
#[derive(Default)]
struct Flow {
    /// the core's initial sequence number, once it was seen
    isn: u32,
    handle: u64,
}

struct Player {
    core: Core,
    now: u64,
    peer: u16,
    flows: BTreeMap<u16, Flow>,
    listener: u64,
    /// what was sent, when and to which port
    sent: VecDeque<(u64, u16, Segment)>,
    /// what calls are open, by token
    open: BTreeMap<u64, (String, u16)>,
    done: VecDeque<(String, Completion)>,
    token: u64,
}

/// Plays a script.
pub fn run(program: &Arc<Program>, script: &[Line]) -> Result<(), String> {
    let settings =
        script.iter().filter_map(|l| if let Action::Set(s) = &l.action { Some(s.clone()) } else { None });
    let params = params::values(program, &settings.collect::<Vec<_>>()).map_err(|e| format!("1: {e}"))?;
    let config = Config { seed: 7, address: CORE.into(), params, ..Config::default() };
    let mut player = Player {
        core: Core::new(program.clone(), &config).map_err(|e| format!("1: {e}"))?,
        now: 10_000_000_000,
        peer: FIRST_PEER,
        flows: BTreeMap::new(),
        listener: 0,
        sent: VecDeque::new(),
        open: BTreeMap::new(),
        done: VecDeque::new(),
        token: 0,
    };
    for line in script {
        player.line(&line.action).map_err(|what| format!("{}: {what}", line.number))?;
    }
    let last = script.last().map_or(0, |l| l.number);
    player.end().map_err(|what| format!("{last}: {what}"))
}

impl Player {
    fn line(&mut self, action: &Action) -> Result<(), String> {
        // What is sent is expected before anything else happens.
        if !matches!(action, Action::Out { .. } | Action::Done { .. })
            && let Some((_, _, segment)) = self.sent.front()
        {
            return Err(format!("{segment} was sent before this, and not expected"));
        }
        match action {
            Action::With(_) | Action::Without(_) | Action::Set(_) => Ok(()),
            Action::Peer(port) => {
                self.peer = *port;
                Ok(())
            }
            Action::Call { name, argument } => self.call(name, *argument),
            Action::In(segment) => {
                self.arrive(segment);
                self.drain()
            }
            Action::Reported(reported) => {
                self.report(reported)?;
                self.drain()
            }
            Action::InBurst(segment) => {
                self.arrive(segment);
                Ok(())
            }
            Action::Out { after, segment } => self.expect(*after, segment),
            Action::Done { name, how } => self.completed(name, how),
            Action::Wait(time) => self.pass(self.now + time),
            Action::Quiet(time) => {
                self.pass(self.now + time)?;
                match self.sent.front() {
                    Some((at, _, segment)) => Err(format!("{segment} was sent {} early", ms(self.now - at))),
                    None => Ok(()),
                }
            }
        }
    }

    fn arrive(&mut self, segment: &Segment) {
        let isn = self.flows.entry(self.peer).or_default().isn;
        let packet = segment.packet(NetLayer::Ipv4, (self.peer, OWN_PORT), (PEER_ISN, isn));
        // Whether it is refused shows in what follows.
        let _ = self.core.rx(&packet, self.now);
    }

    /// A report about a segment of the core, of which the first bytes are quoted.
    fn report(&mut self, reported: &Reported) -> Result<(), String> {
        let isn = self.flows.entry(self.peer).or_default().isn;
        let seq = isn.wrapping_add(reported.seq);
        let about = quoted(NetLayer::Ipv4, (OWN_PORT, self.peer), seq, reported.len);
        let packet = icmp::report(reported.kind, reported.mtu, icmp::ROUTER, &about).ok_or("no report")?;
        let _ = self.core.rx(&packet, self.now);
        Ok(())
    }

    fn call(&mut self, name: &str, argument: Option<u64>) -> Result<(), String> {
        let program = self.core.program().clone();
        let calls = program.interface.as_ref().map_or(&[][..], |i| &i.calls);
        let number = calls.iter().position(|c| c.name == name).ok_or(format!("there is no call `{name}`"))?;
        let event = &program.events[calls[number].event.index()];
        let value = |field: &str| match field {
            "local_ip" => u64::from(CORE),
            "local_port" => u64::from(OWN_PORT),
            "remote_ip" => argument.unwrap_or(u64::from(PEER)),
            "remote_port" => u64::from(self.peer),
            "backlog" => argument.unwrap_or(16),
            _ => argument.unwrap_or(0),
        };
        let args: Vec<u64> =
            event.fields.iter().filter(|f| f.ty != Ty::Addr).map(|f| value(&f.name)).collect();
        let len = argument.unwrap_or(0);
        let sends = matches!(name, "send" | "send_urgent");
        let octets: Vec<u8> = if sends { (0..len).map(|i| i as u8).collect() } else { Vec::new() };
        let data = match name {
            "send" | "send_urgent" => Data::Send(&octets),
            "recv" => Data::Recv(len),
            _ => Data::None,
        };
        let handle = match name {
            "accept" | "unlisten" => self.listener,
            _ => self.flows.entry(self.peer).or_default().handle,
        };
        self.token += 1;
        self.open.insert(self.token, (name.to_owned(), self.peer));
        let request = Request { handle, token: self.token, args: &args, data };
        self.core.call(number, &request, self.now).map_err(|e| format!("`{name}` was refused: {e:?}"))?;
        self.drain()
    }

    /// Takes out what the core sends and completes.
    fn drain(&mut self) -> Result<(), String> {
        let mut packet = Vec::new();
        while self.core.tx(&mut packet, self.now) {
            let (mut segment, port) = Segment::of_packet(&packet)?;
            let flow = self.flows.entry(port).or_default();
            if segment.is_syn() {
                flow.isn = segment.seq;
            }
            segment.seq = segment.seq.wrapping_sub(flow.isn);
            segment.relative_blocks(PEER_ISN);
            let has_ack = segment.has_ack();
            segment.ack = segment.ack.filter(|_| has_ack).map(|a| a.wrapping_sub(PEER_ISN));
            self.sent.push_back((self.now, port, segment));
        }
        while let Some(done) = self.core.next_completion() {
            let (name, peer) = self.open.remove(&done.token).ok_or("a completion of nothing")?;
            match name.as_str() {
                "listen" => self.listener = done.value,
                "connect" | "accept" if done.status == 0 => {
                    self.flows.entry(if name == "accept" { self.peer } else { peer }).or_default().handle =
                        done.value;
                }
                _ => {}
            }
            if !((name == "listen" || name.starts_with("set_")) && done.status == 0) {
                self.done.push_back((name, done));
            }
        }
        Ok(())
    }

    /// Lets time pass, with the timers that fire until then.
    fn pass(&mut self, until: u64) -> Result<(), String> {
        while let Some(deadline) = self.core.next_deadline().filter(|d| *d <= until) {
            self.now = self.now.max(deadline);
            let _ = self.core.advance(self.now);
            self.drain()?;
        }
        self.now = until;
        Ok(())
    }

    fn expect(&mut self, after: Option<u64>, wanted: &Segment) -> Result<(), String> {
        let begin = self.now;
        if let Some(after) = after {
            let limit = begin + after + TICK;
            while self.sent.is_empty() {
                let Some(deadline) = self.core.next_deadline().filter(|d| *d <= limit) else { break };
                self.pass(deadline)?;
            }
        }
        let Some((at, port, found)) = self.sent.pop_front() else {
            return Err(format!("{wanted} was not sent; nothing was"));
        };
        if let Some(what) = found.differs_from(wanted) {
            return Err(format!("{what} differ: wanted {wanted}, sent {found}"));
        }
        if port != self.peer {
            return Err(format!("{found} was sent to port {port}"));
        }
        match after {
            Some(after) if at.abs_diff(begin + after) > TICK => {
                Err(format!("{found} was sent after {}, not {}", ms(at - begin), ms(after)))
            }
            _ => Ok(()),
        }
    }

    fn completed(&mut self, name: &str, how: &str) -> Result<(), String> {
        let Some((found, done)) = self.done.pop_front() else {
            return Err(format!("`{name}` is not complete; open are {:?}", self.open.values()));
        };
        let status = STATUS_NAMES.get(usize::from(done.status)).copied().unwrap_or("?");
        let value = if status == "OK" && how != "OK" { done.value.to_string() } else { status.to_owned() };
        if (found.as_str(), value.as_str()) != (name, how) {
            return Err(format!("wanted `{name}` to complete with {how}, and `{found}` did with {value}"));
        }
        Ok(())
    }

    fn end(&self) -> Result<(), String> {
        if let Some((_, _, segment)) = self.sent.front() {
            return Err(format!("{segment} was sent and not expected"));
        }
        if let Some((name, done)) = self.done.front() {
            return Err(format!("`{name}` completed and was not expected to: {done:?}"));
        }
        if let Some((name, _)) = self.open.values().find(|(name, _)| name == "connect") {
            return Err(format!("`{name}` is still open"));
        }
        match self.core.failed_claims() {
            [] => Ok(()),
            [first, ..] => Err(format!("claim {} does not hold", first.claim)),
        }
    }
}

fn ms(ns: u64) -> String {
    format!("{:.3} ms", ns as f64 / 1e6)
}
