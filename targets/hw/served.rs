// SPDX-License-Identifier: MIT OR Apache-2.0
//! An endpoint whose chains run in a circuit: its core is in this process, and the native host asks for each call over a socket.
//! Around the chains are the interpreter's parser, queues and data units.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use carrick_driver::built::{self, Built, Recipe};
use carrick_driver::targets::Cores as _;
use carrick_driver::{Failure, build, cc, stack, written};
use carrick_interp::{Config, Data, Refused, Request};
use carrick_ir::Program;
use carrick_sim::core::Core;
use carrick_sim::interpreted::Interpreted;
use rustix::io::{FdFlags, fcntl_setfd};

use super::cores::Circuits;
use super::dslx::Design;

/// The variable of the environment with the number of the host's end of the socket.
const SOCKET: &str = "CARRICK_CORE_SOCKET";
/// The library that the host loads.
const LIBRARY: &str = "served.so";
const CORE: &str = include_str!("served/core.c");
/// Words of a request, before its bytes.
const CALL_WORDS: usize = 20;
/// Arguments of a request at most, and parts of an identity (`CARRICK_ID_PARTS`).
const ARGS: usize = 16;
const ID_PARTS: usize = 16;

/// What a host asks for: the numbers of `enum what` in core.c.
const MAKE: u32 = 0;
const RX: u32 = 1;
const TX: u32 = 2;
const TX_INTERFACE: u32 = 3;
const CALL: u32 = 4;
const ADVANCE: u32 = 5;
const DEADLINE: u32 = 6;
const COMPLETION: u32 = 7;
const COUNTERS: u32 = 8;
const OPEN_CONTEXTS: u32 = 9;
const IDENTIFY: u32 = 10;

/// A library whose core is in the process at the other end of a socket.
///
/// # Errors
/// Those of compiling it.
fn library(program: &Program) -> Result<Built, Failure> {
    let files = |dir: &Path| {
        build::write_core(program, dir)?;
        build::write(&dir.join("served.c"), CORE.as_bytes())
    };
    let table = format!("{}_program", program.name);
    let compile = |dir: &Path, source: &str, define: String| {
        let mut command = Command::new(cc::compiler());
        command.current_dir(dir).args(["-std=gnu11", "-O1", "-fPIC", "-Iruntime/include", "-c", source]);
        cc::run(command.arg(define), &format!("compiling {source} of the core that is served"))
    };
    let made = |dir: &Path| {
        compile(dir, &format!("{}.c", program.name), format!("-D{table}=compiled_program"))?;
        compile(dir, "served.c", format!("-DPROGRAM={table}"))?;
        let mut link = Command::new(cc::compiler());
        link.current_dir(dir).args(["-shared", "-o", LIBRARY, "served.o"]).arg(format!("{}.o", program.name));
        cc::link(&mut link, "linking the core that is served")
    };
    built::once(&Recipe::of_c(LIBRARY, "served"), files, made)
}

/// Cores that are served to a host until it ends.
pub struct Service {
    /// the host's end, which it inherits
    socket: UnixStream,
    library: Built,
    thread: JoinHandle<()>,
}

impl Service {
    /// Begins to serve cores of a program with this circuit to a host that loads its library.
    ///
    /// # Errors
    /// Those of compiling the library; [`Failure::Missing`] without a socket.
    pub fn start(program: &Arc<Program>, design: Design, circuit: Built) -> Result<Service, Failure> {
        let library = library(program)?;
        let cannot = |e: io::Error| Failure::Missing(format!("cannot make a pair of sockets: {e}"));
        let (own, socket) = UnixStream::pair().map_err(cannot)?;
        fcntl_setfd(&socket, FdFlags::empty()).map_err(|e| cannot(e.into()))?;
        let program = program.clone();
        // A circuit stays in the thread that simulates it.
        let thread = thread::spawn(move || {
            let mut server = Server { socket: own, cores: Vec::new() };
            let ended = Circuits::new(&program, &design, circuit)
                .map_err(|e| e.to_string())
                .and_then(|circuits| server.serve(&circuits));
            if let Err(why) = ended {
                written::tell(format_args!("carrick: {why}"));
            }
        });
        Ok(Service { socket, library, thread })
    }

