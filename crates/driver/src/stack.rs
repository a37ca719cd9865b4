// SPDX-License-Identifier: MIT OR Apache-2.0
//! The stack of a program as a process of its own, on a device of this machine.

use std::io::{self, BufReader, PipeReader};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use carrick_ir::Program;
use carrick_sim::records::Records;
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

/// What a stack reports of its events.
pub type StackRecords = Records<BufReader<PipeReader>>;

/// A stack that runs. It ends when this is dropped.
pub struct Stack {
    process: Child,
    _host: Built,
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
        Ok(Stack { process, _host: host })
    }

    /// Starts the host that `host` builds with these arguments, and the stack tells what it does. Waits until it has been
    /// opened: of one that cannot be, nothing is told.
    ///
    /// # Errors
    /// Those of `host`; as [`Stack::start`]; [`Failure::Failed`] if what it tells is not understood.
    pub fn start_telling(
        program: &Program,
        args: &[String],
        host: impl FnOnce() -> Result<Built, Failure>,
    ) -> Result<(Stack, StackRecords), Failure> {
        let no_pipe = |e: io::Error| Failure::Missing(format!("cannot make a pipe: {e}"));
        // Ctrl-C ends the stack; what it has told by then is still to be read.
        signal_hook::flag::register(SIGINT, Arc::new(AtomicBool::new(false))).map_err(no_pipe)?;
        let (reader, writer) = io::pipe().map_err(no_pipe)?;
        let stack = Stack::start(host()?, |command| {
            fcntl_setfd(&writer, FdFlags::empty())?;
            command.arg("--records").arg(format!("/dev/fd/{}", writer.as_raw_fd())).args(args).spawn()
        })?;
        // The stack has the only end that is written to: with it, the pipe ends.
        drop(writer);
        let records = Records::open(BufReader::new(reader), program).map_err(Failure::Failed)?;
        Ok((stack, records))
    }

    /// Waits until it ends; how it did.
    pub fn wait(mut self) -> ExitCode {
        let code = self.process.wait().ok().and_then(|status| status.code());
        ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
    }

    /// As [`Stack::wait`]; once there is something to read from `end`, it is told to end. Meanwhile `look` is called each second.
    ///
    /// # Errors
    /// [`Failure::Missing`] if this process cannot wait for both.
    pub fn wait_or_end(mut self, end: &UnixStream, mut look: impl FnMut()) -> Result<ExitCode, Failure> {
        let cannot = |e: rustix::io::Errno| Failure::Missing(format!("cannot wait for the application: {e}"));
        let process = pidfd_open(Pid::from_child(&self.process), PidfdFlags::empty()).map_err(cannot)?;
        let mut both = [PollFd::new(&process, PollFlags::IN), PollFd::new(end, PollFlags::IN)];
        loop {
            match poll(&mut both, Some(&LOOK)) {
                Ok(0) => look(),
                Err(rustix::io::Errno::INTR) => {}
                Err(e) => return Err(cannot(e)),
                Ok(_) => break,
            }
        }
        if both[1].revents().is_empty() {
            return Ok(self.wait());
        }
        // It may have ended meanwhile, or end by the signal since it has not begun yet.
        let _ = pidfd_send_signal(&process, Signal::TERM);
        let code = self.process.wait().ok().and_then(|status| status.code()).unwrap_or(0);
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
