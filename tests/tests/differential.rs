//! The interpreter against generated C: random operations on two ends that exchange packets, some of them damaged,
//! doubled or out of order. After each operation both must have shown the same.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use carrick_driver::cc::{self, Tracing};
use carrick_driver::compile::compile_file;
use carrick_interp::{Config, Data, Record, Refused, Request};
use carrick_ir::{BpFieldKind, InterfaceCall, Loc, Program, Ty};
use carrick_sim::compiled::{Compiled, CompiledProgram};
use carrick_sim::core::Core;
use carrick_tests::build;
use carrick_tests::dice::Dice;
use carrick_tests::ip::{checksum, mend_checksum};
use carrick_tests::net::skip;

const SEEDS: u64 = 24;
const OPERATIONS: usize = 1200;
/// Octets that one request sends or wants at most.
const MOST: u64 = 5000;

/// The same core twice.
struct Twins {
    interpreted: carrick_interp::Core,
    compiled: Compiled,
    /// handles that completions gave
    handles: Vec<u64>,
}

/// Whether it was taken; why a packet was dropped shows in the counters.
fn outcome(result: Result<(), Refused>) -> &'static str {
    match result {
        Ok(()) => "taken",
        Err(Refused::Again) => "again",
        Err(Refused::Dropped(_)) => "dropped",
        Err(Refused::BadArg) => "bad argument",
    }
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, interpreted: T, compiled: T) -> Result<(), String> {
    match interpreted == compiled {
        true => Ok(()),
        false => Err(format!("{what}\ninterpreted: {interpreted:?}\ncompiled:    {compiled:?}")),
    }
}

impl Twins {
    fn new(program: &Arc<Program>, compiled: &Rc<CompiledProgram>, config: &Config) -> Twins {
        let interpreted = carrick_interp::Core::new(program.clone(), config).expect("the defaults are valid");
        let compiled = Compiled::new(compiled.clone(), config).expect("the defaults are valid");
        Twins { interpreted, compiled, handles: vec![0] }
    }

    /// Compares all that can be seen without changing anything.
    fn compare(&mut self) -> Result<(), String> {
        let mut interpreted: Vec<Record> = self.interpreted.take_trace();
        // Only the interpreter tells the place in the text.
        interpreted.iter_mut().for_each(|record| record.at = Loc::default());
        let mut compiled = Vec::new();
        self.compiled.take_trace(&mut compiled);
        for i in 0..interpreted.len().max(compiled.len()) {
            same("trace record", interpreted.get(i), compiled.get(i))?;
        }
        same("failed claims", self.interpreted.failed_claims(), self.compiled.failed_claims())?;
        same("counters", self.interpreted.counters(), &self.compiled.counters()[..])?;
        same("deadline", self.interpreted.next_deadline(), self.compiled.next_deadline())?;
        same("open contexts", self.interpreted.open_contexts(), self.compiled.open_contexts())
    }

    fn call(&mut self, number: usize, request: Request<'_>, now: u64) -> Result<(), String> {
        let interpreted = outcome(self.interpreted.call(number, &request, now));
        same("call", interpreted, outcome(self.compiled.call(number, request, now)))
    }

    fn rx(&mut self, interface: u32, packet: &[u8], now: u64) -> Result<(), String> {
        let interpreted = outcome(self.interpreted.rx_on(interface, packet, now));
        same("rx", interpreted, outcome(self.compiled.rx_on(interface, packet, now)))
    }

    fn advance(&mut self, now: u64) -> Result<(), String> {
        same("advance", outcome(self.interpreted.advance(now)), outcome(self.compiled.advance(now)))
    }

    fn tx(&mut self, now: u64) -> Result<Option<Vec<u8>>, String> {
        let (mut interpreted, mut compiled) = (Vec::new(), Vec::new());
        let made = self.interpreted.tx(&mut interpreted, now);
        same("tx", made, self.compiled.tx(&mut compiled, now))?;
        if made {
            same("packet", &interpreted, &compiled)?;
            same("interface", self.interpreted.tx_interface(), self.compiled.tx_interface())?;
        }
        Ok(made.then_some(interpreted))
    }

    fn complete(&mut self) -> Result<(), String> {
        let (interpreted, compiled) = (self.interpreted.next_completion(), self.compiled.next_completion());
        let shown = |c: &Option<carrick_interp::Completion>| c.as_ref().map(|c| (c.token, c.status, c.value));
        same("completion", shown(&interpreted), shown(&compiled))?;
        let Some((interpreted, compiled)) = interpreted.zip(compiled) else { return Ok(()) };
        if interpreted.data.is_some() {
            same("delivered octets", &interpreted.data, &compiled.data)?;
        }
        if interpreted.value >> 56 != 0 {
            self.handles.push(interpreted.value);
        }
        Ok(())
    }
}

/// Two ends, and what is on its way to which of them.
struct World<'a> {
    program: &'a Program,
    ends: [Twins; 2],
    flying: Vec<(usize, Vec<u8>)>,
    dice: Dice,
    now: u64,
    token: u64,
    packets: u64,
}

