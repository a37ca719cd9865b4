// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packets on their way: a pool of octets that are used again and again, and what switches do to an IPv4 header.

use crate::rng::Rng;

/// Octets of an IPv4 header without options; cores make no others.
const IP_HEADER: usize = 20;
const NOT_ECT: u8 = 0;
const CE: u8 = 3;

/// What the network wants to know of a packet at every step, beside its octets: these are far apart in memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Label {
    pub source: u32,
    pub destination: u32,
    pub octets: u32,
    pub class: u8,
}

/// Packets by number; the numbers and the room of those that are gone are used again.
#[derive(Debug, Default)]
pub struct Packets {
    all: Vec<Vec<u8>>,
    labels: Vec<Label>,
    free: Vec<u32>,
    /// that were made
    pub made: u64,
}

impl Packets {
    /// The octets of a packet that is to be made, and its number.
    pub fn begin(&mut self) -> (u32, Vec<u8>) {
        let number = self.free.pop().unwrap_or_else(|| {
            self.all.push(Vec::new());
            self.labels.push(Label::default());
            self.all.len() as u32 - 1
        });
        (number, std::mem::take(&mut self.all[number as usize]))
    }

    /// Puts octets in their place.
    pub fn put(&mut self, number: u32, octets: Vec<u8>) {
        self.labels[number as usize] = Label::of(&octets);
        self.all[number as usize] = octets;
    }

    pub fn label(&self, number: u32) -> Label {
        self.labels[number as usize]
    }

    /// The octets, which leave their place empty until they are put back.
    pub fn lend(&mut self, number: u32) -> Vec<u8> {
        std::mem::take(&mut self.all[number as usize])
    }

    /// Forgets a packet; its room stays.
    pub fn end(&mut self, number: u32) {
        self.free.push(number);
    }

    /// Gives the octets of a packet that has arrived back, and forgets it.
    pub fn end_with(&mut self, number: u32, octets: Vec<u8>) {
        self.all[number as usize] = octets;
        self.end(number);
    }

    /// Changes the octets of a packet.
    pub fn change<T>(&mut self, number: u32, change: impl FnOnce(&mut Vec<u8>) -> T) -> T {
        let octets = &mut self.all[number as usize];
        let outcome = change(octets);
        self.labels[number as usize] = Label::of(octets);
        outcome
    }

    pub fn octets(&self, number: u32) -> &[u8] {
        &self.all[number as usize]
    }
}

fn word(octets: &[u8], at: usize) -> u32 {
    octets.get(at..at + 4).map_or(0, |w| u32::from_be_bytes([w[0], w[1], w[2], w[3]]))
}

impl Label {
    /// Of a packet: the class is the first three bits of the differentiated services field, its class selector (RFC 2474,
    /// 4.2.2).
    pub fn of(octets: &[u8]) -> Label {
        let class = octets.get(1).map_or(0, |tos| tos >> 5);
        let (source, destination) = (word(octets, 12), word(octets, 16));
        Label { source, destination, octets: octets.len() as u32, class }
    }
}

/// A number that all packets of a flow have in common: of the addresses, the protocol, and what follows the network header,
/// where transports have their ports.
pub fn flow_hash(octets: &[u8], salt: u64) -> u64 {
    let Label { source, destination, .. } = Label::of(octets);
    let protocol = octets.get(9).copied().unwrap_or(0);
    let ports = u64::from(word(octets, IP_HEADER)) ^ u64::from(protocol) << 32;
    mix(mix(u64::from(source) << 32 | u64::from(destination)) ^ ports ^ salt)
}

/// The finaliser of SplitMix64 (Steele et al., OOPSLA 2014).
fn mix(mut x: u64) -> u64 {
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

/// Says that there was congestion, if the ends know of that (RFC 3168, section 5); false if they do not.
pub fn mark(octets: &mut [u8]) -> bool {
    let Some(tos) = octets.get_mut(1) else { return false };
    if *tos & CE == NOT_ECT {
        return false;
    }
    *tos |= CE;
    renew_checksum(octets);
    true
}

/// Cuts a packet to its first octets, gives it this class, and says so in its network header.
pub fn trim(octets: &mut Vec<u8>, len: usize, dscp: u8) {
    octets.truncate(len.max(IP_HEADER));
    if let [_, tos, high, low, ..] = &mut octets[..] {
        *tos = dscp << 2 | *tos & CE;
        [*high, *low] = (len as u16).to_be_bytes();
    }
    renew_checksum(octets);
}

/// Sends a packet back: its addresses change places.
pub fn turn_round(octets: &mut [u8], dscp: u8) {
    if let Some(header) = octets.get_mut(..IP_HEADER) {
        let (source, destination) = header[12..].split_at_mut(4);
        source.swap_with_slice(destination);
        header[1] = dscp << 2 | header[1] & CE;
    }
    renew_checksum(octets);
}

fn renew_checksum(octets: &mut [u8]) {
    let Some(header) = octets.get_mut(..IP_HEADER) else { return };
    header[10..12].fill(0);
    let sum: u32 = header.chunks_exact(2).map(|w| u32::from(u16::from_be_bytes([w[0], w[1]]))).sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    let folded = (folded & 0xffff) + (folded >> 16);
    header[10..12].copy_from_slice(&(!(folded as u16)).to_be_bytes());
}

/// Deals places out in rounds: each once, in an order that is new in each round.
#[derive(Debug, Clone)]
pub struct Deal {
    order: Vec<u16>,
    next: usize,
}

impl Deal {
    pub fn new(count: usize) -> Deal {
        Deal { order: (0..count as u16).collect(), next: count }
    }

    /// The next place.
    pub fn next(&mut self, rng: &mut Rng) -> usize {
        if self.next >= self.order.len() {
            self.next = 0;
            for i in (1..self.order.len()).rev() {
                self.order.swap(i, rng.below(i as u64 + 1) as usize);
            }
        }
        self.next += 1;
        self.order.get(self.next - 1).map_or(0, |place| usize::from(*place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The header of RFC 1071's kind: the sum over it is right if it is all ones.
    fn packet(tos: u8) -> Vec<u8> {
        let mut octets = vec![0x45, tos, 0, 60, 0, 1, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        octets.resize(60, 7);
        renew_checksum(&mut octets);
        octets
    }

    fn sum(octets: &[u8]) -> u32 {
        let sum: u32 =
            octets[..20].chunks_exact(2).map(|w| u32::from(u16::from_be_bytes([w[0], w[1]]))).sum();
        (sum & 0xffff) + (sum >> 16)
    }

    #[test]
    fn the_checksum_stays_right() {
        let mut one = packet(0b0000_0010);
        assert!(mark(&mut one));
        assert_eq!((one[1], sum(&one)), (3, 0xffff));
        assert!(!mark(&mut packet(0)));
        trim(&mut one, 40, 46);
        assert_eq!((one.len(), one[3], one[1] >> 2, sum(&one)), (40, 40, 46, 0xffff));
        turn_round(&mut one, 8);
        assert_eq!(
            Label::of(&one),
            Label { source: 0x0a00_0002, destination: 0x0a00_0001, octets: 40, class: 1 }
        );
        assert_eq!(sum(&one), 0xffff);
    }

    #[test]
    fn a_deal_gives_each_place_once_in_a_round() {
        let (mut deal, mut rng) = (Deal::new(5), Rng::new(1, 1));
        for _ in 0..4 {
            let mut round: Vec<usize> = (0..5).map(|_| deal.next(&mut rng)).collect();
            round.sort_unstable();
            assert_eq!(round, [0, 1, 2, 3, 4]);
        }
    }
}
