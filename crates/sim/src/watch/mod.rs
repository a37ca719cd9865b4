// SPDX-License-Identifier: MIT OR Apache-2.0
//! Looking at contexts while a run goes: after events, when a condition comes true, at intervals, at given times; and
//! changing them. All that is seen comes from the trace, so that it is the same of the interpreter and a compiled core.

pub mod change;
pub mod line;
pub mod live;
mod spec;

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::sync::Arc;

use carrick_interp::{Config, Fact, Question};
use carrick_ir::{Program, Ty};

use crate::core::{Core, Record};
use crate::observe::Observer;
use change::{Change, Outcome};
use line::{Event, Format, Line, Shown, What};
use live::{Context, Live};
pub use spec::{Ask, Spec};

/// A question that can be answered.
struct Ready {
    text: String,
    ty: Ty,
    /// by host: parameters are constants of its core
    questions: Vec<Question>,
}

/// An event whose chain runs.
struct Running {
    event: Event,
    /// its context as it was before, if it has one
    before: Option<Context>,
    /// the context that was made last
    made: Option<u64>,
    /// whether the condition held
    wanted: bool,
}

/// Writes what there is to see, a line for each.
pub struct Watch<W: Write> {
    program: Arc<Program>,
    spec: Spec,
    format: Format,
    out: W,
    live: Live,
    /// cores that never run, of the same configurations: they answer questions about what the trace told
    oracles: Vec<carrick_interp::Core>,
    when: Option<Ready>,
    show: Vec<Ready>,
    /// by host
    running: Vec<Option<Running>>,
    /// the event by which a stack that runs elsewhere is changed, and the change of each host whose chain runs
    change_event: Option<usize>,
    changing: Vec<Option<Change>>,
    /// host and handle of those for which the condition holds
    holds: BTreeSet<(usize, u64)>,
    next_sample: u64,
    /// by host: how many of the times have come, and which contexts are to be changed
    times_done: Vec<usize>,
    to_change: Vec<Vec<u64>>,
    lines: u64,
    error: Option<String>,
}

impl<W: Write> Watch<W> {
    /// Begins to watch a run of hosts with these configurations, one or more.
    ///
    /// # Errors
    /// What of the questions or the configurations no core can do.
    pub fn new(
        program: &Arc<Program>,
        configs: &[Config],
        mut spec: Spec,
        format: Format,
        out: W,
    ) -> Result<Self, String> {
        let oracle = |config: &Config| {
            carrick_interp::Core::new(program.clone(), &Config { trace: false, ..config.clone() })
        };
        let oracles = configs.iter().map(oracle).collect::<Result<Vec<_>, _>>()?;
        if oracles.is_empty() {
            return Err("there is no host to look at".into());
        }
        let ready = |ask: &Ask| {
            let (text, ty) = (ask.text.clone(), ask.function.ret.clone());
            let questions = oracles.iter().map(|oracle| oracle.question(&ask.function));
            questions.collect::<Result<_, _>>().map(|questions| Ready { text, ty, questions })
        };
        let when = spec.when.as_ref().map(ready).transpose()?;
        let show = spec.show.iter().map(ready).collect::<Result<Vec<_>, _>>()?;
        spec.at.sort_unstable();
        let mut live = Live::default();
        for (host, oracle) in oracles.iter().enumerate() {
            for (ctx, words) in oracle.global_contexts() {
                live.state(host, ctx, words[0], &words[1..]);
            }
        }
        Ok(Watch {
            program: program.clone(),
            spec,
            format,
            out,
            live,
            oracles,
            when,
            show,
            running: (0..configs.len()).map(|_| None).collect(),
            change_event: program.events.iter().position(|event| event.name == change::EVENT),
            changing: (0..configs.len()).map(|_| None).collect(),
            holds: BTreeSet::new(),
            next_sample: 0,
            times_done: vec![0; configs.len()],
            to_change: vec![Vec::new(); configs.len()],
            lines: 0,
            error: None,
        })
    }

