// SPDX-License-Identifier: MIT OR Apache-2.0
//! TCP segments as scripts write them and as the wire has them.

use std::fmt;

use carrick_ir::NetLayer;
use carrick_sim::ip::{self, checksum};

/// The peer's address.
pub const PEER: u32 = 0x0a00_0002;
/// The core's address.
pub const CORE: u32 = 0x0a00_0001;
/// Multicast addresses.
const MANY: u32 = 0xe000_0005;
const MANY_V6: u128 = 0xff02 << 112 | 5;
/// The protocol number.
const TCP: u8 = 6;
const TCP_HEADER: usize = 20;
/// The flags by letter, from the lowest bit.
const LETTERS: &[u8; 8] = b"FSRP.UEC";

/// An option of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opt {
    /// maximum segment size
    Mss(u16),
    /// window scale
    Scale(u8),
    /// timestamps, value and echo; `None`: any
    Stamps(Option<u32>, Option<u32>),
    /// SACK permitted
    SackPermitted,
    /// blocks of bytes, from the beginnings of their numbers on, and how many there are
    Sack([(u32, u32); 4], usize),
    /// one that nobody knows, with so many bytes in all
    Unknown(u8),
    /// MSS with a wrong length
    Broken,
}

/// A segment; what is `None` is not looked at in one that is sent, and has an ordinary value in one that comes in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// the bits of the header, FIN lowest
    pub flags: u8,
    /// sequence number
    pub seq: u32,
    /// bytes of payload
    pub len: u32,
    /// acknowledgement number
    pub ack: Option<u32>,
    /// window as it is in the header
    pub window: Option<u16>,
    /// urgent pointer
    pub urgent: Option<u16>,
    /// the DiffServ and ECN byte
    pub tos: Option<u8>,
    /// options, without padding
    pub options: Option<Vec<Opt>>,
    /// a bit of the segment is flipped on its way
    pub damaged: bool,
    /// from a multicast address
    pub from_many: bool,
}

impl Segment {
    /// `P. 1:101 ack 1 win 1000 urg 5 tos 8 <mss 1460,wscale 7,ts 1 2>`, perhaps with `damaged` or `multicast`.
    pub fn read(text: &str) -> Option<Segment> {
        let (head, options) = match text.split_once('<') {
            Some((head, options)) => (head, Some(options.trim().strip_suffix('>')?)),
            None => (text, None),
        };
        let mut words = head.split_whitespace();
        let flags = words.next()?.bytes().try_fold(0, |all, letter| {
            let bit = LETTERS.iter().position(|l| *l == letter)?;
            Some(all | 1_u8 << bit)
        })?;
        let (from, to) = words.next()?.split_once(':')?;
        let (seq, end) = (number(from)?, number(to)?);
        let mut segment = Segment {
            flags,
            seq,
            len: end.wrapping_sub(seq),
            ack: None,
            window: None,
            urgent: None,
            tos: None,
            options: options.map(read_options).transpose_option()?,
            damaged: false,
            from_many: false,
        };
        while let Some(word) = words.next() {
            match word {
                "ack" => segment.ack = Some(number(words.next()?)?),
                "win" => segment.window = Some(words.next()?.parse().ok()?),
                "urg" => segment.urgent = Some(words.next()?.parse().ok()?),
                "tos" => segment.tos = Some(words.next()?.parse().ok()?),
                "damaged" => segment.damaged = true,
                "multicast" => segment.from_many = true,
                _ => return None,
            }
        }
        Some(segment)
    }

