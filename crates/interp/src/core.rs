// SPDX-License-Identifier: MIT OR Apache-2.0
//! A core: one instance of a program.

use std::ops::RangeInclusive;
use std::sync::Arc;

use carrick_ir::{NetLayer, Program, arith};

use crate::api::*;
use crate::contexts::Handle;
use crate::counters::*;
use crate::instr::request_addr;
use crate::ip;
use crate::ipv4;
use crate::layout::{CTX_ID, EVENT_ID, TIMER_CELLS, words_of};
use crate::linked::{CallCode, Linked, Target};
use crate::machine::Machine;
use crate::report;
use crate::timers::TimerRef;

/// Open requests at most, if the configuration does not say.
const DEFAULT_COMPLETIONS: u32 = 1024;
/// What an IPv4 packet may be at least and at most.
const MTU: RangeInclusive<u32> = 68..=65535;
/// As [`MTU`], where there is no IPv4.
const LINK_MTU: RangeInclusive<u32> = 16..=65535;
/// As [`MTU`], over IPv6: what every link carries at least (RFC 8200 §5).
const IPV6_MTU: RangeInclusive<u32> = 1280..=65535;

/// One instance of a program, with all its contexts, timers, data and queues.
#[derive(Debug)]
pub struct Core {
    pub(crate) linked: Linked,
    pub(crate) machine: Machine,
}

impl Core {
    /// Makes a core.
    ///
    /// # Errors
    /// Says which part of the configuration is outside its range, or what of the program no core can do.
    pub fn new(program: Arc<Program>, config: &Config) -> Result<Core, String> {
        Core::make(program, config, false)
    }

    /// `debugged`: it is to stop at statements.
    pub(crate) fn make(program: Arc<Program>, config: &Config, debugged: bool) -> Result<Core, String> {
        let mtu = match program.net_header.layer {
            NetLayer::Ipv4 => MTU,
            NetLayer::Ipv6 => IPV6_MTU,
            NetLayer::Link => LINK_MTU,
        };
        if !mtu.contains(&config.mtu) {
            return Err(format!("the MTU is outside {} to {}", mtu.start(), mtu.end()));
        }
        let completions = if config.completions == 0 { DEFAULT_COMPLETIONS } else { config.completions };
        if !completions.is_power_of_two() {
            return Err("the number of completions is not a power of two".to_owned());
        }
        let linked = Linked::new(program, config, debugged)?;
        let machine = Machine::new(&linked, config, completions as usize);
        Ok(Core { linked, machine })
    }

    /// A packet from the network, beginning with its network header.
    ///
    /// # Errors
    /// [`Refused::Again`] and [`Refused::Dropped`].
    pub fn rx(&mut self, packet: &[u8], now: u64) -> Result<(), Refused> {
        self.rx_on(0, packet, now)
    }

    /// As [`Core::rx`], of a program in the network: the packet came by this interface.
    ///
    /// # Errors
    /// [`Refused::Again`] also while a packet waits to leave, and [`Refused::Dropped`] of malformed ones only.
    pub fn rx_on(&mut self, interface: u32, packet: &[u8], now: u64) -> Result<(), Refused> {
        let (p, m) = (&self.linked, &mut self.machine);
        if m.passing.waits_to_leave() {
            return Err(Refused::Again);
        }
        m.arrive(p, now, p.program.max_parsed.max(1), true)?;
        match p.program.net_header.layer {
            layer @ (NetLayer::Ipv4 | NetLayer::Ipv6) => {
                let def = &p.program.net_header;
                let in_network = p.packets.is_some();
                let own = (!in_network).then_some(m.address);
                let parsed = ip::parse(def, packet, def.protocol, own);
                let others = matches!(parsed, Err(IP_FRAGMENT | IP_PROTOCOL));
                if in_network && (others || parsed.is_ok()) {
                    m.look_at(packet, ip::total(layer, packet), interface.into());
                }
                if in_network && others {
                    m.pass_on(p);
                    return Ok(());
                }
                if parsed == Err(IP_PROTOCOL) && p.program.report_parser.is_some() {
                    m.receive_report(p, packet).map_err(|counter| m.refuse(counter))?;
                } else {
                    let (header, net, rest) = parsed.map_err(|counter| m.refuse(counter))?;
                    m.count_packet(p, net.len() + rest.len()).map_err(|counter| m.refuse(counter))?;
                    m.receive(p, &header, net, rest);
                    m.parse(p, p.program.parser, &[]);
                }
            }
            NetLayer::Link => {
                m.count_packet(p, packet.len()).map_err(|counter| m.refuse(counter))?;
                m.receive(p, &ipv4::Header::default(), &[], packet);
                m.parse(p, p.program.parser, &[]);
            }
        }
        let refused = m.refused.take().map(|counter| m.refuse(counter));
        let events = !m.raised.is_empty();
        let refused = if events { None } else { Some(refused.unwrap_or_else(|| m.refuse(UNPARSED))) };
        match events && m.pending.is_some() {
            true => m.raised_wait(p),
            false => m.run_raised(p, 0, |m, p, event| m.event_by_id(p, event)),
        }
        if p.packets.is_some() {
            m.pass_on(p);
            return Ok(());
        }
        refused.map_or(Ok(()), Err)
    }

