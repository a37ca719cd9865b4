// SPDX-License-Identifier: MIT OR Apache-2.0
//! Quantities as people write them on a command line: `10ms`, `100Mbps`, `10MB`, `1%`. As in programs, durations and rates
//! have a unit; only 0 needs none.

use std::net::Ipv4Addr;

use crate::Failure;

const DURATIONS: [(&str, u64); 6] = [
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("min", 60_000_000_000),
    ("h", 3_600_000_000_000),
];
const BYTES: [(&str, u64); 8] = [
    ("", 1),
    ("B", 1),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];
const RATES: [(&str, u64); 4] = [("bps", 1), ("Kbps", 1_000), ("Mbps", 1_000_000), ("Gbps", 1_000_000_000)];

fn scaled(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 = text[..digits].parse().ok()?;
    match (number, &text[digits..]) {
        (0, "") => Some(0),
        (_, unit) => number.checked_mul(units.iter().find(|(name, _)| *name == unit)?.1),
    }
}

fn wrong(text: &str, what: &str, example: &str) -> Failure {
    Failure::Usage(format!("{text:?} is not {what}; write it like {example}"))
}

/// Nanoseconds.
///
/// # Errors
/// [`Failure::Usage`] with an example.
pub fn duration(text: &str) -> Result<u64, Failure> {
    scaled(text, &DURATIONS).ok_or_else(|| wrong(text, "a duration", "10ms, 50us or 2s"))
}

/// Bytes.
///
/// # Errors
/// [`Failure::Usage`] with an example.
pub fn bytes(text: &str) -> Result<u64, Failure> {
    scaled(text, &BYTES).ok_or_else(|| wrong(text, "a number of bytes", "10MB, 64KiB or 1500"))
}

/// Bits per second.
///
/// # Errors
/// [`Failure::Usage`] with an example.
pub fn rate(text: &str) -> Result<u64, Failure> {
    scaled(text, &RATES).ok_or_else(|| wrong(text, "a rate", "100Mbps or 10Gbps"))
}

/// Parts per million, from `1%`, `0.5%` or `0.005`. A number from 1 on needs a `%`: others write `1` for one percent.
///
/// # Errors
/// [`Failure::Usage`] with an example.
pub fn share(text: &str) -> Result<u32, Failure> {
    let (number, scale) = match text.strip_suffix('%') {
        Some(percent) => (percent, 10_000.0),
        None => (text, 1_000_000.0),
    };
    let value: f64 = number.parse().map_err(|_| wrong(text, "a share", "1% or 0.01"))?;
    if value >= 1.0 && scale > 10_000.0 {
        let other = if value > 1.0 { String::new() } else { format!(" or {}%", value * 100.0) };
        return Err(Failure::Usage(format!("{text:?} is not clear as a share: write {value}%{other}")));
    }
    let ppm = value * scale;
    if (0.0..=1_000_000.0).contains(&ppm) {
        Ok(ppm.round() as u32)
    } else {
        Err(wrong(text, "a share", "1% or 0.01"))
    }
}

/// Any of the above, for a parameter: `rcv_buf=1MiB`, `rto_min=10ms`, `nodelay=true`.
///
/// # Errors
/// [`Failure::Usage`] with an example.
pub fn any(text: &str) -> Result<u64, Failure> {
    match text {
        "true" => Ok(1),
        "false" => Ok(0),
        _ => scaled(text, &DURATIONS)
            .or_else(|| scaled(text, &BYTES))
            .or_else(|| scaled(text, &RATES))
            .or_else(|| text.parse::<Ipv4Addr>().ok().map(|address| u32::from(address).into()))
            .ok_or_else(|| wrong(text, "a value", "5, true, 10ms, 64KiB, 1Gbps or 10.0.0.1")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_read_with_their_units() {
        assert_eq!(duration("10ms"), Ok(10_000_000));
        assert_eq!(bytes("64KiB"), Ok(65_536));
        assert_eq!(bytes("1500"), Ok(1500));
        assert_eq!(rate("100Mbps"), Ok(100_000_000));
        assert_eq!(share("1%"), Ok(10_000));
        assert_eq!(share("0.01"), Ok(10_000));
        assert_eq!((duration("0"), rate("0"), any("5")), (Ok(0), Ok(0), Ok(5)));
        assert_eq!(any("10.0.0.4"), Ok(0x0a00_0004));
        let said = duration("10").expect_err("it has no unit").to_string();
        assert!(said.contains("10ms") && rate("100").is_err(), "{said}");
        for wrong in ["", "ms", "10 ms", "-1s", "10Zbps", "99999999999999999999h"] {
            assert!(duration(wrong).is_err() && bytes(wrong).is_err() && rate(wrong).is_err(), "{wrong}");
        }
        for (unclear, readings) in [("1", "write 1% or 100%"), ("1.0", "write 1% or 100%"), ("5", "write 5%")]
        {
            let said = share(unclear).expect_err("it can mean either").to_string();
            assert!(said.ends_with(readings), "{said}");
        }
        assert_eq!((share("0"), share("100%"), share("0.5")), (Ok(0), Ok(1_000_000), Ok(500_000)));
        assert!(share("101%").is_err() && share("-1%").is_err() && share("x").is_err());
    }
}
