// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a manifest may ask `carrick repro` to do. An artefact can come from anybody, so it is only data: whatever is not in the lists
//! below is refused, also an option that the command line gets later.

use std::path::{Component, Path};
use std::slice;

use carrick_driver::Failure;
use carrick_report::plot::Kind;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, CommandFactory};

use crate::args::{Args, Repro};
use crate::commands::fabric::cross;
use crate::commands::faults;

/// What the value of an option can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Value {
    /// It changes the result, and reads no file.
    Plain,
    /// The file that it names is read.
    File,
    /// The file behind this mark is read: `s0=cache.mtp`, `trace:flows.csv`.
    FileBehind(&'static str),
    /// A file is read if the value ends so.
    FileEnding(&'static str),
    /// Those files are read that faults of links name.
    FilesOfFaults,
    /// Those files are read that cross traffic names.
    FilesOfCross,
    /// Code that is made of the program runs in this process.
    Native,
}

use Value::{File, FileBehind, FileEnding, FilesOfCross, FilesOfFaults, Native, Plain};

/// A command with what a manifest may hold of it.
struct Allowed {
    command: &'static str,
    options: &'static [(&'static str, Value)],
}

/// What a manifest may hold of a simulation, by the names of the parser. The options that are missing only say where results are written, or how many
/// processors work on them.
const SIMULATION: Allowed = Allowed {
    command: "sim",
    options: &[
        ("file", File),
        ("with", Plain),
        ("without", Plain),
        ("over", Plain),
        ("rate", Plain),
        ("delay", Plain),
        ("queue", Plain),
        ("ecn_threshold", Plain),
        ("loss", Plain),
        ("burst_loss", Plain),
        ("duplicate", Plain),
        ("reorder", Plain),
        ("corrupt", Plain),
        ("jitter", Plain),
        ("rate_trace", File),
        ("down", Plain),
        ("cut", Plain),
        ("mtu", Plain),
        ("path_mtu", Plain),
        ("black_hole", Plain),
        ("message", Plain),
        ("app", Plain),
        ("faults", Plain),
        ("bytes", Plain),
        ("streams", Plain),
        ("answer", Plain),
        ("count", Plain),
        ("outstanding", Plain),
        ("seed", Plain),
        ("via", File),
        ("via_set", Plain),
        ("set", Plain),
        ("compiled", Native),
        ("fast", Plain),
        ("trace_at", Plain),
        ("topology", FileEnding(".toml")),
        ("at", FileBehind("=")),
        ("at_set", Plain),
        ("host_program", FileBehind("=")),
        ("host_with", Plain),
        ("host_set", Plain),
        ("or_with", Plain),
        ("workload", FileBehind("trace:")),
        ("sizes", Plain),
        ("flows", Plain),
        ("background", FileBehind("trace:")),
        ("background_sizes", Plain),
        ("background_flows", Plain),
        ("core_rate", Plain),
        ("buffer", Plain),
        ("shared", Plain),
        ("alpha", Plain),
        ("priorities", Plain),
        ("mark_at", Plain),
        ("mark_most", Plain),
        ("trim", Plain),
        ("trim_dscp", Plain),
        ("return_dscp", Plain),
        ("pfc", Plain),
        ("spray", Plain),
        ("service", Plain),
        ("service_queue", Plain),
        ("offload", Plain),
        ("call", Plain),
        ("calls", File),
        ("link_fault", FilesOfFaults),
        ("cross", FilesOfCross),
        ("link", Plain),
        ("keep", Plain),
        ("every", Plain),
        ("sample", Plain),
        ("seeds", Plain),
    ],
};

/// The commands that draw.
const DRAWINGS: [Allowed; 2] = [
    Allowed {
        command: "plot",
        options: &[
            ("what", Plain),
            ("host", Plain),
            ("flow", Plain),
            ("context", Plain),
            ("title", Plain),
            ("x", Plain),
            ("y", Plain),
            ("size", Plain),
        ],
    },
    Allowed {
        command: "report",
        options: &[("plot", Plain), ("program", File), ("with", Plain), ("without", Plain), ("over", Plain)],
    },
];

/// Returns whether a manifest holds this option of `carrick sim` (`--seed`), and whether a value follows it. Other words: none.
pub fn of_simulation(option: &str) -> Option<(bool, bool)> {
    let known = Args::command();
    let mut all = known.find_subcommand(SIMULATION.command)?.get_arguments();
    let arg = all.find(|arg| arg.get_long().is_some_and(|long| option.strip_prefix("--") == Some(long)))?;
    Some((SIMULATION.value(arg.get_id().as_str()).is_some(), arg.get_action().takes_values()))
}

