// SPDX-License-Identifier: MIT OR Apache-2.0
//! Scheduling blocks: which queue sends next.

use std::collections::{BTreeSet, VecDeque};

use carrick_ir::{LATENESS, Policy, SchedBlock, SchedInput, SchedInputs, Schedule, TOP_RATE};
use serde::{Deserialize, Serialize};

/// No moment, and no number of a packet's bits at 1 bps, is later.
const NEVER: u64 = u64::MAX;
/// Nanoseconds times bits per second that a byte takes.
const OCTET: u64 = 8_000_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Kind {
    Priority,
    Drr,
    Rate,
}

/// What comes into a block: a queue, or the packets of another block.
#[derive(Debug, Serialize, Deserialize)]
struct Input {
    /// that it is of
    block: usize,
    /// the block that comes in here
    from: Option<usize>,
    /// of a queue: the numbers of the entries that wait in it
    entries: VecDeque<usize>,
    busy: bool,
    /// the priority, or the moment from which it may send; of those with one key the least order goes first
    key: u64,
    order: u64,
    /// the quantum, or the rate
    share: u64,
    deficit: i64,
    /// what was owed then, in bits times 10^9: the rate pays it
    owed: u64,
    since: u64,
}

impl Input {
    /// From when on it may send, by its rate.
    fn due(&self) -> u64 {
        match self.owed.checked_div(self.share) {
            None => NEVER,
            Some(after) => self.since.saturating_add(after).min(NEVER - 1),
        }
    }

    fn owes_nothing_at(&mut self, now: u64) {
        (self.since, self.owed) = (now, 0);
        self.key = self.due();
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct Block {
    kind: Kind,
    /// the input that it feeds
    parent: Option<usize>,
    /// those that are busy, by key and order; of round robin, in the order of their turns
    waiting: BTreeSet<(u64, u64, usize)>,
    round: VecDeque<usize>,
    order: u64,
}

impl Block {
    fn idle(&self) -> bool {
        self.waiting.is_empty() && self.round.is_empty()
    }
}

/// All blocks of a program, the outermost first, with their queues.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Sched {
    blocks: Vec<Block>,
    inputs: Vec<Input>,
    /// by number: the input that a queue is, and whether it has one for each flow from there on
    queues: Vec<(usize, bool)>,
    /// for each queue: the input whose rate it has, and whose priority
    rates: Vec<Option<usize>>,
    priorities: Vec<Option<usize>>,
    /// those that have an input for each flow, with what its share is at first
    per_flow: Vec<(usize, u64)>,
}

impl Sched {
    /// `shares`: what the quanta and rates of each block are; `flows`: queues of a block that has one for each.
    pub(crate) fn new(schedule: &Schedule, shares: &[Vec<u64>], flows: usize) -> Sched {
        let single = [SchedBlock {
            policy: Policy::StrictPriority,
            inputs: SchedInputs::Each(vec![SchedInput::Queue(0)]),
        }];
        let blocks = if schedule.blocks.is_empty() { &single[..] } else { &schedule.blocks };
        let mut sched = Sched {
            blocks: Vec::new(),
            inputs: Vec::new(),
            queues: vec![(0, false); schedule.queues as usize],
            rates: Vec::new(),
            priorities: Vec::new(),
            per_flow: Vec::new(),
        };
        for (at, block) in blocks.iter().enumerate() {
            sched.add(block, shares.get(at).map_or(&[], |s| s), flows);
        }
        for input in 0..sched.inputs.len() {
            if let Some(child) = sched.inputs[input].from {
                sched.blocks[child].parent = Some(input);
            }
        }
        let settable = |kind| (0..schedule.queues as usize).map(|q| sched.nearest(q, kind)).collect();
        (sched.rates, sched.priorities) = (settable(Kind::Rate), settable(Kind::Priority));
        sched
    }

    fn add(&mut self, block: &SchedBlock, shares: &[u64], flows: usize) {
        let first = self.inputs.len();
        let kind = match block.policy {
            Policy::StrictPriority => Kind::Priority,
            Policy::Drr(_) => Kind::Drr,
            Policy::RateLimiter(_) => Kind::Rate,
        };
        let at = self.blocks.len();
        let initial = |i: usize| shares.get(i).copied().unwrap_or(0);
        let input = |from: Option<u32>, share: u64, priority: usize| {
            let mut input = Input {
                block: at,
                from: from.map(|n| n as usize),
                entries: VecDeque::new(),
                busy: false,
                key: priority as u64,
                order: 0,
                share,
                deficit: 0,
                owed: 0,
                since: 0,
            };
            if kind == Kind::Rate {
                input.key = input.due();
            }
            input
        };
        match &block.inputs {
            SchedInputs::PerFlow(queue) => {
                self.queues[*queue as usize] = (first, true);
                self.per_flow.push((first, initial(0)));
                self.inputs.extend((0..flows).map(|_| input(None, initial(0), 0)));
            }
            SchedInputs::Each(each) => {
                for (i, what) in each.iter().enumerate() {
                    let from = match *what {
                        SchedInput::Block(n) => Some(n),
                        SchedInput::Queue(n) => {
                            self.queues[n as usize] = (first + i, false);
                            None
                        }
                    };
                    self.inputs.push(input(from, initial(i), i));
                }
            }
        }
        let (waiting, round) = (BTreeSet::new(), VecDeque::new());
        self.blocks.push(Block { kind, parent: None, waiting, round, order: 0 });
    }

