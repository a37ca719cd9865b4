// SPDX-License-Identifier: MIT OR Apache-2.0
//! Why a driver takes no program, in the kernel's words: `bpf(2)` has an error number alone, and netlink a sentence beside it (the
//! extended acknowledgement).

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

const SET_LINK: u16 = 19;
const REQUEST_AND_ACKNOWLEDGE: u16 = 1 | 4;
/// `IFLA_XDP`, with `NLA_F_NESTED`.
const XDP: u16 = 43 | 0x8000;
const XDP_FD: u16 = 1;
const XDP_FLAGS: u16 = 3;
/// `XDP_FLAGS_UPDATE_IF_NOEXIST`, and `XDP_FLAGS_DRV_MODE`.
const NEW_BY_THE_DRIVER: u32 = 1 | 1 << 2;
/// A descriptor that means: no program.
const NONE: i32 = -1;
const CAPPED_ACKNOWLEDGEMENT: libc::c_int = 10;
const EXTENDED_ACKNOWLEDGEMENT: libc::c_int = 11;
const ERROR: u16 = 2;
const HEADER: usize = 16;
/// `NLM_F_ACK_TLVS`: attributes are behind the error and the header of the request.
const HAS_ATTRIBUTES: u16 = 0x200;
const MESSAGE: u16 = 1;

/// Puts the program that the driver has refused there once more, by netlink. Returns why that is refused, if the kernel says it.
pub(crate) fn ask(program: BorrowedFd<'_>, device: u32) -> Option<String> {
    let mut socket = socket().ok()?;
    let answer = exchange(&mut socket, program.as_raw_fd(), device).ok()?;
    if code(&answer) == Some(0) {
        // What stood in its way is gone by now. Who wanted it there was told that it is not.
        let _ = exchange(&mut socket, NONE, device);
    }
    sentence(&answer)
}

fn socket() -> io::Result<File> {
    // SAFETY: no pointers.
    let fd =
        unsafe { libc::socket(libc::AF_NETLINK, libc::SOCK_RAW | libc::SOCK_CLOEXEC, libc::NETLINK_ROUTE) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: it is open, and this function's.
    let socket = unsafe { OwnedFd::from_raw_fd(fd) };
    for option in [EXTENDED_ACKNOWLEDGEMENT, CAPPED_ACKNOWLEDGEMENT] {
        let on: libc::c_int = 1;
        let len = size_of_val(&on) as libc::socklen_t;
        // SAFETY: the option is a number, which outlives the call.
        let set = unsafe {
            libc::setsockopt(socket.as_raw_fd(), libc::SOL_NETLINK, option, (&raw const on).cast(), len)
        };
        if set != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(File::from(socket))
}

fn exchange(socket: &mut File, program: i32, device: u32) -> io::Result<Vec<u8>> {
    socket.write_all(&request(program, device))?;
    let mut answer = vec![0; 4096];
    let len = socket.read(&mut answer)?;
    answer.truncate(len);
    Ok(answer)
}

/// `struct nlmsghdr`, `struct ifinfomsg`, and the program as attributes.
fn request(program: i32, device: u32) -> Vec<u8> {
    let inner =
        [attribute(XDP_FD, &program.to_ne_bytes()), attribute(XDP_FLAGS, &NEW_BY_THE_DRIVER.to_ne_bytes())];
    let xdp = attribute(XDP, &inner.concat());
    let mut link = vec![0; 4];
    link.extend(device.to_ne_bytes());
    link.resize(16, 0);
    let len = (HEADER + link.len() + xdp.len()) as u32;
    let mut message = len.to_ne_bytes().to_vec();
    message.extend(SET_LINK.to_ne_bytes());
    message.extend(REQUEST_AND_ACKNOWLEDGE.to_ne_bytes());
    message.resize(HEADER, 0);
    [message, link, xdp].concat()
}

/// An attribute of a multiple of 4 bytes.
fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let len = (4 + value.len()) as u16;
    [&len.to_ne_bytes()[..], &kind.to_ne_bytes(), value].concat()
}

fn short(message: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(message.get(at..at + 2)?.try_into().ok()?))
}

/// The error number of an answer; 0: none.
fn code(answer: &[u8]) -> Option<i32> {
    let is_error = short(answer, 4)? == ERROR;
    is_error.then_some(i32::from_ne_bytes(answer.get(HEADER..HEADER + 4)?.try_into().ok()?))
}

/// The sentence of an answer.
fn sentence(answer: &[u8]) -> Option<String> {
    if code(answer)? == 0 || short(answer, 6)? & HAS_ATTRIBUTES == 0 {
        return None;
    }
    let mut rest = answer.get(HEADER + 4 + HEADER..)?;
    while !rest.is_empty() {
        let (len, kind) = (usize::from(short(rest, 0)?), short(rest, 2)?);
        let value = rest.get(4..len)?;
        if kind == MESSAGE {
            let text = value.split(|byte| *byte == 0).next()?;
            return Some(String::from_utf8_lossy(text).into_owned());
        }
        rest = rest.get(len.next_multiple_of(4)..)?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(code: i32, flags: u16, attributes: &[u8]) -> Vec<u8> {
        let mut message = vec![0; 4];
        message.extend(ERROR.to_ne_bytes());
        message.extend(flags.to_ne_bytes());
        message.resize(HEADER, 0);
        message.extend(code.to_ne_bytes());
        message.resize(HEADER + 4 + HEADER, 0);
        message.extend(attributes);
        message
    }

    #[test]
    fn a_sentence_is_found_behind_other_attributes() {
        let attributes =
            [attribute(2, &[1, 2, 3, 4]), attribute(MESSAGE, b"Peer MTU is too large\0")].concat();
        let said = answer(-libc::ERANGE, HAS_ATTRIBUTES, &attributes);
        assert_eq!(sentence(&said).as_deref(), Some("Peer MTU is too large"));
        assert_eq!(sentence(&answer(-libc::ERANGE, 0, &[])), None);
        assert_eq!(sentence(&answer(0, HAS_ATTRIBUTES, &attributes)), None);
        for len in 0..said.len() {
            assert!(sentence(&said[..len]).is_none(), "cut after {len} bytes");
        }
    }
}
