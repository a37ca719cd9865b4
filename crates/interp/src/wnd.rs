// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sliding windows over serial numbers. Cells: head, number of runs, then each run's first and end, counted
//! from the head. A run that begins at the head is one beside those that the window can tell apart: what comes in order
//! always has room.

use crate::code::WndShape;
use crate::runs;

const HEAD: usize = 0;
const COUNT: usize = 1;
const RUNS: usize = 2;

/// How far `to` is ahead of the head; negative: behind.
fn ahead(wnd: &[u64], to: u64) -> i64 {
    i64::from((to as u32).wrapping_sub(wnd[HEAD] as u32) as i32)
}

pub(crate) fn reset(wnd: &mut [u64], at: u64) {
    wnd[HEAD] = at;
    wnd[COUNT] = 0;
}

/// Makes the flags of `[from, to)` this value, as far as the window reaches; false if that needs too many runs.
pub(crate) fn write(wnd: &mut [u64], shape: WndShape, from: u64, to: u64, value: bool) -> bool {
    let len = (to as u32).wrapping_sub(from as u32);
    if len > i32::MAX as u32 {
        return true;
    }
    let first = ahead(wnd, from);
    let (lo, hi) = (first.max(0), (first + i64::from(len)).min(shape.size.min(i64::MAX as u64) as i64));
    if lo >= hi {
        return true;
    }
    let count = wnd[COUNT] as usize;
    let change = if value { runs::insert } else { runs::remove };
    let begins = count > 0 && wnd[RUNS] == 0;
    let at_head = if value { begins || lo == 0 } else { begins && lo > 0 };
    match change(&mut wnd[RUNS..], count, shape.runs as usize + usize::from(at_head), lo as u64, hi as u64) {
        Some(count) => {
            wnd[COUNT] = count as u64;
            true
        }
        None => false,
    }
}

pub(crate) fn test(wnd: &[u64], at: u64) -> bool {
    let Ok(at) = u64::try_from(ahead(wnd, at)) else { return false };
    let runs = &wnd[RUNS..RUNS + 2 * wnd[COUNT] as usize];
    runs.chunks_exact(2).any(|run| run[0] <= at && at < run[1])
}

/// The first number whose flag is set; of none of `size` numbers, that behind the last.
pub(crate) fn first_set(wnd: &[u64], size: u64) -> u64 {
    let unset = if wnd[COUNT] > 0 { wnd[RUNS] } else { size };
    u64::from((wnd[HEAD] as u32).wrapping_add(unset as u32))
}

pub(crate) fn first_unset(wnd: &[u64]) -> u64 {
    let set = if wnd[COUNT] > 0 && wnd[RUNS] == 0 { wnd[RUNS + 1] } else { 0 };
    u64::from((wnd[HEAD] as u32).wrapping_add(set as u32))
}

/// Moves the head forward to `to`, or to the first unset number.
pub(crate) fn slide(wnd: &mut [u64], to: Option<u64>) {
    let to = to.unwrap_or_else(|| first_unset(wnd));
    let Some(by) = u64::try_from(ahead(wnd, to)).ok().filter(|by| *by > 0) else { return };
    let mut kept = 0;
    for run in 0..wnd[COUNT] as usize {
        let (first, end) = (wnd[RUNS + 2 * run], wnd[RUNS + 2 * run + 1]);
        if end > by {
            wnd[RUNS + 2 * kept] = first.saturating_sub(by);
            wnd[RUNS + 2 * kept + 1] = end - by;
            kept += 1;
        }
    }
    wnd[COUNT] = kept as u64;
    wnd[HEAD] = to;
}

/// The words of a trace: head, number of runs, each run as serial numbers.
pub(crate) fn words(wnd: &[u64], out: &mut Vec<u64>) {
    out.extend_from_slice(&wnd[..RUNS]);
    let runs = &wnd[RUNS..RUNS + 2 * wnd[COUNT] as usize];
    out.extend(runs.iter().map(|at| u64::from((wnd[HEAD] as u32).wrapping_add(*at as u32))));
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: WndShape = WndShape { size: 100, runs: 2 };

    fn set(wnd: &mut [u64], shape: WndShape, from: u64, to: u64) -> bool {
        write(wnd, shape, from, to, true)
    }

    fn window(head: u32) -> Vec<u64> {
        let mut wnd = vec![0; 8];
        reset(&mut wnd, head.into());
        wnd
    }

    #[test]
    fn flags_outside_the_window_are_not_set() {
        let mut wnd = window(u32::MAX - 4);
        assert!(set(&mut wnd, SHAPE, u64::from(u32::MAX - 10), 2));
        assert!(test(&wnd, u64::from(u32::MAX)) && test(&wnd, 1) && !test(&wnd, 2));
        assert!(!test(&wnd, u64::from(u32::MAX - 10)));
        assert_eq!(first_unset(&wnd), 2);
        assert!(set(&mut wnd, SHAPE, 90, 120));
        assert!(test(&wnd, 94) && !test(&wnd, 95));
    }

    #[test]
    fn too_many_runs_set_nothing() {
        let mut wnd = window(0);
        assert!(set(&mut wnd, SHAPE, 10, 20) && set(&mut wnd, SHAPE, 30, 40));
        let before = wnd.clone();
        assert!(!set(&mut wnd, SHAPE, 50, 60));
        assert_eq!(wnd, before);
        assert!(set(&mut wnd, SHAPE, 0, 3), "what begins at the head is one more");
        assert!(!set(&mut wnd, SHAPE, 50, 60) && !write(&mut wnd, SHAPE, 0, 1, false));
        assert_eq!(wnd[..8], [0, 3, 0, 3, 10, 20, 30, 40]);
        assert!(set(&mut wnd, SHAPE, 20, 30), "joins the two");
        assert_eq!(wnd[..6], [0, 2, 0, 3, 10, 40]);
    }

    #[test]
    fn what_is_unset_may_part_a_run() {
        let mut wnd = window(u32::MAX);
        assert_eq!(first_set(&wnd, SHAPE.size), 99, "none is: the number behind the last");
        assert!(set(&mut wnd, SHAPE, 1, 20) && set(&mut wnd, SHAPE, 30, 40));
        let before = wnd.clone();
        assert!(!write(&mut wnd, SHAPE, 5, 8, false), "that would be three");
        assert_eq!(wnd, before);
        assert!(write(&mut wnd, SHAPE, u64::from(u32::MAX - 7), 3, false));
        assert_eq!(first_set(&wnd, SHAPE.size), 3);
        assert!(!test(&wnd, 2) && test(&wnd, 3) && test(&wnd, 39));
        assert!(write(&mut wnd, SHAPE, 10, 200, false));
        assert!(test(&wnd, 9) && !test(&wnd, 10) && wnd[COUNT] == 1);
    }

    #[test]
    fn sliding_forgets_what_is_behind() {
        let mut wnd = window(0);
        set(&mut wnd, SHAPE, 0, 5);
        set(&mut wnd, SHAPE, 10, 20);
        slide(&mut wnd, None);
        let mut out = Vec::new();
        words(&wnd, &mut out);
        assert_eq!(out, [5, 1, 10, 20]);
        slide(&mut wnd, Some(3));
        assert_eq!(wnd[0], 5, "never backwards");
        slide(&mut wnd, Some(12));
        assert!(test(&wnd, 12) && test(&wnd, 19) && !test(&wnd, 20));
        slide(&mut wnd, Some(500));
        assert_eq!(wnd[..2], [500, 0]);
    }
}
