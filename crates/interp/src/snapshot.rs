// SPDX-License-Identifier: MIT OR Apache-2.0
//! A core between two inputs as bytes: kept, compared, and gone back to.
//!
//! What the past has left and no later input can tell is not kept, so that two cores which do the same from here on are the same
//! bytes wherever that is known: counters, trace records, the order numbers of timers, what lies behind the end of a list.

use carrick_ir::Ty;
use postcard::Error;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::contexts::{Handle, SavedInstances};
use crate::core::Core;
use crate::event_queue::Pending;
use crate::instr;
use crate::layout::TIMER_CELLS;
use crate::linked::Linked;
use crate::machine::Machine;
use crate::packet_store::Passing;
use crate::queue::SavedQueue;
use crate::rand::{Pcg32, secret_key};
use crate::requests::SavedRequests;
use crate::sched::Sched;
use crate::timers::TimerRef;

/// Packets of a core that has gone back are numbered from a multiple of this on, another each time: an address in a packet that came
/// before is never taken for one in a later packet.
const PACKETS_BETWEEN: u64 = 1 << 24;

/// What a core that was kept is gone back to.
#[derive(Serialize, Deserialize)]
struct Saved {
    random: u64,
    key: [u64; 2],
    identification: u16,
    instances: Vec<SavedInstances>,
    timers: Vec<(u64, u64, u32)>,
    requests: SavedRequests,
}

/// What only some programs have: packets that wait for their moment, events that wait, packets in the network.
#[derive(Default, Serialize, Deserialize)]
struct SavedWaiting {
    queue: Option<SavedQueue>,
    sched: Option<Sched>,
    pending: Option<(Pending, u64)>,
    passing: Option<Passing>,
}

impl Core {
    /// Appends what this core is now to `to`, between two inputs. Its time is not among that, nor its configuration.
    pub fn save(&mut self, to: &mut Vec<u8>) {
        let (p, m) = (&self.linked, &mut self.machine);
        m.renumber_timers(p);
        m.tidy(p);
        let timers: Vec<(u64, u64, u32)> =
            m.timers.all().map(|(deadline, timer)| (deadline, timer.handle, timer.timer)).collect();
        let instances: Vec<SavedInstances> = m.instances.iter().map(|i| i.saved(&m.mem)).collect();
        put(to, &(m.random.parts()[0], m.key, m.identification, instances, timers, m.requests.saved()));
        let waiting = m.take_waiting(p);
        put(to, &waiting);
        m.put_waiting(p, waiting);
    }

    /// The next packet has the identification of the first (RFC 791), on which nothing depends that a core does.
    pub fn renumber_packets(&mut self) {
        self.machine.identification = 0;
    }

    /// Its random numbers and its secret key are those of another seed from here on, as after a machine has begun anew.
    pub fn reseed(&mut self, seed: u64) {
        self.machine.random = Pcg32::of_seed(seed);
        self.machine.key = secret_key(seed);
    }

    /// Goes back to what was saved of a core of the same program and configuration, at this time, which is not before that of
    /// the save. Returns what of `from` is behind it.
    ///
    /// # Errors
    /// If it was not saved so.
    pub fn restore<'f>(&mut self, from: &'f [u8], now: u64) -> Result<&'f [u8], Error> {
        let (p, m) = (&self.linked, &mut self.machine);
        let (saved, from): (Saved, _) = take(from)?;
        let (waiting, from): (SavedWaiting, _) = take(from)?;
        m.now = now;
        m.random.set_state(saved.random);
        m.key = saved.key;
        m.packet_number = (m.packet_number / PACKETS_BETWEEN + 1) * PACKETS_BETWEEN;
        for (i, instances) in saved.instances.into_iter().enumerate() {
            m.instances[i].restore(&mut m.mem, instances, p.contexts[i].global.is_some());
        }
        m.timers.clear();
        for (deadline, handle, timer) in saved.timers {
            let order = m.timers.start(deadline, TimerRef { handle, timer });
            m.set_order(p, TimerRef { handle, timer }, order);
        }
        m.requests.restore(saved.requests);
        m.put_waiting(p, waiting);
        m.counters.fill(0);
        m.failed_claims.clear();
        m.identification = saved.identification;
        Ok(from)
    }
}

fn put(to: &mut Vec<u8>, what: &impl Serialize) {
    // A vector takes all that is given; if it did not, nothing could be gone back to.
    *to = postcard::to_extend(what, std::mem::take(to)).unwrap_or_default();
}

fn take<T: DeserializeOwned>(from: &[u8]) -> Result<(T, &[u8]), Error> {
    postcard::take_from_bytes(from)
}

