// SPDX-License-Identifier: MIT OR Apache-2.0
//! The connections of an application whose streams share them: which there are, and which streams each carries.

use serde::{Deserialize, Serialize};

use super::plan::Plan;

/// A connection that streams share.
#[derive(Debug, Serialize, Deserialize)]
struct Carrier {
    /// what its plans have in common
    key: (u64, u16),
    state: State,
    /// streams that are to be opened when it is there
    waiting: Vec<usize>,
    /// streams that have not come to an end
    left: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum State {
    Unasked,
    Asked,
    /// with this handle
    There(u64),
    Refused,
}

/// The connections of one host that opens them.
#[derive(Debug, Serialize, Deserialize)]
pub struct Carriers(Vec<Carrier>);

fn key(plan: &Plan) -> (u64, u16) {
    (plan.connection, plan.port)
}

impl Carriers {
    /// Those that these streams need.
    pub fn of(plans: &[Plan]) -> Carriers {
        let mut all = Carriers(Vec::new());
        for plan in plans {
            match all.0.iter_mut().find(|c| c.key == key(plan)) {
                Some(carrier) => carrier.left += 1,
                None => {
                    let carrier =
                        Carrier { key: key(plan), state: State::Unasked, waiting: Vec::new(), left: 1 };
                    all.0.push(carrier);
                }
            }
        }
        all
    }

    /// The number of that which carries the stream.
    pub fn of_plan(&self, plan: &Plan) -> usize {
        self.0.iter().position(|c| c.key == key(plan)).unwrap_or_default()
    }

    /// A stream is to be opened: the handle of the connection; 0 if that is to be opened first; `None` if it is on its way.
    pub fn want(&mut self, carrier: usize, stream: usize) -> Option<u64> {
        let carrier = self.0.get_mut(carrier)?;
        match carrier.state {
            State::There(handle) => Some(handle),
            State::Asked | State::Refused => {
                carrier.waiting.push(stream);
                None
            }
            State::Unasked => {
                carrier.waiting.push(stream);
                carrier.state = State::Asked;
                Some(0)
            }
        }
    }

    /// The connection is there, or was refused: the streams that waited for it.
    pub fn connected(&mut self, carrier: usize, handle: Option<u64>) -> Vec<usize> {
        let Some(carrier) = self.0.get_mut(carrier) else { return Vec::new() };
        carrier.state = handle.map_or(State::Refused, State::There);
        std::mem::take(&mut carrier.waiting)
    }

    /// Whether the stream cannot be opened, as its connection was refused.
    pub fn refused(&self, plan: &Plan) -> bool {
        self.0.iter().any(|c| c.key == key(plan) && c.state == State::Refused)
    }

    /// The stream has come to an end: the handle of its connection, if it was the last one there.
    pub fn ended(&mut self, plan: &Plan) -> Option<u64> {
        let carrier = self.0.iter_mut().find(|c| c.key == key(plan))?;
        carrier.left = carrier.left.saturating_sub(1);
        match carrier.state {
            State::There(handle) if carrier.left == 0 => Some(handle),
            _ => None,
        }
    }
}
