// SPDX-License-Identifier: MIT OR Apache-2.0
//! A program at its device.

use std::io;
use std::mem;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::path::Path;

use crate::dispatch::{self, Dispatcher};
use crate::maps::{bpf, number};
use crate::object::{INGRESS, failed};
use crate::traffic::Traffic;
use crate::{LoadError, pins};

const GET_INFO: libc::c_long = 15;
const CREATE: libc::c_long = 28;
const BY_ID: libc::c_long = 30;
const NEXT_ID: libc::c_long = 31;
const DETACH: libc::c_long = 34;
/// `BPF_LINK_TYPE_XDP`.
const KIND_XDP: u32 = 6;
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

/// Where a program stands on a device.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'a> {
    /// the object of what hands packets to the programs on a device, in case that none is there yet
    pub dispatcher: &'a Path,
    /// the packets that are for the program
    pub traffic: Traffic,
    /// for people: whose program it is
    pub who: &'a str,
}

impl Entry<'_> {
    fn held(&self, link: OwnedFd, dispatcher: Dispatcher, life: OwnedFd) -> Link {
        Link { link, dispatcher, traffic: self.traffic, _life: Some(life) }
    }
}

/// A program in front of the kernel's own stack: as long as this is there, unless it is pinned.
#[derive(Debug)]
pub struct Link {
    /// the dispatcher's, which is at the device as long as anybody has this
    link: OwnedFd,
    dispatcher: Dispatcher,
    traffic: Traffic,
    /// none if it is pinned, and another process put it there
    _life: Option<OwnedFd>,
}

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

/// `struct bpf_link_info` of one at a device; of a program its first words, which begin the same.
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

/// `union bpf_attr` of BPF_LINK_GET_NEXT_ID, and of BPF_LINK_GET_FD_BY_ID.
#[repr(C)]
#[derive(Default)]
struct Id {
    of: u32,
    next: u32,
    flags: u32,
}

fn owned(fd: RawFd) -> OwnedFd {
    // SAFETY: the kernel made this descriptor for the caller just now.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

fn info(of: BorrowedFd<'_>) -> io::Result<Info> {
    let mut info = Info::default();
    let at = std::ptr::from_mut(&mut info) as u64;
    bpf(GET_INFO, &mut InfoAttr { of: number(of), octets: mem::size_of::<Info>() as u32, info: at })?;
    Ok(info)
}

/// The links of a device with that number, in whatever network namespace, and their programs' numbers.
pub(crate) fn at(device: &Device) -> Result<Vec<(OwnedFd, u32)>, LoadError> {
    let (mut id, mut found) = (Id::default(), Vec::new());
    while bpf(NEXT_ID, &mut id).is_ok() {
        id.of = id.next;
        let link = match bpf(BY_ID, &mut Id { of: id.of, ..Id::default() }) {
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

impl Link {
    /// Puts a program where it stands on a device.
    pub(crate) fn create(
        program: BorrowedFd<'_>,
        device: &Device,
        entry: Entry<'_>,
    ) -> Result<Link, LoadError> {
        let life = dispatch::life()?;
        loop {
            let (dispatcher, own) = Dispatcher::load(entry.dispatcher, device)?;
            dispatcher.enter(&dispatcher.door()?, entry.traffic, program, entry.who, life.as_fd())?;
            let mut attr =
                Attr { of: number(own.as_fd()), device: device.index, kind: XDP, flags: BY_THE_DRIVER };
            let error = match bpf(CREATE, &mut attr) {
                Ok(link) => return Ok(entry.held(owned(link), dispatcher, life)),
                Err(e) => e,
            };
            if !matches!(error.raw_os_error(), Some(libc::EBUSY | libc::EEXIST)) {
                return Err(refused(&error, &device.name));
            }
            let Some((dispatcher, link)) = Dispatcher::find(device)? else {
                return Err(refused(&error, &device.name));
            };
            let door = dispatcher.door()?;
            // Who was the last one there may have taken it away by now.
            if info(link.as_fd()).is_ok_and(|info| info.device == device.index) {
                dispatcher.enter(&door, entry.traffic, program, entry.who, life.as_fd())?;
                return Ok(entry.held(link, dispatcher, life));
            }
        }
    }

    /// Keeps the program at its device when this process ends.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn pin(&self, dir: &Path) -> Result<(), String> {
        self.dispatcher.pin(dir)?;
        pins::pin(self.link.as_fd(), &dir.join(pins::LINK))?;
        self.dispatcher.stays(self.traffic).map_err(|refusal| refusal.to_string())
    }

    /// What [`Link::pin`] put into this folder; `None` if there is none.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn open(dir: &Path) -> Result<Option<Link>, String> {
        let path = dir.join(pins::LINK);
        if !path.exists() {
            return Ok(None);
        }
        let (link, dispatcher) = (pins::get(&path)?, Dispatcher::open(dir)?);
        let program = pins::get(&dir.join(pins::PROGRAMS).join(INGRESS))?;
        let program = info(program.as_fd()).map_err(failed("look at a program"))?.id;
        Ok(dispatcher.traffic(program).map(|traffic| Link { link, dispatcher, traffic, _life: None }))
    }

    /// The number of the device that it is at; `None` if that is gone.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn device(&self) -> Result<Option<u32>, String> {
        let info = info(self.link.as_fd()).map_err(failed("look at a link"))?;
        Ok((info.device != 0).then_some(info.device))
    }

    /// Takes the program off its device, which is as it was if no other one is there.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn detach(self) -> Result<(), String> {
        let door = self.dispatcher.door().map_err(|refusal| refusal.to_string())?;
        let last = self.dispatcher.leave(&door, self.traffic).map_err(|refusal| refusal.to_string())?;
        if !last {
            return Ok(());
        }
        // What holds the link beside this one, as its pin does, may do so for a while.
        let mut attr = Attr { of: self.link.as_raw_fd().cast_unsigned(), ..Attr::default() };
        bpf(DETACH, &mut attr).map(|_| ()).map_err(|e| format!("cannot detach: {e}"))
    }
}

/// A program to which all frames of a device go, as long as this is there.
#[derive(Debug)]
pub struct Whole {
    _link: OwnedFd,
}

impl Whole {
    /// Gives a program all frames of a device.
    pub(crate) fn create(program: BorrowedFd<'_>, device: &Device) -> Result<Whole, LoadError> {
        let mut attr = Attr { of: number(program), device: device.index, kind: XDP, flags: BY_THE_DRIVER };
        let link = bpf(CREATE, &mut attr).map_err(|error| refused(&error, &device.name))?;
        Ok(Whole { _link: owned(link) })
    }
}

/// Why a device takes no program, and what helps.
fn refused(error: &io::Error, device: &str) -> LoadError {
    LoadError::Missing(match error.raw_os_error() {
        Some(libc::EBUSY | libc::EEXIST) => format!(
            "{device} has an XDP program already, which leaves no place beside it; `ip link show {device}` names it, `ip link set {device} xdp off` takes it away"
        ),
        Some(libc::EOPNOTSUPP) => {
            format!(
                "the driver of {device} has no XDP; choose a device whose driver has it, or build for `native`"
            )
        }
        Some(libc::EINVAL | libc::ERANGE) => format!(
            "the driver of {device} takes no program as the device is set ({error}); a smaller MTU may help: `ip link set {device} mtu 1500`"
        ),
        _ => format!("{device} takes no program ({error}); `ip -d link show {device}` shows its settings"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_device_has_a_name_that_is_a_path() {
        for name in ["", ".", "..", "../net/lo", "lo\0", "no-such-device", "nothing-of-that-name"] {
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