impl Machine {
    fn renumber_timers(&mut self, p: &Linked) {
        let mut timers = std::mem::take(&mut self.timers);
        timers.renumber(|timer, order| self.set_order(p, timer, order));
        self.timers = timers;
    }

    /// Notes in the cells of a running timer where it stands in the order of starting.
    fn set_order(&mut self, p: &Linked, timer: TimerRef, order: u64) {
        let Some((at, handle)) = self.instance(timer.handle).zip(Handle::of(timer.handle)) else { return };
        let cell = p.layout.contexts[handle.ctx].end + timer.timer * TIMER_CELLS;
        self.mem[at + cell as usize + 1] = order;
    }

    /// Takes out of contexts what nobody can ask for any more.
    fn tidy(&mut self, p: &Linked) {
        // While events wait, the packets that they are of are still there.
        let tidier = Tidier { p, forgets: self.pending.is_none() };
        for (instances, def) in self.instances.iter().zip(&p.program.contexts) {
            let fields = &p.layout.contexts[instances.ctx()].fields;
            for slot in instances.live_slots() {
                let at = instances.address(slot);
                for (field, cell) in def.fields.iter().zip(fields) {
                    tidier.tidy(&field.ty, &mut self.mem[at + *cell as usize..]);
                }
            }
        }
    }

    fn take_waiting(&mut self, p: &Linked) -> SavedWaiting {
        if self.pending.is_none() {
            self.passing.forget_current();
        }
        let scheduled = !p.program.schedule.blocks.is_empty();
        let idle = self.queue.is_idle();
        if !idle {
            self.park_entry(p);
        }
        SavedWaiting {
            queue: (!idle).then(|| self.queue.take_out()),
            sched: (scheduled || !idle).then(|| std::mem::take(&mut self.queue.sched)),
            pending: self.pending.take().map(|pending| (pending, self.packet_number)),
            passing: p.packets.is_some().then(|| std::mem::take(&mut self.passing)),
        }
    }

    fn put_waiting(&mut self, p: &Linked, waiting: SavedWaiting) {
        let idle = self.queue.is_idle();
        match waiting.queue {
            Some(queue) => {
                self.queue.put_back(queue);
                self.resume_entry(p);
            }
            None => self.queue.empty(),
        }
        match waiting.sched {
            Some(sched) => self.queue.sched = sched,
            None if !idle => {
                self.queue.sched = Sched::new(&p.program.schedule, &p.shares, p.flows as usize);
            }
            None => {}
        }
        if let Some((pending, number)) = waiting.pending {
            self.pending = Some(pending);
            self.packet_number = number;
        }
        if let Some(passing) = waiting.passing {
            self.passing = passing;
        }
    }
}

/// Makes values of the same meaning the same cells.
struct Tidier<'p> {
    p: &'p Linked,
    /// an address in a packet leads nowhere any more
    forgets: bool,
}

impl Tidier<'_> {
    /// In the cells of a value: what a list or a window has beyond its end becomes 0, and with it which packet an address is in
    /// that has gone.
    fn tidy(&self, ty: &Ty, cells: &mut [u64]) {
        let layout = &self.p.layout;
        match ty {
            Ty::Addr if self.forgets => instr::forget_packet(cells),
            Ty::List(of, n, _) => {
                let (size, most) = (layout.size(of) as usize, *n as usize);
                let len = (cells[0] as usize).min(most);
                cells[1 + len * size..1 + most * size].fill(0);
                self.tidy_each(of, len, &mut cells[1..]);
            }
            Ty::Wnd { .. } => {
                let all = layout.size(ty) as usize;
                let used = (2 + 2 * cells[1] as usize).min(all);
                cells[used..all].fill(0);
            }
            Ty::Array(of, n) => self.tidy_each(of, *n as usize, cells),
            Ty::Struct(id) => {
                let def = &self.p.program.structs[id.index()];
                for (field, cell) in def.fields.iter().zip(&layout.struct_fields(*id).fields) {
                    self.tidy(&field.ty, &mut cells[*cell as usize..]);
                }
            }
            _ => {}
        }
    }

    /// The same of so many values, one behind the other.
    fn tidy_each(&self, of: &Ty, count: usize, cells: &mut [u64]) {
        if !matches!(of, Ty::Addr | Ty::List(..) | Ty::Wnd { .. } | Ty::Array(..) | Ty::Struct(_)) {
            return;
        }
        let size = self.p.layout.size(of) as usize;
        (0..count).for_each(|i| self.tidy(of, &mut cells[i * size..]));
    }
}
