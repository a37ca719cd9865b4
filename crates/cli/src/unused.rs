// SPDX-License-Identifier: MIT OR Apache-2.0
//! Options of a simulation that its run cannot use. A run without what was asked for looks like one with it, so they are errors.

use std::path::PathBuf;

use clap::parser::ValueSource;
use clap::{ArgMatches, Command};

use crate::commands::fabric::all_have_rates;
use crate::commands::scenario::AppKind;
use crate::trace_file::is_trace;

type Holds = fn(&Run<'_>) -> bool;

/// A condition, and the options that say nothing where it holds.
struct Rule {
    holds: Holds,
    /// the condition, as a person said it
    said: &'static str,
    /// options by the names of the parser, and what to do instead
    unused: &'static [(&'static [&'static str], &'static str)],
}

const RATES_OF_ALL: &str = "its recordings are the rates of all these links; leave out one of them";

/// In a network of many hosts.
const OF_MANY: [Rule; 12] = [
    Rule {
        holds: |run| run.topology().is_some(),
        said: "--topology",
        unused: &[
            (&["app", "faults", "answer"], "say what its hosts do by --workload"),
            (&["streams"], "say --sizes and --flows"),
            (&["count"], "say --flows"),
        ],
    },
    Rule {
        holds: |run| run.topology().is_some_and(|name| name.ends_with(".toml")),
        said: "a file as --topology",
        unused: &[(&["rate", "delay", "loss", "core_rate", "rate_trace"], "the file has them for each link")],
    },
    Rule {
        holds: |run| run.topology().is_some_and(|name| name.starts_with("star") || name == "pair"),
        said: "--topology star or pair",
        unused: &[(&["core_rate"], "no link is between switches; say --rate")],
    },
    Rule {
        holds: |run| run.topology().is_some_and(|name| name == "pair"),
        said: "--topology pair",
        unused: &[(
            &["queue", "buffer", "shared", "priorities", "mark_at", "trim", "pfc"],
            "packets wait only in switches, and it has none; say --topology star:2",
        )],
    },
    Rule {
        holds: |run| run.text("mark_at").is_some_and(|range| !range.contains("..")),
        said: "a single threshold as --mark-at",
        unused: &[(&["mark_most"], "from there on all packets are marked; say a range, such as 5KB..200KB")],
    },
    Rule {
        holds: |run| {
            let [at_hosts, between_switches] = run.links_have_rates();
            at_hosts && (between_switches || run.says("core_rate"))
        },
        said: "--link-fault",
        unused: &[(&["rate"], RATES_OF_ALL)],
    },
    Rule {
        holds: |run| run.links_have_rates()[1],
        said: "--link-fault",
        unused: &[(&["core_rate"], RATES_OF_ALL)],
    },
    Rule {
        holds: |run| run.is_table("workload"),
        said: "a file as --workload",
        unused: &[(&["flows"], "the file has each flow with its size")],
    },
    Rule {
        holds: |run| {
            let own_sizes =
                run.is_table("background") || run.says("background_sizes") || !run.says("background");
            run.is_table("workload") && own_sizes
        },
        said: "a file as --workload",
        unused: &[(&["sizes", "bytes"], "the file has each flow with its size")],
    },
    Rule {
        holds: |run| run.is_table("background"),
        said: "a file as --background",
        unused: &[(&["background_flows", "background_sizes"], "the file has each flow with its size")],
    },
    Rule {
        holds: |run| run.says("sizes"),
        said: "--sizes",
        unused: &[(&["bytes"], "leave out one of them")],
    },
    Rule {
        holds: |run| run.says("buffer"),
        said: "--buffer",
        unused: &[(&["queue"], "leave out one of them")],
    },
];

/// In all networks.
const OF_ALL: [Rule; 1] = [Rule {
    holds: |run| run.says("rate_trace"),
    said: "--rate-trace",
    unused: &[(
        &["rate", "core_rate"],
        "leave out one of them, or say `rate-trace=FILE` in --link-fault for some links",
    )],
}];

