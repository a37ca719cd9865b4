// SPDX-License-Identifier: MIT OR Apache-2.0
//! What an offload does to a message. It follows from the message's numbers: one that is sent again meets the same fate.

use super::settings::{Offload, WHOLE};
use crate::fabric::host_apps::{HEAD, Piece};
use crate::fabric::real::unit;
use crate::rng::Rng;

/// What becomes of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// its way ends here
    Intercepted,
    /// its way ends here, as the cache has its key
    Hit,
    /// it goes on with so many bytes
    Through(u64),
}

/// The stream of random numbers for the fates at node 0; those of others follow.
const STREAM_FATES: u64 = 2 << 32;

/// The fates of the messages at a node.
pub struct Fates {
    seed: u64,
    stream: u64,
    /// the share of messages whose key the cache has
    hits: f64,
    settings: Offload,
}

impl Fates {
    pub fn new(settings: &Offload, seed: u64) -> Fates {
        let hits = settings.cache.as_ref().map_or(0.0, |cache| cache.hottest().1);
        Fates { seed, stream: STREAM_FATES + u64::from(settings.node), hits, settings: settings.clone() }
    }

    /// That of a message of so many bytes.
    pub fn of(&self, piece: Piece, octets: u64) -> Fate {
        let number = u64::from(piece.flow) << 32 | u64::from(piece.number);
        let seed = self.seed.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut rng = Rng::new(seed, self.stream);
        if rng.chance(self.settings.intercept_ppm) {
            return Fate::Intercepted;
        }
        if unit(&mut rng) < self.hits {
            return Fate::Hit;
        }
        let [least, greatest] = self.settings.ratio_ppm;
        let ratio = rng.between(least.into(), greatest.into());
        Fate::Through((octets * ratio / u64::from(WHOLE)).max(HEAD as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::super::settings::Cache;
    use super::*;

    fn fates(change: impl Fn(&mut Offload)) -> Vec<Fate> {
        let mut settings = Offload::at(3);
        change(&mut settings);
        settings.check().expect("valid");
        let fates = Fates::new(&settings, 5);
        let all = (0..100).flat_map(|flow| (0..100).map(move |number| Piece { flow, number }));
        let all: Vec<_> = all.map(|piece| fates.of(piece, 1000)).collect();
        let again = fates.of(Piece { flow: 99, number: 99 }, 1000);
        assert_eq!(all.last(), Some(&again), "the same message meets the same fate");
        all
    }

    fn share(all: &[Fate], fate: Fate) -> f64 {
        all.iter().filter(|it| **it == fate).count() as f64 / all.len() as f64
    }

    #[test]
    fn shares_and_sizes_are_those_asked_for() {
        assert!(fates(|_| ()).iter().all(|fate| *fate == Fate::Through(1000)));
        let some = fates(|it| it.intercept_ppm = 700_000);
        assert!((0.68..0.72).contains(&share(&some, Fate::Intercepted)));
        let sizes = fates(|it| it.ratio_ppm = [700_000, 1_300_000]);
        let size = |fate: &Fate| if let Fate::Through(octets) = fate { *octets } else { 0 };
        let (least, greatest) = (sizes.iter().map(size).min(), sizes.iter().map(size).max());
        assert!(least >= Some(700) && least < Some(705) && greatest > Some(1295) && greatest <= Some(1300));
        let mean = sizes.iter().map(size).sum::<u64>() / sizes.len() as u64;
        assert!((990..1010).contains(&mean), "{mean}");
    }

    #[test]
    fn a_cache_has_the_hottest_keys() {
        let cache = |hits_ppm, keys, exponent| Cache { hits_ppm, keys, exponent };
        // 1 + 1/2 + 1/3 + 1/4 = 25/12, of which the first key has 48 %, the first two 72 %.
        assert_eq!(cache(470_000, 4, 1.0).hottest().0, 1);
        let (keys, share_of_two) = cache(500_000, 4, 1.0).hottest();
        assert!(keys == 2 && (share_of_two - 0.72).abs() < 1e-9);
        assert_eq!(cache(500_000, 1000, 0.0).hottest(), (500, 0.5));
        assert_eq!(cache(WHOLE, 7, 0.99).hottest().0, 7);
        let hit = fates(|it| it.cache = Some(cache(500_000, 10_000, 0.99)));
        assert!((0.48..0.53).contains(&share(&hit, Fate::Hit)));
    }
}
