// SPDX-License-Identifier: MIT OR Apache-2.0
//! Options of simulations as values of another language: names with underscores, lists and pairs as they are.

use carrick_driver::Failure;
use clap::error::{ContextKind, ContextValue};
use clap::{Arg, ArgAction, Args as _, Command};

use crate::args::{SimArgs, SweepArgs};
use crate::commands::sweep::{Unit, outcome, where_one_is_needed, with_commas};

/// Options of the command line that name files of results, or are about several runs; and what there is instead.
const INSTEAD: [(&str, &str); 15] = [
    ("csv", "the flows of a run are its `flows`"),
    ("rates", "a run has `rates(every)`"),
    ("samples", "a run has `samples(field, every)`"),
    ("sample", "a run has `samples(field, every)`"),
    ("every", "say it to `rates` or `samples` of a run"),
    ("timeline", "a run has a `timeline`"),
    ("plot", "a run has tables, which any library draws"),
    ("format", "a run has `summary` and `results`"),
    ("watch", "call it again"),
    ("jobs", "say it to `run` of a Sweep"),
    ("shard", "`run` of a Sweep takes an executor"),
    ("output", "`run` of a Sweep returns the table"),
    ("rows", "say it to Sweep as its own argument"),
    ("resume", "`run` of a Sweep makes what it lacks"),
    ("from", "`run` of a Sweep makes what it lacks"),
];

/// A value of an option.
#[derive(Debug, Clone, PartialEq)]
pub enum Given {
    /// of a flag
    Switch(bool),
    /// as the command line has it
    Text(String),
    List(Vec<Given>),
    /// each name with its value
    Pairs(Vec<(String, Given)>),
}

/// The command whose options they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asker {
    /// one run
    Simulate,
    /// many runs
    Sweep,
}

impl Asker {
    fn name(self) -> &'static str {
        match self {
            Asker::Simulate => "simulate",
            Asker::Sweep => "Sweep",
        }
    }

    fn parser(self) -> Command {
        match self {
            Asker::Simulate => SimArgs::augment_args(Command::new("sim")),
            Asker::Sweep => SweepArgs::augment_args(Command::new("sweep")),
        }
    }
}

/// An option that is written.
struct Named<'a> {
    asker: Asker,
    /// as the caller wrote it
    said: &'a str,
    arg: &'a Arg,
}

/// The words of a command line with these options.
///
/// # Errors
/// [`Failure::Usage`] naming the option; an unknown one with a known one that is near.
pub fn words(asker: Asker, given: &[(String, Given)]) -> Result<Vec<String>, Failure> {
    let (mut parser, sim) = (asker.parser(), Asker::Simulate.parser());
    let mut words = Vec::new();
    for (said, value) in given {
        let long = said.trim_end_matches('_').replace('_', "-");
        if let Some((_, instead)) = INSTEAD.iter().find(|(name, _)| *name == long) {
            return Err(Failure::Usage(format!("{}() does not take {said}: {instead}", asker.name())));
        }
        let known =
            |command: &Command| command.get_arguments().find(|arg| arg.get_long() == Some(&long)).cloned();
        // A sweep reads lists itself: the option of the simulation says what they are lists of.
        let Some(arg) = known(&parser).map(|arg| known(&sim).unwrap_or(arg)) else {
            return Err(unknown(asker, said, &long, &mut parser));
        };
        words.extend(Named { asker, said, arg: &arg }.words(value)?);
    }
    Ok(words)
}

fn unknown(asker: Asker, said: &str, long: &str, parser: &mut Command) -> Failure {
    let near = match parser.try_get_matches_from_mut(["carrick".to_owned(), format!("--{long}")]) {
        Err(e) => match e.get(ContextKind::SuggestedArg) {
            Some(ContextValue::String(near)) => Some(near.trim_start_matches('-').replace('-', "_")),
            Some(ContextValue::Strings(all)) => Some(all.join(", ").replace("--", "").replace('-', "_")),
            _ => None,
        },
        Ok(_) => None,
    };
    let hint =
        near.map_or("`carrick sim --help` lists all".to_owned(), |near| format!("did you mean {near}?"));
    Failure::Usage(format!("{}() has no option {said}: {hint}", asker.name()))
}