    /// The first claims of the program that did not hold, oldest first; the counter `claims_failed` has all.
    pub fn failed_claims(&self) -> &[FailedClaim] {
        &self.machine.failed_claims
    }

    /// A request, of the interface's call with this number.
    ///
    /// # Errors
    /// [`Refused::Again`] and [`Refused::BadArg`].
    pub fn call(&mut self, call: usize, request: &Request<'_>, now: u64) -> Result<(), Refused> {
        let (p, m) = (&self.linked, &mut self.machine);
        let code = p.calls.get(call).ok_or(Refused::BadArg)?;
        let data_fits = code.data.is_some() || request.data == Data::None;
        if request.token == 0 || request.args.len() != code.args.len() || !data_fits {
            return Err(Refused::BadArg);
        }
        if m.requests.full() {
            return Err(Refused::Again);
        }
        m.arrive(p, now, 1, false)?;
        m.place_call(p, code, request);
        if m.pending.is_some() {
            let on = matches!(code.target, Target::On).then_some(request.handle);
            m.wait(p, code.event, on, None);
            return Ok(());
        }
        match &code.target {
            Target::On => m.event_on(p, code.event, request.handle),
            Target::At(_) | Target::Nowhere => m.event_by_id(p, code.event),
        }
        Ok(())
    }

    /// Fires the timers that are due.
    ///
    /// # Errors
    /// [`Refused::Again`] if some are left because the blueprint queue is full.
    pub fn advance(&mut self, now: u64) -> Result<(), Refused> {
        let (p, m) = (&self.linked, &mut self.machine);
        m.now = m.now.max(now);
        if m.pending.is_some() {
            return m.handle_waiting(p);
        }
        while m.timers.first().is_some_and(|(deadline, _)| deadline <= m.now) {
            m.arrive(p, now, 0, false)?;
            if let Some(due) = m.take_due(p) {
                m.run_timer(p, due);
            }
        }
        Ok(())
    }

    /// Makes the next packet, in place of what `out` held. False if there is none.
    pub fn tx(&mut self, out: &mut Vec<u8>, now: u64) -> bool {
        let m = &mut self.machine;
        m.now = m.now.max(now);
        // What is left waits for room that this packet makes.
        let _ = m.handle_waiting(&self.linked);
        m.next_leaving(out) || m.make_packet(&self.linked, out)
    }

    /// By which interface the packet leaves that [`Core::tx`] made last, of a program in the network; [`carrick_ir::ROUTE`] is
    /// the one to which its destination leads.
    pub fn tx_interface(&self) -> u32 {
        self.machine.passing.left_by as u32
    }

    /// When the next timer is due, or a packet goes that waits for its moment only; in nanoseconds.
    pub fn next_deadline(&self) -> Option<u64> {
        let m = &self.machine;
        let packet = Some(m.queue.sched.wakes()).filter(|at| *at > m.now && *at != u64::MAX);
        m.timers.first().map(|(deadline, _)| deadline).into_iter().chain(packet).min()
    }

