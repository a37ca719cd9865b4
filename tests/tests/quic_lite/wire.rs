// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packets as s2n-quic, which nobody here wrote, reads and writes their frames.

use carrick_sim::ip::{checksum, mend_checksum};
use s2n_codec::{DecoderBufferMut, Encoder, EncoderBuffer, EncoderValue};
use s2n_quic_core::frame::FrameMut;
use s2n_quic_core::frame::ack::AckRanges;
use s2n_quic_core::varint::VarInt;

pub const VERSION: u32 = 0x4c49_5445;
pub const INITIAL: u8 = 0;
pub const HANDSHAKE: u8 = 2;
pub const RETRY: u8 = 3;

/// What a frame says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heard {
    Padding(usize),
    Ping,
    /// the ranges, first and last, the highest first
    Ack(Vec<(u64, u64)>),
    Reset {
        stream: u64,
        final_size: u64,
    },
    Stop {
        stream: u64,
    },
    Crypto(Vec<u8>),
    Stream {
        stream: u64,
        offset: u64,
        data: Vec<u8>,
        fin: bool,
    },
    MaxData(u64),
    MaxStreamData {
        stream: u64,
        most: u64,
    },
    MaxStreams(u64),
    NewId {
        number: u64,
        cid: u64,
    },
    Retire(u64),
    Challenge([u8; 8]),
    Response([u8; 8]),
    Close {
        error: u64,
        of_transport: bool,
    },
    Done,
}

/// The frames of a packet, each with how many bytes it takes.
pub fn frames(octets: &[u8]) -> Vec<(Heard, usize)> {
    let mut octets = octets.to_vec();
    let mut rest = DecoderBufferMut::new(&mut octets);
    let mut heard = Vec::new();
    while !rest.is_empty() {
        let before = rest.len();
        let (frame, behind) = rest.decode::<FrameMut>().expect("a frame of RFC 9000");
        heard.push((said(&frame), before - behind.len()));
        rest = behind;
    }
    heard
}

fn said(frame: &FrameMut<'_>) -> Heard {
    let number = VarInt::as_u64;
    match frame {
        FrameMut::Padding(f) => Heard::Padding(f.length),
        FrameMut::Ping(_) => Heard::Ping,
        FrameMut::Ack(f) => {
            let ranges = f.ack_ranges.ack_ranges();
            Heard::Ack(ranges.map(|r| (r.start().as_u64(), r.end().as_u64())).collect())
        }
        FrameMut::ResetStream(f) => {
            Heard::Reset { stream: number(f.stream_id), final_size: number(f.final_size) }
        }
        FrameMut::StopSending(f) => Heard::Stop { stream: number(f.stream_id) },
        FrameMut::Crypto(f) => Heard::Crypto(f.data.as_less_safe_slice().to_vec()),
        FrameMut::Stream(f) => Heard::Stream {
            stream: number(f.stream_id),
            offset: number(f.offset),
            data: f.data.as_less_safe_slice().to_vec(),
            fin: f.is_fin,
        },
        FrameMut::MaxData(f) => Heard::MaxData(number(f.maximum_data)),
        FrameMut::MaxStreamData(f) => {
            Heard::MaxStreamData { stream: number(f.stream_id), most: number(f.maximum_stream_data) }
        }
        FrameMut::MaxStreams(f) => Heard::MaxStreams(number(f.maximum_streams)),
        FrameMut::NewConnectionId(f) => Heard::NewId {
            number: number(f.sequence_number),
            cid: u64::from_be_bytes(f.connection_id.try_into().expect("eight octets")),
        },
        FrameMut::RetireConnectionId(f) => Heard::Retire(number(f.sequence_number)),
        FrameMut::PathChallenge(f) => Heard::Challenge(*f.data),
        FrameMut::PathResponse(f) => Heard::Response(*f.data),
        FrameMut::ConnectionClose(f) => {
            Heard::Close { error: number(f.error_code), of_transport: f.frame_type.is_some() }
        }
        FrameMut::HandshakeDone(_) => Heard::Done,
        other => panic!("nobody sends {other:?}"),
    }
}

/// The bytes of a frame, or of a number.
pub fn octets(value: &impl EncoderValue) -> Vec<u8> {
    let mut room = vec![0; 4096];
    let mut buffer = EncoderBuffer::new(&mut room);
    buffer.encode(value);
    let len = buffer.len();
    room.truncate(len);
    room
}

pub fn varint(n: u64) -> VarInt {
    VarInt::new(n).expect("62 bits")
}

/// A packet as it is on the wire.
#[derive(Debug, Clone)]
pub struct Packet {
    pub from: (u32, u16),
    pub to: (u32, u16),
    /// what the IP header says of congestion: the codepoints of RFC 3168
    pub mark: u8,
    /// the type of a long header
    pub long: Option<u8>,
    pub version: u32,
    pub dcid: u64,
    pub scid: u64,
    pub number: u32,
    /// of a Retry, or of the Initial that follows it
    pub token: Vec<u8>,
    pub payload: Vec<u8>,
    /// bytes of the datagram
    pub size: usize,
}

fn word(octets: &[u8]) -> u64 {
    octets.iter().fold(0, |sum, octet| sum << 8 | u64::from(*octet))
}

