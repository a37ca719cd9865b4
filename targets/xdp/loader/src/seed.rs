// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random numbers of the system.

use std::fs::File;
use std::io::Read;

/// Returns a number that nobody can guess: the secret key of a program is made of it.
///
/// # Errors
/// Why the system has none.
pub fn seed() -> Result<u64, String> {
    let mut octets = [0; 8];
    let read = File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut octets));
    read.map_err(|e| format!("there are no random numbers: {e}"))?;
    Ok(u64::from_ne_bytes(octets))
}
