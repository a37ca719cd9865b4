// SPDX-License-Identifier: MIT OR Apache-2.0
//! Segment routing headers of IPv6 packets (RFC 8754 §2).

use carrick_ir::{ROUTING_HEADER, SEGMENT};

/// The routing type of a segment routing header (RFC 8754 §2).
const SEGMENT_ROUTING: u8 = 4;
const FIXED: usize = ROUTING_HEADER as usize;
const ENTRY: usize = SEGMENT as usize;

/// What a program knows of a segment routing header; a packet without one has an empty list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Route {
    pub left: u8,
    pub flags: u8,
    pub tag: u16,
    /// as in the header: the first entry is the last of the path
    pub list: Vec<u128>,
}

impl Route {
    /// Bytes of the header.
    pub fn len(&self) -> usize {
        if self.list.is_empty() { 0 } else { FIXED + self.list.len() * ENTRY }
    }

    /// Where a packet to `dst` ends, as the pseudo-header says (RFC 8200 §8.1).
    pub fn last(&self, dst: u128) -> u128 {
        self.list.first().copied().filter(|_| self.left > 0).unwrap_or(dst)
    }

    /// Reads a whole routing header; `None` if it is not one of segments, malformed, or has more than `most` entries.
    pub fn read(header: &[u8], most: u32) -> Option<Route> {
        let &[_, units, kind, left, last, flags, high, low, ..] = header else { return None };
        let count = usize::from(last) + 1;
        let right = kind == SEGMENT_ROUTING && 2 * count <= usize::from(units) && usize::from(left) <= count;
        if !right || count > most as usize {
            return None;
        }
        let entries = header[FIXED..].chunks_exact(ENTRY).take(count);
        let list =
            entries.map(|bytes| bytes.iter().fold(0, |all, byte| all << 8 | u128::from(*byte))).collect();
        Some(Route { left, flags, tag: u16::from_be_bytes([high, low]), list })
    }

    /// Fills in the header at the beginning of `out`, in front of `next`.
    pub fn write(&self, out: &mut [u8], next: u8) {
        let count = self.list.len() as u8;
        out[..6].copy_from_slice(&[next, 2 * count, SEGMENT_ROUTING, self.left, count - 1, self.flags]);
        out[6..8].copy_from_slice(&self.tag.to_be_bytes());
        for (bytes, entry) in out[FIXED..].chunks_exact_mut(ENTRY).zip(&self.list) {
            bytes.copy_from_slice(&entry.to_be_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let route = Route { left: 1, flags: 0x55, tag: 0x1234, list: vec![7, 8, 9] };
        let mut out = vec![0; route.len()];
        route.write(&mut out, 253);
        assert_eq!(out[..8], [253, 6, 4, 1, 2, 0x55, 0x12, 0x34]);
        assert_eq!(Route::read(&out, 3), Some(route.clone()));
        assert_eq!((route.last(5), Route { left: 0, ..route }.last(5)), (7, 5));
        assert_eq!(Route::read(&out, 2), None);
    }

    #[test]
    fn malformed_headers_are_not_read() {
        let mut header = vec![0; 40];
        header[..5].copy_from_slice(&[253, 4, 4, 2, 1]);
        assert!(Route::read(&header, 4).is_some());
        // (byte, value): more left than entries, a list longer than the header, another routing type
        for (at, value) in [(3, 3), (4, 2), (2, 0)] {
            let mut wrong = header.clone();
            wrong[at] = value;
            assert_eq!(Route::read(&wrong, 4), None, "byte {at}");
        }
    }
}
