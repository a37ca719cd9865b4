// SPDX-License-Identifier: MIT OR Apache-2.0
//! A core that was compiled to a shared library: the C twin of the interpreter.
//!
//! The structs mirror runtime/include/carrick/program.h.

use std::cell::Cell;
use std::collections::VecDeque;
use std::ffi::c_void;
use std::path::Path;
use std::ptr::{self, NonNull};
use std::rc::Rc;

use carrick_interp::{Config, FAILED_CLAIMS_KEPT};
use carrick_ir::{NetLayer, Program, uses};
use libloading::{Library, Symbol};
use rustc_hash::FxHashMap as HashMap;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

use crate::core::{Completion, Core, Data, FailedClaim, Record, RecordSet, Refused, Request, TraceKind};
use crate::{ip, joined};

/// The version of the boundary that this module speaks.
const ABI: u32 = 15;
const AGAIN: i32 = -1;
const DROPPED: i32 = -2;
const NEVER: u64 = u64::MAX;
/// Bytes of the longest IP packet.
const LONGEST: usize = 65_535;

#[repr(C)]
struct CAddr {
    ptr: *mut u8,
    len: u64,
    token: u64,
}

#[repr(C)]
struct CRequest {
    handle: u64,
    token: u64,
    data: CAddr,
    args: [u64; 16],
    writable: bool,
}

#[repr(C)]
#[derive(Default)]
struct CCompletion {
    token: u64,
    value: u64,
    status: u8,
}

type TraceFn = unsafe extern "C" fn(*mut c_void, u32, u32, *const u64, u32);

#[repr(C)]
struct CConfig {
    seed: u64,
    address: u32,
    mtu: u32,
    completions: u32,
    params: *const u64,
    trace: Option<TraceFn>,
    trace_user: *mut c_void,
    base: u64,
    elsewhere: *mut c_void,
    address6: [u64; 2],
    checksums_offloaded: bool,
    records: u64,
    sample: u64,
}

type TxBurst = unsafe extern "C" fn(*mut c_void, *const *mut u8, u32, *mut u32, *mut u16, u32, u64) -> u32;

#[repr(C)]
struct CProgram {
    abi: u32,
    name: *const i8,
    interface_name: *const i8,
    source_hash: u64,
    network: u8,
    protocol: u8,
    traced: u8,
    reports: bool,
    params: *const c_void,
    param_count: u32,
    calls: *const c_void,
    call_count: u32,
    counter_names: *const *const i8,
    counter_count: u32,
    claims: *const c_void,
    claim_count: u32,
    footprint: unsafe extern "C" fn(*const CConfig) -> usize,
    capacity: *const c_void,
    init: unsafe extern "C" fn(*mut c_void, *const CConfig) -> *mut c_void,
    rx: unsafe extern "C" fn(*mut c_void, *const u8, u32, u64) -> i32,
    rx_burst: *const c_void,
    tx: unsafe extern "C" fn(*mut c_void, *mut u8, u32, u64) -> u32,
    tx_burst: TxBurst,
    call: unsafe extern "C" fn(*mut c_void, u32, *const CRequest, u64) -> i32,
    advance: unsafe extern "C" fn(*mut c_void, u64) -> i32,
    next_deadline: unsafe extern "C" fn(*mut c_void, u64) -> u64,
    wake_by: *const c_void,
    next_completion: unsafe extern "C" fn(*mut c_void, *mut CCompletion) -> bool,
    counters: unsafe extern "C" fn(*const c_void) -> *const u64,
    open_contexts: unsafe extern "C" fn(*const c_void) -> u32,
    identify: *const c_void,
    rx_on: Option<unsafe extern "C" fn(*mut c_void, u32, *const u8, u32, u64) -> i32>,
    tx_interface: Option<unsafe extern "C" fn(*const c_void) -> u32>,
}

