// SPDX-License-Identifier: MIT OR Apache-2.0
//! What instructions do.

use carrick_ir::{Opcode, Ty};

use crate::api::TraceKind;
use crate::code::*;
use crate::contexts::Handle;
use crate::counters::*;
use crate::event_queue::Raised;
use crate::layout::*;
use crate::linked::Linked;
use crate::machine::Machine;
use crate::queue::{Payload, Source};
use crate::requests::Requests;
use crate::timers::TimerRef;
use crate::units::Added;

/// The regions of addresses: none, the packet that is received, and from here on the requests.
const PACKET_REGION: u64 = 1;
const REQUEST_REGIONS: u64 = 2;

/// No timer is due later: what comes after stands for "never".
const LAST_MOMENT: u64 = u64::MAX - 1;

type Addr = [u64; ADDR_CELLS as usize];

/// The address of the bytes from `offset` of the packet with this number.
pub(crate) fn packet_addr(number: u64, offset: usize, len: usize) -> Addr {
    [PACKET_REGION, offset as u64, len as u64, number]
}

/// The address of what a request brought.
pub(crate) fn request_addr(slot: u32, len: u64, token: u64) -> Addr {
    [REQUEST_REGIONS + u64::from(slot), 0, len, token]
}

/// In the cells of an address: if it is in a packet, that has gone.
pub(crate) fn forget_packet(cells: &mut [u64]) {
    if let [PACKET_REGION, _, _, number, ..] = cells {
        *number = 0;
    }
}

/// The bytes at an address, `len` at most; none if what it refers to is gone.
pub(crate) fn octets<'a>(
    packet: &'a [u8],
    number: u64,
    requests: &'a Requests,
    addr: Addr,
    len: u64,
) -> &'a [u8] {
    let [region, offset, left, token] = addr;
    let len = len.min(left);
    match region {
        0 => &[],
        PACKET_REGION if token == number => {
            let from = (offset as usize).min(packet.len());
            &packet[from..from + (len as usize).min(packet.len() - from)]
        }
        PACKET_REGION => &[],
        region => requests.sent(region - REQUEST_REGIONS, token, offset, len),
    }
}

