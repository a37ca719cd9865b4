// SPDX-License-Identifier: MIT OR Apache-2.0
//! The numbers of the counters that the interpreter counts.

use carrick_ir::COUNTERS;

macro_rules! numbers {
    ($($name:ident = $number:literal),* $(,)?) => {
        $(pub(crate) const $name: usize = $number;)*

        #[cfg(test)]
        const ALL: &[(&str, usize)] = &[$((stringify!($name), $number)),*];
    };
}

numbers! {
    IP_SHORT = 0,
    IP_VERSION = 1,
    IP_LENGTH = 2,
    IP_CHECKSUM = 3,
    IP_FRAGMENT = 4,
    IP_PROTOCOL = 5,
    IP_ADDRESS = 6,
    SHORT = 7,
    BAD_CHECKSUM = 8,
    BAD_OPTIONS = 9,
    BAD_FIELD = 10,
    UNPARSED = 11,
    NO_CONTEXT = 12,
    CTX_REFUSED = 13,
    TX_CUT = 14,
    PAYLOAD_CUT = 15,
    RX_CUT = 16,
    RX_RUNS_FULL = 17,
    NO_UNIT = 18,
    TX_QUEUE_FULL = 19,
    TX_TOO_LONG = 20,
    TX_BAD_FIELD = 21,
    COMPLETION_LOST = 22,
    CLAIMS_FAILED = 23,
    STORE_FULL = 24,
    PACKET_GONE = 25,
    RX_PACKETS = 26,
    TX_PACKETS = 27,
    EVENTS = 28,
    TX_COALESCED = 29,
    TX_FORWARDED = 30,
    CTX_RECLAIMED = 31,
    UNITS_RESTARTED = 32,
}

pub(crate) type Counters = [u64; COUNTERS.len()];

#[cfg(test)]
mod tests {
    #[test]
    fn the_numbers_are_those_of_the_ir() {
        assert_eq!(super::ALL.len(), carrick_ir::COUNTERS.len());
        for (name, number) in super::ALL {
            assert_eq!(carrick_ir::counter(&name.to_lowercase()), *number);
        }
    }
}
