// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sets of numbers as a few runs `[first, end)`: in order, disjoint, not touching.

/// Adds `[lo, hi)` to the first `count` runs of `runs` (two cells each). Returns how many there are then,
/// or `None`, having changed nothing, if that were more than `max`.
pub(crate) fn insert(runs: &mut [u64], count: usize, max: usize, lo: u64, hi: u64) -> Option<usize> {
    let from = (0..count).find(|i| runs[2 * i + 1] >= lo).unwrap_or(count);
    let to = (from..count).find(|i| runs[2 * i] > hi).unwrap_or(count);
    if from == to {
        if count >= max {
            return None;
        }
        runs.copy_within(2 * from..2 * count, 2 * from + 2);
        runs[2 * from] = lo;
        runs[2 * from + 1] = hi;
        return Some(count + 1);
    }
    runs[2 * from] = runs[2 * from].min(lo);
    runs[2 * from + 1] = runs[2 * to - 1].max(hi);
    runs.copy_within(2 * to..2 * count, 2 * from + 2);
    Some(count - (to - from - 1))
}

/// Takes `[lo, hi)`, `lo < hi`, out of the first `count` runs, likewise.
pub(crate) fn remove(runs: &mut [u64], count: usize, max: usize, lo: u64, hi: u64) -> Option<usize> {
    let from = (0..count).find(|i| runs[2 * i + 1] > lo).unwrap_or(count);
    let to = (from..count).find(|i| runs[2 * i] >= hi).unwrap_or(count);
    if from == to {
        return Some(count);
    }
    let (first, end) = (runs[2 * from], runs[2 * to - 1]);
    let (before, behind) = (usize::from(first < lo), usize::from(end > hi));
    let after = count - (to - from) + before + behind;
    if after > max {
        return None;
    }
    runs.copy_within(2 * to..2 * count, 2 * (from + before + behind));
    if before == 1 {
        runs[2 * from] = first;
        runs[2 * from + 1] = lo;
    }
    if behind == 1 {
        runs[2 * (from + before)] = hi;
        runs[2 * (from + before) + 1] = end;
    }
    Some(after)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn naive(set: &[bool]) -> Vec<u64> {
        let mut runs = Vec::new();
        for (at, &is) in set.iter().enumerate() {
            let before = at > 0 && set[at - 1];
            if is != before {
                runs.push(at as u64);
            }
        }
        runs
    }

    proptest! {
        #[test]
        fn runs_are_what_a_set_of_flags_has(
            ranges in prop::collection::vec((0_u64..60, 1_u64..9, any::<bool>()), 1..40)
        ) {
            let (mut runs, mut count, mut set) = (vec![0; 10], 0, vec![false; 80]);
            for (lo, len, value) in ranges {
                let mut wanted = set.clone();
                wanted[lo as usize..(lo + len) as usize].fill(value);
                let change = if value { insert } else { remove };
                match change(&mut runs, count, 5, lo, lo + len) {
                    Some(now) => { count = now; set = wanted; }
                    None => prop_assert!(naive(&wanted).len() > 10),
                }
                prop_assert_eq!(&runs[..2 * count], &naive(&set)[..]);
            }
        }
    }
}
