// SPDX-License-Identifier: MIT OR Apache-2.0
//! What this machine's kernel has in it of BPF, whoever brought it there: numbers alone.
//!
//! Nothing is opened for its number. To open and close an array of programs whose last owner goes away at that moment costs the
//! kernel its memory: `prog_array_map_clear` takes a reference for work that is queued already, so none gives it back (Linux 6.18).

use std::iter;

use crate::maps::bpf;

/// Kinds of objects; each has numbers of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loaded {
    /// programs
    Programs,
    /// maps
    Maps,
    /// links: what holds a program where it is attached
    Links,
}

/// `union bpf_attr` of BPF_PROG_GET_NEXT_ID, BPF_PROG_GET_FD_BY_ID and their like.
#[repr(C)]
#[derive(Default)]
pub(crate) struct Id {
    pub of: u32,
    pub next: u32,
    pub flags: u32,
}

impl Loaded {
    /// The number of its command: BPF_PROG_GET_NEXT_ID, BPF_MAP_GET_NEXT_ID, BPF_LINK_GET_NEXT_ID.
    const fn next(self) -> libc::c_long {
        match self {
            Loaded::Programs => 11,
            Loaded::Maps => 12,
            Loaded::Links => 31,
        }
    }

    /// The numbers of all that there are, ascending. Without the privilege there are none.
    pub fn ids(self) -> impl Iterator<Item = u32> {
        let mut last = 0;
        iter::from_fn(move || {
            let mut id = Id { of: last, ..Id::default() };
            bpf(self.next(), &mut id).ok()?;
            last = id.next;
            Some(last)
        })
    }
}
