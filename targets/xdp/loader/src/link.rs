// SPDX-License-Identifier: MIT OR Apache-2.0
//! A program at its device.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;

use crate::device::{Device, info, owned};
use crate::dispatch::{self, Dispatcher, Door};
use crate::layout::INGRESS;
use crate::load_error::failed;
use crate::maps::{bpf, number};
use crate::traffic::Traffic;
use crate::{LoadError, attach_reason, pins};

const CREATE: libc::c_long = 28;
const DETACH: libc::c_long = 34;
/// `BPF_XDP` of `enum bpf_attach_type`.
const XDP: u32 = 37;
/// `XDP_FLAGS_DRV_MODE`: by the driver, or not at all.
const BY_THE_DRIVER: u32 = 1 << 2;

/// Where a program stands on a device.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'a> {
    /// the object of what hands packets to the programs on a device, in case that none is there yet
    pub dispatcher: &'a Path,
    /// the packets that are for the program
    pub traffic: Traffic,
    /// for people: whose program it is
    pub who: &'a str,
    /// the socket of [`life`](crate::life) of the processes without which the program gets no packets; `None`: this process
    pub life: Option<BorrowedFd<'a>>,
}

/// A program in front of the kernel's own stack: as long as this is there, unless it is pinned.
#[derive(Debug)]
pub struct Link {
    /// the dispatcher's, which is at the device as long as anybody has this
    link: OwnedFd,
    dispatcher: Dispatcher,
    traffic: Traffic,
    /// this process's; none if the program's packets are another one's
    life: Option<OwnedFd>,
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

impl Link {
    /// Puts a program where it stands on a device.
    pub(crate) fn create(
        program: BorrowedFd<'_>,
        device: &Device,
        entry: Entry<'_>,
    ) -> Result<Link, LoadError> {
        let traffic = entry.traffic;
        let life = if entry.life.is_none() { Some(dispatch::life()?) } else { None };
        let lives = entry.life.or(life.as_ref().map(AsFd::as_fd));
        let enter = |dispatcher: &Dispatcher, door: &Door| {
            dispatcher.enter(door, traffic, program, entry.who, lives.expect("this one's or another one's"))
        };
        loop {
            let (dispatcher, own) = Dispatcher::load(entry.dispatcher, device)?;
            enter(&dispatcher, &dispatcher.door()?)?;
            let mut attr =
                Attr { of: number(own.as_fd()), device: device.index, kind: XDP, flags: BY_THE_DRIVER };
            let error = match bpf(CREATE, &mut attr) {
                Ok(link) => return Ok(Link { link: owned(link), dispatcher, traffic, life }),
                Err(e) => e,
            };
            if !matches!(error.raw_os_error(), Some(libc::EBUSY | libc::EEXIST)) {
                return Err(refused(&error, own.as_fd(), device));
            }
            let Some((dispatcher, link)) = Dispatcher::find(device)? else {
                return Err(refused(&error, own.as_fd(), device));
            };
            let door = dispatcher.door()?;
            // Who was the last one there may have taken it away by now.
            if info(link.as_fd()).is_ok_and(|info| info.device == device.index) {
                enter(&dispatcher, &door)?;
                return Ok(Link { link, dispatcher, traffic, life });
            }
        }
    }

    /// Keeps the program at its device when this process ends; it gets packets as long as the processes of
    /// [`Entry::life`] are there.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn pin(&self, dir: &Path) -> Result<(), String> {
        self.dispatcher.pin(dir)?;
        pins::pin(self.link.as_fd(), &dir.join(pins::LINK))?;
        if self.life.is_none() {
            return Ok(());
        }
        self.dispatcher.stays(self.traffic).map_err(|refusal| refusal.to_string())
    }

    /// What [`Link::pin`] put into this folder; `None` if there is none, or the program lost its packets to another one.
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
        Ok(dispatcher.traffic(program).map(|traffic| Link { link, dispatcher, traffic, life: None }))
    }

    /// The number of the device that it is at; `None` if that is gone.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn device(&self) -> Result<Option<u32>, String> {
        device_of(self.link.as_fd())
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