    /// The oldest completion.
    pub fn next_completion(&mut self) -> Option<Completion> {
        let _ = self.machine.handle_waiting(&self.linked);
        self.machine.requests.next()
    }

    /// Moves the trace records since the last time to the end of `to`.
    pub fn move_trace(&mut self, to: &mut Vec<Record>) {
        if let Some(trace) = &mut self.machine.trace {
            to.append(&mut trace.records);
        }
    }

    /// Takes records back, whose memory is used again.
    pub fn recycle_trace(&mut self, records: &mut Vec<Record>) {
        match &mut self.machine.trace {
            Some(trace) => trace.spare.extend(records.drain(..).map(|record| record.words)),
            None => records.clear(),
        }
    }

    /// The trace records since the last time.
    pub fn take_trace(&mut self) -> Vec<Record> {
        self.machine.trace.as_mut().map(|trace| std::mem::take(&mut trace.records)).unwrap_or_default()
    }

    /// By number, as [`COUNTERS`](carrick_ir::COUNTERS) names them.
    pub fn counters(&self) -> &[u64] {
        &self.machine.counters
    }

    /// Open instances over all contexts.
    pub fn open_contexts(&self) -> usize {
        self.machine.instances.iter().map(|i| i.open).sum()
    }

    /// By what the instance with this handle is found: the parts of its id, an address of IPv6 as two of one name. `None` if
    /// there is none.
    pub fn identity(&self, handle: u64) -> Option<Vec<(&str, u64)>> {
        let (p, at) = (&self.linked, self.machine.instance(handle)?);
        let id = p.program.contexts[Handle::of(handle)?.ctx].id;
        let cells = &self.machine.mem[at + CTX_ID as usize..];
        let parts = &p.program.ids[id.index()].parts;
        let names = parts.iter().flat_map(|part| {
            let size = p.layout.size(&part.ty) as usize;
            std::iter::repeat_n(part.name.as_str(), size)
        });
        Some(names.zip(cells.iter().copied()).collect())
    }

    /// The program that it runs.
    pub fn program(&self) -> &Arc<Program> {
        &self.linked.program
    }
}

impl Machine {
    /// An input comes, of so many events: refused while what it may issue does not fit into the queue, and a packet can
    /// go out; or, if events wait, while it cannot.
    fn arrive(&mut self, p: &Linked, now: u64, events: u32, packet: bool) -> Result<(), Refused> {
        let now = self.now.max(now);
        let full = || self.queue.free() < p.max_blueprints && self.queue.sched.ready(now);
        if !self.may_wait(events, packet).unwrap_or_else(|| !full()) {
            return Err(Refused::Again);
        }
        self.now = now;
        Ok(())
    }

    fn refuse(&mut self, counter: usize) -> Refused {
        self.drop_packet(counter);
        Refused::Dropped(counter)
    }

    /// Reads an error that the network reports: the quoted packet is the one that is received.
    ///
    /// # Errors
    /// The counter that says why it is refused.
    fn receive_report(&mut self, p: &Linked, packet: &[u8]) -> Result<(), usize> {
        let Some(parser) = p.program.report_parser else { return Err(IP_PROTOCOL) };
        let header = &p.program.net_header;
        let report = report::parse(header, packet, self.address)?;
        self.count_packet(p, report.net.len() + report.quoted.len())?;
        self.receive(p, &report.header, report.net, report.quoted);
        if let Some(cell) = p.net.payload_len {
            self.mem[(p.map.net + cell) as usize] = report.payload_len.into();
        }
        let mut said = vec![report.kind, report.mtu];
        said.extend(words_of(&p.program.address_ty(), report.from));
        self.parse(p, parser, &said);
        Ok(())
    }

