// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a stack does with each kind of frame: a row for each. `targets/native/README.md` shows them.

use std::net::{Ipv4Addr, Ipv6Addr};

use crate::packets::*;

/// What the sender sees of the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// nothing is sent
    Dropped,
    /// the program got the packet: a TCP resets what nobody listens for
    Taken,
    /// an answer to an echo request
    Echo,
    /// the stack's hardware address
    Address,
    /// ICMP or ICMPv6 destination unreachable, with this code
    Unreachable(u8),
    /// ICMPv6 parameter problem, with this code
    Parameter(u8),
}

impl Seen {
    pub fn words(self) -> String {
        match self {
            Seen::Dropped => "dropped".to_owned(),
            Seen::Taken => "taken".to_owned(),
            Seen::Echo | Seen::Address => "answered".to_owned(),
            Seen::Unreachable(code) => format!("unreachable, code {code}"),
            Seen::Parameter(code) => format!("parameter problem, code {code}"),
        }
    }
}

/// One kind of frame.
pub struct Row {
    /// in the words of the table
    pub what: &'static str,
    /// the frames, for the stack's hardware address and a number that its packets have as source port or in an echo
    pub frames: fn([u8; 6], u16) -> Vec<Vec<u8>>,
    pub seen: Seen,
    /// what Linux does, if it is something else
    pub linux: Option<Seen>,
    /// what the AF_XDP port does, if it is something else
    pub af_xdp: Option<Seen>,
    /// what the stack counts, once each; empty: nothing
    pub counter: &'static str,
}

const fn row(what: &'static str, seen: Seen, frames: fn([u8; 6], u16) -> Vec<Vec<u8>>) -> Row {
    Row { what, frames, seen, linux: None, af_xdp: None, counter: "" }
}

impl Row {
    const fn counted(mut self, counter: &'static str) -> Row {
        self.counter = counter;
        self
    }

    const fn but_linux(mut self, seen: Seen) -> Row {
        self.linux = Some(seen);
        self
    }

    const fn but_af_xdp(mut self, seen: Seen) -> Row {
        self.af_xdp = Some(seen);
        self
    }
}

/// A packet of the program with this header.
fn with(ip: &Ip4, port: u16) -> Vec<u8> {
    ip.packet(&syn(|len| ip.pseudo(len), port))
}

fn with6(ip: &Ip6, port: u16) -> Vec<u8> {
    ip.packet(&syn(|len| ip.pseudo(len), port))
}

fn plain(port: u16) -> Vec<u8> {
    with(&Ip4::default(), port)
}

fn plain6(port: u16) -> Vec<u8> {
    with6(&Ip6::default(), port)
}

fn one(mac: [u8; 6], ip: &Ip4, port: u16) -> Vec<Vec<u8>> {
    vec![ether(mac, &[], IPV4, &with(ip, port))]
}

fn one6(mac: [u8; 6], ip: &Ip6, port: u16) -> Vec<Vec<u8>> {
    vec![ether(mac, &[], IPV6, &with6(ip, port))]
}

fn from(mac: [u8; 6], source: [u8; 4], port: u16) -> Vec<Vec<u8>> {
    one(mac, &Ip4 { source: Ipv4Addr::from(source), ..Ip4::default() }, port)
}

fn from6(mac: [u8; 6], source: &str, port: u16) -> Vec<Vec<u8>> {
    let source: Ipv6Addr = source.parse().expect("an address");
    one6(mac, &Ip6 { source, ..Ip6::default() }, port)
}

/// Fragments of a packet of 40 bytes of data: where they begin and end.
fn cut(mac: [u8; 6], port: u16, cuts: &[(usize, usize)]) -> Vec<Vec<u8>> {
    let ip = Ip4::default();
    let data = syn(|len| ip.pseudo(len), port);
    let piece = |&(begin, end): &(usize, usize)| {
        let more = if end < data.len() { 0x2000 } else { 0 };
        let fragment = more | (begin / 8) as u16;
        ether(mac, &[], IPV4, &Ip4 { fragment, id: port, ..ip.clone() }.packet(&data[begin..end]))
    };
    cuts.iter().map(piece).collect()
}

