// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the programs do, at whichever end the server is.

pub mod languages;
pub mod stores;
pub mod tools;
pub mod web;

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use carrick_tests::net::{End, Net};
use carrick_tests::running::{Running, started};

use super::programs::Place;

impl Place {
    fn command(&self, end: End, program: &str) -> Command {
        match end {
            End::Ours => self.stack.command(&self.net, program),
            End::Peer => self.net.command(End::Peer, program),
        }
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Lets all users enter its folder and that of the stack's door.
    fn open_to_users(&self) {
        let door = self.stack.door();
        for folder in [self.path(), door.parent().expect("a folder")] {
            std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755)).expect("ours");
        }
    }

    /// Starts a server, and waits until the other end can connect to this port.
    fn serve(&self, server: End, command: &mut Command, port: u16) -> Running {
        let (running, lines) = started(command);
        let said = std::thread::spawn(move || lines.collect::<Vec<_>>());
        if !self.connects(other(server), address(server), port) {
            drop(running);
            panic!("{command:?} does not serve: {:?}", said.join());
        }
        running
    }

    /// Waits until a program at this end can connect. Not all servers say when they listen, and a namespace's are
    /// served a moment later.
    fn connects(&self, from: End, address: &str, port: u16) -> bool {
        let script = format!("until (: <>/dev/tcp/{address}/{port}) 2>/dev/null; do sleep 0.01; done");
        self.command(from, "timeout").args(["60", "bash", "-c", &script]).status().is_ok_and(|s| s.success())
    }
}

fn other(end: End) -> End {
    if end == End::Ours { End::Peer } else { End::Ours }
}

fn address(end: End) -> &'static str {
    if end == End::Ours { Net::OURS } else { Net::PEER }
}

/// What it printed; it must have succeeded.
fn output(command: &mut Command) -> Vec<u8> {
    let done = command.output().expect("it starts");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{command:?}: {said}{}", String::from_utf8_lossy(&done.stdout));
    done.stdout
}

/// The bytes of a file to transfer.
fn data(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|n| (n * 31 % 251) as u8).collect()
}

/// Fails with the lengths alone, which are enough to read, if the bytes are others.
fn same(got: &[u8], wanted: &[u8]) {
    assert!(got == wanted, "{} bytes of {}, or others", got.len(), wanted.len());
}

fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}
