// SPDX-License-Identifier: MIT OR Apache-2.0
//! A bulk transfer between two sockets of smoltcp over its loopback device, in one thread: the yardstick for
//! the memory port. Prints one JSON line.
//!
//! Usage: `bench-smoltcp [MEGABYTES] [BUFFER_KIB] [checksums|plain]`. smoltcp's loopback device leaves out all
//! checksums (`plain`); `checksums` makes and verifies them, as every packet on a wire needs.

use std::time::Instant as Wall;

use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{ChecksumCapabilities, Device, DeviceCapabilities, Loopback, Medium, TxToken};
use smoltcp::socket::tcp;
use smoltcp::time::Instant;
use smoltcp::wire::{HardwareAddress, IpAddress, IpCidr};

/// Bytes of an IP packet, as on Ethernet.
const MTU: usize = 1500;
/// Bytes of a packet without data, at most.
const HEADERS_AT_MOST: usize = 20 + 60;
const PORT: u16 = 5001;

/// smoltcp's `Loopback` with an Ethernet MTU and a count of the packets with data.
struct Counted {
    inner: Loopback,
    packets: u64,
    checksums: bool,
}

struct CountedTx<'a> {
    inner: <Loopback as Device>::TxToken<'a>,
    packets: &'a mut u64,
}

impl TxToken for CountedTx<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, len: usize, f: F) -> R {
        *self.packets += u64::from(len > HEADERS_AT_MOST);
        self.inner.consume(len, f)
    }
}

impl Device for Counted {
    type RxToken<'a> = <Loopback as Device>::RxToken<'a>;
    type TxToken<'a> = CountedTx<'a>;

    fn receive(&mut self, now: Instant) -> Option<(Self::RxToken<'_>, Self::TxToken<'_>)> {
        let packets = &mut self.packets;
        self.inner.receive(now).map(|(rx, inner)| (rx, CountedTx { inner, packets }))
    }

    fn transmit(&mut self, now: Instant) -> Option<Self::TxToken<'_>> {
        let packets = &mut self.packets;
        self.inner.transmit(now).map(|inner| CountedTx { inner, packets })
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut caps = self.inner.capabilities();
        caps.max_transmission_unit = MTU;
        if self.checksums {
            caps.checksum = ChecksumCapabilities::default();
        }
        caps
    }
}

struct Bench {
    device: Counted,
    iface: Interface,
    sockets: SocketSet<'static>,
    server: SocketHandle,
    client: SocketHandle,
    start: Wall,
}

impl Bench {
    fn new(buffer: usize, checksums: bool) -> Self {
        let mut device = Counted { inner: Loopback::new(Medium::Ip), packets: 0, checksums };
        let mut iface = Interface::new(Config::new(HardwareAddress::Ip), &mut device, Instant::ZERO);
        let address = IpAddress::v4(127, 0, 0, 1);
        iface.update_ip_addrs(|list| list.push(IpCidr::new(address, 8)).expect("room for one address"));
        let socket = || {
            let ring = || tcp::SocketBuffer::new(vec![0; buffer]);
            tcp::Socket::new(ring(), ring())
        };
        let mut sockets = SocketSet::new(Vec::new());
        let server = sockets.add(socket());
        let client = sockets.add(socket());
        sockets.get_mut::<tcp::Socket>(server).listen(PORT).expect("listen");
        sockets
            .get_mut::<tcp::Socket>(client)
            .connect(iface.context(), (address, PORT), 49152)
            .expect("connect");
        Bench { device, iface, sockets, server, client, start: Wall::now() }
    }

    fn poll(&mut self) {
        let now = Instant::from_micros(self.start.elapsed().as_micros() as i64);
        self.iface.poll(now, &mut self.device, &mut self.sockets);
    }

    /// Moves `total` bytes and returns the seconds from the first `send` to the last `recv`.
    fn run(&mut self, total: usize, chunk: &mut [u8]) -> f64 {
        let (mut sent, mut received) = (0, 0);
        let begin = Wall::now();
        while received < total {
            self.poll();
            let client = self.sockets.get_mut::<tcp::Socket>(self.client);
            while sent < total && client.can_send() {
                let want = chunk.len().min(total - sent);
                sent += client.send_slice(&chunk[..want]).expect("send");
            }
            let server = self.sockets.get_mut::<tcp::Socket>(self.server);
            while server.can_recv() {
                received += server.recv_slice(chunk).expect("recv");
            }
        }
        begin.elapsed().as_secs_f64()
    }
}

fn main() {
    let mut args = std::env::args().skip(1);
    let megabytes: usize = args.next().map_or(1000, |a| a.parse().expect("MEGABYTES is a number"));
    let kib: usize = args.next().map_or(256, |a| a.parse().expect("BUFFER_KIB is a number"));
    let checksums = args.next().is_none_or(|a| a != "plain");
    let total = megabytes * 1_000_000;
    let mut bench = Bench::new(kib * 1024, checksums);
    let mut chunk = vec![0x5a; 64 * 1024];
    bench.run(1_000_000, &mut chunk);
    let before = bench.device.packets;
    let seconds = bench.run(total, &mut chunk);
    let packets = bench.device.packets - before;
    println!(
        "{{\"what\":\"smoltcp-loopback\",\"mtu\":{MTU},\"bytes\":{total},\"checksums\":{checksums},\"buffer\":{},\"seconds\":{seconds:.6},\
         \"payload_gbps\":{:.3},\"packets\":{packets},\"ns_per_packet\":{:.1}}}",
        kib * 1024,
        total as f64 * 8.0 / seconds / 1e9,
        seconds * 1e9 / packets as f64,
    );
}
