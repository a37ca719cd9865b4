// SPDX-License-Identifier: MIT OR Apache-2.0
//! The stack of a program as a process of its own, on a device of this machine.

use std::any::Any;
use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::{self, BufReader, PipeReader, Read};
use std::os::fd::AsRawFd;
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use carrick_ir::Program;
use carrick_sim::records::{Records, Source};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{
    Pid, PidfdFlags, Signal, getpid, getppid, pidfd_open, pidfd_send_signal, set_parent_process_death_signal,
};
use signal_hook::consts::SIGINT;

use crate::Failure;
use crate::built::Built;

/// How often what is waited for is looked at.
pub const LOOK: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };

/// The variable of the environment that names the library with a host's core; without it the host has one.
pub const CORE: &str = "CARRICK_CORE";

/// What a stack reports of its events.
pub type StackRecords = Records<RecordPipe>;

/// The pipe into which a stack writes them.
pub struct RecordPipe {
    pipe: BufReader<PipeReader>,
    /// about when the stack was opened: when it first reported something
    opened: Option<Instant>,
}

impl Read for RecordPipe {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let read = self.pipe.read(to)?;
        self.opened.get_or_insert_with(Instant::now);
        Ok(read)
    }
}

impl Source for RecordPipe {
    fn wait_until(&mut self, at: u64) -> io::Result<bool> {
        let end = *self.opened.get_or_insert_with(Instant::now) + Duration::from_nanos(at);
        while self.pipe.buffer().is_empty() {
            let left = end.saturating_duration_since(Instant::now());
            let left = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
            match poll(&mut [PollFd::new(self.pipe.get_ref(), PollFlags::IN)], Some(&left)) {
                Err(rustix::io::Errno::INTR) => {}
                ready => return Ok(ready? > 0),
            }
        }
        Ok(true)
    }
}

/// How a stack that tells what it does is started.
pub struct Telling<'a> {
    /// as the stack runs it
    pub program: &'a Program,
    /// its options
    pub args: &'a [String],
    /// what its environment has more
    pub env: &'a [(&'static str, OsString)],
    /// whether the program takes changes, and the stack the requests for them
    pub changes: bool,
}

/// A stack that runs. It ends when this is dropped.
pub struct Stack {
    process: Child,
    _host: Built,
    /// where it takes requests for changes, and those for which there was no space yet
    changes: Option<UnixDatagram>,
    waiting: VecDeque<[u8; 16]>,
    /// what has to be there as long as it runs
    held: Option<Box<dyn Any>>,
}

impl Stack {
    /// Starts a host, as `start` says.
    ///
    /// # Errors
    /// [`Failure::Missing`] if it does not start.
    pub fn start(
        host: Built,
        start: impl FnOnce(&mut Command) -> io::Result<Child>,
    ) -> Result<Stack, Failure> {
        let mut command = Command::new(&host.path);
        let this = getpid();
        // SAFETY: two system calls, and nothing that another thread may hold.
        unsafe {
            command.pre_exec(move || {
                // However this process ends, so does the stack.
                set_parent_process_death_signal(Some(Signal::TERM))?;
                if getppid() == Some(this) { Ok(()) } else { Err(io::ErrorKind::NotFound.into()) }
            });
        }
        let process = start(&mut command)
            .map_err(|e| Failure::Missing(format!("cannot start {}: {e}", host.path.display())))?;
        Ok(Stack { process, _host: host, changes: None, waiting: VecDeque::new(), held: None })
    }

