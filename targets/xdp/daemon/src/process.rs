// SPDX-License-Identifier: MIT OR Apache-2.0
//! A process that outlives who started it, and is found again: it holds a file locked, in which its number stands.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::net::Shutdown;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FlockOperation, flock};
use rustix::io::{Errno, FdFlags, fcntl_setfd, pwrite};
use rustix::process::{Pid, PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal};

use crate::supervise::{self, END};

/// Letters of a process's number in the file; behind them stand the words that it was started with, a line each.
const DIGITS: usize = 10;
/// The variable with the descriptor to which a process writes once its application has begun.
const READY: &str = "CARRICK_READY";

/// A process, which may be somebody else's child by now.
#[derive(Debug)]
pub struct Process {
    handle: Handle,
    child: Option<Child>,
    /// on which it says when its application has begun ([`Attaching`]); none if this process has not started it
    ready: Option<UnixStream>,
}

/// What an application waits for that has begun: that its program is attached. It also goes on when this is dropped.
#[derive(Debug)]
pub struct Attaching {
    ready: UnixStream,
    process: Handle,
}

impl Attaching {
    /// Lets the application go on, and waits until it has made its first requests, so that a server listens. False: its process has
    /// ended, or did not in this time.
    pub fn done(mut self, within: Duration) -> bool {
        self.ready.shutdown(Shutdown::Write).is_ok() && self.process.says(&mut self.ready, Some(within))
    }
}

/// By which a process can be told something: it is never another one.
#[derive(Debug, Clone)]
pub struct Handle {
    pid: u32,
    fd: Arc<OwnedFd>,
}

impl Handle {
    fn open(pid: u32) -> io::Result<Handle> {
        let raw = Pid::from_raw(pid.cast_signed()).ok_or(io::ErrorKind::InvalidData)?;
        Ok(Handle { pid, fd: Arc::new(pidfd_open(raw, PidfdFlags::empty())?) })
    }

    /// The process's number.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Sends a signal.
    pub fn tell(&self, signal: supervise::Signal) {
        let signal = match signal {
            supervise::Signal::Term => Signal::TERM,
            supervise::Signal::Kill => Signal::KILL,
        };
        // Whoever has ended need not be told.
        let _ = pidfd_send_signal(&*self.fd, signal);
    }

    /// Tells the process to end, and sees that it has; it is killed if it takes too long.
    pub fn end(&self) {
        for signal in [supervise::Signal::Term, supervise::Signal::Kill] {
            self.tell(signal);
            if self.has_ended(Some(END)) {
                return;
            }
        }
    }

    /// Waits for a byte of it. False: it has ended, closed the socket, or said nothing in this time.
    fn says(&self, socket: &mut UnixStream, within: Option<Duration>) -> bool {
        let within = within.and_then(|time| Timespec::try_from(time).ok());
        // Children of it may have the socket too, and keep it open.
        let mut fds = [PollFd::new(&*socket, PollFlags::IN), PollFd::new(&*self.fd, PollFlags::IN)];
        while poll(&mut fds, within.as_ref()) == Err(Errno::INTR) {}
        !fds[0].revents().is_empty() && matches!(socket.read(&mut [0]), Ok(1))
    }

    /// Whether it has ended in this time; without one it is waited for as long as it takes.
    fn has_ended(&self, within: Option<Duration>) -> bool {
        let within = within.and_then(|time| Timespec::try_from(time).ok());
        loop {
            match poll(&mut [PollFd::new(&*self.fd, PollFlags::IN)], within.as_ref()) {
                Err(Errno::INTR) => {}
                other => return other.is_ok_and(|ready| ready > 0),
            }
        }
    }
}

/// The number as letters; between fork and exec nothing may be allocated.
fn digits(mut number: u32) -> [u8; DIGITS] {
    let mut digits = [b'0'; DIGITS];
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
    digits
}

/// Opens the file, and locks it; `Err` of the kind `WouldBlock` where a process holds it.
fn locked(held: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(held)?;
    flock(&file, FlockOperation::NonBlockingLockExclusive)?;
    Ok(file)
}

