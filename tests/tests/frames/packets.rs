// SPDX-License-Identifier: MIT OR Apache-2.0
//! Frames byte by byte, also such as no stack sends.

use std::net::{Ipv4Addr, Ipv6Addr};

use carrick_sim::ip::checksum;

/// The hardware address from which all frames are sent.
pub const MY_MAC: [u8; 6] = [2, 0, 0, 0, 0, 0x77];
/// The addresses of the sender; no kernel has them.
pub const ME: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 77);
pub const ME6: Ipv6Addr = Ipv6Addr::new(0xfd00, 0x77, 0, 0, 0, 0, 0, 0x77);
/// The addresses of the stack.
pub const IT: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 1);
pub const IT6: Ipv6Addr = Ipv6Addr::new(0xfd00, 0x77, 0, 0, 0, 0, 0, 1);
pub const EVERYBODY: [u8; 6] = [0xff; 6];

pub const ARP: u16 = 0x0806;
pub const IPV4: u16 = 0x0800;
pub const IPV6: u16 = 0x86dd;
pub const ICMP: u8 = 1;
pub const TCP: u8 = 6;
pub const UDP: u8 = 17;
pub const ICMP6: u8 = 58;
/// A protocol number that nobody has (RFC 3692).
pub const UNKNOWN: u8 = 253;

/// A frame from us, with these tags (TPID and TCI).
pub fn ether(to: [u8; 6], tags: &[(u16, u16)], kind: u16, payload: &[u8]) -> Vec<u8> {
    let mut frame = [to, MY_MAC].concat();
    for (tpid, tci) in tags {
        frame.extend(tpid.to_be_bytes());
        frame.extend(tci.to_be_bytes());
    }
    frame.extend(kind.to_be_bytes());
    frame.extend(payload);
    frame
}

/// An ARP request of ours.
pub fn arp(target: Ipv4Addr) -> Vec<u8> {
    arp_with(1, target, [0; 6])
}

/// Our answer to the ARP request of a node.
pub fn arp_reply(to: Ipv4Addr, mac: [u8; 6]) -> Vec<u8> {
    arp_with(2, to, mac)
}

fn arp_with(operation: u8, target: Ipv4Addr, mac: [u8; 6]) -> Vec<u8> {
    let head = [0, 1, 8, 0, 6, 4, 0, operation];
    [&head[..], &MY_MAC, &ME.octets(), &mac, &target.octets()].concat()
}

/// A header of IPv4, as it is sent but for what is changed.
#[derive(Clone)]
pub struct Ip4 {
    pub version: u8,
    pub header_words: Option<u8>,
    pub source: Ipv4Addr,
    pub to: Ipv4Addr,
    pub protocol: u8,
    pub ttl: u8,
    pub id: u16,
    /// flags, and the offset in units of 8 bytes
    pub fragment: u16,
    pub options: Vec<u8>,
    /// so many bytes more than there are
    pub longer: u16,
    pub damaged: bool,
}

impl Default for Ip4 {
    fn default() -> Ip4 {
        Ip4 {
            version: 4,
            header_words: None,
            source: ME,
            to: IT,
            protocol: TCP,
            ttl: 64,
            id: 1,
            fragment: 0,
            options: Vec::new(),
            longer: 0,
            damaged: false,
        }
    }
}

impl Ip4 {
    pub fn packet(&self, payload: &[u8]) -> Vec<u8> {
        let words = 5 + self.options.len() / 4;
        let len = (words * 4 + payload.len()) as u16 + self.longer;
        let mut head = vec![self.version << 4 | self.header_words.unwrap_or(words as u8), 0];
        head.extend(len.to_be_bytes());
        head.extend(self.id.to_be_bytes());
        head.extend(self.fragment.to_be_bytes());
        head.extend([self.ttl, self.protocol, 0, 0]);
        head.extend(self.source.octets());
        head.extend(self.to.octets());
        head.extend(&self.options);
        let sum = checksum(&[&head]) ^ u16::from(self.damaged);
        head[10..12].copy_from_slice(&sum.to_be_bytes());
        [&head[..], payload].concat()
    }

