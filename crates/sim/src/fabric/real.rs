// SPDX-License-Identifier: MIT OR Apache-2.0
//! Real numbers that are the same on every machine: only what IEEE 754 defines to the last bit.

use std::f64::consts::{LN_2, SQRT_2};

use crate::rng::Rng;

/// At least 0 and below 1.
pub fn unit(rng: &mut Rng) -> f64 {
    let bits = u64::from(rng.next_u32()) << 21 ^ u64::from(rng.next_u32() >> 11);
    bits as f64 / (1_u64 << 53) as f64
}

/// The natural logarithm of a positive number.
pub fn ln(x: f64) -> f64 {
    if x <= 0.0 || !x.is_normal() {
        return f64::MIN;
    }
    let bits = x.to_bits();
    let mut exponent = (bits >> 52) as i64 - 1023;
    let mut mantissa = f64::from_bits(bits & ((1 << 52) - 1) | 1023 << 52);
    if mantissa > SQRT_2 {
        mantissa /= 2.0;
        exponent += 1;
    }
    // ln m = 2 artanh ((m - 1) / (m + 1)), which is below 0.172.
    let y = (mantissa - 1.0) / (mantissa + 1.0);
    let square = y * y;
    let series = (0..12).rev().fold(0.0, |sum, i| sum * square + 1.0 / f64::from(2 * i + 1));
    2.0 * y * series + exponent as f64 * LN_2
}

/// The exponential function, between e^-700 and e^700.
pub fn exp(x: f64) -> f64 {
    let x = x.clamp(-700.0, 700.0);
    let halvings = (x / LN_2).round();
    let rest = x - halvings * LN_2;
    let series = (1..=16).rev().fold(1.0, |sum, i| 1.0 + sum * rest / f64::from(i));
    series * f64::from_bits(((halvings as i64 + 1023) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_agree_with_the_libraries() {
        for x in [1e-12, 0.001, 0.3, 0.999, 1.0, 1.5, 2.0, 77.7, 1e9] {
            assert!((ln(x) - x.ln()).abs() <= 1e-13 * x.ln().abs().max(1.0), "ln {x}");
        }
        for x in [-300.0, -20.5, -1.0, 0.0, 0.1, 0.5, 3.0, 88.0] {
            assert!((exp(x) / x.exp() - 1.0).abs() < 1e-12, "exp {x}");
        }
        let mut rng = Rng::new(1, 1);
        let mean: f64 = (0..10_000).map(|_| unit(&mut rng)).sum::<f64>() / 1e4;
        assert!((mean - 0.5).abs() < 0.02);
    }
}