fn cut6(mac: [u8; 6], port: u16, cuts: &[(usize, usize)]) -> Vec<Vec<u8>> {
    let ip = Ip6::default();
    let data = syn(|len| ip.pseudo(len), port);
    let piece = |&(begin, end): &(usize, usize)| {
        let more = u16::from(end < data.len());
        let [high, low] = (begin as u16 | more).to_be_bytes();
        let header = [&[0, high, low, 0, 0][..], &port.to_be_bytes()].concat();
        ether(mac, &[], IPV6, &Ip6 { extensions: vec![(44, header)], ..ip.clone() }.packet(&data[begin..end]))
    };
    cuts.iter().map(piece).collect()
}

/// A fragment with this field (offset, and whether more follow) and next header, and so many bytes.
fn fragment6(mac: [u8; 6], port: u16, field: u16, next: u8, len: usize) -> Vec<Vec<u8>> {
    let [high, low] = field.to_be_bytes();
    let header = [&[0, high, low, 0, 0][..], &port.to_be_bytes()].concat();
    let ip = Ip6 { extensions: vec![(44, header)], protocol: next, ..Ip6::default() };
    // Behind the fragment header, as an extension header: one of 32 bytes.
    vec![ether(mac, &[], IPV6, &ip.packet(&[&[6, 3][..], &vec![0; len - 2]].concat()))]
}

fn ping(mac: [u8; 6], to: Ipv4Addr, number: u16) -> Vec<Vec<u8>> {
    let ip = Ip4 { protocol: ICMP, to, ..Ip4::default() };
    vec![ether(mac, &[], IPV4, &ip.packet(&echo(8, |_| Vec::new(), number)))]
}

fn ping6(mac: [u8; 6], to: Ipv6Addr, number: u16) -> Vec<Vec<u8>> {
    let ip = Ip6 { protocol: ICMP6, to, ..Ip6::default() };
    vec![ether(mac, &[], IPV6, &ip.packet(&echo(128, |len| ip.pseudo(len), number)))]
}

/// A destination option of this kind, which nobody knows.
fn option6(mac: [u8; 6], kind: u8, port: u16) -> Vec<Vec<u8>> {
    option6_to(mac, IT6, kind, port)
}

fn option6_to(mac: [u8; 6], to: Ipv6Addr, kind: u8, port: u16) -> Vec<Vec<u8>> {
    let extensions = vec![(60, vec![0, kind, 4, 0, 0, 0, 0])];
    one6(mac, &Ip6 { extensions, to, ..Ip6::default() }, port)
}

/// A packet of another protocol than the program's.
fn other(to: [u8; 6], ip: &Ip4, n: u16) -> Vec<Vec<u8>> {
    vec![ether(to, &[], IPV4, &ip.packet(&datagram(|len| ip.pseudo(len), n)))]
}

fn other6(to: [u8; 6], ip: &Ip6, n: u16) -> Vec<Vec<u8>> {
    vec![ether(to, &[], IPV6, &ip.packet(&datagram(|len| ip.pseudo(len), n)))]
}

const OTHER_MAC: [u8; 6] = [2, 0, 0, 0, 0, 0x99];
const ALL_HOSTS: [u8; 6] = [1, 0, 0x5e, 0, 0, 1];
const ALL_NODES: [u8; 6] = [0x33, 0x33, 0, 0, 0, 1];
const ALL_NODES_IP: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1);
const SUBNET: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 255);
const TAG: u16 = 0x8100;
const SERVICE_TAG: u16 = 0x88a8;
/// The highest priority, and the number of the VLAN: none.
const PRIORITY: u16 = 7 << 13;

use Seen::*;

