// SPDX-License-Identifier: MIT OR Apache-2.0
//! CRC-32 fields: what they cover, and what of it counts as ones.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Bytes of the network header that can be masked; those of its own options cannot.
pub const NET_OCTETS: usize = 20;
/// Bytes that the field takes.
pub const CRC_OCTETS: u32 = 4;

/// A CRC-32 (IEEE 802.3: reflected, polynomial 0x04c11db7, begun with ones and inverted at the end). It stands in
/// the packet with its least significant byte first. Where it covers its own field, that counts as zeros.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct Crc {
    /// in this order
    pub over: Vec<CrcPart>,
    /// what counts as ones, whatever it is
    pub masked: Vec<CrcMask>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum CrcPart {
    /// so many bytes of ones that are not in the packet
    Ones(u32),
    /// the network header with its options
    Net,
    /// all before the payload
    Header,
    /// without what follows it
    Payload,
    /// from the first byte of one fixed field to the last byte of another
    Fields { first: u32, last: u32 },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum CrcMask {
    /// a fixed field
    Field(u32),
    /// bytes of the network header
    Net { name: String, at: u32, octets: u32 },
}

impl Crc {
    /// The bits of the network header's bytes that count as ones.
    pub fn net_mask(&self) -> [u8; NET_OCTETS] {
        let mut mask = [0; NET_OCTETS];
        for masked in &self.masked {
            let CrcMask::Net { at, octets, .. } = masked else { continue };
            for octet in mask.iter_mut().skip(*at as usize).take(*octets as usize) {
                *octet = 0xff;
            }
        }
        mask
    }

    pub fn covers_net(&self) -> bool {
        self.over.contains(&CrcPart::Net)
    }
}
