// SPDX-License-Identifier: MIT OR Apache-2.0
//! The values of expressions.

use carrick_ir::arith;

use crate::code::*;
use crate::machine::Machine;
use crate::rand;
use crate::wnd;

impl Machine {
    /// A scalar; `fp` is where the frame lies. Most expressions are leaves: where they are wanted, no function is called,
    /// which would save all registers first.
    #[inline(always)]
    pub(crate) fn eval(&self, ex: &Ex, fp: usize) -> u64 {
        match ex {
            Ex::Lit(n) => *n,
            Ex::Cell(cell) => self.mem[fp + *cell as usize],
            Ex::Deref(cell, offset) => self.mem[self.mem[fp + *cell as usize] as usize + *offset as usize],
            _ => self.eval_node(ex, fp),
        }
    }

    fn eval_node(&self, ex: &Ex, fp: usize) -> u64 {
        match ex {
            Ex::Load(place) => self.resolve(place, fp).map_or(0, |at| self.mem[at]),
            Ex::Add(mask, ab) => self.eval(&ab.0, fp).wrapping_add(self.eval(&ab.1, fp)) & mask,
            Ex::Sub(mask, ab) => self.eval(&ab.0, fp).wrapping_sub(self.eval(&ab.1, fp)) & mask,
            Ex::Equal(ab) => u64::from(self.eval(&ab.0, fp) == self.eval(&ab.1, fp)),
            Ex::Is(n, x) => u64::from(self.eval(x, fp) == *n),
            Ex::IsNot(n, x) => u64::from(self.eval(x, fp) != *n),
            Ex::Plus(mask, xn) => self.eval(&xn.0, fp).wrapping_add(xn.1) & mask,
            Ex::Below(ab) => u64::from(self.eval(&ab.0, fp) < self.eval(&ab.1, fp)),
            Ex::And(ab) => u64::from(self.eval(&ab.0, fp) != 0 && self.eval(&ab.1, fp) != 0),
            Ex::Or(ab) => u64::from(self.eval(&ab.0, fp) != 0 || self.eval(&ab.1, fp) != 0),
            Ex::Mask(mask, x) => self.eval(x, fp) & mask,
            Ex::Cond(c) => self.eval(if self.eval(&c.0, fp) != 0 { &c.1 } else { &c.2 }, fp),
            Ex::Now => self.now,
            _ => self.eval_rare(ex, fp),
        }
    }

    fn eval_rare(&self, ex: &Ex, fp: usize) -> u64 {
        match ex {
            Ex::Unary(op, x) => arith::unary(*op, &x.0, self.eval(&x.1, fp)),
            Ex::Binary(op, o) => {
                arith::binary(*op, &o.ty, &o.to, self.eval(&o.left, fp), self.eval(&o.right, fp))
            }
            Ex::Cast(x) => arith::cast(&x.0, self.eval(&x.1, fp)),
            Ex::One(of, x) => of(&x.0, self.eval(&x.1, fp)),
            Ex::Two(of, x) => of(&x.0, self.eval(&x.1, fp), self.eval(&x.2, fp)),
            Ex::Hash(parts) => {
                let hash = rand::siphash(self.key, parts.iter().map(|part| self.eval(part, fp)));
                hash & u64::from(u32::MAX)
            }
            Ex::WndTest(x) => {
                let Some(at) = self.resolve(&x.0, fp) else { return 0 };
                u64::from(wnd::test(&self.mem[at..], self.eval(&x.1, fp)))
            }
            Ex::WndFirstSet(x) => self.resolve(&x.0, fp).map_or(0, |at| wnd::first_set(&self.mem[at..], x.1)),
            Ex::WndFirstUnset(place) => {
                self.resolve(place, fp).map_or(0, |at| wnd::first_unset(&self.mem[at..]))
            }
            Ex::Element(x) => arith::element(&x.0, self.eval(&x.1, fp)),
            Ex::TxRoom(handle) => self.tx_room(self.eval(handle, fp)),
            Ex::RxSize(handle) => self.rx_size(self.eval(handle, fp)),
            Ex::ListFind(x) => {
                let wanted = self.eval(&x.1, fp);
                let less = |key: u64| !arith::less(&x.2.ty, key, wanted);
                self.resolve(&x.0, fp).map_or(0, |list| self.first_in(list, &x.2, less))
            }
            Ex::PacketLeft => self.packet_rest.len() as u64,
            Ex::PacketPeek => {
                self.packet.get(self.packet_rest.clone()).and_then(|o| o.first()).map_or(0, |o| u64::from(*o))
            }
            // Those that `eval` has seen to.
            _ => 0,
        }
    }

