// SPDX-License-Identifier: MIT OR Apache-2.0
//! From values to places on a drawing, and the values that stand at an axis.

/// What values are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// how many times
    Times,
    Octets,
    /// virtual nanoseconds
    Time,
    /// bits per second
    Rate,
    /// 1 is all
    Share,
}

impl Unit {
    /// The unit of values that a table calls so.
    pub fn named(name: &str) -> Unit {
        match name {
            "bytes" => Unit::Octets,
            "ns" => Unit::Time,
            "bps" => Unit::Rate,
            _ => Unit::Times,
        }
    }

    /// A value in words, in a multiple of the unit that suits `like`.
    pub fn words(self, value: f64, like: f64) -> String {
        let steps: &[(f64, &str)] = match self {
            Unit::Times => &[(1.0, "")],
            Unit::Octets => &[(1e9, " GB"), (1e6, " MB"), (1e3, " KB"), (1.0, " B")],
            Unit::Time => &[(1e9, " s"), (1e6, " ms"), (1e3, " µs"), (1.0, " ns")],
            Unit::Rate => &[(1e9, " Gbit/s"), (1e6, " Mbit/s"), (1e3, " Kbit/s"), (1.0, " bit/s")],
            Unit::Share => &[(0.01, " %")],
        };
        let last = steps[steps.len() - 1];
        let (size, name) = *steps.iter().find(|(size, _)| like >= *size).unwrap_or(&last);
        // Values at an axis have few digits: what is behind them comes from the arithmetic.
        let number = (value / size * 1e6).round() / 1e6;
        format!("{number}{name}")
    }
}

/// An axis that fits its values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    log: bool,
    lo: f64,
    hi: f64,
    step: f64,
}

/// 1, 2 or 5 times a power of ten: the last that is not above a positive value.
fn round_down(value: f64) -> f64 {
    let power = 10_f64.powf(value.log10().floor());
    let digit = [5.0, 2.0, 1.0].into_iter().find(|digit| digit * power <= value * (1.0 + 1e-9));
    digit.unwrap_or(0.5) * power
}

/// The next of these above one of them.
fn next(value: f64) -> f64 {
    let power = 10_f64.powf((value * (1.0 + 1e-9)).log10().floor());
    match (value / power).round() as u32 {
        1 => 2.0 * power,
        2 => 5.0 * power,
        _ => 10.0 * power,
    }
}

impl Scale {
    /// From 0 to at least the greatest of the values, in about five steps.
    pub fn linear(values: impl Iterator<Item = f64>) -> Scale {
        let most = values.filter(|v| v.is_finite()).fold(0.0, f64::max);
        let most = if most > 0.0 { most } else { 1.0 };
        let step = next(round_down(most / 6.0));
        Scale { log: false, lo: 0.0, hi: (most / step - 1e-9).ceil() * step, step }
    }

    /// From at most the least to at least the greatest of the values that are above 0, by the same factor everywhere.
    pub fn log(values: impl Iterator<Item = f64>) -> Scale {
        let (least, most) = values
            .filter(|v| v.is_finite() && *v > 0.0)
            .fold((f64::INFINITY, 0.0), |(least, most), v| (v.min(least), v.max(most)));
        let (least, most) = if most > 0.0 { (least, most) } else { (1.0, 10.0) };
        let lo = round_down(least);
        let mut hi = next(lo);
        while hi < most * (1.0 - 1e-9) {
            hi = next(hi);
        }
        Scale { log: true, lo, hi, step: 0.0 }
    }

    /// The greatest value.
    pub fn hi(&self) -> f64 {
        self.hi
    }

    /// Where a value is: 0 at the beginning of the axis, 1 at its end. What a logarithm has not is at the beginning.
    pub fn place(&self, value: f64) -> f64 {
        let place = if self.log {
            (value.max(self.lo) / self.lo).ln() / (self.hi / self.lo).ln()
        } else {
            (value - self.lo) / (self.hi - self.lo)
        };
        place.clamp(0.0, 1.0)
    }

    /// The values at which there are lines: from the first to the last.
    pub fn ticks(&self) -> Vec<f64> {
        if !self.log {
            let count = ((self.hi - self.lo) / self.step).round() as usize;
            return (0..=count).map(|n| self.lo + n as f64 * self.step).collect();
        }
        let mut all = vec![self.lo];
        while let Some(last) = all.last().copied().filter(|last| *last < self.hi * (1.0 - 1e-9)) {
            all.push(next(last));
        }
        if all.len() <= 8 {
            return all;
        }
        let tens = |v: &f64| (v.log10() - v.log10().round()).abs() < 1e-9;
        all.retain(tens);
        let each = all.len().div_ceil(8);
        all.into_iter().step_by(each.max(1)).collect()
    }

    /// Whether each value has a multiple of the unit that suits it, not all the same.
    pub fn is_log(&self) -> bool {
        self.log
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_hold_their_values_with_few_round_numbers() {
        for most in [0.3, 1.0, 7.0, 10.0, 12.0, 99.0, 1234.0, 4e9] {
            let scale = Scale::linear([most / 3.0, most].into_iter());
            let ticks = scale.ticks();
            assert!((4..=9).contains(&ticks.len()), "{most}: {ticks:?}");
            assert!(scale.hi() >= most && scale.place(most) > 0.6, "{most}: {ticks:?}");
        }
        for (least, most) in [(1.0, 1.0), (1.0, 3.0), (8.0, 1e9), (64.0, 1e4), (0.002, 0.7), (5.0, 5.0)] {
            let scale = Scale::log([least, most].into_iter());
            let ticks = scale.ticks();
            assert!((2..=8).contains(&ticks.len()), "{least} to {most}: {ticks:?}");
            assert!(scale.lo <= least && scale.hi() >= most, "{least} to {most}: {ticks:?}");
            assert!(scale.place(least) <= scale.place(most));
        }
        assert_eq!(Scale::log([1.0, 30.0].into_iter()).ticks(), [1.0, 2.0, 5.0, 10.0, 20.0, 50.0]);
    }

    #[test]
    fn nothing_to_draw_is_no_reason_to_fail() {
        assert_eq!(Scale::linear(std::iter::empty()).place(0.5), 0.5);
        assert!((Scale::log(std::iter::once(0.0)).place(0.0)).abs() < 1e-9);
    }

    #[test]
    fn values_have_units_that_suit_them() {
        assert_eq!(Unit::Time.words(2_500.0, 10_000.0), "2.5 µs");
        assert_eq!(Unit::Rate.words(4e9, 8e9), "4 Gbit/s");
        assert_eq!(Unit::Share.words(0.3, 1.0), "30 %");
        assert_eq!(Unit::Octets.words(1_000_000.0, 1e6), "1 MB");
        assert_eq!(Unit::Times.words(0.0, 10.0), "0");
    }
}
