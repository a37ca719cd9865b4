// SPDX-License-Identifier: MIT OR Apache-2.0
//! What was seen, as people and as programs read it.

use std::io::{self, Write};

use carrick_ir::{Program, Ty};
use serde_json::{Map, Value, json};

use super::live::Context;
use crate::{show, trace};

/// The hosts of a simulated run by their numbers.
pub const HOSTS: [&str; 2] = ["client", "server"];
/// Columns of a line for people.
const WIDTH: usize = 110;

/// For whom lines are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// people
    Pretty,
    /// programs: an object a line
    Json,
}

/// An event that came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    pub number: usize,
    /// its fields
    pub words: Vec<u64>,
}

/// Why there is a line.
#[derive(Debug, Clone)]
pub enum What {
    /// the chain of an event has ended
    Event(Event),
    /// a condition came true: its text
    Condition(String),
    Sample,
    /// one of a list
    Context,
    /// the end of a list: how many there were
    Count(u64),
    /// a change was made: its text, and the process that asked for it if that is another one
    Set {
        text: String,
        by: Option<u64>,
    },
    /// a change was not made
    Refused {
        text: String,
        by: u64,
        why: String,
    },
}

/// Something of a context.
#[derive(Debug)]
struct Part {
    name: String,
    /// `None`: when a timer is due, 0 if it is stopped
    ty: Option<Ty>,
    words: Vec<u64>,
    /// what it was before, if it was something else
    was: Option<Vec<u64>>,
}

/// What is shown of a context.
#[derive(Debug)]
pub struct Shown {
    /// the number of its type
    ctx: usize,
    handle: u64,
    id: Vec<u64>,
    /// it was deleted: this is what it was
    gone: bool,
    parts: Vec<Part>,
}

/// A line.
#[derive(Debug)]
pub struct Line {
    /// virtual nanoseconds
    pub at: u64,
    pub host: usize,
    pub what: What,
    pub shown: Option<Shown>,
}

impl Shown {
    /// Nothing of it yet.
    pub fn of(program: &Program, context: &Context, gone: bool) -> Shown {
        debug_assert!(context.ctx < program.contexts.len());
        Shown { ctx: context.ctx, handle: context.handle, id: context.id.clone(), gone, parts: Vec::new() }
    }

    /// Shows a value, and what it was before.
    pub fn add(&mut self, name: String, ty: Option<Ty>, words: Vec<u64>, was: Option<Vec<u64>>) {
        let was = was.filter(|was| *was != words);
        self.parts.push(Part { name, ty, words, was });
    }

    /// Shows all fields and timers.
    pub fn everything(&mut self, program: &Program, context: &Context, before: Option<&Context>) {
        let def = &program.contexts[context.ctx];
        let (mut now, mut was) = (&context.words[..], before.map(|b| &b.words[..]));
        for field in &def.fields {
            let words = cut(program, &field.ty, &mut now);
            let was = was.as_mut().map(|was| cut(program, &field.ty, was));
            self.add(field.name.clone(), Some(field.ty.clone()), words, was);
        }
        for timer in &def.timers {
            let words = cut(program, &Ty::Time, &mut now);
            let was = was.as_mut().map(|was| cut(program, &Ty::Time, was));
            self.add(timer.name.clone(), None, words, was);
        }
    }

    /// Leaves out what is as it was, if `all` was shown.
    pub fn only_changes(&mut self, all: bool) {
        self.parts.retain(|part| !all || part.was.is_some());
    }
}

/// The words of a value of this type, which are taken from the beginning of `words`.
fn cut(program: &Program, ty: &Ty, words: &mut &[u64]) -> Vec<u64> {
    let n = show::words_of(program, ty, words).min(words.len());
    let (first, rest) = words.split_at(n);
    *words = rest;
    first.to_vec()
}

/// Writes a line.
pub fn write(
    program: &Program,
    format: Format,
    line: &Line,
    host: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    match format {
        Format::Json => writeln!(out, "{}", json_line(program, line, host)),
        Format::Pretty => write!(out, "{}", pretty(program, line, host)),
    }
}

