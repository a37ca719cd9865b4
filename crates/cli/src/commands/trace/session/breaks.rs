// SPDX-License-Identifier: MIT OR Apache-2.0
//! Breakpoints: from a line or a function to the statements at which to stop.

use carrick_driver::Failure;
use carrick_interp::debug::Stop;
use carrick_syntax::suggest::nearest;

use super::super::load_error::LoadError;
use super::state::{Break, Session};

impl Session {
    /// Adds a breakpoint at a line (`[FILE:]LINE`, or of the file with this number) or at the beginning of a function; says
    /// where it is. `from` is where diagnostics say that the condition stands.
    pub fn add_break(
        &mut self,
        at: &str,
        file: usize,
        condition: Option<(&str, &str)>,
    ) -> Result<String, LoadError> {
        let sites = self.statements(at, file)?;
        let mut found = Vec::new();
        for &site in &sites {
            let question = match condition {
                Some((from, text)) => Some(self.asked.condition(from, text, &self.scope(site))?),
                None => None,
            };
            found.push((site, question.map(|q| q.function)));
        }
        let number = self.next_break;
        self.next_break += 1;
        self.breaks.push(Break { number, at: found });
        let places: Vec<String> = sites
            .iter()
            .map(|&site| {
                let site = &self.sites[site];
                let name = &self.program().functions[site.func.index()].name;
                format!("{name} at {}", self.place(site.loc))
            })
            .collect();
        Ok(format!("breakpoint {number}: {}", places.join(", ")))
    }

    /// Whether there is a breakpoint here whose condition holds.
    pub fn at_break(&mut self, stop: &mut Stop<'_>) -> bool {
        let here = stop.site();
        let hits = self.breaks.iter().flat_map(|b| &b.at).filter(|(site, _)| *site == here);
        let mut failed = None;
        let mut hit = false;
        for (_, condition) in hits {
            let frame = stop.frames().into_iter().next();
            let holds = match (condition, frame) {
                (Some(condition), Some(frame)) => stop.ask(&frame, condition).map(|words| words == [1]),
                _ => Ok(true),
            };
            match holds {
                Ok(holds) => hit |= holds,
                Err(error) => failed = Some(error),
            }
        }
        if let Some(error) = failed {
            self.say(&error);
        }
        hit
    }

    /// The first statement in each function on the line (of this file, unless `at` says another), or the first one of the function.
    fn statements(&self, at: &str, file: usize) -> Result<Vec<usize>, Failure> {
        let (name, line) = at.rsplit_once(':').map_or((None, at), |(file, line)| (Some(file), line));
        let Ok(line) = line.parse::<u32>() else { return self.function(at) };
        let file = name.map_or(Ok(file), |name| self.file(name))?;
        let mut found: Vec<usize> = Vec::new();
        for (number, site) in self.sites.iter().enumerate() {
            if !site.head || (site.loc.file as usize, site.loc.line) != (file, line) {
                continue;
            }
            match found.iter_mut().find(|f| self.sites[**f].func == site.func) {
                Some(first) if self.sites[*first].loc.col <= site.loc.col => {}
                Some(first) => *first = number,
                None => found.push(number),
            }
        }
        if found.is_empty() { Err(self.no_statement(file, line)) } else { Ok(found) }
    }

    fn function(&self, name: &str) -> Result<Vec<usize>, Failure> {
        let functions = &self.program().functions;
        let Some(func) = functions.iter().position(|f| f.name == name) else {
            let hint = nearest(name, functions.iter().map(|f| f.name.as_str())).map_or_else(
                || "write it like 120 or file.mtp:120".to_owned(),
                |n| format!("did you mean {n}?"),
            );
            return Err(Failure::Usage(format!(
                "{name:?} is neither a line nor a function of the program; {hint}"
            )));
        };
        let first = self.sites.iter().position(|s| s.func.index() == func && s.head);
        first.map(|site| vec![site]).ok_or_else(|| Failure::Usage(format!("{name} has no statement")))
    }

    /// The number of the file with this name, or whose path ends with it.
    fn file(&self, name: &str) -> Result<usize, Failure> {
        let program = self.program();
        let files = || std::iter::once(&program.file).chain(&program.imports).map(carrick_ir::Text::raw);
        let fits = |file: &str| std::path::Path::new(file).ends_with(name);
        files().position(fits).ok_or_else(|| {
            let all: Vec<&str> = files().collect();
            Failure::Usage(format!("{name:?} is no file of the program; it has {}", all.join(", ")))
        })
    }

    fn no_statement(&self, file: usize, line: u32) -> Failure {
        let lines =
            || self.sites.iter().filter(|s| s.head && s.loc.file as usize == file).map(|s| s.loc.line);
        let before = lines().filter(|l| *l < line).max();
        let after = lines().filter(|l| *l > line).min();
        let near: Vec<String> = before.into_iter().chain(after).map(|l| l.to_string()).collect();
        let program = self.program();
        let name = file.checked_sub(1).and_then(|i| program.imports.get(i)).unwrap_or(&program.file).raw();
        Failure::Usage(match &near[..] {
            [] => format!("{name} has no statements"),
            [only] => {
                format!("no statement begins on line {line} of {name}; the nearest one is on line {only}")
            }
            all => format!(
                "no statement begins on line {line} of {name}; the nearest ones are on lines {}",
                all.join(" and ")
            ),
        })
    }
}