    /// The run ended at this time: says what is left to say. Returns how many lines were written.
    ///
    /// # Errors
    /// What could not be done or written.
    pub fn finish(mut self, now: u64) -> Result<u64, String> {
        let hosts = self.oracles.len();
        (0..hosts).for_each(|host| self.chain_done(now, host));
        self.sample_until(now);
        if self.spec.list && self.spec.at.is_empty() {
            (0..hosts).for_each(|host| self.list(now, host));
        }
        match self.error {
            Some(error) => Err(error),
            None if self.spec.most == Some(0) => Ok(self.lines),
            None => self.out.flush().map(|()| self.lines).map_err(unwritten),
        }
    }

    /// Whether there was something that kept it from looking on to the end.
    pub fn cut_short(&self) -> bool {
        self.enough()
    }

    fn looks_at(&self, host: usize) -> bool {
        self.spec.only.as_ref().is_none_or(|wanted| wanted.contains(&host))
    }

    /// Whether a condition that comes true is looked for.
    fn awaits(&self) -> bool {
        self.spec.on.is_empty() && self.spec.every.is_none() && !self.spec.list && self.spec.at.is_empty()
    }

    fn answer(
        &mut self,
        host: usize,
        which: Which,
        now: u64,
        context: &Context,
        event: Option<&Event>,
    ) -> Vec<u64> {
        let question = match which {
            Which::Condition => self.when.as_ref(),
            Which::Show(at) => self.show.get(at),
        };
        let Some(Ready { questions, .. }) = question else { return vec![1] };
        let of_context = Fact { handle: context.handle, id: &context.id, words: &context.words };
        let of_event = Fact { handle: 0, id: &context.id, words: event.map_or(&[], |e| &e.words) };
        self.oracles[host].answer(&questions[host], &[of_context, of_event], now)
    }

    /// Whether a context is of the type that is asked about, and the condition (if there is one) holds for it.
    fn is_wanted(&mut self, host: usize, now: u64, context: &Context, event: Option<&Event>) -> bool {
        let of_type = self.spec.context.is_none_or(|ctx| ctx == context.ctx);
        of_type && self.answer(host, Which::Condition, now, context, event)[..] == [1]
    }

    /// An event is about to be handled.
    fn begins(&mut self, now: u64, host: usize, record: &Record) {
        self.chain_done(now, host);
        let number = record.number as usize;
        if let (true, [handle, item, by]) = (self.change_event == Some(number), &record.words[..]) {
            return self.change_begins(host, *handle, *item, *by);
        }
        if !self.spec.on.contains(&number) || !self.looks_at(host) {
            return;
        }
        let [handle, words @ ..] = &record.words[..] else { return };
        let event = Event { number, words: words.to_vec() };
        let before = self.live.get(host, *handle).cloned();
        let wanted = match &before {
            Some(context) => self.is_wanted(host, now, context, Some(&event)),
            None => self.when.is_none(),
        };
        self.running[host] = Some(Running { event, before, made: None, wanted });
    }

    /// The chain of an event that is looked at has ended.
    fn chain_done(&mut self, now: u64, host: usize) {
        let Some(Running { event, before, made, wanted: true }) = self.running[host].take() else { return };
        let handle = before.as_ref().map(|c| c.handle).or(made);
        let after = handle.and_then(|handle| self.live.get(host, handle)).cloned();
        let gone = before.is_some() && after.is_none();
        let of_type = |c: &Context| self.spec.context.is_none_or(|ctx| ctx == c.ctx);
        let context = after.or_else(|| before.clone()).filter(of_type);
        if let (Some(context), false) = (&context, gone) {
            self.to_change[host].push(context.handle);
        }
        let before = before.filter(|_| !gone);
        let shown =
            context.map(|context| self.shown(now, host, &context, Some(&event), before.as_ref(), gone));
        self.write(&Line { at: now, host, what: What::Event(event), shown });
    }

    /// A context has a new state.
    fn changed(&mut self, now: u64, host: usize, handle: u64) {
        if self.when.is_none() || !self.awaits() || !self.looks_at(host) {
            return;
        }
        let Some(context) = self.live.get(host, handle).cloned() else { return };
        if !self.is_wanted(host, now, &context, None) {
            self.holds.remove(&(host, handle));
        } else if self.holds.insert((host, handle)) {
            self.to_change[host].push(handle);
            let shown = Some(self.shown(now, host, &context, None, None, false));
            self.write(&Line { at: now, host, what: What::Condition(self.condition_text()), shown });
        }
    }