    /// What tells a host where its cores are.
    pub fn environment(&self) -> [(&'static str, OsString); 2] {
        let socket = self.socket.as_raw_fd().to_string();
        [(stack::CORE, self.library.path.clone().into()), (SOCKET, socket.into())]
    }

    /// The library that a host loads.
    pub fn library(&self) -> &Path {
        &self.library.path
    }

    /// Waits until the host has ended.
    pub fn end(self) {
        drop(self.socket);
        // It has said what was wrong.
        let _ = self.thread.join();
    }
}

/// What a host asks.
struct Ask {
    what: u32,
    core: usize,
    now: u64,
    number: u64,
    /// what it brings
    with: Vec<u8>,
}

/// What came of it.
#[derive(Default)]
struct Answer {
    value: i64,
    bytes: Vec<u8>,
}

impl Answer {
    fn of(value: i64) -> Answer {
        Answer { value, bytes: Vec::new() }
    }

    fn of_result(result: Result<(), Refused>) -> Answer {
        Answer::of(match result {
            Ok(()) => 0,
            Err(Refused::Again) => -1,
            Err(Refused::Dropped(_)) => -2,
            Err(Refused::BadArg) => -3,
        })
    }

    fn put(&mut self, words: &[u64]) {
        words.iter().for_each(|word| self.bytes.extend(word.to_ne_bytes()));
    }
}

struct Server {
    socket: UnixStream,
    cores: Vec<Interpreted>,
}

impl Server {
    /// Answers until the host has ended.
    fn serve(&mut self, circuits: &Circuits) -> Result<(), String> {
        loop {
            // A host ends whenever it likes.
            let Ok(ask) = self.ask() else { return Ok(()) };
            let answer = match ask.what {
                MAKE => self.make(&ask, circuits),
                _ => match self.cores.get_mut(ask.core) {
                    Some(core) => answer(core, &ask),
                    None => {
                        return Err(format!(
                            "the host asks for the core {}, which it did not make",
                            ask.core
                        ));
                    }
                },
            };
            if let Some(why) = circuits.refusal() {
                return Err(why.to_string());
            }
            if self.give(&answer, &ask).is_err() {
                return Ok(());
            }
        }
    }

    fn ask(&mut self) -> io::Result<Ask> {
        let mut head = [0; 32];
        self.socket.read_exact(&mut head)?;
        let [what, core] = halves(word(&head, 0));
        let [now, number, len] = [8, 16, 24].map(|at| word(&head, at));
        let mut with = vec![0; len as usize];
        self.socket.read_exact(&mut with)?;
        Ok(Ask { what, core: core as usize, now, number, with })
    }

    fn give(&mut self, answer: &Answer, ask: &Ask) -> io::Result<()> {
        let mut records = Vec::new();
        let core = if ask.what == MAKE { self.cores.last_mut() } else { self.cores.get_mut(ask.core) };
        if let Some(core) = core {
            core.take_trace(&mut records);
        }
        let mut out = Vec::with_capacity(16 + answer.bytes.len());
        out.extend(answer.value.to_ne_bytes());
        out.extend((answer.bytes.len() as u32).to_ne_bytes());
        out.extend((records.len() as u32).to_ne_bytes());
        out.extend(&answer.bytes);
        for record in &records {
            for half in [record.kind, record.number, record.words.len() as u32, 0] {
                out.extend(half.to_ne_bytes());
            }
            record.words.iter().for_each(|word| out.extend(word.to_ne_bytes()));
        }
        self.socket.write_all(&out)
    }

