// SPDX-License-Identifier: MIT OR Apache-2.0
//! The packets of Homa by their public layout (`homa_wire.h` of the Linux module), written from that and from nothing of ours:
//! from bytes to fields and back.

use carrick_sim::ip::checksum;

pub const DATA: u8 = 0x10;
pub const GRANT: u8 = 0x11;
pub const RESEND: u8 = 0x12;
pub const UNKNOWN: u8 = 0x13;
pub const BUSY: u8 = 0x14;
pub const CUTOFFS: u8 = 0x15;
pub const NEED_ACK: u8 = 0x17;
pub const ACK: u8 = 0x18;

/// Bytes of the IPv4 header and of what all packets begin with.
const IP: usize = 20;
const COMMON: usize = 28;

/// What stands behind the common header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    Data {
        message_length: u32,
        incoming: u32,
        ack: (u64, u16),
        cutoff_version: u16,
        retransmit: u8,
        offset: u32,
        payload: Vec<u8>,
    },
    Grant {
        offset: u32,
        priority: u8,
    },
    Resend {
        offset: u32,
        length: u32,
        priority: u8,
    },
    Unknown,
    Busy,
    Cutoffs {
        unsched: [u32; 8],
        version: u16,
    },
    NeedAck,
    Ack {
        acks: Vec<(u64, u16)>,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet {
    pub tos: u8,
    pub src: u32,
    pub dst: u32,
    pub sport: u16,
    pub dport: u16,
    pub sequence: u32,
    pub doff: u8,
    pub sender_id: u64,
    pub body: Body,
}

fn u16_at(octets: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(octets.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(octets: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(octets.get(at..at + 4)?.try_into().ok()?))
}

fn u64_at(octets: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_be_bytes(octets.get(at..at + 8)?.try_into().ok()?))
}

fn ack_at(octets: &[u8], at: usize) -> Option<(u64, u16)> {
    Some((u64_at(octets, at)?, u16_at(octets, at + 8)?))
}

/// Reads an IPv4 packet; none if it is not exactly such a packet, or what must be 0 is not.
pub fn decode(octets: &[u8]) -> Option<Packet> {
    if octets.first()? != &0x45 || octets.get(9)? != &146 || checksum(&[octets.get(..IP)?]) != 0 {
        return None;
    }
    if usize::from(u16_at(octets, 2)?) != octets.len() {
        return None;
    }
    let (tos, src, dst) = (octets[1], u32_at(octets, 12)?, u32_at(octets, 16)?);
    let o = &octets[IP..];
    let unused = [&o.get(8..11)?, &o.get(13..20)?].iter().all(|part| part.iter().all(|octet| *octet == 0));
    let kind = *o.get(11)?;
    let body = body(kind, o.get(COMMON..)?)?;
    unused.then_some(Packet {
        tos,
        src,
        dst,
        sport: u16_at(o, 0)?,
        dport: u16_at(o, 2)?,
        sequence: u32_at(o, 4)?,
        doff: o[12],
        sender_id: u64_at(o, 20)?,
        body,
    })
}

fn body(kind: u8, o: &[u8]) -> Option<Body> {
    let ends = |body: Body, len: usize| (o.len() == len).then_some(body);
    match kind {
        DATA => Some(Body::Data {
            message_length: u32_at(o, 0)?,
            incoming: u32_at(o, 4)?,
            ack: ack_at(o, 8)?,
            cutoff_version: u16_at(o, 18)?,
            retransmit: *o.get(20)?,
            offset: (o.get(21..24)? == [0; 3]).then_some(u32_at(o, 24)?)?,
            payload: o.get(28..)?.to_vec(),
        }),
        GRANT => ends(Body::Grant { offset: u32_at(o, 0)?, priority: *o.get(4)? }, 5),
        RESEND => {
            ends(Body::Resend { offset: u32_at(o, 0)?, length: u32_at(o, 4)?, priority: *o.get(8)? }, 9)
        }
        UNKNOWN => ends(Body::Unknown, 0),
        BUSY => ends(Body::Busy, 0),
        CUTOFFS => {
            let mut unsched = [0; 8];
            for (level, cutoff) in unsched.iter_mut().enumerate() {
                *cutoff = u32_at(o, 4 * level)?;
            }
            ends(Body::Cutoffs { unsched, version: u16_at(o, 32)? }, 34)
        }
        NEED_ACK => ends(Body::NeedAck, 0),
        ACK => {
            let count = usize::from(u16_at(o, 0)?);
            let acks = (0..5).map(|i| ack_at(o, 2 + 10 * i)).collect::<Option<Vec<_>>>()?;
            ends(Body::Ack { acks: acks.get(..count)?.to_vec() }, 52)
        }
        _ => None,
    }
}

impl Packet {
    /// One without data, with the highest priority.
    pub fn control(from: (u32, u16), to: (u32, u16), sender_id: u64, body: Body) -> Packet {
        let ((src, sport), (dst, dport)) = (from, to);
        let doff = if matches!(body, Body::Data { .. }) { 14 << 4 } else { 0 };
        let sequence = if let Body::Data { offset, .. } = body { offset } else { 0 };
        Packet { tos: 7 << 5, src, dst, sport, dport, sequence, doff, sender_id, body }
    }

    fn kind(&self) -> u8 {
        match self.body {
            Body::Data { .. } => DATA,
            Body::Grant { .. } => GRANT,
            Body::Resend { .. } => RESEND,
            Body::Unknown => UNKNOWN,
            Body::Busy => BUSY,
            Body::Cutoffs { .. } => CUTOFFS,
            Body::NeedAck => NEED_ACK,
            Body::Ack { .. } => ACK,
        }
    }

    /// As bytes, from the IPv4 header on, with 0 for its identification.
    pub fn encode(&self) -> Vec<u8> {
        let mut o = vec![0x45, self.tos, 0, 0, 0, 0, 0x40, 0, 64, 146, 0, 0];
        o.extend(self.src.to_be_bytes());
        o.extend(self.dst.to_be_bytes());
        o.extend(self.sport.to_be_bytes());
        o.extend(self.dport.to_be_bytes());
        o.extend(self.sequence.to_be_bytes());
        o.extend([0, 0, 0, self.kind(), self.doff, 0, 0, 0, 0, 0, 0, 0]);
        o.extend(self.sender_id.to_be_bytes());
        self.encode_body(&mut o);
        let len = o.len() as u16;
        o[2..4].copy_from_slice(&len.to_be_bytes());
        let sum = checksum(&[&o[..IP]]);
        o[10..12].copy_from_slice(&sum.to_be_bytes());
        o
    }

    fn encode_body(&self, o: &mut Vec<u8>) {
        match &self.body {
            Body::Data { message_length, incoming, ack, cutoff_version, retransmit, offset, payload } => {
                o.extend([message_length, incoming].iter().flat_map(|n| n.to_be_bytes()));
                o.extend(ack.0.to_be_bytes());
                o.extend(ack.1.to_be_bytes());
                o.extend(cutoff_version.to_be_bytes());
                o.extend([*retransmit, 0, 0, 0]);
                o.extend(offset.to_be_bytes());
                o.extend(payload);
            }
            Body::Grant { offset, priority } => {
                o.extend(offset.to_be_bytes());
                o.push(*priority);
            }
            Body::Resend { offset, length, priority } => {
                o.extend([offset, length].iter().flat_map(|n| n.to_be_bytes()));
                o.push(*priority);
            }
            Body::Cutoffs { unsched, version } => {
                o.extend(unsched.iter().flat_map(|n| n.to_be_bytes()));
                o.extend(version.to_be_bytes());
            }
            Body::Ack { acks } => {
                o.extend((acks.len() as u16).to_be_bytes());
                for at in 0..5 {
                    let (id, port) = acks.get(at).copied().unwrap_or_default();
                    o.extend(id.to_be_bytes());
                    o.extend(port.to_be_bytes());
                }
            }
            Body::Unknown | Body::Busy | Body::NeedAck => {}
        }
    }
}
