// SPDX-License-Identifier: MIT OR Apache-2.0
//! The stream in which a native stack tells what it does (targets/native/include/carrick/records.h), for observers.

use std::io::{self, Read};

use carrick_interp::Config;
use carrick_ir::{Loc, Program};

use crate::core::{Completion, Record};
use crate::observe::Observer;

/// Kinds beside those of trace records.
const OPENED: u32 = 256;
const SENT: u32 = 257;
const ARRIVED: u32 = 258;
const COMPLETED: u32 = 259;

/// Bytes of a record's head.
const HEAD: usize = 24;
/// Words of the longest record, and more: whatever says more is no such stream.
const MOST_WORDS: u32 = 65_536;
/// What a stack says first: source hash, the two halves of its address, MTU, seed.
const OPENING: usize = 5;

/// Where records come from.
pub trait Source: Read {
    /// Waits for records until so many nanoseconds after the stack was opened: whether there are some, or no more will come.
    ///
    /// # Errors
    /// That nobody can wait.
    fn wait_until(&mut self, _at: u64) -> io::Result<bool> {
        Ok(true)
    }
}

impl<R: Read> Source for io::BufReader<R> {}

impl Source for &[u8] {}

/// Something that was told.
struct Told {
    now: u64,
    host: usize,
    kind: u32,
    number: u32,
    words: Vec<u64>,
}

/// The stream of one process, which runs a stack or two.
pub struct Records<R> {
    from: R,
    /// what was read behind the stacks' openings
    ahead: Option<Told>,
    /// of each host, as it was opened
    pub configs: Vec<Config>,
    packets: u64,
    last: u64,
}

impl<R: Source> Records<R> {
    /// Reads how the stacks were opened; waits until they are.
    ///
    /// # Errors
    /// If what comes is no such stream, or that of another program.
    pub fn open(from: R, program: &Program) -> Result<Self, String> {
        let mut records = Records { from, ahead: None, configs: Vec::new(), packets: 0, last: 0 };
        while let Some(told) = records.next()? {
            if told.kind != OPENED {
                records.ahead = Some(told);
                break;
            }
            let (head, params) = told.words.split_at_checked(OPENING).ok_or_else(no_stream)?;
            if head[0] != program.source_hash || params.len() != program.params.len() {
                return Err("the records are of another program, or of another version of it".into());
            }
            records.configs.push(Config {
                address: u128::from(head[1]) << 64 | u128::from(head[2]),
                mtu: head[3] as u32,
                seed: head[4],
                params: params.to_vec(),
                instances: 0,
                ..Config::default()
            });
        }
        Ok(records)
    }

    /// Tells the observer everything, until the stream ends or it has seen enough. Returns the last moment, in
    /// nanoseconds since the stack was opened.
    ///
    /// # Errors
    /// If what comes is no such stream.
    pub fn tell(&mut self, observer: &mut dyn Observer) -> Result<u64, String> {
        self.tell_and_change(observer, &mut |_| Ok(()))
    }

    /// As [`Records::tell`]; `change` is given the contexts that the observer wants to be changed, after each record.
    ///
    /// # Errors
    /// Also those of `change`.
    pub fn tell_and_change(
        &mut self,
        observer: &mut dyn Observer,
        change: &mut dyn FnMut(Vec<(usize, u64)>) -> Result<(), String>,
    ) -> Result<u64, String> {
        let mut alarms = observer.alarms().into_iter().peekable();
        let hosts = 0..self.configs.len();
        let settle = |at, observer: &mut dyn Observer| {
            hosts.clone().for_each(|host| observer.settled(at, host));
            observer.take_changes()
        };
        loop {
            // Who is silent is looked at all the same.
            while let Some(at) = alarms.peek().copied()
                && self.ahead.is_none()
                && !self.from.wait_until(at).map_err(unread)?
            {
                alarms.next();
                self.last = self.last.max(at);
                change(settle(at, observer))?;
            }
            let Some(told) = self.next()? else { break };
            while let Some(at) = alarms.next_if(|at| *at < told.now) {
                change(settle(at, observer))?;
            }
            self.say(told, observer)?;
            change(observer.take_changes())?;
            if observer.enough() {
                break;
            }
        }
        for at in alarms.take_while(|at| *at <= self.last) {
            change(settle(at, observer))?;
        }
        Ok(self.last)
    }

