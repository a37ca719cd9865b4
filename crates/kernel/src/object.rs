//! An object file in the kernel: its maps, its program, and what the verifier says of it.

use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use aya::maps::{Map, MapData, RingBuf};
use aya::programs::xdp::XdpLinkId;
use aya::programs::{ProgramError, Xdp, XdpFlags};
use aya::{Ebpf, EbpfError, EbpfLoader, VerifierLogLevel};
use carrick_interp::{random_start, secret_key};
use carrick_ir::{COUNTERS, Program};

use crate::maps;

/// Why an object is not in the kernel.
#[derive(Debug)]
pub enum Refusal {
    /// this process may not, or this kernel cannot: what is missing
    Missing(String),
    /// the verifier rejects it: the place of the program that it stopped at, if it says one, why, and all that it says
    Rejected {
        /// `file.mtp:17`
        place: Option<String>,
        /// its last sentence
        why: String,
        /// the log
        log: String,
    },
    /// anything else
    Failed(String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Missing(what) | Refusal::Failed(what) => f.write_str(what),
            Refusal::Rejected { place, why, .. } => {
                let place = place.as_deref().unwrap_or("what belongs to no line of the program");
                write!(
                    f,
                    "{place}: the kernel's verifier rejects what was made of this ({why}); this is a mistake of the compiler's: split the statement, or leave it out, until it is mended"
                )
            }
        }
    }
}

/// A loaded program with its maps.
pub struct Object {
    ebpf: Ebpf,
    reports: RingBuf<MapData>,
    /// octets of what each processor has
    core_octets: usize,
    processors: usize,
}

/// A program at its device.
#[derive(Debug)]
pub struct Attached(XdpLinkId);

/// Where the head of what each processor has begins with what: `CARRICK_HEAD`.
mod head {
    pub const CLOCK: usize = 0;
    pub const KEY: usize = 8;
    pub const ADDRESS: usize = 24;
    pub const MTU: usize = 28;
    pub const TAKEN: usize = 32;
    pub const BUSY: usize = 40;
    pub const COUNTERS: usize = 48;
}

/// `struct carrick_timer`, which stand at the end of an instance behind its slot, its generation, and two words more.
pub(crate) struct Timer {
    pub deadline: u64,
    pub order: u64,
    pub armed: bool,
}

const TIMER_OCTETS: usize = 24;

/// One word of octets that are longer.
fn word(octets: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&octets[at..at + 8]);
    u64::from_ne_bytes(word)
}

fn put(octets: &mut [u8], at: usize, value: &[u8]) {
    octets[at..at + value.len()].copy_from_slice(value);
}

fn failed(what: &str) -> impl Fn(io::Error) -> String + '_ {
    move |e| format!("cannot {what}: {e}")
}

impl Object {
    /// Loads an object that was made of this program, and gives its cores what they begin with.
    ///
    /// # Errors
    /// Why it is not there.
    pub fn load(
        path: &Path,
        program: &Program,
        seed: u64,
        address: u32,
        mtu: u32,
        params: &[u64],
    ) -> Result<Object, Refusal> {
        let mut loader = EbpfLoader::new();
        let mut ebpf =
            loader.verifier_log_level(VerifierLogLevel::DEBUG).load_file(path).map_err(refused_maps)?;
        for (_, program) in ebpf.programs_mut() {
            <&mut Xdp>::try_from(program).and_then(Xdp::load).map_err(refused_program)?;
        }
        let reports = ebpf.take_map("carrick_reports").and_then(|map| RingBuf::try_from(map).ok());
        let reports = reports.ok_or_else(|| Refusal::Failed("the object has no reports".into()))?;
        let core_octets = map(&ebpf, "carrick_cores").and_then(size).map_err(Refusal::Failed)?;
        let processors = aya::util::nr_cpus().map_err(|(_, e)| Refusal::Failed(e.to_string()))?;
        let object = Object { ebpf, reports, core_octets: core_octets.next_multiple_of(8), processors };
        object.begin(program, seed, address, mtu, params).map_err(Refusal::Failed)?;
        Ok(object)
    }

    fn begin(
        &self,
        program: &Program,
        seed: u64,
        address: u32,
        mtu: u32,
        params: &[u64],
    ) -> Result<(), String> {
        let mut shared = vec![0_u8; size(map(&self.ebpf, "carrick_shared")?)?];
        for (at, word) in random_start(seed).iter().enumerate() {
            put(&mut shared, at * 8, &word.to_ne_bytes());
        }
        let zero = 0_u32.to_ne_bytes();
        maps::update(fd(map(&self.ebpf, "carrick_shared")?), Some(&zero), &shared)
            .map_err(failed("write what is shared"))?;
        let defaults: Vec<u64> = program.params.iter().map(|p| p.default).collect();
        let params = if params.is_empty() { &defaults } else { params };
        self.each_core(|core| {
            for (at, word) in secret_key(seed).iter().enumerate() {
                put(core, head::KEY + at * 8, &word.to_ne_bytes());
            }
            put(core, head::ADDRESS, &address.to_ne_bytes());
            put(core, head::MTU, &mtu.to_ne_bytes());
            for (at, value) in params.iter().enumerate() {
                put(core, head::COUNTERS + (COUNTERS.len() + at) * 8, &value.to_ne_bytes());
            }
        })?;
        self.free_slots(program)
    }