/// Between two hosts.
const OF_TWO: [Rule; 5] = [
    Rule {
        holds: |run| run.says("streams"),
        said: "--streams",
        unused: &[(&["bytes"], "leave out one of them")],
    },
    Rule {
        holds: |run| run.app() == Some(AppKind::Bulk),
        said: "--app bulk",
        unused: &[
            (&["answer", "count"], "say --app request-response, or --streams for several transfers"),
            (&["faults"], "say --app random"),
        ],
    },
    Rule {
        holds: |run| run.app() == Some(AppKind::RequestResponse),
        said: "--app request-response",
        unused: &[(&["streams"], "say --bytes, --answer and --count"), (&["faults"], "say --app random")],
    },
    Rule {
        holds: |run| run.app() == Some(AppKind::Idle),
        said: "--app idle",
        unused: &[
            (&["bytes", "answer", "streams", "outstanding", "message"], "its connections carry nothing"),
            (&["faults"], "say --app random"),
        ],
    },
    Rule {
        holds: |run| run.app() == Some(AppKind::Random),
        said: "--app random",
        unused: &[
            (
                &[
                    "rate",
                    "delay",
                    "queue",
                    "ecn_threshold",
                    "loss",
                    "burst_loss",
                    "duplicate",
                    "reorder",
                    "corrupt",
                    "jitter",
                    "rate_trace",
                    "down",
                    "cut",
                    "mtu",
                    "path_mtu",
                    "black_hole",
                ],
                "its network is drawn from --seed, with the faults of --faults",
            ),
            (&["bytes", "streams", "answer", "count", "outstanding"], "what it sends is drawn from --seed"),
        ],
    },
];

/// What a person said of a run.
struct Run<'a>(&'a ArgMatches);

impl Run<'_> {
    fn says(&self, option: &str) -> bool {
        let known = self.0.try_contains_id(option).is_ok();
        known && self.0.value_source(option) == Some(ValueSource::CommandLine)
    }

    fn topology(&self) -> Option<&String> {
        self.text("topology")
    }

    /// Whether a workload is a file that lists flows.
    fn is_table(&self, option: &str) -> bool {
        self.text(option).is_some_and(|text| text.starts_with("trace:"))
    }

    fn text(&self, option: &str) -> Option<&String> {
        self.0.try_get_one(option).ok().flatten()
    }

    /// Whether --link-fault gives rates over time to all links at hosts, and to all between switches.
    fn links_have_rates(&self) -> [bool; 2] {
        let texts = self.0.try_get_many::<String>("link_fault").ok().flatten();
        let texts: Vec<String> = texts.into_iter().flatten().cloned().collect();
        self.topology().map_or([false; 2], |name| all_have_rates(name, &texts))
    }

    /// The application between two hosts.
    fn app(&self) -> Option<AppKind> {
        self.0.get_one("app").copied().filter(|_| self.topology().is_none())
    }
}

fn rules() -> impl Iterator<Item = &'static Rule> {
    OF_MANY.iter().chain(&OF_ALL).chain(&OF_TWO)
}

/// Returns why an option of `carrick sim` or `carrick trace` says nothing, if one does.
pub fn find(given: &ArgMatches) -> Option<String> {
    let run = Run(given);
    rules().filter(|rule| (rule.holds)(&run)).find_map(|rule| {
        let of = |(options, instead): &(&[&str], &str)| {
            let option = options.iter().find(|option| run.says(option))?;
            Some(format!("--{} says nothing with {}: {instead}", option.replace('_', "-"), rule.said))
        };
        rule.unused.iter().find_map(of)
    })
}

/// Returns why an option of `carrick sim` about tables says nothing, if one does: no such table is written.
pub fn without_table(given: &ArgMatches) -> Option<String> {
    // Other commands have no such tables.
    given.try_contains_id("samples").ok()?;
    let run = Run(given);
    if run.says("sample") && !run.says("samples") && !run.says("plot") {
        let why = "--sample says nothing without --samples or --plot: name the file or the folder to write";
        return Some(why.into());
    }
    let no_table = run.says("every") && !run.says("rates") && !run.says("sample");
    no_table.then(|| {
        "--every says nothing without --rates or --samples: it is the interval of these tables".into()
    })
}

