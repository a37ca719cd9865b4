// SPDX-License-Identifier: MIT OR Apache-2.0
//! What hands the packets of a device to the programs on it: `targets/xdp/dispatch`, which is in front of them all.
//!
//! Nobody owns it. It is there as long as somebody holds its link: a process that brought a program there, or a pin.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};
use std::{fs, mem};

use aya::EbpfLoader;
use aya::maps::{Map, MapData};
use aya::programs::{Xdp, loaded_programs};

use crate::device::{self, Device};
use crate::load_error::{failed, refused_maps, refused_program, verified};
use crate::maps::{self, fd, number};
use crate::traffic::Traffic;
use crate::{LoadError, pins};

/// The dispatcher's own place is behind those of programs.
const OWN: u32 = Traffic::PLACES;
/// Its maps, in the kernel and as pins.
const MAPS: [&str; 3] = ["carrick_entries", "carrick_owners", "carrick_lives"];
/// Where they are pinned, in a folder of pins.
const PINS: &str = "dispatch";
/// Bytes of a name in `struct carrick_owner`, the last of which is zero.
const WHO: usize = 48;
/// How long somebody may take to change what is on a device.
const PATIENCE: Duration = Duration::from_secs(5);

/// `struct carrick_owner`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Owner {
    lasting: u32,
    device: u32,
    net: u64,
    who: [u8; WHO],
}

const NOBODY: Owner = Owner { lasting: 0, device: 0, net: 0, who: [0; WHO] };

impl Owner {
    fn named(who: &str) -> Owner {
        let mut owner = NOBODY;
        let mut end = who.len().min(WHO - 1);
        while !who.is_char_boundary(end) {
            end -= 1;
        }
        owner.who[..end].copy_from_slice(&who.as_bytes()[..end]);
        owner
    }

    fn name(&self) -> String {
        let end = self.who.iter().position(|octet| *octet == 0).unwrap_or(WHO);
        String::from_utf8_lossy(&self.who[..end]).into_owned()
    }

    fn octets(self) -> [u8; mem::size_of::<Owner>()] {
        // SAFETY: numbers and bytes without gaps between them.
        unsafe { mem::transmute(self) }
    }

    fn read(octets: [u8; mem::size_of::<Owner>()]) -> Owner {
        // SAFETY: any bytes are one.
        unsafe { mem::transmute(octets) }
    }
}

/// A dispatcher at its device, or before it is there.
#[derive(Debug)]
pub(crate) struct Dispatcher {
    /// the programs, by their places
    entries: OwnedFd,
    /// who has them
    owners: OwnedFd,
    /// a socket of each process that has one
    lives: OwnedFd,
}

/// Nobody else changes what is on the device as long as this is there.
pub(crate) struct Door(OwnedFd);

/// A socket by which the kernel notices the end of all processes that have it: of this one, and of those that inherit it.
///
/// # Errors
/// The kernel makes none.
pub fn life() -> Result<OwnedFd, LoadError> {
    // SAFETY: no memory is handed over.
    let made = unsafe { libc::socket(libc::AF_XDP, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0) };
    if made < 0 {
        let e = io::Error::last_os_error();
        return Err(LoadError::Missing(format!(
            "this kernel makes no AF_XDP socket ({e}); it needs CONFIG_XDP_SOCKETS=y"
        )));
    }
    // SAFETY: the kernel made this descriptor for us just now.
    Ok(unsafe { OwnedFd::from_raw_fd(made) })
}

fn said(what: &str) -> impl Fn(io::Error) -> LoadError + '_ {
    move |e| LoadError::Failed(failed(what)(e))
}

/// The number of this process's network namespace.
fn net() -> Result<u64, LoadError> {
    fs::metadata("/proc/self/ns/net").map(|net| net.ino()).map_err(said("see the network namespace"))
}

impl Dispatcher {
    fn of(maps: impl Fn(&str) -> Option<OwnedFd>) -> Option<Dispatcher> {
        let [entries, owners, lives] = MAPS;
        Some(Dispatcher { entries: maps(entries)?, owners: maps(owners)?, lives: maps(lives)? })
    }

