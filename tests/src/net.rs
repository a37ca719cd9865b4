// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two network namespaces joined by a veth pair, or one with a TUN device.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use carrick_targets::hw;
use rustix::net::{AddressFamily, SocketType, socket};

/// One of the two ends of a [`Net`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Where the stack under test runs.
    Ours,
    /// Where the peer runs.
    Peer,
}

/// A pair of namespaces, removed when dropped. (With a TUN device both ends are in one.)
///
/// The peer's end has the address [`Net::PEER`]; ours has none in the kernel, so that the kernel answers nothing
/// for the stack, unless [`Net::kernel_on_both`] made it.
pub struct Net {
    names: [String; 2],
    /// the kind of port that our end has
    kind: &'static str,
    /// the namespace of a router between both
    router: Option<String>,
}

/// The device's name in either namespace. (Names that begin like a keyword confuse iproute2.)
pub const DEVICE: &str = "wire0";

impl Net {
    /// The address of the stack under test.
    pub const OURS: &'static str = "10.77.0.1";
    /// The address of the peer.
    pub const PEER: &'static str = "10.77.0.2";
    /// The address of another stack, at the peer's end.
    pub const PEER_STACK: &'static str = "10.77.0.3";
    /// The address of the router of [`Net::routed`].
    pub const ROUTER: &'static str = "10.77.0.254";
    /// The address of our end over IPv6, of [`Net::route_ipv6`].
    pub const NEAR: &'static str = "fd00:77::1";
    /// The address of the router's device on our side.
    pub const NEAR_ROUTER: &'static str = "fd00:77::fe";
    const FAR_ROUTER: &'static str = "fd00:78::fe";
    const FAR: &'static str = "fd00:78::2";

    /// Makes the pair, with every offload off so that each packet is one segment with its checksum.
    /// `None`, said on standard error, where this machine does not let us.
    pub fn new() -> Option<Net> {
        Net::pair("packet")
    }

    /// Like [`Net::new`], with every offload, so that frames hold several packets and leave checksums open.
    pub fn with_offloads() -> Option<Net> {
        let net = Net::new()?;
        let switched = net.names.iter().try_for_each(|name| {
            let on = "tx on rx on sg on tso on gso on gro on";
            within(name, &format!("ethtool -K {DEVICE} {on}"))
        });
        switched.map_err(|why| skip(&why)).ok().map(|()| net)
    }

    /// Like [`Net::new`], and our end's port is a socket of AF_XDP.
    pub fn af_xdp() -> Option<Net> {
        Net::pair("xdp")
    }

    fn pair(kind: &'static str) -> Option<Net> {
        let stem = Net::stem();
        let net = Net { names: [format!("{stem}-a"), format!("{stem}-b")], kind, router: None };
        net.set_up().map_err(|why| skip(&why)).ok().map(|()| net)
    }

    /// Makes one namespace whose kernel reaches our end through a TUN device.
    pub fn tun() -> Option<Net> {
        let name = Net::stem();
        let net = Net { names: [name.clone(), name], kind: "tun", router: None };
        net.set_up_tun().map_err(|why| skip(&why)).ok().map(|()| net)
    }

    /// Like [`Net::new`], with a router between both ends that forwards packets of at most `mtu` bytes to the peer, and
    /// reports longer ones. Both ends' devices take 1500 bytes.
    pub fn routed(mtu: u32) -> Option<Net> {
        let stem = Net::stem();
        let names = [format!("{stem}-a"), format!("{stem}-b")];
        let net = Net { names, kind: "packet", router: Some(format!("{stem}-r")) };
        net.set_up_router(mtu).map_err(|why| skip(&why)).ok().map(|()| net)
    }

