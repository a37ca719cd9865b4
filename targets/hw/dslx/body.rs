// SPDX-License-Identifier: MIT OR Apache-2.0
//! The text of one function while it is written.

use std::collections::BTreeSet;

use carrick_ir::{Function, Loc, LocalId, Program};

use super::effects::Var;
use super::expr::Scope;
use super::names::variable;

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
        self.issued = part.issued;
        self.parts += 1;
        format!("{}_part_{}", variable(&self.function.name), self.parts)
    }

    /// Whether a variable stands in the text.
    pub fn mentions(&self, name: &str) -> bool {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        self.text.match_indices(name).any(|(at, _)| {
            let (before, after) =
                (self.text[..at].chars().next_back(), self.text[at + name.len()..].chars().next());
            !before.is_some_and(|c| is_word(c) || c == '.') && !after.is_some_and(is_word)
        })
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

    /// Writes a line that a statement of the program has become.
    pub fn line_of(&mut self, loc: Loc, line: &str) {
        if loc.line == 0 || loc == self.shown {
            return self.line(line);
        }
        self.shown = loc;
        let file = self.program.file_of(loc);
        let file = file.rsplit('/').next().unwrap_or(file);
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

    /// Variables as a tuple, or the only one.
    pub fn tuple(&self, vars: &BTreeSet<Var>) -> String {
        let names: Vec<String> = vars.iter().map(|v| self.var(*v)).collect();
        tuple(&names)
    }
}

/// Values as a tuple, or the only one.
pub fn tuple(values: &[String]) -> String {
    match values {
        [one] => one.clone(),
        all => format!("({})", all.join(", ")),
    }
}