/// A command line that an artefact asks for.
pub struct Request<'a> {
    /// the artefact, in messages
    pub shown: &'a str,
    /// what the user permits
    pub permitted: &'a Repro,
    /// what its manifest holds, beginning with the name of a command
    pub held: Vec<String>,
    /// options that say where the result is written, with their values
    pub to: Vec<(&'static str, String)>,
    /// what is drawn
    pub files: Vec<String>,
}

impl Request<'_> {
    /// The command line of a simulation.
    ///
    /// # Errors
    /// [`Failure::Usage`] naming what a manifest may not hold.
    pub fn simulation(self) -> Result<Vec<String>, Failure> {
        self.line(&[SIMULATION], "and only a simulation can be made again")
    }

    /// The command line that draws.
    ///
    /// # Errors
    /// As there.
    pub fn drawing(self) -> Result<Vec<String>, Failure> {
        self.line(&DRAWINGS, "and only `carrick plot` and `carrick report` draw artefacts")
    }

    fn line(self, all: &[Allowed], others: &str) -> Result<Vec<String>, Failure> {
        let name = self.held.first().map_or("", String::as_str);
        let allowed = all.iter().find(|allowed| allowed.command == name).ok_or_else(|| {
            Failure::Usage(format!("{} is of `carrick {}`, {others}", self.shown, printable(name)))
        })?;
        // What is added stands first, so that nothing in the manifest changes its meaning.
        let (first, held) = self.held.split_at(1);
        let to = self.to.iter().flat_map(|(option, value)| [format!("--{option}"), value.clone()]);
        let line = [first, &to.collect::<Vec<_>>(), &self.files, held].concat();
        let mut known = Args::command();
        let words = [&["carrick".to_owned()], &line[..]].concat();
        let given = known.try_get_matches_from_mut(words).map_err(|e| self.wrong(&e.to_string()))?;
        let found = known.find_subcommand(name).zip(given.subcommand());
        let (command, (_, given)) = found.ok_or_else(|| self.wrong("it is no command"))?;
        command.get_arguments().try_for_each(|arg| self.check(allowed, arg, given))?;
        Ok(line)
    }

    /// Checks one argument of the command that is given.
    fn check(&self, allowed: &Allowed, arg: &Arg, given: &ArgMatches) -> Result<(), Failure> {
        let id = arg.get_id().as_str();
        let said =
            given.try_contains_id(id).is_ok() && given.value_source(id) == Some(ValueSource::CommandLine);
        if !said {
            return Ok(());
        }
        let values =
            given.get_raw(id).into_iter().flatten().map(|value| value.to_string_lossy().into_owned());
        let values: Vec<String> = values.collect();
        let added = self.to.iter().find(|(option, _)| arg.get_long() == Some(option));
        let ours = match added {
            Some((_, value)) => slice::from_ref(value),
            None if arg.is_positional() => &self.files[..],
            None => &[],
        };
        let shown = arg.get_long().map_or_else(|| "a file".to_owned(), |long| format!("`--{long}`"));
        match allowed.value(id) {
            _ if !ours.is_empty() && ours == values => Ok(()),
            Some(value) if ours.is_empty() => self.permit(&shown, value, &values),
            _ => Err(self.wrong(&format!("a manifest may not hold {shown}"))),
        }
    }

    /// Refuses what its user has to permit first.
    fn permit(&self, option: &str, value: Value, values: &[String]) -> Result<(), Failure> {
        if value == Native && !self.permitted.compiled {
            return Err(Failure::Usage(format!(
                "{} was made with --compiled: its program is compiled to C, which runs in this process; say `carrick repro --compiled` if you trust the program",
                self.shown
            )));
        }
        let files = |text: &String| -> Vec<String> {
            let one = match value {
                Plain | Native => None,
                File => Some(&text[..]),
                FileBehind(mark) => text.split_once(mark).map(|(_, file)| file),
                FileEnding(end) => Some(&text[..]).filter(|text| text.ends_with(end)),
                FilesOfFaults => {
                    let faults = faults::of_links(text).map(|(_, faults)| faults);
                    return faults.into_iter().flat_map(faults::files).map(str::to_owned).collect();
                }
                FilesOfCross => return cross::files(text).map(str::to_owned).collect(),
            };
            one.into_iter().map(str::to_owned).collect()
        };
        let outside = |file: &String| {
            let within = |part| matches!(part, Component::Normal(_) | Component::CurDir);
            !Path::new(file).components().all(within)
        };
        match values.iter().flat_map(files).find(outside) {
            Some(file) if !self.permitted.outside => Err(Failure::Usage(format!(
                "{}: {option} names {}, which is outside the current folder; say `carrick repro --outside` if it may be read",
                self.shown,
                printable(&file)
            ))),
            _ => Ok(()),
        }
    }

    fn wrong(&self, why: &str) -> Failure {
        // Of what the parser says, its first paragraph.
        let said = why.lines().take_while(|line| !line.is_empty()).map(str::trim);
        let said = said.collect::<Vec<_>>().join(" ");
        let said = said.strip_prefix("error: ").unwrap_or(&said);
        Failure::Usage(format!("{}: its manifest is refused: {}", self.shown, printable(said)))
    }
}