impl Machine {
    pub(crate) fn issue(&mut self, p: &Linked, instr: &In, fp: usize) {
        let base = |m: &Machine, ctx: &Place| m.resolve(ctx, fp).unwrap_or(0);
        let handle = |m: &Machine, ctx: &Place| m.mem[base(m, ctx)];
        match instr {
            In::NewCtx { ctx, value, id } => self.new_ctx(p, *ctx, value, id, fp),
            In::DelCtx { ctx } => self.del_ctx(handle(self, ctx)),
            In::PutData { from, len, to } => {
                let (from, to) = (self.cells(from, fp), self.cells(to, fp));
                self.put_data(from, self.eval(len, fp), to);
            }
            In::RetireCtx { ctx } => self.retire_ctx(handle(self, ctx)),
            In::RebindCtx { ctx, id } => self.rebind_ctx(p, base(self, ctx), id, fp),
            In::NewTxOrderedData { ctx, size } => {
                self.new_unit(Opcode::NewTxOrderedData, handle(self, ctx), self.eval(size, fp))
            }
            In::NewRxOrderedData { ctx, size } => {
                self.new_unit(Opcode::NewRxOrderedData, handle(self, ctx), self.eval(size, fp))
            }
            In::AddTxData { ctx, addr, len } => {
                self.add_tx(handle(self, ctx), self.cells(addr, fp), self.eval(len, fp));
            }
            In::TxFlushAndNotify { ctx, len } => self.tx_flush(handle(self, ctx), self.eval(len, fp)),
            In::AddRxDataSeg { ctx, addr, len, offset } => {
                let (len, offset) = (self.eval(len, fp), self.eval(offset, fp));
                self.add_rx(handle(self, ctx), self.cells(addr, fp), len, offset);
            }
            In::RxFlushAndNotify { ctx, len, addr } => {
                self.rx_flush(handle(self, ctx), self.eval(len, fp), self.cells(addr, fp));
            }
            In::RxResize { ctx, size } => self.rx_resize(handle(self, ctx), self.eval(size, fp)),
            In::PktGen { bp: (bp, cell), rules, queue, sent } => {
                let sent = sent.as_ref().map(|(event, place)| (*event, base(self, place)));
                let queue = queue.as_ref().map_or(0, |e| self.eval(e, fp));
                let number = self.queue.sched.number(queue);
                let queue = self.queue.sched.queue(number, self.flow(p, self.current));
                self.pkt_gen(p, (*bp, fp + *cell as usize), *rules, queue, sent);
            }
            In::TimerStart { ctx, timer, which, after } | In::TimerRestart { ctx, timer, which, after } => {
                let restart = matches!(instr, In::TimerRestart { .. });
                self.timer(p, (base(self, ctx), *timer, which.as_ref()), Some((after, restart)), fp);
            }
            In::TimerStop { ctx, timer, which } => {
                self.timer(p, (base(self, ctx), *timer, which.as_ref()), None, fp);
            }
            In::Notify { token, status, value } => {
                let value = value.as_ref().map_or(0, |v| self.eval(v, fp));
                self.notify(self.eval(token, fp), self.eval(status, fp), value);
            }
            In::SetQueueRate { queue, rate } => self.set_rate(p, self.eval(queue, fp), self.eval(rate, fp)),
            In::SetQueuePrio { queue, prio } => {
                self.set_priority(p, self.eval(queue, fp), self.eval(prio, fp));
            }
            In::Forward { interface, header } | In::PktCopy { interface, header } => {
                let copy = matches!(instr, In::PktCopy { .. });
                let header = header.map(|(bp, cell)| (bp, fp + cell as usize));
                self.forward(p, self.eval(interface, fp), header, copy);
            }
            In::Drop => self.drop_current(),
            In::PktStore { key } => self.store(p, self.eval(key, fp)),
            In::PktRelease { key, interface } => {
                self.release(self.eval(key, fp), self.eval(interface, fp));
            }
            In::PktDiscard { key } => self.discard(self.eval(key, fp)),
            In::Raise { event: (event, place) } => {
                let at = base(self, place);
                self.instr(Opcode::Raise, &[*event as u64]);
                self.raise(p, *event, at);
            }
        }
    }

    /// Deletes the instance after the chain.
    fn del_ctx(&mut self, handle: u64) {
        self.instr(Opcode::DelCtx, &[handle]);
        self.doomed.push(handle);
    }

    /// Stops the timer of the context at `at`.
    fn timer_stop(&mut self, p: &Linked, at: usize, timer: u32) {
        let handle = self.mem[at];
        self.instr(Opcode::TimerStop, &[handle, u64::from(timer)]);
        if let Some(cell) = self.timer_cell(p, at, timer) {
            self.stop_timer(cell);
        }
    }

    /// Sets the rate of a queue, in bits a second.
    fn set_rate(&mut self, p: &Linked, queue: u64, rate: u64) {
        let number = self.queue.sched.number(queue);
        self.instr(Opcode::SetQueueRate, &[number as u64, rate]);
        let flow = self.flow(p, self.current);
        self.queue.sched.set_rate(number, flow, rate, self.now);
    }

    /// Sets the priority of a queue.
    fn set_priority(&mut self, p: &Linked, queue: u64, priority: u64) {
        let number = self.queue.sched.number(queue);
        self.instr(Opcode::SetQueuePrio, &[number as u64, priority]);
        let flow = self.flow(p, self.current);
        self.queue.sched.set_priority(number, flow, priority);
    }

    pub(crate) fn instr(&mut self, op: Opcode, words: &[u64]) {
        self.record(TraceKind::Instr, op.number() as usize, |_, out| out.extend_from_slice(words));
    }

    /// Which of the queues for all flows is that of a context: the first is for what belongs to none.
    pub(crate) fn flow(&self, p: &Linked, handle: u64) -> usize {
        let Some(handle) = Handle::of(handle) else { return 0 };
        1 + p.flow_base[handle.ctx] as usize + handle.slot as usize
    }

