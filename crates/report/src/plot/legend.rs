// SPDX-License-Identifier: MIT OR Apache-2.0
//! Text that fits into a drawing: the legend's lines.

/// The width of a letter of usual text at most, on average, in parts of its size: that of DejaVu Sans, a wide font.
const LETTER: f64 = 0.58;

/// How wide text is, as far as this is known without the font.
pub fn width(text: &str, size: f64) -> f64 {
    text.chars().count() as f64 * LETTER * size
}

/// The lines of a text that has this width, broken between words, and in words that are longer than a line.
pub fn lines(text: &str, size: f64, most: f64) -> Vec<String> {
    let letters = ((most / (LETTER * size)) as usize).max(1);
    let (mut lines, mut line) = (Vec::new(), Vec::new());
    for word in text.split(' ') {
        let word: Vec<char> = word.chars().collect();
        if !line.is_empty() && line.len() + 1 + word.len() > letters {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.extend(word);
        while line.len() > letters {
            let rest = line.split_off(letters);
            lines.push(std::mem::replace(&mut line, rest));
        }
    }
    lines.push(line);
    lines.into_iter().map(String::from_iter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_between_words() {
        let fits = |text: &str| lines(text, 10.0, 10.0 * LETTER * 10.0);
        assert_eq!(fits("one, seed 1"), ["one, seed", "1"]);
        assert_eq!(fits("0123456789"), ["0123456789"]);
        assert_eq!(fits("0123456789abc d"), ["0123456789", "abc d"]);
        assert_eq!(fits(""), [""]);
    }
}
