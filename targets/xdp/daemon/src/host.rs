// SPDX-License-Identifier: MIT OR Apache-2.0
//! The host process of a program, in which its application is: how it is started, and what a dead one left. It outlives a daemon
//! that dies, and the next one finds it.

use std::fs;
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use carrick_driver::Failure;
use carrick_ir::Program;

use crate::config::Wanted;
use crate::process::Process;

/// The executable, in the folder of what was built.
pub fn executable(program: &Program, built: &Path) -> PathBuf {
    built.join(format!("{}-host", program.name))
}

/// The file that the process holds, there too.
pub fn held(built: &Path) -> PathBuf {
    built.join("process")
}

/// The process that a dead daemon left there, and the words that it was started with.
///
/// # Errors
/// What the system says.
pub fn find(built: &Path) -> Result<Option<(Process, Vec<String>)>, Failure> {
    let held = held(built);
    Process::find(&held).map_err(|e| {
        Failure::Failed(format!(
            "cannot find the process that uses {}: {e}; find it with `fuser {}`, and end it",
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

/// The words that a process is started with.
pub fn args(app: &str, wanted: &Wanted, pins: &Path) -> Vec<String> {
    let port = format!("kernel:{}", pins.display());
    ["--port", &port, "--addr", &wanted.address, "--app", app].map(str::to_owned).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;
    use std::thread;

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
}
