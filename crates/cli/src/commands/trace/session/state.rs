// SPDX-License-Identifier: MIT OR Apache-2.0
//! A run that somebody steps through: its breakpoints, where it is, its input and output.

use std::cell::Cell;
use std::io::{BufRead, Write};
use std::rc::Rc;

use carrick_driver::probe::{Asked, Named};
use carrick_interp::debug::{Site, Stop};
use carrick_ir::{Function, Loc, Program};
use carrick_sim::show;
use carrick_sim::watch::line::HOSTS;

/// What a line is asked for with.
const PROMPT: &str = "(carrick) ";

/// A place at which to stop.
pub struct Break {
    pub number: usize,
    /// statements, each with the condition under which to stop there
    pub at: Vec<(usize, Option<Function>)>,
}

/// How far a run goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// a breakpoint
    Break,
    /// the next statement of this core in which no more functions run than so many
    Statement { core: usize, depth: usize },
}

/// A run that somebody steps through.
pub struct Session {
    pub asked: Asked,
    pub sites: Vec<Site>,
    pub breaks: Vec<Break>,
    /// number of the next breakpoint
    pub next_break: usize,
    pub until: Until,
    pub input: Box<dyn BufRead>,
    pub out: Box<dyn Write>,
    /// what comes in is not seen by itself
    pub echo: bool,
    /// the last command that goes on: an empty line repeats it
    pub last: &'static str,
    pub quit: Rc<Cell<bool>>,
    pub stopped: bool,
}

impl Session {
    /// A line, or several, of output. The run ends if nobody reads them.
    pub fn say(&mut self, text: &str) {
        if writeln!(self.out, "{text}").and_then(|()| self.out.flush()).is_err() {
            self.quit.set(true);
        }
    }

    pub fn program(&self) -> &Program {
        &self.asked.program
    }

    /// `file.mtp:12`
    pub fn place(&self, loc: Loc) -> String {
        format!("{}:{}", self.program().file_of(loc).raw(), loc.line)
    }

    /// What can be named at a statement.
    pub fn scope(&self, site: usize) -> Vec<Named> {
        let Site { func, visible, .. } = &self.sites[site];
        let locals = &self.program().functions[func.index()].locals;
        let named =
            |at: usize| Named { name: locals[at].name.clone(), ty: locals[at].ty.clone(), open: false };
        visible.iter().map(|local| named(local.index())).collect()
    }

    /// Where the run is, and the line that comes next.
    pub fn say_where(&mut self, stop: &Stop<'_>) {
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
    pub fn text(&self, loc: Loc) -> String {
        let line = self.asked.line(loc.file as usize, loc.line).unwrap_or_default();
        let (before, rest) = match line.char_indices().nth(loc.col.saturating_sub(1) as usize) {
            Some((at, _)) => line.split_at(at),
            None => ("", line),
        };
        if before.trim().is_empty() { line.to_owned() } else { format!("... {rest}") }
    }

    /// `event segment on conn#0`
    pub fn doing(&self, stop: &Stop<'_>) -> String {
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
    pub fn read(&mut self) -> Option<String> {
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
