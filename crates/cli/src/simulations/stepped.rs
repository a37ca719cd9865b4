// SPDX-License-Identifier: MIT OR Apache-2.0
//! A program step by step: one core on the interpreter, whose packets, calls and time are given from outside.

use std::net::IpAddr;
use std::sync::Arc;

use carrick_driver::{Failure, params};
use carrick_interp::{Config, Core, Data, Refused, Request};
use carrick_ir::{COUNTERS, CallTarget, InterfaceCall, NetLayer, Program, STATUS_NAMES, Ty};
use carrick_sim::stop::Stop;
use carrick_sim::trace::Layouts;
use carrick_sim::watch::live::Live;
use serde_json::{Map, Value, json};

use super::options;
use super::session::{Error, Session};
use crate::commands::fabric::argument;
use crate::load::Texts;

/// Options of a simulation that a core has, as the parser calls them.
const OPTIONS: [&str; 6] = ["with", "without", "over", "set", "seed", "mtu"];

/// One core.
pub struct Stepped {
    core: Core,
    program: Arc<Program>,
    layouts: Layouts,
    live: Live,
    /// what was recorded and not taken
    records: Vec<Value>,
    tokens: u64,
}

/// What a call brings beside its fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Brought<'a> {
    Nothing,
    Octets(&'a [u8]),
    /// room for so many bytes
    Room(u64),
}

impl Stepped {
    /// A fresh core, of a program and options that these words of `carrick sim` have, at this address.
    ///
    /// # Errors
    /// What is wrong with the words, the program or the address.
    pub fn new(words: &[String], texts: &Texts, address: &str) -> Result<Stepped, Error> {
        let name = |word: &String| {
            word.strip_prefix("--").map(|rest| rest.split('=').next().unwrap_or("").to_owned())
        };
        if let Some(other) = words.iter().filter_map(name).find(|name| !OPTIONS.contains(&name.as_str())) {
            return Err(usage(format!("core() does not take {other}: it takes {}", OPTIONS.join(", "))));
        }
        let args = options::parse(words)?;
        let session = Session::new();
        let builds = session.builds(None, texts.clone(), Stop::default());
        let build = builds.get(&args.source.file, &args.source.features.choice());
        let program = build.map_err(|failure| session.error(failure))?.program;
        let config = Config {
            seed: args.scenario.seed,
            address: address_of(&program, address)?,
            mtu: args.scenario.mtu,
            params: params::values(&program, &args.set)?,
            trace: true,
            ..Config::default()
        };
        let core = Core::new(program.clone(), &config).map_err(usage)?;
        let layouts = Layouts::of(&program);
        Ok(Stepped { core, program, layouts, live: Live::default(), records: Vec::new(), tokens: 0 })
    }

    /// A packet arrives, by this interface; returns why it was dropped, if it was.
    ///
    /// # Errors
    /// A sentence, if packets must be taken first.
    pub fn rx(&mut self, packet: &[u8], interface: u32, now: u64) -> Result<Option<&'static str>, Error> {
        let taken = self.core.rx_on(interface, packet, now);
        self.note(now);
        match taken {
            Ok(()) => Ok(None),
            Err(Refused::Dropped(reason)) => Ok(Some(COUNTERS[reason])),
            Err(other) => Err(refused(other)),
        }
    }

    /// A call of the interface; returns its token.
    ///
    /// # Errors
    /// A sentence, if the program has no such call, a field is missing or has another type, or completions must be taken first.
    pub fn call(
        &mut self,
        name: &str,
        handle: u64,
        fields: &[(String, String)],
        brought: &Brought<'_>,
        now: u64,
    ) -> Result<u64, Error> {
        let (number, call) = find(&self.program, name)?;
        let args = arguments(&self.program, call, fields)?;
        let takes_data =
            self.program.events[call.event.index()].fields.iter().any(|field| field.ty == Ty::Addr);
        if !takes_data && *brought != Brought::Nothing {
            return Err(usage(format!("{name} takes no memory: leave out data and space")));
        }
        if handle == 0 && matches!(call.target, CallTarget::On(_)) {
            return Err(usage(format!("{name} works on a context: say context=HANDLE")));
        }
        let data = match brought {
            Brought::Nothing => Data::None,
            Brought::Octets(octets) => Data::Send(octets),
            Brought::Room(octets) => Data::Recv(*octets),
        };
        self.tokens += 1;
        let request = Request { handle, token: self.tokens, args: &args, data };
        let taken = self.core.call(number, &request, now);
        self.note(now);
        taken.map(|()| self.tokens).map_err(refused)
    }

    /// Fires the timers that are due.
    ///
    /// # Errors
    /// A sentence, if packets must be taken first.
    pub fn advance(&mut self, now: u64) -> Result<(), Error> {
        let advanced = self.core.advance(now);
        self.note(now);
        advanced.map_err(refused)
    }

    /// The next packet, with its network header.
    pub fn tx(&mut self, now: u64) -> Option<Vec<u8>> {
        let mut packet = Vec::new();
        let made = self.core.tx(&mut packet, now);
        self.note(now);
        made.then_some(packet)
    }

    /// When a timer is due next, or a packet that waits for its time.
    pub fn deadline(&self) -> Option<u64> {
        self.core.next_deadline()
    }

    /// The oldest completion: token, status, value, and the bytes that were delivered.
    pub fn completion(&mut self) -> Option<(u64, &'static str, u64, Option<Vec<u8>>)> {
        let done = self.core.next_completion()?;
        let status = STATUS_NAMES.get(usize::from(done.status)).copied().unwrap_or("?");
        Some((done.token, status, done.value, done.data))
    }

    /// The contexts that live: their names, handles and fields (JSON).
    pub fn contexts(&self) -> Value {
        let context = |live: &carrick_sim::watch::live::Context| {
            let words = [&[live.handle], &live.words[..]].concat();
            let record = carrick_interp::Record {
                kind: carrick_interp::TraceKind::Context as u32,
                number: live.ctx as u32,
                words,
                at: carrick_ir::Loc::default(),
            };
            self.layouts.describe(&record).1
        };
        self.live.of_host(0).map(context).collect()
    }

    /// What was recorded since the last time (JSON).
    pub fn take_records(&mut self) -> Value {
        Value::Array(std::mem::take(&mut self.records))
    }

    /// The counters that are not 0 (JSON).
    pub fn counters(&self) -> Value {
        let all = COUNTERS.iter().zip(self.core.counters()).filter(|(_, count)| **count > 0);
        Value::Object(all.map(|(name, count)| ((*name).to_owned(), json!(count))).collect::<Map<_, _>>())
    }

    /// Takes note of what the core recorded.
    fn note(&mut self, now: u64) {
        for record in self.core.take_trace() {
            self.live.note(&self.program, now, 0, &record);
            let (what, detail) = self.layouts.describe(&record);
            self.records.push(json!({"t": now, "what": what, "detail": detail}));
        }
    }
}

