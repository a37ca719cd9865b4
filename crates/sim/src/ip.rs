// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is done to IPv4 packets from outside of any core.

/// The Internet checksum (RFC 1071); every part but the last has an even length.
pub fn checksum(parts: &[&[u8]]) -> u16 {
    let mut sum = 0_u32;
    for pair in parts.iter().flat_map(|part| part.chunks(2)) {
        sum += u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0));
    }
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !sum as u16
}

/// Makes the header's checksum right after a change to the header.
pub fn mend_checksum(packet: &mut [u8]) {
    packet[10..12].fill(0);
    let header = usize::from(packet[0] & 15) * 4;
    let sum = checksum(&[&packet[..header]]);
    packet[10..12].copy_from_slice(&sum.to_be_bytes());
}
