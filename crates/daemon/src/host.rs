//! The host process of a program, in which its application is: started, watched, started again, ended. It outlives a daemon
//! that dies, and the next one finds it.

use std::fs;
use std::io::{self, PipeReader, PipeWriter};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use carrick_driver::Failure;
use carrick_ir::Program;

use crate::config::Wanted;
use crate::log;
use crate::process::{Process, wait};
use crate::status::OfHost;
use crate::supervise::{Action, Event, Supervisor};

/// A process that is there until it is told to stop.
pub struct Host {
    app: String,
    supervisor: Arc<Mutex<Supervisor>>,
    /// the file by which the process is found
    held: PathBuf,
    /// dropping it wakes the thread
    wake: Mutex<Option<PipeWriter>>,
    thread: Mutex<Option<JoinHandle<()>>>,
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
    remove_doors(&held(built))
}

/// Removes the files of the sockets' doors of the process that held this file last.
fn remove_doors(held: &Path) -> Result<(), Failure> {
    let words = Process::words(held);
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
        let wake = io::pipe().map_err(|e| Failure::Failed(format!("cannot watch {app}: {e}")))?;
        let process = found.map_or_else(|| first(&plan, &app), Ok)?;
        Ok(Some(Host::start(plan, app, Some(process), starts, wake)))
    }

    fn start(
        plan: Plan,
        app: String,
        process: Option<Process>,
        starts: u64,
        (woken, wake): (PipeReader, PipeWriter),
    ) -> Host {
        let pid = process.as_ref().map(|process| process.handle().pid());
        let supervisor = Arc::new(Mutex::new(Supervisor::new(pid, starts)));
        let (shared, held) = (supervisor.clone(), plan.held.clone());
        let keeper = Keeper { plan, process, woken: Some(woken), clock: Instant::now() };
        let thread = thread::spawn(move || keeper.keep(&shared));
        Host { app, supervisor, held, wake: Mutex::new(Some(wake)), thread: Mutex::new(Some(thread)) }
    }

    /// How it is now.
    pub fn status(&self) -> OfHost {
        let (process, starts) = lock(&self.supervisor).status();
        OfHost { app: self.app.clone(), process, starts }
    }

    /// Ends the process, and does not start it again.
    ///
    /// # Errors
    /// What the process left and cannot be removed.
    pub fn stop(&self) -> Result<(), Failure> {
        lock(&self.supervisor).stop();
        drop(lock(&self.wake).take());
        if let Some(thread) = lock(&self.thread).take() {
            // A panic of it was told when it came.
            let _ = thread.join();
        }
        remove_doors(&self.held)
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

/// What a supervisor acts on.
struct Keeper {
    plan: Plan,
    process: Option<Process>,
    /// until it was woken
    woken: Option<PipeReader>,
    clock: Instant,
}

impl Keeper {
    /// Does what the supervisor says until it leaves.
    fn keep(mut self, supervisor: &Mutex<Supervisor>) {
        let mut event = Event::Time;
        loop {
            let mut held = lock(supervisor);
            if self.woken.is_none() && self.process.is_none() {
                // Nobody is left who could stop it.
                held.stop();
            }
            let mut action = held.next(self.clock.elapsed(), event);
            // It starts behind the lock: nobody stops between the decision and the start, and the status knows the process.
            if action == Action::Start {
                let started = self.start();
                action = held.next(self.clock.elapsed(), started);
            }
            drop(held);
            if action == Action::Leave {
                return;
            }
            event = self.act(action);
        }
    }

    fn start(&mut self) -> Event {
        let started = Process::start(&self.plan.executable, &self.plan.args, &self.plan.held);
        Event::Started(started.map_err(|e| e.to_string()).map(|process| {
            let pid = process.handle().pid();
            self.process = Some(process);
            pid
        }))
    }

    fn act(&mut self, action: Action) -> Event {
        match action {
            Action::Renew => return Event::Renewed((self.plan.renew)().map_err(|e| e.to_string())),
            Action::Start | Action::Leave => {}
            Action::Tell(signal) => {
                if let Some(process) = &self.process {
                    process.handle().tell(signal);
                }
            }
            Action::Report(why, wait) => log::warn(&format!(
                "the host process of {} {why}; it is started again in {} ms",
                self.plan.name,
                wait.as_millis()
            )),
            Action::Wait(until) => {
                let time = until.map(|until| until.saturating_sub(self.clock.elapsed()));
                if let Some(how) = wait(self.process.as_mut(), &mut self.woken, time) {
                    self.process = None;
                    return Event::Ended(how);
                }
            }
        }
        Event::Time
    }
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
        let host = Host::start(plan, "echo".into(), None, 0, io::pipe().expect("a pipe"));
        let (first, _) = listener.accept().expect("it came");
        let process = host.status().process.expect("it is there");
        assert_eq!(host.status().starts, 1);
        drop(first);
        let (mut second, _) = listener.accept().expect("it came again");
        let status = host.status();
        assert_eq!((status.starts, status.process.is_some_and(|p| p != process)), (2, true));
        host.stop().expect("nothing is left");
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
        let host = Host::start(plan, "echo".into(), Some(found), 0, io::pipe().expect("a pipe"));
        let status = host.status();
        assert_eq!((status.starts, status.process), (0, Some(before.handle().pid())));
        drop(there);
        let (_again, _) = listener.accept().expect("another one came");
        assert_eq!(host.status().starts, 1);
        before = Process::find(&held(dir.path())).expect("no trouble").expect("it is there").0;
        assert_eq!(host.status().process, Some(before.handle().pid()));
        host.stop().expect("nothing is left");
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
        let host = Host::start(plan, "echo".into(), None, 0, io::pipe().expect("a pipe"));
        assert_eq!(host.status().starts, 0);
        host.stop().expect("nothing is left");
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
        // A process that another test begins has the socket until it executes its program.
        while UnixStream::connect(&dead).is_ok() {
            thread::yield_now();
        }
        let _listener = UnixListener::bind(&lives).expect("bound");
        for (door, left) in [(&dead, false), (&lives, true)] {
            let words = format!("0000000001\n--app\nsockets:{},33:80-80", door.display());
            fs::write(held(dir.path()), words).expect("writable");
            end(dir.path()).expect("nobody is there");
            assert_eq!(door.exists(), left, "{}", door.display());
        }
    }

    #[test]
    fn the_file_of_a_door_goes_with_the_host() {
        let dir = tempfile::tempdir().expect("a folder");
        let (mut plan, listener) = plan(dir.path());
        let door = dir.path().join("door");
        plan.args[1] =
            plan.args[1].replace("s=", "d=socket.socket(socket.AF_UNIX); d.bind(sys.argv[2][8:]); s=");
        plan.args.push(format!("sockets:{}", door.display()));
        let host = Host::start(plan, "sockets".into(), None, 0, io::pipe().expect("a pipe"));
        let (_there, _) = listener.accept().expect("it came");
        assert!(door.exists());
        host.stop().expect("nothing is left");
        assert!(!door.exists(), "it was ended before it could remove its door");
    }
}
