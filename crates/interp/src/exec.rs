// SPDX-License-Identifier: MIT OR Apache-2.0
//! What statements do.

use carrick_ir::{Loc, arith};

use crate::code::*;
use crate::counters::NO_UNIT;
use crate::layout::{
    ADDR_CELLS, PAYLOAD_ADDR, PAYLOAD_CTX, PAYLOAD_LEN, PAYLOAD_MSS, PAYLOAD_OF_REQUEST, PAYLOAD_OFFSET,
};
use crate::linked::Linked;
use crate::machine::Machine;
use crate::wnd;

/// How a statement ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    Next,
    Break,
    Continue,
    Return,
    Stop,
}

impl Machine {
    /// Runs a function whose parameters are in its frame at `fp`. True if it stopped.
    pub(crate) fn run(&mut self, p: &Linked, func: usize, fp: usize) -> bool {
        self.run_func(p, &p.funcs[func], fp)
    }

    pub(crate) fn run_func(&mut self, p: &Linked, func: &Func, fp: usize) -> bool {
        // A function that ends without `return` gives zero.
        self.mem[fp..fp + func.ret as usize].fill(0);
        self.block(p, &func.code, fp, fp + func.frame as usize) == Flow::Stop
    }

    /// `sp`: where the frame of a callee goes.
    pub(crate) fn block(&mut self, p: &Linked, code: &[St], fp: usize, sp: usize) -> Flow {
        for st in code {
            let flow = match st {
                St::Set(cell, ex) => {
                    self.mem[fp + *cell as usize] = self.eval(ex, fp);
                    Flow::Next
                }
                St::If(parts) => {
                    let taken = if self.eval(&parts.0, fp) != 0 { &parts.1 } else { &parts.2 };
                    self.block(p, taken, fp, sp)
                }
                St::SetAt(parts) => {
                    let value = self.eval(&parts.1, fp);
                    if let Some(at) = self.resolve(&parts.0, fp) {
                        self.mem[at] = value;
                    }
                    Flow::Next
                }
                St::Put(parts) => {
                    if let Some(at) = self.resolve(&parts.0, fp) {
                        self.put(&parts.1, fp, at);
                    }
                    Flow::Next
                }
                St::Call(call) => self.call_function(p, call, fp, sp),
                St::Instr(instr, loc) => {
                    self.issued_at = *loc;
                    self.issue(p, instr, fp);
                    self.issued_at = Loc::default();
                    Flow::Next
                }
                st => self.rare(p, st, fp, sp),
            };
            if flow != Flow::Next {
                return flow;
            }
        }
        Flow::Next
    }

    fn rare(&mut self, p: &Linked, st: &St, fp: usize, sp: usize) -> Flow {
        match st {
            St::Init(cell, init) => self.init(init, fp, fp + *cell as usize),
            St::At(at) => return self.at(p, at, fp, sp),
            St::Random(cell) => self.mem[fp + *cell as usize] = u64::from(self.random.next()),
            St::Range(range) => return self.range(p, range, fp, sp),
            St::Each(each) => return self.each(p, each, fp, sp),
            St::Break => return Flow::Break,
            St::Continue => return Flow::Continue,
            St::Stop => return Flow::Stop,
            St::Assert(cond, claim) => {
                if self.eval(cond, fp) == 0 {
                    self.claim_failed(*claim);
                }
            }
            St::Return(value) => {
                if let Some(value) = value {
                    self.put(value, fp, fp);
                }
                return Flow::Return;
            }
            St::Extract(bp, cell) => {
                return self.read(p, *bp as usize, fp + *cell as usize);
            }
            St::SetPayload(set) => self.set_payload(set, fp),
            St::SetPayloadOf(set) => self.set_payload_of(p, set, fp),
            St::SetPayloadAt(set) => self.set_payload_at(set, fp),
            St::FrameAdd(add) => self.frame_add(add, fp),
            St::OptAdd(add) => self.option_add(add, fp),
            st => self.data(st, fp),
        }
        Flow::Next
    }