fn usage(why: String) -> Error {
    Error::Failure(Failure::Usage(why))
}

fn refused(why: Refused) -> Error {
    let said = match why {
        Refused::Again => "the core is full: take its packets with tx() and its completions, then try again",
        Refused::BadArg | Refused::Dropped(_) => "the call has other arguments",
    };
    Error::Failure(Failure::Failed(said.to_owned()))
}

fn address_of(program: &Program, text: &str) -> Result<u128, Error> {
    let wrong = |wanted: &str| usage(format!("address {text:?}: {} runs over {wanted}", program.file.raw()));
    match (program.net_header.layer, text.parse::<IpAddr>()) {
        (NetLayer::Link, _) => Ok(0),
        (NetLayer::Ipv4, Ok(IpAddr::V4(address))) => Ok(u128::from(u32::from(address))),
        (NetLayer::Ipv6, Ok(IpAddr::V6(address))) => Ok(address.into()),
        (NetLayer::Ipv4, _) => Err(wrong("IPv4: say an address like 10.0.0.1")),
        (NetLayer::Ipv6, _) => Err(wrong("IPv6: say an address like 2001:db8::1")),
    }
}

fn find<'p>(program: &'p Program, name: &str) -> Result<(usize, &'p InterfaceCall), Error> {
    let none = || usage(format!("{} has no interface", program.file.raw()));
    let interface = program.interface.as_ref().ok_or_else(none)?;
    let found = interface.calls.iter().enumerate().find(|(_, call)| call.name == name);
    found.ok_or_else(|| {
        let all: Vec<&str> = interface.calls.iter().map(|call| &*call.name).collect();
        usage(format!("the interface `{}` has no call {name}; it has {}", interface.name, all.join(", ")))
    })
}

/// The words of all fields of a call but its memory.
fn arguments(program: &Program, call: &InterfaceCall, given: &[(String, String)]) -> Result<Vec<u64>, Error> {
    let fields = program.events[call.event.index()].fields.iter();
    let fields: Vec<_> =
        fields.filter(|field| field.ty.is_scalar() || matches!(field.ty, Ty::Id(_))).collect();
    let names = || fields.iter().map(|field| &*field.name).collect::<Vec<_>>().join(", ");
    if let Some((other, _)) = given.iter().find(|(name, _)| fields.iter().all(|field| field.name != *name)) {
        let has = if fields.is_empty() { "none".to_owned() } else { names() };
        return Err(usage(format!("{} has no field {other}; it has {has}", call.name)));
    }
    let mut words = Vec::new();
    for field in &fields {
        let found = given.iter().find(|(name, _)| *name == field.name);
        let (_, text) = found.ok_or_else(|| usage(format!("{} needs {}", call.name, names())))?;
        let value = value(program, text, &field.ty);
        words.extend(
            value.ok_or_else(|| usage(format!("{}: {text:?} is no value of {}", call.name, field.name)))?,
        );
    }
    Ok(words)
}

/// The words of a value; that of an enum is its name.
fn value(program: &Program, text: &str, ty: &Ty) -> Option<Vec<u64>> {
    let Ty::Enum(id) = ty else { return argument(text, ty) };
    let variants = &program.enums[id.index()].variants;
    variants.iter().find(|(name, _)| name == text).map(|(_, value)| vec![*value])
}