impl Packet {
    /// Reads an IPv4 packet whose checksums are right.
    pub fn read(ip: &[u8]) -> Packet {
        assert_eq!((ip[0], ip[9]), (0x45, 17), "UDP over IPv4");
        let udp = &ip[20..];
        let pseudo = [0, 17, udp[4], udp[5]];
        assert_eq!(checksum(&[&ip[12..20], &pseudo, udp]), 0, "the checksum of UDP");
        assert_eq!(word(&udp[4..6]) as usize, udp.len(), "the length of UDP");
        let ends = |at: usize, port: usize| (word(&ip[at..at + 4]) as u32, word(&udp[port..port + 2]) as u16);
        let quic = &udp[8..];
        let mut packet = Packet {
            from: ends(12, 0),
            to: ends(16, 2),
            mark: ip[1] & 3,
            long: None,
            version: VERSION,
            dcid: 0,
            scid: 0,
            number: 0,
            token: Vec::new(),
            payload: Vec::new(),
            size: quic.len(),
        };
        if quic[0] & 0x80 == 0 {
            assert_eq!(quic[0] & 0x43, 0x43, "the fixed bit, and a number of four octets");
            packet.dcid = word(&quic[1..9]);
            packet.number = word(&quic[9..13]) as u32;
            packet.payload = quic[13..].to_vec();
        } else {
            packet.read_long(quic);
        }
        packet
    }

    fn read_long(&mut self, quic: &[u8]) {
        self.version = word(&quic[1..5]) as u32;
        assert_eq!((quic[5], quic[14]), (8, 8), "the lengths of ids");
        (self.dcid, self.scid) = (word(&quic[6..14]), word(&quic[15..23]));
        self.long = Some(quic[0] >> 4 & 3);
        let mut rest = &quic[23..];
        if self.version == 0 {
            self.payload = rest.to_vec();
            return;
        }
        if self.long == Some(RETRY) {
            self.token = rest.to_vec();
            return;
        }
        if self.long == Some(INITIAL) {
            let len = usize::from(rest[0]);
            assert!(len < 64, "a length of one octet");
            self.token = rest[1..=len].to_vec();
            rest = &rest[1 + len..];
        }
        let buffer = s2n_codec::DecoderBuffer::new(rest);
        let (len, behind) = buffer.decode::<VarInt>().expect("a length");
        let rest = behind.into_less_safe_slice();
        assert_eq!(len.as_u64() as usize, rest.len(), "one packet in a datagram");
        self.number = word(&rest[..4]) as u32;
        self.payload = rest[4..].to_vec();
    }

    /// As it is sent.
    pub fn write(&self) -> Vec<u8> {
        let mut quic = Vec::new();
        match self.long {
            Some(kind) => {
                quic.push(0xc3 | kind << 4);
                quic.extend(self.version.to_be_bytes());
                quic.push(8);
                quic.extend(self.dcid.to_be_bytes());
                quic.push(8);
                quic.extend(self.scid.to_be_bytes());
                if kind == INITIAL {
                    quic.push(self.token.len() as u8);
                    quic.extend(&self.token);
                }
                quic.extend(octets(&varint(self.payload.len() as u64 + 4)));
            }
            None => {
                quic.push(0x43);
                quic.extend(self.dcid.to_be_bytes());
            }
        }
        quic.extend(self.number.to_be_bytes());
        quic.extend(&self.payload);
        marked(datagram(self.from, self.to, &quic), self.mark)
    }

    /// What an ACK frame says of marks: packets that came with ECT(0), ECT(1) and CE.
    pub fn counts(&self) -> Option<[u64; 3]> {
        let mut octets = self.payload.clone();
        let mut rest = DecoderBufferMut::new(&mut octets);
        while !rest.is_empty() {
            let (frame, behind) = rest.decode::<FrameMut>().expect("a frame of RFC 9000");
            if let FrameMut::Ack(ack) = frame {
                let counts = ack.ecn_counts?;
                return Some([counts.ect_0_count, counts.ect_1_count, counts.ce_count].map(VarInt::as_u64));
            }
            rest = behind;
        }
        None
    }

    pub fn heard(&self) -> Vec<Heard> {
        frames(&self.payload).into_iter().map(|(heard, _)| heard).collect()
    }
}

/// The packet with one of the codepoints of RFC 3168.
pub fn marked(mut ip: Vec<u8>, mark: u8) -> Vec<u8> {
    ip[1] = mark;
    ip[10..12].fill(0);
    mend_checksum(&mut ip);
    ip
}

/// A UDP datagram over IPv4.
pub fn datagram(from: (u32, u16), to: (u32, u16), payload: &[u8]) -> Vec<u8> {
    let len = (payload.len() + 8) as u16;
    let mut ip = vec![0x45, 0];
    ip.extend((len + 20).to_be_bytes());
    ip.extend([0, 0, 0x40, 0, 64, 17, 0, 0]);
    ip.extend(from.0.to_be_bytes());
    ip.extend(to.0.to_be_bytes());
    mend_checksum(&mut ip);
    let mut udp = [from.1.to_be_bytes(), to.1.to_be_bytes(), len.to_be_bytes(), [0, 0]].concat();
    udp.extend(payload);
    let sum = checksum(&[&ip[12..20], &[0, 17], &len.to_be_bytes(), &udp]);
    udp[6..8].copy_from_slice(&sum.to_be_bytes());
    ip.extend(udp);
    ip
}
