// SPDX-License-Identifier: MIT OR Apache-2.0
//! A client behind a box that translates addresses and forgets which it gave (RFC 9000 §9, §9.3.3): two stacks, and the box
//! between them, which is this test.

use std::net::Shutdown;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use carrick_tests::build::host;
use carrick_tests::scripted::{Scripted, exchange};

use crate::native::{connect, stream};
use crate::wire::{Heard, Packet, datagram, marked};

const PROGRAM: &str = "protocols/quic-lite/quic-lite.mtp";
pub const SERVER: (u32, u16) = (0x0a00_0001, 99);
pub const CLIENT: u32 = 0x0a00_0002;
/// Packets of the client's until the box gives it another address.
const KEEPS: usize = 300;

type Address = (u32, u16);

/// What both directions of the box share.
#[derive(Default)]
struct Binding {
    /// the client's own address; what it is outside
    inside: Option<Address>,
    outside: Option<Address>,
    since: usize,
    /// all that passed, with the addresses of outside
    passed: Vec<Packet>,
}

impl Binding {
    /// Where the client's packet comes from, as the server sees it: now and then another port, every third time another host.
    fn outwards(&mut self, inside: Address) -> Address {
        self.inside = Some(inside);
        self.since += 1;
        let (ip, port) = self.outside.unwrap_or((0x0a00_0100, 7000));
        let next = if port % 3 == 2 { (ip + 1, port + 1) } else { (ip, port + 1) };
        let kept = self.outside.is_some() && self.since < KEEPS;
        if !kept {
            self.since = 0;
        }
        *self.outside.insert(if kept { (ip, port) } else { next })
    }
}

/// The same datagram, between other ends.
fn between(ip: &[u8], from: Address, to: Address) -> Vec<u8> {
    marked(datagram(from, to, &ip[28..]), ip[1])
}

fn ends(ip: &[u8]) -> (Address, Address) {
    let word = |at: usize| u32::from_be_bytes(ip[at..at + 4].try_into().expect("four octets"));
    let ports = word(20);
    ((word(12), (ports >> 16) as u16), (word(16), ports as u16))
}

struct Relay {
    sockets: [UnixDatagram; 2],
    threads: Vec<JoinHandle<()>>,
    binding: Arc<Mutex<Binding>>,
}

impl Relay {
    fn new(folder: &Path) -> Relay {
        let bind = |name: &str| UnixDatagram::bind(folder.join(name)).expect("a socket");
        let sockets = [bind("inside"), bind("outside")];
        let binding = Arc::new(Mutex::new(Binding::default()));
        let thread = |from: usize, to: PathBuf| {
            let [from, out] = [from, 1 - from].map(|at| sockets[at].try_clone().expect("a socket"));
            let binding = Arc::clone(&binding);
            std::thread::spawn(move || Relay::pass(&from, &out, &to, &binding))
        };
        let threads = vec![thread(0, folder.join("server")), thread(1, folder.join("client"))];
        Relay { sockets, threads, binding }
    }

    /// Hands on what comes, until the socket is shut.
    fn pass(from: &UnixDatagram, out: &UnixDatagram, to: &Path, binding: &Mutex<Binding>) {
        let mut room = vec![0; 65536];
        while let Ok(len) = from.recv(&mut room).map_err(drop) {
            if len == 0 {
                return;
            }
            let packet = Relay::translated(&room[..len], &mut binding.lock().expect("nobody panicked"));
            // What the box has forgotten is lost, and so is what goes to a stack that is not there yet.
            if let Some(packet) = packet {
                let _ = out.send_to(&packet, to);
            }
        }
    }

    fn translated(ip: &[u8], binding: &mut Binding) -> Option<Vec<u8>> {
        let (from, to) = ends(ip);
        if to == SERVER {
            let packet = between(ip, binding.outwards(from), to);
            binding.passed.push(Packet::read(&packet));
            return Some(packet);
        }
        binding.passed.push(Packet::read(ip));
        (binding.outside == Some(to)).then(|| between(ip, from, binding.inside.expect("it has spoken")))
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        for socket in &self.sockets {
            let _ = socket.shutdown(Shutdown::Both);
        }
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// A stack with the same key whenever it is started.
pub fn stack(folder: &Path, who: &'static str, beside: &str, address: u32) -> Scripted {
    let [own, other] = [who, beside].map(|name| folder.join(name).display().to_string());
    let address = std::net::Ipv4Addr::from(address);
    let mut command = Command::new(host(PROGRAM));
    command.args(["--port", &format!("unix:{own}:{other}"), "--addr", &format!("{address}/24")]);
    Scripted::start(who, command.args(["--app", "script:-", "--seed", "1"]))
}

#[test]
fn a_connection_goes_on_wherever_its_client_seems_to_be() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let mut server = stack(folder, "server", "outside", SERVER.0);
    server.must("listen 99", "ok");
    let relay = Relay::new(folder);
    let mut client = stack(folder, "client", "inside", CLIENT);
    connect(&mut client, &mut server);
    stream(&mut client, &mut server);
    for _ in 0..5 {
        exchange(&mut client, &mut server, 500_000);
    }
    let binding = relay.binding.lock().expect("nobody panicked");
    let mut addresses: Vec<Address> = Vec::new();
    for packet in binding.passed.iter().filter(|packet| packet.to == SERVER) {
        if addresses.last() != Some(&packet.from) {
            addresses.push(packet.from);
        }
    }
    assert!(addresses.len() > 4, "{addresses:?}");
    for address in &addresses[1..addresses.len() - 1] {
        let there = |packet: &&Packet| packet.to == *address || packet.from == *address;
        let said: Vec<Heard> = binding.passed.iter().filter(there).flat_map(Packet::heard).collect();
        let asked = said.iter().find_map(|heard| match heard {
            Heard::Challenge(nonce) => Some(*nonce),
            _ => None,
        });
        let asked = asked.unwrap_or_else(|| panic!("{address:?} was not asked"));
        assert!(said.contains(&Heard::Response(asked)), "{address:?} did not answer");
    }
}