impl Process {
    /// Starts a process that holds the file, which nobody may hold by now, and `life` as long as it is there.
    ///
    /// # Errors
    /// What the system says.
    pub fn start(
        executable: &Path,
        args: &[String],
        held: &Path,
        life: BorrowedFd<'_>,
    ) -> io::Result<Process> {
        let mut file = locked(held)?;
        file.set_len(0)?;
        file.seek(SeekFrom::Start(DIGITS as u64))?;
        file.write_all(format!("\n{}", args.join("\n")).as_bytes())?;
        let (ready, begun) = UnixStream::pair()?;
        let (fd, told, life) = (file.as_raw_fd(), begun.as_raw_fd(), life.as_raw_fd());
        let mut command = Command::new(executable);
        command.env(READY, told.to_string());
        // SAFETY: all are open until the process is started. Five system calls, and nothing that another thread may hold.
        unsafe {
            command.args(args).pre_exec(move || {
                fcntl_setfd(BorrowedFd::borrow_raw(told), FdFlags::empty())?;
                fcntl_setfd(BorrowedFd::borrow_raw(life), FdFlags::empty())?;
                let fd = BorrowedFd::borrow_raw(fd);
                pwrite(fd, &digits(getpid().as_raw_nonzero().get().unsigned_abs()), 0)?;
                Ok(fcntl_setfd(fd, FdFlags::empty())?)
            });
        }
        Process::of(command.spawn()?, ready, Handle::open)
    }

    /// A child that was started; it does not stay where nobody could end it.
    fn of(
        mut child: Child,
        ready: UnixStream,
        open: impl FnOnce(u32) -> io::Result<Handle>,
    ) -> io::Result<Process> {
        match open(child.id()) {
            Ok(handle) => Ok(Process { handle, child: Some(child), ready: Some(ready) }),
            Err(e) => {
                // It is not waited for before this, so its number is its own.
                let _ = child.kill();
                let _ = child.wait();
                Err(e)
            }
        }
    }

    /// Waits until its application has begun. False: it has ended, or closed what it should say that by.
    pub fn begins(&mut self) -> bool {
        self.ready.as_mut().is_none_or(|ready| self.handle.says(ready, None))
    }

    /// What its application waits for, once it has begun.
    pub fn attaching(&mut self) -> Option<Attaching> {
        Some(Attaching { ready: self.ready.take()?, process: self.handle.clone() })
    }

    /// The words with which the process was started that holds the file, or held it last.
    pub fn words(held: &Path) -> Vec<String> {
        let text = fs::read_to_string(held).unwrap_or_default();
        text.lines().skip(1).map(str::to_owned).collect()
    }