/// Over IPv4.
pub const IPV4_ROWS: &[Row] = &[
    row("packet of the program's protocol", Taken, |mac, n| one(mac, &Ip4::default(), n)),
    row("frame for another hardware address", Dropped, |_, n| one(OTHER_MAC, &Ip4::default(), n)),
    row("frame with a priority tag (VLAN 0)", Taken, |mac, n| {
        vec![ether(mac, &[(TAG, PRIORITY)], IPV4, &plain(n))]
    }),
    row("frame with a priority service tag (802.1ad)", Taken, |mac, n| {
        vec![ether(mac, &[(SERVICE_TAG, PRIORITY)], IPV4, &plain(n))]
    }),
    row("frame of a VLAN", Dropped, |mac, n| vec![ether(mac, &[(TAG, 100)], IPV4, &plain(n))]),
    row("frame of a service VLAN (802.1ad)", Dropped, |mac, n| {
        vec![ether(mac, &[(SERVICE_TAG, 100)], IPV4, &plain(n))]
    }),
    row("packet to the stack in a broadcast frame", Dropped, |_, n| one(EVERYBODY, &Ip4::default(), n))
        .counted("net_link_group"),
    row("packet to the stack in a multicast frame", Dropped, |_, n| one(ALL_HOSTS, &Ip4::default(), n))
        .counted("net_link_group"),
    row("packet to a broadcast address", Dropped, |_, n| {
        one(EVERYBODY, &Ip4 { to: SUBNET, ..Ip4::default() }, n)
    }),
    row("source 127.0.0.1", Dropped, |mac, n| from(mac, [127, 0, 0, 1], n)).counted("net_bad_source"),
    row("source 0.0.0.0", Dropped, |mac, n| from(mac, [0, 0, 0, 0], n)).counted("net_bad_source"),
    row("source 224.0.0.5", Dropped, |mac, n| from(mac, [224, 0, 0, 5], n)).counted("net_bad_source"),
    row("source 255.255.255.255", Dropped, |mac, n| from(mac, [255; 4], n)).counted("net_bad_source"),
    row("source: the subnet's broadcast address", Dropped, |mac, n| from(mac, [10, 77, 0, 255], n))
        .but_linux(Taken) // unless it filters by reverse paths (rp_filter)
        .counted("net_bad_source"),
    row("source: the stack's own address", Dropped, |mac, n| from(mac, [10, 77, 0, 1], n))
        .counted("net_bad_source"),
    row("fragments", Taken, |mac, n| cut(mac, n, &[(0, 16), (16, 40)])).counted("net_reassembled"),
    row("fragments, the last one first", Taken, |mac, n| cut(mac, n, &[(24, 40), (0, 24)]))
        .counted("net_reassembled"),
    row("fragments, one of them twice", Taken, |mac, n| cut(mac, n, &[(0, 16), (0, 16), (16, 40)]))
        .counted("net_reassembled"),
    row("fragments that overlap", Dropped, |mac, n| cut(mac, n, &[(0, 24), (16, 32), (24, 40)]))
        .counted("net_reassembly_failed"),
    row("one fragment of several", Dropped, |mac, n| cut(mac, n, &[(0, 24)])),
    row("time to live 0", Taken, |mac, n| one(mac, &Ip4 { ttl: 0, ..Ip4::default() }, n)),
    row("an IP option (router alert)", Taken, |mac, n| {
        one(mac, &Ip4 { options: vec![0x94, 4, 0, 0], ..Ip4::default() }, n)
    }),
    row("a version other than 4", Dropped, |mac, n| one(mac, &Ip4 { version: 5, ..Ip4::default() }, n))
        .counted("ip_version"),
    row("a header of less than 20 bytes", Dropped, |mac, n| {
        one(mac, &Ip4 { header_words: Some(4), ..Ip4::default() }, n)
    })
    .counted("ip_length"),
    row("a header that says more bytes than there are", Dropped, |mac, n| {
        one(mac, &Ip4 { longer: 40, ..Ip4::default() }, n)
    })
    .counted("ip_length"),
    row("a wrong checksum of the header", Dropped, |mac, n| {
        one(mac, &Ip4 { damaged: true, ..Ip4::default() }, n)
    })
    .counted("ip_checksum"),
    row("bytes behind the packet", Taken, |mac, n| {
        vec![ether(mac, &[], IPV4, &[&plain(n)[..], &[0xaa; 20]].concat())]
    }),
    row("ICMP echo request", Echo, |mac, n| ping(mac, IT, n)).counted("net_echoes"),
    row("ICMP echo request to a broadcast address", Dropped, |_, n| ping(EVERYBODY, SUBNET, n)),
    row("ICMP echo request in a broadcast frame", Dropped, |_, n| ping(EVERYBODY, IT, n))
        .but_linux(Echo)
        .counted("net_link_group"),
    row("UDP, which the program is not", Unreachable(3), |mac, n| {
        other(mac, &Ip4 { protocol: UDP, ..Ip4::default() }, n)
    })
    .counted("net_icmp_errors"),
    row("another protocol", Unreachable(2), |mac, n| {
        other(mac, &Ip4 { protocol: UNKNOWN, ..Ip4::default() }, n)
    })
    .counted("net_icmp_errors"),
    row("UDP to a broadcast address", Dropped, |_, n| {
        other(EVERYBODY, &Ip4 { protocol: UDP, to: SUBNET, ..Ip4::default() }, n)
    }),
    row("one fragment of UDP", Dropped, |mac, n| {
        other(mac, &Ip4 { protocol: UDP, fragment: 3, ..Ip4::default() }, n)
    }),
    row("ARP request", Address, |_, _| vec![ether(EVERYBODY, &[], ARP, &arp(IT))]),
    row("ARP request to the hardware address", Address, |mac, _| vec![ether(mac, &[], ARP, &arp(IT))]),
    row("ARP request to another hardware address", Dropped, |_, _| {
        vec![ether(OTHER_MAC, &[], ARP, &arp(IT))]
    }),
    row("ARP request for another address", Dropped, |_, _| {
        vec![ether(EVERYBODY, &[], ARP, &arp(Ipv4Addr::new(10, 77, 0, 3)))]
    }),
    row("another EtherType", Dropped, |mac, n| vec![ether(mac, &[], 0x88b5, &plain(n))]),
    row("another version of IP", Dropped, |mac, n| vec![ether(mac, &[], IPV6, &plain6(n))]),
];

