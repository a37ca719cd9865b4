//! The host process of a program, in which its application is: started, watched, started again, ended. It outlives a daemon
//! that dies, and the next one finds it.

use std::fs;
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, TryRecvError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use carrick_driver::Failure;
use carrick_ir::Program;

use crate::config::Wanted;
use crate::log;
use crate::process::{Handle, Process};
use crate::status::OfHost;

/// How long a host process that died is waited with, at first and at most: the wait doubles each time that it did not live
/// even so long.
const AGAIN: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(10));

/// A process that is there until it is told to stop.
pub struct Host {
    app: String,
    state: Arc<Mutex<State>>,
    /// dropping it is what ends the waits
    stop: Mutex<Option<Sender<()>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Debug, Default)]
struct State {
    process: Option<Handle>,
    starts: u64,
}

/// What is started, each time.
struct Plan {
    name: String,
    executable: PathBuf,
    args: Vec<String>,
    /// the file by which it is found
    held: PathBuf,
    renew: Renew,
}

/// Takes back what a process had that is dead: nobody else knows its requests.
pub type Renew = Box<dyn Fn() -> Result<(), Failure> + Send>;

/// The executable, in the folder of what was built.
pub fn executable(program: &Program, built: &Path) -> PathBuf {
    built.join(format!("{}-host", program.name))
}

/// The file that the process holds, there too.
fn held(built: &Path) -> PathBuf {
    built.join("process")
}

fn find(built: &Path) -> Result<Option<(Process, Vec<String>)>, Failure> {
    let held = held(built);
    Process::find(&held).map_err(|e| {
        Failure::Failed(format!(
            "cannot tell who holds {}: {e}; `fuser {}` may, end that",
            held.display(),
            held.display()
        ))
    })
}

/// Ends what a dead daemon left there, and takes away the file of its sockets' door, which a killed process leaves.
///
/// # Errors
/// What the system says.
pub fn end(built: &Path) -> Result<(), Failure> {
    if let Some((process, _)) = find(built)? {
        process.handle().end();
    }
    let words = Process::words(&held(built));
    let doors = words.iter().filter_map(|word| word.strip_prefix("sockets:")?.split(',').next());
    for door in doors.filter(|door| nobody_listens(Path::new(door))) {
        fs::remove_file(door).map_err(|e| Failure::Failed(format!("cannot remove {door}: {e}")))?;
    }
    Ok(())
}

/// Whether this is the file of a socket whose process is gone.
fn nobody_listens(path: &Path) -> bool {
    let is_socket = fs::symlink_metadata(path).is_ok_and(|file| file.file_type().is_socket());
    let refused = |e: io::Error| e.kind() == io::ErrorKind::ConnectionRefused;
    is_socket && UnixStream::connect(path).err().is_some_and(refused)
}

fn args(app: &str, wanted: &Wanted, pins: &Path) -> Vec<String> {
    let port = format!("kernel:{}", pins.display());
    ["--port", &port, "--addr", &wanted.address, "--app", app].map(str::to_owned).to_vec()
}

/// The process of the application that is wanted, if a dead daemon left it; another one that it left is ended.
///
/// # Errors
/// What the system says.
pub fn running(
    program: &Program,
    wanted: &Wanted,
    built: &Path,
    pins: &Path,
) -> Result<Option<Process>, Failure> {
    let name = &wanted.name;
    if wanted.app.is_none() && program.interface.is_some() {
        log::warn(&format!("{name} has no application (`app`): nobody calls it, and no timer of it fires"));
    }
    let Some((process, words)) = find(built)? else { return Ok(None) };
    if wanted.app.as_ref().is_some_and(|app| words == args(app, wanted, pins)) {
        return Ok(Some(process));
    }
    log::info(&format!("{name} has another application now; the last one's process is ended"));
    process.handle().end();
    Ok(None)
}