    /// The sum of what checksums of the payload cover beside it.
    pub fn pseudo(&self, len: usize) -> Vec<u8> {
        let rest = [0, self.protocol, (len >> 8) as u8, len as u8];
        [&self.source.octets()[..], &self.to.octets(), &rest].concat()
    }
}

/// A header of IPv6, with extension headers behind it: their kinds, and what is in them but for the next kind.
#[derive(Clone)]
pub struct Ip6 {
    pub version: u8,
    pub source: Ipv6Addr,
    pub to: Ipv6Addr,
    pub hops: u8,
    pub protocol: u8,
    pub extensions: Vec<(u8, Vec<u8>)>,
    pub longer: u16,
}

impl Default for Ip6 {
    fn default() -> Ip6 {
        Ip6 { version: 6, source: ME6, to: IT6, hops: 64, protocol: TCP, extensions: Vec::new(), longer: 0 }
    }
}

impl Ip6 {
    pub fn packet(&self, payload: &[u8]) -> Vec<u8> {
        let kinds = self.extensions.iter().map(|(kind, _)| *kind).chain([self.protocol]);
        let kinds: Vec<u8> = kinds.collect();
        let mut behind = Vec::new();
        for (n, (_, rest)) in self.extensions.iter().enumerate() {
            behind.push(kinds[n + 1]);
            behind.extend(rest);
        }
        behind.extend(payload);
        let mut packet = vec![self.version << 4, 0, 0, 0];
        packet.extend((behind.len() as u16 + self.longer).to_be_bytes());
        packet.extend([kinds[0], self.hops]);
        packet.extend(self.source.octets());
        packet.extend(self.to.octets());
        packet.extend(behind);
        packet
    }

    pub fn pseudo(&self, len: usize) -> Vec<u8> {
        let rest = [0, 0, (len >> 8) as u8, len as u8, 0, 0, 0, self.protocol];
        [&self.source.octets()[..], &self.to.octets(), &rest].concat()
    }
}

/// A SYN from this port to one that nobody listens at, padded with options to 40 bytes.
pub fn syn(pseudo: impl Fn(usize) -> Vec<u8>, port: u16) -> Vec<u8> {
    let mut segment = [port.to_be_bytes(), CLOSED.to_be_bytes()].concat();
    segment.extend([0, 0, 0, 7, 0, 0, 0, 0, 10 << 4, 2, 0x10, 0, 0, 0, 0, 0]);
    segment.extend([1; 20]);
    sealed(segment, 16, pseudo)
}

/// The port that nobody listens at.
pub const CLOSED: u16 = 6999;

pub fn datagram(pseudo: impl Fn(usize) -> Vec<u8>, port: u16) -> Vec<u8> {
    let mut datagram = [port.to_be_bytes(), CLOSED.to_be_bytes()].concat();
    datagram.extend([0, 16, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]);
    sealed(datagram, 6, pseudo)
}

/// An echo request with 56 bytes of data.
pub fn echo(kind: u8, pseudo: impl Fn(usize) -> Vec<u8>, number: u16) -> Vec<u8> {
    let mut message = vec![kind, 0, 0, 0, 0, 7];
    message.extend(number.to_be_bytes());
    message.extend(0..56);
    sealed(message, 2, pseudo)
}

/// A neighbour solicitation for an address.
pub fn solicitation(pseudo: impl Fn(usize) -> Vec<u8>, target: Ipv6Addr) -> Vec<u8> {
    let mut message = vec![135, 0, 0, 0, 0, 0, 0, 0];
    message.extend(target.octets());
    message.extend([1, 1]);
    message.extend(MY_MAC);
    sealed(message, 2, pseudo)
}

/// Our advertisement to a node that asked for us.
pub fn advertisement(pseudo: impl Fn(usize) -> Vec<u8>) -> Vec<u8> {
    let mut message = vec![136, 0, 0, 0, 0x60, 0, 0, 0];
    message.extend(ME6.octets());
    message.extend([2, 1]);
    message.extend(MY_MAC);
    sealed(message, 2, pseudo)
}

/// With its checksum, at this place.
fn sealed(mut message: Vec<u8>, at: usize, pseudo: impl Fn(usize) -> Vec<u8>) -> Vec<u8> {
    let sum = checksum(&[&pseudo(message.len()), &message]);
    message[at..at + 2].copy_from_slice(&sum.to_be_bytes());
    message
}
