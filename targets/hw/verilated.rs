// SPDX-License-Identifier: MIT OR Apache-2.0
//! A circuit as a library: Verilator makes a program of it, which takes events and gives what becomes of them.

use std::cell::RefCell;
use std::ffi::{c_int, c_void};
use std::path::Path;
use std::process::Command;
use std::rc::Rc;

use carrick_driver::built::{self, Built, Recipe};
use carrick_driver::targets::PipelineSpec;
use carrick_driver::{Failure, build, cc};
use carrick_interp::{ChainInput, ChainOutput, Chains, OutsideArg, OutsideInstr};
use carrick_ir::{BpId, EventId, Program, Ty};
use libloading::Library;

use super::bits::Bits;
use super::circuit::{self, Ports};
use super::dslx::{Design, Input, Leaf, NUMBER_BITS, Shapes, fires};
use super::handlers::{Handler, Param};
use super::{pipelines, xls};

/// The library that Verilator makes.
const TOOL: &str = "circuit.so";
const INSTALL: &str = "apt-get install verilator g++ make";

/// What the library of a circuit is made with: part of what it is kept by.
const MADE_WITH: &str = "made_with.txt";

/// Makes a library of a circuit, unless this machine has it already: then XLS need not make its pipelines either.
///
/// # Errors
/// [`Failure::Missing`] without XLS or Verilator, [`Failure::Failed`] with what they say.
pub fn tool(program: &Program, design: &Design, spec: &PipelineSpec) -> Result<Built, Failure> {
    let files = |dir: &Path| {
        circuit::write_around(program, design, spec, dir)?;
        build::write(&dir.join(MADE_WITH), format!("{spec:?} {}", xls::release()?).as_bytes())
    };
    let made = |dir: &Path| {
        pipelines::write(program, design, spec, dir)?;
        make(dir)
    };
    built::once(&Recipe::of_c(TOOL, "verilated"), files, made)
}

fn make(dir: &Path) -> Result<(), Failure> {
    let mut command = Command::new("make");
    command.current_dir(dir).args(["-s", TOOL]);
    cc::run_with(&mut command, "compiling the circuit", INSTALL, "PATH")
}

/// How values lie in the bits of a circuit's ports.
pub struct Wiring {
    ports: Ports,
    /// of each event: the number of its chain, the scalars of its fields; that of a timer has none there
    events: Vec<Option<(usize, Vec<Leaf>)>>,
    id: Vec<Leaf>,
    context: Vec<Leaf>,
    context_cells: u32,
    inputs: Vec<(Input, Vec<Leaf>)>,
    headers: Vec<BpId>,
    sites: Vec<Handler>,
    /// of each value of each site: its scalars, its cells, its bits
    values: Vec<Vec<(Vec<Leaf>, u32, u32)>>,
    /// of each site, whether its values are wide
    wide_sites: Vec<bool>,
    slots: u32,
    args: u32,
    wide: u32,
    wides: u32,
    makes: bool,
    draws: bool,
    /// bits of what the calendar has to do
    scheduled: u32,
    context_number: usize,
}

impl Wiring {
    pub fn new(program: &Program, design: &Design, sites: Vec<Handler>) -> Wiring {
        let shapes = Shapes::new(program);
        let context = Ty::Context(design.context);
        let chain = |event: u32| design.chains.iter().position(|(of, _)| of.0 == event);
        let events = 0..program.events.len() as u32;
        let fields = |event: EventId| match fires(program, event) {
            true => Vec::new(),
            false => shapes.leaves(&Ty::Event(event)),
        };
        let leaves = |event: u32| Some((chain(event)?, fields(EventId(event))));
        let value = |ty: &Ty| (shapes.leaves(ty), shapes.cells(ty), shapes.width(ty));
        let inputs = design.inputs.iter().map(|input| (input.clone(), input.leaves(program, &shapes)));
        let header = |input: &Input| if let Input::Header(bp) = input { Some(*bp) } else { None };
        Wiring {
            ports: Ports::of(program, design),
            events: events.map(leaves).collect(),
            id: shapes.leaves(&Ty::Id(program.contexts[design.context.index()].id)),
            context: shapes.leaves(&context),
            context_cells: shapes.cells(&context),
            inputs: inputs.collect(),
            headers: design.inputs.iter().filter_map(header).collect(),
            sites,
            values: design.sites.iter().map(|site| site.args.iter().map(value).collect()).collect(),
            wide_sites: design.sites.iter().map(|site| site.wide).collect(),
            slots: design.slots,
            args: design.args,
            wide: design.wide,
            wides: design.wides,
            makes: design.makes,
            draws: design.draws(),
            scheduled: design.scheduled(),
            context_number: design.context.index(),
        }
    }

