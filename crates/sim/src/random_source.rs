// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random numbers and damaged packets, the same for the same seed.

use carrick_ir::NetLayer;

use crate::ip::{header_len, mend_length};
use crate::rng::Rng;

/// The stream of random numbers that operations are drawn from.
const STREAM: u64 = 2;

/// The extension headers of IPv6 (RFC 8200 §4): hop-by-hop options, routing, fragment, destination options.
const EXTENSIONS: [u8; 4] = [0, ROUTING, FRAGMENT, DESTINATION];
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const DESTINATION: u8 = 60;

/// A seed replays exactly.
pub struct RandomSource(Rng);

impl RandomSource {
    /// Another seed gives other numbers.
    pub fn new(seed: u64) -> RandomSource {
        RandomSource(Rng::new(seed, STREAM))
    }

    /// 0 to `below` - 1.
    pub fn roll(&mut self, below: u64) -> u64 {
        self.0.below(below)
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: u64) -> bool {
        self.roll(n) == 0
    }

    /// Small numbers, large ones, and those at the edges.
    pub fn number(&mut self) -> u64 {
        match self.roll(6) {
            0 => self.roll(4),
            1 => self.roll(100),
            2 => self.roll(20_000),
            3 => (1_u64 << self.roll(64)).wrapping_sub(self.roll(2)),
            4 => self.roll(4).wrapping_neg(),
            _ => self.roll(1 << 53) << self.roll(12),
        }
    }

    /// One bit, or what the network layer does not notice: behind its header a packet is cut off or overwritten, or one
    /// byte, perhaps of some length, is a little other.
    pub fn damage(&mut self, layer: NetLayer, packet: &mut Vec<u8>) {
        let (len, net) = (packet.len() as u64, header_len(layer) as u64);
        // Whole frames may be shorter than a network header.
        let way = if len < net { 0 } else { self.roll(4) };
        match way {
            0 => {
                let at = self.roll(len) as usize;
                packet[at] ^= 1 << self.roll(8);
                return;
            }
            1 => packet.truncate((net + self.roll(len - net + 1)) as usize),
            2 if len > net => {
                let at = (net + self.roll((len - net).min(40))) as usize;
                packet[at] = packet[at].wrapping_add(self.roll(9) as u8).wrapping_sub(4);
            }
            _ => {
                // The first bytes mostly say what the others are.
                let from = net + self.roll(4).min(len - net);
                let to = from + self.roll(len - from + 1);
                for octet in &mut packet[from as usize..to as usize] {
                    *octet = self.roll(256) as u8;
                }
            }
        }
        mend_length(layer, packet);
    }

    /// Puts extension headers into an IPv6 packet: mostly one or two that a receiver skips.
    pub fn extend(&mut self, packet: &mut Vec<u8>) {
        let (net, next) = (header_len(NetLayer::Ipv6), 6);
        let count = if self.one_in(4) { self.roll(11) } else { 1 + self.roll(2) };
        for _ in 0..count {
            let kind = EXTENSIONS[self.roll(EXTENSIONS.len() as u64) as usize];
            let routed = kind == ROUTING && self.one_in(2);
            let mut header = if routed { self.route(&packet[24..40]) } else { self.extension(kind) };
            if kind != FRAGMENT && !self.one_in(16) {
                header[1] = (header.len() / 8 - 1) as u8;
            }
            header[0] = std::mem::replace(&mut packet[next], kind);
            packet.splice(net..net, header);
        }
        mend_length(NetLayer::Ipv6, packet);
    }

    /// An extension header but for its next header and its length. One of zeros is skipped.
    fn extension(&mut self, kind: u8) -> Vec<u8> {
        let units = if kind == FRAGMENT { 1 } else { 1 + self.roll(3) };
        let mut header = vec![0_u8; units as usize * 8];
        if self.one_in(8) {
            header.iter_mut().for_each(|octet| *octet = self.roll(256) as u8);
        } else if kind == DESTINATION {
            // PadN as long as the header.
            (header[2], header[3]) = (1, (header.len() - 4) as u8);
        }
        header
    }

    /// The same, of a segment routing header (RFC 8754 §2): a list of one address, so that no checksum depends on how many
    /// segments are left.
    fn route(&mut self, address: &[u8]) -> Vec<u8> {
        let count = 1 + self.roll(4) as usize;
        let mut header = vec![0, 0, 4, self.roll(count as u64 + 2) as u8, count as u8 - 1, 0x5a, 1, 2];
        header.extend(address.repeat(count));
        header
    }
}