/// A loaded program; cores are made of it.
pub struct CompiledProgram {
    program: NonNull<CProgram>,
    /// it may read memory of requests, whose bytes must then be known from the beginning
    reads_memory: bool,
    /// keeps the code in memory
    _library: Library,
}

impl CompiledProgram {
    /// Loads a shared library that exports `NAME_program`, which was made from this program.
    ///
    /// # Errors
    /// If it cannot be loaded, is no such library, or was made for another version of the boundary or from another
    /// source than this program.
    pub fn load(path: &Path, from: &Program) -> Result<Rc<CompiledProgram>, String> {
        // SAFETY: the library is one that this toolchain made; its only initialiser is the C runtime's.
        let library =
            unsafe { Library::new(path) }.map_err(|e| format!("cannot load {}: {e}", path.display()))?;
        // SAFETY: the symbol has this type in program.h.
        let table: Symbol<'_, *mut CProgram> =
            unsafe { library.get(format!("{}_program", from.name).as_bytes()) }
                .map_err(|e| format!("{} is no compiled program: {e}", path.display()))?;
        let program = NonNull::new(*table).ok_or("the library has no program")?;
        // SAFETY: it stays valid as long as the library is loaded; `abi` comes first in every version.
        let (abi, hash) = unsafe { (program.as_ref().abi, program.as_ref().source_hash) };
        if abi != ABI || hash != from.source_hash {
            return Err(format!("{} was built from another program or by another version", path.display()));
        }
        Ok(Rc::new(CompiledProgram { program, reads_memory: uses::memory(from), _library: library }))
    }

    /// Bytes of memory for a core of this configuration; 0 if it is invalid.
    pub fn footprint(&self, config: &Config) -> usize {
        let c_config = c_config(config, ptr::null_mut());
        // SAFETY: the configuration is complete.
        unsafe { (self.table().footprint)(&raw const c_config) }
    }

    fn table(&self) -> &CProgram {
        // SAFETY: the table is static in the library, which lives as long as self.
        unsafe { self.program.as_ref() }
    }
}

/// The bytes of an open request: what it sends, or the room for what it receives.
struct Buffer {
    octets: Vec<u8>,
    /// how many bytes the core may write, if it may
    room: Option<usize>,
}

/// A core of a compiled program.
pub struct Compiled {
    program: Rc<CompiledProgram>,
    core: *mut c_void,
    /// it keeps the core's memory
    _memory: Pages,
    /// boxed: the core keeps its address
    reports: Box<Reports>,
    /// the bytes of open requests; the core refers to them
    buffers: HashMap<u64, Buffer>,
    /// the bytes of requests that are over, for their room
    spare: Vec<Vec<u8>>,
    mtu: usize,
    /// by which packets leave; `None`: the core makes each
    engine: Option<Segmentation>,
}

/// An engine of segmentation.
struct Segmentation {
    /// packets that it has made of the last one that the core gave
    made: VecDeque<Vec<u8>>,
    /// how many it has made in all
    count: Rc<Cell<u64>>,
}

/// What the core has reported.
#[derive(Default)]
struct Reports {
    records: Vec<Record>,
    /// that were taken, for later ones
    spare: Vec<Record>,
    failed: Vec<FailedClaim>,
    /// the time of the call into the core that goes on
    now: u64,
}

impl Reports {
    fn note(&mut self, kind: u32, number: u32, words: &[u64]) {
        if kind == TraceKind::Claim as u32
            && let [context, event] = *words
            && self.failed.len() < FAILED_CLAIMS_KEPT
        {
            let event = event.checked_sub(1).map(|e| e as u32);
            self.failed.push(FailedClaim { claim: number, event, context, at: self.now });
        }
        let mut record = self.spare.pop().unwrap_or_default();
        record.words.clear();
        record.words.extend_from_slice(words);
        self.records.push(Record { kind, number, ..record });
    }
}

