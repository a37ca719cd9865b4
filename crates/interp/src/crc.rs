// SPDX-License-Identifier: MIT OR Apache-2.0
//! CRC-32 fields: computed over a packet that is made, held against one that is received.

use carrick_ir::crc::NET_OCTETS;
use carrick_ir::{BlueprintDef, CRC_OCTETS, Crc, CrcPart};

/// A CRC-32 field, ready to be computed.
#[derive(Debug)]
pub(crate) struct CrcCode {
    /// its cell in the blueprint
    pub cell: u32,
    /// where it begins in the header; `None`: behind the payload
    at: Option<usize>,
    parts: Vec<Part>,
    header_mask: Vec<u8>,
    net_mask: [u8; NET_OCTETS],
}

#[derive(Debug)]
enum Part {
    Ones(usize),
    Net,
    Header,
    Payload,
    Octets(std::ops::Range<usize>),
}

/// The remainders of all bytes.
const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut octet = 0;
    while octet < 256 {
        let mut rest = octet as u32;
        let mut bit = 0;
        while bit < 8 {
            rest = rest >> 1 ^ if rest & 1 == 1 { 0xedb8_8320 } else { 0 };
            bit += 1;
        }
        table[octet] = rest;
        octet += 1;
    }
    table
};

fn add(crc: u32, octet: u8) -> u32 {
    crc >> 8 ^ TABLE[usize::from(crc as u8 ^ octet)]
}

/// Bytes with ones where the mask has them.
fn masked(octets: &[u8], mask: &[u8]) -> Vec<u8> {
    let mask = mask.iter().chain(std::iter::repeat(&0));
    octets.iter().zip(mask).map(|(octet, mask)| octet | mask).collect()
}

impl CrcCode {
    pub(crate) fn new(def: &BlueprintDef, cell: u32, bit_offset: u32, crc: &Crc) -> CrcCode {
        let part = |part: &CrcPart| match *part {
            CrcPart::Ones(n) => Part::Ones(n as usize),
            CrcPart::Net => Part::Net,
            CrcPart::Header => Part::Header,
            CrcPart::Payload => Part::Payload,
            CrcPart::Fields { first, last } => Part::Octets(def.octets_of(first, last)),
        };
        let at = bit_offset as usize / 8;
        CrcCode {
            cell,
            at: (at < def.fixed_len as usize).then_some(at),
            parts: crc.over.iter().map(part).collect(),
            header_mask: def.crc_mask(crc),
            net_mask: crc.net_mask(),
        }
    }

    /// Of the bytes from the header's beginning to the packet's end: where its own are.
    fn place(&self, len: usize) -> std::ops::Range<usize> {
        let octets = CRC_OCTETS as usize;
        let at = self.at.unwrap_or(len.saturating_sub(octets));
        at..(at + octets).min(len)
    }

    /// What stands in a packet, from the header's beginning.
    pub(crate) fn read(&self, packet: &[u8]) -> u32 {
        packet[self.place(packet.len())].iter().rev().fold(0, |value, octet| value << 8 | u32::from(*octet))
    }

    pub(crate) fn write(&self, packet: &mut [u8], value: u32) {
        let place = self.place(packet.len());
        packet[place].copy_from_slice(&value.to_le_bytes());
    }

    /// What should stand in a packet with this network header; `header` bytes come before the payload.
    pub(crate) fn compute(&self, net: &[u8], packet: &[u8], header: usize) -> u32 {
        let mut fields = masked(&packet[..header], &self.header_mask);
        if let Some(at) = self.at {
            // Its own bytes count as zeros, unless they are masked.
            for (octet, mask) in
                fields[at..].iter_mut().zip(&self.header_mask[at..]).take(CRC_OCTETS as usize)
            {
                *octet = *mask;
            }
        }
        let tail = if self.at.is_none() { CRC_OCTETS as usize } else { 0 };
        let payload = &packet[header..packet.len() - tail];
        let net = masked(net, &self.net_mask);
        let crc = self.parts.iter().fold(u32::MAX, |crc, part| {
            let over = |octets: &[u8]| octets.iter().fold(crc, |crc, octet| add(crc, *octet));
            match part {
                Part::Ones(n) => (0..*n).fold(crc, |crc, _| add(crc, 0xff)),
                Part::Net => over(&net),
                Part::Header => over(&fields),
                Part::Payload => over(payload),
                Part::Octets(range) => over(&fields[range.clone()]),
            }
        });
        !crc
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_value_of_the_catalogue() {
        let crc = b"123456789".iter().fold(u32::MAX, |crc, octet| add(crc, *octet));
        assert_eq!(!crc, 0xcbf4_3926);
    }
}
