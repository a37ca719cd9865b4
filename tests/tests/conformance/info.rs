// SPDX-License-Identifier: MIT OR Apache-2.0
//! What scripts assert of `TCP_INFO`, as far as the program's call `info` tells it.

/// Fields by name, each with its item of `info`, and whether Linux counts it in segments and the program in bytes.
const FIELDS: [(&str, u64, bool); 8] = [
    ("tcpi_state", 0, false),
    ("tcpi_snd_cwnd", 5, true),
    ("tcpi_snd_ssthresh", 6, true),
    ("tcpi_unacked", 7, true),
    ("tcpi_ca_state", 11, false),
    ("tcpi_lost", 14, true),
    ("tcpi_retrans", 15, true),
    ("tcpi_sacked", 16, true),
];

/// The item with the size of a segment.
pub const SEGMENT: u64 = 1;

/// Values by name.
const VALUES: [(&str, u64); 12] = [
    ("TCPI_CLOSED", 0),
    ("TCPI_ESTABLISHED", 3),
    ("TCPI_FIN_WAIT_1", 4),
    ("TCPI_FIN_WAIT_2", 5),
    ("TCPI_CLOSE_WAIT", 6),
    ("TCPI_CLOSING", 7),
    ("TCPI_LAST_ACK", 8),
    ("TCPI_TIME_WAIT", 9),
    ("TCP_CA_Open", 0),
    ("TCP_CA_Disorder", 1),
    ("TCP_CA_Recovery", 3),
    ("TCP_CA_Loss", 4),
];

/// One comparison of an assertion.
pub struct Compared {
    pub name: &'static str,
    pub item: u64,
    pub in_segments: bool,
    pub wanted: u64,
}

/// The comparisons `assert FIELD == VALUE` of a text whose field and value are known; all others are left out.
pub fn compared(text: &str) -> Vec<Compared> {
    let one = |part: &str| {
        let (name, rest) = part.trim().split_once("==")?;
        let value = rest.trim().split([',', ' ', ';', '}']).next()?;
        let named = VALUES.iter().find(|(name, _)| *name == value).map(|(_, value)| *value);
        let wanted = named.or_else(|| value.parse().ok())?;
        let (name, item, in_segments) = *FIELDS.iter().find(|(field, ..)| *field == name.trim())?;
        Some(Compared { name, item, in_segments, wanted })
    };
    text.split("assert ").filter_map(one).collect()
}