unsafe extern "C" fn record(user: *mut c_void, kind: u32, number: u32, words: *const u64, count: u32) {
    // SAFETY: `user` is the box of the core that reports, which outlives it; `words` has `count` words.
    let (reports, words) = unsafe {
        let words = if count == 0 { &[][..] } else { std::slice::from_raw_parts(words, count as usize) };
        (&mut *user.cast::<Reports>(), words)
    };
    reports.note(kind, number, words);
}

fn c_config(config: &Config, user: *mut c_void) -> CConfig {
    let address6 = ip::address(NetLayer::Ipv6, ip::host(config.address));
    CConfig {
        seed: config.seed,
        address: ip::host(config.address),
        mtu: config.mtu,
        completions: config.completions,
        params: if config.params.is_empty() { ptr::null() } else { config.params.as_ptr() },
        trace: config.trace.then_some(record as TraceFn),
        trace_user: user,
        base: 0,
        elsewhere: ptr::null_mut(),
        address6: [(address6 >> 64) as u64, address6 as u64],
        checksums_offloaded: false,
        // Failed claims are part of what comes of a run.
        records: config
            .records
            .and(RecordSet::of(TraceKind::Claim))
            .and(config.records.sampled().map_or(RecordSet::NONE, |_| RecordSet::of(TraceKind::Sample)))
            .bits(),
        sample: config
            .records
            .sampled()
            .map_or(0, |(ctx, field)| u64::from(ctx + 1) << 32 | u64::from(field)),
    }
}

impl Compiled {
    /// A fresh core. Trace records come only from a library that was built with `CARRICK_TRACE`.
    ///
    /// # Errors
    /// If the configuration is invalid for the program, or there is not enough memory.
    pub fn new(program: Rc<CompiledProgram>, config: &Config) -> Result<Compiled, String> {
        let mut reports = Box::<Reports>::default();
        let user: *mut Reports = &mut *reports;
        let c_config = c_config(config, user.cast());
        // SAFETY: the configuration is complete; `params` has a value for each parameter (the caller made it so).
        let size = unsafe { (program.table().footprint)(&raw const c_config) };
        if size == 0 {
            return Err("the configuration is outside what the program allows".into());
        }
        let memory = Pages::new(size).ok_or_else(|| {
            format!("no memory for a core of {size} bytes; lower the buffers or the connections")
        })?;
        // SAFETY: zeroed memory of the footprint's size and alignment.
        let core = unsafe { (program.table().init)(memory.at, &raw const c_config) };
        let compiled = Compiled {
            program,
            core,
            _memory: memory,
            reports,
            buffers: HashMap::default(),
            spare: Vec::new(),
            mtu: config.mtu as usize,
            engine: None,
        };
        if compiled.core.is_null() {
            return Err("the configuration is outside what the program allows".into());
        }
        Ok(compiled)
    }

    /// Packets leave by an engine of segmentation, where the program lets them; `count` is told how many it makes. All that the core
    /// has must be taken before anything else happens.
    #[must_use]
    pub fn with_engine(self, count: Rc<Cell<u64>>) -> Compiled {
        Compiled { engine: Some(Segmentation { made: VecDeque::new(), count }), ..self }
    }

    /// The next packet for an engine, with the payload of each that it makes of that; 0: it is one.
    fn tx_joined(&mut self, out: &mut Vec<u8>, now: u64) -> u16 {
        let (mut len, mut segment) = (0_u32, 0_u16);
        out.reserve(LONGEST);
        let buffer = out.as_mut_ptr();
        // SAFETY: there is room for so many bytes, and the core writes as many as it says, into one buffer.
        unsafe {
            let made = (self.program.table().tx_burst)(
                self.core,
                &raw const buffer,
                LONGEST as u32,
                &raw mut len,
                &raw mut segment,
                1,
                now,
            );
            out.set_len(if made == 0 { 0 } else { len as usize });
        }
        segment
    }

