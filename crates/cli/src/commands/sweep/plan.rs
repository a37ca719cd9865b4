// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which runs a sweep makes: each combination of values, with each seed.

use carrick_driver::Failure;

use super::args::{Given, SweepArgs};
use super::values::{Unit, list};
use crate::commands::fabric::cell;

/// Runs of a sweep at most.
const RUNS: u64 = 1_000_000;

/// An option with several values.
#[derive(Debug)]
struct Axis {
    /// as --zip names it
    name: String,
    column: String,
    /// by value, the words of a command line and the cell of a table
    values: Vec<(Vec<String>, String)>,
}

/// Words of a command line: the same in all runs, or those of a value.
#[derive(Debug)]
enum Words {
    All(Vec<String>),
    Of(usize),
}

/// All runs of a sweep.
#[derive(Debug)]
pub struct Plan {
    words: Vec<Words>,
    axes: Vec<Axis>,
    /// axes that advance together, the slowest first, and how many values they have
    groups: Vec<(Vec<usize>, u64)>,
    seeds: Seeds,
}

#[derive(Debug)]
enum Seeds {
    From(u64, u64),
    List(Vec<u64>),
}

impl Seeds {
    fn count(&self) -> u64 {
        match self {
            Seeds::From(_, count) => *count,
            Seeds::List(all) => all.len() as u64,
        }
    }

    fn get(&self, place: u64) -> u64 {
        match self {
            Seeds::From(first, _) => first.wrapping_add(place),
            Seeds::List(all) => all[place as usize],
        }
    }
}

/// A run of a sweep.
#[derive(Debug, PartialEq, Eq)]
pub struct Planned {
    pub seed: u64,
    /// of the command line of a simulation, behind its name
    pub words: Vec<String>,
    /// those of [`Plan::columns`]
    pub cells: Vec<String>,
}

impl Plan {
    /// Of the command line.
    ///
    /// # Errors
    /// [`Failure::Usage`] naming option and value.
    pub fn of(args: &SweepArgs) -> Result<Plan, Failure> {
        let mut plan = Plan {
            words: Vec::new(),
            axes: Vec::new(),
            groups: Vec::new(),
            seeds: Seeds::From(1, args.table.seeds),
        };
        let given = &args.swept.0;
        plan.add_features(given)?;
        for given in given.iter().filter(|given| !["with", "or_with"].contains(&&*given.id)) {
            match &*given.id {
                "seed" => plan.seeds = seeds(given, args.table.seeds)?,
                _ => plan.add(given)?,
            }
        }
        plan.groups = groups(&plan.axes, &args.table.zip)?;
        plan.count().map(|_| plan)
    }

    /// The features of `--with` and `--or-with`.
    fn add_features(&mut self, given: &[Given]) -> Result<(), Failure> {
        let of = |id: &str| given.iter().find(|given| given.id == id).map_or(&[][..], |given| &given.values);
        let (with, or_with) = (of("with").join(","), of("or_with"));
        let mut all = vec![String::new()];
        if !with.is_empty() {
            all = list(&with, None, true, &format!("--with {with}"))?;
        }
        for text in or_with {
            all.extend(list(text, None, true, &format!("--or-with {text}"))?);
        }
        let value = |features: String| {
            let cell = cell(
                &features.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect::<Vec<_>>(),
            );
            let words = if features.is_empty() { Vec::new() } else { vec![format!("--with={features}")] };
            (words, cell)
        };
        self.push("with", "with", all.into_iter().map(value).collect());
        Ok(())
    }

    /// An option with its values.
    fn add(&mut self, given: &Given) -> Result<(), Failure> {
        let values = &given.values;
        let Some(long) = &given.long else {
            let value = |file: &String| (vec![file.clone()], file.clone());
            self.push("program", "program", values.iter().map(value).collect());
            return Ok(());
        };
        if values.is_empty() {
            self.words.push(Words::All(vec![format!("--{long}")]));
            return Ok(());
        }
        if given.repeats {
            return values.iter().try_for_each(|text| self.add_setting(long, text, given.commas));
        }
        let text = values.join(",");
        if values.len() > 1 && !given.commas {
            return Err(Failure::Usage(format!(
                "--{long} is given twice: write its values as one list, --{long} {text}"
            )));
        }
        let unit = given.unit;
        let values = list(&text, unit, given.commas, &format!("--{long} {text}"))?;
        self.push_values(long, long, "", values, unit)
    }

    /// `name=value` or `NODE=value`, where each value of a list belongs to the name.
    fn add_setting(&mut self, long: &str, text: &str, commas: bool) -> Result<(), Failure> {
        let said = format!("--{long} {text}");
        let (before, text) = match text.split_once('=').filter(|_| !commas) {
            Some((name, values)) => (format!("{name}="), values),
            None => (String::new(), text),
        };
        let values = list(text, None, commas, &said)?;
        let unit = Unit::of_values(&values);
        let name = before.strip_suffix('=').unwrap_or(long).to_owned();
        self.push_values(long, &name, &before, values, unit)
    }