    /// The bits of an event, with what is around its chain; `None` if it has no chain.
    fn event(&self, given: &ChainInput<'_>) -> Option<Vec<u32>> {
        let (chain, fields) = self.events[given.event].as_ref()?;
        let mut bits = Bits::zeros(self.ports.input());
        bits.put(8, *chain as u64);
        bits.put(1, u64::from(given.id.is_some()));
        bits.put(1, u64::from(given.space[self.context_number]));
        match &given.id {
            Some(id) => bits.put_value(&self.id, id),
            None => bits.skip(self.ports.id),
        }
        match given.timer {
            // The calendar says its moment.
            Some(timer) => {
                bits.skip(self.ports.event - 8);
                bits.put(8, timer.into());
            }
            None => {
                bits.skip(self.ports.event - fields.iter().map(|leaf| leaf.bits).sum::<u32>());
                bits.put_value(fields, given.fields);
            }
        }
        let used: u32 = self.inputs.iter().flat_map(|(_, leaves)| leaves).map(|leaf| leaf.bits).sum();
        bits.skip(self.ports.env - used);
        let mut headers = given.headers.iter();
        for (input, leaves) in &self.inputs {
            let one = |value: u64| vec![value];
            let cells = match input {
                Input::Now => one(given.now),
                Input::Handle => one(given.handle),
                Input::Mtu => one(given.mtu),
                Input::LocalIp => one(given.address as u64),
                Input::TxRoom => one(given.tx_room),
                Input::RxSize => one(given.rx_size),
                Input::Param(id) => one(given.params[id.index()]),
                Input::Random(_) => given.random.to_vec(),
                Input::Header(_) => headers.next().cloned().unwrap_or_default(),
            };
            bits.put_value(leaves, &cells);
        }
        Some(bits.words)
    }

    /// What a chain has done.
    ///
    /// # Errors
    /// If the session table cannot hold an instance that the host made.
    fn done(&self, words: Vec<u32>, given: &ChainInput<'_>) -> Result<ChainOutput, String> {
        let mut bits = Bits::of(words, self.ports.output());
        let (found, full) = (bits.get(1) != 0, bits.get(1) != 0);
        if full {
            return Err("the session table of the circuit has no free entry in a bucket".into());
        }
        // Who finds another context than the host does nothing that the host could carry out.
        if found != given.found {
            return Ok(ChainOutput::default());
        }
        let context = bits.get_value(&self.context, self.context_cells);
        bits.skip(self.ports.timers + 2);
        let mut instance = Vec::new();
        if self.makes {
            bits.skip(1);
            instance = bits.get_value(&self.context, self.context_cells);
        }
        let drawn = if self.draws { bits.get(8) as u32 } else { 0 };
        bits.skip(self.scheduled);
        let mut wide: Vec<Bits> = (0..self.wides).map(|_| bits.part(self.wide)).collect();
        wide.reverse();
        let slots = (0..self.slots).filter_map(|_| self.instr(bits.part(8 + self.args), &wide, &instance));
        let mut issued: Vec<OutsideInstr> = slots.collect();
        issued.reverse();
        let context = given.found.then(|| context[1..].to_vec());
        Ok(ChainOutput { context, drawn, issued })
    }

    /// The instruction in a slot, if there is one.
    fn instr(&self, mut slot: Bits, wide: &[Bits], instance: &[u64]) -> Option<OutsideInstr> {
        let site = slot.get(8).checked_sub(1)?.min(self.sites.len() as u64 - 1) as usize;
        let (handler, values) = (&self.sites[site], &self.values[site]);
        let (mut bits, width) = match self.wide_sites[site] {
            true => {
                slot.skip(self.args - NUMBER_BITS);
                let number = slot.get(NUMBER_BITS) as usize;
                (wide[number.min(wide.len() - 1)].clone(), self.wide)
            }
            false => (slot, self.args),
        };
        bits.skip(width - values.iter().map(|(_, _, width)| width).sum::<u32>());
        let mut values = values.iter();
        let ids = self.id.len();
        let arg = |param: &Param| match param {
            Param::Own => OutsideArg::Own,
            Param::Instance => OutsideArg::Cells(instance.to_vec()),
            Param::InstanceId => OutsideArg::Cells(instance[1..=ids].to_vec()),
            Param::Value => {
                let value = values.next().map(|(leaves, cells, _)| bits.get_value(leaves, *cells));
                OutsideArg::Cells(value.unwrap_or_default())
            }
        };
        Some(OutsideInstr { function: handler.function, args: handler.params.iter().map(arg).collect() })
    }
}