impl Host {
    /// Starts the host process of a program that is pinned, or goes on with one; `None` where no application is wanted.
    ///
    /// # Errors
    /// The application cannot begin: as it is written, or with this program.
    pub fn of(
        program: &Program,
        wanted: &Wanted,
        built: &Path,
        pins: &Path,
        found: Option<Process>,
        renew: Renew,
    ) -> Result<Option<Host>, Failure> {
        let Some(app) = wanted.app.clone() else { return Ok(None) };
        let args = args(&app, wanted, pins);
        let executable = executable(program, built);
        let plan = Plan { name: wanted.name.clone(), executable, args, held: held(built), renew };
        let starts = u64::from(found.is_none());
        let process = found.map_or_else(|| first(&plan, &app), Ok)?;
        Ok(Some(Host::start(plan, app, Some(process), starts)))
    }

    fn start(plan: Plan, app: String, found: Option<Process>, starts: u64) -> Host {
        let (stop, stopped) = mpsc::channel();
        let process = found.as_ref().map(|process| process.handle().clone());
        let state = Arc::new(Mutex::new(State { process, starts }));
        let shared = state.clone();
        let thread = thread::spawn(move || keep(&plan, &shared, &stopped, found));
        Host { app, state, stop: Mutex::new(Some(stop)), thread: Mutex::new(Some(thread)) }
    }

    /// How it is now.
    pub fn status(&self) -> OfHost {
        let state = lock(&self.state);
        let process = state.process.as_ref().map(Handle::pid);
        OfHost { app: self.app.clone(), process, starts: state.starts }
    }

    /// Ends the process, and does not start it again.
    pub fn stop(&self) {
        drop(lock(&self.stop).take());
        let process = lock(&self.state).process.clone();
        if let Some(process) = process {
            process.end();
        }
        if let Some(thread) = lock(&self.thread).take() {
            // A panic of it was told when it came.
            let _ = thread.join();
        }
    }
}

