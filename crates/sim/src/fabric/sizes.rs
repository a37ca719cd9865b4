// SPDX-License-Identifier: MIT OR Apache-2.0
//! How long messages are: one length, or a distribution that was measured in a data centre.
//!
//! W1 to W5 are those of Montazeri, Li, Alizadeh and Ousterhout, "... A Receiver-Driven Low-Latency Transport Protocol Using
//! Network Priorities" (SIGCOMM 2018, figure 1), with the points that the paper's simulations used. W1: accesses to a collection of memcached
//! servers (Atikoglu et al., SIGMETRICS 2012); W2: a search application; W3: all applications of a data centre; W4: a Hadoop
//! cluster (Roy et al., SIGCOMM 2015); W5: web search (Alizadeh et al., SIGCOMM 2010).

use super::real::{exp, ln, unit};
use crate::rng::Rng;

/// Lengths of messages, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sizes {
    Fixed(u64),
    /// each length from the first to the second equally often
    Uniform(u64, u64),
    /// the workload of that name
    Known(Known),
}

/// A published distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    W1,
    W2,
    W3,
    W4,
    W5,
}

/// Up to this share of all messages, lengths are at most this.
type Point = (f64, f64);

/// Lengths of values of the "ETC" pool: the points up to 15 bytes; what is longer has a generalised Pareto distribution with
/// these location, scale and shape (Atikoglu et al., table 5).
const W1: [Point; 15] = [
    (1.0, 0.00583),
    (2.0, 0.18403),
    (3.0, 0.27642),
    (4.0, 0.27660),
    (5.0, 0.30400),
    (6.0, 0.30465),
    (7.0, 0.31071),
    (8.0, 0.31094),
    (9.0, 0.31931),
    (10.0, 0.32768),
    (11.0, 0.41757),
    (12.0, 0.41849),
    (13.0, 0.42175),
    (14.0, 0.44155),
    (15.0, 0.47),
];
const W1_TAIL: (f64, f64, f64) = (15.0, 214.476, 0.348_238);
const W1_LONGEST: f64 = 100_000.0;

/// Between two of these, in steps that are equal in their share and in the reciprocal of the length.
const W2_STEPS: f64 = 10.0;
const W2: [Point; 21] = [
    (1.0, 0.0),
    (2.0, 0.075_603_390_181_839_4),
    (3.0, 0.132_305_932_818_219),
    (4.0, 0.151_206_780_363_679),
    (8.0, 0.170_107_627_909_139),
    (32.0, 0.189_008_475_454_599),
    (64.0, 0.326_435_928_252_878),
    (128.0, 0.341_703_173_597_455),
    (256.0, 0.463_839_540_642_395),
    (512.0, 0.910_400_619_997_895),
    (1_024.0, 0.958_110_136_514_154),
    (2_048.0, 0.981_010_712_777_766),
    (4_096.0, 0.995_323_561_778_495),
    (8_192.0, 0.998_424_683_031_419),
    (16_384.0, 0.998_901_777_750_02),
    (32_768.0, 0.999_140_325_109_321),
    (65_536.0, 0.999_349_054_281_293),
    (131_072.0, 0.999_870_877_211_223),
    (262_144.0, 0.999_975_241_797_209),
    (524_288.0, 0.999_982_696_460_333),
    (3_529_904.0, 1.0),
];

const W3_STEPS: f64 = 8.0;
const W3: [Point; 21] = [
    (1.0, 0.0),
    (2.0, 0.276_695_094_911_062),
    (3.0, 0.461_158_491_518_437),
    (4.0, 0.553_390_189_822_125),
    (7.0, 0.645_621_888_125_812),
    (32.0, 0.737_853_586_429_5),
    (64.0, 0.797_357_907_915_75),
    (128.0, 0.827_110_077_941_51),
    (256.0, 0.856_862_234_043_337),
    (512.0, 0.938_680_680_728_268),
    (1_024.0, 0.960_994_803_606_281),
    (2_048.0, 0.974_011_376_252_067),
    (4_096.0, 0.981_449_403_674_17),
    (8_192.0, 0.989_817_212_807_186),
    (16_384.0, 0.995_628_181_702_328),
    (32_768.0, 0.997_255_253_283_051),
    (65_536.0, 0.998_068_787_260_39),
    (131_072.0, 0.999_172_871_676_811),
    (262_144.0, 0.999_550_358_353_538),
    (524_288.0, 0.999_848_283_714_533),
    (12_158_197.0, 1.0),
];

const W4: [Point; 46] = [
    (92.0, 0.0074),
    (217.0, 0.0149),
    (271.0, 0.0409),
    (300.0, 0.0520),
    (326.0, 0.1375),
    (376.0, 0.2026),
    (425.0, 0.2230),
    (480.0, 0.2639),
    (600.0, 0.4591),
    (679.0, 0.5167),
    (737.0, 0.5520),
    (800.0, 0.5762),
    (885.0, 0.5912),
    (1_042.0, 0.6097),
    (1_277.0, 0.6282),
    (1_413.0, 0.6394),
    (1_534.0, 0.6468),
    (1_664.0, 0.6673),
    (2_214.0, 0.6747),
    (3_396.0, 0.6840),
    (5_210.0, 0.6933),
    (7_830.0, 0.7082),
    (31_946.0, 0.7212),
    (36_844.0, 0.7305),
    (39_973.0, 0.7398),
    (44_260.0, 0.7584),
    (47_050.0, 0.7788),
    (51_046.0, 0.8160),
    (62_583.0, 0.8234),
    (70_722.0, 0.8327),
    (75_180.0, 0.8420),
    (81_565.0, 0.8717),
    (102_058.0, 0.8885),
    (115_331.0, 0.8978),
    (133_013.0, 0.9070),
    (156_563.0, 0.9164),
    (184_284.0, 0.9257),
    (212_546.0, 0.9349),
    (240_177.0, 0.9442),
    (288_520.0, 0.9535),
    (470_507.0, 0.9628),
    (736_642.0, 0.9684),
    (940_700.0, 0.9721),
    (1_769_244.0, 0.9814),
    (2_169_118.0, 0.9870),
    (10_000_000.0, 1.0),
];