    /// All slots are free; the one that was put there last is the first.
    fn free_slots(&self, program: &Program) -> Result<(), String> {
        for number in (0..program.contexts.len()).filter(|n| !program.contexts[*n].global) {
            let free = map(&self.ebpf, &format!("free_{number}"))?;
            let capacity = free.info().map_err(|e| told(&e))?.max_entries();
            for slot in (0..capacity).rev() {
                maps::update(fd(free), None, &slot.to_ne_bytes()).map_err(failed("fill a map"))?;
            }
        }
        Ok(())
    }

    /// What all processors have, one behind the other.
    fn cores(&self) -> Result<Vec<u8>, String> {
        let mut all = vec![0_u8; self.core_octets * self.processors];
        let found = maps::lookup(fd(map(&self.ebpf, "carrick_cores")?), &0_u32.to_ne_bytes(), &mut all);
        found.map_err(failed("read what processors have"))?;
        Ok(all)
    }

    fn each_core(&self, change: impl Fn(&mut [u8])) -> Result<(), String> {
        let mut all = self.cores()?;
        all.chunks_exact_mut(self.core_octets).for_each(change);
        maps::update(fd(map(&self.ebpf, "carrick_cores")?), Some(&0_u32.to_ne_bytes()), &all)
            .map_err(failed("write what processors have"))
    }

    /// Makes it this time for the programs, nanoseconds, until the next such call.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn set_clock(&self, now: u64) -> Result<(), String> {
        self.each_core(|core| put(core, head::CLOCK, &(now + 1).to_ne_bytes()))
    }

    /// The counters of all processors, by number: [`carrick_ir::COUNTERS`].
    ///
    /// # Errors
    /// What the kernel says.
    pub fn counters(&self) -> Result<Vec<u64>, String> {
        let all = self.cores()?;
        let sum = |at: usize| all.chunks_exact(self.core_octets).map(|core| word(core, at)).sum();
        Ok((0..COUNTERS.len()).map(|n| sum(head::COUNTERS + n * 8)).collect())
    }

    /// Packets of which an event was made; packets that were dropped since another processor held what they need.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn taken_and_busy(&self) -> Result<(u64, u64), String> {
        let all = self.cores()?;
        let sum = |at: usize| all.chunks_exact(self.core_octets).map(|core| word(core, at)).sum();
        Ok((sum(head::TAKEN), sum(head::BUSY)))
    }

    /// Instances of all contexts.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn open_contexts(&self, program: &Program) -> Result<usize, String> {
        let mut all = 0;
        for number in (0..program.contexts.len()).filter(|n| !program.contexts[*n].global) {
            let index = map(&self.ebpf, &format!("index_{number}"))?;
            let key = index.info().map_err(|e| told(&e))?.key_size();
            all += maps::count(fd(index), key as usize).map_err(failed("count instances"))?;
        }
        Ok(all)
    }

    /// Hands each slot of a context with timers to `take`: its number, its generation, its timers.
    ///
    /// # Errors
    /// What the kernel says.
    pub(crate) fn each_instance(
        &self,
        context: usize,
        timers: usize,
        mut take: impl FnMut(u32, u32, &[Timer]),
    ) -> Result<(), String> {
        let slots = map(&self.ebpf, &format!("slots_{context}"))?;
        let info = slots.info().map_err(|e| told(&e))?;
        let mut value = vec![0_u8; info.value_size() as usize];
        let begin = value.len() - timers * TIMER_OCTETS;
        for slot in 0..info.max_entries() {
            maps::lookup(fd(slots), &slot.to_ne_bytes(), &mut value).map_err(failed("read an instance"))?;
            let all = value[begin..].chunks_exact(TIMER_OCTETS).map(|t| Timer {
                deadline: word(t, 0),
                order: word(t, 8),
                armed: word(t, 16) != 0,
            });
            let generation = word(&value, begin - 16) >> 32;
            take(slot, generation as u32, &all.collect::<Vec<_>>());
        }
        Ok(())
    }

    /// Runs the program with this name on one frame: the verdict, and the frame that it left.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn run(&self, program: &str, frame: &[u8]) -> Result<(u32, Vec<u8>), String> {
        let program = self.ebpf.program(program).ok_or("the object has no such program")?;
        let fd = program.fd().map_err(|e| e.to_string())?;
        maps::run(fd.as_fd(), frame).map_err(failed("run the program"))
    }

    /// Hands each report since the last time to `take`: kind, number, words.
    pub fn take_reports(&mut self, mut take: impl FnMut(u32, u32, Vec<u64>)) {
        while let Some(report) = self.reports.next() {
            if report.len() >= 16 {
                let head = word(&report, 0);
                let words = report[16..].chunks_exact(8).map(|w| word(w, 0)).collect();
                take(head as u32, (head >> 32) as u32, words);
            }
        }
    }

    /// Puts the program in front of the kernel's own stack on a device.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn attach(&mut self, device: &str) -> Result<Attached, String> {
        let ingress = self.ebpf.program_mut("ingress").and_then(|p| <&mut Xdp>::try_from(p).ok());
        let ingress = ingress.ok_or("the object has no program")?;
        let link = ingress.attach(device, XdpFlags::DRV_MODE).map_err(|e| told(&e))?;
        Ok(Attached(link))
    }

    /// Leaves the device as it was.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn detach(&mut self, attached: Attached) -> Result<(), String> {
        let ingress = self.ebpf.program_mut("ingress").and_then(|p| <&mut Xdp>::try_from(p).ok());
        ingress.ok_or("the object has no program")?.detach(attached.0).map_err(|e| told(&e))
    }
}