    /// Of the blocks that a queue's packets pass, the nearest of a kind: by which input they come.
    fn nearest(&self, number: usize, kind: Kind) -> Option<usize> {
        let mut input = Some(self.queues[number].0);
        while let Some(at) = input
            && self.blocks[self.inputs[at].block].kind != kind
        {
            input = self.blocks[self.inputs[at].block].parent;
        }
        input
    }

    /// The number of a queue as it is taken: the last if there are not as many.
    pub(crate) fn number(&self, given: u64) -> usize {
        given.min(self.queues.len() as u64 - 1) as usize
    }

    /// The input that is queue `number`, of a flow if it has one for each.
    pub(crate) fn queue(&self, number: usize, flow: usize) -> usize {
        let (input, per_flow) = self.queues[number];
        if per_flow { input + flow } else { input }
    }

    /// Whether something waits in a queue.
    pub(crate) fn busy(&self, queue: usize) -> bool {
        self.inputs[queue].busy
    }

    /// An entry waits behind the others of a queue.
    pub(crate) fn push(&mut self, queue: usize, entry: usize, now: u64) {
        self.inputs[queue].entries.push_back(entry);
        let mut input = Some(queue);
        while let Some(at) = input.filter(|at| !self.inputs[*at].busy) {
            let block = self.inputs[at].block;
            self.join(at, now);
            input = self.blocks[block].parent;
        }
    }

    /// Something waits at an input now.
    fn join(&mut self, at: usize, now: u64) {
        let input = &mut self.inputs[at];
        let block = &mut self.blocks[input.block];
        input.busy = true;
        match block.kind {
            Kind::Drr => {
                input.deficit = input.share as i64;
                block.round.push_back(at);
            }
            kind => {
                if kind == Kind::Rate && input.key < now {
                    input.owes_nothing_at(now);
                }
                block.order += 1;
                input.order = block.order;
                block.waiting.insert((input.key, input.order, at));
            }
        }
    }

    /// The first entry of a queue is out.
    pub(crate) fn pop(&mut self, queue: usize) {
        self.inputs[queue].entries.pop_front();
    }

    /// A packet of so many bytes was made of a queue's first entry, which may have left it.
    pub(crate) fn sent(&mut self, queue: usize, octets: u64, now: u64) {
        let mut busy = !self.inputs[queue].entries.is_empty();
        let mut input = Some(queue);
        while let Some(at) = input {
            self.pay(at, octets, busy, now);
            let block = &self.blocks[self.inputs[at].block];
            busy = !block.idle();
            input = block.parent;
        }
    }

    fn pay(&mut self, at: usize, octets: u64, busy: bool, now: u64) {
        let input = &mut self.inputs[at];
        let block = &mut self.blocks[input.block];
        input.busy = busy;
        if block.kind == Kind::Drr {
            input.deficit -= octets as i64;
            if !busy {
                block.round.pop_front();
            }
            return;
        }
        if busy && block.kind == Kind::Priority && block.waiting.len() == 1 {
            return; // nothing goes before or behind it
        }
        block.waiting.remove(&(input.key, input.order, at));
        if block.kind == Kind::Rate {
            // A share of 0 holds an input back, so that this one is none.
            let rest = input.owed % input.share.max(1);
            input.since = input.key.max(now.saturating_sub(LATENESS));
            input.owed = rest + octets * OCTET;
            input.key = input.due();
        }
        if busy {
            block.order += 1;
            input.order = block.order;
            block.waiting.insert((input.key, input.order, at));
        }
    }

    /// Whether some queue can send at this moment.
    pub(crate) fn ready(&self, now: u64) -> bool {
        self.block_ready(0, now)
    }

    fn block_ready(&self, block: usize, now: u64) -> bool {
        let block = &self.blocks[block];
        match block.kind {
            Kind::Drr => block.round.iter().any(|at| self.input_ready(*at, now)),
            _ => self.first_ready(block, now).is_some(),
        }
    }