    pub(crate) fn notify(&mut self, token: u64, status: u64, value: u64) {
        self.instr(Opcode::Notify, &[token, status, value]);
        self.complete(token, status, value, None);
    }

    fn raise(&mut self, p: &Linked, event: usize, at: usize) {
        let size = p.layout.events[event].size as usize;
        self.raised.push(Raised { event, at: self.raised_cells.len() });
        self.raised_cells.extend_from_slice(&self.mem[at..at + size]);
    }

    /// The instance is the last to go of those that `new_ctx` may delete.
    fn retire_ctx(&mut self, handle: u64) {
        self.instr(Opcode::RetireCtx, &[handle]);
        if let Some((ctx, slot)) = self.slot_of(handle) {
            self.instances[ctx].retire(slot);
        }
    }

    /// Deletes the instance of a context that was retired first, so that a new one has its slot.
    fn reclaim(&mut self, p: &Linked, ctx: usize) {
        let Some(slot) = self.instances[ctx].reclaimable() else { return };
        let handle = self.mem[self.instances[ctx].address(slot)];
        self.instr(Opcode::DelCtx, &[handle]);
        self.count(CTX_RECLAIMED);
        self.end_instance(p, handle);
    }

    fn new_ctx(&mut self, p: &Linked, ctx: usize, value: &Place, id: &Value, fp: usize) {
        let ids = p.layout.size(&Ty::Id(p.program.contexts[ctx].id)) as usize;
        let cells: [u64; MAX_PARTS] = self.cells_up_to(id, ids, fp);
        let id = &cells[..ids];
        let taken = self.instances[ctx].find(&self.mem, id).is_some();
        if !taken && !self.instances[ctx].has_free_slot() {
            self.reclaim(p, ctx);
        }
        let handle = if taken { None } else { self.instances[ctx].take() };
        let word = handle.map_or(0, Handle::word);
        self.record(TraceKind::Instr, Opcode::NewCtx.number() as usize, |_, out| {
            out.extend([ctx as u64, word]);
            out.extend_from_slice(id);
        });
        let Some(handle) = handle else {
            self.count(CTX_REFUSED);
            return;
        };
        let (at, end) = (self.instances[ctx].address(handle.slot), p.layout.contexts[ctx].end as usize);
        let from = self.resolve(value, fp).unwrap_or(0);
        self.mem.copy_within(from..from + end, at);
        self.mem[at] = word;
        let first = at + CTX_ID as usize;
        self.mem[first..first + ids].copy_from_slice(id);
        self.mem[at + end..at + p.layout.contexts[ctx].size as usize].fill(0);
        self.instances[ctx].bind(&self.mem, handle.slot);
        self.record_context(p, ctx, at);
        self.queue.sched.begin_flow(self.flow(p, word), self.now);
    }

    /// The instance at `at` is found by another id, unless another instance has that.
    fn rebind_ctx(&mut self, p: &Linked, at: usize, id: &Value, fp: usize) {
        let handle = self.mem[at];
        let Some((ctx, slot)) = self.slot_of(handle) else { return };
        let ids = p.layout.size(&Ty::Id(p.program.contexts[ctx].id)) as usize;
        let cells: [u64; MAX_PARTS] = self.cells_up_to(id, ids, fp);
        let id = &cells[..ids];
        self.record(TraceKind::Instr, Opcode::RebindCtx.number() as usize, |_, out| {
            out.push(handle);
            out.extend_from_slice(id);
        });
        if self.instances[ctx].find(&self.mem, id).is_some_and(|other| other != slot) {
            return self.count(CTX_REFUSED);
        }
        self.instances[ctx].unbind(&self.mem, slot);
        let first = at + CTX_ID as usize;
        self.mem[first..first + ids].copy_from_slice(id);
        self.instances[ctx].bind(&self.mem, slot);
    }

    /// The handle of the instance that is found by an id.
    pub(crate) fn found_by(&self, p: &Linked, ctx: usize, id: &Value, fp: usize) -> Option<u64> {
        let ids = p.layout.size(&Ty::Id(p.program.contexts[ctx].id)) as usize;
        let cells = self.cells_up_to(id, ids, fp);
        let slot = self.instances[ctx].find(&self.mem, &cells[..ids])?;
        Some(self.mem[self.instances[ctx].address(slot)])
    }

