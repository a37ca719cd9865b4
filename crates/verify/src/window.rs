// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sliding windows: how many ranges of set flags one has is known on its path.

use carrick_ir::{Query, Ty};
use carrick_solve::Term;

use crate::machine::Machine;
use crate::value::Window;

impl Machine<'_> {
    fn zero64(&mut self) -> Term {
        self.number(0, 64)
    }

    /// How far a number is ahead of the head, in 64 bits with a sign.
    fn ahead(&mut self, window: &Window, of: Term) -> Term {
        let distance = self.path.terms.sub(of, window.head);
        self.path.terms.sext(distance, 64)
    }

    fn not_less(&mut self, a: Term, b: Term) -> Term {
        let less = self.path.terms.ult(a, b);
        self.path.terms.not(less)
    }

    pub(crate) fn window_query(
        &mut self,
        query: Query,
        window: &Window,
        size: u64,
        of: Option<Term>,
    ) -> Term {
        match (query, of) {
            (Query::WndTest, Some(of)) => {
                let (at, zero) = (self.ahead(window, of), self.zero64());
                let mut inside = self.number(0, 1);
                for (from, to) in &window.ranges {
                    let (begun, open) = (self.not_less(at, *from), self.path.terms.ult(at, *to));
                    let this = self.path.terms.and(begun, open);
                    inside = self.path.terms.or(inside, this);
                }
                let behind = self.path.terms.slt(at, zero);
                let not_behind = self.path.terms.not(behind);
                self.path.terms.and(not_behind, inside)
            }
            (Query::WndFirstSet, _) => {
                let first = match window.ranges.first() {
                    Some((from, _)) => *from,
                    None => self.number(size.into(), 64),
                };
                let first = self.path.terms.extract(first, 0, 32);
                self.path.terms.add(window.head, first)
            }
            (Query::WndFirstUnset, _) => self.first_unset(window),
            _ => window.head,
        }
    }

    fn first_unset(&mut self, window: &Window) -> Term {
        let Some((from, to)) = window.ranges.first().copied() else { return window.head };
        let zero = self.zero64();
        let terms = &mut self.path.terms;
        let at_head = terms.equal(from, zero);
        let set = terms.ite(at_head, to, zero);
        let set = terms.extract(set, 0, 32);
        terms.add(window.head, set)
    }

    /// Sets or clears flags; whether it was done.
    pub(crate) fn window_write(
        &mut self,
        ty: &Ty,
        window: &mut Window,
        from: Term,
        to: Term,
        value: bool,
    ) -> bool {
        let Ty::Wnd { size, runs } = ty else { return false };
        let Some((lo, hi)) = self.clip(window, *size, from, to) else { return true };
        let (first, last) = self.touched(window, lo, hi, value);
        let zero = self.zero64();
        let begins = match window.ranges.first() {
            Some((from, _)) => {
                let at_head = self.path.terms.equal(*from, zero);
                self.path.branch(at_head)
            }
            None => false,
        };
        let from_head = self.path.terms.equal(lo, zero);
        let from_head = self.path.branch(from_head);
        // The range at the head is not counted.
        let beside = if value { begins || from_head } else { begins && !from_head };
        // Every other number is a range at worst.
        let most = runs.map_or(u64::MAX, u64::from).min(size.div_ceil(2)) as usize + usize::from(beside);
        let new = match value {
            true => vec![self.joined(window, first, last, lo, hi)],
            false if first == last => return true,
            false => self.parted(window, first, last, lo, hi),
        };
        let count = window.ranges.len() - (last - first) + new.len();
        // Fewer ranges than before are never too many.
        if count > most && (!value || first == last) {
            return false;
        }
        window.ranges.splice(first..last, new);
        true
    }

    /// The part of `[from, to)` that is in the window, counted from the head; `None`: nothing.
    fn clip(&mut self, window: &Window, size: u64, from: Term, to: Term) -> Option<(Term, Term)> {
        let len = self.path.terms.sub(to, from);
        let half = self.number(i32::MAX as u128, 32);
        let backwards = self.path.terms.ult(half, len);
        if self.path.branch(backwards) {
            return None;
        }
        let (first, zero) = (self.ahead(window, from), self.zero64());
        let size = self.number(size.min(i64::MAX as u64).into(), 64);
        let terms = &mut self.path.terms;
        let behind = terms.slt(first, zero);
        let lo = terms.ite(behind, zero, first);
        let len = terms.zext(len, 64);
        let end = terms.add(first, len);
        let beyond = terms.slt(size, end);
        let hi = terms.ite(beyond, size, end);
        let some = terms.slt(lo, hi);
        self.path.branch(some).then_some((lo, hi))
    }

    /// The ranges that `[lo, hi)` joins or cuts: from the first to before the second.
    fn touched(&mut self, window: &Window, lo: Term, hi: Term, joins: bool) -> (usize, usize) {
        let count = window.ranges.len();
        let mut first = count;
        for (i, (_, to)) in window.ranges.iter().enumerate() {
            let reaches = if joins { self.not_less(*to, lo) } else { self.path.terms.ult(lo, *to) };
            if self.path.branch(reaches) {
                first = i;
                break;
            }
        }
        for (i, (from, _)) in window.ranges.iter().enumerate().skip(first) {
            let beyond = if joins { self.path.terms.ult(hi, *from) } else { self.not_less(*from, hi) };
            if self.path.branch(beyond) {
                return (first, i);
            }
        }
        (first, count)
    }

    fn joined(&mut self, window: &Window, first: usize, last: usize, lo: Term, hi: Term) -> (Term, Term) {
        if first == last {
            return (lo, hi);
        }
        let (from, to) = (window.ranges[first].0, window.ranges[last - 1].1);
        let terms = &mut self.path.terms;
        let (earlier, later) = (terms.ult(lo, from), terms.ult(to, hi));
        (terms.ite(earlier, lo, from), terms.ite(later, hi, to))
    }

    fn parted(
        &mut self,
        window: &Window,
        first: usize,
        last: usize,
        lo: Term,
        hi: Term,
    ) -> Vec<(Term, Term)> {
        let (from, to) = (window.ranges[first].0, window.ranges[last - 1].1);
        let (before, behind) = (self.path.terms.ult(from, lo), self.path.terms.ult(hi, to));
        let before = self.path.branch(before).then_some((from, lo));
        let behind = self.path.branch(behind).then_some((hi, to));
        before.into_iter().chain(behind).collect()
    }

    /// Moves the head forward, to the first unset number if no other is given.
    pub(crate) fn window_slide(&mut self, window: &mut Window, to: Option<Term>) {
        let to = match to {
            Some(to) => to,
            None => self.first_unset(window),
        };
        let (by, zero) = (self.ahead(window, to), self.zero64());
        let forward = self.path.terms.slt(zero, by);
        if !self.path.branch(forward) {
            return;
        }
        let mut kept = Vec::new();
        for (from, end) in std::mem::take(&mut window.ranges) {
            let ahead = self.path.terms.ult(by, end);
            if self.path.branch(ahead) {
                let terms = &mut self.path.terms;
                let cut = terms.ult(from, by);
                let rest = terms.sub(from, by);
                kept.push((terms.ite(cut, zero, rest), terms.sub(end, by)));
            }
        }
        window.ranges = kept;
        window.head = to;
    }
}