    fn say(&mut self, told: Told, observer: &mut dyn Observer) -> Result<(), String> {
        let Told { now, host, kind, number, words } = told;
        match (kind, &words[..]) {
            (SENT | ARRIVED, _) => {
                let mut packet: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
                packet.truncate(number as usize);
                self.packets += 1;
                observer.settled(now, host);
                match kind {
                    SENT => observer.sent(now, host, self.packets, &packet),
                    _ => observer.arrived(now, host, self.packets, &packet),
                }
            }
            (COMPLETED, [token, value]) => {
                // Of a core elsewhere it may come while the trace of its chain does: nothing has settled.
                let done = Completion { token: *token, status: number as u8, value: *value, data: None };
                observer.completed(now, host, &done);
            }
            (OPENED.., _) => return Err(no_stream()),
            _ => observer.record(now, host, &Record { kind, number, words, at: Loc::default() }),
        }
        Ok(())
    }

    /// The next one. `None` at the end, also where a stack that died has left half of one.
    fn next(&mut self) -> Result<Option<Told>, String> {
        if let Some(told) = self.ahead.take() {
            return Ok(Some(told));
        }
        let mut head = [0; HEAD];
        if !self.fill(&mut head)? {
            return Ok(None);
        }
        let number = |at: usize| u32::from_ne_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let [host, kind, of_kind, count] = [8, 12, 16, 20].map(number);
        let now = u64::from_ne_bytes(std::array::from_fn(|i| head[i]));
        if count > MOST_WORDS || host > 1 || kind != OPENED && host as usize >= self.configs.len() {
            return Err(no_stream());
        }
        let mut octets = vec![0; count as usize * 8];
        if !self.fill(&mut octets)? {
            return Ok(None);
        }
        let words = octets.chunks_exact(8).map(|word| u64::from_ne_bytes(std::array::from_fn(|i| word[i])));
        // Two stacks of a process are not opened in the same moment.
        self.last = self.last.max(now);
        Ok(Some(Told { now: self.last, host: host as usize, kind, number: of_kind, words: words.collect() }))
    }

    fn fill(&mut self, to: &mut [u8]) -> Result<bool, String> {
        match self.from.read_exact(to) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
            Err(error) => Err(unread(error)),
        }
    }
}

fn unread(error: io::Error) -> String {
    format!("cannot read the records of the stack: {error}")
}

fn no_stream() -> String {
    "unknown record of the stack: build it with this version of carrick".into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::tests::program;

    /// Records, and silence behind the first so many bytes of them.
    struct Silent<'a> {
        records: &'a [u8],
        until: usize,
    }

    impl Read for Silent<'_> {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            self.records.read(to)
        }
    }

    impl Source for Silent<'_> {
        fn wait_until(&mut self, _at: u64) -> io::Result<bool> {
            Ok(self.records.len() > self.until || self.records.is_empty())
        }
    }

    /// Wants a change at each of two times.
    #[derive(Default)]
    struct Wants(Vec<u64>, Vec<(usize, u64)>);

    impl Observer for Wants {
        fn alarms(&self) -> Vec<u64> {
            vec![5, 9]
        }

        fn settled(&mut self, now: u64, host: usize) {
            self.0.push(now);
            self.1.push((host, 7));
        }

        fn take_changes(&mut self) -> Vec<(usize, u64)> {
            std::mem::take(&mut self.1)
        }
    }

    #[test]
    fn a_silent_stack_is_changed_at_its_time() {
        let program = program();
        let words = OPENING as u32 + program.params.len() as u32;
        let mut records = 0_u64.to_ne_bytes().to_vec();
        records.extend([0, OPENED, 0, words].iter().flat_map(|word| word.to_ne_bytes()));
        records.extend([program.source_hash, 0, 0, 1500, 0].iter().flat_map(|word| word.to_ne_bytes()));
        records.extend(program.params.iter().flat_map(|param| param.default.to_ne_bytes()));
        let mut event = 20_u64.to_ne_bytes().to_vec();
        event.extend([0, 0, 0, 1].iter().flat_map(|word: &u32| word.to_ne_bytes()));
        event.extend(0_u64.to_ne_bytes());
        // The stack is silent before its second event.
        let until = event.len();
        records.extend(event.iter().chain(&event));
        let mut records = Records::open(Silent { records: &records, until }, &program).expect("records");
        let (mut wants, mut asked) = (Wants::default(), Vec::new());
        let ended = records.tell_and_change(&mut wants, &mut |contexts| {
            asked.extend(contexts);
            Ok(())
        });
        assert_eq!((ended, &wants.0[..], &asked[..]), (Ok(20), &[5, 9][..], &[(0, 7), (0, 7)][..]));
    }
}
