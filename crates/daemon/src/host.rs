//! The host process of a program, in which its applications are: started, watched, started again, ended.

use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use carrick_driver::Failure;
use carrick_ir::Program;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, kill_process, set_parent_process_death_signal, waitid,
};

use crate::config::Wanted;
use crate::log;
use crate::status::OfHost;

/// How long a host process that died is waited with, at first and at most: the wait doubles each time.
const AGAIN: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(10));
/// How long one may take to end.
const END: Duration = Duration::from_secs(5);

/// A process that is there until it is told to stop.
pub struct Host {
    app: String,
    state: Arc<Mutex<State>>,
    /// dropping it is what ends the waits
    stop: Mutex<Option<Sender<()>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    ended: Mutex<Receiver<()>>,
}

#[derive(Debug, Default)]
struct State {
    /// it has not been waited for: nobody else can have its number
    process: Option<Pid>,
    starts: u64,
}

/// What is started, each time.
struct Plan {
    name: String,
    executable: PathBuf,
    args: Vec<String>,
}

impl Host {
    /// Starts the host process of a program that is pinned; `None` where no application is wanted.
    ///
    /// # Errors
    /// One is wanted, and the program cannot have any.
    pub fn of(
        program: &Program,
        wanted: &Wanted,
        built: &Path,
        pins: &Path,
    ) -> Result<Option<Host>, Failure> {
        let Some(app) = &wanted.app else {
            if program.interface.is_some() {
                log::warn(&format!(
                    "{} has no application (`app`): nobody calls it, and no timer of it fires",
                    wanted.name
                ));
            }
            return Ok(None);
        };
        if program.interface.is_none() {
            let name = &wanted.name;
            return Err(Failure::Usage(format!(
                "{name} has no interface for an application; leave `app` out"
            )));
        }
        let args = ["--port".to_owned(), format!("kernel:{}", pins.display())].into_iter();
        let args = args.chain(["--addr".into(), wanted.address.clone(), "--app".into(), app.clone()]);
        let executable = built.join(format!("{}-host", program.name));
        let plan = Plan { name: wanted.name.clone(), executable, args: args.collect() };
        Ok(Some(Host::start(plan, app.clone())))
    }

    fn start(plan: Plan, app: String) -> Host {
        let (stop, stopped) = mpsc::channel();
        let (ending, ended) = mpsc::channel();
        let state = Arc::new(Mutex::new(State::default()));
        let shared = state.clone();
        let thread = thread::spawn(move || {
            keep(&plan, &shared, &stopped);
            // Nobody waits for it where the daemon is gone.
            let _ = ending.send(());
        });
        Host {
            app,
            state,
            stop: Mutex::new(Some(stop)),
            thread: Mutex::new(Some(thread)),
            ended: Mutex::new(ended),
        }
    }

    /// How it is now.
    pub fn status(&self) -> OfHost {
        let state = lock(&self.state);
        let process = state.process.map(|pid| pid.as_raw_nonzero().get().unsigned_abs());
        OfHost { app: self.app.clone(), process, starts: state.starts }
    }

    fn signal(&self, signal: Signal) {
        if let Some(pid) = lock(&self.state).process {
            // It cannot be gone: it has not been waited for.
            let _ = kill_process(pid, signal);
        }
    }

    /// Ends the process, and does not start it again.
    pub fn stop(&self) {
        drop(lock(&self.stop).take());
        self.signal(Signal::TERM);
        if let Err(RecvTimeoutError::Timeout) = lock(&self.ended).recv_timeout(END) {
            log::warn("a host process does not end; it is killed");
            self.signal(Signal::KILL);
        }
        if let Some(thread) = lock(&self.thread).take() {
            // A panic of it was told when it came.
            let _ = thread.join();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts the process as often as it ends, until it is told to stop.
fn keep(plan: &Plan, state: &Mutex<State>, stopped: &Receiver<()>) {
    let mut wait = AGAIN.0;
    loop {
        let why = match once(plan, state, stopped) {
            Ok(status) => format!("ended ({status})"),
            Err(e) => format!("does not start ({e})"),
        };
        // It is told to stop when nobody is left to tell it.
        match stopped.recv_timeout(Duration::ZERO) {
            Err(RecvTimeoutError::Timeout) => {}
            _ => return,
        }
        log::warn(&format!(
            "the host process of {} {why}; it is started again in {} ms",
            plan.name,
            wait.as_millis()
        ));
        match stopped.recv_timeout(wait) {
            Err(RecvTimeoutError::Timeout) => wait = (wait * 2).min(AGAIN.1),
            _ => return,
        }
    }
}

/// Starts the process and waits for its end.
fn once(plan: &Plan, state: &Mutex<State>, stopped: &Receiver<()>) -> io::Result<std::process::ExitStatus> {
    let mut child = {
        // Whoever stops looks for the process behind this lock.
        let mut state = lock(state);
        if !matches!(stopped.try_recv(), Err(mpsc::TryRecvError::Empty)) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let child = spawn(plan)?;
        state.process = Pid::from_raw(child.id().cast_signed());
        state.starts += 1;
        child
    };
    let pid = Pid::from_child(&child);
    while let Err(rustix::io::Errno::INTR) =
        waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)
    {}
    let mut state = lock(state);
    state.process = None;
    child.wait()
}

fn spawn(plan: &Plan) -> io::Result<Child> {
    let mut command = Command::new(&plan.executable);
    command.args(&plan.args);
    // The next daemon's host must find nobody else at the program's reports.
    // SAFETY: it makes one system call, and touches nothing that another thread may hold.
    unsafe {
        command.pre_exec(|| set_parent_process_death_signal(Some(Signal::KILL)).map_err(io::Error::from));
    }
    command.spawn()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Read;
    use std::os::unix::net::UnixListener;

    /// A process that says on a socket that it is there, and then does what it is told.
    fn plan(dir: &Path, then: &str) -> (Plan, UnixListener) {
        let socket = dir.join("here");
        let listener = UnixListener::bind(&socket).expect("bound");
        let script = format!(
            "import os,signal,socket,sys\ns=socket.socket(socket.AF_UNIX)\ns.connect({:?})\n{then}",
            socket.display().to_string()
        );
        let args = vec!["-c".to_owned(), script];
        (Plan { name: "test".into(), executable: "python3".into(), args }, listener)
    }

    #[test]
    fn who_dies_is_started_again_and_who_is_stopped_is_not() {
        let dir = tempfile::tempdir().expect("a folder");
        let (plan, listener) = plan(dir.path(), "s.recv(1)\n");
        let host = Host::start(plan, "echo".into());
        let (first, _) = listener.accept().expect("it came");
        let process = host.status().process.expect("it is there");
        assert_eq!(host.status().starts, 1);
        drop(first);
        let (mut second, _) = listener.accept().expect("it came again");
        let status = host.status();
        assert_eq!((status.starts, status.process.is_some_and(|p| p != process)), (2, true));
        host.stop();
        assert_eq!(host.status().process, None);
        assert_eq!(second.read(&mut [0]).expect("it closed"), 0);
        assert!(!fs::exists(format!("/proc/{}", status.process.unwrap_or_default())).unwrap_or(true));
    }

    #[test]
    fn what_does_not_start_ends_no_daemon() {
        let plan = Plan { name: "test".into(), executable: "/nowhere/at-all".into(), args: Vec::new() };
        let host = Host::start(plan, "echo".into());
        assert_eq!(host.status().starts, 0);
        host.stop();
    }
}
