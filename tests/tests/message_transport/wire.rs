// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packets by the layout of the paper's appendix A, with what this protocol adds behind the header, between fields and bytes. It
//! is written from the documents and uses no code of the compiler.

use carrick_sim::ip::checksum;

const IP: usize = 20;
const HEADER: usize = 20;
pub const MSG_ACK: u8 = 0x80;
pub const PRX: u8 = 0x40;
pub const PTX: u8 = 0x20;
pub const FEEDBACK: u8 = 0x10;
pub const OPENING: u8 = 0x08;
pub const ROUTED: u8 = 0x04;
pub const ASK: u8 = 1;
pub const ANSWER: u8 = 2;
pub const CONFIRM: u8 = 3;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Packet {
    pub tos: u8,
    pub src: u32,
    pub dst: u32,
    pub sport: u16,
    pub dport: u16,
    pub msg_no: u32,
    pub seg_no: u16,
    /// of `MSG_ACK`, `PRX` and `PTX`; the others follow from the groups that are there
    pub acks: u8,
    pub msg_len: u32,
    pub vc: u8,
    /// pathlet and occupancy
    pub feedback: Option<(u32, u8)>,
    /// step, key of the sender, key of the peer
    pub opening: Option<(u8, u32, u32)>,
    /// hops behind the destination
    pub route: Option<Vec<u32>>,
    pub payload: Vec<u8>,
}

impl Packet {
    fn flags(&self) -> u8 {
        let group = |there: bool, flag: u8| if there { flag } else { 0 };
        let groups = group(self.feedback.is_some(), FEEDBACK)
            | group(self.opening.is_some(), OPENING)
            | group(self.route.is_some(), ROUTED);
        self.acks | groups
    }

    /// The header and the payload, with a checksum of 0.
    fn transport(&self) -> Vec<u8> {
        let mut o = [self.sport.to_be_bytes(), self.dport.to_be_bytes(), [0; 2], [0; 2]].concat();
        o.extend(self.msg_no.to_be_bytes());
        o.extend(self.seg_no.to_be_bytes());
        o.push(self.flags());
        o.extend(self.msg_len.to_be_bytes());
        o.push(self.vc);
        if let Some((pathlet, occupancy)) = self.feedback {
            o.extend(pathlet.to_be_bytes());
            o.push(occupancy);
        }
        if let Some((step, key, peer_key)) = self.opening {
            o.push(step);
            o.extend([key.to_be_bytes(), peer_key.to_be_bytes()].concat());
        }
        if let Some(hops) = &self.route {
            o.push(hops.len() as u8);
            hops.iter().for_each(|hop| o.extend(hop.to_be_bytes()));
        }
        o.extend(&self.payload);
        let len = (o.len() as u16).to_be_bytes();
        o[4..6].copy_from_slice(&len);
        o
    }

    pub fn encode(&self) -> Vec<u8> {
        let mut o = self.transport();
        let sum = checksum(&[&pseudo(self.src, self.dst, o.len()), &o]).to_be_bytes();
        o[6..8].copy_from_slice(&sum);
        let total = ((IP + o.len()) as u16).to_be_bytes();
        let mut ip = [&[0x45, self.tos], &total[..], &[0, 0, 0x40, 0, 64, 253, 0, 0]].concat();
        ip.extend([self.src.to_be_bytes(), self.dst.to_be_bytes()].concat());
        let sum = checksum(&[&ip]).to_be_bytes();
        ip[10..12].copy_from_slice(&sum);
        ip.extend(o);
        ip
    }
}

fn pseudo(src: u32, dst: u32, len: usize) -> Vec<u8> {
    [&src.to_be_bytes()[..], &dst.to_be_bytes(), &[0, 253], &(len as u16).to_be_bytes()].concat()
}

/// Reads big-endian numbers from the front of bytes.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn number(&mut self, len: usize) -> Option<u32> {
        let (front, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(front.iter().fold(0, |number, byte| number << 8 | u32::from(*byte)))
    }
}

/// Reads an IPv4 packet; none if a length or a checksum is wrong, or a reserved bit is set.
pub fn decode(octets: &[u8]) -> Option<Packet> {
    let (ip, o) = octets.split_at_checked(IP)?;
    let mut r = Reader(ip);
    let (version, tos, total) = (r.number(1)?, r.number(1)?, r.number(2)?);
    let (protocol, _) = (r.number(6)? & 0xff, r.number(2)?);
    let (src, dst) = (r.number(4)?, r.number(4)?);
    let sums = [checksum(&[ip]), checksum(&[&pseudo(src, dst, o.len()), o])];
    if (version, protocol, sums) != (0x45, 253, [0, 0]) || total as usize != octets.len() || o.len() < HEADER
    {
        return None;
    }
    let mut r = Reader(o);
    let (sport, dport) = (r.number(2)? as u16, r.number(2)? as u16);
    let (len, _) = (r.number(2)?, r.number(2)?);
    let (msg_no, seg_no) = (r.number(4)?, r.number(2)? as u16);
    let (flags, msg_len, vc) = (r.number(1)? as u8, r.number(4)?, r.number(1)? as u8);
    if len as usize != o.len() || flags & 3 != 0 {
        return None;
    }
    let mut packet = Packet { tos: tos as u8, src, dst, sport, dport, msg_no, seg_no, ..Packet::default() };
    (packet.acks, packet.msg_len, packet.vc) = (flags & (MSG_ACK | PRX | PTX), msg_len, vc);
    if flags & FEEDBACK != 0 {
        packet.feedback = Some((r.number(4)?, r.number(1)? as u8));
    }
    if flags & OPENING != 0 {
        packet.opening = Some((r.number(1)? as u8, r.number(4)?, r.number(4)?));
    }
    if flags & ROUTED != 0 {
        let hops = r.number(1)?;
        packet.route = Some((0..hops).map(|_| r.number(4)).collect::<Option<_>>()?);
    }
    packet.payload = r.0.to_vec();
    Some(packet)
}
