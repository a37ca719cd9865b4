// SPDX-License-Identifier: MIT OR Apache-2.0
//! Network devices, and the XDP programs that are at them.

use std::ffi::CStr;
use std::io;
use std::mem;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use crate::LoadError;
use crate::loaded::{Id, Loaded};
use crate::maps::{bpf, number};

const GET_INFO: libc::c_long = 15;
const BY_ID: libc::c_long = 30;
/// `BPF_LINK_TYPE_XDP`.
const KIND_XDP: u32 = 6;

/// A network device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    /// as `ip link` lists it
    pub name: String,
    /// its number in its network namespace
    pub index: u32,
    /// bytes of its longest packet
    pub mtu: u32,
    /// its hardware address; zeros if it has none of Ethernet's
    pub mac: [u8; 6],
}

impl Device {
    /// The device with this name in this process's network namespace.
    ///
    /// # Errors
    /// There is none.
    pub fn find(name: &str) -> Result<Device, LoadError> {
        let (index, mtu, mac) = look_up(name).ok_or_else(|| {
            LoadError::Missing(format!("there is no device {name}; `ip link` lists those that there are"))
        })?;
        Ok(Device { name: name.to_owned(), index, mtu, mac })
    }

    /// What it is called now; `None` if it is not in this process's network namespace any more.
    pub fn name_now(&self) -> Option<String> {
        let mut name = [0_u8; libc::IF_NAMESIZE];
        // SAFETY: the name has room for the longest one and its zero.
        let found = unsafe { libc::if_indextoname(self.index, name.as_mut_ptr().cast()) };
        let name = CStr::from_bytes_until_nul(&name).ok().filter(|_| !found.is_null())?;
        Some(name.to_string_lossy().into_owned())
    }
}

/// Number, MTU and hardware address of a device in this thread's network namespace. (`/sys` shows those of the namespace in which it was mounted.)
fn look_up(name: &str) -> Option<(u32, u32, [u8; 6])> {
    // SAFETY: all zeros are such a request: numbers and bytes.
    let mut request: libc::ifreq = unsafe { mem::zeroed() };
    // With the zero behind it.
    if name.is_empty() || name.len() >= request.ifr_name.len() || name.contains('\0') {
        return None;
    }
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from.cast_signed();
    }
    // SAFETY: the name ends with a zero.
    let index = unsafe { libc::if_nametoindex(request.ifr_name.as_ptr()) };
    // SAFETY: no pointers; the descriptor is this function's.
    let socket = unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) };
    let socket = (socket >= 0).then(|| owned(socket))?;
    if index == 0 {
        return None;
    }
    // SAFETY: the request lives until the call returns; the kernel writes the MTU into it.
    let done = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCGIFMTU, &mut request) };
    // SAFETY: this is the member that the kernel wrote.
    let mtu = unsafe { request.ifr_ifru.ifru_mtu };
    let mtu = u32::try_from(mtu).ok().filter(|_| done == 0)?;
    // SAFETY: the request lives until the call returns; the kernel writes the address into it.
    let done = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCGIFHWADDR, &mut request) };
    // SAFETY: this is the member that the kernel wrote.
    let address = unsafe { request.ifr_ifru.ifru_hwaddr };
    let ethernet = done == 0 && address.sa_family == libc::ARPHRD_ETHER;
    let mac = std::array::from_fn(|at| if ethernet { address.sa_data[at].cast_unsigned() } else { 0 });
    Some((index, mtu, mac))
}

/// `union bpf_attr` of BPF_OBJ_GET_INFO_BY_FD.
#[repr(C)]
struct InfoAttr {
    of: u32,
    octets: u32,
    info: u64,
}

/// `struct bpf_link_info` of one at a device; of a program its first words, which begin the same.
#[repr(C)]
#[derive(Default)]
pub(crate) struct Info {
    kind: u32,
    pub id: u32,
    program: u32,
    _pad: u32,
    pub device: u32,
    _rest: [u32; 15],
}

pub(crate) fn owned(fd: RawFd) -> OwnedFd {
    // SAFETY: the kernel made this descriptor for the caller just now.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

pub(crate) fn info(of: BorrowedFd<'_>) -> io::Result<Info> {
    let mut info = Info::default();
    let at = std::ptr::from_mut(&mut info) as u64;
    bpf(GET_INFO, &mut InfoAttr { of: number(of), octets: mem::size_of::<Info>() as u32, info: at })?;
    Ok(info)
}

/// The links of a device with that number, in whatever network namespace, and their programs' numbers.
pub(crate) fn at(device: &Device) -> Result<Vec<(OwnedFd, u32)>, LoadError> {
    let mut found = Vec::new();
    for of in Loaded::Links.ids() {
        let link = match bpf(BY_ID, &mut Id { of, ..Id::default() }) {
            Err(e) if e.kind() == io::ErrorKind::PermissionDenied => return Err(alone(&device.name)),
            // It is gone by now.
            Err(_) => continue,
            Ok(fd) => owned(fd),
        };
        match info(link.as_fd()) {
            Ok(info) if info.kind == KIND_XDP && info.device == device.index => {
                found.push((link, info.program))
            }
            _ => {}
        }
    }
    Ok(found)
}

fn alone(device: &str) -> LoadError {
    LoadError::Missing(format!(
        "{device} has an XDP program already; running next to it needs CAP_SYS_ADMIN: run as root"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_device_has_a_name_that_is_a_path() {
        for name in ["", ".", "..", "../net/lo", "lo\0", "no-such-device", "nothing-of-that-name"] {
            assert!(Device::find(name).is_err(), "{name:?}");
        }
        let lo = Device::find("lo").expect("every machine has it");
        assert_eq!((&*lo.name, lo.name_now().as_deref()), ("lo", Some("lo")));
        assert_eq!(Device { index: i32::MAX as u32, ..lo }.name_now(), None);
    }
}
