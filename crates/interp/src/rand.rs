// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random numbers and the keyed hash: PCG32 (O'Neill) and SipHash-2-4 (Aumasson, Bernstein).

/// The stream of `random()`.
const RANDOM_STREAM: u64 = 54;
/// The stream that the secret key is drawn from.
const KEY_STREAM: u64 = 55;

/// PCG32, XSH-RR 64/32.
#[derive(Debug, Clone)]
pub(crate) struct Pcg32 {
    state: u64,
    inc: u64,
}

impl Pcg32 {
    pub(crate) fn new(seed: u64, stream: u64) -> Pcg32 {
        let mut pcg = Pcg32 { state: 0, inc: (stream << 1) | 1 };
        pcg.next();
        pcg.state = pcg.state.wrapping_add(seed);
        pcg.next();
        pcg
    }

    /// The generator of `random()`.
    pub(crate) fn of_seed(seed: u64) -> Pcg32 {
        Pcg32::new(seed, RANDOM_STREAM)
    }

    /// Goes on from this state, of the same stream.
    pub(crate) fn set_state(&mut self, state: u64) {
        self.state = state;
    }

    /// Its state and its increment, for a generator elsewhere that goes on with it.
    pub(crate) fn parts(&self) -> [u64; 2] {
        [self.state, self.inc]
    }

    pub(crate) fn next(&mut self) -> u32 {
        let old = self.state;
        self.state = old.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(self.inc);
        let shifted = (((old >> 18) ^ old) >> 27) as u32;
        shifted.rotate_right((old >> 59) as u32)
    }
}

/// The secret key of a core: low half first, low word first.
pub fn secret_key(seed: u64) -> [u64; 2] {
    let mut pcg = Pcg32::new(seed, KEY_STREAM);
    let mut half = || u64::from(pcg.next()) | u64::from(pcg.next()) << 32;
    [half(), half()]
}

/// State and increment of the generator of `random()` at the start of a core.
pub fn random_start(seed: u64) -> [u64; 2] {
    Pcg32::of_seed(seed).parts()
}

/// SipHash-2-4 of words, each as 8 bytes little-endian.
pub(crate) fn siphash(key: [u64; 2], words: impl Iterator<Item = u64>) -> u64 {
    let mut v = [
        key[0] ^ 0x736f_6d65_7073_6575,
        key[1] ^ 0x646f_7261_6e64_6f6d,
        key[0] ^ 0x6c79_6765_6e65_7261,
        key[1] ^ 0x7465_6462_7974_6573,
    ];
    let mut len = 0_u64;
    for word in words {
        compress(&mut v, word);
        len += 8;
    }
    compress(&mut v, len << 56);
    v[2] ^= 0xff;
    for _ in 0..4 {
        round(&mut v);
    }
    v[0] ^ v[1] ^ v[2] ^ v[3]
}

fn compress(v: &mut [u64; 4], word: u64) {
    v[3] ^= word;
    round(v);
    round(v);
    v[0] ^= word;
}

fn round(v: &mut [u64; 4]) {
    v[0] = v[0].wrapping_add(v[1]);
    v[1] = v[1].rotate_left(13) ^ v[0];
    v[0] = v[0].rotate_left(32);
    v[2] = v[2].wrapping_add(v[3]);
    v[3] = v[3].rotate_left(16) ^ v[2];
    v[0] = v[0].wrapping_add(v[3]);
    v[3] = v[3].rotate_left(21) ^ v[0];
    v[2] = v[2].wrapping_add(v[1]);
    v[1] = v[1].rotate_left(17) ^ v[2];
    v[2] = v[2].rotate_left(32);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The output of the generator's own demonstration program (pcg32-demo, round 1).
    #[test]
    fn pcg32_gives_the_published_numbers() {
        let mut pcg = Pcg32::new(42, 54);
        let got: Vec<u32> = (0..6).map(|_| pcg.next()).collect();
        let published = [0xa15c_02b7, 0x7b47_f409, 0xba1d_3330, 0x83d2_f293, 0xbfa4_784b, 0xcbed_606e];
        assert_eq!(got, published);
    }

    /// The reference implementation's vectors for inputs of 0, 8 and 16 bytes under the key 00 01 .. 0f.
    #[test]
    fn siphash_gives_the_published_values() {
        let word = |first: u8| u64::from_le_bytes(std::array::from_fn(|i| first + i as u8));
        let key = [word(0), word(8)];
        assert_eq!(siphash(key, [].into_iter()), 0x726f_db47_dd0e_0e31);
        assert_eq!(siphash(key, [word(0)].into_iter()), 0x93f5_f579_9a93_2462);
        assert_eq!(siphash(key, [word(0), word(8)].into_iter()), 0x3f2a_cc7f_57c2_9bdb);
    }

    #[test]
    fn the_key_and_random_do_not_share_a_stream() {
        let key = secret_key(7);
        let mut random = Pcg32::of_seed(7);
        assert_ne!(key[0] as u32, random.next());
        assert_ne!(key, secret_key(8));
    }
}
