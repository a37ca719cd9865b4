// SPDX-License-Identifier: MIT OR Apache-2.0
//! Handling events that wait.

use crate::api::Refused;
use crate::counters::{IP_LENGTH, RX_PACKETS};
use crate::event_queue::{Raised, TIMERS};
use crate::linked::Linked;
use crate::machine::Machine;

impl Machine {
    /// Whether so many events find room, and with them the packet that they are of.
    pub(crate) fn may_wait(&self, events: u32, packet: bool) -> Option<bool> {
        let pending = self.pending.as_ref()?;
        Some(pending.free.len() >= events as usize && !(packet && pending.free_held.is_empty()))
    }

    /// A packet's beginning: one that is too long to wait is refused.
    pub(crate) fn count_packet(&mut self, p: &Linked, octets: usize) -> Result<(), usize> {
        if self.pending.is_some() && octets > p.mtu as usize {
            return Err(IP_LENGTH);
        }
        self.count(RX_PACKETS);
        Ok(())
    }

    /// The events that the parser raised wait, with their packet.
    pub(crate) fn raised_wait(&mut self, p: &Linked) {
        let Some(number) = self.pending.as_mut().and_then(|pending| pending.free_held.pop()) else { return };
        let raised = std::mem::take(&mut self.raised);
        for Raised { event, at } in &raised {
            let size = p.layout.events[*event].size as usize;
            let stack = p.map.stack as usize;
            self.mem[stack..stack + size].copy_from_slice(&self.raised_cells[*at..*at + size]);
            self.wait(p, *event, None, Some(number));
        }
        if let Some(pending) = &mut self.pending {
            let held = &mut pending.held[number];
            (held.number, held.users) = (self.packet_number, raised.len());
            std::mem::swap(&mut held.octets, &mut self.packet);
        }
        // What is in its place now is no packet that something refers to.
        self.packet_number += 1;
        self.raised = raised;
        self.raised.clear();
        self.raised_cells.clear();
    }

    /// The event at the stack's beginning waits.
    pub(crate) fn wait(&mut self, p: &Linked, event: usize, on: Option<u64>, held: Option<usize>) {
        let found = match on {
            Some(handle) => self.event_instance(p, event, handle),
            None => self.chain_context(p, event).and_then(|ctx| self.by_id(p, event, ctx)),
        };
        let flow = self.flow(p, found.map_or(0, |at| self.mem[at]));
        let Some(pending) = &mut self.pending else { return };
        let Some((queue, number)) = pending.queues[event].zip(pending.free.pop()) else { return };
        let (stack, size) = (p.map.stack as usize, p.layout.events[event].size as usize);
        let entry = &mut pending.entries[number];
        (entry.event, entry.on, entry.held) = (event, on, held);
        entry.cells.clear();
        entry.cells.extend_from_slice(&self.mem[stack..stack + size]);
        let queue = pending.sched.queue(queue, flow);
        pending.sched.push(queue, number, 0);
    }

    /// Handles the events that wait, and the timers that are due.
    ///
    /// # Errors
    /// [`Refused::Again`] if the blueprint queue is full before all are handled.
    pub(crate) fn handle_waiting(&mut self, p: &Linked) -> Result<(), Refused> {
        while self.pending.is_some() {
            let due = self.timers.first().is_some_and(|(deadline, _)| deadline <= self.now);
            let Some(next) = self.next_waiting(due) else { break };
            if self.queue.free() < p.max_blueprints && self.queue.sched.ready(self.now) {
                return Err(Refused::Again);
            }
            match next {
                (queue, TIMERS) => self.handle_timer(p, queue),
                (queue, number) => self.handle_event(p, queue, number),
            }
        }
        Ok(())
    }

    /// The queue that is next, if there are several, and its first event, or [`TIMERS`].
    fn next_waiting(&mut self, due: bool) -> Option<(Option<usize>, usize)> {
        let pending = self.pending.as_mut()?;
        let Some(timers) = pending.timers.map(|number| pending.sched.queue(number, 0)) else {
            if due {
                return Some((None, TIMERS));
            }
            return pending.sched.choose(0).map(|(queue, number)| (Some(queue), number));
        };
        if due && !pending.sched.busy(timers) {
            pending.sched.push(timers, TIMERS, 0);
        }
        pending.sched.choose(0).map(|(queue, number)| (Some(queue), number))
    }

    /// The first timer that is due, if one still is.
    fn handle_timer(&mut self, p: &Linked, queue: Option<usize>) {
        let due = self.take_due(p);
        let more = self.timers.first().is_some_and(|(deadline, _)| deadline <= self.now);
        if let Some((pending, queue)) = self.pending.as_mut().zip(queue) {
            if !more {
                pending.sched.pop(queue);
            }
            pending.sched.sent(queue, u64::from(due.is_some()), 0);
        }
        if let Some(due) = due {
            self.run_timer(p, due);
        }
    }

    fn handle_event(&mut self, p: &Linked, queue: Option<usize>, number: usize) {
        let Some((pending, queue)) = self.pending.as_mut().zip(queue) else { return };
        pending.sched.pop(queue);
        pending.sched.sent(queue, 1, 0);
        pending.free.push(number);
        let entry = &pending.entries[number];
        let (event, on, held) = (entry.event, entry.on, entry.held);
        let stack = p.map.stack as usize;
        self.mem[stack..stack + entry.cells.len()].copy_from_slice(&entry.cells);
        let last = self.packet_number;
        self.swap_packet(held, last);
        match on {
            Some(handle) => self.event_on(p, event, handle),
            None => self.event_by_id(p, event),
        }
        self.swap_packet(held, last);
        self.packet_number = last;
        if let Some((pending, number)) = self.pending.as_mut().zip(held) {
            pending.held[number].users -= 1;
            if pending.held[number].users == 0 {
                pending.free_held.push(number);
            }
        }
    }

    /// Puts a packet that is held in the place of the one that was received last, or back.
    fn swap_packet(&mut self, held: Option<usize>, last: u64) {
        if let Some((pending, number)) = self.pending.as_mut().zip(held) {
            let held = &mut pending.held[number];
            std::mem::swap(&mut held.octets, &mut self.packet);
            self.packet_number = held.number;
        } else {
            self.packet_number = last;
        }
    }
}