    /// The cells of an id, in front of zeros.
    fn cells_up_to(&self, id: &Value, size: usize, fp: usize) -> [u64; MAX_PARTS] {
        let mut cells = [0; MAX_PARTS];
        match id {
            Value::Copy(place, _) => {
                if let Some(at) = self.resolve(place, fp) {
                    cells[..size].copy_from_slice(&self.mem[at..at + size]);
                }
                cells
            }
            value => self.cells(value, fp),
        }
    }

    fn new_unit(&mut self, op: Opcode, handle: u64, size: u64) {
        self.instr(op, &[handle, size]);
        let Some((ctx, slot)) = self.slot_of(handle) else {
            self.count(NO_UNIT);
            return;
        };
        let unit = self.instances[ctx].peek(slot);
        let exists = if op == Opcode::NewTxOrderedData { unit.tx.exists } else { unit.rx.exists };
        if exists {
            self.count(UNITS_RESTARTED);
        }
        let instances = &mut self.instances[ctx];
        match op {
            Opcode::NewTxOrderedData => {
                let capacity = instances.tx_capacity;
                instances.slot(slot).tx.start(size, capacity);
            }
            _ => {
                instances.end_rx(slot);
                let (capacity, ranges) = (instances.rx_capacity, instances.rx_ranges);
                instances.slot(slot).rx.start(size, capacity, ranges);
            }
        }
    }

    fn slot_of(&self, handle: u64) -> Option<(usize, u32)> {
        let handle = Handle::of(handle)?;
        Some((handle.ctx, self.instances.get(handle.ctx)?.live(handle)?))
    }

    /// What the TX unit of a handle would take now; 0 without a unit.
    pub(crate) fn tx_room(&self, handle: u64) -> u64 {
        let Some((ctx, slot)) = self.slot_of(handle) else { return 0 };
        let tx = &self.instances[ctx].peek(slot).tx;
        if tx.exists { tx.room() } else { 0 }
    }

    /// How many bytes the RX unit of a handle has room for; 0 without a unit.
    pub(crate) fn rx_size(&self, handle: u64) -> u64 {
        let Some((ctx, slot)) = self.slot_of(handle) else { return 0 };
        self.instances[ctx].peek(slot).rx.room()
    }

    /// The slot of a handle that has a TX unit; without one, that is counted.
    fn tx_of(&mut self, handle: u64) -> Option<(usize, u32)> {
        let found = self.slot_of(handle).filter(|(ctx, slot)| self.instances[*ctx].slot(*slot).tx.exists);
        if found.is_none() {
            self.count(NO_UNIT);
        }
        found
    }

    fn rx_of(&mut self, handle: u64) -> Option<(usize, u32)> {
        let found = self.slot_of(handle).filter(|(ctx, slot)| self.instances[*ctx].slot(*slot).rx.exists);
        if found.is_none() {
            self.count(NO_UNIT);
        }
        found
    }

    fn add_tx(&mut self, handle: u64, addr: Addr, len: u64) {
        let mut taken = 0;
        if let Some((ctx, slot)) = self.tx_of(handle) {
            let from = octets(&self.packet, self.packet_number, &self.requests, addr, len);
            taken = self.instances[ctx].slot(slot).tx.add(from);
            if taken < len {
                self.count(TX_CUT);
            }
        }
        self.instr(Opcode::AddTxData, &[handle, taken]);
    }

    fn tx_flush(&mut self, handle: u64, len: u64) {
        let taken = match self.tx_of(handle) {
            Some((ctx, slot)) => self.instances[ctx].slot(slot).tx.flush(len),
            None => 0,
        };
        self.instr(Opcode::TxFlushAndNotify, &[handle, taken]);
    }

