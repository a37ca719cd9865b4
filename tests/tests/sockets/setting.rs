// SPDX-License-Identifier: MIT OR Apache-2.0
//! A stack that serves sockets.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use carrick_tests::build::{host, host_with, root};
use carrick_tests::in_kernel::run_in_kernel;
use carrick_tests::net::{DEVICE, End, Net, skip};
use carrick_tests::running::{Running, started};
use tempfile::TempDir;

use super::space::Space;

const PROGRAM: &str = "protocols/tcp/tcp.mtp";

/// What a stack ends with that lacks something of this machine.
const MISSING: i32 = 3;
/// How long a test waits for what must come.
pub const PATIENCE: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(5);

/// The version of what programs and the stack say to each other, for tests that speak it themselves.
pub fn version() -> String {
    let header = root().join("targets/native/include/carrick/sockets.h");
    let text = std::fs::read_to_string(header).expect("readable");
    let number = text.split("CARRICK_SOCKETS_VERSION ").nth(1).expect("it is defined").trim_start();
    number.chars().take_while(char::is_ascii_digit).collect()
}

/// A stack in our namespace.
pub struct Stack {
    running: Running,
    said: JoinHandle<String>,
    /// of unmodified programs
    library: PathBuf,
    /// with its door
    dir: TempDir,
    /// what it serves, in place of its door
    space: Option<Space>,
}

impl Stack {
    /// Starts it, with more arguments, and waits for its door.
    pub fn start(net: &Net, more: &[&str]) -> Stack {
        Stack::start_for(net, "", more)
    }

    /// As [`Stack::start`], for these users alone (`,UID:PORTS`).
    pub fn start_for(net: &Net, users: &str, more: &[&str]) -> Stack {
        let mut command = net.command(End::Ours, &host(PROGRAM).to_string_lossy());
        command.args(["--port", &net.port(), "--requests", "4096"]).args(more);
        command.args(["--addr", &format!("{}/24", Net::OURS)]);
        Stack::serving(command, users).expect("it needs nothing")
    }

    /// As [`Stack::start`], over IPv6, with this address.
    pub fn start_over_ipv6(net: &Net, address: &str, more: &[&str]) -> Stack {
        let host = host_with(PROGRAM, &["--over", "ipv6"]);
        let mut command = net.command(End::Ours, &host.to_string_lossy());
        command.args(["--port", &net.port(), "--addr", &format!("{address}/64")]).args(more);
        Stack::serving_with(command, "", &host).expect("it needs nothing")
    }

    /// As [`Stack::start`], as a process that may have so many descriptors and not raise their limit.
    pub fn start_with_descriptors(net: &Net, most: u32) -> Stack {
        let mut command = net.command(End::Ours, "setpriv");
        command.args([
            "--bounding-set",
            "-sys_resource",
            "sh",
            "-c",
            &format!("ulimit -n {most}; exec \"$@\""),
        ]);
        command.arg("sh").arg(host(PROGRAM)).args(["--port", &net.port()]);
        command.args(["--addr", &format!("{}/24", Net::OURS)]);
        Stack::serving(command, "").expect("it needs nothing")
    }

    /// As [`Stack::start_for`], for the programs of a namespace.
    pub fn start_with_space(net: &Net, users: &str, more: &[&str]) -> Stack {
        Stack::start_serving(net, Space::namespace(net), users, more)
    }

    /// The same, for the programs of a space.
    pub fn start_serving(net: &Net, space: Space, users: &str, more: &[&str]) -> Stack {
        Stack::start_serving_at(net, Net::OURS, space, users, more)
    }

    /// The same, with this address.
    pub fn start_serving_at(net: &Net, address: &str, space: Space, users: &str, more: &[&str]) -> Stack {
        let mut command = net.command(End::Ours, &host(PROGRAM).to_string_lossy());
        command.args(["--port", &net.port(), "--requests", "4096"]).args(more);
        command.args(["--addr", &format!("{address}/24")]);
        Stack::serving_space(command, users, space).expect("it needs nothing")
    }

    /// The same, over IPv6, with this address.
    pub fn start_serving_over_ipv6(net: &Net, space: Space, address: &str) -> Stack {
        let host = host_with(PROGRAM, &["--over", "ipv6"]);
        let mut command = net.command(End::Ours, &host.to_string_lossy());
        command.args(["--port", &net.port(), "--addr", &format!("{address}/64")]);
        Stack::serving_space(command, "", space).expect("it needs nothing")
    }

    /// The same, with a core in the kernel.
    pub fn start_in_kernel_serving(net: &Net, space: Space) -> Option<Stack> {
        Stack::serving_space(run_in_kernel(net, &root().join(PROGRAM)), "", space)
    }

    /// One of another program than TCP, with `host` as its executable, by this command.
    pub fn start_of(command: Command, host: &Path) -> Stack {
        Stack::serving_door(command, "", host, None).expect("it needs nothing")
    }

    /// The same, with a core in the kernel; `None`, said aloud, where this machine does not take programs.
    pub fn start_in_kernel_of(net: &Net, program: &str, host: &Path) -> Option<Stack> {
        Stack::serving_door(run_in_kernel(net, &root().join(program)), "", host, None)
    }

    fn serving_space(command: Command, users: &str, space: Space) -> Option<Stack> {
        let app = format!("sockets:{}{users}", space.argument());
        Stack::serving_at(command, &app, &host(PROGRAM), Some(space))
    }

    /// Starts one whose core is in the kernel; `None`, said aloud, where this machine does not take programs.
    pub fn start_in_kernel(net: &Net) -> Option<Stack> {
        Stack::start_in_kernel_for(net, "")
    }