/// The first process of a plan, once its application has begun. One that does not begin now never will.
fn first(plan: &Plan, app: &str) -> Result<Process, Failure> {
    let started = Process::start(&plan.executable, &plan.args, &plan.held);
    let mut process =
        started.map_err(|e| Failure::Failed(format!("{app} of {} does not start: {e}", plan.name)))?;
    if process.begins() {
        return Ok(process);
    }
    Err(Failure::Usage(format!(
        "{} cannot begin with the application {app}, and says why above; its process {}",
        plan.name,
        process.ended()
    )))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How long is waited with a process that lived so long, after this wait with the one before it; and after it, if the next
/// one dies at once.
fn wait_after(wait: Duration, lived: Duration) -> (Duration, Duration) {
    let now = if lived < AGAIN.1 { wait } else { AGAIN.0 };
    (now, (now * 2).min(AGAIN.1))
}

/// Starts the process as often as it ends, until it is told to stop.
fn keep(plan: &Plan, state: &Mutex<State>, stopped: &Receiver<()>, mut found: Option<Process>) {
    let (mut next, mut had) = (AGAIN.0, false);
    loop {
        let begun = Instant::now();
        let renewed = if had { (plan.renew)().map_err(|e| e.to_string()) } else { Ok(()) };
        had = had && renewed.is_err();
        let process = match found.take() {
            Some(process) => Ok(process),
            None => renewed.and_then(|()| begin(plan, state, stopped).map_err(|e| e.to_string())),
        };
        let why = match process {
            Ok(process) => {
                had = true;
                process.ended()
            }
            Err(e) => format!("does not start ({e})"),
        };
        lock(state).process = None;
        // It is told to stop when nobody is left to tell it.
        if stopped.try_recv() != Err(TryRecvError::Empty) {
            return;
        }
        let (wait, after) = wait_after(next, begun.elapsed());
        next = after;
        log::warn(&format!(
            "the host process of {} {why}; it is started again in {} ms",
            plan.name,
            wait.as_millis()
        ));
        match stopped.recv_timeout(wait) {
            Err(RecvTimeoutError::Timeout) => {}
            _ => return,
        }
    }
}

fn begin(plan: &Plan, state: &Mutex<State>, stopped: &Receiver<()>) -> io::Result<Process> {
    // Whoever stops looks for the process behind this lock.
    let mut state = lock(state);
    if stopped.try_recv() != Err(TryRecvError::Empty) {
        return Err(io::ErrorKind::Interrupted.into());
    }
    let process = Process::start(&plan.executable, &plan.args, &plan.held)?;
    state.process = Some(process.handle().clone());
    state.starts += 1;
    Ok(process)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Read;
    use std::os::unix::net::UnixListener;

    /// A process that says on a socket that it is there, and waits for an answer.
    fn plan(dir: &Path) -> (Plan, UnixListener) {
        let socket = dir.join("here");
        let listener = UnixListener::bind(&socket).expect("bound");
        let script = "import socket,sys; s=socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.recv(1)";
        let args = ["-c", script, &socket.display().to_string()].map(str::to_owned).to_vec();
        (
            Plan {
                name: "test".into(),
                executable: "python3".into(),
                args,
                held: held(dir),
                renew: Box::new(|| Ok(())),
            },
            listener,
        )
    }

    #[test]
    fn who_dies_is_started_again_and_who_is_stopped_is_not() {
        let dir = tempfile::tempdir().expect("a folder");
        let (plan, listener) = plan(dir.path());
        let host = Host::start(plan, "echo".into(), None, 0);
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
    fn who_was_there_before_is_kept_until_it_ends() {
        let dir = tempfile::tempdir().expect("a folder");
        let (plan, listener) = plan(dir.path());
        let mut before = Process::start(&plan.executable, &plan.args, &plan.held).expect("it starts");
        let (there, _) = listener.accept().expect("it came");
        let (found, _) = find(dir.path()).expect("no trouble").expect("it is there");
        let host = Host::start(plan, "echo".into(), Some(found), 0);
        let status = host.status();
        assert_eq!((status.starts, status.process), (0, Some(before.handle().pid())));
        drop(there);
        let (_again, _) = listener.accept().expect("another one came");
        assert_eq!(host.status().starts, 1);
        before = Process::find(&held(dir.path())).expect("no trouble").expect("it is there").0;
        assert_eq!(host.status().process, Some(before.handle().pid()));
        host.stop();
        end(dir.path()).expect("nobody is there");
    }

    #[test]
    fn what_does_not_start_ends_no_daemon() {
        let dir = tempfile::tempdir().expect("a folder");
        let (args, held) = (Vec::new(), held(dir.path()));
        let plan = Plan {
            renew: Box::new(|| Ok(())),
            name: "test".into(),
            executable: "/nowhere/at-all".into(),
            args,
            held,
        };
        let host = Host::start(plan, "echo".into(), None, 0);
        assert_eq!(host.status().starts, 0);
        host.stop();
    }

    #[test]
    fn what_cannot_begin_is_refused_and_leaves_no_process() {
        let dir = tempfile::tempdir().expect("a folder");
        let (mut plan, listener) = plan(dir.path());
        plan.args[1] = "import sys; sys.exit(2)".into();
        let said = first(&plan, "echo").expect_err("it ends at once").to_string();
        assert!(said.starts_with("test cannot begin with the application echo"), "{said}");
        assert!(said.ends_with("its process ended (exit status: 2)"), "{said}");
        plan.args[1] = "import os; os.write(int(os.environ['CARRICK_READY']), b'1')".into();
        assert_eq!(first(&plan, "echo").expect("it begins").ended(), "ended (exit status: 0)");
        drop(listener);
    }

    #[test]
    fn the_file_of_a_door_goes_with_what_is_ended() {
        let dir = tempfile::tempdir().expect("a folder");
        let (dead, lives) = (dir.path().join("dead"), dir.path().join("lives"));
        drop(UnixListener::bind(&dead).expect("bound"));
        let _listener = UnixListener::bind(&lives).expect("bound");
        for (door, left) in [(&dead, false), (&lives, true)] {
            let words = format!("0000000001\n--app\nsockets:{},33:80-80", door.display());
            fs::write(held(dir.path()), words).expect("writable");
            end(dir.path()).expect("nobody is there");
            assert_eq!(door.exists(), left, "{}", door.display());
        }
    }

    #[test]
    fn who_dies_soon_is_waited_with_longer_each_time() {
        let (mut next, mut waits) = (AGAIN.0, Vec::new());
        for lived in [0, 0, 9, 0, 0, 0, 0, 0, 0, 10, 0] {
            let (wait, after) = wait_after(next, Duration::from_secs(lived));
            waits.push(wait.as_millis());
            next = after;
        }
        assert_eq!(waits, [100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000, 100, 200]);
    }
}