    fn input_ready(&self, at: usize, now: u64) -> bool {
        self.inputs[at].from.is_none_or(|block| self.block_ready(block, now))
    }

    fn first_ready(&self, block: &Block, now: u64) -> Option<usize> {
        let all = block.waiting.iter();
        let may = all.take_while(|(key, ..)| block.kind == Kind::Priority || *key <= now);
        may.map(|(.., at)| *at).find(|at| self.input_ready(*at, now))
    }

    /// The queue that sends next, and its first entry; `None` if none can at this moment.
    pub(crate) fn choose(&mut self, now: u64) -> Option<(usize, usize)> {
        if !self.ready(now) {
            return None;
        }
        let mut block = 0;
        loop {
            let at = match self.blocks[block].kind {
                Kind::Drr => self.whose_turn(block, now),
                _ => self.first_ready(&self.blocks[block], now)?,
            };
            match self.inputs[at].from {
                Some(next) => block = next,
                None => return Some((at, *self.inputs[at].entries.front()?)),
            }
        }
    }

    /// Of round robin, some input of which is ready: moves the turn on to one that has something left to send.
    fn whose_turn(&mut self, block: usize, now: u64) -> usize {
        loop {
            let at = self.blocks[block].round[0];
            let ready = self.input_ready(at, now);
            let input = &mut self.inputs[at];
            if ready && input.deficit > 0 {
                return at;
            }
            if ready {
                input.deficit += input.share as i64;
            }
            self.blocks[block].round.rotate_left(1);
        }
    }

    /// The first moment at which some queue can send, [`NEVER`](u64::MAX) if none will by itself.
    pub(crate) fn wakes(&self) -> u64 {
        self.block_wakes(0)
    }

    fn block_wakes(&self, block: usize) -> u64 {
        let block = &self.blocks[block];
        let input = |at: usize| self.inputs[at].from.map_or(0, |b| self.block_wakes(b));
        let mut first = NEVER;
        for at in &block.round {
            first = first.min(input(*at));
        }
        for (key, _, at) in &block.waiting {
            match block.kind {
                Kind::Rate if *key >= first => break,
                Kind::Rate => first = first.min(input(*at).max(*key)),
                _ => first = first.min(input(*at)),
            }
        }
        first
    }

    /// Sets the rate of what holds queue `number` back, of a flow if that has a queue for each.
    pub(crate) fn set_rate(&mut self, number: usize, flow: usize, rate: u64, now: u64) {
        if let Some(at) = self.rates[number] {
            self.set_input_rate(self.of_flow(at, number, flow), rate, now);
        }
    }

    /// Sets the priority of queue `number`, of a flow if that has a queue for each.
    pub(crate) fn set_priority(&mut self, number: usize, flow: usize, priority: u64) {
        if let Some(at) = self.priorities[number] {
            self.set_input_priority(self.of_flow(at, number, flow), priority);
        }
    }

    /// The input of a flow, if it is one of those that the queue itself is.
    fn of_flow(&self, at: usize, number: usize, flow: usize) -> usize {
        let (queue, per_flow) = self.queues[number];
        if per_flow && at == queue { at + flow } else { at }
    }

    fn set_input_rate(&mut self, at: usize, rate: u64, now: u64) {
        let input = &mut self.inputs[at];
        let block = &mut self.blocks[input.block];
        if input.busy {
            block.waiting.remove(&(input.key, input.order, at));
        }
        if now < input.key {
            // What the old rate has not paid is left to the new one.
            input.owed -= (now - input.since) * input.share;
            input.since = now;
        } else {
            (input.since, input.owed) = (input.key, 0);
        }
        input.share = rate.min(TOP_RATE);
        input.key = input.due();
        if input.busy {
            block.order += 1;
            input.order = block.order;
            block.waiting.insert((input.key, input.order, at));
        }
    }

    fn set_input_priority(&mut self, at: usize, priority: u64) {
        let input = &mut self.inputs[at];
        let block = &mut self.blocks[input.block];
        if input.busy {
            block.waiting.remove(&(input.key, input.order, at));
            block.waiting.insert((priority, input.order, at));
        }
        input.key = priority;
    }

    /// A flow begins: its queues are as all were at first, but for what an earlier one left in them.
    pub(crate) fn begin_flow(&mut self, flow: usize, now: u64) {
        for i in 0..self.per_flow.len() {
            let (first, share) = self.per_flow[i];
            match self.blocks[self.inputs[first].block].kind {
                Kind::Priority => self.set_input_priority(first + flow, 0),
                Kind::Rate => self.set_input_rate(first + flow, share, now),
                Kind::Drr => {}
            }
        }
    }
}