fn pretty(program: &Program, line: &Line, host: &str) -> String {
    let mut text = format!("{} {}", show::clock(line.at), host);
    match &line.what {
        What::Event(event) => {
            let def = &program.events[event.number];
            let fields = show::record(program, &def.fields, &mut event.words.iter().copied());
            text.push_str(&format!(" event {} {fields}", def.name));
        }
        What::Condition(condition) => text.push_str(&format!(" when {condition}")),
        What::Set { text: change, by: None } => text.push_str(&format!(" set {change}")),
        What::Set { text: change, by: Some(by) } => {
            text.push_str(&format!(" set {change}, by process {by}:"));
        }
        What::Refused { text: change, by, why } => {
            text.push_str(&format!(" refused {change}, by process {by}: {why}"));
            if line.shown.is_some() {
                text.push_str(" of");
            }
        }
        What::Count(1) => text.push_str(" 1 context"),
        What::Count(n) => text.push_str(&format!(" {n} contexts")),
        What::Sample | What::Context => {}
    }
    let Some(shown) = &line.shown else { return text + "\n" };
    let def = &program.contexts[shown.ctx];
    text.push_str(&format!(" {}", show::handle(program, shown.handle)));
    let parts: Vec<String> = shown.parts.iter().map(|part| part.pretty(program)).collect();
    if matches!(line.what, What::Sample) {
        return format!("{text} {}\n", parts.join(" "));
    }
    if !shown.id.is_empty() {
        text.push(' ');
        text.push_str(&show::id(program, &program.ids[def.id.index()], &mut shown.id.iter().copied()));
    }
    if shown.gone {
        text.push_str(" is gone, and was");
    }
    text.push('\n');
    text + &wrapped(&parts)
}

/// The parts with spaces between them, in lines that are not too long.
fn wrapped(parts: &[String]) -> String {
    let mut text = String::new();
    let mut column = 0;
    for part in parts {
        if column > 0 && column + 1 + part.len() > WIDTH {
            text.push('\n');
            column = 0;
        }
        text.push_str(if column == 0 { "    " } else { " " });
        column += if column == 0 { 4 } else { 1 } + part.len();
        text.push_str(part);
    }
    if column > 0 {
        text.push('\n');
    }
    text
}

impl Part {
    fn pretty(&self, program: &Program) -> String {
        let shown = |words: &[u64]| match &self.ty {
            Some(ty) => show::value(program, ty, &mut words.iter().copied()),
            None => show::deadline(words.first().copied().unwrap_or(0)),
        };
        let now = format!("{}={}", self.name, shown(&self.words));
        self.was.as_ref().map_or(now.clone(), |was| format!("{now} (was {})", shown(was)))
    }

    fn json(&self, program: &Program, words: &[u64]) -> Value {
        let ty = self.ty.as_ref().unwrap_or(&Ty::Time);
        trace::value(program, ty, &mut words.iter().copied())
    }
}

fn json_line(program: &Program, line: &Line, host: &str) -> Value {
    let mut all = json!({"at_ns": line.at, "host": host});
    all["what"] = json!(match &line.what {
        What::Event(_) => "event",
        What::Condition(_) => "condition",
        What::Sample => "sample",
        What::Context => "context",
        What::Count(_) => "count",
        What::Set { .. } => "set",
        What::Refused { .. } => "refused",
    });
    match &line.what {
        What::Event(event) => {
            let def = &program.events[event.number];
            let fields = trace::fields(program, &def.fields, &mut event.words.iter().copied());
            all["event"] = json!({"name": def.name, "fields": fields});
        }
        What::Condition(text) => all["condition"] = json!(text),
        What::Set { text, by } => {
            all["set"] = json!(text);
            if let Some(by) = by {
                all["by"] = json!(by);
            }
        }
        What::Refused { text, by, why } => {
            (all["set"], all["by"], all["why"]) = (json!(text), json!(by), json!(why));
        }
        What::Count(count) => all["count"] = json!(count),
        What::Sample | What::Context => {}
    }
    if let Some(shown) = &line.shown {
        json_context(program, shown, &mut all);
    }
    all
}

fn json_context(program: &Program, shown: &Shown, all: &mut Value) {
    let def = &program.contexts[shown.ctx];
    let id = trace::fields(program, &program.ids[def.id.index()].parts, &mut shown.id.iter().copied());
    all["context"] = json!({"type": def.name, "handle": shown.handle, "id": id, "gone": shown.gone});
    let values = shown.parts.iter().map(|p| (p.name.clone(), p.json(program, &p.words)));
    all["values"] = Value::Object(values.collect());
    let was: Map<String, Value> = shown
        .parts
        .iter()
        .filter_map(|p| p.was.as_ref().map(|was| (p.name.clone(), p.json(program, was))))
        .collect();
    if !was.is_empty() {
        all["was"] = Value::Object(was);
    }
}
