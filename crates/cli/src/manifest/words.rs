// SPDX-License-Identifier: MIT OR Apache-2.0
//! Words of a command line as one text, and back (POSIX.1-2017, Shell Command Language, section 2.2).

/// One text that a shell takes apart into these words.
pub fn join(words: impl IntoIterator<Item = String>) -> String {
    let quoted: Vec<String> = words.into_iter().map(quote).collect();
    quoted.join(" ")
}

fn quote(word: String) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:,=%+@".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word;
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The command as it was said, without its name.
pub fn said() -> Vec<String> {
    std::env::args().skip(1).collect()
}

/// The command as it was said, which makes a run again.
pub fn command_line() -> String {
    format!("carrick {}", join(said().into_iter().filter(|word| word != "--quiet")))
}

/// The words of a text that [`join`] made.
pub fn split(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quoted = false;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\'' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            ' ' if !quoted => words.extend(word.take()),
            '\\' if !quoted => word.get_or_insert_default().extend(chars.next()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_back() {
        let words = ["sim", "a b.mtp", "", "it's", "--set", "x=1,2", r"back\slash", "\"", "$HOME"];
        let text = join(words.map(str::to_owned));
        assert_eq!(split(&text), words);
        assert!(text.starts_with("sim 'a b.mtp' '' "), "{text}");
    }
}