impl World<'_> {
    fn step(&mut self) -> Result<(), String> {
        if self.dice.one_in(3) {
            let range = self.dice.roll(32) + 1;
            self.now += self.dice.roll(1 << range);
        }
        let end = self.dice.roll(2) as usize;
        let done = match self.dice.roll(12) {
            0..=3 => self.call(end),
            4..=6 => self.ends[end].tx(self.now).map(|packet| {
                self.packets += u64::from(packet.is_some());
                self.flying.extend(packet.map(|packet| (1 - end, packet)));
            }),
            7..=9 => self.deliver(),
            10 => self.ends[end].advance(self.now),
            _ => self.ends[end].complete(),
        };
        done?;
        self.ends.iter_mut().try_for_each(Twins::compare)
    }

    fn call(&mut self, end: usize) -> Result<(), String> {
        let calls: &[InterfaceCall] = self.program.interface.as_ref().map_or(&[], |i| &i.calls);
        if calls.is_empty() {
            self.stray();
            return Ok(());
        }
        let number = self.dice.roll(calls.len() as u64) as usize;
        let fields = &self.program.events[calls[number].event.index()].fields;
        let octets = vec![self.dice.roll(256) as u8; self.dice.roll(MOST) as usize];
        let (mut args, mut data) = (Vec::new(), Data::None);
        for field in fields {
            match (&field.ty, field.name.as_str()) {
                (Ty::Addr, "data") => data = Data::Send(&octets),
                (Ty::Addr, _) => data = Data::Recv(self.dice.roll(MOST)),
                (ty, _) if ty.is_scalar() => args.push(self.dice.argument(end, field)),
                _ => {}
            }
        }
        self.token += 1;
        let handle = self.handle(end);
        let request = Request { handle, token: self.token, args: &args, data };
        self.ends[end].call(number, request, self.now)
    }

    /// A packet of the program's protocol that nobody here made: where there is nothing to ask for, nobody makes any. Its
    /// octets are few, so that some of them are those of packets before.
    fn stray(&mut self) {
        let len = 40 + self.dice.roll(24) as usize;
        let mut packet: Vec<u8> = (0..len)
            .map(|_| match self.dice.roll(6) {
                0..=3 => self.dice.roll(3) as u8,
                4 => 0x50,
                _ => self.dice.roll(256) as u8,
            })
            .collect();
        packet[..12].copy_from_slice(&[0x45, 0, 0, len as u8, 0, 0, 0, 0, 64, 0, 0, 0]);
        packet[9] = self.program.net_header.protocol;
        let sums = self.program.blueprints.iter().flat_map(|bp| &bp.fields);
        let sum =
            sums.filter_map(|f| matches!(f.kind, BpFieldKind::Checksum { .. }).then_some(f.bit_offset / 8));
        if let Some(at) = sum.map(|at| 20 + at as usize).next() {
            packet[at..at + 2].fill(0);
            let pseudo = [0, packet[9], 0, len as u8 - 20];
            let right = checksum(&[&packet[12..20], &pseudo, &packet[20..]]);
            packet[at..at + 2].copy_from_slice(&right.to_be_bytes());
        }
        mend_checksum(&mut packet);
        self.flying.push((self.dice.roll(2) as usize, packet));
    }

    /// One that a completion gave, or a guess.
    fn handle(&mut self, end: usize) -> u64 {
        let given = &self.ends[end].handles;
        match self.dice.roll(3) {
            0 => (1 + self.dice.roll(2)) << 56 | (1 + self.dice.roll(4)) << 32 | self.dice.roll(3),
            _ => given[self.dice.roll(given.len() as u64) as usize],
        }
    }

    fn deliver(&mut self) -> Result<(), String> {
        if self.flying.is_empty() {
            return Ok(());
        }
        let late = if self.dice.one_in(4) { self.dice.roll(self.flying.len() as u64) as usize } else { 0 };
        let doubled = self.dice.one_in(8);
        let (to, mut packet) = if doubled { self.flying[late].clone() } else { self.flying.remove(late) };
        if self.dice.one_in(6) {
            self.dice.damage(&mut packet);
        }
        // Of exactly its size, so that a sanitizer sees one octet too many.
        let interface = if self.program.in_network.is_some() { self.dice.roll(2) as u32 } else { 0 };
        self.ends[to].rx(interface, &packet.into_boxed_slice(), self.now)
    }
}

/// Runs one seed; how many packets were made.
fn run(program: &Arc<Program>, compiled: &Rc<CompiledProgram>, seed: u64) -> Result<u64, String> {
    let end = |address| {
        let config = Config { seed, address, mtu: 600, completions: 64, trace: true, ..Config::default() };
        Twins::new(program, compiled, &config)
    };
    let (dice, ends) = (Dice::new(seed), [end(1), end(2)]);
    let mut world = World { program, ends, flying: Vec::new(), dice, now: 0, token: 0, packets: 0 };
    for operation in 0..OPERATIONS {
        world.step().map_err(|what| format!("seed {seed}, operation {operation}: {what}"))?;
    }
    Ok(world.packets)
}

