// SPDX-License-Identifier: MIT OR Apache-2.0
//! Applications of others' that may use a program in the kernel, and nothing else.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};

use carrick_tests::build::{host, root};
use carrick_tests::net::{End, Net};
use carrick_tests::running::{Running, serve};

use super::setting::{PROGRAM, Place, here};

/// The service that applications talk to, on the kernel's own stack.
pub fn service(net: &Net) -> Running {
    let script = root().join("tests/tests/sockets/peer.py");
    serve(net.command(End::Peer, "python3").arg("-u").arg(script).arg(Net::PEER), "ready")
}

/// An application whose sockets are the program's.
pub fn application(place: &Place, script: &str) -> Command {
    let library = host(PROGRAM).with_file_name("libcarrick-sockets.so");
    let mut command = place.net.command(End::Ours, "env");
    command.arg(format!("LD_PRELOAD={}", library.display()));
    command.arg(format!("CARRICK_SOCKETS={}", place.door().display()));
    command.arg("python3").arg("-u").arg(here(script));
    command
}

/// Starts it, and gives what it says until it has said this. It ends when its input does.
pub fn begun(mut command: Command, last: &str) -> (Ended, Vec<String>) {
    let mut child = Ended(command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts"));
    let lines = BufReader::new(child.0.stdout.as_mut().expect("piped")).lines().map_while(Result::ok);
    let mut said = Vec::new();
    for line in lines {
        said.push(line);
        if said.last().is_some_and(|line| line == last) {
            return (child, said);
        }
    }
    panic!("it never said {last}: {said:?}");
}

/// Starts it, and gives what it says first.
pub fn saying(mut command: Command) -> (Ended, String) {
    let mut child = Ended(command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts"));
    let line = child.line();
    (child, line)
}

/// A process that is not there after its test.
pub struct Ended(Child);

impl Ended {
    /// Writes this to it, and gives the line that it says then.
    pub fn asked(&mut self, text: &str) -> String {
        let input = self.0.stdin.as_mut().expect("piped");
        input.write_all(text.as_bytes()).expect("it reads");
        self.line()
    }

    /// The line that it says next, behind which it says nothing by itself.
    fn line(&mut self) -> String {
        let mut line = String::new();
        let said = self.0.stdout.as_mut().expect("piped");
        BufReader::new(said).read_line(&mut line).expect("UTF-8");
        line.trim_end().to_owned()
    }

    /// Ends its input; what else it says.
    pub fn end(mut self) -> String {
        drop(self.0.stdin.take());
        let mut said = String::new();
        self.0.stdout.take().expect("piped").read_to_string(&mut said).expect("UTF-8");
        assert!(self.0.wait().is_ok_and(|status| status.success()), "{said}");
        said
    }
}

impl Drop for Ended {
    fn drop(&mut self) {
        // If it has ended by then, there is nothing to kill.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_hostile_program_reaches_nothing_and_stalls_nobody() {
    let Some(place) = Place::start_door(",65534:8000-8099") else { return };
    let _service = service(&place.net);
    let honest = |pieces: &str| {
        let mut command = application(&place, "honest_program.py");
        command.args([Net::PEER, pieces]);
        begun(command, "begun").0
    };
    let beside = honest("1");
    let mut hostile = application(&place, "hostile_program.py");
    hostile.args([Net::OURS, Net::PEER, &place.host().to_string()]);
    hostile.args(place.objects().iter().map(|(kind, id)| format!("{kind}={id}")));
    let (hostile, said) = begun(hostile, "holding");
    let expected = [
        "objects EPERM",
        "load EPERM",
        "descriptors EACCES",
        "memory EACCES",
        "taken EPERM",
        "reset EACCES",
        "ports EACCES ok ok EACCES ok",
        "held 0",
        "reset own ok",
        "reset EACCES",
        "held 0",
        "holding",
    ];
    assert_eq!(said, expected);
    // While it holds what it has, and reads nothing: who was there goes on, and who comes begins.
    assert_eq!(honest("20").end(), "same\n");
    assert_eq!(beside.end(), "same\n");
    hostile.end();
    assert_eq!(honest("20").end(), "same\n");
    place.end();
}
