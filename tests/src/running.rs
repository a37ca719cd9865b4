//! Processes that run beside a test.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// A process that ends with its test.
pub struct Running(pub Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a server and waits for the line on standard error in which it says that it serves.
///
/// # Panics
/// If it does not start, or never says that.
pub fn serve(command: &mut Command, says: &str) -> Running {
    let mut child = command.stderr(Stdio::piped()).spawn().expect("it starts");
    let lines = BufReader::new(child.stderr.take().expect("stderr is piped"));
    let running = Running(child);
    let mut lines = lines.lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains(says)), "it never said `{says}`");
    // What else it says is nobody's, but somebody must read it.
    std::thread::spawn(move || lines.for_each(drop));
    running
}
