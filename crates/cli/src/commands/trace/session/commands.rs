// SPDX-License-Identifier: MIT OR Apache-2.0
//! What can be said where a run has stopped.

use carrick_driver::probe::{Named, Question, Unanswered};
use carrick_driver::render::{self, Colour};
use carrick_interp::debug::{Frame, Stop};
use carrick_ir::{CtxId, Ty};
use carrick_sim::show;

use super::super::load_error::LoadError;
use super::state::{Session, Until};

const HELP: &str = "\
step, next           on to the next statement of this host: also in functions that are called, or not in these
continue             on to the next breakpoint
print EXPR, ...      the values of expressions over what can be named here
set PLACE = EXPR     change what a context, an event or a scratchpad holds
where                the functions that run, and for which event
list [LINE]          the text around here, or around a line
contexts [EXPR, ...] the contexts of this host, and expressions over their fields
break PLACE [if COND] stop there: [FILE:]LINE, or a function
delete NUMBER        no longer stop at a breakpoint
quit                 end the run
An empty line says step, next or continue again; s, n, c, p, w, l, b, q and h are short for what begins so.";

/// Lines before and after the one that `list` is about.
const AROUND: u32 = 5;

impl Session {
    /// Does what is said until the run is to go on.
    pub fn obey(&mut self, stop: &mut Stop<'_>) {
        loop {
            let Some(line) = self.read() else { return self.quit.set(true) };
            let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((&line, ""));
            let word = if line.is_empty() { self.last } else { word };
            let here = Until::Statement { core: stop.core(), depth: stop.depth() };
            match word {
                "step" | "s" => {
                    return self.go("step", Until::Statement { core: stop.core(), depth: usize::MAX });
                }
                "next" | "n" => return self.go("next", here),
                "continue" | "c" => return self.go("continue", Until::Break),
                "quit" | "q" => return self.quit.set(true),
                "" => {}
                _ => self.look(stop, word, rest.trim()),
            }
        }
    }

    fn go(&mut self, word: &'static str, until: Until) {
        (self.last, self.until) = (word, until);
    }

    /// Commands after which the run stays where it is.
    fn look(&mut self, stop: &mut Stop<'_>, word: &str, rest: &str) {
        let Some(frame) = stop.frames().into_iter().next() else { return };
        match word {
            "print" | "p" => self.print(stop, &frame, rest),
            "set" => self.set(stop, &frame, rest),
            "where" | "w" => self.say_frames(stop),
            "list" | "l" => self.list(stop, rest),
            "contexts" => self.contexts(stop, rest),
            "break" | "b" => self.set_break(stop, rest),
            "delete" => self.delete(rest),
            "help" | "h" => self.say(HELP),
            _ => self.say(&format!("there is no command `{word}`; `help` lists them")),
        }
    }

    fn set_break(&mut self, stop: &Stop<'_>, text: &str) {
        let (place, condition) = match text.split_once(" if ") {
            Some((place, condition)) => (place.trim(), Some(("break", condition))),
            None => (text, None),
        };
        let file = self.sites[stop.site()].loc.file as usize;
        match self.add_break(place, file, condition) {
            Ok(said) => self.say(&said),
            Err(refusal) => self.refuse(refusal),
        }
    }

    fn refuse(&mut self, refusal: LoadError) {
        let text = match refusal {
            LoadError::Usage(failure) => failure.to_string(),
            LoadError::Question(Unanswered::Refused(sentence)) => sentence,
            LoadError::Question(Unanswered::Wrong(compiled)) => {
                render::pretty(&compiled, Colour::No).trim_end().to_owned()
            }
        };
        self.say(&text);
    }

    fn print(&mut self, stop: &mut Stop<'_>, frame: &Frame, text: &str) {
        let questions = match self.asked.values("print", text, &self.scope(frame.site)) {
            Ok(questions) => questions,
            Err(unanswered) => return self.refuse(unanswered.into()),
        };
        for question in questions {
            let said = match stop.ask(frame, &question.function) {
                Ok(words) => format!("{} = {}", question.text, self.value(&question, &words)),
                Err(error) => error,
            };
            self.say(&said);
        }
    }

    fn value(&self, question: &Question, words: &[u64]) -> String {
        show::value(self.program(), &question.function.ret, &mut words.iter().copied())
    }

