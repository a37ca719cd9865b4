// SPDX-License-Identifier: MIT OR Apache-2.0
//! A program in the kernel: loading its object, pinning its maps and programs, finding them again.

use std::collections::BTreeMap;
use std::fs;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use aya::maps::{Map, MapData, RingBuf};
use aya::programs::Xdp;
use aya::{Ebpf, EbpfLoader, VerifierLogLevel};
use carrick_ir::{NetLayer, Program};

use crate::device::Device;
use crate::layout::{INGRESS, word};
use crate::link::{Entry, Link};
use crate::load_error::{failed, refused_maps, refused_program, told, verified};
use crate::map_sizing::{fits, room};
use crate::maps::{self, fd};
use crate::needs;
use crate::{LoadError, machine, memory, pins};

/// A loaded program with its maps. It is there as long as this is, unless it is pinned or at a device.
pub struct Object {
    pub(crate) maps: BTreeMap<String, MapData>,
    programs: BTreeMap<String, OwnedFd>,
    /// bytes of what each processor has
    pub(crate) core_octets: usize,
    pub(crate) processors: usize,
    /// of the maps whose sizes depend on parameters, how many elements each has; known of those that this process has loaded
    pub(crate) elements: Vec<(String, u32)>,
}

/// Bytes of the packets that a link of IPv6 carries at least (RFC 8200 §5).
const IPV6_LEAST_MTU: u32 = 1280;

impl Object {
    /// Loads an object that was made of this program, and gives its cores what they begin with.
    ///
    /// # Errors
    /// Why it is not there.
    pub fn load(
        path: &Path,
        program: &Program,
        seed: u64,
        address: u128,
        mtu: u32,
        params: &[u64],
    ) -> Result<Object, LoadError> {
        if program.net_header.layer == NetLayer::Ipv6 && mtu < IPV6_LEAST_MTU {
            return Err(LoadError::Missing(format!(
                "the device carries packets of {mtu} bytes, and IPv6 needs {IPV6_LEAST_MTU}: set its MTU with `ip link set`"
            )));
        }
        machine::suits()?;
        machine::has(needs::of(path))?;
        let room = room(program, params)?;
        memory::free().map_or(Ok(()), |free| fits(program, params, &room, free))?;
        let mut loader = EbpfLoader::new();
        for (map, count) in &room.elements {
            loader.set_max_entries(map, *count);
        }
        let mut ebpf =
            loader.verifier_log_level(VerifierLogLevel::DEBUG).load_file(path).map_err(refused_maps)?;
        let mut programs = BTreeMap::new();
        for (name, program) in ebpf.programs_mut() {
            let program = <&mut Xdp>::try_from(program).map_err(refused_program)?;
            verified(|| program.load()).map_err(refused_program)?;
            let fd = program.fd().map_err(refused_program)?.as_fd().try_clone_to_owned();
            programs.insert(name.to_owned(), fd.map_err(|e| LoadError::Failed(e.to_string()))?);
        }
        let object = Object::of(maps_of(&ebpf).map_err(LoadError::Failed)?, programs);
        let object = Object { elements: room.elements, ..object.map_err(LoadError::Failed)? };
        object.begin(program, seed, address, mtu, params).map_err(LoadError::Failed)?;
        Ok(object)
    }

    fn of(maps: BTreeMap<String, MapData>, programs: BTreeMap<String, OwnedFd>) -> Result<Object, String> {
        let processors = aya::util::nr_cpus().map_err(|(_, e)| e.to_string())?;
        let mut object = Object { maps, programs, core_octets: 0, processors, elements: Vec::new() };
        object.core_octets = object.value_octets("carrick_cores")?.next_multiple_of(8);
        Ok(object)
    }

    /// What [`Object::pin`] put into this folder, in the state that it is in by now.
    ///
    /// # Errors
    /// What is not there, or what the kernel says.
    pub fn open(dir: &Path) -> Result<Object, String> {
        let mut maps = BTreeMap::new();
        for (name, fd) in pins::all(&dir.join(pins::MAPS))? {
            maps.insert(name, MapData::from_fd(fd).map_err(|e| told(&e))?);
        }
        Object::of(maps, pins::all(&dir.join(pins::PROGRAMS))?)
    }

