// SPDX-License-Identifier: MIT OR Apache-2.0
//! What systemd is told: sd_notify(3).

use std::ffi::OsStr;
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

use crate::log;

/// Tells who started this daemon, if it wants to know: `READY=1`, `STOPPING=1`.
pub fn say(state: &str) {
    let Some(to) = std::env::var_os("NOTIFY_SOCKET") else { return };
    if let Err(e) = send(&to, state) {
        log::warn(&format!("systemd is not told {state} ({e})"));
    }
}

fn send(to: &OsStr, state: &str) -> io::Result<()> {
    let address = match to.as_bytes() {
        [b'@', name @ ..] => SocketAddr::from_abstract_name(name)?,
        _ => SocketAddr::from_pathname(to)?,
    };
    UnixDatagram::unbound()?.send_to_addr(state.as_bytes(), &address)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_one_datagram() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("notify");
        let socket = UnixDatagram::bind(&path).expect("bound");
        send(path.as_os_str(), "READY=1").expect("sent");
        let mut octets = [0; 32];
        let len = socket.recv(&mut octets).expect("there is one");
        assert_eq!(&octets[..len], b"READY=1");
        assert!(send(dir.path().join("nobody").as_os_str(), "READY=1").is_err());
    }
}