impl Allowed {
    fn value(&self, id: &str) -> Option<Value> {
        self.options.iter().find(|(known, _)| *known == id).map(|(_, value)| *value)
    }
}

/// The name of a table's file: its label names no other folder.
///
/// # Errors
/// [`Failure::Usage`] if it does.
pub fn table_file(shown: &str, (kind, label): &(Kind, String)) -> Result<String, Failure> {
    let name = format!("{label}.csv");
    let plain =
        Path::new(&name).file_name().is_some_and(|last| last == name.as_str()) && !name.contains('\0');
    plain.then_some(name).ok_or_else(|| {
        let (kind, label) = (kind.name(), printable(label));
        Failure::Usage(format!(
            "{shown}: its table of {kind} is called {label:?}, and this is no name of a file"
        ))
    })
}

/// Text of an artefact as a terminal may show it.
pub fn printable(text: &str) -> String {
    text.chars().flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Options of a simulation that no manifest holds: all that write a file, and those that a result does not depend on.
    const ELSEWHERE: [&str; 12] = [
        "pcap",
        "trace",
        "trace_format",
        "watch",
        "format",
        "csv",
        "rates",
        "samples",
        "timeline",
        "plot",
        "jobs",
        "shard",
    ];

    fn ids(command: &str) -> Vec<String> {
        let known = Args::command();
        let command = known.find_subcommand(command).expect("a command");
        command.get_arguments().map(|arg| arg.get_id().to_string()).collect()
    }

    fn permitted(words: &[&str]) -> Repro {
        let args = <Args as clap::Parser>::try_parse_from([&["carrick", "repro", "x"], words].concat());
        match args.expect("a command line").command {
            crate::args::Command::Repro(args) => args,
            _ => panic!("it is repro"),
        }
    }

    fn simulation(held: &str, permitted: &Repro) -> Result<Vec<String>, String> {
        let held = crate::manifest::words::split(held);
        let to = vec![("trace", "again".to_owned())];
        Request { shown: "x", permitted, held, to, files: Vec::new() }.simulation().map_err(|e| e.to_string())
    }

    #[test]
    fn every_option_is_allowed_or_known_to_be_refused() {
        for allowed in DRAWINGS.iter().chain([&SIMULATION]) {
            let ids = ids(allowed.command);
            let stale = allowed.options.iter().find(|(id, _)| !ids.iter().any(|known| known == id));
            assert_eq!(stale, None, "`carrick {}` does not have it", allowed.command);
        }
        let refused = ids("sim").into_iter().filter(|id| SIMULATION.value(id).is_none());
        let mut refused: Vec<String> = refused.collect();
        refused.sort();
        let mut wanted = ELSEWHERE.map(str::to_owned);
        wanted.sort();
        assert_eq!(refused, wanted, "an option that results depend on belongs into SIMULATION");
    }

    #[test]
    fn every_option_that_no_manifest_holds_is_refused_by_its_name() {
        let known = Args::command();
        let permitted = permitted(&["--outside", "--compiled"]);
        let sim = known.find_subcommand("sim").expect("a command");
        for arg in sim.get_arguments().filter(|arg| SIMULATION.value(arg.get_id().as_str()).is_none()) {
            let long = arg.get_long().expect("an option");
            let value = match arg.get_possible_values().first() {
                Some(value) => value.get_name().to_owned(),
                None if long == "shard" => "1/2".to_owned(),
                None => "7".to_owned(),
            };
            let needs = "--topology pair --sample x";
            let held = if arg.get_action().takes_values() {
                vec![format!("--{long} {value}"), format!("--{long}={value}")]
            } else {
                vec![format!("--{long}")]
            };
            for option in held {
                let said = simulation(&format!("sim a.mtp {needs} {option}"), &permitted).expect_err(long);
                assert!(
                    said.contains(&format!("`--{long}`")) || said.contains(&format!("'--{long}")),
                    "{option}: {said}"
                );
            }
        }
    }

    #[test]
    fn what_is_allowed_is_run_as_it_was() {
        let usual = permitted(&[]);
        let line =
            simulation("sim a/b.mtp --loss 1% --set 'x=a b' --topology net.toml --at s0=./c.mtp", &usual);
        let words = "sim --trace again a/b.mtp --loss 1% --set x=a_b --topology net.toml --at s0=./c.mtp";
        let words: Vec<String> = words.split(' ').map(|word| word.replace('_', " ")).collect();
        assert_eq!(line, Ok(words));
    }

    #[test]
    fn other_commands_and_files_elsewhere_are_refused() {
        let usual = permitted(&[]);
        for held in [
            "fmt a.mtp",
            "",
            "run a.mtp --port tun:x",
            "sim a.mtp -- b.mtp",
            "sim -- a.mtp --pcap=x",
            "sim --help",
        ] {
            assert!(simulation(held, &usual).is_err(), "{held}");
        }
        let outside = permitted(&["--outside"]);
        for held in [
            "sim /a.mtp",
            "sim ../a.mtp",
            "sim a/../../b.mtp",
            "sim a.mtp --via /b.mtp",
            "sim a.mtp --topology /net.toml",
            "sim a.mtp --topology pair --at s0=/b.mtp",
            "sim a.mtp --topology pair --host-program h0=../b.mtp",
            "sim a.mtp --topology pair --workload trace:/flows",
            "sim a.mtp --topology pair --background=trace:../flows",
            "sim a.mtp --topology pair --calls ../calls",
            "sim a.mtp --rate-trace ../rates",
            "sim a.mtp --topology pair --link-fault 'h0: loss=1%,rate-trace=a,rate-trace=/rates'",
            "sim a.mtp --topology pair --cross 'h0:h1: trace=a,trace=/gaps @ 0s..1s'",
        ] {
            let said = simulation(held, &usual).expect_err(held);
            assert!(said.contains("outside the current folder"), "{held}: {said}");
            assert!(simulation(held, &outside).is_ok(), "{held}");
        }
        let said = simulation("sim a.mtp --compiled", &usual).expect_err("not permitted");
        assert!(said.contains("repro --compiled"), "{said}");
        assert!(simulation("sim a.mtp --compiled", &permitted(&["--compiled"])).is_ok());
    }

    #[test]
    fn only_drawings_draw() {
        let usual = permitted(&[]);
        let drawing = |held: &str| {
            let held = crate::manifest::words::split(held);
            let (to, files) = (vec![("output", "made".to_owned())], vec!["one.csv".to_owned()]);
            Request { shown: "x", permitted: &usual, held, to, files }.drawing().map_err(|e| e.to_string())
        };
        assert!(drawing("plot --what slowdown").is_ok());
        assert!(
            drawing("plot --what samples --host=0..1 --context=2 '--title=-o x' --x=0..1s --size=800x600")
                .is_ok()
        );
        assert!(drawing("report --plot cwnd --program a.mtp --with b").is_ok());
        for held in [
            "doc a.mtp",
            "new folder",
            "plot other.csv",
            "plot -o victim",
            "plot --output=victim",
            "plot -- -o victim",
            "report -- other.run",
            "report --program /a.mtp",
        ] {
            assert!(drawing(held).is_err(), "{held}");
        }
    }

    #[test]
    fn labels_are_names_of_files() {
        let name = |label: &str| table_file("x", &(Kind::Flows, label.to_owned())).ok();
        assert_eq!(name("one time").as_deref(), Some("one time.csv"));
        for label in ["/etc/cron.d/x", "../x", "a/b", "a/", "a\0"] {
            assert_eq!(name(label), None, "{label}");
        }
        assert_eq!(printable("a\u{1b}[2J\n"), "a\\u{1b}[2J\\n");
    }
}