    fn condition_text(&self) -> String {
        self.when.as_ref().map(|w| w.text.clone()).unwrap_or_default()
    }

    fn shown(
        &mut self,
        now: u64,
        host: usize,
        context: &Context,
        event: Option<&Event>,
        before: Option<&Context>,
        gone: bool,
    ) -> Shown {
        let mut shown = Shown::of(&self.program, context, gone);
        if self.show.is_empty() {
            shown.everything(&self.program, context, before);
            return shown;
        }
        for at in 0..self.show.len() {
            let words = self.answer(host, Which::Show(at), now, context, event);
            let was = before.map(|before| self.answer(host, Which::Show(at), now, before, event));
            let (name, ty) = (self.show[at].text.clone(), self.show[at].ty.clone());
            shown.add(name, Some(ty), words, was);
        }
        shown
    }

    /// All samples up to this time, at which nothing has happened yet. Nothing does between events, so that samples need not be
    /// taken when they are due.
    fn sample_until(&mut self, now: u64) {
        let Some(every) = self.spec.every.filter(|every| *every > 0) else { return };
        if self.live.is_empty() && self.next_sample <= now {
            self.next_sample = (now - now % every).saturating_add(every);
        }
        while self.next_sample <= now && !self.enough() {
            let at = self.next_sample;
            for host in 0..self.oracles.len() {
                self.look(at, host, &What::Sample, false);
            }
            self.next_sample = at.saturating_add(every);
        }
    }

    /// Writes a line for each context that is wanted; returns how many there are.
    fn look(&mut self, now: u64, host: usize, what: &What, change: bool) -> u64 {
        if !self.looks_at(host) {
            return 0;
        }
        let mut count = 0;
        for context in self.live.of_host(host).cloned().collect::<Vec<_>>() {
            if !self.is_wanted(host, now, &context, None) {
                continue;
            }
            count += 1;
            if change {
                self.to_change[host].push(context.handle);
            }
            if !matches!(what, What::Count(_)) {
                let shown = Some(self.shown(now, host, &context, None, None, false));
                self.write(&Line { at: now, host, what: what.clone(), shown });
            }
        }
        count
    }

    fn list(&mut self, now: u64, host: usize) {
        if self.looks_at(host) {
            let count = self.look(now, host, &What::Context, false);
            self.write(&Line { at: now, host, what: What::Count(count), shown: None });
        }
    }

    /// Carries out the changes that are due.
    fn change(&mut self, now: u64, host: usize, core: &mut dyn Core) {
        let handles = std::mem::take(&mut self.to_change[host]);
        for handle in handles {
            for at in 0..self.spec.set.len() {
                let Some(before) = self.live.get(host, handle).cloned() else { continue };
                let set = &self.spec.set[at];
                let text = set.text.clone();
                match core.change(&set.function, handle, now) {
                    Ok(Some(record)) => self.live.note(&self.program, now, host, &record),
                    Ok(None) => continue,
                    Err(error) => self.error = Some(error),
                }
                let Some(after) = self.live.get(host, handle).cloned() else { continue };
                let mut shown = self.shown(now, host, &after, None, Some(&before), false);
                shown.only_changes(self.show.is_empty());
                self.write(&Line { at: now, host, what: What::Set { text, by: None }, shown: Some(shown) });
            }
        }
    }

    /// A stack that runs elsewhere is about to make a change. Global contexts are changed without a handle.
    fn change_begins(&mut self, host: usize, handle: u64, item: u64, by: u64) {
        let of_type = |c: &&Context| handle == 0 && Some(c.ctx) == self.spec.context;
        let global = self.spec.context.is_some_and(|ctx| self.program.contexts[ctx].global);
        let before = match global {
            true => self.live.of_host(host).find(of_type),
            false => self.live.get(host, handle),
        };
        let handle = before.map_or(handle, |context| context.handle);
        let (before, item) = (before.cloned(), item as usize);
        self.changing[host] = Some(Change { handle, item, by, before, outcome: None });
    }