    fn stem() -> String {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        format!("carrick-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
    }

    /// Our end's port, as the stack's host takes it.
    pub fn port(&self) -> String {
        format!("{}:{DEVICE}", self.kind)
    }

    /// Like [`Net::new`], with the kernel's own stack at our end too: what a test expects of the
    /// stack is first held against the kernel.
    pub fn kernel_on_both() -> Option<Net> {
        let net = Net::new()?;
        net.ip(End::Ours, &format!("addr add {}/24 dev {DEVICE}", Net::OURS)).ok()?;
        Some(net)
    }

    /// Gives an end's kernel an IPv6 address, of a network of 64 bits. The other end's kernel stays without IPv6.
    ///
    /// # Errors
    /// What `ip` said.
    pub fn take_ipv6(&self, end: End, address: &str) -> Result<(), String> {
        self.sysctl(end, &format!("net.ipv6.conf.{DEVICE}.disable_ipv6=0"))?;
        self.ip(end, &format!("addr add {address}/64 dev {DEVICE} nodad"))
    }

    /// Gives both ends of [`Net::routed`] a network of IPv6 each, with the router between them. The peer's kernel has
    /// an address in its network and a route to ours; our end's has none, unless the test gives it one.
    ///
    /// # Errors
    /// What `ip` said; a kernel without IPv6 among others.
    pub fn route_ipv6(&self, mtu: u32) -> Result<(), String> {
        let router = self.router.as_deref().unwrap_or_default();
        for (device, near) in [("wire0", Net::NEAR_ROUTER), ("wire1", Net::FAR_ROUTER)] {
            within(router, &format!("sysctl -q -w net.ipv6.conf.{device}.disable_ipv6=0"))?;
            within(router, &format!("ip addr add {near}/64 dev {device} nodad"))?;
        }
        within(router, "sysctl -q -w net.ipv6.conf.all.forwarding=1")?;
        within(router, &format!("ip route add {}/128 dev wire1 mtu lock {mtu}", Net::FAR))?;
        self.take_ipv6(End::Peer, Net::FAR)?;
        self.ip(End::Peer, &format!("route add default via {}", Net::FAR_ROUTER))
    }

    /// Lets the router's device on our side take frames from programs in the kernel.
    ///
    /// # Errors
    /// What `ethtool` said.
    pub fn router_takes_redirected(&self) -> Result<(), String> {
        within(self.router.as_deref().unwrap_or_default(), "ethtool -K wire0 gro on")
    }

    /// The namespace's name.
    pub fn name(&self, end: End) -> &str {
        &self.names[end as usize]
    }

    /// A command that will run `program` in a namespace.
    pub fn command(&self, end: End, program: &str) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", self.name(end), program]);
        command
    }

    /// Runs `ip -n NAMESPACE ARGS`; the error is what it said.
    pub fn ip(&self, end: End, args: &str) -> Result<(), String> {
        run(Command::new("ip").arg("-n").arg(self.name(end)).args(args.split(' ')))
    }

    /// Sets a kernel parameter in a namespace, for example `net.ipv4.tcp_timestamps=0`.
    pub fn sysctl(&self, end: End, setting: &str) -> Result<(), String> {
        run(self.command(end, "sysctl").args(["-q", "-w", setting]))
    }

    /// A counter of a namespace's kernel, as `/proc/net/snmp` and `/proc/net/netstat` name them; 0 if there is none.
    pub fn counter(&self, end: End, group: &str, name: &str) -> u64 {
        counter(self.name(end), group, name)
    }

    /// What an end's device counts: `tx_packets`, for example, one frame of several packets once.
    ///
    /// # Panics
    /// If it cannot be read.
    pub fn device_counter(&self, end: End, name: &str) -> u64 {
        let file = format!("/sys/class/net/{DEVICE}/statistics/{name}");
        let read = self.command(end, "cat").arg(file).output().expect("cat starts");
        String::from_utf8_lossy(&read.stdout).trim().parse().expect("a number")
    }

    /// What [`Net::counter`] is, of the router of [`Net::routed`].
    pub fn router_counter(&self, group: &str, name: &str) -> u64 {
        counter(self.router.as_deref().unwrap_or_default(), group, name)
    }