    fn add_rx(&mut self, handle: u64, addr: Addr, len: u64, offset: u64) {
        self.instr(Opcode::AddRxDataSeg, &[handle, len, offset]);
        let Some((ctx, slot)) = self.rx_of(handle) else { return };
        let from = octets(&self.packet, self.packet_number, &self.requests, addr, len);
        match self.instances[ctx].slot(slot).rx.add(offset, from) {
            Added::All => {}
            Added::Cut => self.count(RX_CUT),
            Added::RunsFull => self.count(RX_RUNS_FULL),
        }
    }

    fn rx_resize(&mut self, handle: u64, size: u64) {
        self.instr(Opcode::RxResize, &[handle, size]);
        if let Some((ctx, slot)) = self.rx_of(handle) {
            self.instances[ctx].resize_rx(slot, size);
        }
    }

    fn rx_flush(&mut self, handle: u64, len: u64, addr: Addr) {
        let [region, _, left, token] = addr;
        let Some((ctx, slot)) = self.rx_of(handle) else {
            self.instr(Opcode::RxFlushAndNotify, &[handle, 0]);
            return;
        };
        let len = if region == 0 { len } else { len.min(left) };
        let to_request = region >= REQUEST_REGIONS;
        let mut data = Vec::new();
        let wanted = to_request && self.requests.receives(region - REQUEST_REGIONS, token);
        let taken = self.instances[ctx].slot(slot).rx.flush(len, wanted.then_some(&mut data));
        self.instr(Opcode::RxFlushAndNotify, &[handle, taken]);
        if to_request {
            self.complete(token, 0, taken, wanted.then_some(data));
        }
    }

    /// Queues the blueprint at `at`; `sent`: the event for when it is out, and where that is.
    pub(crate) fn pkt_gen(
        &mut self,
        p: &Linked,
        (bp, at): (usize, usize),
        rules: usize,
        queue: usize,
        sent: Option<(usize, usize)>,
    ) {
        let code = &p.blueprints[bp];
        let cell = at + code.payload as usize;
        let mut payload = self.payload(cell);
        let mss = self.mem[cell + PAYLOAD_MSS as usize];
        let mut frames = self.frame_payloads(p, code, at);
        let words = match (payload, code.frames) {
            (Some(payload), _) => [payload.offset, payload.len, mss],
            (None, Some(_)) => [0, frames.iter().flatten().map(|f| f.len).sum(), frames.len() as u64],
            (None, None) => [0; 3],
        };
        self.instr(Opcode::PktGen, &[bp as u64, words[0], words[1], words[2]]);
        let sent = sent.map(|(event, from)| (event, from..from + p.layout.events[event].size as usize));
        if let Some(number) = self.coalesce(p, (bp, at), payload, rules, queue) {
            self.queue.entry(number).set_sent(&self.mem, sent);
            return;
        }
        let Some(number) = self.queue.push(queue, self.now) else {
            self.count(TX_QUEUE_FULL);
            return;
        };
        for payload in payload.iter_mut().chain(frames.iter_mut().flatten()) {
            self.payload_waits(payload);
        }
        let entry = self.queue.entry(number);
        (entry.bp, entry.rules, entry.payload, entry.mss) = (bp, rules, payload, mss);
        entry.handle = self.current;
        entry.cells.clear();
        entry.cells.extend_from_slice(&self.mem[at..at + code.size as usize]);
        entry.set_sent(&self.mem, sent);
        entry.frames.clear();
        entry.frames.extend_from_slice(&frames);
        if !p.coalescing.is_empty() {
            self.queue.note_newest(number);
        }
    }

    /// The payload whose cells lie there, cut to what its unit holds; an empty one is none.
    pub(crate) fn payload(&mut self, cell: usize) -> Option<Payload> {
        let handle = self.mem[cell + PAYLOAD_CTX as usize];
        if handle == PAYLOAD_OF_REQUEST {
            return self.memory_payload(cell);
        }
        let wanted = (self.mem[cell + PAYLOAD_OFFSET as usize], self.mem[cell + PAYLOAD_LEN as usize]);
        if handle == 0 || wanted.1 == 0 {
            return None;
        }
        let (ctx, slot) = self.tx_of(handle)?;
        let (offset, len) = self.instances[ctx].slot(slot).tx.cut(wanted.0, wanted.1);
        if len < wanted.1 {
            self.count(PAYLOAD_CUT);
        }
        (len > 0).then_some(Payload { of: Source::Unit { ctx, slot, handle }, offset, len, round: 0 })
    }

