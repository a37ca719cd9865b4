// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs in the kernel at our end of a [`Net`], and what is asked of them from the other one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::build::{carrick, root};
use crate::net::{DEVICE, End, Net};

/// Sends each number in a packet of protocol 253 and prints the answers; the first one only makes the context. Then it asks
/// what the kernel's own stack answers: that nobody has this port.
pub const ASK: &str = "
import socket, struct, sys
peer = sys.argv[1]
s = socket.socket(socket.AF_INET, socket.SOCK_RAW, 253)
s.settimeout(10)
for n in [int(n) for n in sys.argv[2:]]:
    s.sendto(struct.pack('!I', n), (peer, 0))
    if n:
        print(struct.unpack('!I', s.recv(2000)[20:24])[0], flush=True)
try:
    socket.create_connection((peer, 9), 10)
except ConnectionRefusedError:
    print('refused', flush=True)
";

/// Lets frames that a program sends back come to the peer (`scripts/enable-veth-redirect`).
///
/// # Panics
/// If clang does not compile what that needs, or the device does not take it.
pub fn enable_veth_redirect(net: &Net) {
    enable_veth_redirect_but(net, 0);
}

/// The same, but for one IP frame in so many on average, which is lost, either way; 0: none is.
///
/// # Panics
/// As [`enable_veth_redirect`].
pub fn enable_veth_redirect_but(net: &Net, lost: u32) {
    let script = root().join("scripts/enable-veth-redirect");
    let done =
        net.command(End::Peer, &script.to_string_lossy()).args([DEVICE, &lost.to_string(), "both"]).status();
    assert!(done.is_ok_and(|s| s.success()), "the peer's device has a program");
}

/// `carrick run` of a program in the kernel at our end, with nothing said yet of what uses it.
pub fn run_in_kernel(net: &Net, program: &Path) -> Command {
    run_in_kernel_with(net, program, &[])
}

/// The same of a program with features: options of `carrick run`.
pub fn run_in_kernel_with(net: &Net, program: &Path, features: &[&str]) -> Command {
    let mut command = net.command(End::Ours, &carrick().to_string_lossy());
    // What is compiled meanwhile depends on what this machine has kept.
    command.args(["run", "--quiet"]).arg(program).args(features).args(["--target", "xdp", "--port", DEVICE]);
    command.args(["--addr", &format!("{}/24", Net::OURS)]);
    command
}

/// The least program, whose answers come from the address that was asked, in a folder.
///
/// # Panics
/// If the folder is not writable.
pub fn answering(dir: &Path) -> PathBuf {
    let least = fs::read_to_string(root().join("tests/programs/least.mtp")).expect("readable");
    let answering =
        least.replace("answer.n = c.count;", "answer.n = c.count; answer.net.src_ip = c.id.local_ip;");
    assert_ne!(answering, least);
    let path = dir.join("least.mtp");
    fs::write(&path, answering).expect("writable");
    path
}

/// A BPF file system that goes with its test, and with it all that is pinned there.
pub struct Pins(PathBuf);

impl Pins {
    /// Makes the folder, and mounts it there.
    ///
    /// # Panics
    /// If that does not go.
    pub fn new(at: PathBuf) -> Pins {
        fs::create_dir(&at).expect("writable");
        let mounted = Command::new("mount").args(["-t", "bpf", "bpf"]).arg(&at).status();
        assert!(mounted.is_ok_and(|s| s.success()), "a BPF file system is mounted");
        Pins(at)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Pins {
    fn drop(&mut self) {
        // Whoever still looks into it does so until its end.
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}