    /// As [`Stack::start_in_kernel`], for these users alone.
    pub fn start_in_kernel_for(net: &Net, users: &str) -> Option<Stack> {
        Stack::serving(run_in_kernel(net, &root().join(PROGRAM)), users)
    }

    fn serving(command: Command, users: &str) -> Option<Stack> {
        Stack::serving_with(command, users, &host(PROGRAM))
    }

    /// The library is next to the host.
    fn serving_with(command: Command, users: &str, host: &Path) -> Option<Stack> {
        Stack::serving_at(command, users, host, None)
    }

    /// At the door, for `who`, or for a space.
    fn serving_at(mut command: Command, who: &str, host: &Path, space: Option<Space>) -> Option<Stack> {
        command.args(["--set", "msl=10ms"]);
        Stack::serving_door(command, who, host, space)
    }

    fn serving_door(mut command: Command, who: &str, host: &Path, space: Option<Space>) -> Option<Stack> {
        let dir = tempfile::tempdir().expect("a folder");
        let app = match &space {
            Some(_) => who.to_owned(),
            None => format!("sockets:{}{who}", dir.path().join("door").display()),
        };
        command.args(["--app", &app]);
        let (running, mut lines) = started(&mut command);
        let mut line = lines.next().expect("it speaks");
        if line.ends_with(&format!(" is on {DEVICE}")) {
            line = lines.next().expect("its application speaks");
        }
        let few = line
            .starts_with("sockets: the descriptors")
            .then(|| std::mem::replace(&mut line, lines.next().expect("it goes on")));
        if !line.starts_with("serving sockets") {
            assert_eq!(running.ended().code(), Some(MISSING), "{line}");
            skip(&line);
            return None;
        }
        let said = std::thread::spawn(move || few.into_iter().chain(lines).collect::<Vec<_>>().join("\n"));
        let library = host.with_file_name("libcarrick-sockets.so");
        Some(Stack { running, said, library, dir, space })
    }

    /// Its process.
    pub fn id(&self) -> u32 {
        self.running.id()
    }

    /// Where its programs come to.
    pub fn door(&self) -> PathBuf {
        self.dir.path().join("door")
    }

    /// Of unmodified programs.
    pub fn library(&self) -> &Path {
        &self.library
    }

    /// A program in our namespace whose sockets are the stack's.
    pub fn command(&self, net: &Net, program: &str) -> Command {
        if let Some(space) = &self.space {
            return space.command(program);
        }
        self.preloaded(net.command(End::Ours, "env"), program)
    }

    /// The same in no namespace, of a stack that needs none.
    pub fn command_anywhere(&self, program: &str) -> Command {
        self.preloaded(Command::new("env"), program)
    }

    fn preloaded(&self, mut env: Command, program: &str) -> Command {
        env.arg(format!("LD_PRELOAD={}", self.library.display()));
        env.arg(format!("CARRICK_SOCKETS={}", self.door().display()));
        env.arg(program);
        env
    }

    /// How many it has open.
    pub fn descriptors(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.running.id())).map_or(0, Iterator::count)
    }

    /// How many of them are Unix sockets, as those of its programs are; others may be opened after its door.
    pub fn sockets(&self) -> usize {
        let process = format!("/proc/{}", self.running.id());
        let table = std::fs::read_to_string(format!("{process}/net/unix")).expect("it runs");
        let unix: Vec<String> = table
            .lines()
            .filter_map(|line| Some(format!("socket:[{}]", line.split_whitespace().nth(6)?)))
            .collect();
        let open = std::fs::read_dir(format!("{process}/fd")).into_iter().flatten();
        open.filter_map(|fd| std::fs::read_link(fd.ok()?.path()).ok())
            .filter(|to| unix.iter().any(|socket| to.to_string_lossy() == *socket))
            .count()
    }

    /// Waits until it has so many sockets again.
    pub fn wait_for_sockets(&self, wanted: usize) {
        let begin = Instant::now();
        while self.sockets() != wanted {
            assert!(begin.elapsed() < PATIENCE, "{} sockets stay open, and not {wanted}", self.sockets());
            std::thread::park_timeout(POLL);
        }
    }

    /// Waits until it has so many open: what its programs left behind is taken back.
    pub fn wait_for_descriptors(&self, wanted: usize) {
        let begin = Instant::now();
        while self.descriptors() != wanted {
            let open = self.descriptors();
            assert!(begin.elapsed() < PATIENCE, "{open} descriptors stay open, and not {wanted}");
            std::thread::park_timeout(POLL);
        }
    }

    /// What it serves, in place of its door.
    pub fn space(&self) -> &Space {
        self.space.as_ref().expect("it was started with one")
    }

    /// Ends it as the system does that needs its memory; what it served is left.
    pub fn kill(mut self) -> Space {
        let killed = Command::new("kill").args(["-KILL", &self.id().to_string()]).status();
        assert!(killed.is_ok_and(|done| done.success()), "it is still there");
        self.space.take().expect("it was started with one")
    }

    /// Waits until it ends by itself with a failure, and gives what it said.
    pub fn fails(self) -> String {
        assert!(!self.running.ended().success(), "it fails");
        self.said.join().expect("it is read")
    }

    /// Waits until it ends by itself, since something of this machine is missing, and gives what it said.
    pub fn misses(self) -> String {
        assert_eq!(self.running.ended().code(), Some(MISSING));
        self.said.join().expect("it is read")
    }

    /// Ends it as a person would, and gives what it said.
    pub fn end(self) -> String {
        assert!(self.running.end().success(), "it ends in order");
        let said = self.said.join().expect("it is read");
        assert!(!said.contains("cannot"), "{said}");
        said
    }
}
