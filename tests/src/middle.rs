// SPDX-License-Identifier: MIT OR Apache-2.0
//! Three network namespaces in a row. Those at both ends have the kernel's own stack; that in the middle has two devices and no address.

use std::fs::File;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rustix::net::{AddressFamily, SendFlags, SocketType, ipproto, sendto, socket};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::build::root;
use crate::net::{counter, run, skip, within};
use crate::pattern;
use carrick_ir::NetLayer;

use crate::tcp_segment::{self, Segment};

/// How long the kernel may take to reach a peer.
const PATIENCE: Duration = Duration::from_secs(20);

/// Where something runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Behind the first device of the node.
    Client,
    /// Between both.
    Node,
    /// Behind its second device.
    Server,
}

/// The namespaces, removed when dropped. Every offload is off.
pub struct Middle {
    names: [String; 3],
}

impl Middle {
    /// The devices of the node.
    pub const DEVICES: [&'static str; 2] = ["west0", "east0"];
    /// The client's address.
    pub const CLIENT: &'static str = "10.0.0.3";
    /// The server's: that of [`tcp_segment::CORE`].
    pub const SERVER: &'static str = "10.0.0.1";
    /// The same of IPv6.
    pub const CLIENT_6: &'static str = "fd00::3";
    /// The same of IPv6.
    pub const SERVER_6: &'static str = "fd00::1";

    /// Makes them. `None`, said on standard error, where this machine does not let us.
    pub fn new() -> Option<Middle> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let stem = format!("carrick-m{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let middle = Middle { names: ["c", "n", "s"].map(|place| format!("{stem}-{place}")) };
        middle.set_up().map_err(|why| skip(&why)).ok().map(|()| middle)
    }

    fn set_up(&self) -> Result<(), String> {
        debug_assert_eq!(Self::SERVER.parse(), Ok(std::net::Ipv4Addr::from(tcp_segment::CORE)));
        let [client, node, server] = &self.names;
        let over_ipv6 = Path::new("/proc/sys/net/ipv6").exists();
        for name in &self.names {
            run(Command::new("ip").args(["netns", "add", name]))?;
            within(name, "ip link set lo up")?;
            if over_ipv6 {
                // Nothing but what a test sends.
                within(
                    name,
                    "sysctl -q -w net.ipv6.conf.all.router_solicitations=0 net.ipv6.conf.all.addr_gen_mode=1",
                )?;
                within(name, "sysctl -q -w net.ipv6.conf.default.addr_gen_mode=1")?;
            }
        }
        let ends = [(client, Self::CLIENT, Self::CLIENT_6), (server, Self::SERVER, Self::SERVER_6)];
        for ((name, four, six), device) in ends.into_iter().zip(Self::DEVICES) {
            within(node, &format!("ip link add {device} type veth peer name wire0 netns {name}"))?;
            for (name, device) in [(node, device), (name, "wire0")] {
                within(name, &format!("ethtool -K {device} tso off gso off gro off tx off rx off"))?;
                within(name, &format!("ip link set {device} up"))?;
            }
            within(name, &format!("ip addr add {four}/24 dev wire0"))?;
            if over_ipv6 {
                within(name, &format!("ip addr add {six}/64 dev wire0 nodad"))?;
            }
        }
        Ok(())
    }

    /// The namespace's name.
    pub fn name(&self, place: Place) -> &str {
        &self.names[place as usize]
    }

    /// A command that will run `program` in a namespace.
    pub fn command(&self, place: Place, program: &str) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", self.name(place), program]);
        command
    }

    /// The arguments of a host of the node, with ports of these kinds.
    pub fn ports(kinds: [&str; 2]) -> [String; 4] {
        let [one, other] = [0, 1].map(|at| format!("{}:{}", kinds[at], Self::DEVICES[at]));
        ["--port".into(), one, "--port".into(), other]
    }

    /// Does something with sockets of a namespace, in a thread of its own.
    ///
    /// # Panics
    /// If it does, or if the namespace cannot be entered.
    pub fn inside<T: Send>(&self, place: Place, does: impl FnOnce() -> T + Send) -> T {
        let space = File::open(format!("/run/netns/{}", self.name(place))).expect("the namespace is there");
        let enter = || {
            move_into_link_name_space(space.as_fd(), Some(LinkNameSpaceType::Network))
                .expect("it can be entered");
            does()
        };
        std::thread::scope(|scope| scope.spawn(enter).join().expect("it does not panic"))
    }

    /// The client sends the server 100 KB by the kernels' TCP over IPv6.
    ///
    /// # Panics
    /// If a byte does not arrive.
    pub fn transfer_over_ipv6(&self) {
        let to: IpAddr = Self::SERVER_6.parse().expect("an address");
        let listener = self.inside(Place::Server, || TcpListener::bind((to, 80)).expect("it can be bound"));
        let mut sent = vec![0; 100_000];
        pattern::fill(9, 0, &mut sent);
        let mut near = self.inside(Place::Client, || {
            TcpStream::connect_timeout(&(to, 80).into(), PATIENCE).expect("it is reached")
        });
        let mut got = Vec::new();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                near.write_all(&sent).expect("it is sent");
                drop(near);
            });
            // Only now: if the ACK of the handshake was lost, a proxy with SYN cookies knows of the connection by its data.
            let (mut far, _) = listener.accept().expect("it came");
            far.read_to_end(&mut got).expect("it arrives");
        });
        assert!(got == sent, "{} bytes", got.len());
    }

    /// From now on each end loses one IP frame in so many on average, either way; 0: none (`scripts/enable-veth-redirect`).
    ///
    /// # Panics
    /// If clang does not compile what that needs, or a device does not take it.
    pub fn lose(&self, one_in: u32) {
        let script = root().join("scripts/enable-veth-redirect");
        for place in [Place::Client, Place::Server] {
            let mut command = self.command(place, &script.to_string_lossy());
            let done = command.args(["wire0", &one_in.to_string(), "both"]).status();
            assert!(done.is_ok_and(|status| status.success()), "{place:?}: the device has a program");
        }
    }

    /// A counter of a namespace's kernel, as `/proc/net/snmp` and `/proc/net/netstat` name them.
    pub fn counter(&self, place: Place, group: &str, name: &str) -> u64 {
        counter(self.name(place), group, name)
    }
}

impl Drop for Middle {
    fn drop(&mut self) {
        for name in &self.names {
            // A failure means that it was never made.
            let _ = run(Command::new("ip").args(["netns", "del", name]));
        }
    }
}

/// SYNs to the server's port 80 from an address that answers nothing.
///
/// # Panics
/// If this thread cannot send them.
pub fn flood(count: u16) {
    let raw = socket(AddressFamily::INET, SocketType::RAW, Some(ipproto::RAW)).expect("a raw socket");
    let syn = Segment::read("S 0:0 win 65535").expect("a segment");
    let to = SocketAddrV4::new(Ipv4Addr::from(tcp_segment::CORE), 0);
    for n in 0..count {
        let packet = syn.packet(NetLayer::Ipv4, (1024 + n, 80), (u32::from(n) << 16, 0));
        sendto(&raw, &packet, SendFlags::empty(), &to).expect("it is sent");
    }
}
