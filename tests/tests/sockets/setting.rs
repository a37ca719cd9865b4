//! A stack that serves sockets, and processes that end with their tests.

use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use carrick_tests::build::host;
use carrick_tests::net::{End, Net};
use tempfile::TempDir;

const PROGRAM: &str = "protocols/tcp/tcp.mtp";

const PATIENCE: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(5);

/// A process that ends, with those that it has started, when its test does.
pub struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = Command::new("kill").args(["-TERM", &self.0.id().to_string()]).status();
        let _ = self.0.wait();
    }
}

/// Starts it, with both outputs as one, and waits for the line in which it says so much. Gives what else it says.
pub fn started(mut command: Command, says: &str) -> (Running, impl Iterator<Item = String> + Send + use<>) {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    let child = command
        .stdout(writer.try_clone().expect("a descriptor"))
        .stderr(writer)
        .stdin(Stdio::null())
        .spawn()
        .expect("it starts");
    // It would hold the pipe open.
    drop(command);
    let running = Running(child);
    let mut lines = BufReader::new(reader).lines().map_while(Result::ok);
    let mut before = Vec::new();
    let begun = lines.by_ref().any(|line| {
        let found = line.contains(says);
        before.push(line);
        found
    });
    assert!(begun, "it never said `{says}`: {before:?}");
    (running, lines)
}

/// Starts a server and waits until it says that it serves.
pub fn serve(command: &mut Command, says: &str) -> Running {
    let command = std::mem::replace(command, Command::new("true"));
    let (running, lines) = started(command, says);
    // What else it says is nobody's, but somebody must read it.
    std::thread::spawn(move || lines.for_each(drop));
    running
}

/// A stack in our namespace.
pub struct Stack {
    child: Child,
    said: Option<JoinHandle<String>>,
    /// with its door
    dir: TempDir,
}

impl Stack {
    /// Starts it, with more arguments, and waits for its door.
    pub fn start(net: &Net, more: &[&str]) -> Stack {
        let dir = tempfile::tempdir().expect("a folder");
        let app = format!("sockets:{}", dir.path().join("door").display());
        let mut command = net.command(End::Ours, &host(PROGRAM).to_string_lossy());
        command.args(["--port", &net.port(), "--addr", &format!("{}/24", Net::OURS), "--app", &app]);
        command.args(["--set", "msl=10ms", "--requests", "4096"]);
        let mut child = command.args(more).stderr(Stdio::piped()).spawn().expect("it starts");
        let mut err = BufReader::new(child.stderr.take().expect("stderr is piped"));
        let mut line = String::new();
        err.read_line(&mut line).expect("it speaks");
        assert!(line.starts_with("serving sockets"), "{line}");
        let said = std::thread::spawn(move || {
            let mut rest = String::new();
            let _ = err.read_to_string(&mut rest);
            rest
        });
        Stack { child, said: Some(said), dir }
    }

    /// Where its programs come to.
    pub fn door(&self) -> PathBuf {
        self.dir.path().join("door")
    }

    /// A program in our namespace whose sockets are the stack's.
    pub fn command(&self, net: &Net, program: &str) -> Command {
        let library = host(PROGRAM).with_file_name("libcarrick-sockets.so");
        let mut command = net.command(End::Ours, "env");
        command.arg(format!("LD_PRELOAD={}", library.display()));
        command.arg(format!("CARRICK_SOCKETS={}", self.door().display()));
        command.arg(program);
        command
    }

    /// How many it has open.
    pub fn descriptors(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.child.id())).map_or(0, Iterator::count)
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

    /// Ends it as a person would.
    pub fn end(mut self) {
        let asked = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status();
        assert!(asked.is_ok_and(|s| s.success()), "it is still there");
        assert!(self.child.wait().is_ok_and(|s| s.success()), "it ends in order");
        let said = self.said.take().expect("it is asked once").join().expect("it is read");
        assert!(!said.contains("cannot"), "{said}");
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