/// What `carrick trace` takes for a recorded trace: what chooses what is shown, and the program.
const OF_RECORDINGS: [&str; 16] = [
    "file", "program", "with", "without", "over", "on", "when", "sample", "every", "list", "at", "show",
    "context", "host", "most", "format",
];

/// Returns why an option of `carrick trace` says nothing of a recorded trace, or only of one.
pub fn of_recording(given: &ArgMatches, command: &Command) -> Option<String> {
    let run = Run(given);
    let file: &PathBuf = given.try_get_one("file").ok()??;
    // Other commands have no trace to read.
    given.try_get_one::<PathBuf>("program").ok()?;
    if !is_trace(file) {
        let why = "names the program of a recorded trace, and is not for";
        return run.says("program").then(|| format!("--program {why} {}: leave it out", file.display()));
    }
    let own = command.get_arguments().filter(|arg| !arg.is_global_set());
    let mut others = own.filter(|arg| !OF_RECORDINGS.contains(&arg.get_id().as_str()));
    let option = others.find(|arg| run.says(arg.get_id().as_str()))?.get_long()?;
    Some(format!(
        "--{option} says nothing with {}: it is the recorded trace of a run that is over; leave the option out, or name the \
         program in place of the trace",
        file.display()
    ))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::args::Args;

    fn found(line: &str) -> Option<String> {
        let given = Args::command().try_get_matches_from(line.split(' ')).expect("it is a command line");
        find(given.subcommand().expect("it has a command").1)
    }

    #[test]
    fn what_a_run_cannot_use_is_found() {
        for (line, option, with) in [
            ("carrick sim a.mtp --topology pair --streams 1KB,2KB", "--streams", "--topology"),
            ("carrick sim a.mtp --app random --burst-loss 1%/25%", "--burst-loss", "--app random"),
            ("carrick sim a.mtp --topology pair --app idle", "--app", "--topology"),
            ("carrick sim a.mtp --topology net.toml --delay 1ms", "--delay", "a file as --topology"),
            ("carrick sim a.mtp --topology pair --sizes w1 --bytes 1KB", "--bytes", "--sizes"),
            ("carrick sim a.mtp --rate 1Mbps --rate-trace a", "--rate", "--rate-trace"),
            ("carrick sim a.mtp --topology net.toml --rate-trace a", "--rate-trace", "a file as --topology"),
            (
                "carrick sim a.mtp --topology star:4 --core-rate 1Mbps",
                "--core-rate",
                "--topology star or pair",
            ),
            (
                "carrick sim a.mtp --topology pair --workload trace:a --flows 3",
                "--flows",
                "a file as --workload",
            ),
            (
                "carrick sim a.mtp --topology pair --workload trace:a --bytes 9",
                "--bytes",
                "a file as --workload",
            ),
            (
                "carrick sim a.mtp --topology pair --background trace:a --background-sizes w1",
                "--background-sizes",
                "a file as --background",
            ),
            ("carrick sim a.mtp --topology pair --mark-at 5KB", "--mark-at", "--topology pair"),
            ("carrick sim a.mtp --topology pair --queue 5", "--queue", "--topology pair"),
            (
                "carrick sim a.mtp --topology star:2 --mark-at 5KB --mark-most 3%",
                "--mark-most",
                "a single threshold as --mark-at",
            ),
            ("carrick sim a.mtp --count 3", "--count", "--app bulk"),
            ("carrick sim a.mtp --app idle --bytes 1KB", "--bytes", "--app idle"),
            ("carrick sim a.mtp --app random --ecn-threshold 3", "--ecn-threshold", "--app random"),
            (
                "carrick trace a.mtp --app request-response --streams 1KB,2KB",
                "--streams",
                "--app request-response",
            ),
        ] {
            let text = found(line).unwrap_or_default();
            assert!(text.starts_with(&format!("{option} says nothing with {with}")), "{line}: {text}");
        }
    }

    #[test]
    fn what_it_uses_is_not() {
        for line in [
            "carrick sim a.mtp",
            "carrick sim a.mtp --loss 1% --reorder 1% --bytes 1KB --path-mtu 1400 --black-hole",
            "carrick sim a.mtp --app random --faults every --seed 7 --message 1KB",
            "carrick sim a.mtp --app request-response --bytes 1KB --answer 1KB --count 3 --outstanding 2",
            "carrick sim a.mtp --topology pair --reorder 1% --path-mtu 1400 --black-hole --down 1s..2s",
            "carrick sim a.mtp --topology star:4 --loss 1% --bytes 1KB --flows 3 --rates a.csv --every 1ms",
            "carrick sim a.mtp --topology pair --workload trace:a --background permutation --bytes 9",
            "carrick trace a.mtp --app idle --count 3",
        ] {
            assert_eq!(found(line), None, "{line}");
        }
    }

    #[test]
    fn options_of_tables_need_a_table() {
        let found = |line: &str| {
            let given = Args::command().try_get_matches_from(line.split(' ')).expect("it is a command line");
            without_table(given.subcommand().expect("it has a command").1)
        };
        for (line, option) in [
            ("carrick sim a.mtp --topology pair --sample a", Some("--sample")),
            ("carrick sim a.mtp --topology pair --every 1ms --csv a", Some("--every")),
            ("carrick sim a.mtp --topology pair --every 1ms --rates a", None),
            ("carrick sim a.mtp --topology pair --every 1ms --sample a --plot b", None),
            ("carrick sim a.mtp --topology pair --sample a --samples b", None),
            ("carrick trace a.mtp --sample a --every 1ms", None),
        ] {
            let text = found(line);
            assert_eq!(text.is_some(), option.is_some(), "{line}: {text:?}");
            let said = text.unwrap_or_default();
            assert!(
                option.is_none_or(|option| said.starts_with(&format!("{option} says nothing"))),
                "{said}"
            );
        }
    }

    #[test]
    fn a_rate_that_no_link_has_is_found() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("rates");
        std::fs::write(&file, "1\n2\n").expect("writable");
        let line = |topology: &str, links: &str, option: &str| {
            let fault = format!("{links}:rate-trace={}", file.display());
            found(&format!("carrick sim a.mtp --topology {topology} --link-fault {fault} {option}"))
        };
        for (topology, links, option) in [
            ("pair", "h0-h1", "--rate 1Mbps"),
            ("star:3", "s0", "--rate 1Mbps"),
            ("dumbbell:2", "*:*", "--rate 1Mbps"),
            ("dumbbell:2", "s0-s1", "--core-rate 1Mbps"),
            ("dumbbell:2", "h0..h3", "--core-rate 1Mbps --rate 1Mbps"),
        ] {
            let text = line(topology, links, option).unwrap_or_default();
            let (name, _) = option.rsplit_once("--").expect("an option").1.split_once(' ').expect("a value");
            assert!(text.starts_with(&format!("--{name} says nothing with --link-fault")), "{links}: {text}");
        }
        for (topology, links, option) in [
            ("pair", "h0:h1", "--rate 1Mbps"),
            ("star:3", "h0", "--rate 1Mbps"),
            ("dumbbell:2", "h0..h3", "--rate 1Mbps"),
            ("dumbbell:2", "h0..h3", "--core-rate 1Mbps"),
            ("dumbbell:2", "s0:s1", "--core-rate 1Mbps"),
            ("dumbbell:2", "*:*", "--delay 1ms"),
        ] {
            assert_eq!(line(topology, links, option), None, "{topology} {links} {option}");
        }
    }

    /// The rules name no option that the parser has not.
    #[test]
    fn rules_name_options() {
        let command = Args::command();
        let sim = command.find_subcommand("sim").expect("it is a command");
        for (options, _) in rules().flat_map(|rule| rule.unused) {
            for option in *options {
                assert!(sim.get_arguments().any(|arg| arg.get_id() == option), "{option}");
            }
        }
    }
}