    /// The next packet that the engine makes, or lets through.
    fn tx_by_engine(&mut self, out: &mut Vec<u8>, now: u64) -> bool {
        if let Some(next) = self.engine.as_mut().and_then(|engine| engine.made.pop_front()) {
            *out = next;
            return true;
        }
        let segment = self.tx_joined(out, now);
        if let Some(engine) = self.engine.as_mut().filter(|_| segment > 0) {
            engine.made = joined::cut(out, segment).unwrap_or_else(|e| panic!("{e}")).into();
            engine.count.set(engine.count.get() + engine.made.len() as u64);
            *out = engine.made.pop_front().unwrap_or_default();
        }
        !out.is_empty()
    }

    /// Room for `len` bytes, used before if there is some.
    fn room(&mut self, len: usize) -> Vec<u8> {
        let mut octets = self.spare.pop().unwrap_or_default();
        octets.clear();
        octets.reserve(len);
        octets
    }

    fn outcome(code: i32) -> Result<(), Refused> {
        match code {
            0 => Ok(()),
            AGAIN => Err(Refused::Again),
            // The counter that says why went up; which one does not matter to the host.
            DROPPED => Err(Refused::Dropped(0)),
            _ => Err(Refused::BadArg),
        }
    }
}

/// Zeroed pages of the system. A core reserves space for all that there may be and touches little of it: an allocator that gives
/// the same memory to one core after another writes all of it each time.
struct Pages {
    at: *mut c_void,
    len: usize,
}

impl Pages {
    /// So many bytes, more than 0; `None` if there is not enough memory.
    fn new(len: usize) -> Option<Pages> {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping, at an address that the system chooses.
        let at = unsafe { mmap_anonymous(ptr::null_mut(), len, access, MapFlags::PRIVATE) };
        at.ok().map(|at| Pages { at, len })
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: mapped in `new` with this length; nothing refers to it any more.
        let unmapped = unsafe { munmap(self.at, self.len) };
        debug_assert!(unmapped.is_ok(), "a whole mapping");
    }
}

impl Core for Compiled {
    fn rx(&mut self, packet: &[u8], now: u64) -> Result<(), Refused> {
        self.reports.now = now;
        // SAFETY: the core is alive; it reads the packet only during the call.
        let code = unsafe { (self.program.table().rx)(self.core, packet.as_ptr(), packet.len() as u32, now) };
        Self::outcome(code)
    }

    fn rx_on(&mut self, interface: u32, packet: &[u8], now: u64) -> Result<(), Refused> {
        let Some(rx_on) = self.program.table().rx_on else { return self.rx(packet, now) };
        self.reports.now = now;
        // SAFETY: as in `rx`.
        Self::outcome(unsafe { rx_on(self.core, interface, packet.as_ptr(), packet.len() as u32, now) })
    }

    fn tx_interface(&self) -> u32 {
        // SAFETY: the core is alive.
        self.program.table().tx_interface.map_or(0, |of| unsafe { of(self.core) })
    }

    fn call(&mut self, call: usize, request: Request<'_>, now: u64) -> Result<(), Refused> {
        self.reports.now = now;
        let mut data = CAddr { ptr: ptr::null_mut(), len: 0, token: request.token };
        let buffer = match request.data {
            Data::None => None,
            // The core never writes to what a request sends.
            Data::Lent(octets) => {
                (data.ptr, data.len) = (octets.as_ptr().cast_mut(), octets.len() as u64);
                None
            }
            Data::Send(sent) => {
                let mut octets = self.room(sent.len());
                octets.extend_from_slice(sent);
                (data.ptr, data.len) = (octets.as_mut_ptr(), octets.len() as u64);
                Some(Buffer { octets, room: None })
            }
            Data::Recv(len) => {
                let mut octets = self.room(len as usize);
                if self.program.reads_memory {
                    octets.resize(len as usize, 0);
                }
                (data.ptr, data.len) = (octets.as_mut_ptr(), len);
                Some(Buffer { octets, room: Some(len as usize) })
            }
            Data::Shared(given) => {
                let mut octets = self.room(given.len());
                octets.extend_from_slice(given);
                (data.ptr, data.len) = (octets.as_mut_ptr(), octets.len() as u64);
                Some(Buffer { octets, room: Some(given.len()) })
            }
        };
        let writable = matches!(request.data, Data::Recv(_) | Data::Shared(_));
        let (handle, token) = (request.handle, request.token);
        let mut c_request = CRequest { handle, token, data, args: [0; 16], writable };
        for (to, from) in c_request.args.iter_mut().zip(request.args) {
            *to = *from;
        }
        // SAFETY: the bytes of a vector stay where they are while it is moved, until the completion is taken.
        let code = unsafe { (self.program.table().call)(self.core, call as u32, &raw const c_request, now) };
        if let (0, Some(buffer)) = (code, buffer) {
            self.buffers.insert(request.token, buffer);
        }
        Self::outcome(code)
    }

