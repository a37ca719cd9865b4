// SPDX-License-Identifier: MIT OR Apache-2.0
//! The text of one function while it is written.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::ops::{Add, Mul};

use carrick_ir::{Function, Loc, LocalId, Program};

use super::effects::Var;
use super::expr::Scope;
use super::names::variable;
use super::text::file_in_comment;

/// Slots of instructions, and places of operands for which a slot has no space.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Places {
    pub slots: u32,
    pub wides: u32,
}

impl Places {
    /// Those of two of which one runs.
    pub fn or(self, other: Places) -> Places {
        Places { slots: self.slots.max(other.slots), wides: self.wides.max(other.wides) }
    }

    /// The place behind so many of a function.
    pub fn text(self) -> String {
        match self {
            Places { slots: 0, wides: 0 } => "at".into(),
            Places { slots, wides } => format!("behind(at, u32:{slots}, u32:{wides})"),
        }
    }
}

impl Add for Places {
    type Output = Places;

    fn add(self, other: Places) -> Places {
        Places {
            slots: self.slots.saturating_add(other.slots),
            wides: self.wides.saturating_add(other.wides),
        }
    }
}

impl Mul<u32> for Places {
    type Output = Places;

    fn mul(self, times: u32) -> Places {
        Places { slots: self.slots.saturating_mul(times), wides: self.wides.saturating_mul(times) }
    }
}

/// A function: its lines so far, and what its variables are called.
pub struct Body<'p> {
    pub program: &'p Program,
    pub function: &'p Function,
    pub names: Vec<String>,
    pub text: String,
    indent: usize,
    /// the place that the last line's comment named
    shown: Loc,
    /// an instruction may have been issued before this point of the chain
    pub issued: bool,
    /// what may have been issued before this point of the function
    pub places: Places,
    /// the locals that have a value here
    pub live: BTreeSet<LocalId>,
    /// the body of a loop: `brk` and `cont` have a value here
    pub in_loop: bool,
    /// functions of their own that parts of this one have become
    pub hoisted: String,
    parts: u32,
}

impl<'p> Body<'p> {
    pub fn new(program: &'p Program, function: &'p Function) -> Self {
        let mut names: Vec<String> = Vec::new();
        for local in &function.locals {
            let mut name = variable(&local.name);
            // Two variables of a function may have one name, in blocks of their own.
            while names.contains(&name) {
                name.push('_');
            }
            names.push(name);
        }
        Body {
            program,
            function,
            names,
            text: String::new(),
            indent: 1,
            shown: Loc::default(),
            issued: false,
            places: Places::default(),
            live: (0..function.params).map(LocalId).collect(),
            in_loop: false,
            hoisted: String::new(),
            parts: 0,
        }
    }

