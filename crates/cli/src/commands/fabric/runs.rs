// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which runs a command asks for: each combination of values of parameters, with each seed.

use std::fmt;
use std::str::FromStr;

use carrick_driver::Failure;

/// One of several parts of the runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// 1 to `of`
    pub number: u64,
    pub of: u64,
}

impl Shard {
    /// How many of so many runs it has: shards take them in turns.
    pub fn share(self, runs: u64) -> u64 {
        runs / self.of + u64::from(runs % self.of >= self.number)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let parts = text.split_once('/').and_then(|(n, of)| Some((n.parse().ok()?, of.parse().ok()?)));
        let shard = parts.map(|(number, of)| Shard { number, of });
        shard
            .filter(|s| (1..=s.of).contains(&s.number))
            .ok_or_else(|| "write it like 1/4: the first of four parts".to_owned())
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

/// A run to make.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Asked {
    pub seed: u64,
    /// which of the features of `--with` and `--or-with`
    pub variant: usize,
    /// each `name=value`
    pub settings: Vec<String>,
    /// as they were written, those of [`Runs::varied`]
    pub values: Vec<String>,
}

/// All runs of a command, or those of its shard.
#[derive(Debug)]
pub struct Runs {
    /// parameters that have several values; `with`, if the features vary
    pub varied: Vec<String>,
    /// without seeds
    combinations: Vec<Asked>,
    seed: u64,
    seeds: u64,
    shard: Option<Shard>,
    /// of all shards together
    pub total: u64,
}

/// Combinations of values at most: each holds a value for each parameter.
const COMBINATIONS: usize = 1_000_000;

impl Runs {
    /// Of variants of features, settings like `name=value`, or `name=value,value` for one after the other, and so many seeds.
    ///
    /// # Errors
    /// [`Failure::Usage`], if there are too many runs to count.
    pub fn of(
        variants: &[&str],
        settings: &[String],
        (seed, seeds): (u64, u64),
        shard: Option<Shard>,
    ) -> Result<Runs, Failure> {
        let mut varied = Vec::new();
        let mut combinations = vec![Asked::default()];
        if variants.len() > 1 {
            varied.push("with".to_owned());
            let of = |(variant, name): (usize, &&str)| Asked {
                variant,
                values: vec![(*name).to_owned()],
                ..Asked::default()
            };
            combinations = variants.iter().enumerate().map(of).collect();
        }
        for setting in settings {
            let Some((name, values)) = setting.split_once('=').filter(|(_, values)| values.contains(','))
            else {
                combinations.iter_mut().for_each(|c| c.settings.push(setting.clone()));
                continue;
            };
            if combinations.len() * values.split(',').count() > COMBINATIONS {
                return Err(too_many());
            }
            varied.push(name.to_owned());
            let with_each = |c: &Asked| values.split(',').map(|v| c.with(name, v)).collect::<Vec<_>>();
            combinations = combinations.iter().flat_map(with_each).collect();
        }
        let seeds = seeds.max(1);
        let total = seeds.checked_mul(combinations.len() as u64).ok_or_else(too_many)?;
        Ok(Runs { varied, combinations, seed, seeds, shard, total })
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.shard.map_or(self.total, |shard| shard.share(self.total))
    }

    /// Which of the runs of all shards the `number`-th is; `None` where there are no shards.
    pub fn place(&self, number: u64) -> Option<u64> {
        self.shard.map(|_| self.at(number))
    }

    fn at(&self, number: u64) -> u64 {
        self.shard.map_or(number, |shard| number * shard.of + shard.number - 1)
    }

    /// The `number`-th from 0: each seed in turn, then those of the next combination.
    pub fn get(&self, number: u64) -> Asked {
        let place = self.at(number);
        let of = self.combinations[(place / self.seeds) as usize].clone();
        Asked { seed: self.seed.wrapping_add(place % self.seeds), ..of }
    }

    /// One run of each combination.
    pub fn combinations(&self) -> impl Iterator<Item = &Asked> {
        self.combinations.iter()
    }
}

impl Asked {
    fn with(&self, name: &str, value: &str) -> Asked {
        let mut with = self.clone();
        with.settings.push(format!("{name}={value}"));
        with.values.push(value.to_owned());
        with
    }
}

fn too_many() -> Failure {
    Failure::Usage("so many runs cannot be counted: leave values or --seeds away".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_written_as_they_are_read() {
        assert_eq!("2/4".parse(), Ok(Shard { number: 2, of: 4 }));
        assert_eq!(Shard { number: 2, of: 4 }.to_string(), "2/4");
        for wrong in ["0/4", "5/4", "1", "/", "a/b", "0/0"] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn shards_share_the_runs() {
        let runs = |number, of| {
            let shard = Some(Shard { number, of });
            Runs::of(&["default"], &["a=1,2".into(), "b=3".into()], (5, 3), shard).expect("few runs")
        };
        let all = |runs: Runs| (0..runs.count()).map(|n| runs.get(n)).collect::<Vec<_>>();
        let whole = all(runs(1, 1));
        assert_eq!(
            whole.iter().map(|r| (&*r.settings[0], r.seed)).collect::<Vec<_>>(),
            [("a=1", 5), ("a=1", 6), ("a=1", 7), ("a=2", 5), ("a=2", 6), ("a=2", 7)]
        );
        let parts: Vec<_> = (1..=4).map(|n| all(runs(n, 4))).collect();
        assert_eq!(parts.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2, 1, 1]);
        let woven = (0..2).flat_map(|round| parts.iter().filter_map(move |part| part.get(round).cloned()));
        assert_eq!(woven.collect::<Vec<_>>(), whole);
    }

    #[test]
    fn features_vary_as_parameters_do() {
        let runs = Runs::of(&["default", "x+y"], &["a=1,2".into()], (7, 1), None).expect("few runs");
        assert_eq!((runs.varied.join(" "), runs.count()), ("with a".to_owned(), 4));
        let all: Vec<_> = (0..4).map(|n| runs.get(n)).map(|r| (r.variant, r.values.join(" "))).collect();
        let wanted = [(0, "default 1"), (0, "default 2"), (1, "x+y 1"), (1, "x+y 2")];
        assert_eq!(all, wanted.map(|(variant, values)| (variant, values.to_owned())));
    }
}