/// In packets of so many bytes; between two of these, each length is equally likely.
const W5_PACKET: f64 = 1442.0;
const W5: [Point; 12] = [
    (0.0, 0.0),
    (6.0, 0.15),
    (13.0, 0.2),
    (19.0, 0.3),
    (33.0, 0.4),
    (53.0, 0.53),
    (133.0, 0.6),
    (667.0, 0.7),
    (1_333.0, 0.8),
    (3_333.0, 0.9),
    (6_667.0, 0.9),
    (20_000.0, 1.0),
];

impl Sizes {
    /// `w1` to `w5`.
    pub fn known(name: &str) -> Option<Sizes> {
        let names =
            [("w1", Known::W1), ("w2", Known::W2), ("w3", Known::W3), ("w4", Known::W4), ("w5", Known::W5)];
        names.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, known)| Sizes::Known(*known))
    }

    /// A length.
    pub fn sample(self, rng: &mut Rng) -> u64 {
        match self {
            Sizes::Fixed(octets) => octets,
            Sizes::Uniform(lo, hi) => rng.between(lo.min(hi), hi.max(lo)),
            Sizes::Known(known) => known.at(unit(rng)),
        }
    }

    /// Bytes on average.
    pub fn mean(self) -> f64 {
        /// Places of the distribution that are looked at.
        const PLACES: u32 = 1 << 20;
        match self {
            Sizes::Fixed(octets) => octets as f64,
            Sizes::Uniform(lo, hi) => (lo as f64 + hi as f64) / 2.0,
            Sizes::Known(known) => {
                let at = |place: u32| known.at((f64::from(place) + 0.5) / f64::from(PLACES)) as f64;
                (0..PLACES).map(at).sum::<f64>() / f64::from(PLACES)
            }
        }
    }
}

impl Known {
    /// The length that this share of all messages does not exceed.
    fn at(self, share: f64) -> u64 {
        let octets = match self {
            Known::W1 => w1(share),
            Known::W2 => between(&W2, share, |lo, hi, f| harmonic(lo, hi, f, W2_STEPS)),
            Known::W3 => between(&W3, share, |lo, hi, f| harmonic(lo, hi, f, W3_STEPS)),
            Known::W4 => between(&W4, share, |_, hi, _| hi),
            Known::W5 => between(&W5, share, |lo, hi, f| (lo + (hi - lo) * f).ceil() * W5_PACKET),
        };
        octets.max(1.0).round() as u64
    }
}

fn w1(share: f64) -> f64 {
    let below = W1[W1.len() - 1].1;
    if share < below {
        return between(&W1, share, |_, hi, _| hi);
    }
    let (location, scale, shape) = W1_TAIL;
    let rest = (1.0 - share) / (1.0 - below);
    (location + scale / shape * (exp(-shape * ln(rest)) - 1.0)).min(W1_LONGEST)
}

/// The length at a share that lies between two points: of these, and where it lies between them.
fn between(points: &[Point], share: f64, length: impl Fn(f64, f64, f64) -> f64) -> f64 {
    let after = points.partition_point(|(_, upto)| *upto <= share).min(points.len() - 1);
    let (hi, upto) = points[after];
    let (lo, from) = after.checked_sub(1).map_or((hi, 0.0), |before| points[before]);
    length(lo, hi, ((share - from) / (upto - from)).clamp(0.0, 1.0))
}

fn harmonic(lo: f64, hi: f64, f: f64, steps: f64) -> f64 {
    if lo < 32.0 {
        return hi;
    }
    let f = (f * steps).floor().min(steps - 1.0) + 1.0;
    let f = f / steps;
    1.0 / ((1.0 - f) / lo + f / hi)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_means_are_those_that_were_published() {
        // W1's has no end; here it is cut.
        for (known, mean) in [
            (Known::W1, 185.0),
            (Known::W2, 440.79),
            (Known::W3, 1001.27),
            (Known::W4, 194_330.9),
            (Known::W5, 1744.68 * 1442.0),
        ] {
            let found = Sizes::Known(known).mean();
            assert!((found / mean - 1.0).abs() < 0.05, "{known:?}: {found}, published {mean}");
        }
    }

    #[test]
    fn published_points_are_met() {
        // Just below each share: the length that has it.
        for (known, share, octets) in [
            (Known::W1, 0.305, 7),
            (Known::W2, 0.216_49, 36),
            (Known::W2, 0.912_7, 539),
            (Known::W2, 0.999_998_2, 2_243_665),
            (Known::W3, 0.752_7, 37),
            (Known::W3, 0.999_943, 1_304_357),
            (Known::W4, 0.5, 679),
            (Known::W5, 0.53, 53 * 1442),
            (Known::W5, 0.999_999, 28_840_000),
        ] {
            assert_eq!(known.at(share), octets, "{known:?} at {share}");
        }
    }

    #[test]
    fn samples_spread_as_the_distribution_does() {
        let mut rng = Rng::new(3, 9);
        let short = (0..100_000).filter(|_| Sizes::Known(Known::W4).sample(&mut rng) <= 600).count();
        assert!((45_000..47_000).contains(&short), "{short}");
    }
}
