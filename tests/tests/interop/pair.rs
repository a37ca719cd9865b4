// SPDX-License-Identifier: MIT OR Apache-2.0
//! The two sides of a scenario.

use std::process::Command;
use std::time::{Duration, Instant};

use carrick_tests::build;
use carrick_tests::net::{End, Net};
use carrick_tests::scripted::Scripted;

/// Who stands in our place.
#[derive(Clone, Copy)]
pub enum Setting {
    /// The kernel: the scenario itself is on trial.
    Control,
    /// The compiled stack, with more arguments for its host.
    Ours(&'static [&'static str]),
    /// The compiled stack with these features, and more arguments for its host.
    Featured(&'static [&'static str], &'static [&'static str]),
    /// Another program with the same interface, compiled likewise, and more arguments for its host.
    Program(&'static str, &'static [&'static str]),
    /// The same behind a router that takes packets of so many bytes to the peer.
    Routed(&'static [&'static str], u32),
    /// The same behind a TUN device.
    Tun(&'static [&'static str]),
    /// The same on devices with all offloads.
    Offloaded(&'static [&'static str]),
    /// The same by AF_XDP.
    AfXdp(&'static [&'static str]),
}

/// Both sides, ready to obey.
pub struct Pair {
    /// The stack under test (or the kernel in its place), at [`Net::OURS`].
    pub ours: Scripted,
    /// The kernel, at [`Net::PEER`].
    pub peer: Scripted,
    /// Declared last: the processes end before their namespaces.
    pub net: Net,
}

/// How long the peer's kernel may take to do what a scenario waits for.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long unacknowledged data is given before an error; short, so that the tests are.
const USER_TIMEOUT_MS: u32 = 3000;
const POLL: Duration = Duration::from_millis(5);
const PROGRAM: &str = "protocols/tcp/tcp.mtp";

impl Pair {
    /// `None` where this machine gives us no namespaces.
    pub fn new(setting: Setting) -> Option<Pair> {
        let net = match setting {
            Setting::Control => Net::kernel_on_both()?,
            Setting::Ours(_) | Setting::Featured(..) | Setting::Program(..) => Net::new()?,
            Setting::Routed(_, mtu) => Net::routed(mtu)?,
            Setting::Tun(_) => Net::tun()?,
            Setting::Offloaded(_) => Net::with_offloads()?,
            Setting::AfXdp(_) => Net::af_xdp()?,
        };
        let peer = Scripted::start("peer", &mut kernel(&net, End::Peer));
        let ours = match setting {
            Setting::Control => {
                let mut kernel = Scripted::start("the kernel in our place", &mut kernel(&net, End::Ours));
                kernel.must(&format!("option user_timeout {USER_TIMEOUT_MS}"), "ok");
                kernel
            }
            Setting::Ours(more) | Setting::Tun(more) | Setting::Offloaded(more) | Setting::AfXdp(more) => {
                Scripted::start("ours", &mut host(&net, PROGRAM, &[], more))
            }
            Setting::Program(program, more) => Scripted::start("ours", &mut host(&net, program, &[], more)),
            Setting::Routed(features, _) => Scripted::start("ours", &mut host(&net, PROGRAM, features, &[])),
            Setting::Featured(features, more) => {
                Scripted::start("ours", &mut host(&net, PROGRAM, features, more))
            }
        };
        Some(Pair { ours, peer, net })
    }

    /// Waits until the peer's kernel has counted at least one of `group`'s `name`, as /proc/net names them.
    pub fn wait_for(&self, group: &str, name: &str) {
        let begin = Instant::now();
        while self.net.counter(End::Peer, group, name) == 0 {
            assert!(begin.elapsed() < PATIENCE, "{group} {name} stays 0");
            std::thread::park_timeout(POLL);
        }
    }

    /// A connection that we opened: ours is the client.
    #[track_caller]
    pub fn open_from_us(&mut self) {
        self.peer.must("listen 80", "ok");
        self.ours.must(&format!("connect {} 80", Net::PEER), "ok");
        self.peer.must("accept", "ok");
    }

    /// A connection that the peer opened.
    #[track_caller]
    pub fn open_from_them(&mut self) {
        self.ours.must("listen 80", "ok");
        self.peer.must(&format!("connect {} 80", Net::OURS), "ok");
        self.ours.must("accept", "ok");
    }

    /// `n` bytes from us to the peer.
    #[track_caller]
    pub fn upload(&mut self, n: u64) {
        self.ours.tell(&format!("send {n} 1"));
        self.peer.must(&format!("recv {n} 1"), &format!("ok {n}"));
        self.ours.answers(&format!("ok {n}"));
    }

    /// `n` bytes from the peer to us.
    #[track_caller]
    pub fn download(&mut self, n: u64) {
        self.peer.tell(&format!("send {n} 2"));
        self.ours.must(&format!("recv {n} 2"), &format!("ok {n}"));
        self.peer.answers(&format!("ok {n}"));
    }
}

fn kernel(net: &Net, end: End) -> Command {
    net.command(end, env!("CARGO_BIN_EXE_peer"))
}

fn host(net: &Net, program: &str, features: &[&str], more: &[&str]) -> Command {
    let exe = build::host_with(program, features);
    let mut command = net.command(End::Ours, &exe.to_string_lossy());
    command.arg("--port").arg(net.port()).arg("--addr").arg(format!("{}/24", Net::OURS));
    command.args(["--app", "script:-"]).args(more);
    command
}
