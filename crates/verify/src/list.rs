// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lists: each has a length that is known on its path.

use carrick_ir::{Change, Loc, Order, Place, Ty};
use carrick_solve::Term;

use crate::arith;
use crate::layout;
use crate::machine::{Frame, Machine, unsupported};
use crate::path::End;
use crate::site::Kind;
use crate::value::Value;

/// Whether a change adds an element.
pub(crate) fn adds(change: Change) -> bool {
    matches!(change, Change::ListAdd | Change::ListInsert)
}

/// The number by which an element is sorted.
fn key(order: Order, element: &Value) -> Result<Term, End> {
    match (order, element) {
        (Order::SortedBy(field), Value::Record(parts)) => match parts.get(field as usize) {
            Some(Value::Scalar(term)) => Ok(*term),
            _ => Err(unsupported("a list that is sorted by several numbers")),
        },
        (_, Value::Scalar(term)) => Ok(*term),
        _ => Err(unsupported("a list that is sorted by several numbers")),
    }
}

impl<'p> Machine<'p> {
    /// How many elements have a lesser key.
    pub(crate) fn list_find(
        &mut self,
        list: &[Value],
        element: &Ty,
        order: Order,
        wanted: Option<Term>,
    ) -> Result<Term, End> {
        let ty = self.program.sort_key(element, order).unwrap_or(Ty::Void);
        let wanted = wanted.ok_or_else(|| unsupported("a search without a key"))?;
        let signed = layout::shape(self.program, &ty).1;
        let (mut count, mut among) = (self.number(0, 32), self.number(1, 1));
        for value in list {
            let key = key(order, value)?;
            let less = arith::less(&mut self.path.terms, &ty, signed, key, wanted);
            among = self.path.terms.and(among, less);
            let one = self.path.terms.zext(among, 32);
            count = self.path.terms.add(count, one);
        }
        Ok(count)
    }

    /// Which of `count` elements an index is; `count`: none of them.
    fn choose_index(&mut self, at: Term, count: usize) -> usize {
        for i in 0..count {
            let is = self.is(at, i as u64);
            if self.path.branch(is) {
                return i;
            }
        }
        count
    }

    /// Changes the list at a place; the removed element, if that is the result.
    pub(crate) fn list_change(
        &mut self,
        what: Change,
        place: &'p Place,
        args: Vec<Value>,
        loc: Loc,
        frame: &mut Frame,
    ) -> Result<Option<Value>, End> {
        let (Value::List(mut list), Ty::List(element, most, order)) = (self.load(place, frame)?, &place.ty)
        else {
            return Err(unsupported("a list that depends on a condition"));
        };
        let mut args = args.into_iter().map(|value| self.by_value(value)).collect::<Vec<_>>().into_iter();
        let mut removed = None;
        match what {
            Change::ListAdd | Change::ListInsert => {
                let full = self.number(u128::from(list.len() >= *most as usize), 1);
                self.check(Kind::List, loc, full);
                if list.len() >= *most as usize {
                    return Ok(None);
                }
                let at = match (what, args.next(), args.next()) {
                    (Change::ListInsert, Some(Value::Scalar(at)), Some(value)) => {
                        (self.choose_index(at, list.len()), value)
                    }
                    (_, Some(value), _) => (self.sorted_place(&list, element, *order, &value)?, value),
                    _ => return Err(unsupported("an element that is not there")),
                };
                list.insert(at.0, at.1);
            }
            Change::ListRemove => {
                let Some(Value::Scalar(at)) = args.next() else {
                    return Err(unsupported("an index that is not a number"));
                };
                let at = self.choose_index(at, list.len());
                if at < list.len() {
                    list.remove(at);
                }
            }
            Change::ListPop => {
                removed = Some(if list.is_empty() { self.zero(element) } else { list.remove(0) });
            }
            _ => list.clear(),
        }
        self.store(place, frame, Value::List(list))?;
        Ok(removed)
    }

    /// Where a new element goes: after those that are not greater.
    fn sorted_place(
        &mut self,
        list: &[Value],
        element: &Ty,
        order: Order,
        new: &Value,
    ) -> Result<usize, End> {
        let Some(ty) = self.program.sort_key(element, order) else { return Ok(list.len()) };
        let signed = layout::shape(self.program, &ty).1;
        let wanted = key(order, new)?;
        for (i, old) in list.iter().enumerate() {
            let old = key(order, old)?;
            let before = arith::less(&mut self.path.terms, &ty, signed, wanted, old);
            if self.path.branch(before) {
                return Ok(i);
            }
        }
        Ok(list.len())
    }
}