    /// The packet from the peer. `isn` are the peer's and the core's initial numbers; byte n of the stream is n % 256.
    pub fn packet(&self, layer: NetLayer, ports: (u16, u16), isn: (u32, u32)) -> Vec<u8> {
        let mut options = Vec::new();
        self.options.iter().flatten().for_each(|o| o.write(isn.1, &mut options));
        options.resize(options.len().next_multiple_of(4), 0);
        let from = match (self.from_many, layer) {
            (false, _) => ip::address(layer, PEER),
            (true, NetLayer::Ipv6) => MANY_V6,
            (true, _) => MANY.into(),
        };
        let mut packet = network_header(layer, self.tos.unwrap_or(0), from, ip::address(layer, CORE));
        let begin = packet.len();
        packet.extend_from_slice(&ports.0.to_be_bytes());
        packet.extend_from_slice(&ports.1.to_be_bytes());
        packet.extend_from_slice(&isn.0.wrapping_add(self.seq).to_be_bytes());
        packet.extend_from_slice(&self.ack.map_or(0, |a| isn.1.wrapping_add(a)).to_be_bytes());
        packet.push(((TCP_HEADER + options.len()) / 4) as u8 * 16);
        packet.push(self.flags);
        packet.extend_from_slice(&self.window.unwrap_or(65535).to_be_bytes());
        packet.extend_from_slice(&[0, 0]);
        packet.extend_from_slice(&self.urgent.unwrap_or(0).to_be_bytes());
        packet.extend_from_slice(&options);
        packet.extend((0..self.len).map(|i| self.seq.wrapping_add(i) as u8));
        ip::mend_length(layer, &mut packet);
        let sum = checksum(&[&ip::pseudo_header(layer, &packet), &packet[begin..]]);
        packet[begin + 16..begin + 18].copy_from_slice(&sum.to_be_bytes());
        if self.damaged {
            *packet.last_mut().expect("a header") ^= 4;
        }
        packet
    }

    /// A packet that the core made, with the peer's port; its numbers are not relative yet.
    ///
    /// # Errors
    /// If it is too short, has a wrong checksum or options that nobody can read.
    pub fn of_packet(packet: &[u8]) -> Result<(Segment, u16), String> {
        let layer = if ip::is_ipv6(packet) { NetLayer::Ipv6 } else { NetLayer::Ipv4 };
        let begin = ip::header_len(layer);
        let tcp = packet.get(begin..).filter(|tcp| tcp.len() >= TCP_HEADER).ok_or("a packet too short")?;
        let header_wrong = layer == NetLayer::Ipv4 && checksum(&[&packet[..begin]]) != 0;
        if header_wrong || checksum(&[&ip::pseudo_header(layer, packet), tcp]) != 0 {
            return Err("a checksum is wrong".to_owned());
        }
        let half = |at: usize| u16::from_be_bytes([tcp[at], tcp[at + 1]]);
        let word = |at: usize| u32::from_be_bytes([tcp[at], tcp[at + 1], tcp[at + 2], tcp[at + 3]]);
        let header = usize::from(tcp[12] >> 4) * 4;
        let options = tcp.get(TCP_HEADER..header).ok_or("a data offset outside the segment")?;
        let segment = Segment {
            flags: tcp[13],
            seq: word(4),
            len: (tcp.len() - header) as u32,
            ack: Some(word(8)),
            window: Some(half(14)),
            urgent: Some(half(18)),
            tos: Some(tos(layer, packet)),
            options: Some(Opt::read_all(options)?),
            damaged: false,
            from_many: false,
        };
        Ok((segment, half(2)))
    }

    /// What of `wanted` this segment does not have.
    pub fn differs_from(&self, wanted: &Segment) -> Option<&'static str> {
        let differs = |wanted: Option<u32>, found: Option<u32>| wanted.is_some() && wanted != found;
        let wide = |value: Option<u16>| value.map(u32::from);
        if self.flags != wanted.flags {
            Some("the flags")
        } else if (self.seq, self.len) != (wanted.seq, wanted.len) {
            Some("the sequence numbers")
        } else if differs(wanted.ack, self.ack) {
            Some("the acknowledgement")
        } else if differs(wide(wanted.window), wide(self.window)) {
            Some("the win")
        } else if differs(wide(wanted.urgent), wide(self.urgent)) {
            Some("the urgent pointer")
        } else if differs(wanted.tos.map(u32::from), self.tos.map(u32::from)) {
            Some("the tos")
        } else if wanted.options.as_ref().is_some_and(|w| !same_options(w, self.options.as_deref())) {
            Some("the options")
        } else {
            None
        }
    }

    /// Lets the blocks that were received count from `isn`.
    pub fn relative_blocks(&mut self, isn: u32) {
        for option in self.options.iter_mut().flatten() {
            if let Opt::Sack(blocks, n) = option {
                for (from, to) in &mut blocks[..*n] {
                    (*from, *to) = (from.wrapping_sub(isn), to.wrapping_sub(isn));
                }
            }
        }
    }

    /// Whether SYN is set.
    pub fn is_syn(&self) -> bool {
        self.flags & 2 != 0
    }

    /// Whether ACK is set.
    pub fn has_ack(&self) -> bool {
        self.flags & 16 != 0
    }
}

