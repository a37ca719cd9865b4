// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rates that users of a program may send at. No program says anything of them: they are blocks around its own schedule.

use crate::{
    Expr, ExprKind, Loc, MOST_BLOCKS, MOST_INPUTS, Policy, SchedBlock, SchedInput, SchedInputs, Schedule, Ty,
};

/// Bytes that users with a rate, and users without one, may send in each round where both have packets.
const TURN: u64 = 3000;
/// Of the time in which a user sends less than the rate allows, so much counts for what is sent later, in nanoseconds.
pub const CREDIT: u64 = 10_000_000;

/// What somebody may send, in bits of packets per second; `None`: as much as goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Limit {
    /// all connections together
    pub rate: Option<u64>,
    /// each of the connections
    pub flow_rate: Option<u64>,
}

/// What everybody may send.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Limits {
    /// the program as a whole
    pub rate: Option<u64>,
    /// each owner of instances; the first is for all that belongs to none of the others
    pub owners: Vec<Limit>,
    /// whether the program has connections that can be told apart
    pub flows: bool,
}

impl Limits {
    /// Whether anybody is held back.
    pub fn any(&self) -> bool {
        self.rate.is_some() || self.owners.iter().any(|o| o.rate.is_some() || o.flow_rate.is_some())
    }
}

fn number(value: u64, ty: Ty) -> Expr {
    Expr { kind: ExprKind::Lit(value), ty, loc: Loc::default() }
}

impl Schedule {
    /// The schedule with limits around it: each owner has queues of its own, as the program has them, one behind the other.
    ///
    /// # Errors
    /// Why these limits are none that this schedule can have.
    pub fn limited(&self, limits: &Limits) -> Result<Schedule, String> {
        let owners = limits.owners.len().max(1);
        if !limits.any() {
            return Ok(self.clone());
        }
        if !limits.flows && limits.owners.iter().any(|o| o.flow_rate.is_some()) {
            return Err(
                "the program has no connections that could have a rate each; limit users, or the program"
                    .into(),
            );
        }
        if !self.blocks.is_empty() && limits.owners.iter().any(|o| o.flow_rate.is_some()) {
            return Err(
                "the program orders the packets of its connections itself, so these can have no rate each; limit users, or the program"
                    .into(),
            );
        }
        let mut all = Schedule { queues: 0, owners: owners as u32, ..Schedule::fifo() };
        let root = limits.rate.map(|rate| all.hold(&[rate]));
        let has_rate = |owner: &usize| limits.owners.get(*owner).is_some_and(|o| o.rate.is_some());
        let (held, free): (Vec<usize>, Vec<usize>) = (0..owners).partition(has_rate);
        let turns = free.len() + usize::from(!held.is_empty());
        let turn = number(TURN, Ty::Bytes);
        let round = (turns > 1).then(|| all.open(Policy::Drr(vec![turn; turns])));
        let rates: Vec<u64> = held.iter().filter_map(|owner| limits.owners[*owner].rate).collect();
        let limiter = (!held.is_empty()).then(|| all.hold(&rates));
        let mut outer: Vec<SchedInput> = free.iter().map(|owner| all.copy_of(self, *owner, limits)).collect();
        if let Some(limiter) = limiter {
            let inputs = held.iter().map(|owner| all.copy_of(self, *owner, limits)).collect();
            all.blocks[limiter].inputs = SchedInputs::Each(inputs);
            outer.push(SchedInput::Block(limiter as u32));
        }
        if let Some(round) = round {
            all.blocks[round].inputs = SchedInputs::Each(outer);
            outer = vec![SchedInput::Block(round as u32)];
        }
        if let Some(root) = root {
            all.blocks[root].inputs = SchedInputs::Each(outer);
        }
        all.queues = self.queues * owners as u32;
        if all.blocks.len() > MOST_BLOCKS || turns.max(held.len()) > MOST_INPUTS {
            return Err(format!(
                "{} users with rates are too many for one program; give some of them none, or another program",
                owners - 1
            ));
        }
        Ok(all)
    }

    /// A block whose inputs are not there yet, and come behind it.
    fn open(&mut self, policy: Policy) -> usize {
        self.blocks.push(SchedBlock { policy, inputs: SchedInputs::Each(Vec::new()) });
        self.blocks.len() - 1
    }

    /// The same, of rates of users.
    fn hold(&mut self, rates: &[u64]) -> usize {
        let rates = rates.iter().map(|rate| number(*rate, Ty::Rate)).collect();
        self.held.push(self.blocks.len() as u32);
        self.open(Policy::RateLimiter(rates))
    }