    fn call_function(&mut self, p: &Linked, call: &CallSt, fp: usize, sp: usize) -> Flow {
        for (cell, arg) in &call.args {
            let to = sp + *cell as usize;
            match arg {
                Arg::Value(value) => self.put(value, fp, to),
                Arg::Address(place) => self.mem[to] = self.resolve(place, fp).unwrap_or(0) as u64,
            }
        }
        if self.run(p, call.func, sp) {
            return Flow::Stop;
        }
        if let Some(dest) = call.dest {
            let size = p.funcs[call.func].ret as usize;
            self.mem.copy_within(sp..sp + size, fp + dest as usize);
        }
        Flow::Next
    }

    fn range(&mut self, p: &Linked, range: &Range, fp: usize, sp: usize) -> Flow {
        let (mut at, to) = (self.eval(&range.from, fp), self.eval(&range.to, fp));
        let mut turns = 0;
        while turns < range.max && arith::less(&range.ty, at, to) {
            self.mem[fp + range.var as usize] = at;
            match self.block(p, &range.body, fp, sp) {
                Flow::Break => break,
                Flow::Next | Flow::Continue => {}
                flow => return flow,
            }
            at = arith::canonical(&range.ty, at.wrapping_add(1));
            turns += 1;
        }
        Flow::Next
    }

    fn each(&mut self, p: &Linked, each: &Each, fp: usize, sp: usize) -> Flow {
        let Some(at) = self.resolve(&each.list, fp) else { return Flow::Next };
        let stride = each.stride as usize;
        let mut i = 0;
        loop {
            let (bound, first) = match each.bound {
                Bound::Fixed(n) => (u64::from(n), at),
                Bound::Len => (self.mem[at], at + 1),
            };
            if i as u64 >= bound {
                break;
            }
            let from = first + i * stride;
            self.mem.copy_within(from..from + stride, fp + each.var as usize);
            match self.block(p, &each.body, fp, sp) {
                Flow::Break => break,
                Flow::Next | Flow::Continue => {}
                flow => return flow,
            }
            i += 1;
        }
        Flow::Next
    }

    fn set_payload(&mut self, set: &SetPayload, fp: usize) {
        let handle = self.resolve(&set.ctx, fp).map_or(0, |at| self.mem[at]);
        let (offset, len) = (self.eval(&set.offset, fp), self.eval(&set.len, fp));
        let mss = set.mss.as_ref().map_or(u64::MAX, |mss| self.eval(mss, fp));
        self.payload_cells(fp + set.cell as usize, [handle, offset, len, mss]);
    }

    fn set_payload_of(&mut self, p: &Linked, set: &SetPayloadOf, fp: usize) {
        let (offset, len) = (self.eval(&set.offset, fp), self.eval(&set.len, fp));
        let mss = set.mss.as_ref().map_or(u64::MAX, |mss| self.eval(mss, fp));
        let cells = match self.found_by(p, set.ctx, &set.id, fp) {
            Some(handle) => [handle, offset, len, mss],
            None => {
                self.count(NO_UNIT);
                [0; 4]
            }
        };
        self.payload_cells(fp + set.cell as usize, cells);
    }

    fn payload_cells(&mut self, at: usize, [handle, offset, len, mss]: [u64; 4]) {
        self.mem[at + PAYLOAD_CTX as usize] = handle;
        self.mem[at + PAYLOAD_OFFSET as usize] = offset;
        self.mem[at + PAYLOAD_LEN as usize] = len;
        self.mem[at + PAYLOAD_MSS as usize] = mss;
    }

