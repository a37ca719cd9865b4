// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls of a program's interface at given times, beside those of the applications.

use carrick_ir::STATUS_NAMES;

use super::topology::Node;
use crate::core::{Completion, Core, Data, Refused, Request};
use crate::status::OK;

/// A call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimedCall {
    /// in nanoseconds
    pub at: u64,
    pub host: Node,
    /// its number in the interface
    pub call: usize,
    /// the event's scalar fields, in declared order
    pub args: Vec<u64>,
    /// as it was written
    pub text: String,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallResult {
    pub text: String,
    /// its status and value; `None`: it did not complete, or was not made before the run ended
    pub done: Option<(u8, u64)>,
}

impl CallResult {
    /// The name of its status.
    pub fn status(&self) -> Option<&'static str> {
        self.done.map(|(status, _)| STATUS_NAMES.get(usize::from(status)).copied().unwrap_or("?"))
    }

    /// A sentence, if it did not succeed.
    pub fn failure(&self) -> Option<String> {
        match self.done {
            Some((OK, _)) => None,
            Some(_) => Some(format!("{}: completed with {}", self.text, self.status().unwrap_or("?"))),
            None => Some(format!("{}: did not complete before the end of the run", self.text)),
        }
    }
}

/// Tokens of these calls: no application has so many.
const TOKENS: u64 = 1 << 62;

/// All calls of a run.
#[derive(Debug, Default)]
pub struct TimedCalls {
    all: Vec<TimedCall>,
    done: Vec<Option<(u8, u64)>>,
}

impl TimedCalls {
    pub fn new(all: Vec<TimedCall>) -> TimedCalls {
        TimedCalls { done: vec![None; all.len()], all }
    }

    /// When each is made, and at which host.
    pub fn times(&self) -> Vec<(u64, u32)> {
        (0..).zip(&self.all).map(|(number, call)| (call.at, number)).collect()
    }

    pub fn host(&self, number: u32) -> usize {
        self.all[number as usize].host as usize
    }

    /// Makes a call.
    ///
    /// # Errors
    /// [`Refused::Again`].
    pub fn make(&self, number: u32, core: &mut dyn Core, now: u64) -> Result<(), Refused> {
        let call = &self.all[number as usize];
        let token = TOKENS + u64::from(number);
        core.call(call.call, Request { handle: 0, token, args: &call.args, data: Data::None }, now)
    }

    /// Notes that a request has completed, if it is one of these.
    pub fn completed(&mut self, done: &Completion) -> bool {
        let number = done.token.checked_sub(TOKENS).and_then(|number| usize::try_from(number).ok());
        let Some(result) = number.and_then(|number| self.done.get_mut(number)) else { return false };
        *result = Some((done.status, done.value));
        true
    }

    pub fn results(&self) -> Vec<CallResult> {
        let result = |(call, done): (&TimedCall, &Option<(u8, u64)>)| CallResult {
            text: call.text.clone(),
            done: *done,
        };
        self.all.iter().zip(&self.done).map(result).collect()
    }
}
