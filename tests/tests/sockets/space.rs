// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs whose connections are a stack's without a library: those of a network namespace, or of a cgroup.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use carrick_tests::net::{End, Net, skip};
use tempfile::TempDir;

/// How long the programs of a cgroup may take to end.
const PATIENCE: Duration = Duration::from_secs(10);
/// Its processes end in the system's own time, of which a file tells.
const POLL: Duration = Duration::from_millis(2);

/// Where they run. It is removed when dropped.
pub enum Space {
    Namespace(String),
    Cgroup(Cgroup),
}

impl Space {
    /// A network namespace without devices, beside those of a net.
    pub fn namespace(net: &Net) -> Space {
        let name = format!("{}-c", net.name(End::Ours));
        let made = Command::new("ip").args(["netns", "add", &name]).status().expect("it starts");
        assert!(made.success(), "as those of the net");
        Space::Namespace(name)
    }

    /// A cgroup, whose programs share our namespace with others. `None`, said aloud, where the system has none.
    pub fn cgroup(net: &Net) -> Option<Space> {
        Cgroup::new(net).map(Space::Cgroup)
    }

    /// As a stack's argument names it.
    pub fn argument(&self) -> String {
        match self {
            Space::Namespace(name) => format!("netns={name}"),
            Space::Cgroup(group) => format!("cgroup={}", group.folder.display()),
        }
    }

    /// A program there.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new("ip");
        match self {
            Space::Namespace(name) => command.args(["netns", "exec", name, program]),
            Space::Cgroup(group) => {
                let join = "echo $$ >\"$1/cgroup.procs\" && shift && exec \"$@\"";
                command.args(["netns", "exec", &group.namespace, "sh", "-c", join, "sh"]);
                command.arg(&group.folder).arg(program)
            }
        };
        command
    }
}

impl Space {
    /// Removes it, and makes another one in its place: an empty one.
    pub fn replace(&self) {
        match self {
            Space::Namespace(name) => {
                for action in ["del", "add"] {
                    let done = Command::new("ip").args(["netns", action, name]).status().expect("it starts");
                    assert!(done.success(), "root may");
                }
            }
            Space::Cgroup(group) => {
                fs::remove_dir(&group.folder).expect("it has no programs");
                fs::create_dir(&group.folder).expect("root may");
            }
        }
    }
}

impl Drop for Space {
    fn drop(&mut self) {
        if let Space::Namespace(name) = self {
            let _ = Command::new("ip").args(["netns", "del", name]).status();
        }
    }
}

/// A cgroup of version 2. Its file system is mounted for the test alone: in a namespace's own view of the system's files it
/// is nowhere else.
pub struct Cgroup {
    pub folder: PathBuf,
    namespace: String,
    mount: TempDir,
}

impl Cgroup {
    fn new(net: &Net) -> Option<Cgroup> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let mount = tempfile::tempdir().expect("a folder");
        let mounted = Command::new("mount").args(["-t", "cgroup2", "none"]).arg(mount.path()).output();
        if !mounted.as_ref().is_ok_and(|done| done.status.success()) {
            skip("no cgroups of version 2 can be mounted");
            return None;
        }
        let namespace = net.name(End::Ours).to_owned();
        let folder = mount.path().join(format!("{namespace}-{}", NUMBER.fetch_add(1, Ordering::Relaxed)));
        let group = Cgroup { folder, namespace, mount };
        fs::create_dir(&group.folder).expect("root may");
        Some(group)
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        let _ = fs::write(self.folder.join("cgroup.kill"), "1");
        let begin = Instant::now();
        while fs::remove_dir(&self.folder).is_err() && begin.elapsed() < PATIENCE {
            std::thread::park_timeout(POLL);
        }
        let _ = Command::new("umount").arg(self.mount.path()).status();
    }
}