impl fmt::Display for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letters = LETTERS.iter().enumerate().filter(|(bit, _)| self.flags & 1 << bit != 0);
        let letters: String = letters.map(|(_, l)| char::from(*l)).collect();
        write!(f, "{letters} {}:{}", self.seq, self.seq.wrapping_add(self.len))?;
        if let Some(ack) = self.ack.filter(|_| self.has_ack()) {
            write!(f, " ack {ack}")?;
        }
        write!(f, " win {}", self.window.unwrap_or(0))?;
        match self.options.as_deref() {
            None | Some([]) => Ok(()),
            Some(options) => write!(f, " {options:?}"),
        }
    }
}

impl Opt {
    /// `isn` is what the numbers of blocks count from.
    fn write(&self, isn: u32, out: &mut Vec<u8>) {
        match *self {
            Opt::SackPermitted => out.extend_from_slice(&[4, 2]),
            Opt::Sack(blocks, n) => {
                out.extend_from_slice(&[5, 2 + 8 * n as u8]);
                for (from, to) in &blocks[..n] {
                    out.extend_from_slice(&isn.wrapping_add(*from).to_be_bytes());
                    out.extend_from_slice(&isn.wrapping_add(*to).to_be_bytes());
                }
            }
            Opt::Mss(mss) => out.extend_from_slice(&[2, 4, (mss >> 8) as u8, mss as u8]),
            Opt::Scale(shift) => out.extend_from_slice(&[3, 3, shift]),
            Opt::Stamps(value, echo) => {
                out.extend_from_slice(&[8, 10]);
                out.extend_from_slice(&value.unwrap_or(0).to_be_bytes());
                out.extend_from_slice(&echo.unwrap_or(0).to_be_bytes());
            }
            Opt::Unknown(len) => {
                out.extend_from_slice(&[253, len]);
                out.resize(out.len() + usize::from(len) - 2, 0xaa);
            }
            Opt::Broken => out.extend_from_slice(&[2, 0]),
        }
    }

    fn read_all(mut octets: &[u8]) -> Result<Vec<Opt>, String> {
        let mut all = Vec::new();
        loop {
            match *octets {
                [] | [0, ..] => return Ok(all),
                [1, ..] => {
                    octets = &octets[1..];
                    continue;
                }
                [2, 4, a, b, ..] => all.push(Opt::Mss(u16::from_be_bytes([a, b]))),
                [3, 3, shift, ..] => all.push(Opt::Scale(shift)),
                [8, 10, a, b, c, d, e, f, g, h, ..] => all.push(Opt::Stamps(
                    Some(u32::from_be_bytes([a, b, c, d])),
                    Some(u32::from_be_bytes([e, f, g, h])),
                )),
                [4, 2, ..] => all.push(Opt::SackPermitted),
                [5, len, ..] if matches!(len, 10 | 18 | 26 | 34) && octets.len() >= usize::from(len) => {
                    let word = |at: &[u8]| u32::from_be_bytes([at[0], at[1], at[2], at[3]]);
                    let mut blocks = [(0, 0); 4];
                    for (block, at) in blocks.iter_mut().zip(octets[2..usize::from(len)].chunks(8)) {
                        *block = (word(at), word(&at[4..]));
                    }
                    all.push(Opt::Sack(blocks, usize::from(len) / 8));
                }
                _ => return Err(format!("options that nobody can read: {octets:?}")),
            }
            octets = &octets[usize::from(octets[1])..];
        }
    }
}

