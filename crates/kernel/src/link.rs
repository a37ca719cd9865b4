//! A program at its device.

use std::fs;
use std::io;
use std::mem;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::path::Path;

use crate::maps::{bpf, number};
use crate::{Refusal, pins};

const GET_INFO: libc::c_long = 15;
const CREATE: libc::c_long = 28;
const DETACH: libc::c_long = 34;
/// `BPF_XDP` of `enum bpf_attach_type`.
const XDP: u32 = 37;
/// `XDP_FLAGS_DRV_MODE`: by the driver, or not at all.
const BY_THE_DRIVER: u32 = 1 << 2;

/// A network device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    /// as `ip link` lists it
    pub name: String,
    /// its number in its network namespace
    pub index: u32,
    /// octets of its longest packet
    pub mtu: u32,
}

impl Device {
    /// The device with this name in this process's network namespace.
    ///
    /// # Errors
    /// There is none.
    pub fn find(name: &str) -> Result<Device, Refusal> {
        let there = !name.is_empty() && !name.contains('/') && !name.starts_with('.');
        let number = |what: &str| -> Option<u32> {
            fs::read_to_string(format!("/sys/class/net/{name}/{what}")).ok()?.trim().parse().ok()
        };
        let device = there.then(|| Some((number("ifindex")?, number("mtu")?))).flatten();
        let (index, mtu) = device.ok_or_else(|| {
            Refusal::Missing(format!("there is no device {name}; `ip link` lists those that there are"))
        })?;
        Ok(Device { name: name.to_owned(), index, mtu })
    }
}

/// A program in front of the kernel's own stack: as long as this is there, unless it is pinned.
#[derive(Debug)]
pub struct Link(OwnedFd);

/// `union bpf_attr` of BPF_LINK_CREATE, and of BPF_LINK_DETACH, which takes the first word alone.
#[repr(C)]
#[derive(Default)]
struct Attr {
    of: u32,
    device: u32,
    kind: u32,
    flags: u32,
}

/// `union bpf_attr` of BPF_OBJ_GET_INFO_BY_FD.
#[repr(C)]
struct InfoAttr {
    of: u32,
    octets: u32,
    info: u64,
}

/// `struct bpf_link_info` of one at a device.
#[repr(C)]
#[derive(Default)]
struct Info {
    kind: u32,
    id: u32,
    program: u32,
    _pad: u32,
    device: u32,
    _rest: [u32; 15],
}

impl Link {
    pub(crate) fn create(program: BorrowedFd<'_>, device: &Device) -> Result<Link, Refusal> {
        let mut attr = Attr { of: number(program), device: device.index, kind: XDP, flags: BY_THE_DRIVER };
        let made = bpf(CREATE, &mut attr).map_err(|e| refused(&e, &device.name))?;
        // SAFETY: the kernel made this descriptor for us just now.
        Ok(Link(unsafe { OwnedFd::from_raw_fd(made) }))
    }

    /// Keeps the program at its device when this process ends.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn pin(&self, dir: &Path) -> Result<(), String> {
        pins::pin(self.0.as_fd(), &dir.join(pins::LINK))
    }

    /// What [`Link::pin`] put into this folder; `None` if there is none.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn open(dir: &Path) -> Result<Option<Link>, String> {
        let path = dir.join(pins::LINK);
        if path.exists() { pins::get(&path).map(|fd| Some(Link(fd))) } else { Ok(None) }
    }

    /// The number of the device that it is at; `None` if that is gone.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn device(&self) -> Result<Option<u32>, String> {
        let mut info = Info::default();
        let at = std::ptr::from_mut(&mut info) as u64;
        let octets = mem::size_of::<Info>() as u32;
        let mut attr = InfoAttr { of: number(self.0.as_fd()), octets, info: at };
        bpf(GET_INFO, &mut attr).map_err(|e| format!("cannot look at a link: {e}"))?;
        Ok((info.device != 0).then_some(info.device))
    }

    /// Leaves the device as it was.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn detach(self) -> Result<(), String> {
        let mut attr = Attr { of: self.0.as_raw_fd().cast_unsigned(), ..Attr::default() };
        bpf(DETACH, &mut attr).map(|_| ()).map_err(|e| format!("cannot detach: {e}"))
    }
}

/// Why a device takes no program, and what helps.
fn refused(error: &io::Error, device: &str) -> Refusal {
    Refusal::Missing(match error.raw_os_error() {
        Some(libc::EBUSY | libc::EEXIST) => format!(
            "{device} has an XDP program already, and takes one alone; `ip link show {device}` names it, `ip link set {device} xdp off` takes it away"
        ),
        Some(libc::EOPNOTSUPP) => {
            format!(
                "the driver of {device} has no XDP; choose a device whose driver has it, or build for `native`"
            )
        }
        Some(libc::EINVAL | libc::ERANGE) => format!(
            "the driver of {device} takes no program as the device is set ({error}); a smaller MTU may help: `ip link set {device} mtu 1500`"
        ),
        _ => format!("{device} takes no program ({error}); `ip -d link show {device}` tells how it is set"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_device_has_a_name_that_is_a_path() {
        for name in ["", ".", "..", "../net/lo", "nothing-of-that-name"] {
            assert!(Device::find(name).is_err(), "{name:?}");
        }
        assert_eq!(Device::find("lo").expect("every machine has it").name, "lo");
    }

    #[test]
    fn who_refuses_says_what_helps() {
        let said = |code| refused(&io::Error::from_raw_os_error(code), "wire0").to_string();
        assert!(said(libc::EBUSY).contains("an XDP program already"));
        assert!(said(libc::EOPNOTSUPP).contains("has no XDP"));
        assert!(said(libc::EINVAL).contains("mtu 1500"));
        assert!(said(libc::EIO).contains("ip -d link show wire0"));
    }
}