fn checked(path: &Path) -> Arc<Program> {
    compile_file(path).expect("the program can be read").program.expect("the program is right")
}

/// The packets of all seeds; none if there is no C compiler.
fn hold(path: &Path) -> Option<u64> {
    hold_against(path, &checked(path))
}

/// As [`hold`]: the program in the interpreter against this one compiled.
fn hold_against(path: &Path, program: &Program) -> Option<u64> {
    let library = match cc::shared_library(program, Tracing::On) {
        Ok(library) => library,
        Err(carrick_driver::Failure::Missing(what)) => {
            skip(&what);
            return None;
        }
        Err(failure) => panic!("{failure}"),
    };
    let compiled = CompiledProgram::load(&library.path, program.source_hash).expect("it loads");
    let interpreted = checked(path);
    let packets = (1..=SEEDS).map(|seed| run(&interpreted, &compiled, seed));
    Some(packets.sum::<Result<u64, String>>().unwrap_or_else(|what| panic!("{}: {what}", path.display())))
}

fn own(path: &str) -> PathBuf {
    build::root().join(path)
}

#[test]
fn every_operator_on_every_type() {
    hold(&own("tests/programs/operators.mtp"));
}

#[test]
fn arrays_lists_records_windows_and_bit_fields() {
    if let Some(packets) = hold(&own("tests/programs/structures.mtp")) {
        assert!(packets > 100, "only {packets} packets were made");
    }
}

#[test]
fn contexts_that_all_flows_share() {
    if let Some(packets) = hold(&own("tests/programs/globals.mtp")) {
        assert!(packets > 500, "only {packets} packets were made");
    }
}

#[test]
fn contexts_that_some_flows_share() {
    if let Some(packets) = hold(&own("tests/programs/shared.mtp")) {
        assert!(packets > 150, "only {packets} packets were made");
    }
}

#[test]
fn ids_that_are_bound_late_and_change() {
    if let Some(packets) = hold(&own("tests/programs/rebinding.mtp")) {
        assert!(packets > 500, "only {packets} packets were made");
    }
}

/// And they do what is written without them.
#[test]
fn state_machines() {
    let (machine, unfolded) = (own("tests/programs/machine.mtp"), own("tests/programs/machine_unfolded.mtp"));
    if let Some(packets) = hold(&machine) {
        assert!(packets > 1000, "only {packets} packets were made");
        hold_against(&machine, &checked(&unfolded));
    }
}

#[test]
fn packets_that_go_through() {
    if let Some(packets) = hold(&own("tests/programs/in_network.mtp")) {
        assert!(packets > 1000, "only {packets} packets were made");
    }
}

#[test]
fn fractions() {
    hold(&own("tests/programs/fractions.mtp"));
}

#[test]
fn sorted_lists_and_the_middle_of_lists() {
    hold(&own("tests/programs/sorted.mtp"));
}

#[test]
fn headers_of_every_kind() {
    if let Some(packets) = hold(&own("tests/programs/headers.mtp")) {
        assert!(packets > 1000, "only {packets} packets were made");
    }
}

#[test]
fn parsers_that_think() {
    if let Some(packets) = hold(&own("tests/programs/choosing.mtp")) {
        assert!(packets > 500, "only {packets} packets were made");
    }
}

#[test]
fn claims_in_every_place() {
    hold(&own("tests/programs/claims.mtp"));
}

#[test]
fn packets_of_several_frames() {
    if let Some(packets) = hold(&own("tests/programs/frames.mtp")) {
        assert!(packets > 1000, "only {packets} packets were made");
    }
}

#[test]
fn packets_that_stand_for_others() {
    if let Some(packets) = hold(&own("tests/programs/coalescing.mtp")) {
        assert!(packets > 1000, "only {packets} packets were made");
    }
}

#[test]
fn packets_that_wait_in_scheduling_blocks() {
    if let Some(packets) = hold(&own("tests/programs/scheduling.mtp")) {
        assert!(packets > 1000, "only {packets} packets were made");
    }
}

#[test]
fn events_that_wait_for_each_other() {
    if let Some(packets) = hold(&own("tests/programs/waiting.mtp")) {
        assert!(packets > 1000, "only {packets} packets were made");
    }
}

#[test]
fn contexts_timers_and_raised_events() {
    hold(&own("crates/interp/tests/programs/machine.mtp"));
}

#[test]
fn data_units_options_and_segmentation() {
    if let Some(packets) = hold(&own("crates/interp/tests/programs/courier.mtp")) {
        assert!(packets > 1000, "only {packets} packets were made");
    }
}

#[test]
fn every_protocol() {
    for folder in std::fs::read_dir(own("protocols")).expect("there are protocols") {
        let folder = folder.expect("it can be listed").path();
        let name = folder.file_name().expect("it has a name").to_owned();
        let program = folder.join(name).with_extension("mtp");
        if program.is_file() {
            hold(&program);
        }
    }
}
