// SPDX-License-Identifier: MIT OR Apache-2.0
//! Objects that serve one core after another. The verifier takes seconds for a large program; its maps are cleared in milliseconds.

use std::cell::{Cell, RefCell};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use aya::maps::{MapData, MapInfo, MapType};
use carrick_interp::Config;
use carrick_ir::Program;
use carrick_sim::ip;

use crate::LoadError;
use crate::load_error::{failed, told};
use crate::map_sizing::room;
use crate::maps::{self, Mapped, fd};
use crate::object::{Object, Reports};
use crate::one_processor::OneProcessor;

/// Flags of maps: a process can map it; programs only read it (it holds constants).
const MMAPABLE: u32 = 1 << 10;
const READ_ONLY: u32 = 1 << 7;
/// Objects that wait for a core: those of two ends, and of two more whose maps have other sizes.
const WAITING: usize = 4;
/// What is lent is there until it is given back.
const THERE: &str = "it is given back only at the end";

/// An object, and who takes its reports: the place up to which they are taken is known to that alone.
struct Kept {
    object: Object,
    reports: Reports,
}

type Waiting = Rc<RefCell<Vec<Kept>>>;

/// The objects that were loaded from one file.
#[derive(Clone)]
pub struct Objects {
    path: PathBuf,
    waiting: Waiting,
    loaded: Rc<Cell<usize>>,
}

impl Objects {
    /// None is loaded yet.
    pub fn new(path: &Path) -> Objects {
        Objects { path: path.to_owned(), waiting: Waiting::default(), loaded: Rc::default() }
    }

    /// How many were loaded.
    pub fn loaded(&self) -> usize {
        self.loaded.get()
    }

    /// An object in the state of one that was just loaded: one that another core has given back, if its maps have the sizes
    /// that these parameters need. The thread stays on one processor until it is given back.
    ///
    /// # Errors
    /// As [`Object::load`].
    pub fn lend(&self, program: &Program, config: &Config) -> Result<Lent, LoadError> {
        let here = OneProcessor::hold();
        let address = ip::address(program.net_header.layer, ip::host(config.address));
        let elements = room(program, &config.params)?.elements;
        let found = self.waiting.borrow().iter().position(|kept| kept.object.elements == elements);
        let kept = match found {
            Some(at) => {
                let mut kept = self.waiting.borrow_mut().remove(at);
                kept.reports.take(|_, _, _| {});
                let again = || {
                    kept.object.clear()?;
                    kept.object.begin(program, config.seed, address, config.mtu, &config.params)
                };
                again().map_err(LoadError::Failed)?;
                kept
            }
            None => {
                self.loaded.set(self.loaded.get() + 1);
                let (params, mtu) = (&config.params, config.mtu);
                let object = Object::load(&self.path, program, config.seed, address, mtu, params)?;
                let reports = object.reports().map_err(LoadError::Failed)?;
                Kept { object, reports }
            }
        };
        Ok(Lent { kept: Some(kept), to: self.waiting.clone(), _here: here })
    }
}

/// An object that goes back to the others when its core ends.
pub struct Lent {
    /// always there until then
    kept: Option<Kept>,
    to: Waiting,
    _here: Option<Rc<OneProcessor>>,
}

impl Deref for Lent {
    type Target = Object;

    fn deref(&self) -> &Object {
        &self.kept.as_ref().expect(THERE).object
    }
}

impl Lent {
    /// Its reports from now on.
    pub(crate) fn reports(&mut self) -> &mut Reports {
        &mut self.kept.as_mut().expect(THERE).reports
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let mut waiting = self.to.borrow_mut();
        if waiting.len() == WAITING {
            waiting.remove(0);
        }
        waiting.extend(self.kept.take());
    }
}

impl Object {
    /// Makes all maps as they are in an object that was just loaded.
    ///
    /// # Errors
    /// What the kernel says, or which map has a state that only loading restores.
    fn clear(&self) -> Result<(), String> {
        for (name, map) in self.state() {
            let info = map.info().map_err(|e| told(&e))?;
            match info.map_type().map_err(|e| told(&e))? {
                MapType::Array if info.map_flags() & MMAPABLE != 0 => zero_mapped(map, &info),
                MapType::Array | MapType::PerCpuArray => self.zero(map, &info),
                MapType::Hash | MapType::LruHash => delete_all(map, &info),
                MapType::Queue | MapType::Stack => pop_all(map, &info),
                // Reports are taken; the others hold what processes put there, which programs do not change.
                MapType::RingBuf | MapType::ProgramArray | MapType::DevMap => Ok(()),
                _ => Err(format!("map {name} is of no kind that can be cleared")),
            }?;
        }
        Ok(())
    }

    /// The maps that programs change.
    fn state(&self) -> impl Iterator<Item = (&str, &MapData)> {
        let constant = |map: &MapData| map.info().is_ok_and(|info| info.map_flags() & READ_ONLY != 0);
        self.maps.iter().filter(move |(_, map)| !constant(map)).map(|(name, map)| (name.as_str(), map))
    }

    fn zero(&self, map: &MapData, info: &MapInfo) -> Result<(), String> {
        let zeros = vec![0; self.octets_of(info)];
        let update = |at: u32| maps::update(fd(map), Some(&at.to_ne_bytes()), &zeros);
        (0..info.max_entries()).try_for_each(update).map_err(failed("clear an array"))
    }

    /// Bytes of an element, as system calls have it.
    fn octets_of(&self, info: &MapInfo) -> usize {
        let octets = info.value_size() as usize;
        match info.map_type() {
            Ok(MapType::PerCpuArray) => octets.next_multiple_of(8) * self.processors,
            _ => octets,
        }
    }

    /// What each map holds, by its name: elements of arrays in order, all keys of others. Of stacks, queues and rings, how many
    /// bytes. Two objects in one state give the same.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn contents(&self) -> Result<Vec<(String, Vec<u8>)>, String> {
        let of = |(name, map): (&str, &MapData)| {
            let info = map.info().map_err(|e| told(&e))?;
            let held = match info.map_type().map_err(|e| told(&e))? {
                MapType::Array | MapType::PerCpuArray => {
                    let mut all = Vec::new();
                    let mut value = vec![0; self.octets_of(&info)];
                    for at in 0..info.max_entries() {
                        maps::lookup(fd(map), &at.to_ne_bytes(), &mut value)
                            .map_err(failed("read an array"))?;
                        all.extend_from_slice(&value);
                    }
                    all
                }
                MapType::Hash | MapType::LruHash => {
                    maps::keys(fd(map), info.key_size() as usize).map_err(failed("read keys"))?.concat()
                }
                _ => Vec::new(),
            };
            Ok((name.to_owned(), held))
        };
        self.state().map(of).collect()
    }
}

fn zero_mapped(map: &MapData, info: &MapInfo) -> Result<(), String> {
    let len = info.max_entries() as usize * (info.value_size() as usize).next_multiple_of(8);
    Mapped::new(fd(map), len).map(|mapped| mapped.clear()).map_err(failed("map an array"))
}

fn delete_all(map: &MapData, info: &MapInfo) -> Result<(), String> {
    let keys = maps::keys(fd(map), info.key_size() as usize).map_err(failed("read keys"))?;
    keys.iter().try_for_each(|key| maps::remove(fd(map), key)).map_err(failed("clear a table"))
}

fn pop_all(map: &MapData, info: &MapInfo) -> Result<(), String> {
    let mut value = vec![0; info.value_size() as usize];
    while maps::pop(fd(map), &mut value).map_err(failed("clear a stack"))?.is_some() {}
    Ok(())
}