trait TransposeOption<T> {
    /// From a wish that may have failed to a failure.
    fn transpose_option(self) -> Option<Option<T>>;
}

impl<T> TransposeOption<T> for Option<Option<T>> {
    fn transpose_option(self) -> Option<Option<T>> {
        match self {
            None => Some(None),
            Some(None) => None,
            Some(Some(value)) => Some(Some(value)),
        }
    }
}

fn read_options(text: &str) -> Option<Vec<Opt>> {
    let parts = text.split(',').map(str::trim).filter(|p| !p.is_empty());
    parts
        .map(|part| {
            let words: Vec<&str> = part.split_whitespace().collect();
            Some(match words[..] {
                ["mss", mss] => Opt::Mss(mss.parse().ok()?),
                ["wscale", shift] => Opt::Scale(shift.parse().ok()?),
                ["ts", value, echo] => Opt::Stamps(value.parse().ok(), echo.parse().ok()),
                ["sackok"] => Opt::SackPermitted,
                ["sack", ref numbers @ ..] if matches!(numbers.len(), 2 | 4 | 6 | 8) => {
                    let mut blocks = [(0, 0); 4];
                    for (block, pair) in blocks.iter_mut().zip(numbers.chunks(2)) {
                        *block = (number(pair[0])?, number(pair[1])?);
                    }
                    Opt::Sack(blocks, numbers.len() / 2)
                }
                ["unknown", len] => Opt::Unknown(len.parse().ok()?),
                ["broken"] => Opt::Broken,
                _ => return None,
            })
        })
        .collect()
}

fn same_options(wanted: &[Opt], found: Option<&[Opt]>) -> bool {
    let found = found.unwrap_or_default();
    let same = |(wanted, found): (&Opt, &Opt)| match (wanted, found) {
        (Opt::Stamps(value, echo), Opt::Stamps(has_value, has_echo)) => {
            (value.is_none() || value == has_value) && (echo.is_none() || echo == has_echo)
        }
        _ => wanted == found,
    };
    wanted.len() == found.len() && wanted.iter().zip(found).all(same)
}

/// Also below zero: `-1` is one before the initial number.
fn number(text: &str) -> Option<u32> {
    text.parse::<i64>().ok().map(|n| n as u32)
}

/// A packet that the core sent, as far as reports quote it: its ports, sequence number on the wire and bytes of data.
pub fn quoted(layer: NetLayer, ports: (u16, u16), seq: u32, len: u32) -> Vec<u8> {
    let mut packet = network_header(layer, 0, ip::address(layer, CORE), ip::address(layer, PEER));
    let end = packet.len() + TCP_HEADER + len as usize;
    packet.extend([ports.0.to_be_bytes(), ports.1.to_be_bytes()].concat());
    packet.extend(seq.to_be_bytes());
    packet.resize(end, 0);
    ip::mend_length(layer, &mut packet);
    packet
}

/// A header of TCP's; its length and checksum are to come.
fn network_header(layer: NetLayer, tos: u8, from: u128, to: u128) -> Vec<u8> {
    if layer == NetLayer::Ipv6 {
        let first = 6 << 28 | u32::from(tos) << 20;
        return [&first.to_be_bytes()[..], &[0, 0, TCP, 64], &from.to_be_bytes(), &to.to_be_bytes()].concat();
    }
    let addresses = [(from as u32).to_be_bytes(), (to as u32).to_be_bytes()].concat();
    [&[0x45, tos, 0, 0, 0, 0, 0x40, 0, 64, TCP, 0, 0][..], &addresses].concat()
}

/// The DiffServ and ECN byte of a packet.
fn tos(layer: NetLayer, packet: &[u8]) -> u8 {
    if layer == NetLayer::Ipv6 { packet[0] << 4 | packet[1] >> 4 } else { packet[1] }
}
