// SPDX-License-Identifier: MIT OR Apache-2.0
//! A manifest: what it says, and how it is written.

use std::fmt;
use std::io::Write;

use carrick_driver::Failure;
use carrick_ir::Program;
use carrick_report::plot::{Kind, Table};
use carrick_report::{Header, Input};
use carrick_sim::trace::{Form, Head, Writer};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{allowed, inputs, words};
use crate::args::{self, SimArgs};

/// This version, as artefacts tell it.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Which program made an artefact, by which version, with which seed and arguments.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Manifest {
    pub version: String,
    /// the file, as it was named
    pub program: String,
    /// of all its text, in hexadecimal digits
    pub source_hash: String,
    /// the other files that the runs are made of
    #[serde(default)]
    pub inputs: Vec<Input>,
    /// of the first run
    pub seed: u64,
    /// of `carrick`, as a shell reads them; without those that results do not depend on
    pub arguments: String,
    /// `i/n of RUNS`: it has only these of the runs
    #[serde(default)]
    pub shard: Option<String>,
    /// the table that was drawn: of flows or points in time, and what it was called
    #[serde(skip)]
    pub table: Option<(Kind, String)>,
    /// the command that drew it, without the files
    #[serde(skip)]
    pub drawn: Option<String>,
}

impl Manifest {
    /// Of what the simulator leaves of a run that these words of a command line ask for, and of the programs in its network.
    ///
    /// # Errors
    /// [`Failure::Usage`] if a file cannot be read.
    pub fn of<'p>(
        args: &SimArgs,
        said: &[String],
        program: &Program,
        in_network: impl IntoIterator<Item = &'p Program>,
    ) -> Result<Manifest, Failure> {
        Ok(Manifest {
            version: VERSION.to_owned(),
            program: program.file.raw().to_owned(),
            source_hash: inputs::digits(program.source_hash),
            inputs: inputs::of(args, in_network)?,
            seed: args.scenario.seed,
            arguments: words::join(lasting(said.iter().cloned())),
            shard: None,
            table: None,
            drawn: None,
        })
    }

    /// Begins the trace of a run. Of its head, `run` and `inputs` are those of this manifest.
    pub fn trace<W: Write>(&self, form: Form, out: W, head: &Head<'_>) -> Writer<W> {
        let inputs: Vec<_> = self.inputs.iter().map(|i| (i.file.as_str(), i.hash.as_str())).collect();
        let run = self.command();
        Writer::new(form, out, &Head { inputs: &inputs, run: &run, ..*head })
    }

    /// Of the run that a trace is of.
    pub fn of_trace(header: &Header) -> Manifest {
        let run = &header.run;
        Manifest {
            version: header.version.clone(),
            program: header.program.clone(),
            source_hash: header.source_hash.clone(),
            inputs: header.inputs.clone(),
            seed: header.seed,
            arguments: run.strip_prefix("carrick ").unwrap_or(run).to_owned(),
            shard: None,
            table: None,
            drawn: None,
        }
    }

    /// As the beginning of an object: what was made is added to it.
    pub fn json(&self) -> Value {
        let mut object = json!({
            "version": self.version,
            "program": self.program,
            "source_hash": self.source_hash,
            "seed": self.seed,
            "arguments": self.arguments,
        });
        if !self.inputs.is_empty() {
            object["inputs"] = json!(self.inputs);
        }
        if let Some(shard) = &self.shard {
            object["shard"] = json!(shard);
        }
        object
    }

    /// The command that makes a run again.
    pub fn command(&self) -> String {
        format!("carrick {}", self.arguments)
    }

    /// Of a page that was drawn of it.
    pub fn drawn_by(mut self, args: &args::Report) -> Manifest {
        let mut all: Vec<String> =
            args.plot.iter().flat_map(|field| ["--plot".to_owned(), field.clone()]).collect();
        if let Some(program) = &args.program {
            all.extend(["--program".to_owned(), program.display().to_string()]);
        }
        for (option, names) in [("--with", &args.features.with), ("--without", &args.features.without)] {
            all.extend(names.iter().flat_map(|name| [option.to_owned(), name.clone()]));
        }
        if let Some(version) = args.features.over {
            all.push(format!("--over={}", version.name()));
        }
        self.drawn = Some(words::join(["report".to_owned()].into_iter().chain(all)));
        self
    }

    /// Of a table that is drawn under a name by a command.
    pub fn drawn_of(self, table: &Table, by: &str) -> Manifest {
        Manifest { table: Some((table.kind, table.label.clone())), drawn: Some(by.to_owned()), ..self }
    }
}

impl fmt::Display for Manifest {
    /// A line for each thing; [`Manifest::parse`] reads them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "carrick {}\nprogram {} {}\nseed {}\narguments {}",
            self.version, self.program, self.source_hash, self.seed, self.arguments
        )?;
        for input in &self.inputs {
            write!(f, "\ninput {} {}", input.file, input.hash)?;
        }
        if let Some(shard) = &self.shard {
            write!(f, "\nshard {shard}")?;
        }
        if let Some((kind, label)) = &self.table {
            write!(f, "\ntable {} {label}", kind.name())?;
        }
        if let Some(drawn) = &self.drawn {
            write!(f, "\ndrawn {drawn}")?;
        }
        Ok(())
    }
}

/// The arguments that results depend on.
fn lasting(all: impl Iterator<Item = String>) -> Vec<String> {
    let mut words = Vec::new();
    let mut all = all;
    while let Some(word) = all.next() {
        let name = word.split('=').next().unwrap_or("");
        match allowed::of_simulation(name) {
            // Its value is the next word, if it is not in this one.
            Some((false, true)) if name == word => drop(all.next()),
            Some((false, _)) => {}
            _ => words.push(word),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_results_go_is_not_told() {
        let said = "sim a.mtp --csv x.csv --jobs=4 --seeds 3 --format json --watch --set a=1 --shard 1/2";
        let left = lasting(said.split(' ').map(str::to_owned));
        assert_eq!(left.join(" "), "sim a.mtp --seeds 3 --set a=1");
    }

    #[test]
    fn what_was_written_is_read() {
        let mut manifest = Manifest {
            version: "0.1.0".into(),
            program: "a b.mtp".into(),
            source_hash: "0123".into(),
            inputs: Vec::new(),
            seed: 7,
            arguments: "sim 'a b.mtp'".into(),
            shard: None,
            table: None,
            drawn: None,
        };
        assert_eq!(Manifest::parse(manifest.to_string().lines()), Some(manifest.clone()));
        let input = |file: &str, hash: &str| Input { file: file.into(), hash: hash.into() };
        manifest.inputs = vec![input("a net.toml", "45"), input("flows", "67")];
        manifest.shard = Some("2/3".into());
        manifest.table = Some((Kind::Flows, "a b".into()));
        manifest.drawn = Some("plot --what slowdown".into());
        assert_eq!(Manifest::parse(manifest.to_string().lines()), Some(manifest));
        assert_eq!(Manifest::parse("carrick 0.1.0\nseed 3".lines()), None);
    }
}
