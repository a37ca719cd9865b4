// SPDX-License-Identifier: MIT OR Apache-2.0
//! Maps, as bytes: what their values are made of, the generated program says.

use std::io;
use std::mem;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};

use aya::maps::MapData;

const LOOKUP: libc::c_long = 1;
const UPDATE: libc::c_long = 2;
const DELETE: libc::c_long = 3;
const NEXT_KEY: libc::c_long = 4;
const LOOKUP_AND_DELETE: libc::c_long = 21;
const TEST_RUN: libc::c_long = 10;
/// `BPF_NOEXIST`.
const NEW: u64 = 1;

/// `union bpf_attr` of the commands on elements.
#[repr(C)]
#[derive(Default)]
struct Element {
    map: u32,
    _pad: u32,
    key: u64,
    value: u64,
    flags: u64,
}

/// `union bpf_attr` of BPF_PROG_TEST_RUN.
#[repr(C)]
#[derive(Default)]
struct TestRun {
    program: u32,
    verdict: u32,
    data_in_len: u32,
    data_out_len: u32,
    data_in: u64,
    data_out: u64,
    repeat: u32,
    duration: u32,
    ctx_in_len: u32,
    ctx_out_len: u32,
    ctx_in: u64,
    ctx_out: u64,
    flags: u32,
    cpu: u32,
    batch: u32,
    _pad: u32,
}

/// The system call; `attr` is what its command takes (`union bpf_attr`). What it returns is a descriptor, or 0.
pub(crate) fn bpf<T>(command: libc::c_long, attr: &mut T) -> io::Result<RawFd> {
    // SAFETY: the attribute is that of the command, its size is given, and what it refers to outlives the call.
    let result = unsafe {
        libc::syscall(libc::SYS_bpf, command, std::ptr::from_mut(attr), mem::size_of::<T>() as libc::c_uint)
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result as RawFd) }
}

fn address<T>(of: &[T]) -> u64 {
    of.as_ptr() as u64
}

pub(crate) fn fd(map: &MapData) -> BorrowedFd<'_> {
    map.fd().as_fd()
}

pub(crate) fn number(fd: BorrowedFd<'_>) -> u32 {
    fd.as_raw_fd().cast_unsigned()
}

/// The value under a key, which has `value.len()` bytes (of a map of each processor: of all of them); `None`: there is none.
pub(crate) fn lookup(map: BorrowedFd<'_>, key: &[u8], value: &mut [u8]) -> io::Result<Option<()>> {
    let mut attr = Element {
        map: number(map),
        key: address(key),
        value: value.as_mut_ptr() as u64,
        ..Element::default()
    };
    match bpf(LOOKUP, &mut attr) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        other => other.map(|_| Some(())),
    }
}

/// Puts a value under a key; a stack has none.
pub(crate) fn update(map: BorrowedFd<'_>, key: Option<&[u8]>, value: &[u8]) -> io::Result<()> {
    let key = key.map_or(0, address);
    bpf(UPDATE, &mut Element { map: number(map), key, value: address(value), ..Element::default() })
        .map(|_| ())
}

/// Puts a value under a key that has none yet; if it has one, an error of the kind `AlreadyExists`.
pub(crate) fn insert(map: BorrowedFd<'_>, key: &[u8], value: &[u8]) -> io::Result<()> {
    let (key, value) = (address(key), address(value));
    bpf(UPDATE, &mut Element { map: number(map), key, value, flags: NEW, ..Element::default() }).map(|_| ())
}

/// Takes a key out; if there is none, an error of the kind `NotFound`.
pub(crate) fn remove(map: BorrowedFd<'_>, key: &[u8]) -> io::Result<()> {
    bpf(DELETE, &mut Element { map: number(map), key: address(key), ..Element::default() }).map(|_| ())
}

/// Takes the next value of a stack or a queue; `None`: it is empty.
pub(crate) fn pop(map: BorrowedFd<'_>, value: &mut [u8]) -> io::Result<Option<()>> {
    let mut attr = Element { map: number(map), value: value.as_mut_ptr() as u64, ..Element::default() };
    match bpf(LOOKUP_AND_DELETE, &mut attr) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        other => other.map(|_| Some(())),
    }
}

