// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packets in and out of a circuit, as bytes.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use carrick_interp::Config;
use carrick_ir::{COUNTERS, Function, Opcode, Program};
use carrick_sim::compiled::{Compiled, CompiledProgram};
use carrick_sim::core::{Completion, Core, FailedClaim, Record, RecordSet, Refused, Request};
use carrick_sim::interpreted::Interpreted;
use carrick_sim::ip::checksum;
use carrick_sim::watch::live::{CONTEXT, EVENT, INSTR};

/// Options that end with a list: kind, bytes of an element, elements at most (in the program, `listed.mtp`).
const LISTED: [(u8, usize, usize); 2] = [(5, 8, 4), (253, 3, 3)];

/// The interpreter and a circuit, which are given the same and must do the same: each packet, and what came of it on its way.
pub struct Both {
    reference: Interpreted,
    circuit: Compiled,
    made: VecDeque<(u32, Vec<u8>)>,
    left_by: u32,
    numbers: u64,
    /// records that both have made of contexts
    records: usize,
    /// the counters of all
    counted: Rc<RefCell<Vec<u64>>>,
}

impl Both {
    pub fn new(
        program: &Arc<Program>,
        circuit: &Rc<CompiledProgram>,
        config: &Config,
        counted: Rc<RefCell<Vec<u64>>>,
    ) -> Result<Both, String> {
        let traced = Config { trace: true, records: RecordSet::ALL, ..config.clone() };
        Ok(Both {
            reference: Interpreted::new(program.clone(), &traced)?,
            circuit: Compiled::new(circuit.clone(), &traced)?,
            made: VecDeque::new(),
            left_by: 0,
            numbers: config.seed,
            records: 0,
            counted,
        })
    }

    fn number(&mut self, below: usize) -> usize {
        self.numbers = self.numbers.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (self.numbers >> 33) as usize % below
    }

    fn give(&mut self, interface: u32, packet: &[u8], now: u64) -> Result<(), Refused> {
        let said = self.reference.rx_on(interface, packet, now);
        // Which counter, its counters say.
        let kind = |said: &Result<(), Refused>| matches!(said, Err(Refused::Dropped(_)));
        let other = self.circuit.rx_on(interface, packet, now);
        assert_eq!(kind(&said), kind(&other), "{said:?}, {other:?}: {packet:02x?}");
        self.agree(packet, now);
        said
    }

    /// What left both is the same.
    fn agree(&mut self, given: &[u8], now: u64) {
        let sent = |core: &mut dyn Core| {
            let mut all = Vec::new();
            let mut packet = Vec::new();
            while core.tx(&mut packet, now) {
                all.push((core.tx_interface(), packet.clone()));
            }
            all
        };
        let (here, there) = (sent(&mut self.reference), sent(&mut self.circuit));
        assert_eq!(here, there, "of {given:02x?}");
        // The circuit's calendar also has timers that were stopped, or start anew when it comes to them.
        let (due, wakes) = (self.reference.next_deadline(), self.circuit.next_deadline());
        assert!(due.is_none_or(|due| wakes.is_some_and(|at| at <= due)), "{due:?}, {wakes:?}: {given:02x?}");
        assert_eq!(self.reference.open_contexts(), self.circuit.open_contexts(), "of {given:02x?}");
        let counted = |core: &dyn Core| COUNTERS.iter().zip(core.counters()).collect::<Vec<_>>();
        assert_eq!(counted(&self.reference), counted(&self.circuit), "of {given:02x?}");
        let (seen, snapshots) = (contexts(&mut self.reference), contexts(&mut self.circuit));
        assert_eq!(seen, snapshots, "of {given:02x?}");
        self.records += seen.len();
        self.made.extend(here);
    }

    /// Options that end with a list, many with a length that is not one of theirs, in 40 bytes of options.
    fn damage_lists(&mut self, packet: &mut Vec<u8>, header: usize) {
        packet.resize(packet.len().max(header + 60), 0);
        packet[header + 12] = 15 << 4;
        (header + 20..header + 60).for_each(|at| packet[at] = self.number(256) as u8);
        let mut at = header + 20;
        while at + 1 < header + 60 {
            let (kind, each, most) = LISTED[self.number(LISTED.len())];
            let len = match self.number(3) {
                0 => self.number(40),
                _ => 2 + self.number(most + 2) * each,
            };
            (packet[at], packet[at + 1]) = (kind, len as u8);
            at += len.max(2);
            // Now and then the rest is no options.
            while at < header + 60 && self.number(3) > 0 {
                packet[at] = 1;
                at += 1;
            }
        }
        let total = packet.len() as u16;
        packet[2..4].copy_from_slice(&total.to_be_bytes());
    }

