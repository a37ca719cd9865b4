// SPDX-License-Identifier: MIT OR Apache-2.0
//! A program in the kernel at our end of a wire, and how all is as before once it is gone.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use carrick_tests::build::root;
use carrick_tests::in_kernel::{enable_veth_redirect, run_in_kernel};
use carrick_tests::net::{DEVICE, End, Net, lacks, skip};
use carrick_tests::running::{Running, started};
use carrick_xdp_loader::{Loaded, machine};
use tempfile::TempDir;

/// A stream protocol.
pub const PROGRAM: &str = "protocols/tcp/tcp.mtp";
/// Connections that programs with sockets can have at once.
pub const PLACES: u32 = 256;
/// Where the application listens.
const PORT: &str = "1000";
/// How long what is gone may take to be forgotten by the kernel.
const PATIENCE: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(5);

/// What of a program is in the kernel: `map_id`, `prog_id` or `link_id`, and the number.
type Objects = Vec<(String, u32)>;

/// A stream protocol in the kernel, whose application sends back what comes.
pub struct Place {
    stack: Running,
    said: JoinHandle<Vec<String>>,
    before: String,
    pub net: Net,
    /// with its door
    dir: TempDir,
}

/// What is needed beside the privilege, and a wire; `None`, said aloud, without.
pub fn wire() -> Option<Net> {
    machine::suits().map_err(|missing| skip(&missing.to_string())).ok()?;
    if ["python3", "clang"].iter().any(|program| lacks(program)) {
        return None;
    }
    let net = Net::kernel_on_both()?;
    enable_veth_redirect(&net);
    Some(net)
}

/// A file of this test's.
pub fn here(file: &str) -> PathBuf {
    root().join("tests/tests/protection").join(file)
}

/// What it printed; it must have succeeded.
pub fn printed(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().expect("it starts");
    let said = String::from_utf8_lossy(&stdout).into_owned();
    assert!(status.success(), "{command:?}: {said}{}", String::from_utf8_lossy(&stderr));
    said
}

impl Place {
    /// Loads and attaches it for an application that echoes, and waits until that listens.
    pub fn start() -> Option<Place> {
        Place::start_for(&format!("echo:{PORT}"), 16, &[], |_| format!("listening on port {PORT}"))
    }

    /// As [`Place::start`], for the sockets of unmodified programs; who may bind which ports stands behind the door's path.
    pub fn start_door(rules: &str) -> Option<Place> {
        Place::start_held(rules, &[])
    }

    /// The same with options of `carrick run` for who may send how much.
    pub fn start_held(rules: &str, rates: &[&str]) -> Option<Place> {
        Place::start_for(&format!("sockets:DOOR{rules}"), PLACES, rates, |door| {
            format!("serving sockets at {door}")
        })
    }

    fn start_for(app: &str, connections: u32, more: &[&str], says: impl Fn(&str) -> String) -> Option<Place> {
        let net = wire()?;
        let dir = tempfile::tempdir().expect("a folder");
        fs::set_permissions(dir.path(), Permissions::from_mode(0o755)).expect("it is ours");
        let door = dir.path().join("door").display().to_string();
        let before = device(&net);
        let mut command = run_in_kernel(&net, &root().join(PROGRAM));
        command.args(["--app", &app.replace("DOOR", &door)]).args(more);
        let (stack, mut lines) = started(command.args(["--set", &format!("max_conns={connections}")]));
        let says = says(&door);
        let first: Vec<String> = lines.by_ref().take_while(|line| *line != says).collect();
        assert!(device(&net).contains("xdp"), "it is at its device: {first:?}");
        let said = std::thread::spawn(move || lines.collect());
        Some(Place { stack, said, before, net, dir })
    }

    /// Where unmodified programs come to.
    pub fn door(&self) -> PathBuf {
        self.dir.path().join("door")
    }

    /// The process that uses the program for its applications.
    pub fn host(&self) -> u32 {
        self.stack.child().expect("it has started one")
    }

    /// The maps, programs and links that it has in the kernel.
    pub fn objects(&self) -> Objects {
        let descriptors = fs::read_dir(format!("/proc/{}/fdinfo", self.stack.id())).expect("it runs");
        let texts = descriptors.flatten().filter_map(|entry| fs::read_to_string(entry.path()).ok());
        let found = texts.filter_map(|text| {
            let mut fields = text.lines().filter_map(|line| line.split_once(":\t"));
            let (name, id) = fields.find(|(name, _)| ["map_id", "prog_id", "link_id"].contains(name))?;
            Some((name.to_owned(), id.trim().parse().ok()?))
        });
        let mut found: Objects = found.collect();
        found.sort();
        found.dedup();
        found
    }

    /// Ends it in order: the device is as before, nothing of it is in the kernel any more. Gives what it counted.
    pub fn end(self) -> BTreeMap<String, u64> {
        let objects = self.objects();
        assert_eq!(still_there(&objects), objects, "they are seen as long as they are there");
        for kind in ["map_id", "prog_id"] {
            assert!(objects.iter().any(|(name, _)| name == kind), "it has a {kind}: {objects:?}");
        }
        assert!(self.stack.end().success(), "it ends in order");
        let begin = Instant::now();
        while !still_there(&objects).is_empty() {
            assert!(begin.elapsed() < PATIENCE, "{:?} is still there", still_there(&objects));
            std::thread::park_timeout(POLL);
        }
        assert_eq!(device(&self.net), self.before, "the device is as it was");
        let said = self.said.join().expect("it is read");
        let counted = said.iter().filter_map(|line| line.trim().split_once(' '));
        counted.filter_map(|(name, count)| Some((name.to_owned(), count.trim().parse().ok()?))).collect()
    }
}

/// All that can be told of our device.
fn device(net: &Net) -> String {
    printed(net.command(End::Ours, "ip").args(["-d", "link", "show", DEVICE]))
        + &printed(net.command(End::Ours, "ethtool").args(["-k", DEVICE]))
}

/// Those of them that the kernel still has. No number is given out again soon.
fn still_there(objects: &Objects) -> Objects {
    let [maps, programs, links]: [Vec<u32>; 3] =
        [Loaded::Maps, Loaded::Programs, Loaded::Links].map(|kind| kind.ids().collect());
    let has = |(kind, id): &&(String, u32)| match kind.as_str() {
        "map_id" => maps.contains(id),
        "prog_id" => programs.contains(id),
        _ => links.contains(id),
    };
    objects.iter().filter(has).cloned().collect()
}