    /// Keeps its maps and programs in a folder of a BPF file system, which is made: they outlive this process.
    ///
    /// # Errors
    /// What the kernel says; what was pinned by then stays for [`unpin`](crate::unpin).
    pub fn pin(&self, dir: &Path) -> Result<(), String> {
        let (maps, programs) = (dir.join(pins::MAPS), dir.join(pins::PROGRAMS));
        for folder in [&maps, &programs] {
            fs::create_dir_all(folder).map_err(|e| format!("cannot make {}: {e}", folder.display()))?;
        }
        self.maps.iter().try_for_each(|(name, map)| pins::pin(fd(map), &maps.join(name)))?;
        self.programs.iter().try_for_each(|(name, fd)| pins::pin(fd.as_fd(), &programs.join(name)))
    }

    /// Its maps and programs by name: what a process needs that uses it from outside.
    pub fn descriptors(&self) -> impl Iterator<Item = (&str, BorrowedFd<'_>)> {
        let maps = self.maps.iter().map(|(name, map)| (name.as_str(), fd(map)));
        maps.chain(self.programs.iter().map(|(name, program)| (name.as_str(), program.as_fd())))
    }

    /// A map, by its name in the generated program.
    pub(crate) fn map(&self, name: &str) -> Result<&MapData, String> {
        self.maps.get(name).ok_or_else(|| format!("the object has no map {name}"))
    }

    fn value_octets(&self, map: &str) -> Result<usize, String> {
        Ok(self.map(map)?.info().map_err(|e| told(&e))?.value_size() as usize)
    }

    pub(crate) fn program(&self, name: &str) -> Result<BorrowedFd<'_>, String> {
        Ok(self.programs.get(name).ok_or("the object has no such program")?.as_fd())
    }

    /// Runs the program with this name on one frame: the verdict, and the frame that it left.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn run(&self, program: &str, frame: &[u8]) -> Result<(u32, Vec<u8>), String> {
        maps::run(self.program(program)?, frame).map_err(failed("run the program"))
    }

    /// Its reports from now on. One process may take them.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn reports(&self) -> Result<Reports, String> {
        let fd = fd(self.map("carrick_reports")?).try_clone_to_owned().map_err(|e| e.to_string())?;
        let map = Map::RingBuf(MapData::from_fd(fd).map_err(|e| told(&e))?);
        Ok(Reports(RingBuf::try_from(map).map_err(|e| told(&e))?))
    }

    /// Puts the program in front of the kernel's own stack on a device, beside those of other protocols. It is the device of
    /// [`Object::set_device`].
    ///
    /// # Errors
    /// Why the device does not take it.
    pub fn attach(&self, device: &Device, entry: Entry<'_>) -> Result<Link, LoadError> {
        Link::create(self.program(INGRESS).map_err(LoadError::Failed)?, device, entry)
    }
}

/// The reports of a program.
pub struct Reports(RingBuf<MapData>);

impl Reports {
    /// Hands each report since the last time to `take`: kind, number, words.
    pub fn take(&mut self, mut take: impl FnMut(u32, u32, Vec<u64>)) {
        while let Some(report) = self.0.next() {
            if report.len() >= 16 {
                let head = word(&report, 0);
                let words = report[16..].chunks_exact(8).map(|w| word(w, 0)).collect();
                take(head as u32, (head >> 32) as u32, words);
            }
        }
    }
}

/// Descriptors of an object's maps, of their own.
fn maps_of(ebpf: &Ebpf) -> Result<BTreeMap<String, MapData>, String> {
    let mut maps = BTreeMap::new();
    for (name, map) in ebpf.maps() {
        let (Map::Array(data)
        | Map::PerCpuArray(data)
        | Map::DevMap(data)
        | Map::HashMap(data)
        | Map::LruHashMap(data)
        | Map::ProgramArray(data)
        | Map::Queue(data)
        | Map::RingBuf(data)
        | Map::Stack(data)) = map
        else {
            return Err(format!("map {name} is of no kind that programs have"));
        };
        let fd = fd(data).try_clone_to_owned().map_err(|e| e.to_string())?;
        // Pins have no dots in their names.
        let name = name.strip_prefix(".rodata.").map_or(name.to_owned(), |rest| format!("carrick_{rest}"));
        maps.insert(name, MapData::from_fd(fd).map_err(|e| told(&e))?);
    }
    Ok(maps)
}