/// All keys of a map that nobody changes, in order; each is `octets` long.
pub(crate) fn keys(map: BorrowedFd<'_>, octets: usize) -> io::Result<Vec<Vec<u8>>> {
    let mut keys: Vec<Vec<u8>> = Vec::new();
    loop {
        let mut next = vec![0_u8; octets];
        let key = keys.last().map_or(0, |last| address(last));
        let value = next.as_mut_ptr() as u64;
        match bpf(NEXT_KEY, &mut Element { map: number(map), key, value, ..Element::default() }) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => break,
            other => other.map(|_| ())?,
        }
        keys.push(next);
    }
    keys.sort_unstable();
    Ok(keys)
}

/// How many keys a map has that are `octets` long; at most so many, which it might seem to exceed while it changes.
pub(crate) fn count(map: BorrowedFd<'_>, octets: usize, most: usize) -> io::Result<usize> {
    let (mut key, mut next, mut found) = (vec![0_u8; octets], vec![0_u8; octets], 0);
    while found < most {
        let from = if found == 0 { 0 } else { address(&key) };
        let value = next.as_mut_ptr() as u64;
        let mut attr = Element { map: number(map), key: from, value, ..Element::default() };
        match bpf(NEXT_KEY, &mut attr) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(found),
            other => other.map(|_| ())?,
        }
        found += 1;
        mem::swap(&mut key, &mut next);
    }
    Ok(found)
}

/// The values of an array that can be mapped, as this process sees them.
pub(crate) struct Mapped {
    at: *mut u8,
    len: usize,
}

impl Mapped {
    /// Maps `len` bytes of an array.
    pub(crate) fn new(map: BorrowedFd<'_>, len: usize) -> io::Result<Mapped> {
        let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
        // SAFETY: a new mapping, at a place that the kernel chooses.
        let at = unsafe { libc::mmap(std::ptr::null_mut(), len, access, kind, map.as_raw_fd(), 0) };
        if at == libc::MAP_FAILED {
            Err(io::Error::last_os_error())
        } else {
            Ok(Mapped { at: at.cast(), len })
        }
    }

    /// Copies bytes to a place of the array; those outside of it are left out.
    pub(crate) fn put(&self, at: usize, octets: &[u8]) {
        let room = self.len.saturating_sub(at).min(octets.len());
        // SAFETY: the bytes are within the mapping, of which no Rust reference is made.
        unsafe { std::ptr::copy_nonoverlapping(octets.as_ptr(), self.at.wrapping_add(at), room) };
    }

    /// Makes all bytes zero.
    pub(crate) fn clear(&self) {
        // SAFETY: as above.
        unsafe { std::ptr::write_bytes(self.at, 0, self.len) };
    }

    /// The word at a place of the array; 0 where it has none.
    pub(crate) fn word(&self, at: usize) -> u64 {
        if self.len.saturating_sub(at) < mem::size_of::<u64>() {
            return 0;
        }
        // SAFETY: as above.
        unsafe { self.at.wrapping_add(at).cast::<u64>().read_unaligned() }
    }

    /// Copies bytes from a place of the array; zeros where it has none.
    pub(crate) fn get(&self, at: usize, len: usize) -> Vec<u8> {
        let mut octets = vec![0; len];
        let room = self.len.saturating_sub(at).min(len);
        // SAFETY: as above.
        unsafe { std::ptr::copy_nonoverlapping(self.at.wrapping_add(at), octets.as_mut_ptr(), room) };
        octets
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: the mapping is this one's, and nothing refers to it any more.
        unsafe { libc::munmap(self.at.cast(), self.len) };
    }
}

/// Runs a program on a frame; the verdict, and the frame that it left.
pub(crate) fn run(program: BorrowedFd<'_>, frame: &[u8]) -> io::Result<(u32, Vec<u8>)> {
    let mut out = vec![0_u8; 4096];
    let mut attr = TestRun {
        program: number(program),
        data_in_len: frame.len() as u32,
        data_in: address(frame),
        data_out_len: out.len() as u32,
        data_out: out.as_mut_ptr() as u64,
        repeat: 1,
        ..TestRun::default()
    };
    bpf(TEST_RUN, &mut attr)?;
    out.truncate(attr.data_out_len as usize);
    Ok((attr.verdict, out))
}
