// SPDX-License-Identifier: MIT OR Apache-2.0
//! A process that obeys one line at a time and answers each with a line.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// The longest that one command may take before a test gives up, in seconds.
const PATIENCE_S: u64 = 90;

/// Two stacks of one executable that send each other packets through sockets in a folder; both are there when this returns.
/// `ends` are their names, which the sockets have too, and their addresses.
///
/// # Panics
/// If one does not come in time.
pub fn pair(host: &Path, folder: &Path, ends: [(&'static str, &str); 2], more: &[&str]) -> [Scripted; 2] {
    let sockets = ends.map(|(who, _)| folder.join(who));
    let stacks = [0, 1].map(|at| {
        let (who, address) = ends[at];
        let port = format!("unix:{}:{}", sockets[at].display(), sockets[1 - at].display());
        let address = format!("{address}/24");
        let args = ["--port", &port, "--addr", &address, "--app", "script:-"];
        Scripted::start(who, Command::new(host).args(args).args(more))
    });
    sockets.iter().for_each(|socket| wait_for(socket));
    stacks
}

/// Each end sends the other a message of so many bytes.
///
/// # Panics
/// If one does not arrive.
#[track_caller]
pub fn exchange(one: &mut Scripted, other: &mut Scripted, len: u32) {
    other.tell(&format!("recv {len} 5"));
    one.must(&format!("send {len} 5"), &format!("ok {len}"));
    other.answers(&format!("ok {len}"));
    one.tell(&format!("recv {len} 6"));
    other.must(&format!("send {len} 6"), &format!("ok {len}"));
    one.answers(&format!("ok {len}"));
}

/// A stack answers when it is there: until then its socket is looked for.
fn wait_for(socket: &Path) {
    let begin = std::time::Instant::now();
    while !socket.exists() {
        assert!(begin.elapsed().as_secs() < PATIENCE_S, "{} never came", socket.display());
        std::thread::yield_now();
    }
}

/// A child process driven over its standard input; killed when dropped.
pub struct Scripted {
    who: &'static str,
    child: Child,
    input: Option<ChildStdin>,
    answers: Receiver<String>,
}

impl Scripted {
    /// Starts the process. `who` names it in messages.
    ///
    /// # Panics
    /// If it cannot be started: a test cannot go on.
    pub fn start(who: &'static str, command: &mut Command) -> Scripted {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|e| panic!("{who}: {command:?}: {e}"));
        let output = BufReader::new(child.stdout.take().expect("stdout is piped"));
        let (sender, answers) = channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let input = child.stdin.take();
        Scripted { who, child, input, answers }
    }

    /// Gives a command without waiting for its answer.
    ///
    /// # Panics
    /// If the process is gone.
    pub fn tell(&mut self, line: &str) {
        let who = self.who;
        let input = self.input.as_mut().expect("input is open");
        writeln!(input, "{line}").unwrap_or_else(|e| panic!("{who} is gone before `{line}`: {e}"));
    }

    /// The next answer.
    ///
    /// # Panics
    /// If none comes in time, or the process ends.
    pub fn answer(&mut self) -> String {
        match self.answers.recv_timeout(Duration::from_secs(PATIENCE_S)) {
            Ok(line) => line,
            Err(e) => panic!("{}: no answer: {e} ({:?})", self.who, self.child.try_wait()),
        }
    }

    /// Gives a command and returns its answer.
    pub fn ask(&mut self, line: &str) -> String {
        self.tell(line);
        self.answer()
    }

    /// Gives a command that must be answered with exactly `answer`.
    ///
    /// # Panics
    /// If it is not.
    #[track_caller]
    pub fn must(&mut self, line: &str, answer: &str) {
        let got = self.ask(line);
        assert_eq!(got, answer, "{} on `{line}`", self.who);
    }

    /// Takes the answer to an earlier [`Scripted::tell`], which must be `answer`.
    ///
    /// # Panics
    /// If it is not.
    #[track_caller]
    pub fn answers(&mut self, answer: &str) {
        let got = self.answer();
        assert_eq!(got, answer, "{}", self.who);
    }

    /// Kills the process at once, as if its machine had stopped working on it.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// The process's id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        self.kill();
    }
}