    fn advance(&mut self, now: u64) -> Result<(), Refused> {
        self.reports.now = now;
        // SAFETY: the core is alive.
        Self::outcome(unsafe { (self.program.table().advance)(self.core, now) })
    }

    fn tx(&mut self, out: &mut Vec<u8>, now: u64) -> bool {
        out.clear();
        if self.engine.is_some() {
            return self.tx_by_engine(out, now);
        }
        out.reserve(self.mtu);
        // SAFETY: there is room for `mtu` bytes, and the core writes as many as it returns.
        unsafe {
            let len = (self.program.table().tx)(self.core, out.as_mut_ptr(), self.mtu as u32, now);
            out.set_len(len as usize);
        }
        !out.is_empty()
    }

    fn next_deadline_before(&self, before: u64) -> Option<u64> {
        // SAFETY: the core is alive.
        let deadline = unsafe { (self.program.table().next_deadline)(self.core, before) };
        (deadline != NEVER).then_some(deadline)
    }

    fn next_completion(&mut self) -> Option<Completion> {
        let mut done = CCompletion::default();
        // SAFETY: the core is alive and writes one completion.
        if !unsafe { (self.program.table().next_completion)(self.core, &raw mut done) } {
            return None;
        }
        let buffer = self.buffers.remove(&done.token);
        let data = buffer.and_then(|Buffer { mut octets, room }| {
            if let (Some(room), 0) = (room, done.status) {
                let got = usize::try_from(done.value).unwrap_or(usize::MAX).min(room);
                if octets.is_empty() {
                    // SAFETY: the room that the request asked for; a core delivers from its beginning as many bytes as it says.
                    unsafe { octets.set_len(got) };
                } else {
                    octets.truncate(got);
                }
                return Some(octets);
            }
            self.spare.push(octets);
            None
        });
        Some(Completion { token: done.token, status: done.status, value: done.value, data })
    }

    fn recycle(&mut self, octets: Vec<u8>) {
        self.spare.push(octets);
    }

    fn take_trace(&mut self, to: &mut Vec<Record>) {
        to.append(&mut self.reports.records);
    }

    fn recycle_trace(&mut self, records: &mut Vec<Record>) {
        self.reports.spare.append(records);
    }

    fn counters(&self) -> Vec<u64> {
        let table = self.program.table();
        // SAFETY: the function returns `counter_count` values inside the core.
        unsafe {
            std::slice::from_raw_parts((table.counters)(self.core), table.counter_count as usize).to_vec()
        }
    }

    fn failed_claims(&self) -> &[FailedClaim] {
        &self.reports.failed
    }

    fn open_contexts(&self) -> usize {
        // SAFETY: the core is alive.
        unsafe { (self.program.table().open_contexts)(self.core) as usize }
    }

    fn change(&mut self, _: &carrick_ir::Function, _: u64, _: u64) -> Result<Option<Record>, String> {
        Err("a compiled core runs nothing but its program: change contexts of the interpreter".into())
    }
}
