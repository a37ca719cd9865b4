// SPDX-License-Identifier: MIT OR Apache-2.0
//! The contexts that live, as the trace tells of them: the same for the interpreter and a compiled core.

use std::collections::BTreeMap;

use carrick_ir::Program;

use crate::core::Record;

/// Kinds of trace records.
pub const EVENT: u32 = 0;
pub const INSTR: u32 = 1;
pub const CONTEXT: u32 = 2;

/// Numbers of instructions.
pub const NEW_CTX: u32 = 0;
const DEL_CTX: u32 = 1;
const TIMER_START: u32 = 9;
const TIMER_RESTART: u32 = 10;
const TIMER_STOP: u32 = 11;
pub const NOTIFY: u32 = 12;
const REBIND_CTX: u32 = 14;

/// No timer is due later.
const LAST_MOMENT: u64 = u64::MAX - 1;

/// An instance of a context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Context {
    /// its type
    pub ctx: usize,
    pub handle: u64,
    /// the parts of its id
    pub id: Vec<u64>,
    /// its fields, and the deadlines of its timers
    pub words: Vec<u64>,
}

/// Those that live, by host and handle.
#[derive(Debug, Default)]
pub struct Live(BTreeMap<(usize, u64), Context>);

impl Live {
    /// Takes note of what a record tells, at this time.
    pub fn note(&mut self, program: &Program, now: u64, host: usize, record: &Record) {
        match (record.kind, &record.words[..]) {
            (CONTEXT, [handle, words @ ..]) => self.state(host, record.number as usize, *handle, words),
            (INSTR, [ctx, handle, id @ ..]) if record.number == NEW_CTX && *handle != 0 => {
                let made =
                    Context { ctx: *ctx as usize, handle: *handle, id: id.to_vec(), words: Vec::new() };
                self.0.insert((host, *handle), made);
            }
            (INSTR, [handle]) if record.number == DEL_CTX => {
                self.0.remove(&(host, *handle));
            }
            (INSTR, [handle, id @ ..]) if record.number == REBIND_CTX => self.rebind(host, *handle, id),
            (INSTR, [handle, timer, rest @ ..]) if (TIMER_START..=TIMER_STOP).contains(&record.number) => {
                self.timer(program, host, (*handle, *timer as usize), record.number, now, rest);
            }
            _ => {}
        }
    }

    /// An instance of a context has this state.
    pub fn state(&mut self, host: usize, ctx: usize, handle: u64, words: &[u64]) {
        let context = self.0.entry((host, handle));
        let context = context.or_insert(Context { ctx, handle, id: Vec::new(), words: Vec::new() });
        words.clone_into(&mut context.words);
    }

    /// Refused if another instance has the id.
    fn rebind(&mut self, host: usize, handle: u64, id: &[u64]) {
        let Some(ctx) = self.0.get(&(host, handle)).map(|c| c.ctx) else { return };
        let taken = self.of_host(host).any(|c| c.ctx == ctx && c.handle != handle && c.id == id);
        if let (false, Some(context)) = (taken, self.0.get_mut(&(host, handle))) {
            id.clone_into(&mut context.id);
        }
    }

    /// Timers of a context on which no chain runs are only told of here.
    fn timer(
        &mut self,
        program: &Program,
        host: usize,
        (handle, timer): (u64, usize),
        instr: u32,
        now: u64,
        after: &[u64],
    ) {
        let Some(context) = self.0.get_mut(&(host, handle)) else { return };
        let timers = program.contexts[context.ctx].timers.len();
        let Some(first) = context.words.len().checked_sub(timers) else { return };
        let place = first.checked_add(timer);
        let Some(deadline) = place.and_then(|at| context.words.get_mut(at)) else { return };
        let after = after.first().map_or(1, |d| (*d as i64).max(1) as u64);
        match instr {
            TIMER_START if *deadline == 0 => *deadline = now.saturating_add(after).min(LAST_MOMENT),
            TIMER_RESTART => *deadline = now.saturating_add(after).min(LAST_MOMENT),
            TIMER_STOP => *deadline = 0,
            _ => {}
        }
    }

    /// Whether no instance lives.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The instance with a handle.
    pub fn get(&self, host: usize, handle: u64) -> Option<&Context> {
        self.0.get(&(host, handle))
    }

    /// All of a host, in the order of their handles.
    pub fn of_host(&self, host: usize) -> impl Iterator<Item = &Context> {
        self.0.range((host, 0)..=(host, u64::MAX)).map(|(_, context)| context)
    }
}

#[cfg(test)]
mod tests {
    use carrick_ir::Loc;

    use super::*;

    #[test]
    fn an_instance_lives_from_its_making_to_its_end() {
        let mut live = Live::default();
        let mut note = |number, words: &[u64]| {
            let program = crate::watch::tests::program();
            live.note(
                &program,
                5,
                0,
                &Record { kind: INSTR, number, words: words.to_vec(), at: Loc::default() },
            );
            live.of_host(0).map(|c| (c.handle, c.id.clone())).collect::<Vec<_>>()
        };
        assert_eq!(note(NEW_CTX, &[0, 0, 7]), [], "refused");
        assert_eq!(note(NEW_CTX, &[0, 9, 7]), [(9, vec![7])]);
        note(NEW_CTX, &[0, 10, 8]);
        assert_eq!(note(REBIND_CTX, &[9, 8]), [(9, vec![7]), (10, vec![8])], "another has that id");
        assert_eq!(note(REBIND_CTX, &[9, 6])[0], (9, vec![6]));
        assert_eq!(note(DEL_CTX, &[9]), [(10, vec![8])]);
    }

    #[test]
    fn timers_are_followed() {
        let program = crate::watch::tests::program();
        let mut live = Live::default();
        live.state(1, 0, 9, &[70, 0]);
        let mut deadline = |now, number, words: &[u64]| {
            live.note(
                &program,
                now,
                1,
                &Record { kind: INSTR, number, words: words.to_vec(), at: Loc::default() },
            );
            live.get(1, 9).unwrap().words[1]
        };
        assert_eq!(deadline(5, TIMER_START, &[9, 0, 10]), 15);
        assert_eq!(deadline(6, TIMER_START, &[9, 0, 10]), 15, "it runs already");
        assert_eq!(deadline(6, TIMER_RESTART, &[9, 0, 0]), 7, "never at once");
        assert_eq!(deadline(6, TIMER_STOP, &[9, 0]), 0);
    }
}
