// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pins: names in a BPF file system, by which programs, maps and links outlive the process that made them.
//!
//! A folder of pins holds one program: `maps/NAME`, `programs/NAME`, `link`, and `about`, a text of whoever pinned it.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::maps::{self, bpf, number};

/// The folder of maps, in a folder of pins.
pub const MAPS: &str = "maps";
/// The folder of programs.
pub const PROGRAMS: &str = "programs";
/// The link to the device.
pub const LINK: &str = "link";
/// The text about it all.
const ABOUT: &str = "about";

const MAP_CREATE: libc::c_long = 0;
const PIN: libc::c_long = 6;
const GET: libc::c_long = 7;
/// `BPF_MAP_TYPE_ARRAY`.
const ARRAY: u32 = 2;

/// `union bpf_attr` of BPF_OBJ_PIN and BPF_OBJ_GET.
#[repr(C)]
#[derive(Default)]
struct Named {
    path: u64,
    of: u32,
    flags: u32,
}

/// `union bpf_attr` of BPF_MAP_CREATE, as far as it is used.
#[repr(C)]
#[derive(Default)]
struct Made {
    kind: u32,
    key: u32,
    value: u32,
    entries: u32,
}

fn cannot(what: &str, path: &Path) -> impl Fn(io::Error) -> String {
    let what = format!("cannot {what} {}", path.display());
    move |e| format!("{what}: {e}")
}

fn named(command: libc::c_long, path: &Path, of: u32) -> io::Result<i32> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    bpf(command, &mut Named { path: path.as_ptr() as u64, of, flags: 0 })
}

/// Gives something of the kernel's a name.
pub(crate) fn pin(fd: BorrowedFd<'_>, path: &Path) -> Result<(), String> {
    named(PIN, path, number(fd)).map(|_| ()).map_err(cannot("pin", path))
}

/// What has this name.
pub(crate) fn get(path: &Path) -> Result<OwnedFd, String> {
    let fd = named(GET, path, 0).map_err(cannot("open", path))?;
    // SAFETY: the kernel made this descriptor for us just now.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// All that has a name in a folder.
pub(crate) fn all(folder: &Path) -> Result<BTreeMap<String, OwnedFd>, String> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).map_err(cannot("read", folder))? {
        let path = entry.map_err(cannot("read", folder))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        found.insert(name, get(&path)?);
    }
    Ok(found)
}

/// The folders of pins in a folder, by name; none if it is not there.
///
/// # Errors
/// What the file system says.
pub fn list(folder: &Path) -> Result<Vec<String>, String> {
    let entries = match fs::read_dir(folder) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(cannot("read", folder))?,
    };
    let mut names = Vec::new();
    for entry in entries {
        names.push(entry.map_err(cannot("read", folder))?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

/// Pins a text beside the rest: whoever finds it there finds all of the rest, if it was put there last.
///
/// # Errors
/// What the kernel says.
pub fn write_about(dir: &Path, text: &str) -> Result<(), String> {
    let path = dir.join(ABOUT);
    let mut value = text.as_bytes().to_vec();
    value.resize((text.len() + 1).next_multiple_of(8), 0);
    let made = bpf(MAP_CREATE, &mut Made { kind: ARRAY, key: 4, value: value.len() as u32, entries: 1 });
    // SAFETY: the kernel made this descriptor for us just now.
    let map = made.map(|fd| unsafe { OwnedFd::from_raw_fd(fd) }).map_err(cannot("make", &path))?;
    maps::update(map.as_fd(), Some(&0_u32.to_ne_bytes()), &value).map_err(cannot("write", &path))?;
    pin(map.as_fd(), &path)
}

/// The text that [`write_about`] pinned; `None` if there is none.
///
/// # Errors
/// What the kernel says.
pub fn read_about(dir: &Path) -> Result<Option<String>, String> {
    let path = dir.join(ABOUT);
    if !path.exists() {
        return Ok(None);
    }
    let map = aya::maps::MapData::from_fd(get(&path)?).map_err(|e| e.to_string())?;
    let octets = map.info().map_err(|e| e.to_string())?.value_size();
    let mut value = vec![0; octets as usize];
    maps::lookup(map.fd().as_fd(), &0_u32.to_ne_bytes(), &mut value).map_err(cannot("read", &path))?;
    let end = value.iter().position(|octet| *octet == 0).unwrap_or(value.len());
    Ok(Some(String::from_utf8_lossy(&value[..end]).into_owned()))
}

/// Takes back the names in a folder of pins, and the folder.
pub(crate) fn remove(dir: &Path) -> Result<(), String> {
    for name in [ABOUT, LINK] {
        match fs::remove_file(dir.join(name)) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            other => other.map_err(cannot("remove", &dir.join(name)))?,
        }
    }
    if dir.exists() { fs::remove_dir_all(dir).map_err(cannot("remove", dir)) } else { Ok(()) }
}