    /// The same of IPv6, as `/proc/net/snmp6` names it.
    pub fn router_counter_6(&self, name: &str) -> u64 {
        let router = self.router.as_deref().unwrap_or_default();
        let output = Command::new("ip").args(["netns", "exec", router, "cat", "/proc/net/snmp6"]).output();
        let text = output.map(|o| String::from_utf8_lossy(&o.stdout).into_owned()).unwrap_or_default();
        let line = text.lines().find(|line| line.split_whitespace().next() == Some(name));
        line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok()).unwrap_or(0)
    }

    /// Takes the wire up or down, as seen from one end.
    pub fn link(&self, end: End, up: bool) -> Result<(), String> {
        self.ip(end, &format!("link set {DEVICE} {}", if up { "up" } else { "down" }))
    }

    /// Deletes the wire, as seen from our end.
    ///
    /// # Errors
    /// What `ip` said.
    pub fn delete_wire(&self) -> Result<(), String> {
        self.ip(End::Ours, &format!("link del {DEVICE}"))
    }

    /// Makes the wire of [`Net::kernel_on_both`] again, which was deleted.
    ///
    /// # Errors
    /// What `ip` or `ethtool` said.
    pub fn make_wire_again(&self) -> Result<(), String> {
        self.join()?;
        self.ip(End::Ours, &format!("addr add {}/24 dev {DEVICE}", Net::OURS))
    }

    fn set_up_tun(&self) -> Result<(), String> {
        run(Command::new("ip").args(["netns", "add", self.name(End::Peer)]))?;
        without_ipv6(self.name(End::Peer))?;
        self.ip(End::Peer, &format!("tuntap add dev {DEVICE} mode tun"))?;
        self.ip(End::Peer, &format!("addr add {}/24 dev {DEVICE}", Net::PEER))?;
        self.link(End::Peer, true)
    }

    fn set_up_router(&self, mtu: u32) -> Result<(), String> {
        let router = self.router.as_deref().unwrap_or_default();
        for name in self.names.iter().map(String::as_str).chain([router]) {
            run(Command::new("ip").args(["netns", "add", name]))?;
            run(Command::new("ip").args(["-n", name, "link", "set", "lo", "up"]))?;
            without_ipv6(name)?;
            within(name, "sysctl -q -w net.ipv4.ip_forward=1")?;
        }
        for (end, device, address) in [(End::Ours, "wire0", Net::OURS), (End::Peer, "wire1", Net::PEER)] {
            self.ip(end, &format!("link add {DEVICE} type veth peer name {device} netns {router}"))?;
            for (name, device) in [(self.name(end), DEVICE), (router, device)] {
                within(name, &format!("ethtool -K {device} tso off gso off gro off tx off rx off"))?;
                within(name, &format!("ip link set {device} up"))?;
            }
            // It answers for the other end, which seems to be on the same link.
            within(
                router,
                &format!(
                    "sysctl -q -w net.ipv4.conf.{device}.proxy_arp=1 net.ipv4.neigh.{device}.proxy_delay=0"
                ),
            )?;
            let narrow = if end == End::Peer { format!(" mtu lock {mtu}") } else { String::new() };
            within(router, &format!("ip route add {address}/32 dev {device}{narrow}"))?;
        }
        within(router, &format!("ip addr add {}/32 dev lo", Net::ROUTER))?;
        self.ip(End::Peer, &format!("addr add {}/24 dev {DEVICE}", Net::PEER))
    }

    fn set_up(&self) -> Result<(), String> {
        for name in &self.names {
            run(Command::new("ip").args(["netns", "add", name]))?;
            run(Command::new("ip").args(["-n", name, "link", "set", "lo", "up"]))?;
        }
        self.join()
    }

    /// Makes the wire.
    fn join(&self) -> Result<(), String> {
        let [ours, peer] = &self.names;
        self.ip(End::Ours, &format!("link add {DEVICE} type veth peer name {DEVICE} netns {peer}"))?;
        for name in [ours, peer] {
            without_ipv6(name)?;
            run(Command::new("ip")
                .args(["netns", "exec", name, "ethtool", "-K", DEVICE])
                .args("tso off gso off gro off tx off rx off".split(' ')))?;
        }
        self.ip(End::Peer, &format!("addr add {}/24 dev {DEVICE}", Net::PEER))?;
        self.link(End::Ours, true)?;
        self.link(End::Peer, true)
    }
}