impl Named<'_> {
    fn wrong(&self, why: &str) -> Failure {
        Failure::Usage(format!("{}: {why}", self.said))
    }

    fn words(&self, value: &Given) -> Result<Vec<String>, Failure> {
        let long = self.arg.get_long().unwrap_or_default();
        let word = |text: String| format!("--{long}={text}");
        if !self.arg.get_action().takes_values() {
            return match value {
                Given::Switch(true) => Ok(vec![format!("--{long}")]),
                Given::Switch(false) => Ok(Vec::new()),
                _ => Err(self.wrong("it is a switch: True or False")),
            };
        }
        if self.arg.get_value_delimiter().is_some() {
            return Ok(self.delimited(value)?.map(word).into_iter().collect());
        }
        if matches!(self.arg.get_action(), ArgAction::Append) {
            return Ok(self.repeated(value)?.into_iter().map(word).collect());
        }
        match value {
            Given::List(all) if self.asker == Asker::Sweep => {
                let all = all.iter().map(|one| self.text(one)).collect::<Result<Vec<_>, _>>()?;
                Ok(vec![word(listed(&all))])
            }
            Given::List(_) => Err(self
                .wrong("a list where one value is needed: simulate() makes one run, and Sweep takes lists")),
            one => {
                let text = self.text(one)?;
                // Lists and ranges have messages of their own.
                let unit = Unit::of(self.arg).filter(|_| !text.contains([',', ';']) && !text.contains(".."));
                if let Some(unit) = unit {
                    unit.number(&text).map_err(|e| self.wrong(&e.to_string()))?;
                }
                Ok(vec![word(text)])
            }
        }
    }

    /// One value.
    fn text(&self, value: &Given) -> Result<String, Failure> {
        match value {
            Given::Text(text) => Ok(text.clone()),
            Given::Switch(yes) => Ok(yes.to_string()),
            Given::List(_) => Err(self.wrong("a list within a list")),
            Given::Pairs(_) => Err(self.wrong("it takes no names with values")),
        }
    }

    /// The texts of a list, or a text alone, joined by commas.
    fn joined(&self, value: &Given) -> Result<String, Failure> {
        match value {
            Given::List(all) => {
                let all = all.iter().map(|one| self.text(one)).collect::<Result<Vec<_>, _>>()?;
                Ok(all.join(","))
            }
            one => self.text(one),
        }
    }

    /// Values that the command line separates by commas. For a sweep, a list of lists has several of them.
    fn delimited(&self, value: &Given) -> Result<Option<String>, Failure> {
        let several = |all: &[Given]| all.iter().any(|one| matches!(one, Given::List(_)));
        let text = match value {
            Given::List(all) if self.asker == Asker::Sweep && several(all) => {
                all.iter().map(|one| self.joined(one)).collect::<Result<Vec<_>, _>>()?.join(";")
            }
            other => self.joined(other)?,
        };
        Ok(Some(text).filter(|text| !text.is_empty()))
    }

    /// An option that may be given several times.
    fn repeated(&self, value: &Given) -> Result<Vec<String>, Failure> {
        match value {
            Given::List(all) => all.iter().map(|one| self.text(one)).collect(),
            Given::Pairs(all) => all.iter().map(|(name, value)| self.pair(name, value)).collect(),
            one => Ok(vec![self.text(one)?]),
        }
    }

    /// A name with its value. For a sweep, a list has several values.
    fn pair(&self, name: &str, value: &Given) -> Result<String, Failure> {
        let commas = with_commas(self.arg);
        let value = match value {
            Given::List(all) if self.asker == Asker::Sweep && !commas => {
                listed(&all.iter().map(|one| self.text(one)).collect::<Result<Vec<_>, _>>()?)
            }
            Given::List(_) if !commas => {
                return Err(self.wrong(&format!(
                    "{name} has a list where one value is needed: simulate() makes one run, and Sweep takes lists"
                )));
            }
            other => self.joined(other)?,
        };
        let names = self.arg.get_value_names().unwrap_or_default();
        let colon = names.iter().any(|name| name.contains(':'));
        Ok(if colon { format!("{name}:{value}") } else { format!("{name}={value}") })
    }
}