    /// Makes a packet the one that is received.
    pub(crate) fn receive(&mut self, p: &Linked, header: &ipv4::Header, net: &[u8], rest: &[u8]) {
        self.packet_net.clear();
        self.packet_net.extend_from_slice(net);
        self.packet.clear();
        self.packet.extend_from_slice(rest);
        self.packet_rest = 0..rest.len();
        self.packet_number += 1;
        self.packet_ips = (header.src, header.last());
        let net = p.map.net as usize;
        self.init(&p.net_init, net, net);
        let cells = p.net;
        let interface = self.passing.interface();
        let mut set = |cell: Option<u32>, value: u64| {
            if let Some(cell) = cell {
                self.mem[net + cell as usize] = value;
            }
        };
        let ty = p.program.address_ty();
        for (cell, address) in [(cells.src, header.src), (cells.dst, header.dst)] {
            words_of(&ty, address).zip(0..).for_each(|(word, at)| set(cell.map(|cell| cell + at), word));
        }
        set(cells.protocol, header.protocol.into());
        set(cells.ttl, header.ttl.into());
        set(cells.tos, header.tos.into());
        set(cells.payload_len, rest.len() as u64);
        set(cells.interface, interface);
        let route = &header.route;
        set(cells.segment_count, route.list.len() as u64);
        set(cells.segments_left, route.left.into());
        set(cells.segment_flags, route.flags.into());
        set(cells.segment_tag, route.tag.into());
        let words = route.list.iter().flat_map(|entry| words_of(&ty, *entry));
        words.zip(0..).for_each(|(word, at)| set(cells.segments.map(|cell| cell + at), word));
    }

    /// Puts a call's event at the stack's beginning.
    fn place_call(&mut self, p: &Linked, code: &CallCode, request: &Request<'_>) {
        let stack = p.map.stack as usize;
        self.init(&p.event_inits[code.event], stack, stack);
        self.mem[stack] = request.token;
        for ((cell, ty), arg) in code.args.iter().zip(request.args) {
            self.mem[stack + *cell as usize] = arith::cast(ty, *arg);
        }
        let data = self.requests.accept(request.token, request.data);
        if let Some((cell, (slot, len))) = code.data.zip(data) {
            let addr = request_addr(slot, len, request.token);
            let at = stack + cell as usize;
            self.mem[at..at + addr.len()].copy_from_slice(&addr);
        }
        if let Target::At(parts) = &code.target {
            for (i, part) in parts.iter().enumerate() {
                self.mem[stack + EVENT_ID as usize + i] = self.eval(part, 0);
            }
        }
    }

    /// Stops the first timer, and says what it raises.
    pub(crate) fn take_due(&mut self, p: &Linked) -> Option<Due> {
        let (_, timer) = self.timers.first().filter(|(deadline, _)| *deadline <= self.now)?;
        let at = self.instance(timer.handle)?;
        let ctx = Handle::of(timer.handle)?.ctx;
        let cell = at + (p.layout.contexts[ctx].end + timer.timer * TIMER_CELLS) as usize;
        self.stop_timer(cell);
        Some(Due { ctx, at, timer })
    }

    /// Handles the event of a timer that was stopped.
    pub(crate) fn run_timer(&mut self, p: &Linked, due: Due) {
        let (stack, handle) = (p.map.stack as usize, due.timer.handle);
        let timer = &p.program.contexts[due.ctx].timers[due.timer.timer as usize];
        let event = timer.event.index();
        self.init(&p.event_inits[event], stack, stack);
        let which = timer.element.map_or(0, |element| element.at as usize);
        let fields = p.program.events[event].fields.iter().zip(&p.layout.events[event].fields);
        for ((field, to), kept) in fields.zip(&timer.says) {
            let size = p.layout.size(&field.ty) as usize;
            let from = due.at + p.layout.contexts[due.ctx].fields[*kept as usize] as usize + which * size;
            self.mem.copy_within(from..from + size, stack + *to as usize);
        }
        if let Some(outside) = &mut self.outside {
            outside.timer = Some(due.timer.timer);
        }
        self.event_on(p, event, handle);
    }
}

/// A timer that fires, the type of its context, and where its context is in memory.
#[derive(Debug)]
pub(crate) struct Due {
    pub ctx: usize,
    pub at: usize,
    pub timer: TimerRef,
}