fn device_of(link: BorrowedFd<'_>) -> Result<Option<u32>, String> {
    let info = info(link).map_err(failed("look at a link"))?;
    Ok((info.device != 0).then_some(info.device))
}

/// Takes back all that is pinned in a folder, and the folder: the device first, which is as it was then.
///
/// # Errors
/// What stays there, and why.
pub fn unpin(dir: &Path) -> Result<(), String> {
    // Removing its name alone would detach it some time later.
    Link::open(dir)?.map_or(Ok(()), Link::detach)?;
    pins::remove(dir)
}

/// A program to which all frames of a device go, as long as this is there.
#[derive(Debug)]
pub struct Whole {
    link: OwnedFd,
}

impl Whole {
    /// Gives a program all frames of a device.
    pub(crate) fn create(program: BorrowedFd<'_>, device: &Device) -> Result<Whole, LoadError> {
        let mut attr = Attr { of: number(program), device: device.index, kind: XDP, flags: BY_THE_DRIVER };
        let link = bpf(CREATE, &mut attr).map_err(|error| refused(&error, program, device))?;
        Ok(Whole { link: owned(link) })
    }

    /// Whether its device is there.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn is_attached(&self) -> Result<bool, String> {
        Ok(device_of(self.link.as_fd())?.is_some())
    }
}

/// Why a device takes no program, and what helps.
fn refused(error: &io::Error, program: BorrowedFd<'_>, device: &Device) -> LoadError {
    let as_set = matches!(error.raw_os_error(), Some(libc::EINVAL | libc::ERANGE));
    let reason = if as_set { attach_reason::ask(program, device.index) } else { None };
    LoadError::Missing(refusal(error, reason.as_deref(), device))
}

/// The same in words; `reason` are the kernel's.
fn refusal(error: &io::Error, reason: Option<&str>, device: &Device) -> String {
    let Device { name, mtu, .. } = device;
    match error.raw_os_error() {
        Some(libc::EBUSY | libc::EEXIST) => format!(
            "{name} has an XDP program already, which leaves no place beside it; `ip link show {name}` names it, `ip link set {name} xdp off` takes it away"
        ),
        Some(libc::EOPNOTSUPP) => {
            format!(
                "the driver of {name} has no XDP; choose a device whose driver has it, or build for `native`"
            )
        }
        Some(libc::EINVAL | libc::ERANGE) => {
            let why = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
            let advice = if reason.is_some_and(|reason| reason.contains("Peer MTU")) {
                format!(
                    "set the MTU at the other end of {name} to {mtu}: `ip link set PEERDEV mtu {mtu}` there"
                )
            } else {
                format!("a smaller MTU may help, here (`ip link set {name} mtu 1500`) or at the other end")
            };
            format!("the driver of {name} takes no program as the device is set ({error}{why}); {advice}")
        }
        _ => format!("{name} takes no program ({error}); `ip -d link show {name}` shows its settings"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_refuses_says_what_helps() {
        let device = Device { name: "wire0".to_owned(), index: 7, mtu: 1400, mac: [0; 6] };
        let said = |code, reason| refusal(&io::Error::from_raw_os_error(code), reason, &device);
        assert!(said(libc::EBUSY, None).contains("an XDP program already"));
        assert!(said(libc::EOPNOTSUPP, None).contains("has no XDP"));
        assert!(said(libc::EINVAL, None).contains("mtu 1500"));
        let peer = said(libc::ERANGE, Some("Peer MTU is too large to set XDP"));
        assert!(peer.contains(": Peer MTU is too large to set XDP)"), "{peer}");
        assert!(peer.ends_with("other end of wire0 to 1400: `ip link set PEERDEV mtu 1400` there"), "{peer}");
        assert!(said(libc::EIO, None).contains("ip -d link show wire0"));
    }
}
