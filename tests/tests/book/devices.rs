// SPDX-License-Identifier: MIT OR Apache-2.0
//! `docs/devices.md`: its commands are run in a machine of their own, so that they change nothing of this one's network.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use carrick_tests::build::root;
use carrick_tests::document::{blocks, replay_within};
use carrick_tests::net::{lacks, skip};

/// A machine of namespaces: a network, a file system for `ip netns`, and processes that end with it.
struct Machine {
    unshare: Child,
    /// its first process, as this machine counts
    first: String,
}

impl Machine {
    /// None without the privilege.
    fn new() -> Option<Machine> {
        let begin = "mount -t tmpfs none /run && mkdir /run/netns && ip link set lo up && echo ready && exec sleep infinity";
        let mut unshare = Command::new("unshare")
            .args(["--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", begin])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let mut said = String::new();
        BufReader::new(unshare.stdout.take()?)
            .read_line(&mut said)
            .expect("it ends, or says that it is there");
        let children = format!("/proc/{0}/task/{0}/children", unshare.id());
        let first = fs::read_to_string(children).unwrap_or_default().trim().to_owned();
        let machine = Machine { unshare, first };
        (said == "ready\n" && !machine.first.is_empty()).then_some(machine)
    }
}

impl Drop for Machine {
    /// With the first process, the kernel ends all others of the machine.
    fn drop(&mut self) {
        let _ = self.unshare.kill();
        let _ = self.unshare.wait();
    }
}

#[test]
fn the_chapter_of_devices_goes_as_it_says() {
    if ["unshare", "nsenter", "ip", "tc", "ethtool", "curl", "clang"].iter().any(|tool| lacks(tool)) {
        return;
    }
    let Some(machine) = Machine::new() else {
        return skip("namespaces need root");
    };
    let folder = tempfile::tempdir().expect("a folder");
    std::os::unix::fs::symlink(root().join("protocols"), folder.path().join("protocols")).expect("writable");
    // Otherwise nsenter begins in the root of the file system.
    let here = format!("--wd={}", folder.path().display());
    let within = ["nsenter", "--target", &machine.first, "--mount", "--net", "--pid", &here];
    let page = fs::read_to_string(root().join("docs/devices.md")).expect("it is there");
    let consoles = blocks(&page).into_iter().filter(|(kind, _)| *kind == "console");
    let commands: usize = consoles.map(|(_, block)| replay_within(folder.path(), block, &within)).sum();
    assert!(commands > 20, "only {commands} commands");
}
