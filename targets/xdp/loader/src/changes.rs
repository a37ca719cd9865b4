// SPDX-License-Identifier: MIT OR Apache-2.0
//! When devices come, go, or get another name: netlink's group of links.

use std::io;
use std::mem;
use std::os::fd::{AsRawFd, OwnedFd};

use crate::device::owned;

/// Hears of each change of a device in the network namespace in which this was made.
#[derive(Debug)]
pub struct Changes(OwnedFd);

impl Changes {
    /// From now on changes are heard.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn new() -> io::Result<Changes> {
        let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC;
        // SAFETY: no memory is handed over.
        let made = unsafe { libc::socket(libc::AF_NETLINK, kind, libc::NETLINK_ROUTE) };
        if made < 0 {
            return Err(io::Error::last_os_error());
        }
        let socket = owned(made);
        // SAFETY: all zeros are such an address: numbers.
        let mut group: libc::sockaddr_nl = unsafe { mem::zeroed() };
        group.nl_family = libc::AF_NETLINK as libc::sa_family_t;
        group.nl_groups = libc::RTMGRP_LINK as u32;
        let (at, octets) = (std::ptr::from_ref(&group).cast(), mem::size_of_val(&group) as libc::socklen_t);
        // SAFETY: the address lives until the call returns, and its size is given.
        let bound = unsafe { libc::bind(socket.as_raw_fd(), at, octets) };
        if bound == 0 { Ok(Changes(socket)) } else { Err(io::Error::last_os_error()) }
    }

    /// Waits for the next change, and takes all that there are by then.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn wait(&self) -> io::Result<()> {
        let mut flags = 0;
        loop {
            // What changed is looked up: of each message one byte is taken.
            let mut octet = 0_u8;
            let at = std::ptr::from_mut(&mut octet).cast();
            // SAFETY: the byte lives until the call returns.
            let taken = unsafe { libc::recv(self.0.as_raw_fd(), at, 1, flags) };
            let error = if taken < 0 { io::Error::last_os_error().raw_os_error() } else { None };
            match error {
                Some(libc::EAGAIN) => return Ok(()),
                Some(libc::EINTR) => {}
                // ENOBUFS: more happened than the kernel keeps, so something did.
                None | Some(libc::ENOBUFS) => flags = libc::MSG_DONTWAIT,
                Some(other) => return Err(io::Error::from_raw_os_error(other)),
            }
        }
    }
}
