// SPDX-License-Identifier: MIT OR Apache-2.0
//! What programs in the kernel need of a machine, and where it is missed.

use std::ffi::CString;
use std::fs;
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::LoadError;
use crate::load_error::PRIVILEGE;
use crate::needs::{self, Need};

/// Where the kernel shows its types.
const TYPES: &str = "/sys/kernel/btf/vmlinux";
/// Where systems have their BPF file system.
const USUAL: &str = "/sys/fs/bpf";
/// `BPF_FS_MAGIC`.
const BPF_FS: u64 = 0xcafe_4a11;
/// The capabilities that are needed, by their bits: CAP_NET_ADMIN, CAP_NET_RAW (a socket tells the kernel of a process's
/// end), CAP_BPF and CAP_PERFMON (programs reckon with addresses of packets), or CAP_SYS_ADMIN.
const NEEDED: u64 = 1 << 12 | 1 << 13 | 1 << 38 | 1 << 39;
const ALL_OF_IT: u64 = 1 << 21;

/// Whether this process may bring programs into this kernel, and the kernel can take them.
///
/// # Errors
/// The first thing that is missing, with what helps.
pub fn suits() -> Result<(), LoadError> {
    has(needs::always())?;
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    if !may(&status) {
        return Err(LoadError::Missing(PRIVILEGE.into()));
    }
    if !Path::new(TYPES).exists() {
        return Err(LoadError::Missing(format!(
            "this kernel does not show its types (there is no {TYPES}); boot one with CONFIG_DEBUG_INFO_BTF=y, as Debian's and Fedora's are"
        )));
    }
    Ok(())
}

/// Whether this kernel has what an object needs.
///
/// # Errors
/// It is older, or the object is none.
pub(crate) fn has(need: Result<Need, String>) -> Result<(), LoadError> {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let lacking = needs::lacking(&need.map_err(LoadError::Failed)?, release.trim());
    lacking.map_or(Ok(()), |lacking| Err(LoadError::Missing(lacking)))
}

/// Whether a process with this status (`/proc/PID/status`) may load programs; if it says nothing of that, the kernel will.
fn may(status: &str) -> bool {
    let set = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let set = set.and_then(|set| u64::from_str_radix(set.trim(), 16).ok());
    set.is_none_or(|set| set & NEEDED == NEEDED || set & ALL_OF_IT != 0)
}

fn is_bpf(path: &Path) -> bool {
    let Ok(path) = CString::new(path.as_os_str().as_bytes()) else { return false };
    let mut found = MaybeUninit::<libc::statfs>::zeroed();
    // SAFETY: the path ends with its NUL, and the kernel fills what is behind the pointer.
    let result = unsafe { libc::statfs(path.as_ptr(), found.as_mut_ptr()) };
    // SAFETY: zeros are a value of it, whether the call filled it or not.
    result == 0 && unsafe { found.assume_init() }.f_type as u64 == BPF_FS
}

/// Sees that a folder lies, or would lie, in a BPF file system; the usual one is mounted where it is not. Whether it was.
///
/// # Errors
/// It lies in none, with what helps.
pub fn bpf_file_system(folder: &Path) -> Result<bool, LoadError> {
    let there = folder.ancestors().find(|path| path.exists());
    if there.is_some_and(is_bpf) {
        return Ok(false);
    }
    if !folder.starts_with(USUAL) {
        let shown = folder.display();
        return Err(LoadError::Missing(format!(
            "{shown} lies in no BPF file system, where alone programs can be pinned; leave --pins out, or `mount -t bpf -o mode=0700 bpf {}`",
            folder.parent().unwrap_or(folder).display()
        )));
    }
    mount().map(|()| true).map_err(|e| {
        LoadError::Missing(format!(
            "{USUAL} is not mounted, and cannot be ({e}); `mount -t bpf -o mode=0700 bpf {USUAL}` as root"
        ))
    })
}

fn mount() -> io::Result<()> {
    let at = CString::new(USUAL)?;
    // SAFETY: strings that end with their NUL; the kernel copies them.
    let result = unsafe {
        libc::mount(c"bpf".as_ptr(), at.as_ptr(), c"bpf".as_ptr(), 0, c"mode=0700".as_ptr().cast())
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Takes the usual BPF file system away, which [`bpf_file_system`] mounted, unless there is something in it.
pub fn unmount() {
    let empty = fs::read_dir(USUAL).is_ok_and(|mut entries| entries.next().is_none());
    let Some(at) = CString::new(USUAL).ok().filter(|_| empty) else { return };
    // SAFETY: a string that ends with its NUL. If somebody is in there by now, it stays, as it may.
    unsafe { libc::umount(at.as_ptr()) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn privilege_is_four_capabilities_or_the_one_that_is_all() {
        let status = |set: &str| format!("Name:\tsh\nCapPrm:\t000001ffffffffff\nCapEff:\t{set}\n");
        for (set, expected) in [
            ("000001ffffffffff", true),
            ("000000c000003000", true),
            ("000000c000001000", false),
            ("0000000000200000", true),
            ("0000008000003000", false),
            ("000000c000000000", false),
            ("0000000000003000", false),
            ("0000000000000000", false),
        ] {
            assert_eq!(may(&status(set)), expected, "{set}");
        }
        assert!(may(""), "the kernel will say so");
    }

    #[test]
    fn pins_want_a_file_system_of_their_own() {
        let said = bpf_file_system(Path::new("/proc/nowhere")).expect_err("it is none").to_string();
        assert!(said.contains("mount -t bpf -o mode=0700 bpf /proc"), "{said}");
    }
}