    /// Starts the host that `host` builds with these arguments, and the stack tells what it does. Waits until it has been
    /// opened: of one that cannot be, nothing is told.
    ///
    /// # Errors
    /// Those of `host`; as [`Stack::start`]; [`Failure::Failed`] if what it tells is not understood.
    pub fn start_telling(
        telling: &Telling<'_>,
        host: impl FnOnce() -> Result<Built, Failure>,
    ) -> Result<(Stack, StackRecords), Failure> {
        let no_pipe = |e: io::Error| Failure::Missing(format!("cannot make a pipe: {e}"));
        // Ctrl-C ends the stack; what it has told by then is still to be read.
        signal_hook::flag::register(SIGINT, Arc::new(AtomicBool::new(false))).map_err(no_pipe)?;
        let (reader, writer) = io::pipe().map_err(no_pipe)?;
        let (own, its) = UnixDatagram::pair().map_err(no_pipe)?;
        let mut stack = Stack::start(host()?, |command| {
            fcntl_setfd(&writer, FdFlags::empty())?;
            command.arg("--records").arg(format!("/dev/fd/{}", writer.as_raw_fd()));
            command.envs(telling.env.iter().map(|(name, value)| (name, value)));
            if telling.changes {
                fcntl_setfd(&its, FdFlags::empty())?;
                command.arg("--changes").arg(its.as_raw_fd().to_string());
            }
            command.args(telling.args).spawn()
        })?;
        own.set_nonblocking(true).map_err(no_pipe)?;
        stack.changes = telling.changes.then_some(own);
        // The stack has the only end that is written to: with it, the pipe ends.
        drop(writer);
        let pipe = RecordPipe { pipe: BufReader::new(reader), opened: None };
        let records = Records::open(pipe, telling.program).map_err(Failure::Failed)?;
        Ok((stack, records))
    }

    /// Keeps something until the stack has ended.
    pub fn hold(&mut self, what: Box<dyn Any>) {
        self.held = Some(what);
    }

    /// Asks for a change of the context with this handle, of one of the process's hosts. Its records report what became of it.
    /// Never waits for the stack, which may wait for its records to be read.
    ///
    /// # Errors
    /// What the system says. A stack that has ended takes no change, which is no error.
    pub fn change(&mut self, host: usize, handle: u64, item: usize) -> Result<(), String> {
        let mut request = [0; 16];
        request[..4].copy_from_slice(&(host as u32).to_ne_bytes());
        request[4..8].copy_from_slice(&(item as u32).to_ne_bytes());
        request[8..].copy_from_slice(&handle.to_ne_bytes());
        self.waiting.push_back(request);
        self.send_changes()
    }

    /// Sends the requests for which there was no space before.
    ///
    /// # Errors
    /// As [`Stack::change`].
    pub fn send_changes(&mut self) -> Result<(), String> {
        let Some(socket) = &self.changes else { return Ok(()) };
        while let Some(request) = self.waiting.front() {
            match socket.send(request) {
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => break,
                Err(e)
                    if [io::ErrorKind::ConnectionRefused, io::ErrorKind::ConnectionReset]
                        .contains(&e.kind()) => {}
                Err(e) => return Err(format!("cannot ask the stack for a change: {e}")),
                Ok(_) => {}
            }
            self.waiting.pop_front();
        }
        Ok(())
    }

    /// Waits until it ends; how it did.
    pub fn wait(mut self) -> ExitCode {
        let code = self.process.wait().ok().and_then(|status| status.code());
        ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
    }

    /// As [`Stack::wait`]; once there is something to read from `end`, it is told to end. Meanwhile `look` is called each
    /// second: if it fails, so does this, once the stack has ended.
    ///
    /// # Errors
    /// [`Failure::Missing`] if this process cannot wait for both; those of `look`.
    pub fn wait_or_end(
        mut self,
        end: &UnixStream,
        mut look: impl FnMut() -> Result<(), Failure>,
    ) -> Result<ExitCode, Failure> {
        let cannot = |e: rustix::io::Errno| Failure::Missing(format!("cannot wait for the application: {e}"));
        let process = pidfd_open(Pid::from_child(&self.process), PidfdFlags::empty()).map_err(cannot)?;
        let mut both = [PollFd::new(&process, PollFlags::IN), PollFd::new(end, PollFlags::IN)];
        let seen = loop {
            match poll(&mut both, Some(&LOOK)) {
                Ok(0) => match look() {
                    Ok(()) => {}
                    wrong => break wrong,
                },
                Err(rustix::io::Errno::INTR) => {}
                Err(e) => return Err(cannot(e)),
                Ok(_) => break Ok(()),
            }
        };
        if seen.is_ok() && both[1].revents().is_empty() {
            return Ok(self.wait());
        }
        // It may have ended meanwhile, or end by the signal since it has not begun yet.
        let _ = pidfd_send_signal(&process, Signal::TERM);
        let code = self.process.wait().ok().and_then(|status| status.code()).unwrap_or(0);
        seen?;
        Ok(ExitCode::from(u8::try_from(code).unwrap_or(1)))
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // Where it has ended already there is nothing to end.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