    /// Brings one into the kernel for a device; its program is to be put there. (`path`: the object)
    pub(crate) fn load(path: &Path, device: &Device) -> Result<(Dispatcher, OwnedFd), LoadError> {
        let mut ebpf = EbpfLoader::new().load_file(path).map_err(refused_maps)?;
        let program = ebpf.program_mut("dispatch").and_then(|program| <&mut Xdp>::try_from(program).ok());
        let program =
            program.ok_or_else(|| LoadError::Failed(format!("{} is no dispatcher", path.display())))?;
        verified(|| program.load()).map_err(refused_program)?;
        let own = program.fd().map_err(refused_program)?.as_fd().try_clone_to_owned();
        let map = |name: &str| match ebpf.map(name)? {
            Map::ProgramArray(data) | Map::Array(data) | Map::XskMap(data) => {
                fd(data).try_clone_to_owned().ok()
            }
            _ => None,
        };
        let dispatcher =
            Dispatcher::of(map).ok_or_else(|| LoadError::Failed("a dispatcher lacks maps".into()))?;
        dispatcher.put_owner(OWN, Owner { device: device.index, net: net()?, ..NOBODY })?;
        Ok((dispatcher, own.map_err(said("load a dispatcher"))?))
    }

    /// The one that is at a device, with its link; `None` if there is none, and something else may be there.
    pub(crate) fn find(device: &Device) -> Result<Option<(Dispatcher, OwnedFd)>, LoadError> {
        let here = net()?;
        for (link, program) in device::at(device)? {
            let info = loaded_programs().flatten().find(|info| info.id() == program);
            let Some(ids) = info.and_then(|info| info.map_ids().ok().flatten()) else { continue };
            let maps: Vec<MapData> = ids.into_iter().filter_map(|id| MapData::from_id(id).ok()).collect();
            let map = |name: &str| {
                let named = |map: &&MapData| map.info().is_ok_and(|info| info.name_as_str() == Some(name));
                fd(maps.iter().find(named)?).try_clone_to_owned().ok()
            };
            let Some(dispatcher) = Dispatcher::of(map) else { continue };
            // Devices of other network namespaces have the same numbers.
            if dispatcher.owner(OWN).is_ok_and(|own| own.net == here && own.device == device.index) {
                return Ok(Some((dispatcher, link)));
            }
        }
        Ok(None)
    }

    /// As it is pinned.
    pub(crate) fn open(dir: &Path) -> Result<Dispatcher, String> {
        let found = pins::all(&dir.join(PINS))?;
        let map = |name: &str| found.get(name)?.try_clone().ok();
        Dispatcher::of(map).ok_or_else(|| format!("{} lacks maps", dir.join(PINS).display()))
    }

    pub(crate) fn pin(&self, dir: &Path) -> Result<(), String> {
        let dir = dir.join(PINS);
        fs::create_dir_all(&dir).map_err(|e| format!("cannot make {}: {e}", dir.display()))?;
        let maps = [&self.entries, &self.owners, &self.lives];
        MAPS.iter().zip(maps).try_for_each(|(name, map)| pins::pin(map.as_fd(), &dir.join(name)))
    }

    fn owner(&self, place: u32) -> Result<Owner, LoadError> {
        let mut octets = [0; mem::size_of::<Owner>()];
        let found = maps::lookup(self.owners.as_fd(), &place.to_ne_bytes(), &mut octets);
        found.map(|_| Owner::read(octets)).map_err(said("see who is on the device"))
    }

    fn put_owner(&self, place: u32, owner: Owner) -> Result<(), LoadError> {
        maps::update(self.owners.as_fd(), Some(&place.to_ne_bytes()), &owner.octets())
            .map_err(said("write who is on the device"))
    }

