// SPDX-License-Identifier: MIT OR Apache-2.0
//! What requests complete with, as far as applications tell it apart: numbers of [`carrick_ir::STATUS_NAMES`].

pub(crate) const OK: u8 = 0;
pub(crate) const END_OF_STREAM: u8 = 1;
pub(crate) const TIMED_OUT: u8 = 4;
pub(crate) const CLOSED: u8 = 5;
pub(crate) const NO_ROOM: u8 = 6;
pub(crate) const BUSY: u8 = 10;

#[cfg(test)]
mod tests {
    use carrick_ir::STATUS_NAMES;

    #[test]
    fn they_are_those_of_the_language() {
        let numbers =
            [super::OK, super::END_OF_STREAM, super::TIMED_OUT, super::CLOSED, super::NO_ROOM, super::BUSY];
        let names = ["OK", "END_OF_STREAM", "TIMED_OUT", "CLOSED", "NO_ROOM", "BUSY"];
        assert_eq!(numbers.map(|n| STATUS_NAMES[usize::from(n)]), names);
    }
}
