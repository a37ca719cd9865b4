// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fixed-point numbers: 32 bits before and 32 behind the point, two's complement.

const POINT: u32 = 32;

/// `a * b`, b fixed-point: rounded down, wrapping. With an unsigned `a`, a negative `b` counts as 0.
pub(crate) fn scale(signed: bool, a: u64, b: u64) -> u64 {
    match signed {
        true => ((i128::from(a as i64) * i128::from(b as i64)) >> POINT) as u64,
        false => ((u128::from(a) * (b as i64).max(0) as u128) >> POINT) as u64,
    }
}

/// `a / b` as a fixed-point number: rounded toward zero, wrapping; 0 by 0.
pub(crate) fn ratio(signed: bool, a: u64, b: u64) -> u64 {
    match (b, signed) {
        (0, _) => 0,
        (_, true) => ((i128::from(a as i64) << POINT) / i128::from(b as i64)) as u64,
        (_, false) => ((u128::from(a) << POINT) / u128::from(b)) as u64,
    }
}

/// The largest number of at most `bits` bits whose power is at most `of`.
fn root(of: u128, bits: u32, power: impl Fn(u128) -> u128) -> u64 {
    let mut root = 0;
    for bit in (0..bits).rev() {
        let next = root | 1 << bit;
        if power(next) <= of {
            root = next;
        }
    }
    root as u64
}

/// The square root, rounded down; 0 of a negative number.
pub(crate) fn sqrt(value: u64) -> u64 {
    let value = (value as i64).max(0) as u128;
    root(value << POINT, 48, |r| r * r)
}

/// The cube root, rounded toward zero.
pub(crate) fn cbrt(value: u64) -> u64 {
    let number = value as i64;
    let root = root(u128::from(number.unsigned_abs()) << (2 * POINT), 43, |r| r * r * r);
    if number < 0 { root.wrapping_neg() } else { root }
}

/// The logarithm to base 2, rounded down, or less by one in the last place; 0 of what is not above 0. Every target computes
/// it in these steps.
pub(crate) fn log2(value: u64) -> u64 {
    let number = value as i64;
    if number <= 0 {
        return 0;
    }
    let zeros = value.leading_zeros();
    let mut part = value << zeros;
    let mut log = i64::from(31 - zeros as i32);
    for _ in 0..POINT {
        part = ((u128::from(part) * u128::from(part)) >> 64) as u64;
        let more = part >> 63;
        part <<= 1 - more;
        log = log << 1 | more as i64;
    }
    log as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixed(x: f64) -> u64 {
        (x * f64::from(2.0_f32.powi(32))) as i64 as u64
    }

    #[test]
    fn products_and_quotients_round_as_they_say() {
        assert_eq!(scale(true, fixed(1.5), fixed(-2.5)), fixed(-3.75));
        assert_eq!(scale(true, 1, fixed(-0.5)) as i64, -1, "down");
        assert_eq!(scale(false, 1001, fixed(0.5)), 500);
        assert_eq!(scale(false, 1000, fixed(-0.5)), 0);
        assert_eq!(scale(false, u64::MAX, fixed(1.0)), u64::MAX);
        assert_eq!(ratio(true, -1_i64 as u64, 3) as i64, -0x5555_5555, "toward zero");
        assert_eq!(ratio(false, 7, 10), 3_006_477_107);
        assert_eq!(ratio(true, 5, 0), 0);
        assert_eq!(ratio(true, i64::MIN as u64, -1_i64 as u64), 0, "2^95 wraps");
    }

    #[test]
    fn roots_are_the_largest_whose_power_fits() {
        assert_eq!(sqrt(fixed(2.25)), fixed(1.5));
        assert_eq!(sqrt(fixed(-4.0)), 0);
        assert_eq!(cbrt(fixed(-27.0)), fixed(-3.0));
        assert_eq!(cbrt(i64::MIN as u64) as i64, -5_541_191_377_756, "of -2^31");
        for x in [0, 1, 2, 3, 0x1234_5678_9abc_def0, i64::MAX as u64] {
            let (s, c, of) = (u128::from(sqrt(x)), u128::from(cbrt(x)), u128::from(x));
            assert!(s * s <= of << 32 && (s + 1) * (s + 1) > of << 32, "sqrt {x}");
            assert!(c * c * c <= of << 64 && (c + 1).pow(3) > of << 64, "cbrt {x}");
        }
    }

    #[test]
    fn logarithms_are_those_of_floating_point() {
        for exponent in -32..31 {
            let power = if exponent < 0 { 1_u64 << (32 + exponent) } else { 1_u64 << 32 << exponent };
            assert_eq!(log2(power) as i64, i64::from(exponent) << 32, "2^{exponent}");
        }
        for x in [3, 5, 0x1_8000_0000, 0x1_0000_0001, 0x1234_5678_9abc_def0, i64::MAX as u64] {
            let exact = (x as f64).log2() - 32.0;
            let found = log2(x) as i64 as f64 / f64::from(2.0_f32.powi(32));
            assert!((found - exact).abs() < 1e-9, "log2 of {x}: {found}, not {exact}");
        }
        assert_eq!((log2(0), log2(fixed(-1.0))), (0, 0));
    }
}
