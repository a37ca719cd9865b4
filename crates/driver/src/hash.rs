// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hashes that are the same everywhere and always, as those of the standard library need not be.

/// FNV-1a, of 64 bits.
pub struct Hash(u64);

impl Hash {
    /// A hash of nothing.
    #[expect(clippy::new_without_default, reason = "a hash is always begun by name")]
    pub fn new() -> Hash {
        Hash(0xcbf2_9ce4_8422_2325)
    }

    /// Appends bytes.
    pub fn add(&mut self, octets: &[u8]) {
        for octet in octets {
            self.0 = (self.0 ^ u64::from(*octet)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// Of a text, but for where its lines come from.
    pub fn add_code(&mut self, code: &[u8]) {
        let lines = code.split_inclusive(|octet| *octet == b'\n');
        lines.filter(|line| !line.starts_with(b"#line ")).for_each(|line| self.add(line));
    }

    /// The hash of all that was appended.
    pub fn value(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_one_that_others_mean() {
        let mut hash = Hash::new();
        hash.add(b"foobar");
        assert_eq!(hash.value(), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn where_lines_come_from_does_not_count() {
        let of = |code: &str| {
            let mut hash = Hash::new();
            hash.add_code(code.as_bytes());
            hash.value()
        };
        assert_eq!(of("a\n#line 1 \"x\"\nb"), of("a\n#line 7 \"y\"\nb"));
        assert_ne!(of("a\nb"), of("a\nc"));
        assert_ne!(of("a\nb"), of("ab"));
    }
}
