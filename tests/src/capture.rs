// SPDX-License-Identifier: MIT OR Apache-2.0
//! Captures, as the simulator and stacks write them.

use std::process::Command;

/// What tshark says of a capture, a line for each packet that it shows: with these arguments, and with checksums looked at.
///
/// # Panics
/// If it cannot read the capture, or does not start.
pub fn tshark(file: &str, more: &[&str]) -> Vec<String> {
    let checks = ["-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE"];
    let done = Command::new("tshark").args(["-n", "-r", file]).args(checks).args(more).output();
    let done = done.expect("tshark runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).lines().map(str::to_owned).collect()
}

/// A packet of a capture.
pub struct Captured {
    /// the number of the interface that saw it
    pub interface: u32,
    /// whether the capturing node sent it, as the block's flags say
    pub sent: bool,
    /// without the Ethernet header that those of a device have
    pub packet: Vec<u8>,
}

/// The packets of a pcapng file: its enhanced packet blocks, as the format's draft (draft-ietf-opsawg-pcapng, section 4) has
/// them, in the byte order of this machine.
///
/// # Panics
/// If it is no such file, or is cut off.
pub fn captured(file: &[u8]) -> Vec<Captured> {
    const INTERFACE: usize = 1;
    const PACKET: usize = 6;
    const ETHERNET: u8 = 1;
    const FLAGS: usize = 2 | 4 << 16; // the option's code and length
    const OUTBOUND: usize = 2; // of the flags' lowest two bits
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().expect("four octets")) as usize;
    let (mut at, mut link_header, mut found) = (0, 0, Vec::new());
    while at < file.len() {
        match word(at) {
            INTERFACE => link_header = if file[at + 8] == ETHERNET { 14 } else { 0 },
            PACKET => {
                let end = at + 28 + word(at + 20);
                let options = end.next_multiple_of(4);
                found.push(Captured {
                    interface: word(at + 8) as u32,
                    sent: word(options) == FLAGS && word(options + 4) & 3 == OUTBOUND,
                    packet: file[at + 28 + link_header..end].to_vec(),
                });
            }
            _ => {}
        }
        at += word(at + 4);
    }
    found
}

/// The packets alone.
///
/// # Panics
/// As [`captured`].
pub fn packets(file: &[u8]) -> Vec<Vec<u8>> {
    captured(file).into_iter().map(|captured| captured.packet).collect()
}