    fn push_values(
        &mut self,
        long: &str,
        name: &str,
        before: &str,
        values: Vec<String>,
        unit: Option<Unit>,
    ) -> Result<(), Failure> {
        let value = |text: String| {
            let cell = match unit {
                Some(unit) => {
                    let wrong = |e: Failure| Failure::Usage(format!("--{long} {before}{text}: {e}"));
                    unit.number(&text).map_err(wrong)?.to_string()
                }
                None => text.clone(),
            };
            Ok((vec![format!("--{long}={before}{text}")], cell))
        };
        let values = values.into_iter().map(value).collect::<Result<_, Failure>>()?;
        let name_in_column = name.replace('-', "_");
        let column = unit.map_or_else(|| name_in_column.clone(), |unit| unit.column(&name_in_column));
        self.push(name, &column, values);
        Ok(())
    }

    /// An axis, if there are several values.
    fn push(&mut self, name: &str, column: &str, mut values: Vec<(Vec<String>, String)>) {
        if values.len() > 1 {
            self.words.push(Words::Of(self.axes.len()));
            self.axes.push(Axis { name: name.to_owned(), column: column.to_owned(), values });
        } else {
            self.words.extend(values.pop().map(|(words, _)| Words::All(words)));
        }
    }

    /// How many runs there are.
    ///
    /// # Errors
    /// [`Failure::Usage`] if there are too many.
    pub fn count(&self) -> Result<u64, Failure> {
        let all = self.groups.iter().map(|(_, count)| *count).chain([self.seeds.count()]);
        let count = all.fold(1_u64, u64::saturating_mul);
        let too_many =
            || Failure::Usage(format!("these are more than {RUNS} runs: leave out values or seeds"));
        if count > RUNS { Err(too_many()) } else { Ok(count) }
    }

    /// Runs of one combination of values, which differ in their seeds.
    pub fn of_combination(&self) -> u64 {
        self.seeds.count()
    }

    /// Names the cells of each run; those among `taken` are called after their option.
    pub fn columns(&self, taken: &[&str]) -> Vec<String> {
        let name = |(place, axis): (usize, &Axis)| {
            let others = self.axes[..place].iter().any(|other| other.column == axis.column);
            if others || taken.contains(&&*axis.column) {
                format!("set_{}", axis.column)
            } else {
                axis.column.clone()
            }
        };
        self.axes.iter().enumerate().map(name).collect()
    }

    /// The `number`-th run from 0: each seed in turn, then those of the next combination.
    pub fn get(&self, number: u64) -> Planned {
        let seed = self.seeds.get(number % self.seeds.count());
        let mut rest = number / self.seeds.count();
        let mut chosen = vec![0; self.axes.len()];
        for (axes, count) in self.groups.iter().rev() {
            axes.iter().for_each(|axis| chosen[*axis] = (rest % count) as usize);
            rest /= count;
        }
        let words = self.words.iter().flat_map(|words| match words {
            Words::All(words) => words,
            Words::Of(axis) => &self.axes[*axis].values[chosen[*axis]].0,
        });
        let words = words.cloned().chain([format!("--seed={seed}")]).collect();
        let cells =
            self.axes.iter().zip(&chosen).map(|(axis, value)| axis.values[*value].1.clone()).collect();
        Planned { seed, words, cells }
    }
}

/// One list of seeds, or so many from the first one on.
fn seeds(given: &Given, count: u64) -> Result<Seeds, Failure> {
    let text = given.values.join(",");
    let said = format!("--seed {text}");
    let wrong = |why: &str| Failure::Usage(format!("{said}: {why}"));
    let all = list(&text, None, false, &said)?;
    let all = all.iter().map(|text| text.parse().map_err(|_| wrong(&format!("{text:?} is not a number"))));
    match &all.collect::<Result<Vec<u64>, _>>()?[..] {
        [first] => Ok(Seeds::From(*first, count)),
        _ if count > 1 => Err(wrong("a list of seeds and --seeds: leave out one of them")),
        all => Ok(Seeds::List(all.to_vec())),
    }
}

/// The axes in their order; those that are named together are one group.
fn groups(axes: &[Axis], zip: &[String]) -> Result<Vec<(Vec<usize>, u64)>, Failure> {
    let mut groups: Vec<Vec<usize>> = (0..axes.len()).map(|axis| vec![axis]).collect();
    for names in zip {
        let wrong = |why: String| Failure::Usage(format!("--zip {names}: {why}"));
        let mut group = Vec::new();
        for name in names.split(',') {
            let found = axes.iter().position(|axis| axis.name == name);
            group.push(found.ok_or_else(|| wrong(format!("{name:?} has no list; {}", lists(axes))))?);
        }
        let [first, others @ ..] = &group[..] else { continue };
        let count = |axis: &usize| axes[*axis].values.len();
        if let Some(other) = others.iter().find(|other| count(other) != count(first)) {
            let [a, b] =
                [first, other].map(|axis| format!("{} has {} values", axes[*axis].name, count(axis)));
            return Err(wrong(format!("{a}, and {b}")));
        }
        let merged: Option<Vec<usize>> =
            group.iter().map(|axis| groups.iter().position(|g| *g == [*axis])).collect();
        let merged =
            merged.filter(|places| !others.is_empty() && places.len() == group.len() && distinct(places));
        let Some(places) = merged else {
            return Err(wrong("name two or more lists, each once".into()));
        };
        let first = places.iter().copied().min().unwrap_or_default();
        groups[first].clone_from(&group);
        let gone: Vec<Vec<usize>> = group.iter().map(|axis| vec![*axis]).collect();
        groups.retain(|g| !gone.contains(g));
    }
    Ok(groups.into_iter().map(|group| (group.clone(), axes[group[0]].values.len() as u64)).collect())
}

