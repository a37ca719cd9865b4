// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packets on their way: a pool of bytes that are used again and again, and what switches do to a network header.

use crate::faults::Fate;
use crate::ip::is_ipv6;
use crate::rng::Rng;

/// Bytes of an IPv4 header without options, and of an IPv6 header; cores make no others.
const IP_HEADER: usize = 20;
const IPV6_HEADER: usize = 40;
const NOT_ECT: u8 = 0;
const CE: u8 = 3;

/// What the network wants to know of a packet at every step, beside its bytes: these are far apart in memory.
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
    /// The bytes of a packet that is to be made, and its number.
    pub fn begin(&mut self) -> (u32, Vec<u8>) {
        let number = self.free.pop().unwrap_or_else(|| {
            self.all.push(Vec::new());
            self.labels.push(Label::default());
            self.all.len() as u32 - 1
        });
        (number, std::mem::take(&mut self.all[number as usize]))
    }

    /// Puts bytes in their place.
    pub fn put(&mut self, number: u32, octets: Vec<u8>) {
        self.labels[number as usize] = Label::of(&octets);
        self.all[number as usize] = octets;
    }

    /// Whether a packet is on its way of which this holds, and of its bytes. It takes time: nothing notes which packets are.
    pub fn any(&self, holds: impl Fn(&Label, &[u8]) -> bool) -> bool {
        let mut gone = vec![false; self.all.len()];
        self.free.iter().for_each(|number| gone[*number as usize] = true);
        let all = gone.iter().zip(&self.labels).zip(&self.all);
        all.filter(|((gone, _), _)| !**gone).any(|((_, label), octets)| holds(label, octets))
    }

    pub fn label(&self, number: u32) -> Label {
        self.labels[number as usize]
    }

    /// The bytes, which leave their place empty until they are put back.
    pub fn lend(&mut self, number: u32) -> Vec<u8> {
        std::mem::take(&mut self.all[number as usize])
    }

    /// Forgets a packet; its room stays.
    pub fn end(&mut self, number: u32) {
        self.free.push(number);
    }

    /// Gives the bytes of a packet that has arrived back, and forgets it.
    pub fn end_with(&mut self, number: u32, octets: Vec<u8>) {
        self.all[number as usize] = octets;
        self.end(number);
    }

    /// Changes the bytes of a packet.
    pub fn change<T>(&mut self, number: u32, change: impl FnOnce(&mut Vec<u8>) -> T) -> T {
        let octets = &mut self.all[number as usize];
        let outcome = change(octets);
        self.labels[number as usize] = Label::of(octets);
        outcome
    }

    /// Lets a packet meet its fate: it may be copied, changed, or forgotten. When what arrives of it does, a copy first.
    pub fn meet(&mut self, number: u32, fate: &Fate) -> impl Iterator<Item = (u64, u32)> + use<> {
        let copy = fate.copy.map(|at| {
            let (copy, mut octets) = self.begin();
            octets.clone_from(&self.all[number as usize]);
            self.put(copy, octets);
            (at, copy)
        });
        if let Some(bit) = fate.flipped_bit {
            self.change(number, |octets| octets[(bit / 8) as usize] ^= 1 << (bit % 8));
        }
        if fate.arrival.is_none() {
            self.end(number);
        }
        copy.into_iter().chain(fate.arrival.map(|at| (at, number)))
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
        // The last four bytes of an IPv6 address tell the hosts of a simulation apart.
        let (source, destination) = if is_ipv6(octets) { (20, 36) } else { (12, 16) };
        let (source, destination) = (word(octets, source), word(octets, destination));
        let class = tos(octets) >> 5;
        Label { source, destination, octets: octets.len() as u32, class }
    }
}

/// A number that all packets of a flow have in common: of the addresses, the protocol, and what follows the network header,
/// where transports have their ports.
pub fn flow_hash(octets: &[u8], salt: u64) -> u64 {
    let Label { source, destination, .. } = Label::of(octets);
    let (protocol, ports) = if is_ipv6(octets) { (6, IPV6_HEADER) } else { (9, IP_HEADER) };
    let protocol = octets.get(protocol).copied().unwrap_or(0);
    let ports = u64::from(word(octets, ports)) ^ u64::from(protocol) << 32;
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
    let tos = tos(octets);
    if tos & CE == NOT_ECT {
        return false;
    }
    set_tos(octets, tos | CE);
    renew_checksum(octets);
    true
}

/// Cuts a packet to its first bytes, gives it this class, and says so in its network header.
pub fn trim(octets: &mut Vec<u8>, len: usize, dscp: u8) {
    let header = if is_ipv6(octets) { IPV6_HEADER } else { IP_HEADER };
    octets.truncate(len.max(header));
    let ecn = tos(octets) & CE;
    set_tos(octets, dscp << 2 | ecn);
    // IPv6 does not count its own header.
    let (at, len) = if is_ipv6(octets) { (4, len.saturating_sub(header)) } else { (2, len) };
    if let Some(field) = octets.get_mut(at..at + 2) {
        field.copy_from_slice(&(len as u16).to_be_bytes());
    }
    renew_checksum(octets);
}

/// Sends a packet back: its addresses change places.
pub fn turn_round(octets: &mut [u8], dscp: u8) {
    let (at, len) = if is_ipv6(octets) { (8, 16) } else { (12, 4) };
    if let Some(addresses) = octets.get_mut(at..at + 2 * len) {
        let (source, destination) = addresses.split_at_mut(len);
        source.swap_with_slice(destination);
        let ecn = tos(octets) & CE;
        set_tos(octets, dscp << 2 | ecn);
    }
    renew_checksum(octets);
}

/// The differentiated services field and the two bits of ECN.
fn tos(octets: &[u8]) -> u8 {
    match octets {
        [first, second, ..] if is_ipv6(octets) => first << 4 | second >> 4,
        [_, tos, ..] => *tos,
        _ => 0,
    }
}

fn set_tos(octets: &mut [u8], to: u8) {
    let ipv6 = is_ipv6(octets);
    match octets {
        [first, second, ..] if ipv6 => {
            *first = *first & 0xf0 | to >> 4;
            *second = *second & 0x0f | to << 4;
        }
        [_, tos, ..] => *tos = to,
        _ => {}
    }
}

/// An IPv6 header has none.
pub fn renew_checksum(octets: &mut [u8]) {
    if is_ipv6(octets) {
        return;
    }
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
    fn an_ipv6_header_is_changed_in_its_own_places() {
        let mut one = vec![0; 60];
        one[..8].copy_from_slice(&[0x6b, 0xa0, 0, 0, 0, 20, 6, 64]);
        (one[23], one[39]) = (1, 2);
        let label = |one: &[u8]| Label::of(one);
        assert_eq!(label(&one), Label { source: 1, destination: 2, octets: 60, class: 5 });
        assert!(mark(&mut one));
        assert_eq!(one[..8], [0x6b, 0xb0, 0, 0, 0, 20, 6, 64]);
        trim(&mut one, 48, 46);
        assert_eq!((one.len(), &one[..8]), (48, &[0x6b, 0xb0, 0, 0, 0, 8, 6, 64][..]));
        turn_round(&mut one, 8);
        assert_eq!(label(&one), Label { source: 2, destination: 1, octets: 48, class: 1 });
        one[1] &= 0x0f;
        assert!(!mark(&mut one), "neither end knows of congestion marks");
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
