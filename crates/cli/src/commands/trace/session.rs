// SPDX-License-Identifier: MIT OR Apache-2.0
//! `carrick trace --break`: a run that stops at statements, and does what is said on standard input.

mod breaks;
mod commands;

use std::cell::{Cell, RefCell};
use std::io::{BufRead, IsTerminal, Write};
use std::process::ExitCode;
use std::rc::Rc;

use carrick_driver::Failure;
use carrick_driver::cc::Tracing;
use carrick_driver::probe::{Asked, Named};
use carrick_interp::debug::{Debugger, Site, Stop, sites};
use carrick_ir::{Loc, Program};
use carrick_sim::observe::Observer;
use carrick_sim::scenario::Engine;
use carrick_sim::show;
use carrick_sim::watch::line::HOSTS;

use super::super::scenario::Between;
use super::{LoadError, TraceArgs};
use breaks::Break;

/// What a line is asked for with.
const PROMPT: &str = "(carrick) ";

/// How far a run goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Until {
    /// a breakpoint
    Break,
    /// the next statement of this core in which no more functions run than so many
    Statement { core: usize, depth: usize },
}

/// A run that somebody steps through.
struct Session {
    asked: Asked,
    sites: Vec<Site>,
    breaks: Vec<Break>,
    /// number of the next breakpoint
    next_break: usize,
    until: Until,
    input: Box<dyn BufRead>,
    out: Box<dyn Write>,
    /// what comes in is not seen by itself
    echo: bool,
    /// the last command that goes on: an empty line repeats it
    last: &'static str,
    quit: Rc<Cell<bool>>,
    stopped: bool,
}

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
    let scenario = args.scenario.scenario(&program, settings)?;
    let between = args.way.between(false, Tracing::Off)?;
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

impl Session {
    /// A line, or several, of output. The run ends if nobody reads them.
    fn say(&mut self, text: &str) {
        if writeln!(self.out, "{text}").and_then(|()| self.out.flush()).is_err() {
            self.quit.set(true);
        }
    }

    fn program(&self) -> &Program {
        &self.asked.program
    }

    /// `file.mtp:12`
    fn place(&self, loc: Loc) -> String {
        format!("{}:{}", self.program().file_of(loc), loc.line)
    }

    /// What can be named at a statement.
    fn scope(&self, site: usize) -> Vec<Named> {
        let Site { func, visible, .. } = &self.sites[site];
        let locals = &self.program().functions[func.index()].locals;
        let named =
            |at: usize| Named { name: locals[at].name.clone(), ty: locals[at].ty.clone(), open: false };
        visible.iter().map(|local| named(local.index())).collect()
    }

    /// Where the run is, and the line that comes next.
    fn say_where(&mut self, stop: &Stop<'_>) {
        let Site { func, loc, .. } = self.sites[stop.site()].clone();
        let program = self.program();
        let doing = self.doing(stop);
        let name = &program.functions[func.index()].name;
        let place = self.place(loc);
        let line = self.text(loc);
        let text = format!(
            "{} {} {doing}, {name} at {place}\n{:<6}{line}",
            show::clock(stop.now()),
            HOSTS.get(stop.core()).copied().unwrap_or("host"),
            loc.line
        );
        self.say(&text);
    }

    /// The line, or what is left of it if the statement is not the first one there.
    fn text(&self, loc: Loc) -> String {
        let line = self.asked.line(loc.file as usize, loc.line).unwrap_or_default();
        let (before, rest) = match line.char_indices().nth(loc.col.saturating_sub(1) as usize) {
            Some((at, _)) => line.split_at(at),
            None => ("", line),
        };
        if before.trim().is_empty() { line.to_owned() } else { format!("... {rest}") }
    }

    /// `event segment on conn#0`
    fn doing(&self, stop: &Stop<'_>) -> String {
        let program = self.program();
        match stop.event() {
            None => "parsing".to_owned(),
            Some((event, _, 0)) => format!("event {}", program.events[event.index()].name),
            Some((event, _, handle)) => {
                let handle = show::handle(program, handle);
                format!("event {} on {handle}", program.events[event.index()].name)
            }
        }
    }

    /// The next line of input; `None` at its end.
    fn read(&mut self) -> Option<String> {
        if write!(self.out, "{PROMPT}").and_then(|()| self.out.flush()).is_err() {
            return None;
        }
        let mut line = String::new();
        let read = self.input.read_line(&mut line).ok().filter(|n| *n > 0);
        let line = line.trim().to_owned();
        if read.is_none() {
            self.say("");
            return None;
        }
        if self.echo {
            self.say(&line);
        }
        Some(line)
    }
}
