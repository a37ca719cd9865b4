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
    UNPARSED = 10,
    NO_CONTEXT = 11,
    CTX_REFUSED = 12,
    TX_CUT = 13,
    PAYLOAD_CUT = 14,
    RX_CUT = 15,
    RX_RUNS_FULL = 16,
    NO_UNIT = 17,
    TX_QUEUE_FULL = 18,
    TX_TOO_LONG = 19,
    COMPLETION_LOST = 20,
    CLAIMS_FAILED = 21,
    STORE_FULL = 22,
    PACKET_GONE = 23,
    RX_PACKETS = 24,
    TX_PACKETS = 25,
    EVENTS = 26,
    TX_COALESCED = 27,
    TX_FORWARDED = 28,
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
