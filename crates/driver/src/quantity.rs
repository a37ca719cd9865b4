// SPDX-License-Identifier: MIT OR Apache-2.0
//! Quantities as people write them on a command line: `10ms`, `100Mbps`, `10MB`, `1%`. As in programs, durations and rates
//! have a unit; only 0 needs none.

use std::net::Ipv4Addr;

use carrick_ir::{Ty, arith};

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

/// A plain number. It may have a unit of bytes, since buffers and windows are often plain numbers, or be an IPv4 address.
///
/// # Errors
/// [`Failure::Usage`] with an example.
pub fn number(text: &str) -> Result<u64, Failure> {
    scaled(text, &BYTES)
        .or_else(|| text.parse::<Ipv4Addr>().ok().map(|address| u32::from(address).into()))
        .ok_or_else(|| wrong(text, "a number", "5, 64KiB or 10.0.0.1"))
}

/// `true` or `false`, or 1 or 0.
///
/// # Errors
/// [`Failure::Usage`] with both.
pub fn truth(text: &str) -> Result<u64, Failure> {
    match text {
        "true" | "1" => Ok(1),
        "false" | "0" => Ok(0),
        _ => Err(Failure::Usage(format!("{text:?} is neither true nor false; write one of them"))),
    }
}

/// A value of a type: its bits. Only a signed one may have a sign.
///
/// # Errors
/// [`Failure::Usage`] with an example.
pub fn of(ty: &Ty, text: &str) -> Result<u64, Failure> {
    let read = match ty {
        Ty::Duration | Ty::Time => duration,
        Ty::Rate => rate,
        Ty::Bytes => bytes,
        Ty::Bool => truth,
        _ => number,
    };
    let signed = arith::shape(ty).1;
    let magnitude = text.strip_prefix('-').filter(|_| signed);
    let value = i128::from(read(magnitude.unwrap_or(text))?);
    let value = if magnitude.is_some() { -value } else { value };
    if signed && i64::try_from(value).is_err() {
        return Err(Failure::Usage(format!("{text:?} is too large; write a smaller one")));
    }
    Ok(value as u64)
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
        assert_eq!((duration("0"), rate("0"), number("5")), (Ok(0), Ok(0), Ok(5)));
        assert_eq!(number("10.0.0.4"), Ok(0x0a00_0004));
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

    #[test]
    fn a_value_has_the_unit_of_its_type() {
        let signed = Ty::Int { bits: 32, signed: true };
        assert_eq!((of(&Ty::U32, "64KiB"), of(&Ty::U32, "0144")), (Ok(65_536), Ok(144)));
        assert_eq!((of(&Ty::Bool, "true"), of(&Ty::Rate, "1Gbps")), (Ok(1), Ok(1_000_000_000)));
        assert_eq!((of(&signed, "-5"), of(&signed, "5")), (Ok(5_u64.wrapping_neg()), Ok(5)));
        assert_eq!(of(&Ty::Duration, "-1ms"), Ok(1_000_000_u64.wrapping_neg()));
        let wrong = [
            (Ty::U32, "5ms"),
            (Ty::U32, "1Mbps"),
            (Ty::U32, "true"),
            (Ty::U32, "-5"),
            (Ty::U32, "0x10"),
            (Ty::Bool, "2"),
            (Ty::Bool, "5ms"),
            (Ty::Bytes, "5ms"),
            (Ty::Duration, "1Gbps"),
            (Ty::Duration, "200000000"),
            (Ty::Duration, "-"),
            (Ty::Duration, "--1s"),
            (Ty::Rate, "-1bps"),
            (signed.clone(), "5ms"),
            (signed, "9223372036854775808"),
        ];
        for (ty, text) in wrong {
            assert!(of(&ty, text).is_err(), "{ty:?} {text}");
        }
    }
}
