// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packets of RoCEv2 by hand: read from captures, made for strangers, with an invariant CRC that shares nothing with ours.

/// A CRC-32 bit by bit: the polynomial of IEEE 802.3, least significant bit first.
fn crc32(octets: impl Iterator<Item = u8>) -> u32 {
    !octets.fold(u32::MAX, |crc, octet| {
        (0..8).fold(crc ^ u32::from(octet), |crc, _| (crc >> 1) ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 })
    })
}

/// The invariant CRC of a packet that ends with one (annex A17.3.3): eight bytes of ones for a link header that is not there,
/// then the packet with ones for what routers and switches change.
pub fn invariant_crc(packet: &[u8]) -> u32 {
    let mut covered = packet[..packet.len() - 4].to_vec();
    let ip = usize::from(covered[0] & 15) * 4;
    for at in [1, 8, 10, 11, ip + 6, ip + 7, ip + 8 + 4] {
        covered[at] = 0xff;
    }
    crc32([0xff; 8].into_iter().chain(covered))
}

/// What a stranger sends.
#[derive(Debug, Clone, Default)]
pub struct Packet {
    pub opcode: u8,
    pub qp: u32,
    pub psn: u32,
    pub ask: bool,
    /// a switch has marked it
    pub marked: bool,
    /// extended headers
    pub extended: Vec<u8>,
    pub payload: Vec<u8>,
}

/// An RDMA extended header.
pub fn reth(addr: u64, key: u32, len: u32) -> Vec<u8> {
    [&addr.to_be_bytes()[..], &key.to_be_bytes(), &len.to_be_bytes()].concat()
}

impl Packet {
    /// The bytes, from one address to another.
    pub fn octets(&self, from: u32, to: u32) -> Vec<u8> {
        let pad = (4 - self.payload.len() % 4) % 4;
        self.octets_padded(pad as u8, from, to)
    }

    /// As [`Packet::octets`], with any pad count.
    pub fn octets_padded(&self, count: u8, from: u32, to: u32) -> Vec<u8> {
        let pad = (4 - self.payload.len() % 4) % 4;
        let mut bth = vec![self.opcode, 0x40 | count << 4, 0xff, 0xff];
        bth.extend(self.qp.to_be_bytes());
        bth.extend((u32::from(self.ask) << 31 | self.psn).to_be_bytes());
        let rest = [&bth[..], &self.extended, &self.payload, &vec![0; pad], &[0; 4]].concat();
        let udp_len = (8 + rest.len()) as u16;
        let udp = [&[0xc0, 1][..], &4791_u16.to_be_bytes(), &udp_len.to_be_bytes(), &[0, 0]].concat();
        let total = (20 + udp.len() + rest.len()) as u16;
        let mut packet = vec![0x45, if self.marked { 3 } else { 2 }];
        packet.extend(total.to_be_bytes());
        packet.extend([0, 0, 0x40, 0, 64, 17, 0, 0]);
        packet.extend(from.to_be_bytes());
        packet.extend(to.to_be_bytes());
        let sum = packet.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1])).sum::<u32>();
        packet[10..12].copy_from_slice(&(!(sum + (sum >> 16)) as u16).to_be_bytes());
        packet.extend([udp, rest].concat());
        let at = packet.len() - 4;
        let crc = invariant_crc(&packet);
        packet[at..].copy_from_slice(&crc.to_le_bytes());
        packet
    }
}
