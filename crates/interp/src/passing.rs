// SPDX-License-Identifier: MIT OR Apache-2.0
//! A core in the network: packets that go on, wait under a key, or go nowhere.

use std::collections::VecDeque;

use carrick_ir::{Opcode, ROUTE, interface};

use crate::counters::*;
use crate::exec::Flow;
use crate::header::write_options;
use crate::instr;
use crate::ip;
use crate::layout::{ADDR_CELLS, PAYLOAD_ADDR, PAYLOAD_CTX, PAYLOAD_LEN};
use crate::linked::{Linked, PAYLOAD_LEN_CELL, WORK};
use crate::machine::Machine;
use crate::wire::Blueprint;

impl Machine {
    /// A packet is looked at from now on; it ends where its network header says: after `total` bytes.
    pub(crate) fn look_at(&mut self, packet: &[u8], total: usize, came_by: u64) {
        let passing = &mut self.passing;
        passing.current.clear();
        passing.current.extend_from_slice(&packet[..total.min(packet.len())]);
        passing.interface = came_by.min(ROUTE - 1);
        passing.gone = false;
    }

    /// The packet goes where its destination leads, unless something else was said of it.
    pub(crate) fn pass_on(&mut self, p: &Linked) {
        if !self.passing.gone {
            self.send_current(p, ROUTE);
        }
    }

    /// Notes that it is said what becomes of the packet; false if that was said before.
    fn decide(&mut self) -> bool {
        if self.passing.gone {
            self.count(PACKET_GONE);
            return false;
        }
        self.passing.gone = true;
        true
    }

    fn fits(&mut self, p: &Linked) -> bool {
        let fits = self.passing.current.len() <= p.mtu as usize;
        if !fits {
            self.count(TX_TOO_LONG);
        }
        fits
    }

    fn send_current(&mut self, p: &Linked, interface: u64) {
        if self.fits(p) {
            let packet = self.passing.current.clone();
            self.passing.leaving.push_back((interface, packet));
        }
    }

    /// `header`: the blueprint and its cells, if the packet leaves with that header instead of its own.
    pub(crate) fn forward(&mut self, p: &Linked, by: u64, header: Option<(usize, usize)>, copy: bool) {
        let interface = interface(by);
        self.instr(if copy { Opcode::PktCopy } else { Opcode::Forward }, &[interface]);
        let allowed = if copy { self.has_space(p) } else { self.decide() };
        if !allowed {
            return;
        }
        match header {
            Some((bp, at)) => self.send_rewritten(p, bp, at, interface),
            None => self.send_current(p, interface),
        }
    }

    /// Whether the core may hold one more packet beside the one that is looked at.
    fn has_space(&mut self, p: &Linked) -> bool {
        let held = self.passing.stored.len() + self.passing.leaving.len();
        let space = held < p.packets.unwrap_or(0) as usize;
        if !space {
            self.count(STORE_FULL);
        }
        space
    }

    /// Reads the packet into the blueprint at `at`. A parser ends if that fails; in a processor the blueprint stays as it was.
    pub(crate) fn read(&mut self, p: &Linked, bp: usize, at: usize) -> Flow {
        let read = self.extract(p, bp, at);
        match (read, self.current_event) {
            (Ok(()), None) => {}
            (Ok(()), Some(_)) => {
                let (net, fields) = (p.map.net as usize, p.layout.net as usize);
                self.mem.copy_within(net..net + fields, at);
            }
            (Err(counter), None) => {
                self.refused = Some(counter);
                return Flow::Stop;
            }
            (Err(counter), Some(_)) => self.drop_packet(counter),
        }
        Flow::Next
    }

    /// The payload that was read into the blueprint at `at`; none if it was given one of a data unit.
    fn payload_read(&self, code: &Blueprint, at: usize) -> Vec<u8> {
        let payload = at + code.payload as usize;
        if self.mem[payload + PAYLOAD_CTX as usize] != 0 {
            return Vec::new();
        }
        let from = payload + PAYLOAD_ADDR as usize;
        let mut addr = [0; ADDR_CELLS as usize];
        addr.copy_from_slice(&self.mem[from..from + ADDR_CELLS as usize]);
        let len = self.mem[payload + PAYLOAD_LEN as usize];
        instr::octets(&self.packet, self.packet_number, &self.requests, addr, len).to_vec()
    }

    fn send_rewritten(&mut self, p: &Linked, bp: usize, at: usize, interface: u64) {
        let code = &p.blueprints[bp];
        let payload = self.payload_read(code, at);
        let work = WORK as usize;
        self.mem.copy_within(at..at + code.size as usize, work);
        self.mem[PAYLOAD_LEN_CELL as usize] = payload.len() as u64;
        self.mem[work + (code.payload + PAYLOAD_LEN) as usize] = payload.len() as u64;
        let mut options = Vec::new();
        if let Some(list) = &code.options {
            write_options(list, &self.mem[work..work + code.size as usize], &mut options);
        }
        let net_len = self.net_len(p, code, work);
        let mut out = vec![0; net_len];
        let header = self.write_header(code, &options, &mut out);
        if !self.fields_in_range(&code.when_sent) {
            return self.count(TX_BAD_FIELD);
        }
        out.extend_from_slice(&payload);
        out.resize(out.len() + code.padding(payload.len() as u64) + code.trailer, 0);
        if out.len() > p.mtu as usize {
            return self.count(TX_TOO_LONG);
        }
        let net = self.net_header(p, code);
        ip::build(p.program.net_header.layer, &mut out, &net, self.identification);
        self.write_checksums(net_len, code, &net, &mut out, header);
        self.identification = self.identification.wrapping_add(1);
        self.count(TX_PACKETS);
        self.passing.leaving.push_back((interface, out));
    }

    pub(crate) fn drop_current(&mut self) {
        self.instr(Opcode::Drop, &[]);
        self.decide();
    }

    pub(crate) fn store(&mut self, p: &Linked, key: u64) {
        self.instr(Opcode::PktStore, &[key]);
        if self.decide() && self.fits(p) && self.has_space(p) {
            let packet = self.passing.current.clone();
            self.passing.stored.push_back((key, packet));
        }
    }

    pub(crate) fn release(&mut self, key: u64, by: u64) {
        let interface = interface(by);
        let found = self.take_stored(key);
        self.instr(Opcode::PktRelease, &[key, interface, found.len() as u64]);
        self.passing.leaving.extend(found.into_iter().map(|packet| (interface, packet)));
    }

    pub(crate) fn discard(&mut self, key: u64) {
        let found = self.take_stored(key).len() as u64;
        self.instr(Opcode::PktDiscard, &[key, found]);
    }

    fn take_stored(&mut self, key: u64) -> Vec<Vec<u8>> {
        let stored = std::mem::take(&mut self.passing.stored);
        let (found, others): (VecDeque<_>, _) = stored.into_iter().partition(|(k, _)| *k == key);
        self.passing.stored = others;
        found.into_iter().map(|(_, packet)| packet).collect()
    }

    /// The next packet that leaves as it came; false if there is none.
    pub(crate) fn next_leaving(&mut self, out: &mut Vec<u8>) -> bool {
        let Some((interface, packet)) = self.passing.leaving.pop_front() else { return false };
        self.passing.left_by = interface;
        *out = packet;
        self.count(TX_FORWARDED);
        true
    }
}