/// A list as a sweep reads it.
fn listed(all: &[String]) -> String {
    let commas = all.iter().any(|text| text.contains(','));
    // A semicolon alone would be a value that is missing.
    all.join(if commas && all.len() > 1 { ";" } else { "," })
}

/// Whether the options go together, for one run.
///
/// # Errors
/// [`Failure::Usage`] with what is wrong with them.
pub fn parse(words: &[String]) -> Result<SimArgs, Failure> {
    let mut parser = outcome::parser();
    let given = outcome::matches(&mut parser, words)?;
    match where_one_is_needed(&given, &parser) {
        Some(why) => Err(Failure::Usage(why)),
        None => outcome::parse(&mut parser, words),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What there is something else for is an option of the command line.
    #[test]
    fn options_that_are_refused_are_there() {
        let parsers = [Asker::Simulate.parser(), Asker::Sweep.parser()];
        for (name, _) in INSTEAD {
            let known = parsers.iter().flat_map(Command::get_arguments);
            assert!(known.into_iter().any(|arg| arg.get_long() == Some(name)), "{name}");
        }
    }

    fn text(text: &str) -> Given {
        Given::Text(text.to_owned())
    }

    fn list(all: &[&str]) -> Given {
        Given::List(all.iter().map(|one| text(one)).collect())
    }

    fn said(asker: Asker, given: &[(&str, Given)]) -> Result<String, String> {
        let given: Vec<_> = given.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        words(asker, &given).map(|words| words.join(" ")).map_err(|e| e.to_string())
    }

    #[test]
    fn values_become_words() {
        let settings = Given::Pairs(vec![("a".into(), text("1")), ("b".into(), text("2ms"))]);
        let all = [
            ("with_", list(&["x", "y=z"])),
            ("core_rate", text("1Gbps")),
            ("fast", Given::Switch(true)),
            ("compiled", Given::Switch(false)),
            ("set", settings),
            ("host_with", Given::Pairs(vec![("h1".into(), list(&["x", "y"]))])),
        ];
        let words = "--with=x,y=z --core-rate=1Gbps --fast --set=a=1 --set=b=2ms --host-with=h1=x,y";
        assert_eq!(said(Asker::Simulate, &all).as_deref(), Ok(words));
    }

    #[test]
    fn sweeps_take_lists() {
        let sets = Given::List(vec![list(&["x"]), list(&["y", "z"])]);
        let all = [
            ("loss", list(&["0", "0.01"])),
            ("topology", list(&["leaf-spine:4,2,2", "pair"])),
            ("with_", sets),
            ("set", Given::Pairs(vec![("n".into(), list(&["1", "2"]))])),
            ("seeds", text("3")),
        ];
        let words = "--loss=0,0.01 --topology=leaf-spine:4,2,2;pair --with=x;y,z --set=n=1,2 --seeds=3";
        assert_eq!(said(Asker::Sweep, &all).as_deref(), Ok(words));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (asker, name, value, why) in [
            (Asker::Simulate, "dlay", text("1ms"), "simulate() has no option dlay: did you mean delay?"),
            (Asker::Sweep, "los", text("1%"), "Sweep() has no option los: did you mean loss?"),
            (Asker::Simulate, "loss", list(&["0", "1%"]), "loss: a list where one value is needed"),
            (Asker::Simulate, "delay", text("soon"), "delay: \"soon\" is not a duration"),
            (Asker::Simulate, "fast", text("yes"), "fast: it is a switch: True or False"),
            (Asker::Simulate, "csv", text("a.csv"), "simulate() does not take csv: "),
            (Asker::Simulate, "loss", Given::Pairs(vec![]), "loss: it takes no names with values"),
        ] {
            let wrong = said(asker, &[(name, value)]).expect_err(name);
            assert!(wrong.starts_with(why), "{wrong}");
        }
    }
}