fn distinct(places: &[usize]) -> bool {
    places.iter().enumerate().all(|(n, place)| !places[..n].contains(place))
}

fn lists(axes: &[Axis]) -> String {
    let names: Vec<&str> = axes.iter().map(|axis| &*axis.name).collect();
    if names.is_empty() {
        "no option has one".to_owned()
    } else {
        format!("lists are of {}", names.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Args, Command};

    fn plan(line: &str) -> Result<Plan, String> {
        let words = ["carrick", "sweep"].into_iter().chain(line.split(' '));
        match Args::try_parse_from(words).map_err(|e| e.to_string())?.command {
            Command::Sweep(args) => Plan::of(&args).map_err(|e| e.to_string()),
            _ => Err("it is another command".into()),
        }
    }

    fn all(plan: &Plan) -> Vec<String> {
        let count = plan.count().expect("few");
        (0..count).map(|n| plan.get(n)).map(|run| format!("{} {}", run.cells.join(" "), run.seed)).collect()
    }

    #[test]
    fn each_combination_is_run_with_each_seed() {
        let plan = plan("a.mtp --loss 0%,1% --fast --delay 1ms,2ms --seeds 2 --seed 7").expect("a plan");
        assert_eq!(plan.columns(&[]), ["delay_ns", "loss_ppm"], "in the order of the parser");
        let wanted = ["1000000 0 7", "1000000 0 8", "1000000 10000 7"];
        assert_eq!(all(&plan)[..3], wanted);
        assert_eq!(all(&plan).len(), 8);
        assert_eq!(plan.get(7).words, ["a.mtp", "--delay=2ms", "--loss=1%", "--fast", "--seed=8"]);
    }

    #[test]
    fn lists_of_one_group_advance_together() {
        let plan = plan("a.mtp --loss 0%,1% --delay 1ms,2ms --queue 1,2,3 --zip loss,delay --seed 4,9")
            .expect("a plan");
        let all = all(&plan);
        assert_eq!(all.len(), 2 * 3 * 2);
        assert_eq!(all[..3], ["1000000 1 0 4", "1000000 1 0 9", "1000000 2 0 4"]);
        assert_eq!(all[11], "2000000 3 10000 9");
    }

    #[test]
    fn parameters_features_and_programs_vary() {
        let plan = plan(
            "a.mtp b.mtp --with x,y=z --or-with w --set win=1KB,2KB --set n=3 --at-set s0.k=1,2 --topology star:2 --at s0=c.mtp",
        )
        .expect("a plan");
        assert_eq!(plan.columns(&["s0.k"]), ["with", "program", "win_bytes", "set_s0.k"]);
        assert_eq!(plan.count(), Ok(16));
        assert_eq!(
            plan.get(0).words.join(" "),
            "--with=x,y=z a.mtp --set=win=1KB --set=n=3 --topology=star:2 --at=s0=c.mtp --at-set=s0.k=1 --seed=1"
        );
        assert_eq!(plan.get(15).cells, ["w", "b.mtp", "2000", "2"]);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (line, why) in [
            ("a.mtp --loss 0%,x", "--loss x: \"x\" is not a share"),
            (
                "a.mtp --loss 0% --loss 1%",
                "--loss is given twice: write its values as one list, --loss 0%,1%",
            ),
            ("a.mtp --zip loss,delay", "--zip loss,delay: \"loss\" has no list; no option has one"),
            (
                "a.mtp --loss 0%,1% --queue 1,2,3 --zip loss,queue",
                "loss has 2 values, and queue has 3 values",
            ),
            ("a.mtp --loss 0%,1% --zip loss", "name two or more lists"),
            ("a.mtp --loss 0%,1% --zip loss,loss", "name two or more lists"),
            ("a.mtp --seed 1,2 --seeds 3", "--seed 1,2: a list of seeds and --seeds"),
            ("a.mtp --seeds 1000001", "more than 1000000 runs"),
            ("a.mtp --pcap x", "unexpected argument '--pcap'"),
        ] {
            let said = plan(line).expect_err(line);
            assert!(said.contains(why), "{line}: {said}");
        }
    }
}
