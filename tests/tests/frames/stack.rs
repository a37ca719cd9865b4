// SPDX-License-Identifier: MIT OR Apache-2.0
//! Stacks at one end of a wire, and a sender of any frames at its other end.

use carrick_tests::build::{host, host_with, root};
use carrick_tests::net::{DEVICE, End, Net};
use carrick_tests::running::{Running, saying};
use carrick_tests::scripted::Scripted;

use crate::packets::*;
use crate::table::{Row, Seen};

const PROGRAM: &str = "protocols/tcp/tcp.mtp";
/// The first port that probes are sent from. What shows that a probe has been dealt with has the next one.
pub const FIRST_PORT: u16 = 20_000;

/// The version of the Internet Protocol, by its EtherType.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Version(pub u16);

/// A stack with the address [`IT`] or [`IT6`].
pub struct Stack {
    version: Version,
    pub mac: [u8; 6],
    wire: Scripted,
    process: Option<(Running, Box<dyn Iterator<Item = String> + Send>)>,
    pub net: Net,
}

impl Stack {
    /// The kernel's own.
    pub fn linux(version: Version) -> Option<Stack> {
        let net = if version.0 == IPV6 { Net::new()? } else { Net::kernel_on_both()? };
        net.sysctl(End::Ours, "net.ipv4.icmp_ratelimit=0").ok()?;
        if version.0 == IPV6 {
            net.take_ipv6(End::Ours, Net::NEAR).ok()?;
            net.sysctl(End::Ours, "net.ipv6.icmp.ratelimit=0").ok()?;
        }
        Some(Stack::at(net, version, None))
    }

    /// A native stack, on the port of its end.
    pub fn native(net: Net, version: Version) -> Option<Stack> {
        let six = version.0 == IPV6;
        let host = if six { host_with(PROGRAM, &["--over", "ipv6"]) } else { host(PROGRAM) };
        let address = if six { format!("{}/64", Net::NEAR) } else { format!("{}/24", Net::OURS) };
        let mut command = net.command(End::Ours, &host.to_string_lossy());
        command.args(["--port", &net.port(), "--addr", &address, "--app", "echo:7"]);
        let (running, lines) = saying(&mut command, "listening on port 7");
        Some(Stack::at(net, version, Some((running, Box::new(lines)))))
    }

    /// One that runs, at our end of a wire.
    pub fn at(
        net: Net,
        version: Version,
        process: Option<(Running, Box<dyn Iterator<Item = String> + Send>)>,
    ) -> Stack {
        let mut cat = net.command(End::Ours, "cat");
        let said = cat.arg(format!("/sys/class/net/{DEVICE}/address")).output().expect("cat runs");
        let text = String::from_utf8_lossy(&said.stdout);
        let octets = text.trim().split(':').map(|part| u8::from_str_radix(part, 16).expect("a byte"));
        let mac = octets.collect::<Vec<_>>().try_into().expect("six bytes");
        let mut python = net.command(End::Peer, "python3");
        let script = root().join("tests/tests/frames/wire.py");
        let mut wire = Scripted::start("wire", python.arg("-u").arg(script).arg(DEVICE));
        assert_eq!(wire.answer(), "here");
        Stack { version, mac, wire, process, net }
    }

    /// What is seen after the frames of a row: all that the stack sends until it answers a packet that is sent behind them.
    pub fn shows(&mut self, row: &Row, n: usize) -> Vec<Seen> {
        let port = FIRST_PORT + 2 * n as u16;
        for frame in (row.frames)(self.mac, port) {
            self.send(&frame);
        }
        self.send(&self.behind(port + 1));
        let mut seen = Vec::new();
        loop {
            let frame = self.received();
            match self.understood(&frame, port) {
                Some((_, true)) => break,
                Some((what, false)) => seen.push(what),
                None => {}
            }
        }
        if seen.is_empty() {
            seen.push(Seen::Dropped);
        }
        seen
    }

    /// Ends it; what it said. `None`: it is the kernel's.
    pub fn end(self) -> Option<Vec<String>> {
        let (running, lines) = self.process?;
        running.end();
        Some(lines.collect())
    }

    pub fn send(&mut self, frame: &[u8]) {
        let text: String = frame.iter().map(|byte| format!("{byte:02x}")).collect();
        self.wire.tell(&text);
    }

    pub fn received(&mut self) -> Vec<u8> {
        let text = self.wire.answer();
        let pairs = text.as_bytes().chunks(2);
        pairs
            .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).expect("ASCII"), 16).expect("a byte"))
            .collect()
    }

    fn behind(&self, port: u16) -> Vec<u8> {
        if self.version.0 == IPV6 {
            let ip = Ip6::default();
            return ether(self.mac, &[], IPV6, &ip.packet(&syn(|len| ip.pseudo(len), port)));
        }
        let ip = Ip4::default();
        ether(self.mac, &[], IPV4, &ip.packet(&syn(|len| ip.pseudo(len), port)))
    }

    /// What a frame of the stack is, and whether it answers the packet behind the probe. Questions for our hardware address are
    /// answered.
    pub fn understood(&mut self, frame: &[u8], port: u16) -> Option<(Seen, bool)> {
        let (head, packet) = frame.split_at_checked(14)?;
        if head[6..12] != self.mac {
            return None;
        }
        let kind = u16::from_be_bytes([head[12], head[13]]);
        match kind {
            ARP => self.arp(packet).map(|seen| (seen, false)),
            IPV4 if packet[9] == ICMP => icmp(&packet[20..]).map(|seen| (seen, false)),
            IPV4 if packet[9] == TCP => reset(&packet[20..], port),
            IPV6 if packet[6] == ICMP6 => self.icmp6(&packet[40..]).map(|seen| (seen, false)),
            IPV6 if packet[6] == TCP => reset(&packet[40..], port),
            _ => None,
        }
    }

    fn arp(&mut self, arp: &[u8]) -> Option<Seen> {
        if arp[7] == 1 && arp[24..28] == ME.octets() {
            self.send(&ether(self.mac, &[], ARP, &arp_reply(IT, self.mac)));
        }
        (arp[7] == 2 && arp[24..28] == ME.octets()).then_some(Seen::Address)
    }

    fn icmp6(&mut self, message: &[u8]) -> Option<Seen> {
        match message[0] {
            1 => Some(Seen::Unreachable(message[1])),
            4 => Some(Seen::Parameter(message[1])),
            129 => Some(Seen::Echo),
            135 if message[8..24] == ME6.octets() => {
                let ip = Ip6 { protocol: ICMP6, hops: 255, ..Ip6::default() };
                let answer = ip.packet(&advertisement(|len| ip.pseudo(len)));
                self.send(&ether(self.mac, &[], IPV6, &answer));
                None
            }
            136 => Some(Seen::Address),
            _ => None,
        }
    }
}

fn icmp(message: &[u8]) -> Option<Seen> {
    match message[0] {
        0 => Some(Seen::Echo),
        3 => Some(Seen::Unreachable(message[1])),
        _ => None,
    }
}

/// A segment to a port of a row, or to that of the packet behind it.
fn reset(segment: &[u8], port: u16) -> Option<(Seen, bool)> {
    const RST: u8 = 4;
    let to = u16::from_be_bytes([segment[2], segment[3]]);
    (segment[13] & RST != 0 && (to == port || to == port + 1)).then_some((Seen::Taken, to == port + 1))
}