    fn set_payload_at(&mut self, set: &SetPayloadAt, fp: usize) {
        let addr: [u64; ADDR_CELLS as usize] = self.cells(&set.addr, fp);
        let len = self.eval(&set.len, fp);
        let mss = set.mss.as_ref().map_or(u64::MAX, |mss| self.eval(mss, fp));
        let cell = |which: u32| fp + (set.cell + which) as usize;
        self.mem[cell(PAYLOAD_CTX)] = PAYLOAD_OF_REQUEST;
        self.mem[cell(PAYLOAD_OFFSET)] = 0;
        self.mem[cell(PAYLOAD_LEN)] = len;
        self.mem[cell(PAYLOAD_MSS)] = mss;
        self.mem[cell(PAYLOAD_ADDR)..][..addr.len()].copy_from_slice(&addr);
    }

    /// Statements on lists and windows.
    fn data(&mut self, st: &St, fp: usize) {
        match st {
            St::ListAdd(add) => self.list_add(add, None, fp),
            St::ListInsert(parts) => {
                let (add, index) = &**parts;
                let index = self.eval(index, fp);
                self.list_add(add, Some(index), fp);
            }
            St::ListRemove(parts) => {
                let (list, index, stride) = &**parts;
                let index = self.eval(index, fp);
                if let Some(at) = self.resolve(list, fp) {
                    self.list_remove(at, index, *stride as usize);
                }
            }
            St::ListPop(pop) => self.list_pop(pop, fp),
            St::ListClear(list) => {
                if let Some(at) = self.resolve(list, fp) {
                    self.mem[at] = 0;
                }
            }
            St::WndReset(parts) => {
                let value = self.eval(&parts.1, fp);
                if let Some(at) = self.resolve(&parts.0, fp) {
                    wnd::reset(&mut self.mem[at..], value);
                }
            }
            St::WndSet(set) => {
                let (from, to) = (self.eval(&set.from, fp), self.eval(&set.to, fp));
                let at = self.resolve(&set.wnd, fp);
                let write = |at: usize| wnd::write(&mut self.mem[at..], set.shape, from, to, set.value);
                let done = at.is_some_and(write);
                if let Some(dest) = set.dest {
                    self.mem[fp + dest as usize] = u64::from(done);
                }
            }
            St::WndSlide(parts) => {
                let to = parts.1.as_ref().map(|to| self.eval(to, fp));
                if let Some(at) = self.resolve(&parts.0, fp) {
                    wnd::slide(&mut self.mem[at..], to);
                }
            }
            // Those that `block` and `rare` have seen to.
            _ => {}
        }
    }

    /// Adds an element before the one with an index, where its key says, or at the end.
    fn list_add(&mut self, add: &ListAdd, index: Option<u64>, fp: usize) {
        let Some(list) = self.resolve(&add.list, fp) else { return };
        let (len, stride) = (self.mem[list], add.stride as usize);
        if len >= u64::from(add.capacity) {
            return;
        }
        let end = list + 1 + len as usize * stride;
        self.put(&add.value, fp, end);
        let index = match &add.key {
            Some(key) => {
                let new = self.mem[end + key.offset as usize];
                self.first_in(list, key, |old| arith::less(&key.ty, new, old))
            }
            None => index.map_or(len, |index| index.min(len)),
        };
        self.mem[list + 1 + index as usize * stride..end + stride].rotate_right(stride);
        self.mem[list] = len + 1;
    }

    fn list_remove(&mut self, list: usize, index: u64, stride: usize) {
        let len = self.mem[list];
        if index >= len {
            return;
        }
        let (gap, end) = (list + 1 + index as usize * stride, list + 1 + len as usize * stride);
        self.mem.copy_within(gap + stride..end, gap);
        self.mem[list] = len - 1;
    }

    fn list_pop(&mut self, pop: &ListPop, fp: usize) {
        let stride = pop.stride as usize;
        let list = self.resolve(&pop.list, fp).filter(|at| self.mem[*at] > 0);
        if let Some(dest) = pop.dest {
            let dest = fp + dest as usize;
            match list {
                Some(at) => self.mem.copy_within(at + 1..at + 1 + stride, dest),
                None => self.mem[dest..dest + stride].fill(0),
            }
        }
        if let Some(at) = list {
            self.list_remove(at, 0, stride);
        }
    }
}