fn map<'e>(ebpf: &'e Ebpf, name: &str) -> Result<&'e MapData, String> {
    match ebpf.map(name) {
        Some(Map::Array(data) | Map::PerCpuArray(data) | Map::HashMap(data) | Map::Stack(data)) => Ok(data),
        _ => Err(format!("the object has no map {name}")),
    }
}

fn fd(map: &MapData) -> BorrowedFd<'_> {
    map.fd().as_fd()
}

fn size(map: &MapData) -> Result<usize, String> {
    Ok(map.info().map_err(|e| told(&e))?.value_size() as usize)
}

/// An error with those that it comes from.
fn told(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut from = error.source();
    while let Some(source) = from {
        text.push_str(&format!(": {source}"));
        from = source.source();
    }
    text
}

/// What to do where the kernel says that this process may not.
const PRIVILEGE: &str = "programs cannot be brought into the kernel (operation not permitted); run as root, or with CAP_BPF and CAP_NET_ADMIN";

/// Whether an error comes from a lack of privilege.
fn is_forbidden(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut from = Some(error);
    while let Some(source) = from {
        if source.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::PermissionDenied) {
            return true;
        }
        from = source.source();
    }
    false
}

fn refused_maps(error: EbpfError) -> Refusal {
    if is_forbidden(&error) {
        return Refusal::Missing(PRIVILEGE.into());
    }
    Refusal::Failed(format!("cannot load the programs: {}", told(&error)))
}

fn refused_program(error: ProgramError) -> Refusal {
    match error {
        ProgramError::LoadError { verifier_log, .. } if verifier_log.to_string().contains("processed ") => {
            rejected(&verifier_log.to_string())
        }
        other if is_forbidden(&other) => Refusal::Missing(PRIVILEGE.into()),
        other => Refusal::Failed(format!("cannot load the programs: {}", told(&other))),
    }
}

/// The verifier ends with why, and then with what it has cost. It shows the line of each instruction as `; text @ file:line`.
pub(crate) fn rejected(log: &str) -> Refusal {
    let lines: Vec<&str> = log.lines().collect();
    let end = lines.iter().rposition(|line| line.starts_with("processed ")).unwrap_or(lines.len());
    let why =
        lines[..end].iter().rev().find(|line| !line.is_empty()).copied().unwrap_or("it does not say why");
    let places = lines[..end].iter().rev().filter_map(|line| line.strip_prefix("; ")?.rsplit_once(" @ "));
    let place = places.map(|(_, place)| place.trim()).next();
    let place = place.filter(|place| place.contains(".mtp:")).map(str::to_owned);
    Refusal::Rejected { place, why: why.to_owned(), log: log.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "0: R1=ctx() R10=fp0
; c.count += e.n; @ least.mtp:16
7: (61) r1 = *(u32 *)(r1 +0)
R1 invalid mem access 'scalar'
processed 8 insns (limit 1000000) max_states_per_insn 0
";

    #[test]
    fn a_rejection_names_the_line_of_the_program() {
        let refusal = rejected(LOG);
        let text = refusal.to_string();
        assert!(text.starts_with("least.mtp:16: "), "{text}");
        assert!(text.contains("(R1 invalid mem access 'scalar')"), "{text}");
        assert!(!text.contains("processed"), "{text}");
        let Refusal::Rejected { log, .. } = refusal else { panic!("it is one") };
        assert_eq!(log, LOG);
    }

    #[test]
    fn what_belongs_to_no_line_of_the_program_names_none() {
        let Refusal::Rejected { place, .. } = rejected(&LOG.replace("least.mtp:16", "least.bpf.c:9")) else {
            panic!("it is one")
        };
        assert_eq!(place, None);
    }
}
