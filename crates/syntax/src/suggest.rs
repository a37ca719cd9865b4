// SPDX-License-Identifier: MIT OR Apache-2.0
//! "Did you mean": the nearest of some names.

/// Nobody writes longer names by hand: of these no slip is looked for.
const LONGEST: usize = 64;

/// The name nearest to `word` by edit distance, if it is near enough to be a slip.
pub fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > LONGEST {
        return None;
    }
    let limit = (word.len() / 3).max(1);
    names
        .into_iter()
        .filter(|n| *n != word && n.len().abs_diff(word.len()) <= limit)
        .filter_map(|n| Some((distance(word, n, limit)?, n)))
        .min()
        .map(|(_, n)| n)
}

/// Levenshtein distance with adjacent transposition (optimal string alignment), over bytes; `None` above the limit.
fn distance(a: &str, b: &str, limit: usize) -> Option<usize> {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut before = vec![0; b.len() + 1];
    let mut previous: Vec<usize> = (0..=b.len()).collect();
    let mut row = previous.clone();
    for i in 1..=a.len() {
        row[0] = i;
        for j in 1..=b.len() {
            let substitute = previous[j - 1] + usize::from(!a[i - 1].eq_ignore_ascii_case(&b[j - 1]));
            let mut best = substitute.min(previous[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            row[j] = best;
        }
        // A transposition reaches one row further back.
        if row.iter().chain(&previous).all(|d| *d > limit) {
            return None;
        }
        std::mem::swap(&mut before, &mut previous);
        std::mem::swap(&mut previous, &mut row);
    }
    Some(previous[b.len()]).filter(|d| *d <= limit)
}

/// Whether the name is that of a type to which values are converted, so that `(T) x` means `T(x)`.
pub(crate) fn is_conversion(name: &str) -> bool {
    let whole = name.strip_prefix('u').unwrap_or(name).strip_prefix("int");
    whole.is_some_and(|bits| ["8", "16", "32", "64"].contains(&bits))
        || ["bool", "seq32", "fixed", "duration", "time", "bytes", "rate"].contains(&name)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn slips_are_found_and_other_words_are_not() {
        assert_eq!(nearest("contxt", ["context", "const"]), Some("context"));
        assert_eq!(nearest("evnet", ["event", "even_later"]), Some("event"));
        assert_eq!(nearest("banana", ["context", "const"]), None);
        assert_eq!(nearest("event", ["event"]), None);
    }
}