impl Drop for Net {
    fn drop(&mut self) {
        for name in self.names.iter().chain(&self.router) {
            // A failure means that it was never made.
            let _ = run(Command::new("ip").args(["netns", "del", name]));
        }
    }
}

/// Says on standard error, past the test harness's capture, that a test did not run.
pub fn skip(why: &str) {
    use std::io::Write;
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    let _ = writeln!(std::io::stderr(), "SKIPPED {test}: {why}");
}

/// Whether this machine lacks a program that a test needs, which is then said as [`skip`] does.
pub fn lacks(program: &str) -> bool {
    let found = Command::new("sh").args(["-c", "command -v \"$1\"", "sh", program]).output();
    let lacks = !found.is_ok_and(|found| found.status.success());
    if lacks {
        skip(&format!("{program} is not installed"));
    }
    lacks
}

/// Whether this machine's kernel has no IPv6, which is then said as [`skip`] does.
pub fn lacks_ipv6() -> bool {
    let lacks = socket(AddressFamily::INET6, SocketType::DGRAM, None).is_err();
    if lacks {
        skip("the kernel of this machine has no IPv6");
    }
    lacks
}

/// Keeps IPv6 out of a namespace: its own chatter would be noise in captures. A kernel without IPv6 has none.
fn without_ipv6(name: &str) -> Result<(), String> {
    if !Path::new("/proc/sys/net/ipv6").exists() {
        return Ok(());
    }
    within(name, "sysctl -q -w net.ipv6.conf.all.disable_ipv6=1")
}

/// Whether this machine lacks one of these programs, or something else that is installed as `advice` says; that is then said.
pub fn lacks_any(programs: &[&str], there: impl FnOnce() -> bool, advice: &str) -> bool {
    if programs.iter().any(|program| lacks(program)) {
        return true;
    }
    let there = there();
    if !there {
        skip(advice);
    }
    !there
}

/// Whether this machine lacks what makes and simulates circuits; that is then said.
pub fn lacks_circuits() -> bool {
    let advice = "XLS is not installed (scripts/setup installs it)";
    lacks_any(&["verilator", "c++", "make"], || hw::library().exists(), advice)
}

/// A counter of a namespace's kernel.
pub(crate) fn counter(namespace: &str, group: &str, name: &str) -> u64 {
    let files = ["/proc/net/snmp", "/proc/net/netstat"];
    let output = Command::new("ip").args(["netns", "exec", namespace, "cat"]).args(files).output();
    let text = output.map(|o| String::from_utf8_lossy(&o.stdout).into_owned()).unwrap_or_default();
    let mut lines = text.lines().filter_map(|l| l.strip_prefix(group)?.strip_prefix(": "));
    let (Some(names), Some(values)) = (lines.next(), lines.next()) else { return 0 };
    let mut columns = names.split(' ').zip(values.split(' '));
    columns.find(|&(n, _)| n == name).and_then(|(_, v)| v.parse().ok()).unwrap_or(0)
}

/// Runs the words of a command in a namespace.
pub(crate) fn within(name: &str, words: &str) -> Result<(), String> {
    run(Command::new("ip").args(["netns", "exec", name]).args(words.split(' ')))
}

pub(crate) fn run(command: &mut Command) -> Result<(), String> {
    let shown = format!("{command:?}");
    let output = command.output().map_err(|e| format!("{shown}: {e}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{shown}: {}", String::from_utf8_lossy(&output.stderr).trim()))
}