    fn make(&mut self, ask: &Ask, circuits: &Circuits) -> Answer {
        let [seed, high, low] = [0, 8, 16].map(|at| word(&ask.with, at));
        let [mtu, completions] = halves(word(&ask.with, 24));
        let [trace, params] = halves(word(&ask.with, 32));
        let config = Config {
            seed,
            address: u128::from(high) << 64 | u128::from(low),
            mtu,
            completions,
            params: (0..params as usize).map(|i| word(&ask.with, 40 + 8 * i)).collect(),
            trace: trace != 0,
            ..Config::default()
        };
        match circuits.core(&config) {
            Ok(core) => {
                self.cores.push(core);
                Answer::of(self.cores.len() as i64 - 1)
            }
            Err(why) => Answer { value: -1, bytes: why.into_bytes() },
        }
    }
}

/// A number of 64 bits in bytes.
fn word(bytes: &[u8], at: usize) -> u64 {
    let mut all = [0; 8];
    if let Some(found) = bytes.get(at..at + 8) {
        all.copy_from_slice(found);
    }
    u64::from_ne_bytes(all)
}

/// The two numbers of 32 bits that are there.
fn halves(word: u64) -> [u32; 2] {
    let bytes = word.to_ne_bytes();
    [0, 4].map(|at| u32::from_ne_bytes(std::array::from_fn(|i| bytes[at + i])))
}

/// What a core does.
fn answer(core: &mut Interpreted, ask: &Ask) -> Answer {
    match ask.what {
        RX => Answer::of_result(core.rx_on(ask.number as u32, &ask.with, ask.now)),
        TX => {
            let mut bytes = Vec::new();
            core.tx(&mut bytes, ask.now);
            Answer { value: 0, bytes }
        }
        TX_INTERFACE => Answer::of(core.tx_interface().into()),
        CALL => Answer::of_result(call(core, ask)),
        ADVANCE => Answer::of_result(core.advance(ask.now)),
        DEADLINE => Answer::of(core.next_deadline_before(ask.number).map_or(-1, |at| at as i64)),
        COMPLETION => completion(core),
        COUNTERS => {
            let mut answer = Answer::default();
            answer.put(&core.counters());
            answer
        }
        OPEN_CONTEXTS => Answer::of(core.open_contexts() as i64),
        IDENTIFY => identity(core, ask.number),
        _ => Answer::of(-3),
    }
}

fn call(core: &mut Interpreted, ask: &Ask) -> Result<(), Refused> {
    let words: Vec<u64> = (0..CALL_WORDS).map(|i| word(&ask.with, 8 * i)).collect();
    let [handle, token] = [words[0], words[1]];
    let len = words[2 + ARGS];
    let [brings, scalars] = halves(words[3 + ARGS]);
    let bytes = ask.with.get(8 * CALL_WORDS..).unwrap_or_default();
    let data = match brings {
        0 => Data::None,
        1 => Data::Send(bytes),
        _ => Data::Recv(len),
    };
    let args = &words[2..2 + (scalars as usize).min(ARGS)];
    core.call(ask.number as usize, Request { handle, token, args, data }, ask.now)
}

fn completion(core: &mut Interpreted) -> Answer {
    let mut answer = Answer::default();
    if let Some(done) = core.next_completion() {
        answer.put(&[done.token, done.value, done.status.into()]);
        answer.bytes.extend(done.data.unwrap_or_default());
    }
    answer
}

/// The parts of an identity, and then their names.
fn identity(core: &Interpreted, handle: u64) -> Answer {
    let Some(parts) = core.identity(handle) else { return Answer::of(-1) };
    let parts = &parts[..parts.len().min(ID_PARTS)];
    let mut answer = Answer::of(parts.len() as i64);
    let mut names = String::new();
    for (name, value) in parts {
        answer.put(&[*value]);
        let _ = write!(names, "{name}\0");
    }
    answer.bytes.extend(names.into_bytes());
    answer
}