    /// The index of the first element of a sorted list whose key `is` so; its length without one.
    pub(crate) fn first_in(&self, list: usize, key: &SortKey, is: impl Fn(u64) -> bool) -> u64 {
        let first = list + 1 + key.offset as usize;
        let len = self.mem[list];
        (0..len).find(|i| is(self.mem[first + *i as usize * key.stride as usize])).unwrap_or(len)
    }

    /// The address of a place; `None` if an index is outside.
    pub(crate) fn resolve(&self, place: &Place, fp: usize) -> Option<usize> {
        let mut at = place.offset as usize
            + match place.root {
                Root::Frame => fp,
                Root::Ref(cell) => self.mem[fp + cell as usize] as usize,
            };
        for index in &place.indices {
            let i = self.eval(&index.at, fp);
            let (bound, first) = match index.bound {
                Bound::Fixed(n) => (u64::from(n), 0),
                Bound::Len => (self.mem[at], 1),
            };
            if i >= bound {
                return None;
            }
            at += first + i as usize * index.stride as usize + index.then as usize;
        }
        Some(at)
    }

    /// Writes a value to its place at `to`.
    pub(crate) fn put(&mut self, value: &Value, fp: usize, to: usize) {
        match value {
            Value::Scalar(ex) => self.mem[to] = self.eval(ex, fp),
            Value::Copy(place, size) => {
                let size = *size as usize;
                match self.resolve(place, fp) {
                    Some(from) => self.mem.copy_within(from..from + size, to),
                    None => self.mem[to..to + size].fill(0),
                }
            }
            Value::Parts(parts) => {
                // All of them first: the place may be among what they are made of.
                let mut cells = [0; MAX_PARTS];
                for (cell, part) in cells.iter_mut().zip(parts) {
                    *cell = self.eval(part, fp);
                }
                self.mem[to..to + parts.len()].copy_from_slice(&cells[..parts.len()]);
            }
            Value::Choose(c) => {
                let chosen = if self.eval(&c.0, fp) != 0 { &c.1 } else { &c.2 };
                self.put(chosen, fp, to);
            }
        }
    }

    /// A value of a few cells, not in memory.
    pub(crate) fn cells<const N: usize>(&self, value: &Value, fp: usize) -> [u64; N] {
        match value {
            Value::Copy(place, _) => match self.resolve(place, fp) {
                Some(at) => std::array::from_fn(|i| self.mem[at + i]),
                None => [0; N],
            },
            Value::Parts(parts) => std::array::from_fn(|i| parts.get(i).map_or(0, |p| self.eval(p, fp))),
            Value::Scalar(ex) => std::array::from_fn(|i| if i == 0 { self.eval(ex, fp) } else { 0 }),
            Value::Choose(c) => self.cells(if self.eval(&c.0, fp) != 0 { &c.1 } else { &c.2 }, fp),
        }
    }

    /// Writes a type's initial value to `at`.
    pub(crate) fn init(&mut self, init: &Init, fp: usize, at: usize) {
        let cells = &mut self.mem[at..at + init.size as usize];
        match &init.cells {
            Some(first) => cells.copy_from_slice(first),
            None => cells.fill(0),
        }
        for (offset, value) in &init.dynamic {
            self.put(value, fp, at + *offset as usize);
        }
    }
}