    /// An owner's queues, as `own` has them.
    fn copy_of(&mut self, own: &Schedule, owner: usize, limits: &Limits) -> SchedInput {
        let (queues, blocks) = (own.queues * owner as u32, self.blocks.len() as u32);
        let limit = limits.owners.get(owner).copied().unwrap_or_default();
        if let Some(rate) = limit.flow_rate {
            let limiter = self.hold(&[rate]);
            self.blocks[limiter].inputs = SchedInputs::PerFlow(queues);
            return SchedInput::Block(blocks);
        }
        // What is held back waits long: not behind all that other connections send.
        if own.blocks.is_empty() && limits.flows && (limit.rate.is_some() || limits.rate.is_some()) {
            let round = self.open(Policy::Drr(vec![number(TURN, Ty::Bytes)]));
            self.blocks[round].inputs = SchedInputs::PerFlow(queues);
            return SchedInput::Block(blocks);
        }
        if own.blocks.is_empty() {
            return SchedInput::Queue(queues);
        }
        let moved = |input: &SchedInput| match input {
            SchedInput::Queue(n) => SchedInput::Queue(n + queues),
            SchedInput::Block(n) => SchedInput::Block(n + blocks),
        };
        self.blocks.extend(own.blocks.iter().map(|block| SchedBlock {
            policy: block.policy.clone(),
            inputs: match &block.inputs {
                SchedInputs::Each(inputs) => SchedInputs::Each(inputs.iter().map(moved).collect()),
                SchedInputs::PerFlow(n) => SchedInputs::PerFlow(n + queues),
            },
        }));
        SchedInput::Block(blocks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(rate: Option<u64>, owners: &[(Option<u64>, Option<u64>)]) -> Limits {
        let owners = owners.iter().map(|(rate, flow_rate)| Limit { rate: *rate, flow_rate: *flow_rate });
        Limits { rate, owners: owners.collect(), flows: true }
    }

    /// Policies and inputs, the outermost first.
    fn shape(schedule: &Schedule) -> Vec<(&'static str, SchedInputs)> {
        schedule.blocks.iter().map(|b| (b.policy.name(), b.inputs.clone())).collect()
    }

    #[test]
    fn nobody_is_held_back_without_rates() {
        let fifo = Schedule::fifo();
        assert_eq!(fifo.limited(&limits(None, &[(None, None)])), Ok(fifo.clone()));
    }

    #[test]
    fn users_with_rates_take_turns_with_those_who_have_none() {
        use SchedInput::{Block, Queue};
        let fifo = Schedule::fifo();
        let limited = limits(Some(9), &[(None, None), (Some(5), None), (Some(6), Some(2))]);
        let limited = fifo.limited(&limited).expect("it fits");
        assert_eq!((limited.queues, limited.owners, limited.own_queues()), (3, 3, 1));
        assert_eq!(
            shape(&limited),
            [
                ("rate_limiter", SchedInputs::Each(vec![Block(1)])),
                ("drr", SchedInputs::Each(vec![Block(3), Block(2)])),
                ("rate_limiter", SchedInputs::Each(vec![Block(4), Block(5)])),
                ("drr", SchedInputs::PerFlow(0)),
                ("drr", SchedInputs::PerFlow(1)),
                ("rate_limiter", SchedInputs::PerFlow(2)),
            ]
        );
        let each = limits(None, &[(None, Some(3))]);
        assert_eq!(shape(&fifo.limited(&each).expect("it fits")).len(), 1);
        assert!(fifo.limited(&Limits { flows: false, ..each }).is_err());
        let users = fifo.limited(&limits(None, &[(None, None), (Some(5), None)])).expect("it fits");
        assert_eq!(shape(&users)[0], ("drr", SchedInputs::Each(vec![Queue(0), Block(1)])));
    }

    #[test]
    fn each_user_has_the_queues_of_the_program() {
        let blocks = vec![
            SchedBlock {
                policy: Policy::StrictPriority,
                inputs: SchedInputs::Each(vec![SchedInput::Queue(0), SchedInput::Block(1)]),
            },
            SchedBlock { policy: Policy::StrictPriority, inputs: SchedInputs::PerFlow(1) },
        ];
        let own = Schedule { queues: 2, blocks, ..Schedule::fifo() };
        let limited = own.limited(&limits(None, &[(None, None), (Some(5), None)])).expect("it fits");
        assert_eq!((limited.queues, limited.own_queues(), limited.blocks.len()), (4, 2, 6));
        for queue in 0..limited.queues {
            assert!(limited.place(queue).is_some(), "{queue}");
        }
        for block in 1..limited.blocks.len() {
            assert!(limited.parent(block).is_some_and(|(parent, _)| parent < block), "{block}");
        }
        assert!(own.limited(&limits(None, &[(None, Some(3))])).is_err());
    }

    #[test]
    fn too_many_users_are_told_so() {
        let many = vec![(Some(1), Some(1)); MOST_BLOCKS + 1];
        assert!(Schedule::fifo().limited(&limits(None, &many)).is_err());
    }
}
