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

    /// The multiple of the unit that suits a value, and its name; the name is empty for plain numbers.
    fn multiple(self, like: f64) -> (f64, &'static str) {
        let steps: &[(f64, &str)] = match self {
            Unit::Times => &[(1.0, "")],
            Unit::Octets => &[(1e9, "GB"), (1e6, "MB"), (1e3, "KB"), (1.0, "B")],
            Unit::Time => &[(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")],
            Unit::Rate => &[(1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s")],
            Unit::Share => &[(0.01, "%")],
        };
        let last = steps[steps.len() - 1];
        *steps.iter().find(|(size, _)| like >= *size).unwrap_or(&last)
    }

    /// A value in words, in the multiple of the unit that suits it.
    pub fn words(self, value: f64) -> String {
        let (_, name) = self.multiple(value);
        let number = self.number(value, value);
        if name.is_empty() { number } else { format!("{number} {name}") }
    }

    /// A value in the multiple of the unit that suits `like`, without its name.
    pub fn number(self, value: f64, like: f64) -> String {
        // Values at an axis have few digits: what is behind them comes from the arithmetic.
        let number = (value / self.multiple(like).0 * 1e6).round() / 1e6;
        number.to_string()
    }

    /// The name of the multiple that suits `like`, for the title of an axis; `None` for plain numbers.
    pub fn name(self, like: f64) -> Option<&'static str> {
        match self.multiple(like).1 {
            "" => None,
            "B" => Some("bytes"),
            name => Some(name),
        }
    }
}

/// An axis that fits its values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    log: bool,
    lo: f64,
    hi: f64,
    step: f64,
    /// the limits are given, and values can be outside
    given: bool,
}

/// How far outside given limits a value can be, in lengths of the axis.
const FAR: f64 = 1e3;

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
        Scale { log: false, lo: 0.0, hi: (most / step - 1e-9).ceil() * step, step, given: false }
    }

    /// From one given value to a greater one; both are above 0 if `log`.
    pub fn between((lo, hi): (f64, f64), log: bool) -> Scale {
        Scale { log, lo, hi, step: next(round_down((hi - lo) / 6.0)), given: true }
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
        Scale { log: true, lo, hi, step: 0.0, given: false }
    }

    /// The greatest value.
    pub fn hi(&self) -> f64 {
        self.hi
    }

    /// Where a value is: 0 at the beginning of the axis, 1 at its end. What a logarithm has not is at the beginning. Between given
    /// limits, values outside are outside; else they are at the ends.
    pub fn place(&self, value: f64) -> f64 {
        let place = if self.log {
            let least = if self.given { self.lo * 1e-3 } else { self.lo };
            (value.max(least) / self.lo).ln() / (self.hi / self.lo).ln()
        } else {
            (value - self.lo) / (self.hi - self.lo)
        };
        if self.given { place.clamp(-FAR, FAR) } else { place.clamp(0.0, 1.0) }
    }

    /// The values at which there are lines, in ascending order.
    pub fn ticks(&self) -> Vec<f64> {
        if self.log { self.log_ticks() } else { self.linear_ticks() }
    }

    fn linear_ticks(&self) -> Vec<f64> {
        let (first, last) = (self.lo / self.step, self.hi / self.step);
        let whole = (first - 1e-9).ceil() as u64..=(last + 1e-9).floor() as u64;
        whole.map(|n| n as f64 * self.step).collect()
    }

    fn log_ticks(&self) -> Vec<f64> {
        let mut all = vec![round_down(self.lo)];
        while let Some(last) = all.last().copied().filter(|last| *last < self.hi * (1.0 - 1e-9)) {
            all.push(next(last));
        }
        all.retain(|v| (self.lo * (1.0 - 1e-9)..=self.hi * (1.0 + 1e-9)).contains(v));
        if all.len() < 2 {
            return vec![self.lo, self.hi];
        }
        if all.len() <= 8 {
            return all;
        }
        let tens = |v: &f64| (v.log10() - v.log10().round()).abs() < 1e-9;
        all.retain(tens);
        let each = all.len().div_ceil(8);
        all.into_iter().step_by(each.max(1)).collect()
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
        assert_eq!(
            (Unit::Time.number(2_500.0, 10_000.0), Unit::Time.name(10_000.0)),
            ("2.5".into(), Some("µs"))
        );
        assert_eq!(Unit::Rate.words(4e9), "4 Gbit/s");
        assert_eq!((Unit::Share.number(0.3, 1.0), Unit::Share.name(1.0)), ("30".into(), Some("%")));
        assert_eq!((Unit::Octets.words(1e6), Unit::Octets.name(500.0)), ("1 MB".into(), Some("bytes")));
        assert_eq!((Unit::Times.words(0.0), Unit::Times.name(10.0)), ("0".into(), None));
    }

    #[test]
    fn between_given_limits_there_are_round_numbers() {
        let scale = Scale::between((150.0, 450.0), false);
        assert_eq!((scale.ticks(), scale.place(300.0)), (vec![200.0, 300.0, 400.0], 0.5));
        assert!(scale.place(0.0) < 0.0 && scale.place(600.0) > 1.0);
        assert_eq!(Scale::between((3.0, 40.0), true).ticks(), [5.0, 10.0, 20.0]);
        assert_eq!(Scale::between((3.0, 4.0), true).ticks(), [3.0, 4.0]);
    }
}