    /// The process that holds the file, and the words that it was started with; `None`: nobody does.
    ///
    /// # Errors
    /// What the system says.
    pub fn find(held: &Path) -> io::Result<Option<(Process, Vec<String>)>> {
        let mut file = match File::open(held) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            other => other?,
        };
        let is_free = |file: &File| match flock(file.as_fd(), FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => Ok(false),
            other => other.map(|()| true),
        };
        if is_free(&file)? {
            return Ok(None);
        }
        let mut text = String::new();
        file.read_to_string(&mut text)?;
        let mut lines = text.lines();
        let pid = lines.next().and_then(|pid| pid.parse().ok()).ok_or(io::ErrorKind::InvalidData)?;
        let handle = Handle::open(pid)?;
        // It held the file when its number was taken: so it is the one.
        if is_free(&file)? {
            return Ok(None);
        }
        Ok(Some((Process { handle, child: None, ready: None }, lines.map(str::to_owned).collect())))
    }

    /// By which it can be told something.
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Waits for its end; how that was. Until then the socket is open: a process that finds nobody to read would die of that.
    pub fn ended(mut self) -> String {
        self.handle.has_ended(None);
        self.how()
    }

    /// How it has ended.
    fn how(&mut self) -> String {
        match self.child.as_mut().map(Child::wait) {
            Some(Ok(status)) => format!("ended ({status})"),
            _ => "ended".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    #[test]
    fn a_process_is_found_by_the_file_that_it_holds() {
        let dir = tempfile::tempdir().expect("a folder");
        let (life, mut lives) = UnixStream::pair().expect("a pair");
        let (held, socket) = (dir.path().join("process"), dir.path().join("here"));
        let listener = UnixListener::bind(&socket).expect("bound");
        assert!(Process::find(&held).expect("no trouble").is_none(), "there is no file");
        let script = "import socket,sys; s=socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.recv(1)";
        let args = ["-c", script, &socket.display().to_string()].map(str::to_owned);
        let process = Process::start(Path::new("python3"), &args, &held, life.as_fd()).expect("it starts");
        let (there, _) = listener.accept().expect("it came");
        let (found, words) = Process::find(&held).expect("no trouble").expect("it is there");
        assert_eq!((found.handle().pid(), &words[..]), (process.handle().pid(), &args[..]));
        let other = Process::start(Path::new("python3"), &args, &held, life.as_fd());
        let other = other.expect_err("one alone holds it");
        assert_eq!(other.kind(), io::ErrorKind::WouldBlock);
        drop(life);
        lives.set_nonblocking(true).expect("it is ours");
        assert_eq!(lives.read(&mut [0]).map_err(|e| e.kind()), Err(io::ErrorKind::WouldBlock), "it has it");
        lives.set_nonblocking(false).expect("it is ours");
        found.handle().end();
        assert_eq!(found.ended(), "ended");
        assert_eq!(process.ended(), "ended (signal: 15 (SIGTERM))");
        assert_eq!(lives.read(&mut [0]).map_err(|e| e.kind()), Ok(0), "and no one else");
        assert!(Process::find(&held).expect("no trouble").is_none(), "nobody holds it");
        drop(there);
    }

    #[test]
    fn a_process_that_ends_before_it_begins_is_noticed_whoever_has_its_socket() {
        let dir = tempfile::tempdir().expect("a folder");
        // The child of the process has the socket too.
        let (mut theirs, ours) = io::pipe().expect("a pipe");
        let script = format!("sleep 1000 & echo $! >&{}; exit 3", ours.as_raw_fd());
        let args = ["-c".to_owned(), script];
        let held = dir.path().join("process");
        let mut process = Process::start(Path::new("bash"), &args, &held, ours.as_fd()).expect("started");
        drop(ours);
        let mut pid = [0; 16];
        let len = theirs.read(&mut pid).expect("it says its number");
        assert!(!process.begins(), "it has ended");
        assert_eq!(process.ended(), "ended (exit status: 3)");
        let pid = std::str::from_utf8(&pid[..len]).ok().and_then(|pid| pid.trim().parse().ok());
        Handle::open(pid.expect("a number")).expect("it is there").tell(supervise::Signal::Kill);
    }

    /// Starts a process that says that it has begun, and then does this; it has descriptor `fd`.
    fn begun(held: &Path, then: &str) -> Process {
        let (life, _lives) = UnixStream::pair().expect("a pair");
        let script = format!(
            "import os; fd=int(os.environ['CARRICK_READY']); os.write(fd, b'1'); os.read(fd, 1); {then}"
        );
        let args = ["-c".to_owned(), script];
        let mut process = Process::start(Path::new("python3"), &args, held, life.as_fd()).expect("it starts");
        assert!(process.begins());
        process
    }

    #[test]
    fn attaching_ends_when_the_first_requests_are_made() {
        let dir = tempfile::tempdir().expect("a folder");
        let held = dir.path().join("process");
        let made = dir.path().join("made");
        let makes = format!("open({:?}, 'w'); os.write(fd, b'1')", made.display().to_string());
        let mut process = begun(&held, &makes);
        assert!(!made.exists(), "it waits");
        assert!(process.attaching().expect("it began").done(Duration::from_secs(60)));
        assert!(made.exists(), "before it was done");
        assert!(process.attaching().is_none(), "once");
        assert_eq!(process.ended(), "ended (exit status: 0)");
        let mut process = begun(&held, "os._exit(3)");
        assert!(!process.attaching().expect("it began").done(Duration::from_secs(60)), "it has ended");
        assert_eq!(process.ended(), "ended (exit status: 3)");
        let mut process = begun(&held, "__import__('signal').pause()");
        let waited = process.attaching().expect("it began").done(Duration::from_millis(1));
        process.handle().tell(supervise::Signal::Kill);
        assert!(!waited, "it makes none");
    }

    #[test]
    fn a_child_without_a_handle_does_not_stay() {
        let mut command = Command::new("sleep");
        let child = command.arg("1000").spawn().expect("it starts");
        let folder = format!("/proc/{}", child.id());
        let (ready, _begun) = UnixStream::pair().expect("a pair");
        let refused = Process::of(child, ready, |_| Err(Errno::MFILE.into())).expect_err("no descriptor");
        assert_eq!(refused.raw_os_error(), Some(Errno::MFILE.raw_os_error()));
        assert!(!Path::new(&folder).exists(), "it was killed, and waited for");
    }

    #[test]
    fn a_number_has_its_letters() {
        assert_eq!(&digits(0), b"0000000000");
        assert_eq!(&digits(4_294_967_295), b"4294967295");
        assert_eq!(std::str::from_utf8(&digits(70)).map(str::parse), Ok(Ok(70_u32)));
    }
}
