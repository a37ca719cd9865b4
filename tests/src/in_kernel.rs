//! Programs in the kernel at our end of a [`Net`], and what is asked of them from the other one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::build::root;
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

/// A pair of devices brings a frame that a program sends back only where there is a program too: one that drops a frame in so
/// many, 0 for none.
const PASS: &str = "
static unsigned (*const random)(void) = (void *)7;
__attribute__((section(\"xdp\"), used)) int pass(void *ctx) {
    (void)ctx;
    return LOST && random() % (LOST + !LOST) == 0 ? 1 : 2;
}
char pass_license[] __attribute__((section(\"license\"), used)) = \"Dual MIT/GPL\";
";

/// Puts a program on the peer's device that lets all pass: [frames come back](PASS).
///
/// # Panics
/// If clang does not compile it, or the device does not take it.
pub fn let_frames_back(net: &Net, dir: &Path) {
    let_frames_back_but(net, dir, 0);
}

/// The same, but for one frame in so many on average, which is lost; 0: none is.
///
/// # Panics
/// As [`let_frames_back`].
pub fn let_frames_back_but(net: &Net, dir: &Path, lost: u32) {
    let (source, object) = (dir.join("pass.c"), dir.join("pass.o"));
    fs::write(&source, PASS).expect("writable");
    let made = Command::new("clang")
        .args(["-target", "bpf", "-O2", "-g", "-c", &format!("-DLOST={lost}u")])
        .args([&source, Path::new("-o"), &object])
        .status();
    assert!(made.is_ok_and(|s| s.success()), "clang compiled the other program");
    let object = object.to_string_lossy();
    net.ip(End::Peer, &format!("link set dev {DEVICE} xdp off")).expect("it is taken away");
    net.ip(End::Peer, &format!("link set dev {DEVICE} xdp obj {object} sec xdp")).expect("it is taken");
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
