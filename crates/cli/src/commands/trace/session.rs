// SPDX-License-Identifier: MIT OR Apache-2.0
//! `carrick trace --break`: a run that stops at statements, and does what is said on standard input.

mod breaks;
mod commands;
mod state;

use std::cell::{Cell, RefCell};
use std::io::IsTerminal;
use std::process::ExitCode;
use std::rc::Rc;

use carrick_driver::Failure;
use carrick_driver::probe::Asked;
use carrick_interp::debug::{Debugger, Stop, sites};
use carrick_sim::observe::Observer;
use carrick_sim::scenario::Engine;
use carrick_sim::show;

use super::super::scenario::Between;
use super::load_error::LoadError;
use crate::args::TraceArgs;
use crate::load::Builds;
use state::{Session, Until};

/// Ends the run when the session does.
struct Ended(Rc<Cell<bool>>);

impl Observer for Ended {
    fn enough(&self) -> bool {
        self.0.get()
    }
}

/// Runs with the breakpoints of the command line, and the commands of standard input.
pub fn run(args: &TraceArgs, asked: Asked, settings: &[String]) -> Result<ExitCode, LoadError> {
    let program = asked.program.clone();
    let scenario = args.scenario.scenario(&program, &args.link_faults, settings)?;
    let between = args.way.between(&program, &Builds::new(None))?;
    let way = between.as_ref().map(Between::way);
    let quit = Rc::new(Cell::new(false));
    let stdin = std::io::stdin();
    let mut session = Session {
        sites: sites(&program),
        asked,
        breaks: Vec::new(),
        next_break: 1,
        until: Until::Break,
        echo: !stdin.is_terminal(),
        input: Box::new(stdin.lock()),
        out: Box::new(std::io::stdout().lock()),
        last: "",
        quit: quit.clone(),
        stopped: false,
    };
    for at in &args.breaks {
        session.add_break(at, 0, args.when.as_deref().map(|text| ("--when", text)))?;
    }
    let session = Rc::new(RefCell::new(session));
    let engine = Engine::Debugged(session.clone());
    let mut ended = Ended(quit.clone());
    let report = carrick_sim::run_through(&program, &engine, way.as_ref(), &scenario, &mut ended, false)
        .map_err(Failure::Usage)?;
    if !quit.get() {
        let mut session = session.borrow_mut();
        let how = if session.stopped { "" } else { "; no breakpoint was reached" };
        session.say(&format!("{} the run has ended{how}", show::clock(report.ended_at)));
    }
    Ok(ExitCode::SUCCESS)
}

impl Debugger for Session {
    fn reached(&mut self, stop: &mut Stop<'_>) {
        if self.quit.get() {
            return;
        }
        let stepped = match self.until {
            Until::Break => false,
            Until::Statement { core, depth } => core == stop.core() && stop.depth() <= depth,
        };
        if stepped || self.at_break(stop) {
            self.stopped = true;
            self.say_where(stop);
            self.obey(stop);
        }
    }
}
