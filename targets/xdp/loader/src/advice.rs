// SPDX-License-Identifier: MIT OR Apache-2.0
//! What people can do about packets that a program refuses.

use carrick_ir::counter;

/// So many packets with a wrong checksum are no accident.
const MANY: u64 = 4;

/// Once most packets so far had wrong checksums: why that is likely, and what helps. `counters` is as from
/// [`crate::Object::counters`].
pub fn on_checksums(counters: &[u64], device: &str) -> Option<String> {
    let count = |name| counters.get(counter(name)).copied().unwrap_or(0);
    let (bad, all) = (count("bad_checksum"), count("rx_packets"));
    (bad >= MANY && bad * 2 >= all).then(|| {
        format!(
            "{bad} of {all} packets on {device} had a wrong checksum and were refused; if {device} is a veth, its other end leaves checksums to offload: run `ethtool -K DEVICE tx off` for that end"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_many_wrong_checksums_are_worth_a_word() {
        let said = |bad, all| {
            let mut counters = vec![0; carrick_ir::COUNTERS.len()];
            (counters[counter("bad_checksum")], counters[counter("rx_packets")]) = (bad, all);
            on_checksums(&counters, "wire0")
        };
        assert_eq!([said(0, 0), said(3, 3), said(4, 9), said(100, 1000)], [None, None, None, None]);
        assert!(said(4, 8).expect("half of them").starts_with("4 of 8 packets on wire0 had"));
    }
}
