// SPDX-License-Identifier: MIT OR Apache-2.0
//! What cores refused, lost or broke, in words.

use carrick_ir::{COUNTERS, REFUSED, counter};

/// A line for each counter that is not 0. `of` is whose they are (`client`); `first_claim` is where the first claim stands that failed.
pub fn lines(of: &str, counters: &[u64], first_claim: Option<&str>) -> Vec<String> {
    let named = COUNTERS.iter().zip(REFUSED).zip(counters).enumerate().filter(|(_, (_, n))| **n > 0);
    let line = |(number, ((name, words), n))| {
        if number == counter("claims_failed") {
            let first = first_claim.map_or_else(String::new, |place| format!(" (first: {place})"));
            return format!("{n} claims failed on the {of}{first}");
        }
        format!("{of} refused {n}: {words} ({name})")
    };
    named.map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_said_in_words() {
        let mut counters = vec![0; COUNTERS.len()];
        counters[counter("no_context")] = 368;
        counters[counter("claims_failed")] = 5;
        counters[counter("rx_packets")] = 9;
        assert_eq!(
            lines("client", &counters, Some("a.mtp:331")),
            [
                "client refused 368: events without their context, and without an `absent` chain (no_context)",
                "5 claims failed on the client (first: a.mtp:331)",
            ]
        );
        assert_eq!(lines("hosts", &counters, None)[1], "5 claims failed on the hosts");
    }
}