    /// The text of a part that becomes a function of its own.
    pub fn part(&mut self) -> Body<'p> {
        self.parts += 1;
        Body {
            names: self.names.clone(),
            text: String::new(),
            indent: 1,
            shown: Loc::default(),
            live: self.live.clone(),
            hoisted: String::new(),
            ..*self
        }
    }

    /// Takes a part back: its functions, and what is known after it. Its name is returned.
    pub fn part_done(&mut self, part: &Body<'p>) -> String {
        self.hoisted.push_str(&part.hoisted);
        self.parts = part.parts;
        (self.issued, self.places) = (part.issued, part.places);
        self.parts += 1;
        format!("{}_part_{}", variable(&self.function.name), self.parts)
    }

    /// Whether a variable stands in the text, its comments left out.
    pub fn mentions(&self, name: &str) -> bool {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let in_code = |code: &str| {
            code.match_indices(name).any(|(at, _)| {
                let (before, after) =
                    (code[..at].chars().next_back(), code[at + name.len()..].chars().next());
                !before.is_some_and(|c| is_word(c) || c == '.') && !after.is_some_and(is_word)
            })
        };
        self.text.lines().any(|line| in_code(line.split("//").next().unwrap_or(line)))
    }

    pub fn scope(&self, loc: Loc) -> Scope<'_> {
        Scope { function: Some(self.function), names: &self.names, loc, issued: self.issued }
    }

    pub fn name(&self, local: LocalId) -> &str {
        &self.names[local.index()]
    }

    /// Writes a line.
    pub fn line(&mut self, line: &str) {
        for _ in 0..self.indent {
            self.text.push_str("    ");
        }
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// Writes a line where the text had come to earlier.
    pub fn line_at(&mut self, at: usize, line: &str) {
        let behind = self.text.split_off(at);
        self.line(line);
        self.text.push_str(&behind);
    }

    /// Where the text has come to.
    pub fn len(&self) -> usize {
        self.text.len()
    }

    /// Writes a line that a statement of the program has become.
    pub fn line_of(&mut self, loc: Loc, line: &str) {
        if loc.line == 0 || loc == self.shown {
            return self.line(line);
        }
        self.shown = loc;
        let file = file_in_comment(self.program.file_of(loc));
        self.line(&format!("{line}  // {file}:{}", loc.line));
    }

    /// Writes a line that begins a block.
    pub fn open(&mut self, loc: Loc, line: &str) {
        self.line_of(loc, line);
        self.indent += 1;
    }

    /// Ends a block, perhaps to begin another.
    pub fn close(&mut self, line: &str) {
        self.indent -= 1;
        self.line(line);
        if line.ends_with('{') {
            self.indent += 1;
        }
    }

    /// Begins the first of two arms, which give these variables new values.
    pub fn fork(&mut self, loc: Loc, cond: &str, results: Vec<String>) -> Fork {
        let begin = self.text.len();
        self.open(loc, &format!("let {} = if {cond} {{", tuple(&results)));
        Fork { begin, second: begin, cond: cond.to_owned(), results, before: self.places, then: self.places }
    }

    /// Ends the first arm and begins the second.
    pub fn second_arm(&mut self, fork: &mut Fork) {
        fork.second = self.text.len();
        self.close("} else {");
        fork.then = std::mem::replace(&mut self.places, fork.before);
    }

    /// Ends both. If an arm issues instructions, each arm becomes a value of its own: only which statements issued something depends
    /// on the condition. Operands of one arm alone do not, so that no signal chooses among thousands of bits.
    pub fn joined(&mut self, fork: &Fork) {
        self.close("};");
        let otherwise = self.places;
        self.places = otherwise.or(fork.then);
        if self.places == fork.before {
            return;
        }
        let indent = "    ".repeat(self.indent);
        let second = self.text.split_off(fork.second);
        let (_, second) = second.split_once('\n').unwrap_or_default();
        let first = self.text.split_off(fork.begin);
        let (head, first) = first.split_once('\n').unwrap_or_default();
        let comment = head.find("  //").map_or("", |at| &head[at..]);
        let _ = write!(
            self.text,
            "{indent}let when__ = {};{comment}\n{indent}let then__ = {{\n{first}{indent}}};\n{indent}let else__ = {{\n{second}",
            fork.cond
        );
        self.line(&either(&fork.results, fork.before, fork.then, otherwise));
    }

    /// What a variable is called.
    pub fn var(&self, var: Var) -> String {
        match var {
            Var::Io => "io".into(),
            Var::Local(local) => self.name(local).to_owned(),
            Var::Ret => "ret".into(),
            Var::Left => "left".into(),
            Var::Brk => "brk".into(),
            Var::Cont => "cont".into(),
        }
    }

    /// What variables are called.
    pub fn names_of(&self, vars: &BTreeSet<Var>) -> Vec<String> {
        vars.iter().map(|v| self.var(*v)).collect()
    }

    /// Variables as a tuple, or the only one.
    pub fn tuple(&self, vars: &BTreeSet<Var>) -> String {
        tuple(&self.names_of(vars))
    }
}

/// Two arms while they are written.
pub struct Fork {
    /// where the text of the two begins, and that between them
    begin: usize,
    second: usize,
    cond: String,
    results: Vec<String>,
    /// places before the arms, and behind the first one
    before: Places,
    then: Places,
}

/// The line that gives these variables the values of `then__` if `when__`, else those of `else__`; with the places before the two and
/// behind each.
pub fn either(results: &[String], before: Places, then: Places, otherwise: Places) -> String {
    let issued =
        |behind: Places| format!("u32:{}, u32:{}", behind.slots - before.slots, behind.wides - before.wides);
    let value = |(n, name): (usize, &String)| {
        let part = if results.len() == 1 { String::new() } else { format!(".{n}") };
        let (a, b) = (format!("then__{part}"), format!("else__{part}"));
        match name.as_str() {
            "io" => {
                format!(
                    "either(when__, {a}, {b}, {}, {}, {})",
                    before.text(),
                    issued(then),
                    issued(otherwise)
                )
            }
            _ => format!("if when__ {{ {a} }} else {{ {b} }}"),
        }
    };
    let values: Vec<String> = results.iter().enumerate().map(value).collect();
    format!("let {} = {};", tuple(results), tuple(&values))
}

/// Values as a tuple, or the only one.
pub fn tuple(values: &[String]) -> String {
    match values {
        [one] => one.clone(),
        all => format!("({})", all.join(", ")),
    }
}