    /// Whether the place was nobody's: it is this socket's now.
    fn claim(&self, place: u32, socket: BorrowedFd<'_>) -> Result<bool, LoadError> {
        let socket = number(socket).to_ne_bytes();
        match maps::insert(self.lives.as_fd(), &place.to_ne_bytes(), &socket) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            other => other.map(|()| true).map_err(said("take a place on the device")),
        }
    }

    /// Waits until nobody else changes anything.
    pub(crate) fn door(&self) -> Result<Door, LoadError> {
        let (door, end) = (Door(life()?), Instant::now() + PATIENCE);
        while !self.claim(OWN, door.0.as_fd())? {
            if Instant::now() > end {
                return Err(LoadError::Failed(
                    "another process is about to change what is on the device, and does not come to its end"
                        .into(),
                ));
            }
            // That takes the other one some system calls.
            thread::yield_now();
        }
        Ok(door)
    }

    /// Takes out the programs whose processes are dead, and says who is left.
    fn sweep(&self, door: &Door) -> Result<Vec<(Traffic, Owner)>, LoadError> {
        let mut left = Vec::new();
        for traffic in Traffic::all() {
            let owner = self.owner(traffic.place())?;
            if owner.who[0] == 0 {
                continue;
            }
            if owner.lasting == 0 && self.claim(traffic.place(), door.0.as_fd())? {
                self.clear(traffic)?;
            } else {
                left.push((traffic, owner));
            }
        }
        Ok(left)
    }

    fn clear(&self, traffic: Traffic) -> Result<(), LoadError> {
        self.put_owner(traffic.place(), NOBODY)?;
        for map in [&self.entries, &self.lives] {
            match maps::remove(map.as_fd(), &traffic.place().to_ne_bytes()) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => {
                    return Err(said("take a program off the device")(e));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Gives a program its packets, for as long as the process has this socket.
    pub(crate) fn enter(
        &self,
        door: &Door,
        traffic: Traffic,
        program: BorrowedFd<'_>,
        who: &str,
        life: BorrowedFd<'_>,
    ) -> Result<(), LoadError> {
        let place = traffic.place();
        if let Some((_, owner)) = self.sweep(door)?.iter().find(|(taken, _)| *taken == traffic) {
            return Err(LoadError::Missing(format!(
                "the packets of {traffic} on this device are for {}; end that one, or choose another device",
                owner.name()
            )));
        }
        let program = number(program).to_ne_bytes();
        maps::update(self.entries.as_fd(), Some(&place.to_ne_bytes()), &program)
            .map_err(said("put a program on the device"))?;
        self.put_owner(place, Owner::named(who))?;
        self.claim(place, life).map(|_| ())
    }

    /// The program stays when its process ends: it is pinned.
    pub(crate) fn stays(&self, traffic: Traffic) -> Result<(), LoadError> {
        let owner = self.owner(traffic.place())?;
        self.put_owner(traffic.place(), Owner { lasting: 1, ..owner })
    }

    /// Takes a program out; whether it was the last one.
    pub(crate) fn leave(&self, door: &Door, traffic: Traffic) -> Result<bool, LoadError> {
        self.clear(traffic)?;
        Ok(self.sweep(door)?.is_empty())
    }

    /// The packets of a program.
    pub(crate) fn traffic(&self, program: u32) -> Option<Traffic> {
        let mut id = [0; 4];
        let is_it = |traffic: &Traffic| {
            let found = maps::lookup(self.entries.as_fd(), &traffic.place().to_ne_bytes(), &mut id);
            matches!(found, Ok(Some(()))) && u32::from_ne_bytes(id) == program
        };
        Traffic::all().find(is_it)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_is_read_as_it_was_written() {
        let owner = Owner { lasting: 1, device: 2, net: 3, ..Owner::named("stream (process 7)") };
        let read = Owner::read(owner.octets());
        assert_eq!((read.lasting, read.device, read.net), (1, 2, 3));
        assert_eq!(read.name(), "stream (process 7)");
        assert_eq!(NOBODY.name(), "");
    }

    #[test]
    fn a_name_is_cut_between_its_letters() {
        let cut = Owner::named(&"ä".repeat(40)).name();
        assert_eq!(cut, "ä".repeat(23));
        assert_eq!(Owner::named(&"a".repeat(60)).name().len(), WHO - 1);
    }
}
