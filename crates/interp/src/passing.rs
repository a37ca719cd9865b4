//! A core in the network: packets that go on, wait under a key, or go nowhere.

use std::collections::VecDeque;

use crate::counters::*;
use crate::instr::Number;
use crate::link::Linked;
use crate::machine::Machine;

/// The last of the two interfaces; what is above counts as this one.
const LAST: u64 = 1;

/// The packets that a core in the network holds.
#[derive(Debug, Default)]
pub(crate) struct Passing {
    /// the packet that is looked at, whole, and by which interface it came
    current: Vec<u8>,
    interface: u64,
    /// it has been said what becomes of it
    gone: bool,
    /// with their keys, the oldest first
    stored: VecDeque<(u64, Vec<u8>)>,
    /// with the interface by which each leaves, in order
    leaving: VecDeque<(u64, Vec<u8>)>,
    /// by which the last packet left
    pub left_by: u64,
}

impl Passing {
    pub(crate) fn waits_to_leave(&self) -> bool {
        !self.leaving.is_empty()
    }

    pub(crate) fn interface(&self) -> u64 {
        self.interface
    }
}

impl Machine {
    /// A packet is looked at from now on; it ends where its network header says.
    pub(crate) fn look_at(&mut self, packet: &[u8], interface: u64) {
        let total = usize::from(u16::from_be_bytes([packet[2], packet[3]]));
        let passing = &mut self.passing;
        passing.current.clear();
        passing.current.extend_from_slice(&packet[..total.min(packet.len())]);
        passing.interface = interface.min(LAST);
        passing.gone = false;
    }

    /// The packet goes on by the other interface, unless something else was said of it.
    pub(crate) fn pass_on(&mut self, p: &Linked) {
        if !self.passing.gone {
            self.send_current(p, LAST - self.passing.interface);
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

    pub(crate) fn forward(&mut self, p: &Linked, interface: u64) {
        let interface = interface.min(LAST);
        self.instr(Number::Forward, &[interface]);
        if self.decide() {
            self.send_current(p, interface);
        }
    }

    pub(crate) fn drop_current(&mut self) {
        self.instr(Number::Drop, &[]);
        self.decide();
    }

    pub(crate) fn store(&mut self, p: &Linked, key: u64) {
        self.instr(Number::PktStore, &[key]);
        if !self.decide() || !self.fits(p) {
            return;
        }
        let passing = &mut self.passing;
        if passing.stored.len() + passing.leaving.len() >= p.packets.unwrap_or(0) as usize {
            return self.count(STORE_FULL);
        }
        passing.stored.push_back((key, passing.current.clone()));
    }

    pub(crate) fn release(&mut self, key: u64, interface: u64) {
        let interface = interface.min(LAST);
        let found = self.take_stored(key);
        self.instr(Number::PktRelease, &[key, interface, found.len() as u64]);
        self.passing.leaving.extend(found.into_iter().map(|packet| (interface, packet)));
    }

    pub(crate) fn discard(&mut self, key: u64) {
        let found = self.take_stored(key).len() as u64;
        self.instr(Number::PktDiscard, &[key, found]);
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
