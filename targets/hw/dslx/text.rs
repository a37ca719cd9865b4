// SPDX-License-Identifier: MIT OR Apache-2.0
//! Text of a program in DSLX: the one way into a comment, and none out of it again.

use carrick_ir::Text;

/// The last part of a path, in a comment at the end of a line.
pub fn file_in_comment(file: &Text) -> String {
    let name = file.raw().rsplit('/').next().unwrap_or_default();
    name.chars().map(|c| if c.is_ascii_graphic() { c } else { ' ' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_is_not_left() {
        assert_eq!(file_in_comment(&"a/b.mtp".into()), "b.mtp");
        assert_eq!(file_in_comment(&"b\n fn f()\r{\u{2028}.mtp".into()), "b  fn f() { .mtp");
    }
}