/// The functions of a circuit's library.
pub struct Calls {
    begin: unsafe extern "C" fn(c_int) -> *mut c_void,
    run: unsafe extern "C" fn(*mut c_void, *const u32, u64, *mut u32) -> c_int,
    end: unsafe extern "C" fn(*mut c_void) -> c_int,
    _library: Library,
}

impl Calls {
    /// Loads a library.
    ///
    /// # Errors
    /// [`Failure::Failed`] if it is none of a circuit.
    pub fn load(path: &Path) -> Result<Calls, Failure> {
        let cannot = |e: libloading::Error| Failure::Failed(format!("cannot load the circuit: {e}"));
        // SAFETY: the library is one that `tool` made; its functions have these types in bench.cpp.
        unsafe {
            let library = Library::new(path).map_err(cannot)?;
            let begin = *library.get(b"circuit_begin").map_err(cannot)?;
            let run = *library.get(b"circuit_run").map_err(cannot)?;
            let end = *library.get(b"circuit_end").map_err(cannot)?;
            Ok(Calls { begin, run, end, _library: library })
        }
    }
}

/// What becomes of the events that a circuit was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Events {
    /// at the end the circuit is given all again, as fast as it takes them
    Kept,
    /// they are forgotten
    Gone,
}

/// A circuit that runs, as what runs chains.
pub struct Circuit {
    wiring: Rc<Wiring>,
    calls: Rc<Calls>,
    state: *mut c_void,
    /// why it runs no more
    broken: Rc<RefCell<Option<String>>>,
}

impl Circuit {
    /// Starts a circuit.
    pub fn start(
        calls: Rc<Calls>,
        wiring: Rc<Wiring>,
        broken: Rc<RefCell<Option<String>>>,
        events: Events,
    ) -> Circuit {
        // SAFETY: it needs nothing.
        let state = unsafe { (calls.begin)(c_int::from(events == Events::Kept)) };
        Circuit { wiring, calls, state, broken }
    }

    /// What becomes of an event at a time; else why nothing does.
    fn exchange(&mut self, words: &[u32], now: u64) -> Result<Vec<u32>, String> {
        let mut answer = vec![0; self.wiring.ports.output().div_ceil(32) as usize];
        // SAFETY: the circuit is there until this is dropped; both have the length of its ports.
        let code = unsafe { (self.calls.run)(self.state, words.as_ptr(), now, answer.as_mut_ptr()) };
        Err(match code {
            0 => return Ok(answer),
            2 => format!("a timer fires in the circuit that did not fire in the interpreter before {now} ns"),
            3 => format!("at {now} ns a timer fires in the interpreter that does not fire in the circuit"),
            _ => "the circuit does not answer".to_owned(),
        })
    }
}

impl std::fmt::Debug for Circuit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Circuit").finish_non_exhaustive()
    }
}

impl Drop for Circuit {
    fn drop(&mut self) {
        // The events that were kept go to the circuit again, as fast as it takes them.
        // SAFETY: the circuit is not used any more.
        if unsafe { (self.calls.end)(self.state) } != 0 {
            let what = "the circuit does something else where events follow each other at once";
            self.broken.borrow_mut().get_or_insert(what.into());
        }
    }
}

impl Chains for Circuit {
    fn headers(&self) -> &[BpId] {
        &self.wiring.headers
    }

    fn run(&mut self, given: &ChainInput<'_>) -> ChainOutput {
        let wiring = self.wiring.clone();
        let Some(words) = wiring.event(given) else { return ChainOutput::default() };
        self.exchange(&words, given.now).and_then(|words| wiring.done(words, given)).unwrap_or_else(|what| {
            self.broken.borrow_mut().get_or_insert(what);
            ChainOutput::default()
        })
    }
}