    /// A packet as a bad network leaves it.
    fn damaged(&mut self, packet: &[u8]) -> Vec<u8> {
        let mut packet = packet.to_vec();
        let all = packet.len();
        let header = usize::from(packet[0] & 15) * 4;
        let kind = self.number(8);
        match kind {
            0 => {
                packet.truncate(self.number(all));
                if packet.len() > header {
                    let total = packet.len() as u16;
                    packet[2..4].copy_from_slice(&total.to_be_bytes());
                }
            }
            1 => packet.extend([7; 9]),
            2 => {
                let words = 1 + self.number(10);
                packet[0] = 0x45 + words as u8;
                let options: Vec<u8> = (0..words * 4).map(|_| self.number(256) as u8).collect();
                packet.splice(header..header, options);
                let total = packet.len() as u16;
                packet[2..4].copy_from_slice(&total.to_be_bytes());
            }
            3 => {
                // Options of any kind and length, where there is payload in their place, too.
                packet.resize(all.max(header + 60), 0);
                packet[header + 12] = (5 + self.number(11) as u8) << 4;
                (header + 20..header + 60).for_each(|at| packet[at] = self.number(5) as u8);
                let total = packet.len() as u16;
                packet[2..4].copy_from_slice(&total.to_be_bytes());
            }
            4 => {
                let at = self.number(header);
                packet[at] ^= 1 << self.number(8);
            }
            5 => self.damage_lists(&mut packet, header),
            _ => {
                let at = header + self.number(all - header);
                packet[at] ^= 1 << self.number(8);
            }
        }
        // Who changes a packet often corrects its checksums.
        if self.number(4) > 0 && packet.len() > 20 {
            corrected(&mut packet);
        }
        packet
    }
}

/// Corrects the checksums of IPv4 and TCP, if the lengths allow.
fn corrected(packet: &mut [u8]) {
    let header = usize::from(packet[0] & 15) * 4;
    let total = usize::from(u16::from_be_bytes([packet[2], packet[3]]));
    if header < 20 || packet.len() < total || total < header {
        return;
    }
    packet[10..12].fill(0);
    let sum = checksum(&[&packet[..header]]);
    packet[10..12].copy_from_slice(&sum.to_be_bytes());
    if total < header + 20 {
        return;
    }
    packet[header + 16..header + 18].fill(0);
    let mut summed = packet[12..20].to_vec();
    summed.extend([0, packet[9]]);
    summed.extend(((total - header) as u16).to_be_bytes());
    summed.extend_from_slice(&packet[header..total]);
    let sum = checksum(&[&summed]);
    packet[header + 16..header + 18].copy_from_slice(&sum.to_be_bytes());
}

/// What the trace says of events and contexts; that of a circuit is made from its snapshots.
fn contexts(core: &mut dyn Core) -> Vec<(u32, u32, Vec<u64>)> {
    let mut all = Vec::new();
    core.take_trace(&mut all);
    let lives = [Opcode::NewCtx, Opcode::DelCtx].map(Opcode::number);
    let told = |record: &Record| match record.kind {
        EVENT | CONTEXT => true,
        INSTR => lives.contains(&record.number) && record.words.get(1) != Some(&0),
        _ => false,
    };
    all.into_iter().filter(told).map(|r| (r.kind, r.number, r.words)).collect()
}

impl Drop for Both {
    fn drop(&mut self) {
        assert!(self.records > 0 || std::thread::panicking(), "no snapshot");
        let mut all = self.counted.borrow_mut();
        all.resize(COUNTERS.len(), 0);
        all.iter_mut().zip(self.circuit.counters()).for_each(|(all, one)| *all += one);
    }
}

impl Core for Both {
    fn rx(&mut self, packet: &[u8], now: u64) -> Result<(), Refused> {
        self.rx_on(0, packet, now)
    }

    fn rx_on(&mut self, interface: u32, packet: &[u8], now: u64) -> Result<(), Refused> {
        let damaged = self.damaged(packet);
        let _ = self.give(interface, &damaged, now);
        self.give(interface, packet, now)
    }

    fn tx_interface(&self) -> u32 {
        self.left_by
    }

    fn call(&mut self, _: usize, _: Request<'_>, _: u64) -> Result<(), Refused> {
        Err(Refused::BadArg)
    }

    fn advance(&mut self, now: u64) -> Result<(), Refused> {
        self.reference.advance(now)?;
        self.circuit.advance(now)?;
        self.agree(&[], now);
        Ok(())
    }

    fn tx(&mut self, out: &mut Vec<u8>, _: u64) -> bool {
        let Some((interface, packet)) = self.made.pop_front() else { return false };
        (self.left_by, *out) = (interface, packet);
        true
    }

    fn next_deadline_before(&self, before: u64) -> Option<u64> {
        self.reference.next_deadline_before(before)
    }

    fn next_completion(&mut self) -> Option<Completion> {
        None
    }

    fn take_trace(&mut self, to: &mut Vec<Record>) {
        self.reference.take_trace(to);
    }

    fn counters(&self) -> Vec<u64> {
        self.reference.counters()
    }

    fn failed_claims(&self) -> &[FailedClaim] {
        self.reference.failed_claims()
    }

    fn open_contexts(&self) -> usize {
        self.reference.open_contexts()
    }

    fn change(&mut self, _: &Function, _: u64, _: u64) -> Result<Option<Record>, String> {
        Err("nobody asks for this".into())
    }
}
