// SPDX-License-Identifier: MIT OR Apache-2.0
//! The few socket options that the standard library does not offer.

use std::ffi::{c_int, c_void};
use std::io;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use crate::connection::LoadError;

const AF_INET: c_int = 2;
const SOCK_STREAM_CLOEXEC: c_int = 1 | 0o2_000_000;
const SOL_SOCKET: c_int = 1;
const SO_REUSEADDR: c_int = 2;
const SO_SNDBUF: c_int = 7;
const SO_RCVBUF: c_int = 8;
const SO_LINGER: c_int = 13;
const IPPROTO_TCP: c_int = 6;
const TCP_NODELAY: c_int = 1;
const TCP_MAXSEG: c_int = 2;
const TCP_USER_TIMEOUT: c_int = 18;

#[repr(C)]
struct Address {
    family: u16,
    port_be: u16,
    ip_be: u32,
    zero: [u8; 8],
}

unsafe extern "C" {
    fn socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int;
    fn setsockopt(fd: c_int, level: c_int, name: c_int, value: *const c_void, len: u32) -> c_int;
    fn bind(fd: c_int, address: *const Address, len: u32) -> c_int;
    fn connect(fd: c_int, address: *const Address, len: u32) -> c_int;
    fn listen(fd: c_int, backlog: c_int) -> c_int;
}

/// What to set on each socket made from now on.
#[derive(Default)]
pub struct Options {
    set: Vec<(c_int, c_int, c_int)>,
}

/// A listening socket.
pub struct Listener(pub TcpListener);

impl Listener {
    pub fn accept(&self) -> io::Result<TcpStream> {
        Ok(self.0.accept()?.0)
    }
}

impl Options {
    /// Remembers an option for the sockets to come.
    pub fn set(&mut self, name: &str, value: c_int) -> Result<(), LoadError> {
        let (level, option) = match name {
            "rcvbuf" => (SOL_SOCKET, SO_RCVBUF),
            "sndbuf" => (SOL_SOCKET, SO_SNDBUF),
            "nodelay" => (IPPROTO_TCP, TCP_NODELAY),
            "mss" => (IPPROTO_TCP, TCP_MAXSEG),
            "user_timeout" => (IPPROTO_TCP, TCP_USER_TIMEOUT),
            _ => return Err(format!("unknown option: {name}").into()),
        };
        self.set.push((level, option, value));
        Ok(())
    }

    pub fn connect(&self, ip: &str, port: u16) -> Result<TcpStream, LoadError> {
        let ip: Ipv4Addr = ip.parse().map_err(|_| "not an address")?;
        let fd = self.make()?;
        let address = Address::new(ip, port);
        // SAFETY: `address` is a sockaddr_in and its size is given.
        check(unsafe { connect(fd.as_raw_fd(), &address, size_of::<Address>() as u32) })?;
        Ok(TcpStream::from(fd))
    }

    pub fn listen(&self, port: u16, backlog: c_int) -> io::Result<Listener> {
        let fd = self.make()?;
        set(fd.as_raw_fd(), SOL_SOCKET, SO_REUSEADDR, &1)?;
        let address = Address::new(Ipv4Addr::UNSPECIFIED, port);
        // SAFETY: `address` is a sockaddr_in and its size is given.
        check(unsafe { bind(fd.as_raw_fd(), &address, size_of::<Address>() as u32) })?;
        // SAFETY: no memory is involved.
        check(unsafe { listen(fd.as_raw_fd(), backlog) })?;
        Ok(Listener(TcpListener::from(fd)))
    }

    fn make(&self) -> io::Result<OwnedFd> {
        // SAFETY: no memory is involved; the descriptor is new and ours.
        let fd = unsafe {
            let raw = socket(AF_INET, SOCK_STREAM_CLOEXEC, 0);
            check(raw)?;
            OwnedFd::from_raw_fd(raw)
        };
        for &(level, name, value) in &self.set {
            set(fd.as_raw_fd(), level, name, &value)?;
        }
        Ok(fd)
    }
}

impl Address {
    fn new(ip: Ipv4Addr, port: u16) -> Address {
        Address { family: AF_INET as u16, port_be: port.to_be(), ip_be: u32::from(ip).to_be(), zero: [0; 8] }
    }
}

/// Makes the coming close a reset.
pub fn linger_zero(stream: &TcpStream) -> io::Result<()> {
    set(stream.as_raw_fd(), SOL_SOCKET, SO_LINGER, &[1 as c_int, 0])
}

fn set<T>(fd: RawFd, level: c_int, name: c_int, value: &T) -> io::Result<()> {
    // SAFETY: the kernel reads `size_of::<T>()` bytes at `value` and keeps no reference.
    check(unsafe { setsockopt(fd, level, name, std::ptr::from_ref(value).cast(), size_of::<T>() as u32) })
}

fn check(result: c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
