// SPDX-License-Identifier: MIT OR Apache-2.0
//! `carrick verify --peers`: everything that can happen between two ends.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use carrick_driver::{Failure, params, quantity};
use carrick_ir::Program;
use carrick_peers::{Bounds, DAY_NS, Faults, Promise, Setup, Via, explore, replay};
use carrick_sim::interface::Shape;
use carrick_sim::observe::{All, Observer};
use carrick_sim::pcapng::Pcapng;
use carrick_sim::trace::{Form, Head, Writer};

use super::peers_text::{as_json, pretty};
use super::setup::{NOT_DECIDED, stop_at_signals, unusable};
use crate::args::{Expected, VerifyArgs};
use crate::load::{choice_between, load, load_choice};
use crate::manifest::words;
use crate::output::{self, Format, create};

/// Something is broken.
const BROKEN: u8 = 1;
/// Bytes of a message, if nothing is said.
const LEAST: u32 = 8;

pub fn run(args: &VerifyArgs) -> Result<ExitCode, Failure> {
    let setup = setup(args)?;
    let bounds = Bounds {
        states: args.peers.states,
        time: Duration::from_secs(args.seconds),
        virtual_ns: DAY_NS,
        jobs: args.jobs.into(),
        every_order: false,
    };
    let shape = setup.shape().map_err(Failure::Usage)?;
    let of_messages = args.peers.expect.iter().any(|what| *what != Expected::NoErrors);
    if shape != Shape::Message && of_messages {
        let why = "--expect all, once and order are for programs of messages: this interface promises them by itself";
        return Err(Failure::Usage(why.into()));
    }
    if shape == Shape::Rpc && args.peers.answer > 0 {
        let why = "--answer: a server answers each RPC, and sends nothing by itself";
        return Err(Failure::Usage(why.into()));
    }
    if shape.carries_streams() && args.peers.message != LEAST {
        return Err(Failure::Usage("--message: a stream has no messages".into()));
    }
    let mut pcap = create(args.peers.pcap.as_deref())?;
    let mut trace = create(args.peers.trace.as_deref())?;
    let cancelled = Arc::new(AtomicBool::new(false));
    stop_at_signals(&cancelled)?;
    let bar = output::progress("exploring");
    let outcome = explore(&setup, &bounds, &cancelled, &|at| {
        bar.set_message(format!("{} states, {} steps from the beginning", at.states, at.depth));
    });
    bar.finish_and_clear();
    let outcome = outcome.map_err(Failure::Usage)?;
    let shown = outcome.broken.as_ref().or(outcome.told_first.as_ref());
    let path = shown.map_or(&outcome.last, |shown| &shown.path);

    let command = words::command_line();
    let mut pcap = pcap.take().map(|file| Pcapng::new(file, &setup.programs[0], 0, &command));
    let cores = setup.configs().map_err(Failure::Usage)?;
    let head =
        Head { hosts: &setup.programs, cores: &cores, ..Head::new(&setup.programs[0], setup.seed, &command) };
    let mut trace = trace.take().map(|file| Writer::new(Form::default(), file, &head));
    let mut observers: Vec<&mut dyn Observer> = Vec::new();
    observers.extend(pcap.as_mut().map(|pcap| pcap as &mut dyn Observer));
    observers.extend(trace.as_mut().map(|trace| trace as &mut dyn Observer));
    let (first, steps) = replay(&setup, path, &mut All(observers)).map_err(Failure::Failed)?;
    let captured = output::written(args.peers.pcap.as_deref(), pcap.map_or(Ok(()), Pcapng::finish));
    let traced = output::written(args.peers.trace.as_deref(), trace.map_or(Ok(()), Writer::finish));
    match args.format {
        Format::Json => output::json(&as_json(&setup, &outcome, &first, &steps)),
        Format::Pretty => print!("{}", pretty(&setup, &outcome, &first, &steps)),
    }
    captured.and(traced).map_err(unusable)?;
    Ok(match (&outcome.broken, &outcome.cut) {
        (Some(_), _) => ExitCode::from(BROKEN),
        (None, Some(_)) => ExitCode::from(NOT_DECIDED),
        (None, None) => ExitCode::SUCCESS,
    })
}

/// A value for each parameter of one of two programs, of those that are set for both.
fn values(program: &Program, other: &Program, set: &[String]) -> Result<Vec<u64>, Failure> {
    let name = |set: &String| set.split('=').next().unwrap_or_default().to_owned();
    let has = |program: &Program, set: &String| program.params.iter().any(|param| param.name == name(set));
    // What neither has is an error of the first.
    let own: Vec<String> = set.iter().filter(|set| has(program, set) || !has(other, set)).cloned().collect();
    params::values(program, &own)
}

/// What is explored.
fn setup(args: &VerifyArgs) -> Result<Setup, Failure> {
    let wanted = &args.peers;
    let client = load(&args.source).map_err(unusable)?;
    let server = match &wanted.server {
        None => client.clone(),
        Some(file) => load_choice(file, &args.source.features.choice()).map_err(unusable)?,
    };
    let via = |file| -> Result<Via, Failure> {
        let program = load_choice(file, &choice_between(&client)).map_err(unusable)?;
        Ok(Via { params: params::values(&program, &wanted.via_set)?, program })
    };
    let via = wanted.via.as_deref().map(via).transpose()?;
    let faults = Faults {
        lose: wanted.lose,
        duplicate: wanted.dup,
        reorder: wanted.reorder,
        corrupt: wanted.corrupt,
        delay: wanted.delay,
        crash: wanted.crash,
    };
    let expected = |what| wanted.expect.contains(&what);
    let promise = Promise {
        no_errors: expected(Expected::NoErrors),
        all: expected(Expected::All),
        once: expected(Expected::Once),
        order: expected(Expected::Order),
    };
    let params = [values(&client, &server, &args.set)?, values(&server, &client, &args.set)?];
    Ok(Setup {
        programs: [client, server],
        params,
        via,
        bytes: wanted.bytes,
        answer: wanted.answer,
        message: wanted.message,
        mtu: 1500,
        life_ns: quantity::duration(&wanted.life)?,
        seed: 1,
        faults,
        promise,
    })
}