/// Over IPv6.
pub const IPV6_ROWS: &[Row] = &[
    row("packet of the program's protocol", Taken, |mac, n| one6(mac, &Ip6::default(), n)),
    row("frame for another hardware address", Dropped, |_, n| one6(OTHER_MAC, &Ip6::default(), n)),
    row("frame with a priority tag (VLAN 0)", Taken, |mac, n| {
        vec![ether(mac, &[(TAG, PRIORITY)], IPV6, &plain6(n))]
    }),
    row("frame of a VLAN", Dropped, |mac, n| vec![ether(mac, &[(TAG, 100)], IPV6, &plain6(n))]),
    row("packet to the stack in a broadcast frame", Dropped, |_, n| one6(EVERYBODY, &Ip6::default(), n))
        .counted("net_link_group"),
    row("packet to the stack in a multicast frame", Dropped, |_, n| one6(ALL_NODES, &Ip6::default(), n))
        .counted("net_link_group"),
    row("packet to all nodes", Dropped, |_, n| {
        one6(ALL_NODES, &Ip6 { to: ALL_NODES_IP, ..Ip6::default() }, n)
    }),
    row("source `::1`", Dropped, |mac, n| from6(mac, "::1", n)).counted("net_bad_source"),
    row("source `::`", Dropped, |mac, n| from6(mac, "::", n)).counted("net_bad_source"),
    row("source `ff02::5`", Dropped, |mac, n| from6(mac, "ff02::5", n)).counted("net_bad_source"),
    row("source `::ffff:10.0.0.9`", Dropped, |mac, n| from6(mac, "::ffff:10.0.0.9", n))
        .counted("net_bad_source"),
    row("source: the stack's own address", Dropped, |mac, n| from6(mac, "fd00:77::1", n))
        .counted("net_bad_source"),
    row("fragments", Taken, |mac, n| cut6(mac, n, &[(0, 24), (24, 40)])).counted("net_reassembled"),
    row("fragments, the last one first", Taken, |mac, n| cut6(mac, n, &[(24, 40), (0, 24)]))
        .counted("net_reassembled"),
    row("fragments, one of them twice", Taken, |mac, n| cut6(mac, n, &[(0, 24), (0, 24), (24, 40)]))
        .counted("net_reassembled"),
    row("fragments that overlap", Dropped, |mac, n| cut6(mac, n, &[(0, 24), (16, 32), (24, 40)]))
        .counted("net_reassembly_failed"),
    row("one fragment of several", Dropped, |mac, n| cut6(mac, n, &[(0, 24)])),
    row("fragment of 20 bytes, not the last one", Parameter(0), |mac, n| cut6(mac, n, &[(0, 20)]))
        .counted("net_reassembly_failed net_icmp_errors"),
    row("fragment that ends beyond 65,535 bytes", Parameter(0), |mac, n| fragment6(mac, n, 65_528, 6, 16))
        .counted("net_reassembly_failed net_icmp_errors"),
    row("fragment in which the headers do not end", Parameter(3), |mac, n| fragment6(mac, n, 1, 60, 8))
        .counted("net_reassembly_failed net_icmp_errors"),
    row("a fragment header of a whole packet", Taken, |mac, n| cut6(mac, n, &[(0, 40)])),
    row("hop limit 0", Taken, |mac, n| one6(mac, &Ip6 { hops: 0, ..Ip6::default() }, n)),
    row("an unknown option to be skipped", Taken, |mac, n| option6(mac, 0x1e, n)),
    row("an unknown option, to be dropped in silence", Dropped, |mac, n| option6(mac, 0x5e, n)),
    row("an unknown option, to be reported", Parameter(2), |mac, n| option6(mac, 0x9e, n))
        .counted("net_icmp_errors"),
    row("an unknown option, to be reported to one", Parameter(2), |mac, n| option6(mac, 0xde, n))
        .counted("net_icmp_errors"),
    row("an unknown option, to be reported, to all nodes", Parameter(2), |_, n| {
        option6_to(ALL_NODES, ALL_NODES_IP, 0x9e, n)
    })
    .but_af_xdp(Dropped)
    .counted("net_icmp_errors"),
    row("an unknown option, to be reported to one, to all nodes", Dropped, |_, n| {
        option6_to(ALL_NODES, ALL_NODES_IP, 0xde, n)
    }),
    row("a version other than 6", Dropped, |mac, n| one6(mac, &Ip6 { version: 5, ..Ip6::default() }, n))
        .counted("ip_version"),
    row("a header that says more bytes than there are", Dropped, |mac, n| {
        one6(mac, &Ip6 { longer: 40, ..Ip6::default() }, n)
    })
    .counted("ip_length"),
    row("bytes behind the packet", Taken, |mac, n| {
        vec![ether(mac, &[], IPV6, &[&plain6(n)[..], &[0xaa; 20]].concat())]
    }),
    row("ICMPv6 echo request", Echo, |mac, n| ping6(mac, IT6, n)).counted("net_echoes"),
    row("ICMPv6 echo request to all nodes", Echo, |_, n| ping6(ALL_NODES, ALL_NODES_IP, n))
        .but_af_xdp(Dropped)
        .counted("net_echoes"),
    row("UDP, which the program is not", Unreachable(4), |mac, n| {
        other6(mac, &Ip6 { protocol: UDP, ..Ip6::default() }, n)
    })
    .counted("net_icmp_errors"),
    row("another next header", Parameter(1), |mac, n| {
        other6(mac, &Ip6 { protocol: UNKNOWN, ..Ip6::default() }, n)
    })
    .counted("net_icmp_errors"),
    row("no next header", Dropped, |mac, n| other6(mac, &Ip6 { protocol: 59, ..Ip6::default() }, n)),
    row("hop-by-hop options behind others", Parameter(1), |mac, n| {
        let padding = vec![0, 1, 4, 0, 0, 0, 0];
        let extensions = vec![(60, padding.clone()), (0, padding)];
        one6(mac, &Ip6 { extensions, ..Ip6::default() }, n)
    })
    .counted("net_icmp_errors"),
    row("a routing header with a segment left", Parameter(0), |mac, n| {
        let extensions = vec![(43, vec![0, 99, 1, 0, 0, 0, 0])];
        one6(mac, &Ip6 { extensions, ..Ip6::default() }, n)
    })
    .counted("net_icmp_errors"),
    row("neighbour solicitation to the hardware address", Address, |mac, _| {
        let ip = Ip6 { protocol: ICMP6, hops: 255, ..Ip6::default() };
        vec![ether(mac, &[], IPV6, &ip.packet(&solicitation(|len| ip.pseudo(len), IT6)))]
    }),
    row("neighbour solicitation from another link (hop limit 254)", Dropped, |mac, _| {
        let ip = Ip6 { protocol: ICMP6, hops: 254, ..Ip6::default() };
        vec![ether(mac, &[], IPV6, &ip.packet(&solicitation(|len| ip.pseudo(len), IT6)))]
    })
    .counted("net_bad_discovery"),
    row("another EtherType", Dropped, |mac, n| vec![ether(mac, &[], 0x88b5, &plain6(n))]),
    row("another version of IP", Dropped, |mac, n| vec![ether(mac, &[], IPV4, &plain(n))]),
];
