// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random numbers and damaged packets, the same for the same seed.

use crate::ip::mend_checksum;
use crate::rng::Rng;

/// The stream of random numbers that operations are drawn from.
const STREAM: u64 = 2;

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
    pub fn damage(&mut self, packet: &mut Vec<u8>) {
        let len = packet.len() as u64;
        // Whole frames may be shorter than a network header.
        let way = if len < 20 { 0 } else { self.roll(4) };
        match way {
            0 => {
                let at = self.roll(len) as usize;
                packet[at] ^= 1 << self.roll(8);
                return;
            }
            1 => packet.truncate(20 + self.roll(len - 19) as usize),
            2 if len > 20 => {
                let at = 20 + self.roll((len - 20).min(40)) as usize;
                packet[at] = packet[at].wrapping_add(self.roll(9) as u8).wrapping_sub(4);
            }
            _ => {
                // The first bytes mostly say what the others are.
                let from = 20 + self.roll(4).min(len - 20);
                let to = from + self.roll(len - from + 1);
                for octet in &mut packet[from as usize..to as usize] {
                    *octet = self.roll(256) as u8;
                }
            }
        }
        let total = packet.len() as u16;
        packet[2..4].copy_from_slice(&total.to_be_bytes());
        mend_checksum(packet);
    }
}
