// SPDX-License-Identifier: MIT OR Apache-2.0
//! The socket by which a daemon is asked how it is. Only who may read and write it can ask: root.

use std::fs::{self, Permissions};
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

use carrick_driver::Failure;

use crate::server::{self, PATIENCE, Protocol};

/// Bytes of the longest question that is read.
const LONGEST: usize = 64;
/// The answer to any other request.
pub const UNKNOWN: &str = "ask `status` or `connections`\n";

/// What can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question {
    /// all that there is, in numbers
    Status,
    /// the same, with each connection
    Connections,
}

impl Question {
    /// As it is sent.
    pub fn line(self) -> &'static str {
        match self {
            Question::Status => "status\n",
            Question::Connections => "connections\n",
        }
    }
}

/// What answers: JSON, or a sentence.
pub type Answer = Box<dyn Fn(Question) -> String + Send>;

/// Listens at a path, where this process alone may listen, until it ends.
///
/// # Errors
/// What the system says.
pub fn listen(path: &Path, answer: Answer) -> Result<(), Failure> {
    let cannot = |e: io::Error| Failure::Missing(format!("cannot listen at {}: {e}", path.display()));
    // A dead daemon's: another living one is not here, as it would hold the pins.
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(cannot(e)),
        _ => {}
    }
    let listener = UnixListener::bind(path).map_err(cannot)?;
    fs::set_permissions(path, Permissions::from_mode(0o600)).map_err(cannot)?;
    server::listen(listener, protocol(answer)).map_err(cannot)
}

/// A line is a request.
pub fn protocol(answer: Answer) -> Protocol {
    let answer = move |line: &[u8]| {
        let mut known = [Question::Status, Question::Connections].into_iter();
        let known = known.find(|question| question.line().as_bytes() == line);
        known.map_or_else(|| UNKNOWN.to_owned(), &answer).into_bytes()
    };
    Protocol { is_whole: |line| line.contains(&b'\n'), longest: LONGEST, answer: Box::new(answer) }
}

/// Asks the daemon at this path; `None` if there is none.
///
/// # Errors
/// It does not answer, or this process may not ask.
pub fn ask(path: &Path, question: Question) -> Result<Option<String>, Failure> {
    let cannot = |e: io::Error| {
        Failure::Missing(format!("cannot ask carrickd at {}: {e}; run as root", path.display()))
    };
    let mut stream = match UnixStream::connect(path) {
        Err(e) if [io::ErrorKind::NotFound, io::ErrorKind::ConnectionRefused].contains(&e.kind()) => {
            return Ok(None);
        }
        other => other.map_err(cannot)?,
    };
    let mut text = String::new();
    let asked = stream.set_read_timeout(Some(PATIENCE)).and_then(|()| {
        stream.write_all(question.line().as_bytes())?;
        stream.shutdown(Shutdown::Write)?;
        stream.read_to_string(&mut text)
    });
    asked.map_err(cannot)?;
    Ok(Some(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_is_answered_and_who_asks_nonsense_is_told() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("control");
        assert_eq!(ask(&path, Question::Status), Ok(None), "nobody is there");
        let answer = |question| format!("all is well with {question:?}\n");
        listen(&path, Box::new(answer)).expect("bound");
        // It never asks, and nobody waits for it.
        let _silent = UnixStream::connect(&path).expect("it listens");
        for question in [Question::Status, Question::Connections] {
            assert_eq!(ask(&path, question), Ok(Some(answer(question))));
        }
        let mut stream = UnixStream::connect(&path).expect("it listens");
        stream.write_all(b"what is up?\n").expect("sent");
        let mut said = String::new();
        stream.read_to_string(&mut said).expect("UTF-8");
        assert_eq!(said, "ask `status` or `connections`\n");
        let mode = fs::metadata(&path).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "root alone");
    }
}