    /// The same of memory of a request, cut to what the address has.
    fn memory_payload(&mut self, cell: usize) -> Option<Payload> {
        let mut addr = Addr::default();
        let from = cell + PAYLOAD_ADDR as usize;
        addr.copy_from_slice(&self.mem[from..from + ADDR_CELLS as usize]);
        let [region, at, left, token] = addr;
        let wanted = self.mem[cell + PAYLOAD_LEN as usize];
        let slot = region.wrapping_sub(REQUEST_REGIONS);
        let there = region >= REQUEST_REGIONS && self.requests.holds(slot, token);
        let len = if there { wanted.min(left) } else { 0 };
        if len < wanted {
            self.count(PAYLOAD_CUT);
        }
        (len > 0).then_some(Payload { of: Source::Memory { slot, token, at }, offset: 0, len, round: 0 })
    }

    /// A payload is queued.
    pub(crate) fn payload_waits(&mut self, payload: &mut Payload) {
        if let Source::Unit { ctx, slot, .. } = payload.of {
            payload.round = self.instances[ctx].slot(slot).tx.queued_at(payload.offset);
        }
    }

    fn put_data(&mut self, from: Addr, len: u64, to: Addr) {
        let [region, at, left, token] = to;
        let octets = octets(&self.packet, self.packet_number, &self.requests, from, len.min(left)).to_vec();
        let put = match region.checked_sub(REQUEST_REGIONS) {
            Some(slot) => self.requests.put(slot, token, at, &octets),
            None => 0,
        };
        if put < len {
            self.count(RX_CUT);
        }
        self.instr(Opcode::PutData, &[token, put]);
    }

    /// Starts the timer that is named, or stops it.
    fn timer(
        &mut self,
        p: &Linked,
        (at, first, which): (usize, u32, Option<&Ex>),
        start: Option<(&Ex, bool)>,
        fp: usize,
    ) {
        let Some(timer) = self.chosen_timer(p, at, first, which, fp) else { return };
        match start {
            Some((after, restart)) => self.start_timer(p, at, timer, self.eval(after, fp), restart),
            None => self.timer_stop(p, at, timer),
        }
    }

    /// The timer of the instance at `at` that an instruction names; nothing behind the last of several.
    fn chosen_timer(&self, p: &Linked, at: usize, first: u32, which: Option<&Ex>, fp: usize) -> Option<u32> {
        let Some(which) = which else { return Some(first) };
        let context = Handle::of(self.mem[at])?.ctx;
        let count = p.program.contexts[context].timers.get(first as usize)?.count();
        let which = u32::try_from(self.eval(which, fp)).ok()?;
        (which < count).then_some(first + which)
    }

    /// Where the cells of a timer of the instance at `at` lie, if that is one.
    fn timer_cell(&self, p: &Linked, at: usize, timer: u32) -> Option<usize> {
        let handle = Handle::of(self.mem[at])?;
        let layout = p.layout.contexts.get(handle.ctx)?;
        Some(at + (layout.end + timer * TIMER_CELLS) as usize)
    }

    fn start_timer(&mut self, p: &Linked, at: usize, timer: u32, after: u64, restart: bool) {
        let op = if restart { Opcode::TimerRestart } else { Opcode::TimerStart };
        let handle = self.mem[at];
        self.instr(op, &[handle, u64::from(timer), after]);
        let Some(cell) = self.timer_cell(p, at, timer) else { return };
        if self.mem[cell + 1] != 0 && !restart {
            return;
        }
        self.stop_timer(cell);
        let deadline = self.now.saturating_add((after as i64).max(1) as u64).min(LAST_MOMENT);
        self.mem[cell] = deadline;
        self.mem[cell + 1] = self.timers.start(deadline, TimerRef { handle, timer });
    }
}