    fn set(&mut self, stop: &mut Stop<'_>, frame: &Frame, text: &str) {
        match self.asked.change("set", text, &self.scope(frame.site)) {
            Ok(question) => {
                if let Err(error) = stop.ask(frame, &question.function) {
                    self.say(&error);
                }
            }
            Err(unanswered) => self.refuse(unanswered.into()),
        }
    }

    fn say_frames(&mut self, stop: &Stop<'_>) {
        let program = self.program();
        let mut lines: Vec<String> = Vec::new();
        for (number, frame) in stop.frames().iter().enumerate() {
            let name = &program.functions[frame.func.index()].name;
            lines.push(format!("#{number} {name} at {}", self.place(self.sites[frame.site].loc)));
        }
        lines.push(match stop.event() {
            Some((event, words, _)) => {
                let fields = &program.events[event.index()].fields;
                format!("{} {}", self.doing(stop), show::record(program, fields, &mut words.iter().copied()))
            }
            None => self.doing(stop),
        });
        self.say(&lines.join("\n"));
    }

    fn list(&mut self, stop: &Stop<'_>, rest: &str) {
        let loc = self.sites[stop.site()].loc;
        let Ok(middle) = (if rest.is_empty() { Ok(loc.line) } else { rest.parse::<u32>() }) else {
            return self.say(&format!("{rest:?} is not a line"));
        };
        let first = middle.saturating_sub(AROUND).max(1);
        let mut lines = Vec::new();
        for line in first..=middle.saturating_add(AROUND) {
            let Some(text) = self.asked.line(loc.file as usize, line) else { break };
            let mark = if line == loc.line { '>' } else { ' ' };
            lines.push(format!("{mark}{line:<5}{text}").trim_end().to_owned());
        }
        if lines.is_empty() {
            lines.push(format!("the file has no line {middle}"));
        }
        self.say(&lines.join("\n"));
    }

    fn contexts(&mut self, stop: &mut Stop<'_>, text: &str) {
        let asked = if text.is_empty() { Ok(Vec::new()) } else { self.of_contexts(text) };
        let asked = match asked {
            Ok(asked) => asked,
            Err(unanswered) => return self.refuse(unanswered.into()),
        };
        let mut lines = Vec::new();
        for context in stop.contexts() {
            let def = &self.program().contexts[context.ctx];
            let mut line = show::handle(self.program(), context.handle);
            if !context.id.is_empty() {
                let id = &self.program().ids[def.id.index()];
                line = format!("{line} {}", show::id(self.program(), id, &mut context.id.iter().copied()));
            }
            for (_, question) in asked.iter().filter(|(ctx, _)| *ctx == context.ctx) {
                match stop.ask_context(context.handle, &question.function) {
                    Ok(words) => {
                        let value = self.value(question, &words.unwrap_or_default());
                        line = format!("{line} {}={value}", question.text);
                    }
                    Err(error) => line = format!("{line} {error}"),
                }
            }
            lines.push(line);
        }
        if lines.is_empty() {
            lines.push("there are none".to_owned());
        }
        self.say(&lines.join("\n"));
    }

    /// Questions over the fields of contexts, for each type of contexts that has them.
    fn of_contexts(&self, text: &str) -> Result<Vec<(usize, Question)>, Unanswered> {
        let (mut found, mut wrong) = (Vec::new(), None);
        for (ctx, def) in self.program().contexts.iter().enumerate() {
            let scope = Named { name: def.name.clone(), ty: Ty::Context(CtxId(ctx as u32)), open: true };
            match self.asked.values("contexts", text, &[scope]) {
                Ok(questions) => found.extend(questions.into_iter().map(|question| (ctx, question))),
                Err(unanswered) => wrong = Some(unanswered),
            }
        }
        match wrong {
            Some(unanswered) if found.is_empty() => Err(unanswered),
            _ => Ok(found),
        }
    }

    fn delete(&mut self, rest: &str) {
        let before = self.breaks.len();
        self.breaks.retain(|b| b.number.to_string() != rest);
        if self.breaks.len() == before {
            let numbers: Vec<String> = self.breaks.iter().map(|b| b.number.to_string()).collect();
            self.say(&format!("there is no breakpoint {rest}; there are {}", numbers.join(", ")));
        }
    }
}