    /// A request has completed with this, perhaps that for a change.
    fn change_answered(&mut self, now: u64, host: usize, value: u64) {
        let Some((change, outcome)) = self.changing[host].as_mut().zip(Outcome::of(value)) else { return };
        change.outcome = Some(outcome);
        if outcome == Outcome::Gone {
            self.change_done(now, host, None);
        }
    }

    /// The chain of a change has ended, on the context with this handle if that is there.
    fn change_done(&mut self, now: u64, host: usize, handle: Option<u64>) {
        let ended = |change: &mut Change| handle.is_none_or(|handle| handle == change.handle);
        let Some(change) = self.changing[host].take_if(ended) else { return };
        let Some(outcome) = change.outcome else { return };
        let text = self.spec.set.get(change.item).map(|set| set.text.clone()).unwrap_or_default();
        let after = handle.and_then(|handle| self.live.get(host, handle)).cloned();
        let shown = after.map(|after| {
            let mut shown = self.shown(now, host, &after, None, change.before.as_ref(), false);
            shown.only_changes(self.show.is_empty());
            shown
        });
        let what = match outcome {
            Outcome::Made => What::Set { text, by: Some(change.by) },
            Outcome::Gone => What::Refused { text, by: change.by, why: "the context is gone".into() },
            Outcome::Breaks { claim } => {
                let claim = &self.program.claims[claim];
                let (file, line) = (self.program.file_of(claim.loc).raw(), claim.loc.line);
                let why = format!("`{}` ({file}:{line}) would not hold", claim.text.raw());
                What::Refused { text, by: change.by, why }
            }
        };
        self.write(&Line { at: now, host, what, shown });
    }

    fn write(&mut self, line: &Line) {
        if self.enough() {
            return;
        }
        self.lines += 1;
        let host = self.spec.hosts.get(line.host).map_or("host", String::as_str);
        match line::write(&self.program, self.format, line, host, &mut self.out) {
            // Whoever reads has seen enough.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => self.spec.most = Some(0),
            Err(error) if self.error.is_none() => self.error = Some(unwritten(error)),
            _ => {}
        }
    }
}

/// Which of the questions.
#[derive(Clone, Copy)]
enum Which {
    Condition,
    Show(usize),
}

fn unwritten(error: io::Error) -> String {
    format!("cannot write: {error}")
}

impl<W: Write> Observer for Watch<W> {
    fn record(&mut self, now: u64, host: usize, record: &Record) {
        self.sample_until(now);
        if record.kind == live::EVENT {
            self.begins(now, host, record);
        }
        self.live.note(&self.program, now, host, record);
        match (record.kind, record.number, &record.words[..]) {
            (live::INSTR, live::NEW_CTX, [_, handle, ..]) if *handle != 0 => {
                if let Some(running) = &mut self.running[host] {
                    running.made = Some(*handle);
                }
            }
            (live::INSTR, live::NOTIFY, [_, _, value]) => self.change_answered(now, host, *value),
            (live::CONTEXT, _, [handle, ..]) => {
                self.change_done(now, host, Some(*handle));
                let ends = |r: &Running| r.before.as_ref().is_some_and(|c| c.handle == *handle);
                if self.running[host].as_ref().is_some_and(ends) {
                    self.chain_done(now, host);
                }
                self.changed(now, host, *handle);
            }
            _ => {}
        }
    }

    fn alarms(&self) -> Vec<u64> {
        self.spec.at.clone()
    }

    fn attend(&mut self, now: u64, host: usize, core: &mut dyn Core) {
        self.settled(now, host);
        self.change(now, host, core);
    }

    fn take_changes(&mut self) -> Vec<(usize, u64)> {
        let wanted = self.to_change.iter_mut().enumerate();
        wanted.flat_map(|(host, handles)| handles.drain(..).map(move |handle| (host, handle))).collect()
    }

    fn settled(&mut self, now: u64, host: usize) {
        self.chain_done(now, host);
        while self.spec.at.get(self.times_done[host]).is_some_and(|at| *at <= now) {
            self.times_done[host] += 1;
            if self.spec.list {
                self.list(now, host);
            }
            self.look(now, host, &What::Count(0), true);
        }
    }

    fn enough(&self) -> bool {
        self.error.is_some() || self.spec.most.is_some_and(|most| self.lines >= most)
    }
}

#[cfg(test)]
pub(crate) mod tests;
